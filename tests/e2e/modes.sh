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
