# SPDX-License-Identifier: MIT
# Manual pages of the API: every function that the library exports has one, they render without warnings, and each
# function is described in its own words.
#
#   manual.sh SOURCE_DIR BUILD_DIR_OF_MAN LIBRARY…
source=$1
pages=$2
shift 2
failed=0
fail() {
	echo "$*" >&2
	failed=1
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
manual=$source/scripts/api-manual

# Exported names that no header of an SDK declares; docs/compatibility.md has them.
cat >"$work/unlisted" <<END
EtwQueryRealtimeConsumer
GetLastError
SetLastError
END
for page in "$pages"/*.3; do
	name=$(basename "$page" .3)
	if command -v groff >/dev/null; then
		groff -K utf8 -man -Tutf8 -ww -z "$page" 2>"$work/warnings"
		[ ! -s "$work/warnings" ] || fail "$name: $(cat "$work/warnings")"
	fi
	for section in NAME SYNOPSIS DESCRIPTION 'RETURN VALUE' ERRORS 'SEE ALSO'; do
		grep -q "^\\.SH $section\$" "$page" || fail "$name has no $section"
	done
	case $name in
	openetw_defs | relogger) ;; # whose example stands with its macro; whose example is samples/inject-image-load.cpp
	*) grep -q '^\.SH EXAMPLE$' "$page" || fail "$name has no EXAMPLE" ;;
	esac
	# The names of the functions, as apropos and whatis read them.
	sed -n '/^\.SH NAME$/,/ \\- /p' "$page" | sed 's/^\.SH.*//; s/ \\- .*//; s/,$//; /^$/d' >>"$work/names"
done
for library in "$@"; do
	nm -D --defined-only "$library" || fail "$library has no symbols"
done | awk '$2 == "T" && $3 !~ /_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' >"$work/exported" # private: no interface
[ "$(wc -l <"$work/exported")" -gt 100 ] || fail "few symbols: $(cat "$work/exported")"
missing=$(sort -u "$work/exported" | grep -vxF -f "$work/unlisted" | grep -vxF -f "$work/names")
[ -z "$missing" ] || fail "no manual page for: $missing"

# What stands in a header arrives in the page.
page=$pages/openetw_error.3
"$manual" names "$source/include/openetw/error.h" | grep -qx openetw_error_name || fail "names of error.h"
grep -q 'const char \*openetw_last_error_text(void);' "$page" || fail "the prototype is missing"
grep -q 'openetw_error_text(code)' "$page" || fail "the example is missing"
"$manual" names "$source/include/etw/evntrace.h" "$source/include/etw/evntrace_calls.h" | grep -qx StartTrace ||
	fail "StartTraceW is not found as StartTrace"
[ $failed -eq 0 ] && echo "$(wc -l <"$work/names") names in $(ls "$pages"/*.3 | wc -l) pages"
exit $failed
