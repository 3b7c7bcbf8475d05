//! The lines of `/proc/PID/fdinfo/N` of an epoll instance. Pure.

/// Parses `tfd:       19 events:       19 data:                0`.
pub(crate) fn epoll_input(line: &str) -> Option<u32> {
    const EPOLLIN_OR_RDNORM: u32 = 0x01 | 0x40;
    let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
    let descriptor = words.next()?.parse().ok()?;
    let events = words.find(|&word| word != "events:")?;
    let events = u32::from_str_radix(events, 16).ok()?;
    (events & EPOLLIN_OR_RDNORM != 0).then_some(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoll_lists_its_input_descriptors() {
        let line = "tfd:       19 events:       1b data: ffff  pos:0 ino:6 sdev:5";
        assert_eq!(epoll_input(line), Some(19));
        assert_eq!(epoll_input("tfd: 7 events: 40000000 data: 0"), None, "disabled");
        assert_eq!(epoll_input("tfd: 7 events: 4 data: 0"), None, "only written to");
        assert_eq!(epoll_input("pos:\t0"), None);
        assert_eq!(epoll_input("tfd:"), None);
    }
}
