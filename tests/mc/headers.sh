#!/bin/sh
# SPDX-License-Identifier: MIT
# Headers made by "openetw mc" compile without a warning as C99, C11, C++11 and C++17 with every compiler that
# is there, with 16-bit and with native wide characters, twice in a program, and link.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
work=$(mktemp -d /tmp/openetw-mc-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mc="$OPENETW_BUILD/tools/openetw mc"
inc="-I$root/include/etw -I$root/include/etw/win -I$root/include"
passed=0 failed=0

for man in "$root"/samples/manifest-generated/kitchen.man "$root"/samples/manifest-style.man "$root"/tests/mc/*.man; do
	base=$(basename "$man" .man)
	$mc -um -z "$base" "$man" || exit 1
	$mc -km -z "$base-activity" "$man" || exit 1
	$mc -nocode -z "$base-constants" "$man" || exit 1
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

# What headers made by Windows' compiler look like: functions in every source and one copy of the data, in C too.
cat >windows.style.h <<'END'
#pragma once
EXTERN_C __declspec(selectany) const GUID Style = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
EXTERN_C __declspec(selectany) DECLSPEC_CACHEALIGN ULONG StyleBits[1];
#if defined(__cplusplus)
extern "C" {
#endif
DECLSPEC_NOINLINE __inline
ULONG
__stdcall
StyleWrite(_In_ REGHANDLE RegHandle)
{
	return RegHandle == 0 ? StyleBits[0] : 1;
}
typedef ULONG (*STYLE)(REGHANDLE);
STYLE other_write(void);
const GUID *other_guid(void);
#if defined(__cplusplus)
}
#endif
END
cat >style1.c <<'END'
#include <windows.h>
#include <evntprov.h>
#include "windows.style.h"
int main(void) { StyleBits[0] = 0; return StyleWrite(0) != 0 || other_write()(0) != 0 || other_guid() != &Style; }
END
cat >style2.c <<'END'
#include <windows.h>
#include <evntprov.h>
#include "windows.style.h"
STYLE other_write(void) { return StyleWrite; }
const GUID *other_guid(void) { return &Style; }
END
for how in 'gcc -x c -std=c99' 'gcc -x c -std=c11 -O2' 'clang -x c -std=c11' 'clang -x c -std=gnu11 -fms-extensions' \
	'g++ -x c++' 'clang++ -x c++' 'clang++ -x c++ -fms-extensions'; do
	command -v "${how%% *}" >/dev/null 2>&1 || continue
	# shellcheck disable=SC2086
	if $how $inc style1.c style2.c -o program -L"$OPENETW_BUILD" -letw "-Wl,-rpath,$OPENETW_BUILD" >log 2>&1 && ./program; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: Windows' style: $how"
		head -5 log
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
