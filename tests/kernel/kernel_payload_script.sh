# SPDX-License-Identifier: MIT
# scripts/kernel-payload refuses a catalogue whose last line goes on: half an event is not left out without a word.
set -u
script=$1
T=$(mktemp -d /tmp/openetw-payload-XXXXXX)
trap 'rm -rf "$T"' EXIT
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
printf 'class Whole x\nevent 1 A\n0 u32 One,\n  u32 Two\n' >"$T/whole"
printf 'class Half x\nevent 2 B\n0 u32 One,\n' >"$T/half"
"$script" "$T/whole" >"$T/out" || fail "a whole file"
grep -q 'KP_WHOLE_A_V0_TWO' "$T/out" || fail "the second line of an event is missing"
if "$script" "$T/whole" "$T/half" >"$T/out" 2>"$T/err"; then fail "a last line that goes on"; fi
grep -q 'half.*ends within' "$T/err" || fail "$(cat "$T/err")"
if "$script" "$T/half" "$T/whole" >"$T/out" 2>"$T/err"; then fail "a line that goes on into the next file"; fi
grep -q 'ends within' "$T/err" || fail "$(cat "$T/err")"
