//! Pagination of lists. A cursor names the last entry of a page, and the next page begins after that
//! entry's position in the order, even if the entry is gone. So entries that come and go do not shift
//! pages.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use rmcp::model::{ErrorData, PaginatedRequestParams};

use terminal::text::inline;

/// Entries per page.
pub(super) const PAGE_SIZE: usize = 100;

/// The cursor after an entry.
pub(super) fn encode_cursor(entry: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(entry)
}

/// The entry that a cursor names.
pub(super) fn decode_cursor(cursor: &str) -> Option<String> {
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// The entries of the page after `after`, and whether there are more. The list is sorted by key.
pub(super) fn page_after<T, K: Ord>(
    list: Vec<T>,
    key: impl Fn(&T) -> K,
    after: Option<K>,
    size: usize,
) -> (Vec<T>, bool) {
    let behind = |item: &T| after.as_ref().is_none_or(|after| key(item) > *after);
    let mut rest = list.into_iter().filter(behind);
    let page = rest.by_ref().take(size).collect();
    (page, rest.next().is_some())
}

/// Refuses any cursor, for lists with a single page.
pub(super) fn refuse_cursor(
    page: Option<PaginatedRequestParams>,
    method: &str,
) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        Some(cursor) => Err(unknown_cursor(&cursor, method)),
        None => Ok(()),
    }
}

/// The error for a cursor that this server did not issue.
pub(super) fn unknown_cursor(cursor: &str, method: &str) -> ErrorData {
    let shown: String = inline(cursor).chars().take(100).collect();
    let what =
        format!("`cursor`: `{shown}` is not a cursor of {method}; leave it out for the first page");
    ErrorData::invalid_params(what, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pages of a list that `list` returns anew for each page.
    fn all(mut list: impl FnMut(usize) -> Vec<u32>, size: usize) -> Vec<Vec<u32>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (page, more) = page_after(list(pages.len()), |n| *n, after, size);
            after = page.last().copied();
            pages.push(page);
            if !more {
                return pages;
            }
        }
    }

    #[test]
    fn list_is_split_into_pages() {
        assert_eq!(all(|_| vec![], 2), [Vec::<u32>::new()]);
        assert_eq!(all(|_| vec![1, 2], 2), [[1, 2]]);
        assert_eq!(all(|_| vec![1, 2, 3], 2), [vec![1, 2], vec![3]]);
    }

    #[test]
    fn changes_between_pages_shift_no_entry() {
        // The first page's entries are gone when the second page is read.
        let pages = all(|page| if page == 0 { vec![1, 2, 3, 4, 5] } else { vec![3, 4, 5] }, 2);
        assert_eq!(pages, [vec![1, 2], vec![3, 4], vec![5]]);
        let pages = all(|page| if page == 0 { vec![2, 4, 6] } else { vec![1, 2, 3, 4, 5, 6] }, 2);
        assert_eq!(pages, [vec![2, 4], vec![5, 6]]);
    }

    #[test]
    fn cursor_round_trips() {
        assert_eq!(
            decode_cursor(&encode_cursor("tmux://panes/%253")).as_deref(),
            Some("tmux://panes/%253")
        );
        for wrong in ["!", "a", "_w", "ü"] {
            assert_eq!(decode_cursor(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn cursor_is_refused_for_a_single_page() {
        assert!(refuse_cursor(None, "tools/list").is_ok());
        let mut page = PaginatedRequestParams::default();
        assert!(refuse_cursor(Some(page.clone()), "tools/list").is_ok());
        page.cursor = Some("x\ny".to_owned());
        let error = refuse_cursor(Some(page), "tools/list").unwrap_err();
        assert!(error.message.contains("`x\\ny` is not a cursor of tools/list"), "{error:?}");
    }
}
