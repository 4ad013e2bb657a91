# SPDX-License-Identifier: MIT
# openetw.hpp is for any C++ from C++11 on and for both compilers, with their warnings: a program that uses all of it, and the sample.
# The build compiles both as C++11 with one of the compilers.
#   cpp.sh SOURCE-DIRECTORY
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for std in c++17 c++20; do
		for file in tests/query/query_cpp.cpp samples/events.cpp; do
			$compiler -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1/include" "$1/$file" || exit 1
		done
	done
done
