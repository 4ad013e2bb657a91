# SPDX-License-Identifier: MIT
# perfetto: packets, decoded by protobufjs, say of each event what dump says.
. "$(dirname "$0")/install.sh"
check() {
	exported perfetto "$1" "$T/p"
	node "$EXPORTS/perfetto.mjs" "$T/p" "$T/dump" "$T/summary" || fail "$1"
}
each_trace check

# a numeric field as a counter; fields that are no numbers are counted as such
run_status 0 openetw export "$T/hello.etl" --as perfetto -o "$T/c" --counter Amount -e OrderLine
run_status 0 openetw export "$T/hello.etl" --as perfetto -o "$T/n" --counter Number -e Order
[ "$(grep -c 'Order.Number' "$T/n")" -eq 1 ] || fail "no counter"
