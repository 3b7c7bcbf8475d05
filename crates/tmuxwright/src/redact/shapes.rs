//! The kinds of secrets: patterns for their beginnings, and functions that find their ends.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Secret, assignment, key, token};

/// A place where a secret may begin.
pub(super) struct Candidate<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The range that the pattern matches.
    pub(super) at: Range<usize>,
    /// End of the preceding secret; text before it is not searched again.
    pub(super) from: usize,
}

impl<'a> Candidate<'a> {
    /// The text that the pattern matches.
    pub(super) fn head(&self) -> &'a str {
        self.text.get(self.at.clone()).unwrap_or_default()
    }

    /// The text behind the match.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at.end..).unwrap_or_default()
    }

    /// The range in the whole text of a range in [`rest`](Self::rest).
    pub(super) fn range_behind(&self, part: Range<usize>) -> Range<usize> {
        self.at.end + part.start..self.at.end + part.end
    }
}

/// A kind of secret: the pattern of its beginning, and a function that returns the range of the secret,
/// or `None` if there is none.
struct Shape {
    kind: &'static str,
    pattern: &'static str,
    range: fn(&Candidate<'_>) -> Option<Range<usize>>,
}

const fn shape(
    kind: &'static str,
    pattern: &'static str,
    range: fn(&Candidate<'_>) -> Option<Range<usize>>,
) -> Shape {
    Shape { kind, pattern, range }
}

/// Tokens that their prefix identifies. The prefix must not be inside a word, a name or a cursor of
/// `capture_since`.
const TOKENS: &[Shape] = &[
    shape("aws_key", r"(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA)[A-Z0-9]{16,}", token::all),
    shape("github_token", r"gh[pousr]_[A-Za-z0-9]{30,}", token::all),
    shape("github_token", r"github_pat_[A-Za-z0-9_]{22,}", token::all),
    shape("gitlab_token", r"gl(?:pat|dt|rt|ptt|ft|soat|cbt)-[A-Za-z0-9_-]{20,}", token::all),
    shape("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", token::all),
    shape("slack_token", r"xapp-[A-Za-z0-9-]{10,}", token::all),
    shape("stripe_key", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}", token::all),
    shape("stripe_key", r"whsec_[A-Za-z0-9]{16,}", token::all),
    // OpenAI, Anthropic and others.
    shape("api_key", r"sk-[A-Za-z0-9_-]{20,}", token::if_random),
    shape("google_key", r"AIza[A-Za-z0-9_-]{35,}", token::all),
    shape("google_token", r"ya29\.[A-Za-z0-9_-]{20,}", token::all),
    shape("npm_token", r"npm_[A-Za-z0-9]{36,}", token::all),
    shape("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}", token::all),
    shape("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", token::all),
    shape("huggingface_token", r"hf_[A-Za-z0-9]{30,}", token::all),
    shape("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", token::all),
    shape("vault_token", r"hv[sb]\.[A-Za-z0-9_-]{20,}", token::all),
    shape("age_key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", token::all),
    shape("jwt", r"eyJ[A-Za-z0-9_-]{7,}", token::jwt),
];

/// Secrets that the text beside them identifies.
const BY_CONTEXT: &[Shape] = &[
    shape("private_key", key::BEGIN, key::after_begin),
    shape("private_key", key::END, key::before_end),
    shape("url_password", "://", token::in_url),
    shape(
        "authorization",
        r#"(?i-u:authorization)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}"#,
        token::credentials,
    ),
    shape("authorization", r"(?i-u:bearer)[ \t]{1,4}", token::bearer),
    shape("password", assignment::PASSWORD, assignment::value),
    shape("token", assignment::TOKEN, assignment::value),
    shape("secret", assignment::SECRET, assignment::value),
    shape("key", assignment::KEY, assignment::value),
];

/// One regular expression for all beginnings, with a group for each.
static BEGINNINGS: LazyLock<Regex> = LazyLock::new(|| {
    let group = |shape: &Shape| format!("({})", shape.pattern);
    let tokens = TOKENS.iter().map(group).collect::<Vec<_>>().join("|");
    let by_context = BY_CONTEXT.iter().map(group).collect::<Vec<_>>().join("|");
    #[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile them")]
    Regex::new(&format!("(?:^|[^0-9A-Za-z_.~-])(?:{tokens})|{by_context}"))
        .expect("a pattern is wrong")
});

/// The secrets in a text, in order.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut places = BEGINNINGS.capture_locations();
    while BEGINNINGS.captures_read_at(&mut places, text, at).is_some() {
        let shapes = TOKENS.iter().chain(BY_CONTEXT);
        let candidate =
            shapes.zip(1..).find_map(|(shape, group)| Some((shape, places.get(group)?)));
        let Some((Shape { kind, range, .. }, (start, end))) = candidate else { break };
        at = end;
        if let Some(range) = range(&Candidate { text, at: start..end, from }) {
            at = range.end.max(end);
            from = range.end;
            found.push(Secret { range, kind });
        }
    }
    found
}
