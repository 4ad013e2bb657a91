# SPDX-License-Identifier: MIT
# What is recorded in memory is saved with all that explains it: names of functions of programs that are gone by then,
# what runs, what the machine is like; and the explanation takes no room from what it explains.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "recording the kernel takes root, or CAP_BPF and CAP_PERFMON"
openetw record -d 20ms -o "$T/probe.etl" >/dev/null 2>"$T/err" </dev/null || skip "$(cat "$T/err")"

burn() { # a program that is gone when its samples are saved
	cp "$HELPERS/stack_acts_nofp" "$T/burner"
	"$T/burner" burn 1 >/dev/null || fail "the burner"
	rm "$T/burner"
}
# Where others keep the machine busy, a small ring goes round before it is copied: then once more.
has_burner() { # has_burner FILE
	openetw report --json --top 10000 "$1" >"$T/report" || fail "$1: report"
	grep -q '"table":"processes","name":"burner (' "$T/report"
}
explained() { # explained FILE WHAT
	openetw report --json --top 10000 "$1" >"$T/report" || fail "$2: report"
	grep -q '"table":"functions","function":"burner!acts_burn"\|"name":"burner!acts_burn"' "$T/report" ||
		fail "$2: no names of a program that is gone: $(grep '"functions"' "$T/report" | head -20)"
	openetw dump -q --headers --json "$1" >"$T/json" || fail "$2: dump"
	for event in SystemConfig/CPU SystemConfigEx/BuildInfo Process/DCEnd Thread/DCEnd Image/DCEnd EventTrace/RDComplete; do
		grep -q "\"event\":\"$event\"" "$T/json" || fail "$2: no $event"
	done
}

openetw wpr -start CPU >"$T/out" 2>&1 || fail "wpr -start: $(cat "$T/out")"
burn
openetw wpr -stop "$T/wpr.etl" >"$T/out" 2>&1 || fail "wpr -stop: $(cat "$T/out")"
explained "$T/wpr.etl" "wpr"

# A ring so small that the explanation would fill it several times over.
for try in 1 2 3 4 5 6; do
	rm -f "$T/xperf.etl"
	openetw xperf -on PROC_THREAD+LOADER+PROFILE -stackwalk Profile -buffering -BufferSize 64 -MinBuffers 4 -MaxBuffers 8 \
		>"$T/out" 2>&1 || fail "xperf -on: $(cat "$T/out")"
	burn
	openetw xperf -d "$T/xperf.etl" >"$T/out" 2>&1 || fail "xperf -d: $(cat "$T/out")"
	! has_burner "$T/xperf.etl" || break
done
explained "$T/xperf.etl" "xperf -buffering"

# A copy of a session that goes on, and another one of what came then: each by itself.
openetw start ring --kernel SysProf --stackwalk Profile --mode buffering --buffers 8:8 --buffer-size 64 >"$T/out" 2>&1 ||
	fail "start: $(cat "$T/out")"
for n in 1 2; do
	for try in 1 2 3 4 5 6; do
		rm -f "$T/copy$n.etl"
		burn
		openetw flush ring -o "$T/copy$n.etl" >"$T/out" 2>&1 || fail "flush: $(cat "$T/out")"
		! has_burner "$T/copy$n.etl" || break
	done
	explained "$T/copy$n.etl" "copy $n"
	expect "copy $n: descriptions of the processor" "$(grep -c '"event":"SystemConfig/CPU"' "$T/json")" 1
done
openetw stop ring >"$T/out" 2>&1 || fail "stop: $(cat "$T/out")"
