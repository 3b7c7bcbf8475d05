# Read by bash in place of its own start-up files: reads those, then prints a mark
# before and after the output of each command.
__tmuxwright_key=$__TMUXWRIGHT_KEY __tmuxwright_ready=$__TMUXWRIGHT_READY __tmuxwright_login=$__TMUXWRIGHT_LOGIN
unset __TMUXWRIGHT_KEY __TMUXWRIGHT_READY __TMUXWRIGHT_LOGIN

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

# Older ones have no PS0.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    __tmuxwright_done() {
        local status=$?
        if [[ -n ${__tmuxwright_ready-} ]]; then
            : >|"$__tmuxwright_ready"
            # The user's history is read by now, and stays as it is.
            unset HISTFILE __tmuxwright_ready
        fi
        builtin printf '\e\\\e]133;D;%s;k=%s\a' "$status" "$__tmuxwright_key" >/dev/tty
        return "$status"
    }
    PS0="${PS0-}\e]133;C;k=$__tmuxwright_key\a"
    # First, so that what other hooks print is not taken for the command's output.
    if [[ ${PROMPT_COMMAND@a} == *a* ]]; then
        PROMPT_COMMAND=(__tmuxwright_done "${PROMPT_COMMAND[@]}")
    else
        PROMPT_COMMAND="__tmuxwright_done${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}"
    fi
fi
# tmux drops what a shell printed in the moment before it exits.
if [[ -z $(trap -p EXIT) ]]; then
    __tmuxwright_bye() { command sleep 0.1; }
    trap __tmuxwright_bye EXIT
fi
unset __tmuxwright_login
