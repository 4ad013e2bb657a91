#!/bin/sh
# SPDX-License-Identifier: MIT
# The front door:
#   ./openetw.sh run [FILE.etl]   set up, build, record two samples, show their events, and then
#                                 those of a file from Windows (or of FILE.etl)
#   ./openetw.sh view [FILE.etl]  set up, build with the viewer, open the trace (or what can be recorded) in a browser
#   ./openetw.sh build            set up and build everything, into ./build
#   ./openetw.sh test             set up, build, pass all tests; the last line is "N passed, N failed"
#   ./openetw.sh test quick       the same with one build only
#   ./openetw.sh test arm64       a cross build and a recording under emulation
# "Set up" installs the packages of Debian 12 that are missing, as root or with sudo: "run" the few that
# the samples need, "build" all that OpenETW has a use for, "test" those of the tests too.
set -eu
from=$PWD
cd "$(dirname "$0")"

least='gcc libc6-dev meson ninja-build'
all="$least g++ pkg-config clang libbpf-dev libdw-dev libarchive-dev zlib1g-dev libjson-c-dev"

say() { printf '\n== %s\n' "$*" >&2; }
help() { sed -n '3,12s/^# \{0,1\}//p' "$0"; }
mistake() {
	printf 'openetw.sh: %s\n\n' "$*" >&2
	help >&2
	exit 2
}

# Sets $build: ./build, or a place of the user's where this tree cannot be written to.
place() {
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
}

# setup PACKAGE…: of these packages of Debian, those that are missing are installed.
setup() {
	missing=
	if ! command -v dpkg-query >/dev/null; then
		say "this is no Debian; what Debian calls $* must be there"
		return 0
	fi
	for p in "$@"; do
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		sudo=sudo
		command -v sudo >/dev/null || {
			echo "There is no sudo here; as root:  apt-get install$missing" >&2
			exit 1
		}
	fi
	say "installing:$missing   (what apt says goes to $build/apt.log)"
	# An update that fails is not the end: what is needed may be in the lists that are there.
	$sudo apt-get update -q >"$build/apt.log" 2>&1 </dev/null || true
	# shellcheck disable=SC2086 # a list of words is meant
	if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing \
		>>"$build/apt.log" 2>&1 </dev/null; then
		tail -15 "$build/apt.log" >&2
		echo "apt could not install:$missing   (the whole of what it said: $build/apt.log)" >&2
		exit 1
	fi
}

# ninja's lines into a log ($1); of them "[123/640]" on the terminal, or each fiftieth in a file.
progress() {
	shown=
	while IFS= read -r line; do
		printf '%s\n' "$line"
		case $line in
		\[[0-9]*/[0-9]*\]*)
			step=${line%%]*}]
			n=${step#?}
			if [ -t 2 ]; then
				printf '\r%s ' "$step" >&2
				shown=yes
			elif [ $((${n%%/*} % 50)) -eq 0 ]; then
				printf '%s\n' "$step" >&2
			fi
			;;
		esac
	done >"$1"
	[ -z "$shown" ] || echo >&2
}

# The parts that this build is without, by what they are for.
lacks() {
	grep -q -e '-DOPENETW_BPF' "$build/build.ninja" ||
		echo "  clang libbpf-dev pkg-config   kernel events other than CPU samples and context switches"
	grep -q -e '-DOPENETW_LIBDW' "$build/build.ninja" ||
		echo "  libdw-dev pkg-config          names of inlined functions in 'openetw report'"
	grep -q -e '-DOPENETW_ARCHIVES' "$build/build.ninja" ||
		echo "  libarchive-dev zlib1g-dev pkg-config   traces in .zip, .gz, .cab and other archives"
	grep -q -e '-DOPENETW_JSON' "$build/build.ninja" ||
		echo "  libjson-c-dev pkg-config      'openetw mcp', for agents"
	grep -q inject-image-load "$build/build.ninja" ||
		echo "  g++                           the sample in C++, and C++ programs to be ported"
}

# build [whole]: whole configures again when parts are missing that may have been installed since.
build() {
	say "building   (what the compiler says goes to $build/ninja.log)"
	again=
	if [ ! -f "$build/build.ninja" ]; then
		rm -rf "$build/meson-private"
		pwd >"$build/source" || exit 1
		again='-Dbuildtype=debugoptimized -Dtests=false'
	elif [ $# -gt 0 ] && [ -n "$(lacks)" ]; then
		again=--reconfigure
	fi
	if [ -n "${bundle-}" ] && ! grep -qF "$bundle" "$build/build.ninja" 2>/dev/null; then
		again="${again:---reconfigure} -Dviewer=enabled -Dviewer_bundle=$bundle"
	fi
	if [ -n "$again" ]; then
		# shellcheck disable=SC2086
		meson setup $again "$build" . >"$build/ninja.log" 2>&1 || {
			tail -20 "$build/ninja.log" >&2
			exit 1
		}
	fi
	{
		NINJA_STATUS='[%f/%t] ' ninja -C "$build" 2>&1 </dev/null && status=0 || status=$?
		echo "$status" >"$build/ninja.status"
	} | progress "$build/ninja.log"
	if [ "$(cat "$build/ninja.status")" -ne 0 ]; then
		{ grep -A8 -E "FAILED|error" "$build/ninja.log" || tail -20 "$build/ninja.log"; } >&2
		echo "The build failed; the whole of it is in $build/ninja.log" >&2
		exit 1
	fi
}

# The page of the viewer, from web/ and its packages; node and npm are there. Sets $bundle; empty: it cannot be made.
page() {
	bundle=$PWD/${build#./}/web
	say "making the viewer's page   (npm's packages go to $build/web.modules)"
	if ! scripts/web-bundle "$bundle" >&2; then
		bundle=
	fi
}
# Debian's Node.js and npm, unless there are others: those from elsewhere and Debian's npm exclude each other.
node_packages() {
	node=
	command -v node >/dev/null || node=nodejs
	command -v npm >/dev/null || node="$node npm"
}

view() { # view [FILE.etl]
	place
	node_packages
	# shellcheck disable=SC2086
	setup $all libmicrohttpd-dev $node
	page
	[ -n "$bundle" ] || { echo "The viewer's page could not be made." >&2; exit 1; }
	build whole
	exec "$build/tools/openetw" view "$@"
}

# DuckDB's library for the tests of "openetw sql", from its package for Node; without it they are skipped. No script of
# the package runs.
duckdb() {
	version=1.5.6-r.1
	case $(uname -m) in
	x86_64) package=@duckdb/node-bindings-linux-x64 ;;
	aarch64) package=@duckdb/node-bindings-linux-arm64 ;;
	*) return 0 ;;
	esac
	[ -z "${OPENETW_DUCKDB-}" ] || return 0
	library=$build/duckdb/node_modules/$package/libduckdb.so
	if ! grep -qs "\"version\": \"$version\"" "${library%/*}/package.json" || [ ! -f "$library" ]; then
		if ! command -v npm >/dev/null; then
			say "no npm: the tests of 'openetw sql' are skipped"
			return 0
		fi
		say "getting DuckDB's library ($package $version) for the tests"
		mkdir -p "$build/duckdb"
		if ! npm install --ignore-scripts --no-audit --no-fund --prefix "$build/duckdb" "$package@$version" \
			>"$build/npm.log" 2>&1 </dev/null || [ ! -f "$library" ]; then
			say "npm could not get it ($build/npm.log): the tests of 'openetw sql' are skipped"
			return 0
		fi
	fi
	OPENETW_DUCKDB=$PWD/${library#./}
	export OPENETW_DUCKDB
}

run() { # run FILE.etl
	etl=$1
	place
	# shellcheck disable=SC2086
	setup $least
	build
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	b=$build/tools/openetw
	say "recording two sample providers: TraceLogging, and EventWrite with a manifest"
	"$b" run -o "$dir/sample.etl" -p OpenETW.Sample.Hello -p OpenETW.Sample.Manifest \
		-- sh -c '"$1/hello-tracelogging" 5 && "$1/manifest-style"' sh "$build/samples"
	say "the events, decoded from sample.etl:  openetw dump sample.etl --manifest manifest-style.man"
	"$b" dump "$dir/sample.etl" --manifest samples/manifest-style.man
	say "a summary:  openetw stats sample.etl --manifest manifest-style.man"
	"$b" stats "$dir/sample.etl" --manifest samples/manifest-style.man
	say "a file recorded on Windows, decoded the same way:  openetw dump $(basename "$etl")"
	"$b" dump "$etl"
	if [ -n "$(lacks)" ]; then
		say "built without what these packages are for; './openetw.sh build' installs them and builds it too:"
		lacks >&2
	fi
	say "done; '$b help' shows what else there is"
}

case ${1-} in
run)
	[ $# -le 2 ] || mistake "run takes one file"
	etl=samples/windows/primitive-types.etl
	if [ $# -eq 2 ]; then
		case $2 in
		/*) etl=$2 ;;
		*) etl=$from/$2 ;;
		esac
		[ -r "$etl" ] || mistake "there is no file '$2' that can be read"
	fi
	run "$etl"
	;;
view)
	[ $# -le 2 ] || mistake "view takes one file"
	if [ $# -eq 2 ]; then
		case $2 in
		/*) view "$2" ;;
		*) view "$from/$2" ;;
		esac
	else
		view
	fi
	;;
build)
	[ $# -eq 1 ] || mistake "build takes nothing"
	place
	# shellcheck disable=SC2086
	setup $all
	build whole
	;;
test)
	[ $# -le 2 ] || mistake "test takes one word"
	[ -w . ] || { echo "tests are built in this directory, which cannot be written to: copy it" >&2; exit 1; }
	place
	case ${2-all} in
	arm64)
		setup meson ninja-build g++-aarch64-linux-gnu qemu-user-static
		;;
	all | quick)
		node_packages
		# shellcheck disable=SC2086
		setup $all clang-format libclang-rt-14-dev llvm-14 libcmocka-dev scdoc python3 procps cmake linux-perf \
			$node babeltrace2 tshark libmicrohttpd-dev chromium \
			python3-dev python3-pip python3-setuptools python3-wheel
		duckdb
		page
		OPENETW_VIEWER_BUNDLE=$bundle
		export OPENETW_VIEWER_BUNDLE
		;;
	*) mistake "test takes 'quick' or 'arm64', not '$2'" ;;
	esac
	exec scripts/test "${2-all}"
	;;
help | -h | --help | '-?')
	help
	;;
'')
	help >&2
	exit 2
	;;
*) mistake "there is no '$1'" ;;
esac
