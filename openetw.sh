#!/bin/sh
# SPDX-License-Identifier: MIT
# The front door:  ./openetw.sh run   set up, build, record a sample live, show it
#                                     and then a file from Windows: ./openetw.sh run [FILE.etl]
#                  ./openetw.sh test  set up, build, pass all tests (test quick: one build only)
#                  ./openetw.sh build only set up and build (into ./build)
set -eu
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*" >&2; }

# Packages of Debian 12 that must be there; only what is missing is installed.
setup() {
	missing=
	if ! command -v dpkg-query >/dev/null; then
		say "this is no Debian; what it calls $* must be there"
		return 0
	fi
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	say "installing:$missing"
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		sudo=sudo
		command -v sudo >/dev/null || {
			echo "There is no sudo here; as root:  apt-get install$missing" >&2
			exit 1
		}
	fi
	export DEBIAN_FRONTEND=noninteractive
	$sudo apt-get update -qq >&2
	# shellcheck disable=SC2086 # a list of words is meant
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# Sets $build: ./build, or a place of the user's where this tree cannot be written to.
build() {
	build=./build
	if [ ! -w . ]; then
		build=${XDG_CACHE_HOME:-${HOME:?this directory cannot be written to, and HOME is not set}/.cache}/openetw-build
		say "this directory cannot be written to; building in $build"
	fi
	# Of a tree that was moved, or of a configuration that was interrupted: neither can be gone on with.
	if [ -f "$build/source" ] && [ "$(cat "$build/source")" != "$PWD" ]; then
		rm -rf "$build"
	fi
	mkdir -p "$build" || exit 1
	if [ ! -f "$build/build.ninja" ]; then
		rm -rf "$build/meson-private"
		pwd >"$build/source" || exit 1
		meson setup "$build" . -Dbuildtype=debugoptimized -Dtests=false >"$build/ninja.log" 2>&1 ||
			{ tail -20 "$build/ninja.log"; exit 1; }
	fi
	ninja -C "$build" >"$build/ninja.log" 2>&1 ||
		{ grep -A8 -E "FAILED|error" "$build/ninja.log" || tail -20 "$build/ninja.log"; exit 1; }
}

run() {
	setup gcc g++ meson ninja-build pkg-config libc6-dev clang libbpf-dev libdw-dev
	say "building"
	build
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	b=$build/src/cli/openetw
	say "recording two sample providers: TraceLogging, and EventWrite with a manifest"
	"$b" run -o "$dir/sample.etl" -p OpenETW.Sample.Hello -p OpenETW.Sample.Manifest \
		-- sh -c '"$1/hello-tracelogging" 5 && "$1/manifest-style"' sh "$build/samples"
	say "the events, decoded from sample.etl:  openetw dump sample.etl --manifest manifest-style.man"
	"$b" dump "$dir/sample.etl" --manifest samples/manifest-style.man
	say "a summary:  openetw stats sample.etl --manifest manifest-style.man"
	"$b" stats "$dir/sample.etl" --manifest samples/manifest-style.man
	etl=${1-${OPENETW_CORPUS:-../shared/corpus}/perfview/primitive-types.etl}
	if [ -f "$etl" ]; then
		say "a file recorded on Windows, decoded the same way:  openetw dump $(basename "$etl")"
		"$b" dump "$etl"
	else
		say "no file recorded on Windows is at hand (looked for $etl)"
		echo "To see one decoded the same way:  ./openetw.sh run FILE.etl" >&2
		echo "Small ones: github.com/microsoft/perfview, src/TraceEvent/TraceEvent.Tests/inputs" >&2
		[ $# -eq 0 ] || exit 1
	fi
	say "done; '$b help' shows what else there is"
}

case ${1-} in
run)
	shift
	run "$@"
	;;
build)
	setup gcc g++ meson ninja-build pkg-config libc6-dev clang libbpf-dev libdw-dev
	build
	;;
test)
	[ -w . ] || { echo "tests are built in this directory, which cannot be written to: copy it" >&2; exit 1; }
	setup gcc g++ clang libclang-rt-14-dev llvm-14 meson ninja-build pkg-config libc6-dev libbpf-dev libdw-dev libcmocka-dev scdoc python3 procps cmake linux-perf
	exec scripts/test "${2-all}"
	;;
*)
	sed -n '3,7s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
