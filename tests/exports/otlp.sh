# SPDX-License-Identifier: MIT
# otlp, otlp-json: log records that protobufjs and JSON decode to the events of dump.
. "$(dirname "$0")/install.sh"
check() {
	for kind in otlp otlp-json; do
		exported $kind "$1" "$T/p"
		node "$EXPORTS/otlp.mjs" $kind "$T/p" "$T/dump" "$T/summary" || fail "$kind of $1"
	done
}
each_trace check
