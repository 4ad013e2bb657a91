# SPDX-License-Identifier: MIT
# WPP: sources with trace calls, preprocessed, compiled in C and C++, recorded, and read without a .tmf file,
# with one, and with neither.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
control=5b1f0c3e-88d2-4f6b-9c0a-1e7d2b3a4c5d
export LD_LIBRARY_PATH="$OPENETW_BUILD"
command -v cc >/dev/null 2>&1 || skip "no C compiler"
cd "$T" || fail "cd"
cp "$root"/samples/wpp/*.[ch] .
has() { grep -qF -- "$2" "$1" || fail "no '$2' in: $(cat "$1")"; }
build() { # build COMPILER STANDARD OUTPUT
	"$1" -std="$2" -Wall -Wextra -Werror -I. -I"$root/include/etw" -I"$root/include/etw/win" $4 main.c shop.c -o "$3" \
		-L"$OPENETW_BUILD" -letw || fail "$1 -std=$2"
}
openetw tracewpp -km -func:"Unused(FLAGS,MSG,...)" -scan:trace.h -p:sample -tmf:. main.c shop.c || fail "tracewpp"
[ -f main.tmh ] && [ -f shop.tmh ] || fail "no headers: $(ls)"
expect ".tmf files" "$(ls ./*.tmf | wc -l)" 2
build cc c99 plain ""
build cc gnu17 program "-fshort-wchar -Wl,--gc-sections"
if command -v c++ >/dev/null 2>&1; then
	sed 's/\.tmh"/.cpp.tmh"/' main.c >main.cpp
	openetw tracewpp -scan:trace.h -preserveext:.c,.cpp main.cpp || fail "tracewpp of C++"
	c++ -x c++ -std=c++11 -Wall -Wextra -Werror -I. -I"$root/include/etw" -I"$root/include/etw/win" \
		-fsyntax-only main.cpp || fail "c++"
fi
openetw run -p "{$control}:0x3:5" -o w.etl -- ./program >/dev/null 2>&1 || fail "run"
text() { openetw tracefmt "$@" -displayonly -noprefix 2>/dev/null; }
text w.etl >here
has here '1 arguments, 100% "of them", text'
has here 'no arguments'
has here '4000000000 beef 000000AF -7 65535 c -5000000000 18000000000000000000 123456789abc -1 0000000000001234'
has here 'NULL|wé|wé|     right|5   |1.5'
has here '11223344-5566-7788-0102-030405060708'
has here '127.0.0.1 80 true'
has here 'over two lines in main, line 29 of main.c'
has here 'level TRACE_LEVEL_VERBOSE, flags FLAG_STOCK'
has here '--> shop_sell'
has here 'ann buys 3 x pear'
has here 'bob wants 1000 of plum failed: '
grep -q 'never\|nobody' here && fail "what is not enabled was written: $(cat here)"
openetw dump -q --json w.etl | grep -c '"_message":' >n
expect "messages in JSON" "$(cat n)" 11

# Levels and flags are tested in the program.
openetw run -p "{$control}:0x2:2" -o errors.etl -- ./program >/dev/null 2>&1 || fail "run"
text errors.etl | grep -v EventTrace >errors
has errors 'bob wants 1000'
grep -q 'level TRACE_LEVEL_VERBOSE\|ann buys' errors && fail "level 2 and flag 2 wrote: $(cat errors)"

# tracepdb reads the section; the files it writes decode where nothing else is known.
mkdir tmf
openetw tracepdb -f program -p tmf >said || fail "tracepdb"
expect "files of tracepdb" "$(ls tmf | wc -l)" 2
for f in tmf/*.tmf; do
	cmp "$f" "$(basename "$f")" || fail "tracepdb says something else than tracewpp"
done
rm -r "$XDG_DATA_HOME/openetw" program
text w.etl >there
cmp here there || fail "the file alone: $(cat there)"
# A session that nobody of ours stopped leaves a file without formats.
openetw start s -o bare.etl -p "{$control}:0x3:5" >/dev/null 2>&1 || fail "start"
XDG_DATA_HOME=$T/nowhere ./plain >/dev/null || fail "plain"
rm -rf "$XDG_DATA_HOME/openetw"
XDG_DATA_HOME=$T/nowhere openetw stop s >/dev/null || fail "stop"
rm -rf "$XDG_DATA_HOME/openetw"
text bare.etl >nothing
grep -q 'buys' nothing && fail "decoded out of nothing"
cp bare.etl w.etl
text bare.etl -i plain >here
has here 'ann buys 3 x pear'
for how in "-p tmf" "-i plain"; do
	# shellcheck disable=SC2086
	text w.etl $how >there
	cmp here there || fail "with $how: $(cat there)"
done
OPENETW_CATALOGUE=$T/tmf text w.etl >there
cmp here there || fail "with .tmf files: $(cat there)"

# Mistakes have their place.
wrong() { # wrong TEXT WANTED
	printf '#include "trace.h"\n#include "bad.tmh"\nvoid f(void)\n{\n\t%s\n}\n' "$1" >bad.c
	openetw tracewpp -scan:trace.h bad.c >/dev/null 2>err && fail "taken: $1"
	grep -qF -- "$2" err || fail "$1: $(cat err)"
	[ ! -e bad.tmh ] || fail "a header of a source with mistakes"
}
wrong 'DoTraceMessage(FLAG_SHOP, "%d");' 'bad.c:5:2: error: the call has 0 arguments for 1 conversion'
wrong 'DoTraceMessage(FLAG_SHOP, text);' 'bad.c:5:2: error: DoTraceMessage: the message has to be a string literal'
wrong 'DoTraceMessage(FLAG_SHOP, "%!NOSUCH!", 1);' '%!NOSUCH! is not known'
wrong 'DoTraceMessage(FLAG_SHOP, "%*d", 1, 2);' 'a width of * cannot be recorded'
wrong 'DoTraceMessage(FLAG_SHOP, "a"); DoTraceMessage(FLAG_SHOP, "b");' 'bad.c:5:34: error: two trace calls in one line'
wrong 'DoTraceMessage(FLAG_SHOP, "a"' 'the ) of this call of DoTraceMessage is missing'
exit 0
