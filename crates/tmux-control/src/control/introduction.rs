//! The introduction of a tmux client, in an order that cannot crash a server older than 3.7.
//!
//! A client introduces itself with a message for each fact: its flags first, then among others its
//! input and output as file descriptors. Each descriptor ends a packet, so the server reads the
//! messages in three steps. From the first step on it takes the client for a control client, but only
//! in the last one it creates the queue for it. A notification in between, because a person renames
//! a session or selects a pane, makes the server crash with all its sessions.
//!
//! Here the flags are sent last, in one packet with the message that ends the introduction. Then the
//! server has no step in between. Measured on 3.2a, 3.3a, 3.4, 3.5a and 3.6b while a session is renamed
//! without a pause: each server died, mostly within 20 clients, and in this order none in 5,000.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg, sockopt,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Bytes of the header of a message: type, length, peer and process, each a number of four bytes in the
/// machine's order. The upper half of the length holds flags.
const HEADER_BYTES: usize = 16;

/// Most bytes of a message with its header.
const MAX_MESSAGE_BYTES: usize = 16_384;

/// Most bytes of an introduction. It holds the environment, to which the kernel sets a limit, too.
const MAX_INTRODUCTION_BYTES: usize = 4 * 1024 * 1024;

/// Most descriptors received at once. A client sends them one by one.
const MAX_DESCRIPTORS: usize = 4;

/// Types of messages (`tmux-protocol.h`, the same in all versions).
const FLAGS: u32 = 100;
const LONG_FLAGS: u32 = 111;
const DONE: u32 = 106;

/// Bytes that wait for the server at most. It reads up to 64 KiB at once, so it never reads a part of a
/// packet because its buffer is full.
const SEND_BUFFER_BYTES: usize = 16 * 1024;

/// Whether messages can be read on this machine. Big-endian ones keep their numbers otherwise.
pub(crate) const IS_READABLE: bool = cfg!(target_endian = "little");

/// The messages of a client up to the one that ends its introduction, in the order in which they are
/// sent on.
#[derive(Debug, Default)]
pub(crate) struct Introduction {
    /// Messages that carry a descriptor.
    descriptors: Vec<(Vec<u8>, OwnedFd)>,
    facts: Vec<u8>,
    /// The flags and the end.
    last: Vec<u8>,
    /// Bytes behind the introduction.
    rest: Vec<u8>,
}

impl Introduction {
    /// Receives the introduction of a client, and no more than came with it.
    pub(crate) async fn receive(client: &UnixStream) -> io::Result<Self> {
        let mut received = Vec::new();
        let mut descriptors = Vec::new();
        loop {
            let read = || receive(client, &mut received, &mut descriptors);
            if client.async_io(Interest::READABLE, read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(end) = find_end(&received)? {
                let rest = received.split_off(end);
                return Self::sort(&received, descriptors, rest);
            }
        }
    }

    /// Sorts whole messages, the last of which is [`DONE`].
    fn sort(messages: &[u8], descriptors: Vec<OwnedFd>, rest: Vec<u8>) -> io::Result<Self> {
        let mut introduction = Self { rest, ..Self::default() };
        let mut descriptors = descriptors.into_iter();
        let mut messages = messages;
        while let Some(header) = Header::read(messages)? {
            let (message, others) = messages.split_at_checked(header.length).ok_or_else(invalid)?;
            messages = others;
            if header.has_descriptor {
                let descriptor = descriptors.next().ok_or_else(invalid)?;
                introduction.descriptors.push((message.to_vec(), descriptor));
                continue;
            }
            match header.kind {
                FLAGS | LONG_FLAGS | DONE => introduction.last.extend_from_slice(message),
                _ => introduction.facts.extend_from_slice(message),
            }
        }
        Ok(introduction)
    }

    /// Sends it to the server.
    pub(crate) async fn send(&self, server: &UnixStream) -> io::Result<()> {
        sockopt::set_socket_send_buffer_size(server, SEND_BUFFER_BYTES)?;
        for (message, descriptor) in &self.descriptors {
            send(server, message, Some(descriptor)).await?;
        }
        for bytes in [&self.facts, &self.last, &self.rest] {
            send(server, bytes, None).await?;
        }
        Ok(())
    }
}

/// The header of a message.
#[derive(Debug, Clone, Copy)]
struct Header {
    kind: u32,
    length: usize,
    has_descriptor: bool,
}

impl Header {
    /// The header at the beginning of `bytes`; `None` if they do not hold a whole one.
    fn read(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some((kind, behind)) = bytes.split_first_chunk() else { return Ok(None) };
        let Some((&[low, high, flags @ ..], _)) = behind.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_le_bytes([low, high]));
        if !(HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(invalid());
        }
        // One flag means a descriptor: bit 0 before 3.6, bit 15 since. There is no other.
        let kind = u32::from_le_bytes(*kind);
        Ok(Some(Self { kind, length, has_descriptor: flags != [0, 0] }))
    }
}

/// The end of the introduction within `bytes`, if it is there.
fn find_end(bytes: &[u8]) -> io::Result<Option<usize>> {
    let mut at = 0;
    while let Some(header) = Header::read(bytes.get(at..).unwrap_or_default())? {
        at += header.length;
        if header.kind == DONE && at <= bytes.len() {
            return Ok(Some(at));
        }
    }
    if bytes.len() > MAX_INTRODUCTION_BYTES { Err(invalid()) } else { Ok(None) }
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not the introduction of a tmux client")
}

/// Receives bytes and descriptors that are there. Returns the number of bytes; 0 at the end.
fn receive(
    socket: &UnixStream,
    bytes: &mut Vec<u8>,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut buffer = [0; MAX_MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let parts = &mut [IoSliceMut::new(&mut buffer)];
    let count = recvmsg(socket.as_fd(), parts, &mut control, RecvFlags::empty())?.bytes;
    bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    Ok(count)
}

/// Sends bytes, with the descriptor beside the first of them.
async fn send(
    socket: &UnixStream,
    mut bytes: &[u8],
    mut descriptor: Option<&OwnedFd>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let write = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            let borrowed: Vec<_> = descriptor.iter().map(|descriptor| descriptor.as_fd()).collect();
            if !borrowed.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&borrowed));
            }
            let parts = &[IoSlice::new(bytes)];
            Ok(sendmsg(socket.as_fd(), parts, &mut control, SendFlags::empty())?)
        };
        let sent = socket.async_io(Interest::WRITABLE, write).await?;
        bytes = bytes.get(sent..).unwrap_or_default();
        descriptor = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream as StdStream;

    use super::*;

    /// A message as a client before 3.6 (`fd_flag` 1) or since (0x8000) writes it.
    fn message(kind: u32, body: &[u8], fd_flag: u16) -> Vec<u8> {
        let length = u16::try_from(HEADER_BYTES + body.len()).unwrap();
        let mut message = kind.to_le_bytes().to_vec();
        message.extend([length.to_le_bytes(), fd_flag.to_le_bytes()].concat());
        message.extend([0; 8]);
        message.extend(body);
        message
    }

    /// Messages as tmux 3.3a sends them: flags, terminal, input, output, a variable, the end.
    fn messages(fd_flag: u16) -> Vec<Vec<u8>> {
        let body = |kind, body: &str| message(kind, body.as_bytes(), 0);
        let (input, output) = (message(104, b"", fd_flag), message(110, b"", fd_flag));
        let facts = [body(LONG_FLAGS, "8 bytes"), body(FLAGS, "4"), body(101, "xterm")];
        let end = [body(105, "HOME=/"), body(DONE, "")];
        [facts.to_vec(), vec![input, output], end.to_vec()].concat()
    }

    fn pipe() -> OwnedFd {
        StdStream::pair().unwrap().0.into()
    }

    #[test]
    fn flags_are_sent_last() {
        for fd_flag in [1, 0x8000] {
            let messages = messages(fd_flag);
            let whole = messages.concat();
            assert_eq!(find_end(&whole).unwrap(), Some(whole.len()));
            let sorted = Introduction::sort(&whole, vec![pipe(), pipe()], Vec::new()).unwrap();
            let [long_flags, flags, terminal, input, output, variable, end] = &messages[..] else {
                panic!("{messages:?}")
            };
            let carriers: Vec<_> = sorted.descriptors.iter().map(|(message, _)| message).collect();
            assert_eq!(carriers, [input, output]);
            assert_eq!(sorted.facts, [&terminal[..], variable].concat());
            assert_eq!(sorted.last, [&long_flags[..], flags, end].concat());
        }
    }

    #[test]
    fn end_is_found_once_it_is_whole() {
        let whole = messages(1).concat();
        for length in 0..whole.len() {
            assert_eq!(find_end(&whole[..length]).unwrap(), None, "{length}");
        }
        assert_eq!(find_end(&[&whole[..], b"more"].concat()).unwrap(), Some(whole.len()));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for length in [0, HEADER_BYTES - 1, MAX_MESSAGE_BYTES + 1] {
            let mut bytes = messages(1).concat();
            let length = u16::try_from(length).unwrap();
            bytes[4..6].copy_from_slice(&length.to_le_bytes());
            assert!(find_end(&bytes).is_err(), "{length}");
        }
    }

    #[test]
    fn a_missing_descriptor_is_refused() {
        let whole = messages(1).concat();
        assert!(Introduction::sort(&whole, vec![pipe()], Vec::new()).is_err());
    }

    /// The client sends each message in two parts.
    #[tokio::test]
    async fn introduction_passes_with_its_descriptors() {
        let (client, relay_client) = UnixStream::pair().unwrap();
        let (relay_server, server) = UnixStream::pair().unwrap();
        let (here, there) = StdStream::pair().unwrap();
        let there = OwnedFd::from(there);
        let sender = tokio::spawn(async move {
            for message in messages(1) {
                let descriptor = (message[6] != 0).then_some(&there);
                let (first, others) = message.split_at(1);
                send(&client, first, descriptor).await.unwrap();
                send(&client, others, None).await.unwrap();
            }
            send(&client, b"rest", None).await.unwrap();
        });
        let introduction = Introduction::receive(&relay_client).await.unwrap();
        introduction.send(&relay_server).await.unwrap();
        sender.await.unwrap();
        let count = messages(1).concat().len();
        let (mut bytes, mut descriptors) = (Vec::new(), Vec::new());
        while bytes.len() < count {
            let read = || receive(&server, &mut bytes, &mut descriptors);
            server.async_io(Interest::READABLE, read).await.unwrap();
        }
        assert_eq!(find_end(&bytes).unwrap(), Some(count));
        assert_eq!(descriptors.len(), 2);
        drop((introduction, descriptors));
        let mut end = String::new();
        assert_eq!((&here).read_to_string(&mut end).unwrap(), 0, "all copies are closed");
    }
}
