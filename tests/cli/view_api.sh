# SPDX-License-Identifier: MIT
# view: strangers get nothing, and its answers are the numbers of dump and report.
. "$(dirname "$0")/lib.sh"
[ -n "$HAVE_PYTHON" ] || skip "no python3"
mkdir "$T/web" "$T/roots" "$T/elsewhere"
echo '<p>%NONCE%</p>' >"$T/web/index.html"
run_status 1 openetw view --no-open --web "$T/web" "$T/nothing.etl"
! grep -q 'without the viewer' "$T/err" || skip "this build is without the viewer"
! grep -q 'needs lib\|no JSON reader' "$T/err" || skip "$(cat "$T/err")"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
cp "$CORPUS/tx/Process.etl" "$T/roots/inside.etl"
cp "$CORPUS/tx/Process.etl" "$T/elsewhere/outside.etl"
ln -s ../elsewhere/outside.etl "$T/roots/link.etl"
ln -s "$T/elsewhere" "$T/roots/folder"
here=$(dirname "$0")
XDG_CACHE_HOME=$T/cache python3 "$here/view_attacks.py" "$T" "$CORPUS/tx/Process.etl" >"$T/out" 2>&1 || fail "attacks: $(cat "$T/out")"
for trace in "$CORPUS/tx/Process.etl" "$CORPUS/perfview/net.4.5.2.x86.etl" "$CORPUS/perfview/gcevents.etl"; do
	[ -f "$trace" ] || continue
	XDG_CACHE_HOME=$T/cache python3 "$here/view_numbers.py" "$T" "$trace" >"$T/out" 2>&1 ||
		fail "numbers of $trace: $(cat "$T/out")"
done
XDG_CACHE_HOME=$T/cache python3 "$here/view_tables.py" "$T" "$CORPUS/perfview/net.4.5.2.x86.etl" >"$T/out" 2>&1 || fail "tables: $(cat "$T/out")"
XDG_CACHE_HOME=$T/cache python3 "$here/view_live.py" "$T" "$SAMPLES/hello-tracelogging" >"$T/out" 2>&1 || fail "live: $(cat "$T/out")"
