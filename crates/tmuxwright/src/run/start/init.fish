# Start-up script for fish, given with --init-command and read after the user's files: makes fish
# print a mark after a command of ours, also if the command's file was dropped half-way.

# Called by a command file with the key for this one command, which is not exported.
function __tmuxwright_begin
    set -gu __tmuxwright_key $argv[1]
end
function __tmuxwright_end_mark --on-event fish_postexec
    set -l code $status
    if set -q __tmuxwright_key
        builtin printf '\e\\\\\e]133;D;%s;k=%s\a' $code $__tmuxwright_key >/dev/tty
        set -e __tmuxwright_key
    end
end
# The shell that replaces this one starts in its last directory.
set -gu __tmuxwright_exit $__TMUXWRIGHT_READY-exit
function __tmuxwright_note_directory --on-event fish_exit
    builtin printf %s $PWD >$__tmuxwright_exit 2>/dev/null
end
# fish must not write to the user's history.
set -g fish_history ''
echo -n >$__TMUXWRIGHT_READY
set -e __TMUXWRIGHT_READY
