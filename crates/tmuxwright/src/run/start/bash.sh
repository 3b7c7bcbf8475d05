# Start-up script for bash, given with --rcfile: reads the user's start-up files, then makes bash
# print marks around a command that is typed as it is, and a mark at the prompt after every command, also
# if the command's file was dropped half-way.
__tmuxwright_ready=$__TMUXWRIGHT_READY __tmuxwright_login=$__TMUXWRIGHT_LOGIN
__tmuxwright_exit=$__TMUXWRIGHT_READY-exit
# Emptied before any other program can run in this shell.
__tmuxwright_shell_key=$(<"$__TMUXWRIGHT_KEY_FILE")
: >|"$__TMUXWRIGHT_KEY_FILE"
unset __TMUXWRIGHT_READY __TMUXWRIGHT_LOGIN __TMUXWRIGHT_KEY_FILE

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

# Modes of the user's files must neither end this script nor trace it.
{ __tmuxwright_modes=$- && builtin set +euxv; } 2>/dev/null
__tmuxwright_modes=${__tmuxwright_modes//[!euxv]/}

# Older versions have no PS0.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
    # Called by a command file with the key for this one command. `set -a` must not pass it on.
    __tmuxwright_begin() {
        __tmuxwright_key=$1
        builtin export -n __tmuxwright_key
    }
    # Called by a command file that does not leave the command's status in `$?`.
    __tmuxwright_status_is() {
        __tmuxwright_status=$1
        builtin export -n __tmuxwright_status
    }
    # First in the list, so that the output of other hooks follows the mark. It returns the status of
    # the command, on which neither `set -e` nor an ERR trap must act again. What `set -x` and a DEBUG
    # trap print about it is not output of the command, and would show the key.
    __tmuxwright_hook='{ __tmuxwright_end_mark && :; } >/dev/null 2>&1'
    # For commands that are typed as they are; other commands bring keys of their own.
    __tmuxwright_ps0="\e]133;C;k=$__tmuxwright_shell_key\a"
    # Puts the hook before those that a command has added, and the start mark behind a new PS0.
    __tmuxwright_install() {
        local index
        if [[ ${PROMPT_COMMAND[0]-} != "$__tmuxwright_hook"* ]]; then
            if [[ ${PROMPT_COMMAND@a} == *a* ]]; then
                for index in "${!PROMPT_COMMAND[@]}"; do
                    PROMPT_COMMAND[index]=${PROMPT_COMMAND[index]//"$__tmuxwright_hook"/:}
                done
                PROMPT_COMMAND=("$__tmuxwright_hook" "${PROMPT_COMMAND[@]}")
            else
                PROMPT_COMMAND=${PROMPT_COMMAND//"$__tmuxwright_hook"/:}
                PROMPT_COMMAND="$__tmuxwright_hook${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}"
            fi
        fi
        if [[ ${PS0-} != *"$__tmuxwright_ps0" ]]; then
            PS0=${PS0-}
            PS0=${PS0//"$__tmuxwright_ps0"/}$__tmuxwright_ps0
        fi
        # `set -a` must not pass the key on.
        builtin export -n __tmuxwright_shell_key __tmuxwright_ps0 PS0
    }
    __tmuxwright_end_mark() {
        local status=$? known
        known=$status
        # `$?` is that of a hook which ran before this one.
        [[ ${PROMPT_COMMAND[0]-} == "$__tmuxwright_hook"* ]] || known='?'
        known=${__tmuxwright_status-$known}
        builtin unset __tmuxwright_status
        __tmuxwright_install
        if [[ -n ${__tmuxwright_ready-} ]]; then
            builtin : >|"$__tmuxwright_ready"
            # The history file is read by now; bash must not write to it.
            builtin unset HISTFILE __tmuxwright_ready
        fi
        builtin printf '\e\\\e]133;D;%s;k=%s\a' "$known" \
            "${__tmuxwright_key-$__tmuxwright_shell_key}" >/dev/tty
        builtin unset __tmuxwright_key
        return "$status"
    }
    __tmuxwright_install
fi
# The shell that replaces this one starts in its last directory.
if [[ -z $(builtin trap -p EXIT) ]]; then
    __tmuxwright_note_directory() { builtin printf %s "$PWD" >|"$__tmuxwright_exit"; } 2>/dev/null
    builtin trap __tmuxwright_note_directory EXIT
fi
builtin unset __tmuxwright_login
builtin eval "builtin unset __tmuxwright_modes; ${__tmuxwright_modes:+builtin set -$__tmuxwright_modes}"
