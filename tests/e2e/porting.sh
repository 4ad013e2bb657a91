# SPDX-License-Identifier: MIT
# Sources as Windows has them, built with what is installed: the drivers openetw-cc and openetw-c++ (include
# spellings, long of 32 bits, wide streams, versions of the languages), a CMake project, callers by DLL name.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
nm "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q '__asan_init\|__tsan_init' && skip "a sanitizer's libraries are not for others"
# The libraries are tested elsewhere; the drivers are the same whoever compiled them.
readelf -p .comment "$OPENETW_BUILD/libetw.so" 2>/dev/null | grep -q clang && skip "the build with gcc does this"
# A folder whose name looks like an option: random names of mktemp do, once in sixty times.
inst="$T/e2e-Inst -Sub"
DESTDIR=$inst meson install -C "$OPENETW_BUILD" --no-rebuild >"$T/log" 2>&1 || fail "meson install: $(tail -5 "$T/log")"
prefix=$(dirname "$(dirname "$(find "$inst" -name openetw-c++)")")
lib=$(dirname "$(find "$prefix" -name libetw.so)")
PATH="$prefix/bin:$PATH"
export OPENETW_INCLUDES="$T/includes" LD_LIBRARY_PATH="$lib"
unset OPENETW_ETWD CC CXX
cp -r "$here/headers/port" "$T/port"
cd "$T/port" || exit 1

has() { command -v "$1" >/dev/null; }
build() { # build PROGRAM DRIVER ARGUMENTS…
	out=$1
	shift
	"$@" -o "$out" >"$T/err" 2>&1 || fail "$*: $(head -30 "$T/err")"
	"./$out" >"$T/out" 2>&1 <"$T/in" || fail "$out ($*): $(cat "$T/out")"
}
printf 'eine\nzw\303\266lf \360\237\230\200' >"$T/in"

# Every language at least once, and both compilers; more would say the same for more time.
export CXX=g++
has g++ && build wide-g++ openetw-c++ -std=gnu++11 -Wall -Werror wide.cpp && diff -u wide.expected "$T/out" >"$T/diff"
[ ! -s "$T/diff" ] || fail "g++: $(cat "$T/diff")"
has clang++ && CXX=clang++
build wide openetw-c++ -Wall -Werror wide.cpp
diff -u wide.expected "$T/out" >"$T/diff" || fail "$CXX: $(cat "$T/diff")"
# Layouts of Windows: both languages, every compiler there is, alone and with the other pass over the source.
for cxx in g++ clang++ clang++-19; do
	has "$cxx" || continue
	for options in "" "--llp64 --msvc" "-std=gnu++11"; do
		# shellcheck disable=SC2086
		CXX=$cxx build layouts openetw-c++ $options -Wall -Werror -x c++ layouts.c
	done
done
for cc in gcc clang clang-19; do
	has "$cc" || continue
	for options in "" "--llp64" "-std=gnu99"; do
		# shellcheck disable=SC2086
		CC=$cc build layouts openetw-cc $options -Wall -Wextra -Werror layouts.c
	done
done
for c in gcc clang; do
	has "$c" || continue
	CC=$c build guids openetw-cc -Wall -Werror guids.c guids_other.c
	c=$([ "$c" = gcc ] && echo g++ || echo clang++)
	has "$c" || continue
	CXX=$c build guids openetw-c++ -Wall -Werror -x c++ guids.c guids_other.c
done
# The dependencies go where the compiler puts them, although it compiles something else.
mkdir "$T/objects"
openetw-cc -MD -c layouts.c -o "$T/objects/named.o" && grep -q "^$T/objects/named.o:.*layouts.c" "$T/objects/named.d" ||
	fail "-MD -c -o: $(ls "$T/objects" && head -3 "$T/objects/"*.d)"
# A program that calls no ETW function finds both libraries without any help.
printf '#include <windows.h>\nint main(void) { Sleep(1); return 0; }\n' >"$T/port/alone.c"
openetw-cc alone.c -o alone && LD_LIBRARY_PATH='' ./alone || fail "a program of libetw-win alone"
has g++ && for options in "" "-std=gnu++20 --msvc"; do
	# shellcheck disable=SC2086
	CXX=g++ build paths openetw-c++ $options -Wall -Wextra -Werror -municode paths.cpp
done
has clang++ && build paths openetw-c++ --msvc --llp64 -Wall -Wextra -Werror paths.cpp
build spelled openetw-c++ -Wall -Isub Spelled.cpp -ladvapi32 -ltdh
build long openetw-c++ --llp64 -municode -MD -MF "$T/deps" long.cpp
grep -q 'windows\.h' "$T/deps" || fail "no dependencies: $(cat "$T/deps")"
build guarded-c++ openetw-c++ --seh -std=c++11 -Wall -Werror -x c++ guarded.c
build more openetw-c++ -Wall -Werror -x c++ more.c
for cxx in g++ clang++; do
	has "$cxx" || continue
	CXX=$cxx build children openetw-c++ -Wall -Werror -x c++ children.c
	CXX=$cxx build intrinsics openetw-c++ --msvc --llp64 -Wall -Werror -x c++ intrinsics.c
done
# googletest's headers take the ways of Windows with --msvc.
if [ -e /usr/include/gtest/gtest.h ]; then
	printf '#include <windows.h>\n#include <gtest/gtest.h>\nTEST(A, b) { EXPECT_EQ(std::wstring(L"x"), L"x"); }\n' >gtest.cpp
	openetw-c++ --msvc -fsyntax-only gtest.cpp 2>"$T/err" || fail "gtest.h: $(head "$T/err")"
fi
openetw-c++ --msvc -municode -fsyntax-only -x c++ names.c 2>"$T/err" || fail "names.c as C++: $(head -20 "$T/err")"
build units openetw-c++ --msvc -municode units.cpp
expect "unit tests" "$(tail -1 "$T/out")" "5 passed, 0 failed"
unset CXX
export CC=gcc
build names-99 openetw-cc -std=gnu99 -Wall -Werror -municode names.c
has clang && CC=clang
build names-11 openetw-cc -std=gnu11 -Wall -Werror -municode names.c
build long-c openetw-cc --llp64 -municode long.c
build guarded openetw-cc --seh -Wall -Wextra -Werror guarded.c
build sockets openetw-cc -Wall -Werror sockets.c
build intrinsics openetw-cc --msvc --llp64 -Wall -Werror intrinsics.c
unset CC
openetw-cc -Wall loaded.c -o loaded >"$T/err" 2>&1 || fail "loaded.c: $(head "$T/err")"
for cc in openetw-cc "openetw-c++ -x c++"; do
	$cc -DDLL -Wall -shared -fPIC loaded.c -o loaded.so >"$T/err" 2>&1 || fail "$cc -shared: $(head "$T/err")"
	expect "a DLL hears of both ($cc)" "$(./loaded)" gone
done
# libc++, whose <format> Debian 12's libstdc++ has not: wide strings and streams, formats.
printf '#include <format>\nint main() { return std::format("{}", 1) != "1"; }\n' >"$T/libc++.cpp"
if has clang++-19 && clang++-19 -std=c++20 -stdlib=libc++ "$T/libc++.cpp" -o "$T/libc++" 2>"$T/err"; then
	for options in -std=c++20 "-std=c++20 --msvc" -std=gnu++11; do
		# shellcheck disable=SC2086
		CXX=clang++-19 build wide openetw-c++ $options -stdlib=libc++ -Wall -Werror wide.cpp
		diff -u wide.expected "$T/out" >"$T/diff" || fail "libc++ $options: $(cat "$T/diff")"
	done
	for options in -std=c++20 "-std=c++23 --msvc -municode"; do
		# shellcheck disable=SC2086
		CXX=clang++-19 build format openetw-c++ $options -stdlib=libc++ -Wall -Werror format.cpp
	done
fi

# Libraries of Windows by their names: those that are here, and no others; the program's own as ever.
cat >named.c <<-end
	#include <windows.h>
	#pragma comment(lib, "Synchronization.lib")
	#pragma comment (lib,"psapi")
	__pragma(comment(lib, "tdh.lib"))
	#if 0
	#pragma comment(lib, "winhttp.lib")
	#endif
	#ifdef BAD
	#pragma comment(lib, "WinHttp.lib")
	#endif
	#ifdef OWN
	#pragma comment(lib, "..\\lib\\ownlib.lib")
	extern int own(void);
	#else
	#define own() 0
	#endif
	// #pragma comment(lib, "winmm.lib")
	int main(void) { return own(); }
end
unset CC CXX
build named openetw-cc -Wall -Werror named.c -lAdvapi32 Tdh.lib ole32.LIB -l kernel32 -lapi-ms-win-core-synch-l1-2-0 -lm
grep -q winhttp "$lib/openetw/libraries" && [ "$(openetw-cc --libraries | grep -c '^advapi32 ')" = 1 ] || fail "--libraries"
refused() { # refused NAME DRIVER ARGUMENTS…
	what=$1
	shift
	! "$@" -o named >"$T/err" 2>&1 || fail "taken: $*"
	grep -q "no function of Windows' library $what is here" "$T/err" || fail "$*: $(cat "$T/err")"
}
refused WinHttp openetw-cc -DBAD named.c
refused winhttp openetw-cc named.c -lwinhttp
refused SetupAPI openetw-cc named.c SetupAPI.Lib
openetw-cc -DBAD -c named.c -o named.o 2>"$T/err" && grep -q 'named.c:9: warning: .*WinHttp' "$T/err" || fail "-c: $(cat "$T/err")"
printf 'int own(void)\n{\n\treturn 0;\n}\n' >own.c
openetw-cc -c own.c -o own.o && ar rcs libownlib.a own.o && build named openetw-cc -DOWN named.c
! openetw-cc -c undeclared.c -o undeclared.o 2>"$T/err" && grep -q IID_PPV_ARGS "$T/err" ||
	fail "a name that C has not compiles: $(cat "$T/err")"

# A header of Windows that is not here says so; not where nobody reads it, or where the program asks first.
printf '#include <windows.h>\n#ifdef BAD\n#include <WinEvt.h>\n#endif\nint main(void) { return 0; }\n' >absent.c
build absent openetw-cc -Wall -Werror absent.c
! openetw-cc -DBAD absent.c -o absent 2>"$T/err" && grep -q 'WinEvt.h> is a header of Windows that OpenETW does not have' "$T/err" ||
	fail "winevt.h: $(cat "$T/err")"
mkdir own && echo '#define OWN_WINHTTP 0' >own/winhttp.h
printf '#include <winhttp.h>\n#if __has_include(<dbghelp.h>)\n#include <dbghelp.h>\n#endif\nint main(void) { return OWN_WINHTTP; }\n' >absent.c
build absent openetw-cc -isystemown absent.c

# UTF-16 of both orders, as Visual Studio saves some files: a source, and a header beside another.
if has iconv; then
	mkdir "$T/port/wide dir"
	{ printf '\377\376' && printf '#include "Named.h"\r\nint main(void)\r\n{\r\n\treturn sizeof(L"\303\244") == 4 && NAMED == 5 ? 0 : 1;\r\n}\r\n' |
		iconv -f UTF-8 -t UTF-16LE; } >"wide dir/main.c"
	{ printf '\376\377' && printf '#define NAMED 5\n' | iconv -f UTF-8 -t UTF-16BE; } >"wide dir/named.h"
	build utf16 openetw-cc -Wall -Werror "wide dir/main.c"
	printf '\n#include "named.h"\nint main(void)\n{\n\treturn NAMED - 5;\n}\n' >"wide dir/plain.c"
	build utf16-header openetw-cc -Wall -Werror "wide dir/plain.c"
fi

# Found by DLL name, from the installed folder.
if has python3 && [ -d "$lib/openetw/aliases" ]; then
	LD_LIBRARY_PATH="$lib/openetw/aliases" python3 -c '
import ctypes
for dll in ("advapi32.dll", "libadvapi32.so", "tdh.dll.so", "api-ms-win-eventing-controller-l1-1-0.dll"):
    library = ctypes.CDLL(dll)
    assert library.StartTraceW and library.TdhGetEventInformation, dll' || fail "the installed aliases"
fi

has cmake || exit 0
cmake -G Ninja -S cmake -B "$T/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$(command -v clang++ || command -v c++)" \
	>"$T/log" 2>&1 || fail "cmake: $(tail -20 "$T/log")"
cmake --build "$T/build" >"$T/log" 2>&1 || fail "cmake --build: $(tail -30 "$T/log")"
"$T/build/reads" || fail "the CMake program of libopenetw"
openetw run -o "$T/cmake.etl" -p '{f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e12}' -- "$T/build/app" >"$T/out" 2>&1 ||
	fail "the CMake program: $(cat "$T/out")"
openetw dump --manifest cmake/App.man "$T/cmake.etl" >"$T/dump" || fail "dump"
grep -q 'sixteen bits' "$T/dump" || fail "its event: $(cat "$T/dump")"
