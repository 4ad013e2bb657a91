#!/bin/sh
# SPDX-License-Identifier: MIT
# Headers made by "openetw mc" compile without a warning as C99, C11, C++11 and C++17 with every compiler that
# is there, with 16-bit and with native wide characters, twice in a program, and link.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
work=$(mktemp -d /tmp/openetw-mc-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mc="$OPENETW_BUILD/src/cli/openetw mc"
inc="-I$root/include/etw -I$root/include/etw/win -I$root/include"
passed=0 failed=0

for man in "$root"/samples/manifest-generated/kitchen.man "$root"/samples/manifest-style.man "$root"/tests/mc/*.man; do
	base=$(basename "$man" .man)
	$mc -um -z "$base" "$man" || exit 1
	$mc -km -z "$base-activity" "$man" || exit 1
	$mc -n -z "$base-constants" "$man" || exit 1
done

# Two sources with the same header, one of them with contexts of its own.
printf '#include <windows.h>\n#include HEADER\nint other(void);\nint other(void) { return 0; }\n' >two.c
cat >one.c <<'END'
#define MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION 1
#include <windows.h>
#include HEADER
#include HEADER
int other(void);
int main(void) { return other(); }
END

check() { # compiler, language, standard, mode, header
	# shellcheck disable=SC2086
	if "$1" -x "$2" -std="$3" $4 $inc -Wall -Wextra -Werror "-DHEADER=\"$5\"" one.c two.c -o program \
		-L"$OPENETW_BUILD" -letw "-Wl,-rpath,$OPENETW_BUILD" >log 2>&1 && ./program; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $*"
		head -5 log
	fi
}
run() { # compiler, language, standards…
	compiler=$1 language=$2
	shift 2
	command -v "$compiler" >/dev/null 2>&1 || return 0
	for standard in "$@"; do
		for header in *.h; do
			check "$compiler" "$language" "$standard" "" "$header"
			check "$compiler" "$language" "$standard" -fshort-wchar "$header"
		done
	done
}
run gcc c c99 c11
run clang c c99 c11
run g++ c++ c++11 c++17
run clang++ c++ c++11 c++17
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
