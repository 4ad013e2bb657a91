# SPDX-License-Identifier: MIT
# Installed somewhere, used from outside: programs build with nothing but pkg-config's flags, in C and C++,
# run against the installed libraries, and the installed openetw and etwd record and decode them.
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
nm "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q '__asan_init\|__tsan_init' && skip "a sanitizer's libraries are not for others"
DESTDIR=$T/root meson install -C "$OPENETW_BUILD" --no-rebuild >"$T/log" 2>&1 || fail "meson install: $(tail -5 "$T/log")"
pc=$(find "$T/root" -name etw-win.pc)
[ -n "$pc" ] || fail "etw-win.pc was not installed"
export PKG_CONFIG_PATH="${pc%/*}"
prefix=$T/root$(sed -n 's/^prefix=//p' "$pc")
lib=$(dirname "$(find "$prefix" -name libetw.so)")
flags() { pkg-config --define-variable=prefix="$prefix" "$@"; }
unset OPENETW_ETWD
export LD_LIBRARY_PATH="$lib"
PATH="$prefix/bin:$PATH"
expect "openetw" "$(command -v openetw)" "$prefix/bin/openetw"
mkdir "$T/work"
cd "$T/work" || exit 1
cp "$source"/samples/*.c .
for s in hello-tracelogging manifest-style consumer controller; do
	for cc in "${CC:-cc}" clang; do
		command -v "$cc" >/dev/null || continue
		# shellcheck disable=SC2046
		"$cc" -Wall -Werror $(flags --cflags etw-win) "$s.c" $(flags --libs etw-win) -o "$s" 2>"$T/err" ||
			fail "$cc $s: $(head -20 "$T/err")"
	done
done
cat >plus.cpp <<'C'
#include <windows.h>
#include <TraceLoggingProvider.h>
#include <string>
TRACELOGGING_DEFINE_PROVIDER(g_h, "Test.Plus", (0xda2f6a6e, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
int main()
{
	std::wstring s(L"sixteen");
	for (int i = 0; i < 100; i++) {
		s += L" bits";
	}
	TraceLoggingRegister(g_h);
	TraceLoggingWrite(g_h, "Wide", TraceLoggingWideString(s.c_str(), "Text"));
	TraceLoggingUnregister(g_h);
	return sizeof(wchar_t) == 2 && s.size() == 507 ? 0 : 1;
}
C
for cxx in "${CXX:-c++}" clang++; do
	command -v "$cxx" >/dev/null || continue
	# shellcheck disable=SC2046
	"$cxx" -Wall -Werror $(flags --cflags etw-win) plus.cpp $(flags --libs etw-win) -o plus 2>"$T/err" ||
		fail "$cxx: $(head -20 "$T/err")"
done
# plain Linux programs: etw, with 32-bit wchar_t
printf '#include <windows.h>\n#include <evntprov.h>\n_Static_assert(sizeof(L"") == 4, "");int main(void){REGHANDLE h;
	GUID g = {1};return (int)EventRegister(&g, 0, 0, &h);}\n' >plain.c
# shellcheck disable=SC2046
"${CC:-cc}" -Wall -Werror $(flags --cflags etw) plain.c $(flags --libs etw) -o plain 2>"$T/err" || fail "plain: $(cat "$T/err")"
./plain || fail "the plain program failed"
# What looks at traces is in a library of its own, which no other program is bound to.
# shellcheck disable=SC2046
"${CC:-cc}" -Wall -Werror $(flags --cflags openetw) reader.c $(flags --libs openetw) -o reader 2>"$T/err" || fail "reader: $(cat "$T/err")"
openetw-cc reader.c -o reader-cc 2>"$T/err" || fail "openetw-cc reader.c: $(cat "$T/err")"
openetw-cc hello-tracelogging.c -o hello-cc 2>"$T/err" || fail "openetw-cc hello-tracelogging.c: $(cat "$T/err")"
for p in reader reader-cc plain hello-tracelogging hello-cc; do
	readelf -d "$p" | grep -q 'NEEDED.*libopenetw\.so\.0'
	expect "is $p bound to libopenetw" "$?" "$(case $p in reader*) echo 0 ;; *) echo 1 ;; esac)"
done
openetw run -o a.etl -p OpenETW.Sample.Hello -p Test.Plus:0:5 -p '{da2f6a6e-0001-0002-0304-05060708090a}' \
	-- sh -c './hello-tracelogging 2 10 && ./plus' >"$T/out" 2>"$T/err" || fail "run: $(cat "$T/out" "$T/err")"
openetw dump --json --quiet a.etl >"$T/json" || fail "dump"
grep -q 'OpenETW.Sample.Hello' "$T/json" || fail "the sample's events are missing: $(head -3 "$T/json")"
grep -q 'sixteen bits bits' "$T/json" || fail "the C++ program's event is missing: $(cat "$T/json")"
for p in reader reader-cc; do
	"./$p" a.etl >"$T/read" 2>&1 || fail "$p: $(cat "$T/read")"
	grep -q 'sixteen bits bits' "$T/read" || fail "$p shows no event: $(head -3 "$T/read")"
done
# Functions of Windows that need that library load it.
# shellcheck disable=SC2046
"${CXX:-c++}" -Wall -Werror -std=c++17 $(flags --cflags etw-win) "$source/samples/inject-image-load.cpp" $(flags --libs etw-win) \
	-o inject 2>"$T/err" || fail "inject-image-load: $(head -20 "$T/err")"
printf '4711 1000 1000 name\n' >modules
./inject a.etl b.etl modules >"$T/out" 2>&1 || fail "inject-image-load: $(cat "$T/out")"
openetw dump b.etl >"$T/dump" || fail "dump b.etl"
grep -q 'sixteen bits bits' "$T/dump" || fail "the relogged event is missing"
readlink "/proc/$(etwd_pid)/exe" | grep -q "^$prefix/" || fail "not the installed etwd ran"
# What was installed may be moved as a whole: each part finds the others from where it lies.
etwd=$(readlink "/proc/$(etwd_pid)/exe")
kill "$(etwd_pid)"
wait_for 10 test ! -e "/proc/$(etwd_pid)/exe" || fail "etwd does not end"
mv "$prefix" "$T/moved"
etwd=$T/moved${etwd#"$prefix"}
export LD_LIBRARY_PATH="$T/moved${lib#"$prefix"}"
"${etwd%/*}/openetw" start moved -r >"$T/out" 2>&1 || fail "start of what was moved: $(cat "$T/out")"
expect "the etwd that was moved" "$(readlink "/proc/$(etwd_pid)/exe")" "$etwd"
"${etwd%/*}/openetw" stop moved >"$T/out" 2>&1 || fail "stop of what was moved: $(cat "$T/out")"
