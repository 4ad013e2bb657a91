# SPDX-License-Identifier: MIT
# What is installed is what there is: a manual page for each verb and program, a link for each classic tool.
. "$(dirname "$0")/lib.sh"
DESTDIR=$T/root meson install -C "$OPENETW_BUILD" --no-rebuild >"$T/log" 2>&1 || fail "meson install: $(tail -5 "$T/log")"
bin=$(dirname "$(find "$T/root" -path '*/bin/openetw')")
man=${bin%/bin}/share/man

# What openetw is built to start is where it looks for it.
if [ -x "$OPENETW_BUILD/tools/openetw-symbols" ]; then
	place=$(cd "$bin" && strings -a openetw 2>/dev/null | sed -n 's,^\(.*/openetw\)/$,\1,p' | head -1)
	case $place in
	'') ;; # no strings(1)
	/*) [ -x "$T/root$place/openetw-symbols" ] || fail "openetw-symbols is not in $place" ;;
	*) [ -x "$bin/$place/openetw-symbols" ] || fail "openetw-symbols is not in $place of $bin" ;;
	esac
fi

verbs=$(openetw help | sed -n '/^Verbs:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
[ "$(echo "$verbs" | wc -l)" -gt 30 ] || fail "openetw help lists too few verbs: $verbs"
for verb in $verbs; do
	[ -s "$man/man1/openetw-$verb.1" ] || fail "the manual page of the verb '$verb' is not installed"
	# A program of this name that is openetw is that tool: then its link and its page are there too.
	ln -s "$OPENETW_BUILD/tools/openetw" "$T/$verb"
	if "$T/$verb" --help 2>/dev/null </dev/null | grep -q "^Usage: openetw $verb"; then
		[ "$(readlink "$bin/$verb")" = openetw ] || fail "there is no link '$verb' in bin"
		grep -q "^openetw..$verb, $verb " "$man/man1/$verb.1" || fail "there is no manual page '$verb' that names it"
	else
		[ ! -e "$bin/$verb" ] || fail "bin/$verb is a link that does not know its name"
	fi
done
for page in "$man"/man1/openetw-*.1; do
	name=${page##*/openetw-}
	name=${name%.1}
	echo "$verbs" | grep -qx "$name" || [ -e "$bin/openetw-$name" ] || fail "there is a page openetw-$name, but no such verb or program"
done
[ -s "$man/man1/openetw.1" ] || fail "openetw.1 is not installed"
# The programs' own pages need scdoc when they are built.
if [ -e "$man/man8/etwd.8" ]; then
	for program in "$bin"/*; do
		name=${program##*/}
		name=${name%.exe}
		[ -s "$man/man1/$name.1" ] || [ -s "$man/man8/$name.8" ] || [ -s "$man/man1/openetw-$name.1" ] || fail "$name has no manual page"
	done
fi
# All that a page refers to is there.
for page in "$man"/man?/*; do
	grep -o '^\.BR [a-z+\\-]* ([18])' "$page" | sed 's/\\//g; s/^\.BR \(.*\) (\(.\))/man\2\/\1.\2/' | while read -r other; do
		[ -s "$man/$other" ] || echo "${page##*/} refers to $other, which is not installed"
	done
done >"$T/dead"
[ ! -s "$T/dead" ] || fail "$(cat "$T/dead")"
