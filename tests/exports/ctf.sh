# SPDX-License-Identifier: MIT
# ctf: babeltrace2 prints the events of dump.
. "$(dirname "$0")/install.sh"
command -v babeltrace2 >/dev/null || skip "babeltrace2 is not installed"
read_ctf() {
	babeltrace2 --clock-seconds "$1" >"$T/text" 2>"$T/err" || fail "babeltrace2: $(cat "$T/err")"
	[ ! -s "$T/err" ] || fail "babeltrace2 says: $(head -3 "$T/err")"
}
check() {
	exported ctf "$1" "$T/p"
	read_ctf "$T/p"
	node "$EXPORTS/ctf.mjs" "$T/text" "$T/dump" "$T/summary" || fail "$1"
}
each_trace check

# a selection of nothing is a trace, too; an earlier folder is kept once; one with other files in it stays
run_status 1 openetw export "$T/hello.etl" --as ctf -o "$T/p" -e NoSuchEvent
read_ctf "$T/p"
[ ! -s "$T/text" ] && [ -e "$T/p.old/metadata" ] || fail "the earlier folder"
mkdir "$T/mine"
echo precious >"$T/mine/notes"
run_status 1 openetw export "$T/hello.etl" --as ctf -o "$T/mine" --force
[ "$(cat "$T/mine/notes")" = precious ] || fail "a folder with other files was removed"
run_status 2 openetw export "$T/hello.etl" --as ctf -o -
