# SPDX-License-Identifier: MIT
# mcp: a client of the Model Context Protocol that others wrote calls every tool, over files from Windows; and what only bytes
# on a pipe can say.
. "$(dirname "$0")/../cli/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl
printf '' | openetw mcp "$N" 2>"$T/err" || {
	grep -q 'libjson-c' "$T/err" || fail "mcp does not start: $(cat "$T/err")"
	skip "$(cat "$T/err")"
}
run_status 2 openetw mcp
run_status 1 openetw mcp "$T/no.etl"
run_status 1 openetw mcp --root "$N"

# ---- bytes ---------------------------------------------------------------------------------------------
talk() { # talk LINES…: what the server answers
	printf '%s\n' "$@" | openetw mcp "$N" 2>"$T/err"
}
hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"VERSION","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
version() { echo "$hello" | sed "s/VERSION/$1/"; }
for v in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
	talk "$(version $v)" >"$T/out"
	says "\"protocolVersion\":\"$v\"" "$T/out" "version $v"
done
talk "$(version 1999-01-01)" >"$T/out"
says '"protocolVersion":"2025-11-25"' "$T/out" "a version that nobody knows"
modern='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
talk '{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{'"$modern"'}}' \
	'{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{'"$modern"',"name":"open_trace"}}' >"$T/out"
says '"supportedVersions":\["2026-07-28","2025-11-25"' "$T/out" "discover"
says '"id":"c","result":{"resultType":"complete"' "$T/out" "a call without a handshake"
says '"isError":false' "$T/out" "a call without a handshake"
talk '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2042-01-01"}}}' >"$T/out"
says '"code":-32022' "$T/out" "a version that is not spoken"
says '"supported":\["2026-07-28"' "$T/out" "a version that is not spoken"
talk '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' >"$T/out"
says 'initialize first' "$T/out" "no handshake"
wrong() { # wrong CODE LINE
	talk "$(version 2025-06-18)" "$2" '{"jsonrpc":"2.0","id":"last","method":"ping"}' >"$T/out"
	says "\"code\":$1," "$T/out" "$2"
	says '"id":"last","result":{}' "$T/out" "the server goes on after $2"
	[ -z "$HAVE_PYTHON" ] || json_lines "$T/out"
}
wrong -32700 '{"jsonrpc":'
wrong -32700 'nothing'
wrong -32700 "$(printf '{"jsonrpc":"2.0","id":1,"method":"\377"}')"
wrong -32700 "$(printf '%0100d' 0 | tr 0 '[')"
wrong -32600 '[]'
wrong -32600 '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'
wrong -32600 '"text"'
wrong -32600 '{"jsonrpc":"1.0","id":1,"method":"ping"}'
wrong -32600 '{"jsonrpc":"2.0","id":{},"method":"ping"}'
wrong -32600 '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'
wrong -32600 '{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}'
wrong -32600 '{"jsonrpc":"2.0","id":1,"method":7}'
wrong -32600 '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'
wrong -32601 '{"jsonrpc":"2.0","id":1,"method":"resources/subscribe"}'
for uri in '' /etc/passwd file:///etc/passwd openetw:// openetw:///etc/passwd 'openetw:///%' 'openetw:///a%0' 'openetw:///a%00' openetw:///..; do
	wrong -32002 '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"'"$uri"'"}}'
done
for cursor in '"x"' '""' 7 '"position-"' '"position-0"' '"position-01"' '"position--1"' '"position-9999999999"' '"position-1 "'; do
	wrong -32602 '{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":'"$cursor"'}}'
done
wrong -32602 '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"who"}}'
wrong -32602 '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"what-changed","arguments":{"trce":"x"}}}'
wrong -32602 '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sqll"}}'
says "did you mean 'sql'" "$T/out" "the nearest tool"
wrong -32602 '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sql","arguments":[]}}'
{
	version 2025-06-18
	head -c 3000000 /dev/zero | tr '\0' x
	printf '\n{"jsonrpc":"2.0","id":"last","method":"ping"}\n'
} | openetw mcp "$N" >"$T/out" 2>"$T/err"
says 'longer than 1048576' "$T/out" "a line of three megabytes"
says '"id":"last","result":{}' "$T/out" "after a line of three megabytes"
talk "$(version 2025-03-26)" '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_traces"}}]' >"$T/out"
says '^\[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":' "$T/out" "a batch of 2025-03-26"
[ "$(talk "$(version 2025-06-18)" '{"jsonrpc":"2.0","method":"notifications/unknown"}' '{"jsonrpc":"2.0","id":5,"result":{}}' | wc -l)" -eq 1 ] ||
	fail "a notification or response was answered"

# At the end of the input the process of the tools closes its traces: what it read of a field is kept beside the index.
mkdir "$T/kept"
cp "$N" "$T/kept/n.etl"
run_status 0 openetw index "$T/kept/n.etl"
[ -e "$T/kept/n.etl.idx" ] || fail "no index beside the trace"
# A trace that is named by a descriptor has its index there, too.
rm "$T/kept/n.etl.idx"
run_status 0 openetw index /proc/self/fd/7 7<"$T/kept/n.etl"
[ -e "$T/kept/n.etl.idx" ] || fail "no index beside a trace that was named by a descriptor"
printf '%s\n' "$(version 2025-06-18)" \
	'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"overview","arguments":{"field":"ClrInstanceID","to":"8s"}}}' |
	openetw mcp "$T/kept/n.etl" 2>"$T/err" >"$T/out"
says '"isError":false' "$T/out" "values of a field"
[ -e "$T/kept/n.etl.idx.fields" ] || fail "columns of fields were not kept: $(ls "$T/kept")"

# ---- files that may not be read ----------------------------------------------------------------------------
mkdir -p "$T/in/deep" "$T/out-of-it"
cp "$CORPUS/perfview/primitive-types.etl" "$T/in/deep/p.etl"
cp "$CORPUS/perfview/primitive-types.etl" "$T/out-of-it/secret.etl"
ln -s "$T/out-of-it/secret.etl" "$T/in/link.etl"
ln -s "$T/out-of-it" "$T/in/folder"
opened() { # opened FILE: the answer to open_trace below $T/in
	printf '%s\n' "$(version 2025-06-18)" \
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_trace","arguments":{"files":["'"$1"'"]}}}' |
		openetw mcp --root "$T/in" 2>"$T/err" >"$T/opened"
}
for f in deep/p.etl "$T/in/deep/p.etl" deep/../deep/p.etl; do
	opened "$f"
	says '"isError":false' "$T/opened" "$f"
done
for f in link.etl folder/secret.etl ../out-of-it/secret.etl "$T/out-of-it/secret.etl" /etc/passwd deep /proc/self/mem no.etl ''; do
	opened "$f"
	says 'there is no trace' "$T/opened" "$f"
	says '"isError":true' "$T/opened" "$f"
done

printf '%s\n' "$(version 2025-06-18)" '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_traces"}}' |
	openetw mcp --root "$T/in" 2>"$T/err" >"$T/opened"
says 'deep/p.etl' "$T/opened" "the list"
! grep -q 'link.etl\|secret.etl' "$T/opened" || fail "links are listed"
# a trace that is damaged is one error, and the server goes on
head -c 3000 "$T/in/deep/p.etl" >"$T/in/half.etl"
head -c 70000 /dev/urandom >"$T/in/noise.etl"
for f in half.etl noise.etl; do
	printf '%s\n' "$(version 2025-06-18)" \
		'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_events","arguments":{"files":["'$f'"]}}}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_events","arguments":{"files":["deep/p.etl"]}}}' |
		openetw mcp --root "$T/in" 2>"$T/err" >"$T/opened"
	says '"id":1,' "$T/opened" "$f"
	says '"id":2,.*"matched":5,' "$T/opened" "after $f"
done
# nobody wrote beside the traces
[ "$(ls "$T/in" "$T/in/deep" | grep -c idx)" -eq 0 ] || fail "an index of a small trace"

# ---- the tools that are other verbs read what was looked up, whatever its name leads to by then --------------------
# A program that starts a verb hands it the open file of its last word.
run_status 0 openetw report --json "$N"
mv "$T/out" "$T/plain"
OPENETW_HELD=7 run_status 0 openetw report --json -- /no/such.etl 7<"$N"
cmp -s "$T/out" "$T/plain" || fail "report of a file that was handed over"
OPENETW_HELD=7 run_status 0 openetw export --as json -o "$T/held.json" /no/such.etl 7<"$T/in/deep/p.etl"
[ "$(wc -l <"$T/held.json")" -eq 5 ] || fail "export of a file that was handed over"
for held in 8 2 7, 7,8 x -7 ''; do
	OPENETW_HELD=$held run_status 2 openetw report -- /no/such.etl 7<"$N"
	says 'does not name open descriptors' "$T/err" "OPENETW_HELD=$held"
done
# A name that leads now to a file that may be read, now to one that may not: the second one is never read.
mkdir "$T/swap"
cp "$T/in/deep/p.etl" "$T/swap/inside"
cp "$N" "$T/out-of-it/other.etl"
ln "$T/swap/inside" "$T/swap/s.etl"
swap() {
	while [ -d "$T/swap" ]; do
		ln -s "$T/out-of-it/other.etl" "$T/swap/link"
		mv -T "$T/swap/link" "$T/swap/s.etl"
		ln "$T/swap/inside" "$T/swap/link"
		mv -T "$T/swap/link" "$T/swap/s.etl"
	done
}
swap 2>/dev/null &
{
	version 2025-06-18
	for i in $(seq 24); do
		echo '{"jsonrpc":"2.0","id":'"$i"',"method":"tools/call","params":{"name":"report","arguments":{"files":["s.etl"],"name":"summary"}}}'
		sleep 0.02
	done
} | openetw mcp --root "$T/swap" 2>"$T/err" >"$T/opened"
mv "$T/swap" "$T/swapped"
wait
[ "$(grep -c '"id":' "$T/opened")" -eq 25 ] || fail "calls without an answer"
! grep -q 'Test.x86.exe' "$T/opened" || fail "report read a file that may not be read"

# ---- a client ----------------------------------------------------------------------------------------------
command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
MODULES=$OPENETW_BUILD/tests/mcp_client
mkdir -p "$MODULES"
(
	flock 9
	if ! cmp -s "$HERE/package-lock.json" "$MODULES/installed"; then
		cp "$HERE/package.json" "$HERE/package-lock.json" "$MODULES/" &&
			(cd "$MODULES" && npm ci --ignore-scripts --no-audit --no-fund) >"$MODULES/npm.log" 2>&1 &&
			cp "$HERE/package-lock.json" "$MODULES/installed"
	fi
) 9>"$MODULES/lock" || skip "npm cannot install the client: $(grep -m1 'npm .*ERR\|npm error' "$MODULES/npm.log")"
cp "$HERE"/*.mjs "$MODULES/"
mkdir "$T/exports"
node "$MODULES/client.mjs" "$OPENETW_BUILD/tools/openetw" "$CORPUS" "$T/exports" || fail "the client"
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
	echo "the client that speaks 2026-07-28 needs Node 20: it is not tried"
	exit 0
fi
node "$MODULES/modern.mjs" "$OPENETW_BUILD/tools/openetw" "$CORPUS" || fail "the client of 2026-07-28"
