# SPDX-License-Identifier: MIT
# A person looks at traces in a browser: one recorded here, and some of Windows.
. "$(dirname "$0")/../cli/lib.sh"
VIEW=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null && command -v npm >/dev/null || skip "node and npm are not installed"
CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
openetw view --no-open --port 0 /nonexistent.etl >"$T/out" 2>"$T/err" </dev/null
grep -q "built without the viewer\|build is without the viewer" "$T/err" && skip "$(head -1 "$T/err")"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
modules=$OPENETW_BUILD/tests/view
mkdir -p "$modules"
(
	flock 9
	if ! cmp -s "$VIEW/package-lock.json" "$modules/installed"; then
		cp "$VIEW/package.json" "$VIEW/package-lock.json" "$modules/" &&
			(cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund) >"$modules/npm.log" 2>&1 &&
			cp "$VIEW/package-lock.json" "$modules/installed"
	fi
) 9>"$modules/lock" || skip "npm cannot install the driver of the browser: $(tail -1 "$modules/npm.log")"
cp "$VIEW"/*.mjs "$modules/"
export CHROMIUM T CORPUS
export OPENETW="$OPENETW_BUILD/tools/openetw"
export HELLO="$SAMPLES/hello-tracelogging"
record_hello "$T/app.etl" 20
evil="$T/<img src=x onerror=hacked=1>" # a program of this name, whose events hold what turns the line
cp "$HELPERS/cli/hostile_names" "$evil" &&
	openetw run -o "$T/hostile.etl" -p '{6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99}' -- "$evil" write "$T/<b>file" >"$T/out" 2>&1 </dev/null || fail "hostile names: $(cat "$T/out")"
if ! openetw record --cpu --wait --disk --file --net -o "$T/machine.etl" -- sh -c \
	'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; ls -R /usr/include >/dev/null; dd if=/dev/zero of="$T/f" bs=64k count=20 conv=fsync 2>/dev/null; sleep 0.3' \
	>"$T/out" 2>&1 </dev/null; then
	rm -f "$T/machine.etl"
	echo "without a recording of this machine: $(head -1 "$T/out")"
fi
# Two small buffers, and more events than they hold: losses, between events that are there.
openetw start lossy -o "$T/lossy.etl" -b 4K --buffers 2:2 -p OpenETW.Sample.Hello >"$T/out" 2>&1 || fail "lossy: $(cat "$T/out")"
for i in 1 2; do
	"$SAMPLES/hello-tracelogging" 10000 0 >/dev/null
done
openetw stop lossy >"$T/out" 2>&1 || fail "lossy: $(cat "$T/out")"
# The same without two of its buffers, behind the fourth.
{
	head -c 16384 "$T/lossy.etl"
	tail -c +24577 "$T/lossy.etl"
} >"$T/cut.etl"
mkdir -p "$T/home"
HOME=$T/home node "$modules/journeys.mjs" "$@" || fail "journeys"
