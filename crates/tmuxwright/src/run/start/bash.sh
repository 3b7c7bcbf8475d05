# Start-up script for bash, given with --rcfile: reads the user's start-up files, then makes bash
# print a mark at the prompt after a command of ours, also if the command's file was dropped half-way.
__tmuxwright_ready=$__TMUXWRIGHT_READY __tmuxwright_login=$__TMUXWRIGHT_LOGIN
unset __TMUXWRIGHT_READY __TMUXWRIGHT_LOGIN

if [ -n "$__tmuxwright_login" ]; then
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

# Older versions cannot tell whether PROMPT_COMMAND is an array.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    # Called by a command file with the key for this one command. `set -a` must not pass it on.
    __tmuxwright_begin() {
        __tmuxwright_key=$1
        export -n __tmuxwright_key
    }
    __tmuxwright_end_mark() {
        local status=$?
        if [[ -n ${__tmuxwright_ready-} ]]; then
            : >|"$__tmuxwright_ready"
            # The history file is read by now; bash must not write to it.
            unset HISTFILE __tmuxwright_ready
        fi
        if [[ -n ${__tmuxwright_key-} ]]; then
            builtin printf '\e\\\e]133;D;%s;k=%s\a' "$status" "$__tmuxwright_key" >/dev/tty
            unset __tmuxwright_key
        fi
        return "$status"
    }
    # First in the list, so that the output of other hooks follows the mark.
    if [[ ${PROMPT_COMMAND@a} == *a* ]]; then
        PROMPT_COMMAND=(__tmuxwright_end_mark "${PROMPT_COMMAND[@]}")
    else
        PROMPT_COMMAND="__tmuxwright_end_mark${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}"
    fi
fi
# tmux drops output that a shell prints right before it exits, so bash exits a little later.
if [[ -z $(trap -p EXIT) ]]; then
    __tmuxwright_linger() { command sleep 0.1; }
    trap __tmuxwright_linger EXIT
fi
unset __tmuxwright_login
