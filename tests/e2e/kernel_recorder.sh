# SPDX-License-Identifier: MIT
# openetw/recorder.h records the machine: with programs in one file, and as the NT Kernel Logger that replaces a stale one.
. "$(dirname "$0")/lib.sh"
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # which starts a process at the end of each
export ASAN_OPTIONS
P='{5c5f5a11-1f6b-4b7c-9a21-010203040506}'
"$SAMPLES/recorder" "$T/probe.etl" - PROC_THREAD </dev/null >"$T/out" 2>"$T/err" || skip "$(cat "$T/err")"

mkfifo "$T/go"
recorded() { # recorded FILE ARGUMENTS… : meanwhile three programs run
	"$SAMPLES/recorder" "$@" <"$T/go" >"$T/out" 2>"$T/err" &
	r=$!
	exec 3>"$T/go"
	wait_for 20 grep -q recording "$T/out" || fail "recorder: $(cat "$T/err")"
	for i in 1 2 3; do
		"$HELPERS/one_event" $i
	done
	echo >&3
	exec 3>&-
	wait $r || fail "recorder: $(cat "$T/err")"
}
# starts PARENT: how many programs of ours began: the machine may run others of that name.
starts() {
	grep '"event":"Process/Start"' "$T/all" | grep '"ImageFileName":"one_event"' | grep -c "\"ParentId\":$1[,}]"
}
json() {
	openetw dump --quiet --json "$1" >"$T/all" 2>"$T/dumped" || fail "dump: $(cat "$T/dumped")"
}
started() { # started WHAT COUNT PARENT: so many programs. One that is missing is counted as lost: on a busy machine system calls fill the rings
	n=$(starts "$3")
	lost=$(sed -n 's/.*LOST when recording: \([0-9]*\) events.*/\1/p' "$T/dumped")
	[ "$n" -le "$2" ] && [ $((n + ${lost:-0})) -ge "$2" ] || fail "$1: got $n of $2, ${lost:-0} lost"
}

recorded "$T/both.etl" "$P" PROC_THREAD+LOADER+SYSCALL SysCallEnter
json "$T/both.etl"
expect "events of programs" "$(grep -c '"event":"One"' "$T/all")" 3
started "their starts" 3 $$
grep -q '"event":"Image/Load"' "$T/all" || fail "no images"
grep -q '"event":"StackWalk' "$T/all" || fail "no stacks"

# One that nobody stopped is in the way, and goes.
openetw start "NT Kernel Logger" --kernel PROC_THREAD -o "$T/stale.etl" >"$T/out" 2>&1 || fail "start: $(cat "$T/out")"
recorded "$T/kernel.etl" - PROC_THREAD
json "$T/kernel.etl"
started "starts" 3 $$
! openetw list | grep -q 'NT Kernel' || fail "it runs still"

# Windows' own spellings of the same: the class of the kernel's events, and a system provider.
for provider in "Windows Kernel Trace" SystemProcessProvider; do
	"$HELPERS/recorder_provider" "$T/spelled.etl" "$provider" 3 "$HELPERS/one_event" >"$T/out" 2>&1 ||
		fail "$provider: $(cat "$T/out")"
	json "$T/spelled.etl"
	started "$provider" 1 '[0-9]*'
done
exit 0
