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
wrong 'DoTraceMessage(FLAG_SHOP, "a %d", 1); DoTraceMessage(FLAG_SHOP, "b %s", "x");' \
	'bad.c:5:40: error: two trace calls of DoTraceMessage in one line whose arguments have different types'
wrong 'DoTraceMessage(FLAG_SHOP, "a"' 'the ) of this call of DoTraceMessage is missing'

# Several calls in a line, calls in macros, in macros of macros, over several lines; WPP_DEBUG; types of one's own.
cat >many.h <<'END'
#include <stdio.h>
#include <windows.h>
#define WPP_CONTROL_GUIDS WPP_DEFINE_CONTROL_GUID(Many, (5b1f0c3e,88d2,4f6b,9c0a,1e7d2b3a4c5d), \
	WPP_DEFINE_BIT(ONE) WPP_DEFINE_BIT(TWO))
#define WPP_DEBUG(args) printf args, printf("\n");
#define WPP_LEVEL_FLAGS_LOGGER(level, flags) WPP_LEVEL_LOGGER(flags)
#define WPP_LEVEL_FLAGS_ENABLED(level, flags) (WPP_LEVEL_ENABLED(flags) && WPP_CONTROL(WPP_BIT_##flags).Level >= (level))
#define CHECK(what, ...) do { if (!(what)) { Error(ONE, "%!FUNC! " #what " failed"); } else { Info(ONE, "fine:" __VA_ARGS__); } } while (0)
#define ENTER() Info(ONE, "--> %!FUNC!")
#define NOTE(text, value) Info(TWO, "note " text, value)
#define NOTES(value) NOTE("a %d", value); NOTE("b %s", #value)
#define WPP_LOGIPV6(x) WPP_LOGPAIR(16, (x))
typedef struct { unsigned short n; const void *p; } bytes_of;
static inline bytes_of log_bytes(const void *p, unsigned n) { bytes_of b = {(unsigned short)n, p}; return b; }
#define WPP_LOGBYTES(x) WPP_LOGPAIR(2, &(x).n) WPP_LOGPAIR((x).n, (x).p)
enum color { RED, GREEN, BLUE };
/* begin_wpp config
 FUNC Info{LEVEL=4}(FLAGS, MSG, ...);
 FUNC Error{LEVEL=2}(FLAGS, MSG, ...);
 USEPREFIX(Error, "%!STDPREFIX!E:%!SPACE!");
 USESUFFIX(Error, " (%d)", errno_of());
 CUSTOM_TYPE(color, ItemEnum(color));
 DEFINE_CPLX_TYPE(IPV6ADDR, WPP_LOGIPV6, const void *, ItemIPV6Addr, "s", _IPV6_, 0, 1);
 DEFINE_CPLX_TYPE(HEXDUMP, WPP_LOGBYTES, bytes_of, ItemHEXDump, "s", _HEX_, 0, 2);
 WPP_FLAGS(-DLOG_BYTES(b,n)=log_bytes(b,n));
 end_wpp */
END
cat >many.c <<'END'
#include "many.h"
#include "many.tmh"
static int errno_of(void) { return 7; }
static void two(int x) { if (x) Info(ONE, "is %d", x); else Info(ONE, "no %d", x); }
static void more(void) { Info(ONE, "p"); Info(ONE, "q"); Info(TWO, "r %d %s", 5, "five"); Error(ONE, "s"); }
int main(void)
{
	static const unsigned char six[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	WPP_INIT_TRACING(L"many");
	two(1); two(0); more();
	ENTER();
	CHECK(1 == 1, " %d", 8);
	CHECK(1 ==
	      2);
	Info(TWO, "%!color! %!IPV6ADDR! %!HEXDUMP! %!MOD!", GREEN, six, LOG_BYTES(six, 4));
	WPP_CLEANUP();
	return 0;
}
END
openetw tracewpp -scan:many.h -p:unit many.c || fail "tracewpp of many calls"
for with in cc "c++ -x c++" clang; do
	command -v "${with%% *}" >/dev/null 2>&1 || continue
	rm -f many
	# shellcheck disable=SC2086
	$with -I. -I"$root/include/etw" -I"$root/include/etw/win" -O1 -Wall many.c -o many -L"$OPENETW_BUILD" -letw 2>err ||
		fail "$with: $(cat err)"
	openetw run -p "{$control}:0x3:5" -o many.etl -- ./many >debug 2>/dev/null || fail "run of $with"
	openetw tracefmt many.etl -displayonly 2>/dev/null -noprefix | grep -v '^{' >lines
	cat >wanted <<'END'
is 1
no 0
p
q
r 5 five
E: s (7)
--> main
fine: 8
E: main 1 == 2 failed (7)
END
	head -9 lines >got
	cmp -s got wanted || fail "$with: $(cat lines)"
	has lines 'GREEN'
	has lines '2001:db8::1'
	has lines 'unit'
	has debug 'many.c(4) : is 1'
	has debug 'E: s (7)'
	has debug '--> main'
done
exit 0
