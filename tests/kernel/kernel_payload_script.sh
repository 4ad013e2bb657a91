# SPDX-License-Identifier: MIT
# scripts/kernel-payload refuses a catalogue whose last line goes on: half an event is not left out without a word.
# Manifests have GUIDs, and events of the same name their numbers.
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
cat >"$T/manifest" <<'END'
manifest Microsoft-Windows-Kitchen 57277741-3638-4a4b-bdba-0ac6e45da56c
event 1 Boil task=T opcode=1
0 ptr Pot, u32 Litres
event 9 Boil task=T opcode=2
0 u32 Litres
END
"$script" "$T/manifest" >"$T/out" || fail "a manifest"
grep -q '^#define KP_KITCHEN_GUID 0x57277741, 0x3638, 0x4a4b, 0xbd, 0xba, 0x0a, 0xc6, 0xe4, 0x5d, 0xa5, 0x6c$' "$T/out" ||
	fail "no GUID: $(cat "$T/out")"
grep -q '^#define KP_KITCHEN_BOIL_V0_LITRES KERNEL_FIELD(0, 1, 4)$' "$T/out" || fail "the first Boil: $(cat "$T/out")"
grep -q '^#define KP_KITCHEN_BOIL_9_V0_LITRES KERNEL_FIELD(0, 0, 4)$' "$T/out" || fail "the second Boil: $(cat "$T/out")"
