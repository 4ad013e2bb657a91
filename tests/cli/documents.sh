# SPDX-License-Identifier: MIT
# What the documents name exists: files, folders, verbs, options, exports.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1

# `src/pool/pool_write.h` and [text](docs/loss.md)
for doc in README.md CONTRIBUTING.md docs/*.md; do
	grep -oE '`(src|tools|winrt|include|tests|bench|docs|samples|scripts|man|data)/[A-Za-z0-9_./-]+`' "$doc" | tr -d '`' | grep -v 'NAME\|TARGET' |
		while read -r path; do [ -e "${path%/}" ] || echo "$doc names $path"; done
	grep -oE '\]\([^)#:]+\)' "$doc" | sed 's/](\(.*\))/\1/' |
		while read -r path; do [ -e "$(dirname "$doc")/$path" ] || echo "$doc links to $path"; done
done >"$T/dead"
[ ! -s "$T/dead" ] || fail "$(cat "$T/dead")"

# every verb and option shown in the documents is one
cat README.md docs/*.md | grep -oE '^ *(\$ )?openetw [a-z]+( .*)?' | sed 's/^ *\(\$ \)\{0,1\}//; s/ -- .*//; s/ | .*//' |
	while read -r _ verb rest; do
		[ "$verb" = help ] || openetw help "$verb" >"$T/help" 2>/dev/null || echo "no verb $verb"
		for word in $rest; do
			case $word in
			--[a-z]*)
				option=${word%%=*}
				grep -q -- " $option" "$T/help" || [ "$option" = --help ] || echo "openetw $verb has no $option"
				;;
			esac
		done
	done >"$T/dead"
[ ! -s "$T/dead" ] || fail "$(cat "$T/dead")"

# docs/compatibility.md has a word on every export
command -v nm >/dev/null || exit 0
lib=$(find "$OPENETW_BUILD" -maxdepth 1 -name 'libetw.so.*.*' | head -1)
nm -D --defined-only "$lib" | grep -v _PRIVATE_ | sed -n 's/.* T \([A-Za-z_0-9]*\).*/\1/p' | grep -v '^openetw_' | while read -r name; do
	base=${name%[AW]}
	grep -qE "\`($name|$base)\`" docs/compatibility.md || echo "$name"
done >"$T/missing"
[ ! -s "$T/missing" ] || fail "docs/compatibility.md lacks: $(tr '\n' ' ' <"$T/missing")"
