//! The features of the five earlier tmux servers for agents, by table of `docs/coming-from.md`. Their
//! versions are fixed, so the lists do not change.

/// The heading above a table of tools.
pub(super) const TOOLS: &str = "Tools";

/// The heading above a table of parameters that need not stand beside each tool.
pub(super) const SHARED: &str = "Parameters that many tools share";

/// An earlier server: the heading of its section, and the entries of each of its tables.
pub(super) struct EarlierServer {
    pub(super) section: &'static str,
    pub(super) tables: &'static [(&'static str, &'static str)],
}

pub(super) const EARLIER_SERVERS: &[EarlierServer] = &[
    EarlierServer { section: "libtmux-mcp", tables: LIBTMUX },
    EarlierServer { section: "tmux-mcp-rs", tables: TMUX_MCP_RS },
    EarlierServer { section: "MadAppGang's tmux-mcp", tables: MADAPPGANG },
    EarlierServer { section: "tmux-debug-mcp", tables: WRAPIX },
    EarlierServer { section: "The FastMCP design with 14 tools", tables: FASTMCP },
];

/// Version 0.1.0a11, and the additions up to 0.1.0a20.
const LIBTMUX: &[(&str, &str)] = &[
    (SHARED, "pane_id window_id session_id session_name window_index socket_name"),
    (
        TOOLS,
        "load_buffer(content, logical_name)
        paste_buffer(buffer_name, bracket)
        show_buffer(buffer_name, max_lines)
        delete_buffer(buffer_name)
        show_environment
        set_environment(name, value)
        show_hooks(scope, target, global_)
        show_hook(hook_name, scope, target, global_)
        show_option(option, scope, target, global_)
        set_option(option, value, scope, target, global_)
        capture_since(cursor, max_lines, max_bytes)
        enter_copy_mode(scroll_up)
        exit_copy_mode
        send_keys(keys, enter, literal, suppress_history)
        capture_pane(start, end, max_lines)
        clear_pane
        paste_text(text, bracket)
        resize_pane(height, width, zoom)
        select_pane(direction)
        swap_pane(source_pane_id, target_pane_id)
        kill_pane
        respawn_pane(kill, shell, start_directory, environment, suppress_persistent_history)
        set_pane_title(title)
        get_pane_info
        find_pane_by_position(corner)
        display_message(format_string)
        snapshot_pane(max_lines)
        pipe_pane(output_path, append)
        search_panes(pattern, regex, match_case, content_start, content_end, max_matched_lines_per_pane, limit, offset)
        wait_for_text(pattern, regex, timeout, interval, match_case, patterns, stop)
        wait_for_content_change(timeout, interval)
        list_sessions(filters)
        create_session(session_name, window_name, start_directory, x, y, environment, suppress_persistent_history)
        kill_server
        get_server_info
        list_servers(extra_socket_paths)
        list_windows(filters)
        get_session_info
        create_window(window_name, start_directory, attach, direction, environment, suppress_persistent_history)
        rename_session(new_name)
        kill_session
        select_window(direction)
        wait_for_channel(channel, timeout)
        signal_channel(channel)
        list_panes(filters)
        get_window_info
        split_window(direction, size, start_directory, shell, environment, suppress_persistent_history)
        rename_window(new_name)
        kill_window
        select_layout(layout)
        resize_window(height, width)
        move_window(destination_index, destination_session)
        run_command(command, timeout, max_lines, suppress_history)
        send_keys_batch(operations, on_error, timeout)
        call_readonly_tools_batch(operations, on_error)
        call_mutating_tools_batch(operations, on_error)
        call_destructive_tools_batch(operations, on_error)
        list_prompts
        get_prompt",
    ),
    (
        "Filters",
        "exact contains startswith endswith regex iexact icontains istartswith iendswith iregex",
    ),
    (
        "Answers",
        "active_pane_id session_name window_name window_index window_count session_attached session_created
        pane_count window_layout window_active window_width window_height
        pane_current_command pane_current_path pane_pid pane_title pane_active pane_width pane_height pane_index
        is_caller pane_tty pane_left pane_top pane_right pane_bottom
        pane_at_left pane_at_top pane_at_right pane_at_bottom pane_dead alternate_on
        exit_status timed_out output output_truncated output_truncated_lines
        found matched_lines changed outcome matched_index tail elapsed_seconds
        saw_new_output matched_at_entry risk_band_warned effective_timeout
        cursor lines lines_missed truncated truncated_lines truncated_bytes
        matches total_panes_matched truncated_panes offset limit
        is_alive socket_path version session_count error_type expected suggestion",
    ),
    (
        "Resources",
        "tmux://sessions tmux://sessions/{session_name} tmux://sessions/{session_name}/windows
        tmux://sessions/{session_name}/windows/{window_index}
        tmux://panes/{pane_id} tmux://panes/{pane_id}/content",
    ),
    (
        "Prompts",
        "run_and_wait(command, pane_id, timeout)
        diagnose_failing_pane(pane_id)
        build_dev_workspace(session_name, log_command)
        interrupt_gracefully(pane_id)",
    ),
    (
        "Environment variables",
        "LIBTMUX_SOCKET LIBTMUX_SOCKET_PATH LIBTMUX_TMUX_BIN LIBTMUX_SAFETY LIBTMUX_MCP_PROMPTS_AS_TOOLS
        LIBTMUX_SUPPRESS_HISTORY LIBTMUX_MCP_WAIT_MAX_SECONDS FASTMCP_LOG_LEVEL TMUX TMUX_PANE TMUX_TMPDIR",
    ),
    ("Flags", "--version --help"),
    ("What else it did", "libtmux_mcp.audit notifications/message completion/complete alwaysLoad
        wait_for_previous"),
];

/// Version 0.5.0, and the additions of 0.6.0.
const TMUX_MCP_RS: &[(&str, &str)] = &[
    (SHARED, "paneId windowId sessionId socket"),
    (
        TOOLS,
        "socket-for-path(path)
        list-sessions
        list-clients
        list-buffers
        get-current-session
        find-session(name)
        create-session(name)
        kill-session(sessionId)
        list-windows(sessionId)
        rename-session(sessionId, name)
        create-window(sessionId, name)
        kill-window(windowId)
        select-window(windowId)
        list-panes(windowId)
        rename-window(windowId, name)
        move-window(windowId, targetSessionId, targetIndex)
        select-layout(windowId, layout)
        set-synchronize-panes(windowId, enabled)
        split-pane(paneId, direction, size)
        kill-pane(paneId)
        select-pane(paneId)
        zoom-pane(paneId)
        rename-pane(paneId, title)
        capture-pane(paneId, lines, colors, start, end, join)
        resize-pane(paneId, direction, amount, width, height)
        join-pane(sourcePaneId, targetPaneId)
        swap-pane(sourcePaneId, targetPaneId)
        break-pane(paneId, name)
        execute-command(paneId, command, rawMode, noEnter, delayMs, waitMs)
        get-command-result(commandId, waitMs)
        detach-client(clientTty)
        show-buffer(name, offsetBytes, maxBytes)
        save-buffer(name, path)
        load-buffer(name, path)
        delete-buffer(name)
        set-buffer(name, content)
        append-buffer(name, content)
        rename-buffer(from, to)
        search-buffer(query, mode, buffer, buffers, contextBytes, maxMatches, maxScanBytes, includeSimilarity, fuzzyMatch, similarityThreshold, resumeFromOffset)
        subsearch-buffer(anchor, contextBytes, query, mode, buffer, resumeFromOffset, maxMatches, includeSimilarity, fuzzyMatch, similarityThreshold)
        send-keys(paneId, keys, literal, enter, repeat, delayMs)
        paste-text(paneId, content)
        send-hex(paneId, hex)
        send-cancel(paneId)
        send-eof(paneId)
        send-escape(paneId)
        send-enter(paneId)
        send-tab(paneId)
        send-backspace(paneId)
        send-up(paneId)
        send-down(paneId)
        send-left(paneId)
        send-right(paneId)
        send-page-up(paneId)
        send-page-down(paneId)
        send-home(paneId)
        send-end(paneId)",
    ),
    (
        "Answers",
        "commandId status exitCode output outputTruncated elapsedMs waitTimedOut reason resourceUri
        schemaVersion",
    ),
    (
        "Resources",
        "tmux://server/info tmux://pane/{paneId} tmux://pane/{paneId}/info
        tmux://pane/{paneId}/tail/{lines} tmux://pane/{paneId}/tail/{lines}/ansi
        tmux://window/{windowId}/info tmux://session/{sessionId}/tree tmux://clients
        tmux://command/{commandId}/result",
    ),
    ("Skills", "tmux-via-mcp tmux-buffer-explorer"),
    ("Flags", "--shell-type -t --socket -s --ssh -r --config -c --version --help"),
    ("Environment variables", "TMUX_MCP_SOCKET TMUX_MCP_SSH TMUX_MCP_TOOLS RUST_LOG"),
    (
        "Config keys",
        "shell.type ssh.remote security.enabled security.allow_execute_command security.allow_raw_mode
        security.allow_send_keys security.allow_kill security.allow_create security.allow_split
        security.allow_rename security.allow_move security.allow_capture security.allow_list
        security.allowed_sockets security.allowed_sessions security.allowed_panes
        security.allowed_buffer_paths security.command_filter.mode security.command_filter.patterns
        security.tools.mode security.tools.items
        tracking.capture_initial_lines tracking.capture_max_lines tracking.capture_backoff_factor
        tracking.completed_retention_minutes tracking.completed_max_entries
        tracking.tracking_deadline_seconds search.streaming_threshold_bytes",
    ),
    (
        "Tool groups",
        "@all @read @list @execute @raw-input @interactive @special-keys @capture @buffer-read
        @buffer-write @create @split @rename @move @kill @socket",
    ),
    ("Cargo features", "rayon rapidfuzz fuzzy interactive special-keys"),
];

/// Version 1.0, the additions up to 1.7, and the new names of 2.0.
const MADAPPGANG: &[(&str, &str)] = &[
    (SHARED, "paneId windowId sessionId slot headless isolated"),
    (
        TOOLS,
        "list-sessions(headless, all)
        list-windows(sessionId)
        list-panes(windowId)
        capture-pane(paneId, lines, colors, slot)
        screenshot-pane(paneId, theme, output, slot)
        create-session(name)
        create-headless(name, command)
        kill-headless-server
        create-window(sessionId, name)
        split-pane(paneId, direction, size, slot)
        send-keys(paneId, keys, literal, enter, slot)
        execute-command(paneId, command, headless, timeoutSeconds, slot)
        resize-pane(paneId, width, height, direction, amount)
        rename-session(sessionId, newName)
        kill-session(sessionId)
        kill-window(windowId)
        kill-pane(paneId)
        start-and-watch(paneId, command, pattern, mode, triggers, timeout, headless, slot)
        watch-pane(paneId, mode, triggers, timeout, slot)
        pane-state(paneId, slot)
        run-in-repl(paneId, input, promptPattern, timeout, slot)
        write-to-display(paneId, text, clear, slot)
        display-message(message, duration)
        close-pane(paneId, slot)
        list-slots
        open-pane
        notify",
    ),
    ("Triggers", "exit shell user_input error bell idle:N pattern:REGEX"),
    ("Modes", "quick medium slow line bunch screen"),
    (
        "Answers",
        "sessionId windowId paneId sessionName output exitCode timedOut event detail elapsed paneState
        panePid foregroundPid foregroundCmd isAlive waitingForInput currentCommand currentPath
        reused created killed",
    ),
    ("Resources", "tmux://sessions tmux://pane/{paneId}"),
    ("Flags", "--shell-type --scope --channel --version --help"),
    ("Environment variables", "TMUX_MCP_SCOPE"),
    ("Tool groups", "agentic primitives all"),
];

const WRAPIX: &[(&str, &str)] = &[
    (
        TOOLS,
        "tmux_create_pane(command, name)
        tmux_send_keys(pane_id, keys)
        tmux_capture_pane(pane_id, lines)
        tmux_kill_pane(pane_id)
        tmux_list_panes",
    ),
    ("Environment variables", "TMUX_DEBUG_AUDIT TMUX_DEBUG_AUDIT_FULL"),
    ("Audit records", "ts tool pane_id output_bytes command name keys lines"),
    ("Config keys", "mcp.tmux-debug audit auditFull"),
];

const FASTMCP: &[(&str, &str)] = &[(
    TOOLS,
    "tmux_list_sessions
    tmux_create_session(name, command, window_name)
    tmux_rename_session(old_name, new_name)
    tmux_kill(target, type)
    tmux_list_windows(session)
    tmux_create_window(session, name, command)
    tmux_select_window(target)
    tmux_rename_window(target, new_name)
    tmux_list_panes(target)
    tmux_split_window(target, horizontal, size, command)
    tmux_select_pane(target)
    tmux_resize_pane(target, direction, amount, width, height)
    tmux_send_keys(target, keys, literal)
    tmux_read_pane(target, line_count, start_line)",
)];
