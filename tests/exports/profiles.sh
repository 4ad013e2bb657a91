# SPDX-License-Identifier: MIT
# pprof, speedscope, folded: the stacks of samples, or of events where no samples are selected.
. "$(dirname "$0")/install.sh"
check() {
	openetw dump -q --json --stacks "$1" >"$T/any" || fail "dump $1"
	for kind in pprof speedscope folded; do
		if grep -q '"stack":\|PerfInfo/SampleProf' "$T/any"; then
			exported $kind "$1" "$T/p"
			node "$EXPORTS/profiles.mjs" $kind "$T/p" "$T/dump" "$T/summary" || fail "$kind of $1"
		else
			rm -f "$T/p"
			run_status 1 openetw export "$1" --as $kind -o "$T/p"
			says 'no events with call stacks' "$T/err" "what is missing"
			[ ! -e "$T/p" ] && [ ! -e "$T/p.partial" ] || fail "a file of nothing"
		fi
	done
}
each_trace check
# samples left out by the selection: the stacks of the others
f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	exported folded "$f" "$T/p" -p Microsoft-Windows-Kernel-File
	node "$EXPORTS/profiles.mjs" folded "$T/p" "$T/dump" "$T/summary" || fail "events of a provider"
fi
