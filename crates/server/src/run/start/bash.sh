# Read by bash in place of its own start-up files: reads those, then prints a mark
# before and after the output of each command.
__tmux_mcp_key=$TMUX_MCP_KEY __tmux_mcp_ready=$TMUX_MCP_READY __tmux_mcp_login=$TMUX_MCP_LOGIN
unset TMUX_MCP_KEY TMUX_MCP_READY TMUX_MCP_LOGIN

if [ -n "$__tmux_mcp_login" ]; then
    if [ -r /etc/profile ]; then . /etc/profile; fi
    if [ -r ~/.bash_profile ]; then
        . ~/.bash_profile
    elif [ -r ~/.bash_login ]; then
        . ~/.bash_login
    elif [ -r ~/.profile ]; then
        . ~/.profile
    fi
else
    if [ -r /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi
    if [ -r ~/.bashrc ]; then . ~/.bashrc; fi
fi

# Older ones have no PS0.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    __tmux_mcp_done() {
        local status=$?
        if [[ -n ${__tmux_mcp_ready-} ]]; then
            : >|"$__tmux_mcp_ready"
            # The user's history is read by now, and stays as it is.
            unset HISTFILE __tmux_mcp_ready
        fi
        builtin printf '\e\\\e]133;D;%s;k=%s\a' "$status" "$__tmux_mcp_key" >/dev/tty
        return "$status"
    }
    PS0="${PS0-}\e]133;C;k=$__tmux_mcp_key\a"
    # First, so that what other hooks print is not taken for the command's output.
    if [[ ${PROMPT_COMMAND@a} == *a* ]]; then
        PROMPT_COMMAND=(__tmux_mcp_done "${PROMPT_COMMAND[@]}")
    else
        PROMPT_COMMAND="__tmux_mcp_done${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}"
    fi
fi
# tmux drops what a shell printed in the moment before it exits.
if [[ -z $(trap -p EXIT) ]]; then
    __tmux_mcp_bye() { command sleep 0.1; }
    trap __tmux_mcp_bye EXIT
fi
unset __tmux_mcp_login
