//! The module graph of the server crate: read from the source, compared with the list of allowed edges,
//! and drawn from that list in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree};

use super::claims::root;
use super::docs::section_must_be;
use super::source::sources;

/// Every module of the crate with the modules it may use, from the top down: a module uses only modules
/// below it, so the graph has no cycle. An edge that is not here, or is here and unused, fails.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "cli",
        &[
            "mcp", "app", "tools", "context", "config", "policy", "audit", "watch", "host", "log",
            "contract",
        ],
    ),
    (
        "mcp",
        &[
            "app",
            "resources",
            "registry",
            "prompts",
            "completion",
            "context",
            "config",
            "policy",
            "audit",
            "changes",
            "watch",
            "run",
            "redact",
            "log",
            "contract",
            "random",
            "file_io",
            "lock",
        ],
    ),
    (
        "app",
        &[
            "resources",
            "registry",
            "tools",
            "context",
            "config",
            "policy",
            "audit",
            "changes",
            "watch",
            "run",
            "host",
            "log",
            "contract",
            "lock",
        ],
    ),
    ("resources", &["registry", "results", "contract"]),
    ("registry", &["context", "policy", "contract"]),
    (
        "tools",
        &[
            "prompts",
            "actions",
            "results",
            "buffer_search",
            "context",
            "bookmark",
            "run",
            "host",
            "contract",
            "file_io",
        ],
    ),
    ("prompts", &["completion", "contract"]),
    ("completion", &["context", "host", "contract"]),
    ("actions", &["results", "context", "watch", "bookmark", "run", "host", "contract"]),
    ("results", &["run", "host", "contract"]),
    ("buffer_search", &["contract"]),
    ("context", &["changes", "watch", "run", "host", "redact", "contract", "file_io", "lock"]),
    (
        "config",
        &[
            "policy",
            "audit",
            "watch",
            "run",
            "host",
            "private_dir",
            "redact",
            "contract",
            "file_io",
        ],
    ),
    ("policy", &["contract"]),
    ("audit", &["contract", "file_io", "lock"]),
    ("changes", &["run", "host"]),
    ("watch", &["bookmark", "run", "input_probe", "host"]),
    ("bookmark", &["lock"]),
    ("run", &["input_probe", "host", "private_dir", "random", "file_io", "lock"]),
    ("input_probe", &[]),
    ("host", &["private_dir", "random"]),
    ("private_dir", &["random", "file_io", "lock"]),
    ("redact", &[]),
    ("log", &["lock"]),
    ("contract", &[]),
    ("random", &[]),
    ("file_io", &[]),
    ("lock", &[]),
];

/// The module that a file is, below `src`: `run/gate.rs` is `run::gate`.
fn module_of(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The top-level modules that a file uses, whichever way it names them.
fn used_by(file: &Path, text: &str) -> BTreeSet<String> {
    let mut edges = Edges { module: module_of(file), used: BTreeSet::new() };
    edges.visit_file(&syn::parse_file(text).unwrap());
    let own = module_of(file).into_iter().next();
    edges.used.retain(|used| Some(used) != own.as_ref());
    edges.used
}

/// Collects top-level modules from every path of a syntax tree.
struct Edges {
    /// The module that is visited, inline modules included.
    module: Vec<String>,
    used: BTreeSet<String>,
}

impl Edges {
    /// Resolves a path that begins with `crate`, `super` or `self` to a module of the crate.
    fn note(&mut self, path: &[String]) {
        let mut at = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super" | "self") => self.module.clone(),
            _ => return,
        };
        for step in path {
            match step.as_str() {
                "crate" | "self" => {}
                "super" => {
                    at.pop();
                }
                name => {
                    at.push(name.to_owned());
                    break;
                }
            }
        }
        self.used.extend(at.into_iter().next());
    }

    fn note_tree(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.note_tree(&path.tree, &with(path.ident.to_string())),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.note_tree(tree, before));
            }
            UseTree::Name(name) => self.note(&with(name.ident.to_string())),
            UseTree::Rename(name) => self.note(&with(name.ident.to_string())),
            UseTree::Glob(_) => self.note(&with("*".to_owned())),
        }
    }

    /// Paths in the arguments of a macro, which is not parsed: `crate::a::b` word by word.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(word) if colons == 2 || path.is_empty() => {
                    path.push(word.to_string());
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                _ => {
                    self.note(&std::mem::take(&mut path));
                    if let TokenTree::Ident(word) = &token {
                        path.push(word.to_string());
                    }
                }
            }
            colons = 0;
            if let TokenTree::Group(group) = token {
                self.note_tokens(group.stream());
            }
        }
        self.note(&path);
    }
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
    })
}

impl<'ast> Visit<'ast> for Edges {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.note_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.note(&words);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.note_tokens(item.tokens.clone());
        syn::visit::visit_macro(self, item);
    }
}

/// The real edges: each top-level module with the modules its files use.
fn real_graph() -> BTreeMap<String, BTreeSet<String>> {
    let src = root().join("crates/tmuxwright/src");
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources(&src) {
        let file = path.strip_prefix(&src).unwrap();
        // Tests beside the code may use what they like.
        let in_tests = file.iter().any(|part| part == "tests" || part == "tests.rs");
        let Some(module) = module_of(file).into_iter().next().filter(|_| !in_tests) else {
            continue;
        };
        graph.entry(module).or_default().extend(used_by(file, &text));
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    graph.values_mut().for_each(|used| used.retain(|name| modules.contains(name)));
    graph
}

#[test]
fn every_form_of_a_path_is_an_edge() {
    for (source, used) in [
        ("use crate::a;", "a"),
        ("use crate::a::b::C;", "a"),
        ("use crate::{a, b::C as D};", "a b"),
        ("use crate::{self, a::*};", "a"),
        ("pub(crate) use crate::a as z;", "a"),
        ("use super::super::a::X;", "a"),
        ("use super::{super::a, super::b};", "a b"),
        ("fn f() { crate::a::g(); }", "a"),
        ("fn f() -> super::super::a::T { loop {} }", "a"),
        ("fn f() { println!(\"{}\", crate::a::g()); }", "a"),
        ("row! { X { y: crate::a::B = \"z\" } }", "a"),
        ("mod inner { use super::super::super::a; }", "a"),
        ("impl crate::a::T for crate::b::U {}", "a b"),
        ("#[cfg(test)] mod tests { use crate::a; }", ""),
        ("use std::a; use a::b; fn f() { x::y(); }", ""),
        ("use super::neighbour; use self::child;", ""),
    ] {
        let found: Vec<String> = used_by(Path::new("own/file.rs"), source).into_iter().collect();
        assert_eq!(found.join(" "), used, "{source}");
    }
}

#[test]
fn modules_use_only_the_modules_drawn() {
    let graph = real_graph();
    let drawn: Vec<&str> = ALLOWED.iter().map(|(module, _)| *module).collect();
    let missing: Vec<&String> =
        graph.keys().filter(|module| !drawn.contains(&module.as_str())).collect();
    assert!(missing.is_empty(), "no line in ALLOWED for {missing:?}");
    let mut wrong = Vec::new();
    for (place, (module, allowed)) in ALLOWED.iter().enumerate() {
        let used = graph.get(*module).unwrap_or_else(|| panic!("there is no module {module}"));
        let extra = used.iter().filter(|name| !allowed.contains(&name.as_str()));
        wrong.extend(extra.map(|name| format!("{module} uses {name}")));
        let idle = allowed.iter().filter(|name| !used.contains(**name));
        wrong.extend(idle.map(|name| format!("{module} no longer uses {name}")));
        let above = allowed.iter().filter(|name| drawn.iter().take(place + 1).any(|d| d == *name));
        wrong.extend(above.map(|name| format!("{name} stands above {module}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first sentence of a module's documentation: what it owns.
fn owned_by(module: &str) -> String {
    let src = root().join("crates/tmuxwright/src");
    let folder = fs::read_to_string(src.join(module).join("mod.rs"));
    let text = folder.or_else(|_| fs::read_to_string(src.join(module).with_extension("rs")));
    let text = text.unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let first = first.join(" ");
    first
        .split_once(". ")
        .map_or(first.as_str(), |(sentence, _)| sentence)
        .trim_end_matches('.')
        .to_owned()
}

/// How far a module is above the lowest ones.
fn height(module: &str) -> usize {
    let (_, used) = ALLOWED.iter().find(|(name, _)| *name == module).unwrap();
    used.iter().map(|name| height(name) + 1).max().unwrap_or(0)
}

#[test]
fn architecture_shows_the_real_graph() {
    let mut page = String::from("```\n");
    let top = ALLOWED.iter().map(|(module, _)| height(module)).max().unwrap();
    for level in (0..=top).rev() {
        let row: Vec<&str> =
            ALLOWED.iter().map(|(name, _)| *name).filter(|name| height(name) == level).collect();
        writeln!(page, "{level:>2}  {}", row.join("   ")).unwrap();
    }
    page.push_str("```\n\n| module | owns | uses |\n|---|---|---|\n");
    for (module, used) in ALLOWED {
        let used = if used.is_empty() { "–".to_owned() } else { used.join(", ") };
        writeln!(page, "| `{module}` | {} | {used} |", owned_by(module)).unwrap();
    }
    section_must_be("ARCHITECTURE.md", "module graph", &page);
}
