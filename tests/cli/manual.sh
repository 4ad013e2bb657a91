# SPDX-License-Identifier: MIT
# Completion scripts and manual pages come from the verbs' tables and work.
. "$(dirname "$0")/lib.sh"
verbs=$(openetw help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for verb in $verbs; do
	run_status 0 openetw man "$verb"
	says '^.TH OPENETW' "$T/out" "man $verb"
	says '^.SH EXIT STATUS' "$T/out" "man $verb"
	if command -v groff >/dev/null; then
		groff -K utf8 -man -Tutf8 -ww -z "$T/out" 2>"$T/err"
		[ ! -s "$T/err" ] || fail "man $verb: $(cat "$T/err")"
	fi
done
run_status 0 openetw man
for verb in $verbs; do
	says "openetw..$verb" "$T/out" "the overview names $verb"
done

for shell in bash zsh fish; do
	openetw completion $shell >"$T/$shell" || fail "completion $shell"
	command -v $shell >/dev/null || continue
	$shell -n "$T/$shell" || fail "completion $shell does not parse"
done
if command -v bash >/dev/null; then
	openetw start some-session -r >/dev/null || fail "start"
	complete_of() { # complete_of WORD…: what bash offers for the last word
		bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _openetw; printf "%s\n" "${COMPREPLY[@]}"' \
			bash "$T/bash" "$@"
	}
	expect "verbs" "$(complete_of openetw sto)" "stop"
	expect "options" "$(complete_of openetw dump --filt)" "--filter"
	expect "options of a report" "$(complete_of openetw xperf -butt)" "-butterfly"
	expect "values" "$(complete_of openetw dump --format js)" "json"
	expect "sessions" "$(complete_of openetw stop some)" "some-session"
	# Whoever starts a session chooses its name: no shell runs what stands in it.
	hostile="some\$(touch\${IFS}$T/ran)"
	openetw start "$hostile" -r >/dev/null || fail "start"
	expect "a hostile session" "$(complete_of openetw stop 'some$')" "$hostile"
	[ ! -e "$T/ran" ] || fail "completion ran a command in the name of a session"
	openetw stop "$hostile" >/dev/null
	expect "a filter" "$(complete_of openetw dump --filter 'pid == 7 and level <= e')" "pid == 7 and level <= error"
	export XDG_DATA_HOME="$T/data"
	openetw wevtutil im "$(dirname "$0")/../../samples/manifest-style.man" >/dev/null || fail "wevtutil im"
	expect "a field of a manifest" "$(complete_of openetw start x -p OpenETW.Sample.Manifest:::stack --filter 'id == 1 and Num')" \
		"id == 1 and Number"
	expect "a field of a provider in the filter" "$(complete_of openetw dump --filter 'provider == OpenETW.Sample.Manifest and Num')" \
		"provider == OpenETW.Sample.Manifest and Number"
	expect "a provider" "$(complete_of openetw dump --filter 'provider == OpenETW.Sample.M')" "provider == OpenETW.Sample.Manifest"
	expect "a unit" "$(complete_of openetw dump --filter 'WaitedMs > 10u')" "WaitedMs > 10us"
	expect "a column of monitor" "$(complete_of openetw monitor --filter 'dur')" "duration"
	expect "no property in monitor" "$(complete_of openetw monitor --filter 'keyw')" ""
	expect "a filter in quotes" "$(complete_of openetw start --filter "'eve")" "event"
	expect "shells" "$(complete_of openetw completion z)" "zsh"
	# A trace in the line, in front of the filter or behind it: what there is in it.
	mkdir "$T/a folder"
	cp "$(dirname "$0")/../../samples/windows/primitive-types.etl" "$T/a folder/p.etl"
	for typed in "'$T/a folder/p.etl'" "$(echo "$T" | sed 's|/|//|')/a\\ folder/p.etl"; do
		expect "a field of a trace" "$(complete_of openetw dump "$typed" --filter 'pid == 1 and int16_t')" "pid == 1 and int16_type"
		expect "a provider of a trace" "$(complete_of openetw stats -F 'provider == sol' | head -1)" ""
		expect "a provider of a trace" "$(complete_of openetw stats "$typed" -F 'provider == sol')" "provider == solar_system"
		expect "an event of a trace" "$(complete_of openetw dump -q -o out.txt "$typed" --filter 'event == Prim')" \
			"event == PrimitiveTypesTest"
	done
	expect "a trace behind the filter" \
		"$(bash -c '. "$1"; COMP_WORDS=(openetw dump --filter uint16_t "$2"); COMP_CWORD=3; _openetw; echo "${COMPREPLY[@]}"' \
			bash "$T/bash" "'$T/a folder/p.etl'")" "uint16_type"
	expect "no trace" "$(complete_of openetw dump "$T/bash" --filter 'int16_t')" ""
	if [ -n "$HAVE_PYTHON" ]; then # as a person types it
		expect "keys" "$(python3 "$(dirname "$0")/completion_keys.py" "$T/bash" \
			"openetw dump '$T/a folder/p.etl' --filter 'provider == sol")" "[dump][$T/a folder/p.etl][--filter][provider == solar_system]"
	fi
	openetw stop some-session >/dev/null
fi
