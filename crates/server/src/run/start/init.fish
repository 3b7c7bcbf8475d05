# Read by fish after its own start-up files: prints a mark after the output of each command.
set -g __tmux_mcp_key $TMUX_MCP_KEY
function __tmux_mcp_done --on-event fish_postexec
    builtin printf '\e\\\\\e]133;D;%s;k=%s\a' $status $__tmux_mcp_key >/dev/tty
end
# The user's history stays as it is.
set -g fish_history ''
echo -n >$TMUX_MCP_READY
set -e TMUX_MCP_KEY
set -e TMUX_MCP_READY
