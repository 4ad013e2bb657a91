# SPDX-License-Identifier: MIT
# Every file of the corpus through every kind of export: it is written, or the reason that there is nothing to write is said; and
# kinds whose lines or tables are events have as many as dump. Small files alone, unless OPENETW_EVERY_EXPORT is set.
. "$(dirname "$0")/../cli/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
most=+0c
[ -n "${OPENETW_EVERY_EXPORT:-}" ] || most=-300k
kinds="perfetto pprof speedscope folded gecko otlp otlp-json ctf etl csv json xml pcapng"
openetw export --as parquet -o "$T/p" "$CORPUS/perfview/primitive-types.etl" >/dev/null 2>&1 && kinds="$kinds parquet arrow"
done_=0
find -L "$CORPUS" -name '*.etl' -size $most | sort >"$T/files"
[ "$(wc -l <"$T/files")" -gt 5 ] || fail "the corpus has few files"
while read -r f; do
	events=$(openetw dump -q --json "$f" 2>"$T/err" | wc -l)
	for kind in $kinds; do
		rm -rf "$T/o"
		openetw export -q --as $kind -o "$T/o" "$f" >"$T/out" 2>"$T/err" </dev/null
		status=$?
		if [ $status -ne 0 ]; then
			case $kind in
			pprof | speedscope | folded) says 'no samples of processors, and no events with call stacks' "$T/err" "$kind of $f" ;;
			pcapng) says 'no packets are selected' "$T/err" "$kind of $f" ;;
			*) fail "$kind of $f ended with $status: $(cat "$T/err")" ;;
			esac
			[ ! -e "$T/o" ] || fail "$kind of $f left a file"
			continue
		fi
		[ -s "$T/o" ] || fail "$kind of $f wrote nothing"
		case $kind in
		json) there=$(wc -l <"$T/o") ;;
		xml) there=$(grep -c '<Event ' "$T/o") ;;
		etl) there=$(openetw dump -q --json "$T/o" 2>"$T/err" | wc -l) ;;
		*) there=$events ;;
		esac
		[ "$there" -eq "$events" ] || fail "$kind of $f has $there events, not $events"
		done_=$((done_ + 1))
	done
done <"$T/files"
echo "$done_ exports of $(wc -l <"$T/files") files"
