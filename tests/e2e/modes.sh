# SPDX-License-Identifier: MIT
# The file modes: circular, newfile, append, buffering with flush, no-per-cpu, size limit.
. "$(dirname "$0")/lib.sh"
V() { "$HELPERS/verify" "$@"; }
openetw start circ -o "$T/circ.etl" -p Test.Mode -m circular --max-size 1 -b 16 >/dev/null || fail "circular"
"$HELPERS/emit" Test.Mode 60000 wait pace=0 keywords=1 size=100 >/dev/null
openetw stop circ >"$T/o" || fail "stop circular"
[ "$(stat -c %s "$T/circ.etl")" -le $((1100 * 1024)) ] || fail "a circular file of $(stat -c %s "$T/circ.etl") bytes"
v=$(V "$T/circ.etl") || fail "circular: $v"
case $v in events=0*) fail "circular: $v" ;; esac
openetw start new -o "$T/new%d.etl" -p Test.Mode -m newfile --max-size 1 -b 16 >/dev/null || fail "newfile"
"$HELPERS/emit" Test.Mode 20000 wait pace=10 keywords=1 size=100 >/dev/null
openetw stop new >/dev/null || fail "stop newfile"
[ -f "$T/new1.etl" ] && [ -f "$T/new2.etl" ] || fail "newfile made: $(ls "$T")"
v=$(V "$T"/new*.etl) || fail "newfile: $v"
case $v in events=20000*gaps=0*) ;; *) fail "newfile: $v" ;; esac
openetw start mem -p Test.Mode -m buffering --buffers 8:8 -b 16 >/dev/null || fail "buffering"
"$HELPERS/emit" Test.Mode 20000 wait keywords=1 >/dev/null
openetw flush mem -o "$T/mem.etl" || fail "flush of a buffering session"
openetw stop mem >/dev/null || fail "stop buffering"
v=$(V "$T/mem.etl") || fail "buffering: $v"
case $v in events=0*) fail "buffering: $v" ;; esac
openetw start app -o "$T/app.etl" -p Test.Mode -m append >/dev/null || fail "append 1"
"$HELPERS/emit" Test.Mode 100 wait keywords=1 >/dev/null
openetw stop app >/dev/null
openetw start app -o "$T/app.etl" -p Test.Mode -m append >/dev/null || fail "append 2"
"$HELPERS/emit" Test.Mode 100 wait keywords=1 >/dev/null
openetw stop app >/dev/null
case $(V "$T/app.etl") in events=200*) ;; *) fail "append: $(V "$T/app.etl")" ;; esac
openetw start one -o "$T/one.etl" -p Test.Mode --no-per-cpu >/dev/null || fail "no-per-cpu"
"$HELPERS/emit" Test.Mode 5000 wait threads=4 keywords=1 >/dev/null
openetw stop one >/dev/null
case $(V "$T/one.etl") in events=5000*disorder=0*) ;; *) fail "no-per-cpu: $(V "$T/one.etl")" ;; esac
openetw start bad -m circular -o "$T/x.etl" 2>"$T/e" && fail "circular without a size was accepted"
grep -q ERROR_INVALID_PARAMETER "$T/e" || fail "$(cat "$T/e")"
grep -q 'circular mode needs a maximum file size' "$T/e" || fail "no reason: $(cat "$T/e")"
# Compressed as Windows does it, and our own way: everything is there, in less.
how="xpress zstd"
openetw start z -o "$T/z.etl" --compress zstd >/dev/null 2>"$T/e" && openetw stop z >/dev/null || {
	grep -q 'libzstd.so.1 is not installed' "$T/e" || fail "zstd: $(cat "$T/e")"
	how=xpress
}
openetw start plain -o "$T/plain.etl" -p Test.Mode >/dev/null || fail "plain"
for h in $how; do
	openetw start $h -o "$T/$h.etl" -p Test.Mode --compress $h >/dev/null || fail "$h"
done
"$HELPERS/emit" Test.Mode 20000 wait pace=2 keywords=1 size=100 >/dev/null
openetw stop plain >/dev/null
for h in $how; do
	openetw stop $h >/dev/null || fail "stop $h"
	v=$(V "$T/$h.etl") || fail "$h: $v"
	case $v in events=20000*gaps=0*) ;; *) fail "$h: $v" ;; esac
	[ $(($(stat -c %s "$T/$h.etl") * 2)) -lt "$(stat -c %s "$T/plain.etl")" ] || fail "$h made nothing smaller"
done
openetw start bad -m circular --max-size 1 --compress xpress -o "$T/x.etl" 2>"$T/e" && fail "compressed and circular"
grep -q 'buffers of one size' "$T/e" || fail "$(cat "$T/e")"
# To another file and straight back, though what the file just left means is being written into it.
openetw tracelog -start Back -f "$T/back1.etl" -guid '*Test.Mode' -level 5 >/dev/null 2>&1 || fail "back"
for i in 1 2; do
	"$HELPERS/emit" Test.Mode 200000 wait keywords=1 size=50 >/dev/null
	for f in back2 back1; do
		openetw tracelog -update Back -f "$T/$f.etl" >"$T/e" 2>&1 || fail "to $f: $(cat "$T/e")"
	done
done
openetw stop Back >/dev/null || fail "stop after going back"
