//! A person who is attached to a session: a tmux client on a pseudoterminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::TmuxServer;
use crate::until::wait_until;

/// A tmux client on its own terminal. It is killed when this is dropped.
#[derive(Debug)]
pub struct Person {
    client: Child,
    keyboard: File,
}

impl Person {
    /// Attaches to a session from a terminal of this size, and waits until tmux lists the client.
    pub fn attach(tmux: &TmuxServer, session: &str, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags).expect("a terminal can be made");
        fcntl_setfd(&master, FdFlags::CLOEXEC).expect("a terminal can be kept from children");
        grantpt(&master).expect("a terminal can be used");
        unlockpt(&master).expect("a terminal can be used");
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a terminal has a size");
        let name = ptsname(&master, Vec::new()).expect("a terminal has a name");
        let name = name.into_string().expect("a terminal's name is text");
        let open = || File::options().read(true).write(true).open(&name).expect("a terminal opens");
        let client = tmux
            .command(&["attach-session", "-t", &format!("={session}")])
            .stdin(open())
            .stdout(open())
            .stderr(Stdio::null())
            .spawn()
            .expect("tmux can be started");
        let keyboard = File::from(master);
        let mut screen = keyboard.try_clone().expect("a terminal can be read");
        // Unread output would fill the terminal and block tmux. The thread ends when
        // the client closes its side.
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(1..) = screen.read(&mut buffer) {}
        });
        let pid = client.id().to_string();
        wait_until("the person is attached", || {
            let clients = tmux.tmux(&["list-clients", "-F", "#{client_pid}:#{client_session}"]);
            clients.lines().any(|line| line == format!("{pid}:{session}")).then_some(())
        });
        Self { client, keyboard }
    }

    /// Types text on the keyboard.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("a terminal can be written to");
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}
