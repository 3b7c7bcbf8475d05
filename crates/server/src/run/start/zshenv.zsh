# Read by zsh in place of the user's .zshenv: reads that, and once all other start-up
# files are through, has a mark printed after the output of each command.
if [[ -n $TMUX_MCP_ZDOTDIR ]]; then
    export ZDOTDIR=$TMUX_MCP_ZDOTDIR
else
    unset ZDOTDIR
fi
typeset -g __tmux_mcp_key=$TMUX_MCP_KEY __tmux_mcp_ready=$TMUX_MCP_READY
unset TMUX_MCP_ZDOTDIR TMUX_MCP_KEY TMUX_MCP_READY

if [[ -o interactive ]]; then
    __tmux_mcp_done() {
        builtin printf '\e\\\e]133;D;%s;k=%s\a' $? $__tmux_mcp_key >/dev/tty
        __tmux_mcp_mark
    }
    # zsh shows a line without an end before any hook runs. That begins with the mark, so neither it
    # nor what other hooks print is taken for output. The user may set it anew at any time.
    __tmux_mcp_mark() {
        local end=$'%{\e\\\e]133;D;%?;k='$__tmux_mcp_key$'\a%}'
        [[ ${PROMPT_EOL_MARK-} == "$end"* ]] ||
            typeset -g PROMPT_EOL_MARK="$end${PROMPT_EOL_MARK-%B%S%#%s%b}"
    }
    # What carries a command is no command of the user's.
    __tmux_mcp_history() { [[ $1 != ' eval "$(<'*/tmux-mcp-* ]] }
    # tmux drops what a shell printed in the moment before it exits.
    __tmux_mcp_bye() { command sleep 0.1 }
    __tmux_mcp_first() {
        precmd_functions=(__tmux_mcp_done ${precmd_functions:#__tmux_mcp_first})
        zshaddhistory_functions+=(__tmux_mcp_history)
        zshexit_functions+=(__tmux_mcp_bye)
        __tmux_mcp_mark
        : >|$__tmux_mcp_ready
        # The user's history is read by now, and stays as it is.
        unset HISTFILE __tmux_mcp_ready
        unfunction __tmux_mcp_first
    }
    typeset -ga precmd_functions
    precmd_functions+=(__tmux_mcp_first)
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . ${ZDOTDIR-$HOME}/.zshenv
fi
