# Read by fish after its own start-up files: prints a mark after the output of each command.
set -g __tmuxwright_key $__TMUXWRIGHT_KEY
function __tmuxwright_done --on-event fish_postexec
    builtin printf '\e\\\\\e]133;D;%s;k=%s\a' $status $__tmuxwright_key >/dev/tty
end
# tmux drops what a shell printed in the moment before it exits.
function __tmuxwright_bye --on-event fish_exit
    command sleep 0.1
end
# The user's history stays as it is.
set -g fish_history ''
echo -n >$__TMUXWRIGHT_READY
set -e __TMUXWRIGHT_KEY
set -e __TMUXWRIGHT_READY
