# Read by fish after its own start-up files: prints a mark after the output of each command.
set -g __tmux_mcp_key $TMUX_MCP_KEY
function __tmux_mcp_done --on-event fish_postexec
    builtin printf '\e\\\\\e]133;D;%s;k=%s\a' $status $__tmux_mcp_key >/dev/tty
end
# tmux drops what a shell printed in the moment before it exits.
function __tmux_mcp_bye --on-event fish_exit
    command sleep 0.1
end
# The user's history stays as it is.
set -g fish_history ''
echo -n >$TMUX_MCP_READY
set -e TMUX_MCP_KEY
set -e TMUX_MCP_READY
