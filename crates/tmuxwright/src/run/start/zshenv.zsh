# Start-up script for zsh, read in place of the user's .zshenv: reads that, and after all other
# start-up files makes zsh print a mark after the output of each command.
if [[ -n $__TMUXWRIGHT_ZDOTDIR ]]; then
    export ZDOTDIR=$__TMUXWRIGHT_ZDOTDIR
else
    unset ZDOTDIR
fi
typeset -g __tmuxwright_key=$__TMUXWRIGHT_KEY __tmuxwright_ready=$__TMUXWRIGHT_READY
unset __TMUXWRIGHT_ZDOTDIR __TMUXWRIGHT_KEY __TMUXWRIGHT_READY

if [[ -o interactive ]]; then
    __tmuxwright_end_mark() {
        builtin printf '\e\\\e]133;D;%s;k=%s\a' $? $__tmuxwright_key >/dev/tty
        __tmuxwright_set_eol_mark
    }
    # zsh prints PROMPT_EOL_MARK after a line without an end, before any hook runs. It begins with
    # the mark here, so that neither it nor the output of other hooks counts as output of the
    # command. Set again after each command, since the user may change it.
    __tmuxwright_set_eol_mark() {
        local end=$'%{\e\\\e]133;D;%?;k='$__tmuxwright_key$'\a%}'
        [[ ${PROMPT_EOL_MARK-} == "$end"* ]] ||
            typeset -g PROMPT_EOL_MARK="$end${PROMPT_EOL_MARK-%B%S%#%s%b}"
    }
    # Keeps the line that evaluates a command file out of the history.
    __tmuxwright_history() { [[ $1 != ' eval "$(<'*/tmuxwright-* ]] }
    # tmux drops output that a shell prints right before it exits, so zsh exits a little later.
    __tmuxwright_linger() { command sleep 0.1 }
    __tmuxwright_install() {
        precmd_functions=(__tmuxwright_end_mark ${precmd_functions:#__tmuxwright_install})
        zshaddhistory_functions+=(__tmuxwright_history)
        zshexit_functions+=(__tmuxwright_linger)
        __tmuxwright_set_eol_mark
        : >|$__tmuxwright_ready
        # The history file is read by now; zsh must not write to it.
        unset HISTFILE __tmuxwright_ready
        unfunction __tmuxwright_install
    }
    typeset -ga precmd_functions
    precmd_functions+=(__tmuxwright_install)
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . ${ZDOTDIR-$HOME}/.zshenv
fi
