//! Pages of lists. A cursor names the last entry that was handed out, and the next page begins behind
//! the place that it has, or had: what comes and goes meanwhile shifts nothing.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use rmcp::model::{ErrorData, PaginatedRequestParams};

use terminal::text::inline;

/// How many entries a page has.
pub(super) const SIZE: usize = 100;

/// The cursor behind an entry.
pub(super) fn cursor(entry: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(entry)
}

/// The entry that a cursor names.
pub(super) fn entry(cursor: &str) -> Option<String> {
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// The entries of a page: those behind `after`. The list is in the order of its keys. Also whether
/// there are more.
pub(super) fn cut<T, K: Ord>(
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

/// Refuses a cursor where there is only one page.
pub(super) fn only(page: Option<PaginatedRequestParams>, method: &str) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        Some(cursor) => Err(refusal(&cursor, method)),
        None => Ok(()),
    }
}

/// Why a cursor is none.
pub(super) fn refusal(cursor: &str, method: &str) -> ErrorData {
    let shown: String = inline(cursor).chars().take(100).collect();
    let what = format!("`cursor`: {method} gave none `{shown}`; leave it out for the first page");
    ErrorData::invalid_params(what, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pages of what `list` gives each time it is asked.
    fn all(mut list: impl FnMut(usize) -> Vec<u32>, size: usize) -> Vec<Vec<u32>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (page, more) = cut(list(pages.len()), |n| *n, after, size);
            after = page.last().copied();
            pages.push(page);
            if !more {
                return pages;
            }
        }
    }

    #[test]
    fn a_list_comes_in_pages() {
        assert_eq!(all(|_| vec![], 2), [Vec::<u32>::new()]);
        assert_eq!(all(|_| vec![1, 2], 2), [[1, 2]]);
        assert_eq!(all(|_| vec![1, 2, 3], 2), [vec![1, 2], vec![3]]);
    }

    #[test]
    fn what_comes_and_goes_meanwhile_shifts_nothing() {
        // The last of the first page is gone, and so is what stood before it.
        let pages = all(|page| if page == 0 { vec![1, 2, 3, 4, 5] } else { vec![3, 4, 5] }, 2);
        assert_eq!(pages, [vec![1, 2], vec![3, 4], vec![5]]);
        let pages = all(|page| if page == 0 { vec![2, 4, 6] } else { vec![1, 2, 3, 4, 5, 6] }, 2);
        assert_eq!(pages, [vec![2, 4], vec![5, 6]]);
    }

    #[test]
    fn a_cursor_reads_back() {
        assert_eq!(entry(&cursor("tmux://panes/%253")).as_deref(), Some("tmux://panes/%253"));
        for wrong in ["!", "a", "_w", "ü"] {
            assert_eq!(entry(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn where_there_is_one_page_a_cursor_is_refused() {
        assert!(only(None, "tools/list").is_ok());
        let mut page = PaginatedRequestParams::default();
        assert!(only(Some(page.clone()), "tools/list").is_ok());
        page.cursor = Some("x\ny".to_owned());
        let error = only(Some(page), "tools/list").unwrap_err();
        assert!(error.message.contains("tools/list gave none `x\\ny`"), "{}", error.message);
    }
}
