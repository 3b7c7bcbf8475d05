//! `screenshot_pane`: a pane as PNG, SVG or HTML.

use base64::prelude::{BASE64_STANDARD, Engine};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::support::{at_least, exited, keys, pane, shows, string, version};
use crate::{launch, serve, serve_configured};

/// Width and height of a cell in pixels.
const CELL: (usize, usize) = (8, 16);

/// A decoded image as red, green and blue bytes.
struct Pixels {
    width: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    fn read(file: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let width = reader.next_frame(&mut rgb).unwrap().width as usize;
        Self { width, rgb }
    }

    /// The colours in a cell, that of the top left pixel first.
    fn cell(&self, column: usize, row: usize) -> Vec<[u8; 3]> {
        let (width, height) = CELL;
        let mut colors: Vec<[u8; 3]> = Vec::new();
        for y in row * height..(row + 1) * height {
            for x in column * width..(column + 1) * width {
                let at = (y * self.width + x) * 3;
                let color = [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]];
                if !colors.contains(&color) {
                    colors.push(color);
                }
            }
        }
        colors
    }
}

fn image(result: &CallToolResult) -> Vec<u8> {
    let image = result.content.iter().find_map(|block| block.as_image()).unwrap();
    assert_eq!(image.mime_type, "image/png");
    BASE64_STANDARD.decode(&image.data).unwrap()
}

async fn screenshot(mcp: &Mcp, arguments: Value) -> Pixels {
    Pixels::read(&image(&mcp.call("screenshot_pane", arguments).await.result()))
}

/// Creates a pane of 40x12 that prints this text, and waits until it is shown.
async fn pane_with_text(tmux: &TmuxServer, mcp: &Mcp, text: &str) -> String {
    let file = tmux.home().join("shown");
    std::fs::write(&file, format!("{text}ready")).unwrap();
    let command = format!("stty -echo; cat {}; exec cat", file.display());
    let made = mcp.call("create_session", json!({"command": command, "width": 40, "height": 12}));
    let target = string(&made.await.ok()["pane_id"]);
    shows(mcp, &target, "ready").await;
    target
}

#[tokio::test]
async fn a_screenshot_has_an_image_and_facts() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane_with_text(&tmux, &mcp, "one\r\n").await;
    let result = mcp.call("screenshot_pane", json!({"target": target})).await.result();
    let file = image(&result);
    let facts = result.structured_content.clone().unwrap();
    let mut fields = vec!["bytes", "columns", "format", "height", "pane_id", "rows", "width"];
    if version(&tmux).captures_no_erased_cells() {
        fields.insert(4, "missing");
    }
    assert_eq!(keys(&facts), fields);
    assert_eq!((&facts["columns"], &facts["rows"]), (&json!(40), &json!(12)));
    assert_eq!((&facts["width"], &facts["height"]), (&json!(320), &json!(192)));
    assert_eq!((&facts["format"], &facts["bytes"]), (&json!("png"), &json!(file.len())));
    assert!(file.len() < 3_000, "{} bytes", file.len());
    let pixels = Pixels::read(&file);
    assert_eq!(pixels.width, 320);
    assert!(pixels.cell(0, 0).len() > 1 && pixels.cell(5, 0).len() == 1);
    mcp.close().await;
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    let result = mcp.call("screenshot_pane", json!({"target": target})).await.result();
    assert_eq!((result.content.len(), &result.structured_content), (2, &None));
    let text = result.content[0].as_text().unwrap().text.clone();
    let bytes = file.len();
    let start = format!("{target} · 40x12 · png · 320x192 pixels · {bytes} bytes");
    assert!(text.starts_with(&start), "{text}");
    let missing = text.contains(" · tmux 3.3a does not report colours behind erased text");
    assert_eq!(missing, version(&tmux).captures_no_erased_cells(), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn colours_and_attributes_are_those_of_the_screen() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text = "\u{1b}[48;2;1;2;3m \u{1b}[48;5;196m \u{1b}[0;38;2;9;8;7m█\u{1b}[0;38;5;21;7m \u{1b}[0m\r\n\
                \u{1b}[38;2;200;0;0;8mX\u{1b}[0m \u{1b}[38;2;200;0;0m漢\u{1b}[0m\r\n\
                \u{1b}[48;2;0;60;0m\u{1b}[K\u{1b}[0m\r\n\u{1b}(0q\u{1b}(B\t\u{1b}[48;2;5;5;5m \u{1b}[0m\r\n";
    let target = pane_with_text(&tmux, &mcp, text).await;
    let pixels = screenshot(&mcp, json!({"target": target})).await;
    assert_eq!(pixels.cell(0, 0), [[1, 2, 3]]);
    assert_eq!(pixels.cell(1, 0), [[255, 0, 0]]);
    assert_eq!(pixels.cell(2, 0), [[9, 8, 7]]);
    assert_eq!(pixels.cell(3, 0), [[0, 0, 255]]);
    assert_eq!(pixels.cell(0, 1).len(), 1, "hidden text is not drawn");
    for half in [2, 3] {
        assert!(pixels.cell(half, 1).contains(&[200, 0, 0]), "a wide character has two halves");
    }
    if !version(&tmux).captures_no_erased_cells() {
        assert_eq!(
            pixels.cell(39, 2),
            [[0, 60, 0]],
            "an erased line keeps its background to the end"
        );
    }
    assert_eq!(pixels.cell(0, 3).len(), 2, "a line-drawing letter is drawn as a line");
    assert_eq!(pixels.cell(8, 3), [[5, 5, 5]], "a tab moves to its stop");
    let light = screenshot(&mcp, json!({"target": target, "theme": "light"})).await;
    assert_eq!((light.cell(0, 0), light.cell(20, 5)), (vec![[1, 2, 3]], vec![[255; 3]]));
    mcp.close().await;
}

#[tokio::test]
async fn the_cursor_is_drawn_unless_hidden() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (text, shown) in [("\u{1b}[?25l", false), ("", true)] {
        let target = pane_with_text(&tmux, &mcp, text).await;
        let pixels = screenshot(&mcp, json!({"target": target})).await;
        let ground = pixels.cell(20, 5);
        assert_eq!(pixels.cell(5, 0) != ground, shown, "{text:?}");
        assert_eq!((pixels.cell(5, 0).len(), pixels.cell(6, 0)), (1, ground));
        mcp.call("kill", json!({"target": target})).await.ok();
    }
    mcp.close().await;
}

#[tokio::test]
async fn window_styles_set_the_background() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane_with_text(&tmux, &mcp, "").await;
    tmux.tmux(&["set-option", "-w", "-t", &target, "window-style", "bg=#203040"]);
    tmux.tmux(&["set-option", "-w", "-t", &target, "window-active-style", "bg=#203040"]);
    assert_eq!(screenshot(&mcp, json!({"target": target})).await.cell(20, 5), [[0x20, 0x30, 0x40]]);
    mcp.close().await;
}

#[tokio::test]
async fn a_path_writes_a_file_without_image() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane_with_text(&tmux, &mcp, "").await;
    for (name, format, start) in [
        ("a b#S%d;'$(x)é.png", None, &b"\x89PNG"[..]),
        ("x.svg", None, b"<svg"),
        ("x.HTML", None, b"<!doctype html>"),
        ("x.png", Some("svg"), b"<svg"),
        ("plain", None, b"\x89PNG"),
    ] {
        let path = tmux.home().join(name);
        let mut arguments = json!({"target": target, "path": path});
        if let Some(format) = format {
            arguments["format"] = json!(format);
        }
        let result = mcp.call("screenshot_pane", arguments).await.result();
        assert!(result.content.iter().all(|block| block.as_image().is_none()), "{name}");
        let facts = result.structured_content.unwrap();
        let written = std::fs::read(&path).unwrap();
        assert!(written.starts_with(start), "{name}");
        assert_eq!((&facts["path"], &facts["bytes"]), (&json!(path), &json!(written.len())));
        assert_eq!(facts.get("text"), None, "{name}");
    }
    let wrong =
        async |path| mcp.call("screenshot_pane", json!({"target": target, "path": path})).await;
    for path in ["/no/such/folder/x.png", "/"] {
        let error = wrong(path).await.err("file_failed");
        assert!(error.contains(path) && error.contains("Next: "), "{error}");
    }
    let error = wrong("x.png").await.err("invalid_argument");
    assert!(error.contains("`x.png`") && error.contains("Next: "), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn terminal_text_is_escaped_in_documents() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let hostile = "<script>alert(1)</script>&amp;\"'\r\n\u{1b}[31m</style></pre>]]>\u{1b}[0m\r\n\
                   \u{1b}[8msecret\u{1b}[0m \u{202e}x\u{e0041} 漢│é\u{301}\r\n";
    let target = pane_with_text(&tmux, &mcp, hostile).await;
    for format in ["svg", "html"] {
        let arguments = json!({"target": target, "format": format});
        let facts = mcp.call("screenshot_pane", arguments.clone()).await.ok();
        let text = mcp.call("screenshot_pane", arguments).await.text();
        assert!(text.ends_with(&string(&facts["text"])) && text.starts_with(&target), "{text}");
        for wrong in
            ["<script", "</style></pre>", "]]>", "secret", "\u{202e}", "\u{1b}", "\u{e0041}"]
        {
            assert!(!text.contains(wrong), "{format}: {wrong:?}\n{text}");
        }
        assert!(
            text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;"),
            "{text}"
        );
        assert!(
            text.contains('漢') && text.contains("é\u{301}") && text.contains("ready"),
            "{text}"
        );
        assert!(text.trim_end().ends_with(&format!("</{format}>")), "{text}");
        let addresses = text.matches("http://").count();
        assert_eq!(addresses, text.matches("http://www.w3.org/2000/svg").count(), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_too_long_document_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\ntext = 500").await;
    let target = pane_with_text(&tmux, &mcp, &"\u{1b}[31ma\u{1b}[0mb".repeat(9)).await;
    for format in ["svg", "html"] {
        let arguments = json!({"target": target, "format": format});
        let error = mcp.call("screenshot_pane", arguments).await.err("invalid_argument");
        assert!(error.contains("Next: give `path`"), "{error}");
        let path = tmux.home().join(format);
        let arguments = json!({"target": target, "format": format, "path": path});
        mcp.call("screenshot_pane", arguments).await.ok();
        assert!(std::fs::read_to_string(&path).unwrap().contains("ready"));
    }
    let pixels = screenshot(&mcp, json!({"target": target})).await;
    assert_eq!(pixels.width, 320);
    mcp.close().await;
}

#[tokio::test]
async fn exited_and_copy_mode_panes_are_drawn() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane_with_text(&tmux, &mcp, "\u{1b}[48;2;1;2;3m \u{1b}[0m\r\n").await;
    tmux.tmux(&["copy-mode", "-t", &target]);
    let before = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_mode} #{window_active}"]);
    let facts = mcp.call("screenshot_pane", json!({"target": target})).await.text();
    assert!(
        facts.ends_with(" · the pane is in copy-mode, the picture shows the screen"),
        "{facts}"
    );
    assert_eq!(screenshot(&mcp, json!({"target": target})).await.cell(0, 0), [[1, 2, 3]]);
    let after = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_mode} #{window_active}"]);
    assert_eq!(before, after);
    let dead = pane(&mcp, "printf '\\033[48;2;4;5;6m  \\033[0m'; exit 3").await;
    exited(&mcp, &dead).await;
    let pixels = screenshot(&mcp, json!({"target": dead})).await;
    // tmux 3.2a always prints its exit notice and scrolls a line away for it.
    if at_least(&tmux, "3.3") {
        assert_eq!(pixels.cell(0, 0), [[4, 5, 6]]);
    }
    mcp.close().await;
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words, code) in [
        (json!({"target": "main", "format": "jpeg"}), "jpeg", "invalid_argument"),
        (json!({"target": "main", "theme": "blue"}), "blue", "invalid_argument"),
        (json!({"target": "main", "file": "/x"}), "`file`", "invalid_argument"),
        (json!({}), "target", "invalid_argument"),
        (json!({"target": "%99"}), "%99", "not_found"),
    ] {
        let error = mcp.call("screenshot_pane", arguments).await.err(code);
        assert!(error.contains(words) && error.contains("Next: "), "{error}");
    }
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 1, "the tmux server still runs");
    mcp.close().await;
}
