# Start-up script for zsh, read in place of the user's .zshenv: reads that, and after all other
# start-up files makes zsh print a mark at the prompt after a command of ours, also if the command's
# file was dropped half-way.
if [[ -n $__TMUXWRIGHT_ZDOTDIR ]]; then
    export ZDOTDIR=$__TMUXWRIGHT_ZDOTDIR
else
    unset ZDOTDIR
fi
typeset -g __tmuxwright_ready=$__TMUXWRIGHT_READY
typeset -g __tmuxwright_exit=$__TMUXWRIGHT_READY-exit
unset __TMUXWRIGHT_ZDOTDIR __TMUXWRIGHT_READY

if [[ -o interactive ]]; then
    # Called by a command file with the key for this one command, which must not be exported. zsh prints PROMPT_EOL_MARK after a line without an end, before any hook runs. It begins with
    # the mark here, so that neither it nor the output of other hooks counts as output of the command.
    __tmuxwright_begin() {
        setopt local_options no_all_export
        typeset -g +x __tmuxwright_key=$1
        typeset -g +x __tmuxwright_eol=$'%{\e\\\e]133;D;%?;k='$1$'\a%}'
        typeset -g +x PROMPT_EOL_MARK="$__tmuxwright_eol${PROMPT_EOL_MARK-%B%S%#%s%b}"
    }
    # Called by a command file that does not leave the command's status in `$?`.
    __tmuxwright_status_is() {
        setopt local_options no_all_export
        typeset -g +x __tmuxwright_status=$1
        local eol=${__tmuxwright_eol/\%\?/$1}
        PROMPT_EOL_MARK=$eol${PROMPT_EOL_MARK#"$__tmuxwright_eol"}
        __tmuxwright_eol=$eol
    }
    # What `set -x` prints about the hooks would show the key.
    __tmuxwright_end_mark() {
        {
            local code=$?
            setopt local_options no_xtrace
            code=${__tmuxwright_status-$code}
            builtin unset __tmuxwright_status
            if [[ -n ${__tmuxwright_key-} ]]; then
                builtin printf '\e\\\e]133;D;%s;k=%s\a' $code $__tmuxwright_key >/dev/tty
                [[ -n ${PROMPT_EOL_MARK-} ]] &&
                    PROMPT_EOL_MARK=${PROMPT_EOL_MARK#"$__tmuxwright_eol"}
                builtin unset __tmuxwright_key __tmuxwright_eol
            fi
        } 2>/dev/null
    }
    # Keeps the lines that evaluate a file of ours out of the history. The failure is not one
    # for `set -e` and ERR traps.
    __tmuxwright_history() {
        {
            setopt local_options local_traps no_err_exit no_xtrace
            builtin trap - ZERR
            if [[ $1 == ' '*'eval "$(<'*/tmuxwright-* ]]; then return 1; fi
        } 2>/dev/null
    }
    # The shell that replaces this one starts in its last directory.
    __tmuxwright_note_directory() { builtin print -rn -- $PWD >|$__tmuxwright_exit } 2>/dev/null
    __tmuxwright_install() {
        precmd_functions=(__tmuxwright_end_mark ${precmd_functions:#__tmuxwright_install})
        zshaddhistory_functions+=(__tmuxwright_history)
        zshexit_functions+=(__tmuxwright_note_directory)
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
