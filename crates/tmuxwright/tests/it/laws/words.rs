//! Names and documents a newcomer reads: no riddles in function names, one meaning per type name, no page
//! that points to a file that has gone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{ImplItemFn, Item, ItemFn, Visibility};

use super::claims::{backticked, root};
use super::source::sources;

/// The sources of all crates, tests included.
fn all_sources() -> Vec<(PathBuf, syn::File)> {
    let parsed = |(path, text): (PathBuf, String)| (path, syn::parse_file(&text).unwrap());
    sources(&root().join("crates")).into_iter().map(parsed).collect()
}

/// The names of all functions and methods in a file, and of those that are tests.
#[derive(Default)]
struct FunctionNames {
    all: Vec<String>,
    tests: Vec<String>,
}

impl<'ast> Visit<'ast> for FunctionNames {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.all.push(item.sig.ident.to_string());
        let is_test = |attribute: &syn::Attribute| {
            attribute.path().segments.last().is_some_and(|last| last.ident == "test")
        };
        if item.attrs.iter().any(is_test) {
            self.tests.push(item.sig.ident.to_string());
        }
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.all.push(item.sig.ident.to_string());
        syn::visit::visit_impl_item_fn(self, item);
    }
}

#[test]
fn function_names_have_a_subject() {
    for (path, file) in all_sources() {
        let mut names = FunctionNames::default();
        names.visit_file(&file);
        let riddle = names.all.iter().find(|name| name.starts_with("what_"));
        assert_eq!(riddle, None, "{}", path.display());
    }
}

#[test]
fn test_names_have_at_most_eight_words() {
    for (path, file) in all_sources() {
        let mut names = FunctionNames::default();
        names.visit_file(&file);
        for name in names.tests {
            let words = name.split('_').count();
            assert!(words <= 8, "{}: {name} has {words} words", path.display());
        }
    }
}

/// The glossary of ARCHITECTURE.md.
fn glossary() -> String {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = page.split_once("## Glossary\n").unwrap();
    rest.split("\n## ").next().unwrap().to_owned()
}

#[test]
fn glossary_has_at_most_twenty_entries() {
    let glossary = glossary();
    let rows = glossary.lines().filter(|line| line.starts_with("| ")).count();
    assert!((2..=21).contains(&rows), "{rows} rows, the heading included");
}

#[test]
fn public_types_share_no_name_without_a_reason() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, file) in all_sources() {
        let in_tests = path.components().any(|part| part.as_os_str() == "tests");
        for item in file.items.iter().filter(|_| !in_tests) {
            let (visibility, name) = match item {
                Item::Struct(item) => (&item.vis, &item.ident),
                Item::Enum(item) => (&item.vis, &item.ident),
                Item::Trait(item) => (&item.vis, &item.ident),
                Item::Type(item) => (&item.vis, &item.ident),
                _ => continue,
            };
            if matches!(visibility, Visibility::Public(_)) {
                places.entry(name.to_string()).or_default().push(path.display().to_string());
            }
        }
    }
    let glossary = glossary();
    let explained = backticked(&glossary);
    places.retain(|name, places| places.len() > 1 && !explained.contains(&name.as_str()));
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn architecture_names_only_files_that_exist() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let below = ["", "crates/tmuxwright", "crates/tmuxwright/src", "crates/tmux-control/src"];
    let exists = |name: &str| below.iter().any(|dir| root().join(dir).join(name).exists());
    let is_file = |name: &&str| {
        let named = Path::new(name).extension().is_some_and(|ending| ending == "rs");
        named && name.contains('/') && !name.contains('<')
    };
    let gone: Vec<&str> =
        backticked(&page).into_iter().filter(is_file).filter(|name| !exists(name)).collect();
    assert!(gone.is_empty(), "{gone:?}");
    assert!(exists("mcp/pipeline.rs") && !exists("mcp/none.rs"));
}
