# SPDX-License-Identifier: MIT
# Parquet and Arrow: the events that dump prints, in the columns of the table events of sql.
. "$(dirname "$0")/install.sh"
N=$CORPUS/perfview/net.4.5.2.x86.etl
[ -e "$N" ] || skip "no corpus in $CORPUS"
openetw sql "$N" 'select 1' >"$T/out" 2>"$T/err" </dev/null || {
	grep -q "DuckDB's library is not found" "$T/err" || fail "the simplest query: $(cat "$T/err")"
	skip "no libduckdb.so: ./openetw.sh test puts it into the build directory"
}
check() {
	f=$1
	shift
	openetw dump -q --json "$@" "$f" >"$T/dump" 2>"$T/err" || fail "dump $f: $(cat "$T/err")"
	openetw export "$f" --as parquet -o "$T/x.parquet" --force --json "$@" 2>"$T/summary" ||
		fail "export $f: $(cat "$T/summary")"
	json_lines "$T/summary"
	node "$EXPORTS/table.mjs" "$T/x.parquet" "$T/dump" >"$T/out" 2>&1 || fail "$f $*: $(tail -5 "$T/out")"
	grep -q "\"eventsWritten\":$(wc -l <"$T/dump")," "$T/summary" || fail "$f $*: $(cat "$T/summary")"
}
check "$N" -F 'event ~ "Process/*" or event ~ "Image/*"' --from +0.5s
check "$N" --process Test.x86 -e 'DiskIo/*'
for f in perfview/gcevents.etl tx/HTTP_Server.etl sonde/test.etl demikernel/PktMon.etl; do
	[ ! -e "$CORPUS/$f" ] || check "$CORPUS/$f"
	[ ! -e "$CORPUS/$f" ] || check "$CORPUS/$f" --from +0.1s
done

# The stream has the same rows; the rules of Arrow's format are checked with those of 'sql --arrow'.
run_status 0 openetw sql "$N" 'from events' --arrow "$T/sql.arrow"
run_status 0 openetw export "$N" --as arrow -o "$T/x.arrow"
says '168204 of 168204 events' "$T/err" "the summary"
[ "$(wc -c <"$T/x.arrow")" -eq "$(wc -c <"$T/sql.arrow")" ] || fail "another stream than that of sql"

# mistakes
run_status 2 openetw export "$N" --as parquet -o -
run_status 2 openetw export "$N" --as parquet -o "$T/y.parquet" --from +2s --to +1s
run_status 1 openetw export /no/such.etl --as parquet -o "$T/y.parquet"
OPENETW_DUCKDB=/no/such run_status 1 openetw export "$N" --as parquet -o "$T/y.parquet"
[ ! -e "$T/y.parquet" ] && [ ! -e "$T/y.parquet.partial" ] || fail "a file of nothing"
