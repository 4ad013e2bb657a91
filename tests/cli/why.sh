# SPDX-License-Identifier: MIT
# run says why nothing was recorded: nobody registered it, it has another GUID, level or keywords dropped all.
. "$(dirname "$0")/lib.sh"
cd "$T" || fail "cd"
HELLO=$SAMPLES/hello-tracelogging
WHY=$HELPERS/cli/why_provider
# why PATTERN ARGS…: run with these says that, ends as the command does, and nothing is left running
why() {
	pattern=$1
	shift
	for try in 1 2 3 4 5; do # a machine so busy that the provider waits in vain for etwd registers later
		run_status 0 openetw run --force -o w.etl "$@"
		! grep -q -- "$pattern" err || break
	done
	says "$pattern" err "run $*"
	expect "sessions after run $*" "$(openetw list --json | grep -c openetw-run)" 0
}
quiet() { # nothing is explained where all is well
	run_status 0 openetw run --force -o w.etl "$@"
	! grep -q 'no process\|dropped\|wrote no' err || fail "run $*: $(cat err)"
}
why "no process registered OpenETW.Sampel.Hello {.*}; did you mean OpenETW.Sample.Hello?" -p OpenETW.Sampel.Hello -- "$HELLO" 2 1
why "no process registered Nothing.Near {.*}; registered were OpenETW.Sample.Hello" -p Nothing.Near -- "$HELLO" 2 1
why "none was registered while the command ran" -p OpenETW.Sample.Hello -- true
why "no process registered {11111111-2222-3333-4444-555555555555}" -p '{11111111-2222-3333-4444-555555555555}' -- "$HELLO" 1 1
why "no process registered Other {" -p OpenETW.Sample.Hello -p Other -- "$HELLO" 2 1
# the name with another GUID
why "OpenETW.Test.Renamed has another GUID in why_provider ([0-9]*): not {.*}, but {01020304-0506-0708-090a-0b0c0d0e0f10}; -p '{01020304-0506-0708-090a-0b0c0d0e0f10}' records it" \
	-p OpenETW.Test.Renamed -- "$WHY" 3
# through its group it is registered; and it writes nothing
quiet -p '{a1a2a3a4-b1b2-c1c2-d1d2-d3d4d5d6d7d8}' -p '{01020304-0506-0708-090a-0b0c0d0e0f10}' -- "$WHY" 3
why "was registered by why_provider ([0-9]*), which wrote no event" -p '{01020304-0506-0708-090a-0b0c0d0e0f10}' -- "$WHY" 0
# level and keywords: how many
why "^3 events came and were dropped by level 1 of {0102" -p '{01020304-0506-0708-090a-0b0c0d0e0f10}::1' -- "$WHY" 3
why "^3 events came and were dropped by level 1 and keywords 0x100 of {0102" -p '{01020304-0506-0708-090a-0b0c0d0e0f10}:0x100:1' -- "$WHY" 3
why "^3 events came and were dropped by all of the keywords 0x300 of" --match-all 0x300 -p '{01020304-0506-0708-090a-0b0c0d0e0f10}' -- "$WHY" 3
why "^1 event came and was dropped by filters" --event-name Other -p '{01020304-0506-0708-090a-0b0c0d0e0f10}' -- "$WHY" 1
# and when a second has gone by, the count has ended
why "^at least [1-9][0-9]* events came and were dropped by level 1 of" -p '{01020304-0506-0708-090a-0b0c0d0e0f10}::1' -- "$WHY" 3 3
quiet -p OpenETW.Sample.Hello -- "$HELLO" 2 1
quiet -p '{01020304-0506-0708-090a-0b0c0d0e0f10}:0x1:4' -- "$WHY" 3
exit 0
