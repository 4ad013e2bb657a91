# SPDX-License-Identifier: MIT
# The examples of docs/filters.md do what stands behind them: find so many events, are refused, or make that mistake.
. "$(dirname "$0")/lib.sh"
DOC=$(cd "$(dirname "$0")/../.." && pwd)/docs/filters.md
cd "$T" || exit 1
PATH=$SAMPLES:$PATH
for try in 1 2 3 4 5; do
	line=$(grep '^openetw run -o hello.etl' "$DOC") || fail "no line that records"
	sh -c "$line" >out 2>err || fail "'$line': $(cat err)"
	[ "$(openetw dump -q hello.etl | wc -l)" -ne 18 ] || break
	[ "$try" -lt 5 ] || fail "in $try tries not all 18 events were recorded"
done
grep '^openetw .*#' "$DOC" >lines
[ "$(grep -c . lines)" -ge 36 ] || fail "the examples: $(cat lines)"
while IFS= read -r line; do
	what=${line##*# }
	line=${line%#*}
	case $what in
	[0-9]*)
		# What is recorded on a very busy machine may begin too late, as above.
		for try in 1 2 3 4 5; do
			sh -c "$line" >out 2>err </dev/null
			status=$?
			case $line in
			'openetw run '*)
				[ "$status" -eq 0 ] || fail "'$line': $(cat err)"
				file=$(printf "%s" "$line" | sed 's/.*-o \([a-z]*\.etl\).*/\1/')
				openetw dump -q "$file" >out
				;;
			*) break ;;
			esac
			[ "$(grep -c . out)" -ne "$what" ] || break
		done
		expect "$line ($(cat err))" "$(grep -c . out)" "$what"
		;;
	refused)
		sh -c "$line" >out 2>err </dev/null && fail "'$line' was not refused"
		says 'column [0-9]*: the session cannot evaluate' err "$line"
		;;
	*)
		sh -c "$line" >out 2>err </dev/null && fail "'$line' was no mistake"
		says "$what" err "$line"
		says 'column [0-9]' err "$line"
		;;
	esac
done <lines
# a regular expression that takes too long ends, and that is said
for op in '=~' '!~'; do
	run_status 1 openetw dump --filter "Text $op /^(.|.|.|.|.|.)*[!?]\$/" hello.etl
	says 'takes too long: 3 values COULD NOT BE MATCHED' err "$op"
	[ ! -s out ] || fail "what could not be matched passes: $(cat out)"
done
