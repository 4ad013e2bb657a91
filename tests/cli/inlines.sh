# SPDX-License-Identifier: MIT
# Inlined functions in report: read by a program of its own, openetw-symbols, whose end costs them and nothing else.
. "$(dirname "$0")/lib.sh"
[ -x "$OPENETW_BUILD/tools/openetw-symbols" ] || skip "built without libdw"
P='{5c5f5a11-1f6b-4b7c-9a21-111213141516}'
outside='acts!main;acts!holds_them;'
# A child that cannot give up its rights is told: with a sanitizer it has no seccomp, and not all kernels have Landlock.
tells_nothing() { ! grep -v 'neither seccomp nor Landlock' "$T/err" | grep -q .; }
all="${outside}acts!put_in_first (inlined);acts!put_in_last (inlined);acts!say;"

cp "$OPENETW_BUILD/tests/cli/inlined_acts" "$T/acts"
openetw run -s -p "$P" -o "$T/run.etl" -- "$T/acts" >"$T/out" 2>&1 || fail "run: $(cat "$T/out")"
run_status 0 openetw report --folded - "$T/run.etl"
says "$all" "$T/out" "inlined functions"
tells_nothing || fail "something is told: $(cat "$T/err")"
run_status 0 openetw report --no-inlines --folded - "$T/run.etl"
says "${outside}acts!say;" "$T/out" "without inlined functions"

# Another user has them, too; of a program that they may not open nobody knows the functions.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 700 "$T/acts"
	chmod 755 "$T"
	chmod 644 "$T/run.etl"
	run_status 0 setpriv --reuid=4242 --regid=4242 --clear-groups openetw report --folded - "$T/run.etl"
	says 'acts!+0x' "$T/out" "a program that is not readable"
	tells_nothing || fail "something is told: $(cat "$T/err")"
	chmod 755 "$T/acts"
	run_status 0 setpriv --reuid=4242 --regid=4242 --clear-groups openetw report --folded - "$T/run.etl"
	says "$all" "$T/out" "inlined functions, for another user"
fi

# A reader that crashes is told, with the file, and the report is whole but for them.
OPENETW_SYMBOLS=$OPENETW_BUILD/tests/cli/crashing_symbols run_status 0 openetw report --folded - "$T/run.etl"
says "${outside}acts!say;" "$T/out" "the stack after a crash"
says "functions inlined in $T/acts are not shown: crashing_symbols " "$T/err" "the crash"
expect "times that a file is told" "$(grep -c "in $T/acts " "$T/err")" 1
# What a reader answers is obeyed by no terminal, and is no other line.
cp "$OPENETW_BUILD/tests/cli/crashing_symbols" "$T/lying_symbols"
OPENETW_SYMBOLS=$T/lying_symbols run_status 0 openetw report --folded - "$T/run.etl"
says 'acts!first\\x1b\[31m\\nline 7\\x1fpart (inlined);acts!last (inlined);' "$T/out" "a lie"
expect "lines with ESC or a name's end" "$(grep -c "$(printf '\033')\|^line 7" "$T/out")" 0
# A semicolon in the name of a program divides no frames.
cp "$T/acts" "$T/a;cts"
openetw run -s -p "$P" -o "$T/semicolon.etl" -- "$T/a;cts" >"$T/out" 2>&1 || fail "run: $(cat "$T/out")"
run_status 0 openetw report --folded - "$T/semicolon.etl"
says 'a:cts!put_in_first (inlined);a:cts!put_in_last (inlined);a:cts!say;' "$T/out" "a semicolon"
# One that does not start is told once, whatever the file.
printf '#!/bin/sh\nexit 3\n' >"$T/leaves"
chmod +x "$T/leaves"
OPENETW_SYMBOLS=$T/leaves run_status 0 openetw report --folded - "$T/run.etl"
says "no inlined functions are shown from here on: leaves ended with status 3" "$T/err" "the end"
expect "times that it is told" "$(grep -c leaves "$T/err")" 1
OPENETW_SYMBOLS=$T/nobody run_status 0 openetw report --folded - "$T/run.etl"
says "${outside}acts!say;" "$T/out" "no reader at all"
says "no inlined functions are shown from here on: the program openetw-symbols is not found" "$T/err" "no reader at all"
expect "lines that tell it" "$(wc -l <"$T/err")" 1
OPENETW_SYMBOLS=$T/nobody run_status 0 openetw report --no-inlines --folded - "$T/run.etl"
[ ! -s "$T/err" ] || fail "a reader is missed that nobody wants: $(cat "$T/err")"
# One that kept all its rights is told once.
cp "$OPENETW_BUILD/tests/cli/crashing_symbols" "$T/unconfined_symbols"
OPENETW_SYMBOLS=$T/unconfined_symbols run_status 0 openetw report --folded - "$T/run.etl"
expect "times that rights are told" "$(grep -c "with the rights of this user.*neither seccomp nor Landlock" "$T/err")" 1

# DWARF that is none: whatever becomes of the reader, the report is there.
command -v objcopy >/dev/null && command -v readelf >/dev/null || exit 0
cp "$T/acts" "$T/good"
for section in info abbrev line str ranges rnglists aranges; do
	objcopy -O binary --only-section .debug_$section --set-section-flags .debug_$section=alloc "$T/good" "$T/bytes" 2>/dev/null
	[ -s "$T/bytes" ] || continue
	n=$(wc -c <"$T/bytes")
	head -c "$n" /dev/zero | tr '\0' '\377' >"$T/bad"
	objcopy --update-section .debug_$section="$T/bad" "$T/good" "$T/acts" || fail "objcopy"
	run_status 0 openetw report --folded - "$T/run.etl"
	says "$outside" "$T/out" ".debug_$section of ones"
	[ $section = info ] || [ $section = abbrev ] || continue
	tail -c +2 "$T/bytes" >"$T/bad"
	objcopy --update-section .debug_$section="$T/bad" "$T/good" "$T/acts" || fail "objcopy"
	run_status 0 openetw report --folded - "$T/run.etl"
	says "$outside" "$T/out" ".debug_$section without its first byte"
done

# Separate debug files, which openetw opens and hands over; with dwz names are in a third file.
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || exit 0
[ -d /usr/lib/debug ] || exit 0
id=$(readelf -n "$T/good" | sed -n 's/.*Build ID: //p')
mkdir -p "$T/debug/.build-id/${id%"${id#??}"}" "$T/debug/.dwz"
debug=$T/debug/.build-id/${id%"${id#??}"}/${id#??}.debug
cat >"$T/elsewhere.sh" <<'END'
mount --make-rprivate / && mount --bind "$T/debug" /usr/lib/debug || exit 77
openetw report --folded - "$T/run.etl"
END
export T
separate() { # separate WANTED WHAT
	unshare -m sh "$T/elsewhere.sh" >"$T/out" 2>"$T/err"
	code=$?
	[ $code -ne 77 ] || exit 0
	[ $code -eq 0 ] || fail "$2: $(cat "$T/err")"
	says "$1" "$T/out" "$2"
}
objcopy --only-keep-debug "$T/good" "$debug"
cp "$T/good" "$T/acts"
objcopy --strip-debug "$T/acts"
separate "$all" "a separate debug file"
chown 4242 "$debug" && separate "${outside}acts!say;" "a debug file of a stranger"
chown 0 "$debug"
command -v dwz >/dev/null || exit 0
cp "$debug" "$T/second"
dwz -m "$T/debug/.dwz/shared.debug" -M /usr/lib/debug/.dwz/shared.debug "$debug" "$T/second" 2>/dev/null || exit 0
separate "$all" "a debug file with a shared one"
exit 0
