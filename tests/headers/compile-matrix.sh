#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compiles every public header alone, as C and C++, with and without -fshort-wchar and UNICODE, with every
# compiler that is there (tlg/ holds pieces of TraceLoggingProvider.h that do not stand alone), and the
# layout and constant checks the same way. Prints failures and a summary.
# Usage: compile-matrix.sh [quick]    quick: one standard per language
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
inc="-I$root/include/etw -I$root/include/etw/win -I$root/include"
warn="-Wall -Wextra -Werror -pedantic"

headers=$(cd "$root/include/etw" && find . -name '*.h' ! -path './win/crt/*' ! -path './tlg/*' | sed 's|^\./||' | sort)
crt=$(cd "$root/include/etw/win/crt" && ls *.h)
ours=$(cd "$root/include" && ls openetw/*.h openetw/*.hpp 2>/dev/null)

check() { # name, file, command...
	name=$1 file=$2
	shift 2
	if "$@" -fsyntax-only "$file" 2>"$work/err"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name: $*"
		head -5 "$work/err"
	fi
}

# One translation unit a header: a declaration follows, because ISO C wants one.
one() { # header, prefix of the file
	before=
	case $1 in */poppack.h) before='#include "win/pshpack1.h"' ;; esac # ends what another begins
	printf '%s\n#include "%s"\nextern int etw_header_is_alone;\n' "$before" "$1" >"$work/$2.c"
}

run() { # compiler, language, standards...
	cc=$1 lang=$2
	shift 2
	command -v "$cc" >/dev/null 2>&1 || return 0
	for std in "$@"; do
		for mode in "" "-fshort-wchar" "-fshort-wchar -DUNICODE -D_UNICODE" "-DUNICODE"; do
			for h in $headers; do
				case "$lang$h" in # C++ only
				cTraceLoggingActivity.h | ctraceloggingactivity.h | cwin/etw_cxx_headers.h) continue ;;
				esac
				# tchar.h with _UNICODE needs the 16-bit C runtime's headers
				extra=
				case $h in */pshpack*.h | */poppack.h) extra=-Wno-pragma-pack ;; esac # what they are for
				case "$h$mode" in *tchar.h*_UNICODE*) extra="-I$root/include/etw/win/crt" ;; esac
				one "$h" one
				# shellcheck disable=SC2086
				check "$h" "$work/one.c" "$cc" -x "$lang" -std="$std" $warn $mode $extra $inc
			done
			for f in layout constants; do
				# shellcheck disable=SC2086
				check "$f" "$root/tests/headers/$f.c" "$cc" -x "$lang" -std="$std" \
					-Wall -Wextra -Werror $mode $inc
			done
		done
		for h in $ours; do # alone, without Windows' headers, and beside them
			case "$lang$h" in c*.hpp) [ "$lang" = c++ ] || continue ;; esac
			one "$h" one
			# shellcheck disable=SC2086
			check "$h" "$work/one.c" "$cc" -x "$lang" -std="$std" $warn -I"$root/include"
			printf '#include "evntrace.h"\n#include "evntcons.h"\n%s\n' "$(cat "$work/one.c")" >"$work/both.c"
			# shellcheck disable=SC2086
			check "$h" "$work/both.c" "$cc" -x "$lang" -std="$std" $warn $inc
		done
		for h in $crt; do
			one "$h" one
			# shellcheck disable=SC2086
			check "crt/$h" "$work/one.c" "$cc" -x "$lang" -std="$std" $warn -fshort-wchar \
				-I"$root/include/etw/win/crt" $inc
		done
	done
}

if [ "$1" = quick ]; then
	run gcc c c11
	run g++ c++ c++17
else
	run gcc c c99 c11
	run clang c c99 c11
	run g++ c++ c++11 c++17
	run clang++ c++ c++11 c++17
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
