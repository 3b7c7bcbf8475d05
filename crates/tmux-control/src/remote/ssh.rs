//! The arguments of OpenSSH's client, and its messages as reasons.
//!
//! One connection of ours, the *master*, carries all channels. It is never the person's: its control
//! socket has a name of its own. Options given here precede the person's, and ssh takes the first value.

use std::path::Path;
use std::time::Duration;

use crate::remote::script::LOGIN_COMMAND;

/// How many keep-alive messages may stay unanswered.
pub(crate) const MISSED_KEEP_ALIVES: u32 = 3;

/// Options of all our ssh processes: nothing interactive, no terminal, no forwarding, no second command.
const COMMON: [&str; 11] = [
    "BatchMode=yes",
    "ClearAllForwardings=yes",
    "ControlPersist=no",
    "EscapeChar=none",
    "ForwardX11=no",
    "LogLevel=INFO",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "Tunnel=no",
    "VisualHostKey=no",
];

/// The environment of ssh: it, and the ssh of a jump host, ask nothing on the terminal of the person. Only
/// with `force` does ssh never open the terminal; `false` answers each question with a refusal.
pub(crate) const ENVIRONMENT: [(&str, &str); 2] =
    [("SSH_ASKPASS", "false"), ("SSH_ASKPASS_REQUIRE", "force")];

/// The arguments of the master, whose own session is the first channel.
pub(super) fn master(
    options: &[String],
    destination: &str,
    control_path: &str,
    connect_timeout: Duration,
    keep_alive: Duration,
) -> Vec<String> {
    let own = [
        "ControlMaster=yes".to_owned(),
        format!("ConnectTimeout={}", connect_timeout.as_secs().max(1)),
        format!("ServerAliveInterval={}", keep_alive.as_secs().max(1)),
        format!("ServerAliveCountMax={MISSED_KEEP_ALIVES}"),
    ];
    arguments(&own, options, destination, control_path)
}

/// The arguments of a further channel. If the master is gone, `false` in place of a connection makes ssh
/// end at once; otherwise it would connect by itself.
pub(super) fn channel(options: &[String], destination: &str, control_path: &str) -> Vec<String> {
    let own = ["ControlMaster=no".to_owned(), "ProxyCommand=false".to_owned()];
    let mut shared = Vec::with_capacity(options.len());
    let mut words = options.iter();
    while let Some(word) = words.next() {
        // ssh refuses -J beside a ProxyCommand.
        match word.as_str() {
            "-J" => drop(words.next()),
            _ => shared.push(word.clone()),
        }
    }
    arguments(&own, &shared, destination, control_path)
}

fn arguments(
    own: &[String],
    options: &[String],
    destination: &str,
    control_path: &str,
) -> Vec<String> {
    let mut arguments = vec!["ssh".to_owned(), "-T".to_owned(), "-S".to_owned()];
    arguments.push(control_path.to_owned());
    for option in COMMON.iter().copied().chain(own.iter().map(String::as_str)) {
        arguments.extend(["-o".to_owned(), option.to_owned()]);
    }
    arguments.extend_from_slice(options);
    arguments.extend(["--", destination, LOGIN_COMMAND].map(str::to_owned));
    arguments
}

/// The longest path of a control socket: ssh binds a longer name first, and renames it.
const MAX_CONTROL_PATH_BYTES: usize = 86;

/// The value of `-S` for a path: ssh expands `%` in it.
pub(super) fn control_path(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or("the directory of the control socket is not UTF-8")?;
    if text.len() > MAX_CONTROL_PATH_BYTES {
        return Err(format!(
            "the control socket `{text}` has more than {MAX_CONTROL_PATH_BYTES} bytes; set TMPDIR or \
             XDG_RUNTIME_DIR to a shorter directory"
        ));
    }
    if text.contains("${") {
        return Err(format!("ssh cannot use the control socket `{text}`: it holds `${{`"));
    }
    Ok(text.replace('%', "%%"))
}

/// The reason that ssh gave on stderr for its failure, in the words of a person who has to act on it.
pub(super) fn reason(stderr: &str) -> Option<String> {
    const KNOWN: [(&str, &str); 4] = [
        (
            "IDENTIFICATION HAS CHANGED",
            "its host key is not the one in known_hosts: it was reinstalled, or another machine \
             answers; check it, then remove the old key with `ssh-keygen -R HOST`",
        ),
        (
            "Host key verification failed",
            "its host key is unknown; connect once with ssh in a terminal and accept the key",
        ),
        (
            "Permission denied",
            "ssh could not log in without asking; add a key to the agent or to the host, and try \
             `ssh -o BatchMode=yes HOST true`",
        ),
        ("Connection closed by UNKNOWN port 65535", "ssh opens no further channel to it"),
    ];
    if stderr.contains("refused by peer") {
        return Some(SESSION_LIMIT.to_owned());
    }
    let line = last_line(stderr)?;
    let known = KNOWN.iter().find(|(text, _)| stderr.contains(text));
    Some(known.map_or(line.clone(), |(_, advice)| format!("{line}: {advice}")))
}

/// Whether the other side refused one more channel on a connection that works.
pub(super) fn is_session_limit(reason: &str) -> bool {
    reason.starts_with(SESSION_LIMIT)
}

/// The reason if the other side has a limit for channels (`MaxSessions` of sshd).
const SESSION_LIMIT: &str = "no further channel is allowed on the connection";

/// The last line of a message, without control characters.
pub(super) fn last_line(text: &str) -> Option<String> {
    const MAX_CHARACTERS: usize = 300;
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().filter(|letter| !letter.is_control()).take(MAX_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_do_not_connect_by_themselves() {
        let options = ["-J", "jump", "-p", "22"].map(str::to_owned);
        let channel = channel(&options, "host", "/x");
        assert!(!channel.contains(&"-J".to_owned()) && !channel.contains(&"jump".to_owned()));
        assert!(channel.contains(&"ProxyCommand=false".to_owned()));
        assert_eq!(channel[channel.len() - 5..], ["-p", "22", "--", "host", LOGIN_COMMAND]);
        let second = Duration::from_secs(1);
        let master = master(&options, "host", "/x", second, second);
        assert!(master.contains(&"jump".to_owned()));
    }

    #[test]
    fn reasons_say_what_to_do() {
        let changed = "@@@\r\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nHost key \
                       verification failed.\r\n";
        assert!(reason(changed).unwrap().contains("ssh-keygen -R"));
        let refused = "banner\r\nssh: connect to host x port 1: Connection refused\r\n\r\n";
        assert_eq!(reason(refused).unwrap(), "ssh: connect to host x port 1: Connection refused");
        assert_eq!(reason("\r\n"), None);
    }

    #[test]
    fn control_path_is_escaped_and_short() {
        assert_eq!(control_path(Path::new("/tmp/50%/s")).unwrap(), "/tmp/50%%/s");
        assert!(control_path(Path::new(&format!("/{}", "x".repeat(90)))).is_err());
        assert!(control_path(Path::new("/tmp/${HOME}")).is_err());
    }
}
