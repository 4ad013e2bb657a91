# SPDX-License-Identifier: MIT
# gecko: a profile by the rules of the format, with the events of dump.
. "$(dirname "$0")/install.sh"
check() {
	exported gecko "$1" "$T/p"
	node "$EXPORTS/gecko.mjs" "$T/p" "$T/dump" "$T/summary" || fail "$1"
}
each_trace check
