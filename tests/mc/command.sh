#!/bin/sh
# SPDX-License-Identifier: MIT
# The command itself: which files it writes where, what it says about mistakes.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
work=$(mktemp -d /tmp/openetw-mc-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mc="$OPENETW_BUILD/tools/openetw mc"
man=$root/samples/manifest-generated/kitchen.man
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
files() { find "$1" -type f | sed 's|.*/||' | sort | tr '\n' ' '; }
says() { # says STATUS TEXT ARGUMENTS…
	status=$1 text=$2
	shift 2
	$mc "$@" >out 2>err
	got=$?
	[ "$got" -eq "$status" ] || fail "$*: status $got, wanted $status: $(cat err)"
	grep -qF -- "$text" err || fail "$*: said '$(cat err)', wanted '$text'"
}

mkdir a h r
cd a && $mc "$man" || fail "plain"
cd ..
[ "$(files a)" = "MSG00001.bin MSG00002.bin kitchen.h kitchen.rc kitchenTEMP.BIN " ] || fail "wrote $(files a)"
$mc -um -h h -r r -z menu -e hpp "$man" || fail "with directories"
[ "$(files h)" = "menu.hpp " ] || fail "header: $(files h)"
[ "$(files r)" = "menu.rc menuTEMP.BIN menu_MSG00001.bin menu_MSG00002.bin " ] || fail "resources: $(files r)"
cmp a/kitchenTEMP.BIN r/menuTEMP.BIN || fail "the name changes the resource"
$mc -h h -r r "$man" && cmp a/kitchen.h h/kitchen.h || fail "two runs differ"
$mc -p Log -P Order -h h -r r "$man" && grep -q '#define LogTaken(' h/kitchen.h || fail "prefixes"

$mc -format 3 -h h -r r "$man" && [ "$(head -c 12 r/kitchenTEMP.BIN | tail -c 4 | od -An -tx1 | tr -d ' ')" = 03000100 ] || fail "format 3"
cmp a/kitchen.h h/kitchen.h || fail "the format of the resource changes the header"
cp r/kitchenTEMP.BIN 3.bin && $mc -u1 -h h -r r "$man" && cmp 3.bin r/kitchenTEMP.BIN || fail "-u1"
says 2 "-format takes 3 or 5" -format 4 "$man"
says 2 "did you mean -um" -ump "$man"
says 2 "C# classes are not made" -cs Name "$man"
says 2 "which manifest" -um
says 2 "-h needs a value" -h
says 2 "one manifest at a time" "$man" b.man
says 1 "cannot read nowhere.man: No such file" nowhere.man
says 1 "cannot write nodir/kitchen.h" -h nodir "$man"
[ ! -e nodir ] || fail "made a directory"
sed 's/level="Chatty"/level="Loud"/' "$man" >broken.man
line=$(grep -n 'level="Loud"' broken.man | cut -d: -f1)
says 1 "broken.man:$line:73: error: 'Loud' is not declared" broken.man
[ ! -e broken.h ] || fail "a header of a broken manifest"
printf '<a>\n<b></a>' >broken.man
says 1 "broken.man:2:" broken.man
printf '<a/>' >broken.man
says 1 "is not an instrumentationManifest" broken.man
exit 0
