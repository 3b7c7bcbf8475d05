# Functions that describe the processes of this system, for a POSIX shell (dash, busybox ash, bash).
#
# They use builtins, `cat` or `head`, and `stty`, `ls`, `dd` and `uname` if there are any. Every function runs in a
# subshell, `( … )`: the shell keeps its directory, options and variables, a failed redirection cannot end it,
# and it cannot acquire a terminal that a function opens, as a session leader would.
#
# Text that other programs choose (arguments, names, directories) is printed raw, and ends with a nonce that
# no program can know. All other lines hold numbers and words of the kernel.

# The effective user and the machine of this system, the program that prints the beginnings of files, and the
# shells that can be `sh`. `head` keeps the megabytes of a very long argument list here.
tw_uid=- tw_machine=- tw_head=cat tw_shells= tw_slack=/proc/self/timerslack_ns
tw_begin() {
  tw_uid=$(while read -r tw_k tw_r tw_e tw_x; do case $tw_k in Uid:) echo "$tw_e"; break; esac; done </proc/self/status)
  tw_machine=$(uname -m)
  for tw_x in dash bash busybox zsh ksh93 mksh ksh ash; do
    if [ -x /bin/$tw_x ]; then
      tw_shells="$tw_shells /bin/$tw_x"
    elif [ -x /usr/bin/$tw_x ]; then
      tw_shells="$tw_shells /usr/bin/$tw_x"
    fi
  done
  case $(printf 'ab\n' | head -q -c 1 - /dev/null) in a) tw_head='head -q -c 4096' ;; esac
} 2>/dev/null
tw_begin

# tw_fields PID: sets `tw_s` to the fields of `stat` behind the name. A name can hold lines and brackets.
tw_fields() {
  tw_s= tw_l=
  while IFS= read -r tw_l; do tw_s="$tw_s$tw_l"; done <"/proc/$1/stat"
  tw_s="$tw_s$tw_l" tw_s=${tw_s##*)}
  [ -n "$tw_s" ]
}

# tw_print NONCE FILE…: prints files, each followed by the nonce and a newline, and ends the subshell. One
# program has to print them all, since each start of a program costs more than ten files. The separator
# comes from the timer slack of this subshell, a number that a process can set, and that no other user can
# read. Kernels before 4.6 and sandboxes have no such file; pipes serve there, each of which can be read once.
tw_print() {
  nonce=$1
  shift
  printf 'files %s\n' "$*"
  x= list=
  if printf %s "$nonce" >$tw_slack && read -r x <$tw_slack && [ "$x" = "$nonce" ]; then
    for f; do list="$list $f $tw_slack"; done
    exec $tw_head $list
  fi
  pipe=/proc/self/fd
  while [ $# -gt 0 ]; do
    f2=${2-/dev/null} f3=${3-/dev/null} f4=${4-/dev/null}
    $tw_head "$1" $pipe/3 "$f2" $pipe/4 "$f3" $pipe/5 "$f4" $pipe/6 3<<A 4<<B 5<<C 6<<D
$nonce
A
$nonce
B
$nonce
C
$nonce
D
    [ $# -ge 4 ] || exit
    shift 4
  done
}

# tw_tree PID: prints the children of a process and of its descendants, and sets `tree` to all of them.
tw_tree() {
  level=$1 count=0
  while [ -n "$level" ]; do
    next=
    for p in $level; do
      tree="$tree $p" kids= known= count=$((count + 1))
      [ $count -lt 512 ] || { echo cut; return; }
      for f in /proc/"$p"/task/*/children; do
        x=
        [ -r "$f" ] && { read -r x; known=y; } <"$f"
        kids="$kids $x"
      done
      [ -z "$known" ] || echo "kids $p$kids"
      next="$next$kids"
    done
    set -- $next
    level=$*
  done
}

# tw_device FILE: prints the major and the minor number of a device.
tw_device() (
  set -- $(ls -lLn "$1")
  echo "${5%,} $6"
)

# tw_terminal PID NUMBER: sets `tty` to the terminal of a process, whose device number is given. In a
# container, /dev/pts/3 can be another terminal than here: a file of the process is the same everywhere.
tw_terminal() {
  minor=$(($2 & 255 | $2 >> 12 & 1048320)) major=$(($2 >> 8 & 4095))
  tty=/dev/pts/$minor
  [ $major -ge 136 ] && [ $major -lt 144 ] || tty=/dev/null
  for f in /proc/"$1"/fd/0 /proc/"$1"/fd/1 /proc/"$1"/fd/2; do
    [ "$f" -ef $tty ] && return
  done
  for f in /proc/"$1"/fd/0 /proc/"$1"/fd/1 /proc/"$1"/fd/2; do
    [ -c "$f" ] && ! [ "$f" -ef /dev/null ] && [ "$(tw_device "$f")" = "$major $minor" ] && tty=$f && return
  done
}

# tw_open PID: prints the kinds of the open files of a process. Files of which no reader ever waits are left
# out. Sets `infos` to files that describe some of them.
tw_open() {
  [ -r "/proc/$1/fd" ] || return
  opened=0 seen=
  for f in /proc/"$1"/fd/*; do
    [ -e "$f" ] || continue
    seen=y opened=$((opened + 1)) d=${f##*/}
    [ $opened -le 256 ] || { echo "more $1"; break; }
    if [ -c "$f" ]; then
      if [ "$f" -ef "$tty" ] || [ "$f" -ef /dev/tty ]; then
        echo "fd $1 $d terminal"
        infos="$infos /proc/$1/fdinfo/$d"
      elif [ "$f" -ef /dev/null ] || [ "$f" -ef /dev/zero ] || [ "$f" -ef /dev/urandom ]; then
        continue
      else
        [ $d != 0 ] || echo "stdin $1 $(tw_device "$f")"
        echo "fd $1 $d device"
      fi
    elif [ -S "$f" ]; then
      echo "fd $1 $d socket"
    elif [ -b "$f" ]; then
      echo "fd $1 $d device"
    # bash takes a file without a name for a regular one; it is empty.
    elif ! [ -p "$f" ] && ! [ -s "$f" ]; then
      echo "fd $1 $d anonymous"
      infos="$infos /proc/$1/fdinfo/$d"
    fi
  done
  [ -z "$seen" ] || echo "open $1"
}

# tw_place PID: prints the directory of a process, whether it sees the files of this shell, and its program if
# that is a shell.
tw_place() {
  if cd -P "/proc/$1/cwd"; then
    case $PWD in
      /proc/"$1"/*) ;;
      /*) [ "$PWD" -ef "/proc/$1/cwd" ] && printf 'cwd %s\n%s%s\n' "$1" "$PWD" "$nonce" ;;
    esac
    cd /
  fi
  for f in $tw_shells; do
    if [ "/proc/$1/exe" -ef "$f" ]; then
      echo "exe $1 ${f##*/}"
      break
    fi
  done
  if [ -e "/proc/$1/ns/mnt" ] && [ -e "/proc/$1/root" ]; then
    if [ "/proc/$1/ns/mnt" -ef /proc/self/ns/mnt ] && [ "/proc/$1/root" -ef /proc/self/root ]; then
      echo "sees $1 y"
    else
      echo "sees $1 n"
    fi
  fi
}

# tw_wait PID: sets `waits` to the files that show in which call each thread of a process waits.
tw_wait() {
  waits="/proc/$1/syscall /proc/$1/wchan"
  set -- "$1" /proc/"$1"/task/*
  [ $# -gt 2 ] || return
  [ $# -le 64 ] || { echo "more $1"; return; }
  x= first=$1
  read -r x <"/proc/$1/syscall"
  shift
  for f; do
    if [ "${f##*/}" = "$first" ]; then
      continue
    elif [ -n "$x" ]; then
      waits="$waits $f/syscall"
    else
      waits="$waits $f/wchan $f/stat"
    fi
  done
}

# tw_in_foreground PID: whether a process belongs to the foreground group.
tw_in_foreground() {
  tw_fields "$1" || return
  set -- $tw_s
  [ "$3" = "$group" ]
}

# tw_memory PID: prints for which files the first thread of a process waits in `select` or `poll`, if it may
# be traced: a set of bits, or a list with eight bytes for each, after the call itself. A `select` for the first
# descriptor alone, as that of a shell at its prompt, needs no set: each further program costs a millisecond.
tw_memory() {
  x=
  read -r x <"/proc/$1/syscall"
  set -- "$1" $x
  case $tw_machine:$2 in
    x86_64:23 | x86_64:270 | aarch64:72)
      [ $(($3 & 4294967295)) != 1 ] || return
      size=$(((($3 & 4294967295) + 63) / 64 * 8)) address=$4
      ;;
    x86_64:7 | x86_64:271 | aarch64:73) size=$((($4 & 4294967295) * 8)) address=$3 ;;
    *) return ;;
  esac
  [ $size -gt 0 ] && [ $size -le 4096 ] && [ $((address & 3)) = 0 ] || return
  printf 'memory %s\n%s\n' "$1" "$x"
  unit=$((address & 4 ? 4 : 8))
  dd if="/proc/$1/mem" bs=$unit skip=$((address / unit)) count=$((size / unit))
  echo "$nonce"
}

# tw_look NONCE PID [MEMBER…]: describes the pane whose first process is PID. Members are processes of its
# foreground group that are not its descendants.
#
# The runs of the first threads are counted before the mode of the terminal is read and after all else: a
# thread with equal counts was blocked in the same call all the time.
tw_look() (
  exec 2>/dev/null
  LC_ALL=C IFS=' '
  export LC_ALL
  nonce=$1 pane=$2
  shift 2
  members=$* tree= infos= files= details= described=0
  echo "own $tw_uid $tw_machine"
  tw_fields "$pane" || exit
  set -- $tw_s
  number=$5 group=$6
  tw_tree "$pane"
  for root in $group $members; do
    case "$tree " in *" $root "*) continue ;; esac
    [ "$root" -le 0 ] || tw_tree "$root"
  done
  tw_terminal "$pane" "$number"
  for p in $group $pane $members $tree; do
    case "$details " in *" $p "*) continue ;; esac
    [ "$p" -gt 0 ] && [ -d "/proc/$p" ] || continue
    described=$((described + 1))
    [ $described -le 12 ] || break
    details="$details $p"
    tw_open "$p"
    tw_place "$p"
    tw_wait "$p"
    files="$files $waits"
  done
  for p in $details; do
    x=
    read -r x <"/proc/$p/schedstat" && echo "ran $p $x"
  done
  for p in $details; do tw_in_foreground "$p" && tw_memory "$p"; done
  echo mode
  stty -a <"$tty"
  echo "$nonce"
  for p in $tree; do files="$files /proc/$p/stat /proc/$p/cmdline"; done
  files="$files$infos"
  # What the leader has read is counted before it is known to wait: so it has acted on all of that.
  if [ "$group" -gt 0 ]; then
    set -- /proc/"$group"/task/*/io
    [ $# -gt 64 ] || files="$* $files"
  fi
  for p in $details; do files="$files /proc/$p/status /proc/$p/schedstat"; done
  tw_print "$nonce" $files /proc/self/stat
)

# tw_stats NONCE: prints `stat` of all processes.
tw_stats() (
  exec 2>/dev/null
  IFS=' '
  tw_print "$1" /proc/[0-9]*/stat
)

# tw_states NONCE PID…: prints `stat` of processes, and which of the others exist but are hidden.
tw_states() (
  exec 2>/dev/null
  LC_ALL=C IFS=' '
  nonce=$1 files=
  shift
  for p; do
    files="$files /proc/$p/stat"
    if ! [ -r "/proc/$p/stat" ]; then
      x=$(kill -0 "$p" 2>&1 && echo permitted)
      case $x in *ermitted*) echo "hidden $p" ;; esac
    fi
  done
  tw_print "$nonce" $files
)

# tw_counts NONCE PID: prints how much each thread of a process has read.
tw_counts() (
  exec 2>/dev/null
  IFS=' '
  tw_print "$1" /proc/"$2"/task/*/io
)

# tw_write PID TEXT: writes to the terminal of a process: `written`, `full`, `refused` or `missing`. The
# writer is a background process, which is killed if it sleeps: the terminal is stopped or full then.
tw_write() (
  exec 2>/dev/null
  IFS=' '
  text=$2 sleeps=0 probes=0
  tw_fields "$1" || { echo missing; exit; }
  set -- "$1" $tw_s
  tw_terminal "$1" "$6"
  [ -c "$tty" ] && ! [ "$tty" -ef /dev/null ] || { echo missing; exit; }
  printf %b "$text" >"$tty" &
  writer=$!
  while tw_fields $writer; do
    case $tw_s in
      ' Z'*) break ;;
      ' S'*) sleeps=$((sleeps + 1)) ;;
      *) sleeps=0 ;;
    esac
    probes=$((probes + 1))
    if [ $sleeps -ge 20 ] || [ $probes -ge 2000 ]; then
      kill -9 $writer
      echo full
      exit
    fi
  done
  wait $writer && echo written || echo refused
)

# tw_signal PID GROUP SIGNAL: signals a group if it still is the foreground group of a process: `sent`,
# `refused` or `changed`. Group 1 would be all processes.
tw_signal() (
  exec 2>/dev/null
  IFS=' '
  tw_fields "$1"
  set -- "$1" "$2" "$3" $tw_s
  [ "$2" -gt 1 ] && [ "$9" = "$2" ] || { echo changed; exit; }
  kill -"$3" "-$2" && echo sent || echo refused
)

# tw_terminate PID: asks a process to end: `sent` or `refused`.
tw_terminate() (
  kill -s TERM "$1" 2>/dev/null && echo sent || echo refused
)
