# Start-up script for fish, given with --init-command and read after the user's files: makes fish
# print a mark after the output of each command.
set -g __tmuxwright_key $__TMUXWRIGHT_KEY
function __tmuxwright_end_mark --on-event fish_postexec
    builtin printf '\e\\\\\e]133;D;%s;k=%s\a' $status $__tmuxwright_key >/dev/tty
end
# tmux drops output that a shell prints right before it exits, so fish exits a little later.
function __tmuxwright_linger --on-event fish_exit
    command sleep 0.1
end
# fish must not write to the user's history.
set -g fish_history ''
echo -n >$__TMUXWRIGHT_READY
set -e __TMUXWRIGHT_KEY
set -e __TMUXWRIGHT_READY
