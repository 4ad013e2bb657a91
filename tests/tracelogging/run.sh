#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the TraceLogging tests with every compiler, language version and wide-character mode at hand, and
# runs them. They need only the headers. Ends with "N passed, N failed".
#
# usage: run.sh [-q]     -q: one language version each, for a quick check

here=$(cd "$(dirname "$0")" && pwd)
include="-I$here/../../include/etw/linux -I$here/../../include/etw -I$here/../../include/etw/win -I$here/../../include"
warn="-Wall -Wextra -Werror"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
c_versions="c99 c11"
cpp_versions="c++11 c++17"
[ "$1" = "-q" ] && c_versions=c11 && cpp_versions=c++17

# check SENTENCE COMMAND...
check() {
	sentence=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $sentence"
		head -20 "$work/log"
	fi
}

# run SOURCE FLAGS...: build, run, no run-time initialisation of the constants
run() {
	source=$1
	shift
	if check "$source builds with $*" "$@" $warn $include "$here/$source" -o "$work/test"; then
		check "$source runs with $*" "$work/test"
		check "$source has no constants initialised at run time ($*)" \
			sh -c "! nm '$work/test' | grep -q '_ZGV.*_tlg'"
		rm -f "$work/test"
	fi
}

# refuse NUMBER TEXT SOURCE FLAGS...: must not compile, and say why
refuse() {
	number=$1 text=$2 source=$3
	shift 3
	check "$source case $number is refused with a reason ($*)" sh -c \
		"! $* $include -DCASE=$number -c '$here/$source' -o '$work/o' 2>'$work/err' &&
		grep -q '$text' '$work/err' || { cat '$work/err'; false; }"
}

for wide in -fno-short-wchar -fshort-wchar; do
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		for std in $c_versions; do
			for opt in -O0 -O2; do
				run fields_test.c $cc -std=$std $wide $opt
				[ "$std" = c99 ] || run linux_test.c $cc -std=$std $wide $opt
				run provider_test.c $cc -std=$std $wide $opt
			done
		done
	done
	for cc in g++ clang++; do
		command -v $cc >/dev/null || continue
		for std in $cpp_versions; do
			for opt in -O0 -O2; do
				run fields_test.cpp $cc -std=$std $wide $opt
				run linux_test.cpp $cc -std=$std $wide $opt
				run provider_test.cpp $cc -std=$std $wide $opt
				run activity_test.cpp $cc -std=$std $wide $opt
			done
		done
	done
done

for cc in "gcc -std=c11" "clang -std=c11"; do
	command -v ${cc%% *} >/dev/null || continue
	check "refuse.c compiles when nothing is wrong" $cc $warn $include -DCASE=0 -c "$here/refuse.c" \
		-o "$work/o"
	refuse 1 "wide strings are UTF-16" refuse.c $cc
	refuse 2 "1 to 65535 values" refuse.c $cc
	refuse 3 "1 to 127 members" refuse.c $cc
	refuse 4 "too many fields" refuse.c $cc
	refuse 1 "wide_strings_need" refuse.c ${cc%% *} -std=c99
done
for cc in "g++ -std=c++11" "clang++ -std=c++11"; do
	command -v ${cc%% *} >/dev/null || continue
	check "refuse.cpp compiles when nothing is wrong" $cc $warn $include -DCASE=0 -c \
		"$here/refuse.cpp" -o "$work/o"
	refuse 1 "wide strings are UTF-16" refuse.cpp $cc
	refuse 2 "1 to 65535 values" refuse.cpp $cc
	refuse 3 "1 to 127 members" refuse.cpp $cc
	refuse 4 "too many fields" refuse.cpp $cc
	refuse 5 "no field type for a value of this type" refuse.cpp $cc
	refuse 6 "does not go into start and stop events" refuse.cpp $cc
	refuse 7 "does not go into start and stop events" refuse.cpp $cc
	refuse 8 "wide strings are UTF-16" refuse.cpp $cc
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
