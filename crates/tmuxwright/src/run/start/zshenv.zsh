# Read by zsh in place of the user's .zshenv: reads that, and once all other start-up
# files are through, has a mark printed after the output of each command.
if [[ -n $__TMUXWRIGHT_ZDOTDIR ]]; then
    export ZDOTDIR=$__TMUXWRIGHT_ZDOTDIR
else
    unset ZDOTDIR
fi
typeset -g __tmuxwright_key=$__TMUXWRIGHT_KEY __tmuxwright_ready=$__TMUXWRIGHT_READY
unset __TMUXWRIGHT_ZDOTDIR __TMUXWRIGHT_KEY __TMUXWRIGHT_READY

if [[ -o interactive ]]; then
    __tmuxwright_done() {
        builtin printf '\e\\\e]133;D;%s;k=%s\a' $? $__tmuxwright_key >/dev/tty
        __tmuxwright_mark
    }
    # zsh shows a line without an end before any hook runs. That begins with the mark, so neither it
    # nor what other hooks print is taken for output. The user may set it anew at any time.
    __tmuxwright_mark() {
        local end=$'%{\e\\\e]133;D;%?;k='$__tmuxwright_key$'\a%}'
        [[ ${PROMPT_EOL_MARK-} == "$end"* ]] ||
            typeset -g PROMPT_EOL_MARK="$end${PROMPT_EOL_MARK-%B%S%#%s%b}"
    }
    # What carries a command is no command of the user's.
    __tmuxwright_history() { [[ $1 != ' eval "$(<'*/tmuxwright-* ]] }
    # tmux drops what a shell printed in the moment before it exits.
    __tmuxwright_bye() { command sleep 0.1 }
    __tmuxwright_first() {
        precmd_functions=(__tmuxwright_done ${precmd_functions:#__tmuxwright_first})
        zshaddhistory_functions+=(__tmuxwright_history)
        zshexit_functions+=(__tmuxwright_bye)
        __tmuxwright_mark
        : >|$__tmuxwright_ready
        # The user's history is read by now, and stays as it is.
        unset HISTFILE __tmuxwright_ready
        unfunction __tmuxwright_first
    }
    typeset -ga precmd_functions
    precmd_functions+=(__tmuxwright_first)
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . ${ZDOTDIR-$HOME}/.zshenv
fi
