# SPDX-License-Identifier: MIT
# The index of a trace: where it lies, when it is made anew, who may read it.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
openetw run -o a.etl -p OpenETW.Sample.Hello -- $SAMPLES/hello-tracelogging 4 1 >out 2>err || fail "run: $(cat err)"

index() { openetw index "$@" >out 2>err || fail "index $*: $(cat err)"; }
reused() { openetw index --json "$1" | grep -q '"reused":true'; }

index --no-file a.etl
[ ! -e a.etl.idx ] || fail "--no-file wrote a file"
index a.etl
[ -f a.etl.idx ] || fail "no file beside the trace"
reused a.etl || fail "the one that was there was not taken"

# ---- it is of this trace or it is made anew
touch -d '2020-01-01' a.etl
reused a.etl && fail "an index of an older trace was taken"
reused a.etl || fail "the new one was not kept"
printf 'junk' >a.etl.idx
reused a.etl && fail "junk was taken for an index"
dd if=/dev/zero of=a.etl.idx bs=4096 count=1 conv=notrunc 2>/dev/null
reused a.etl && fail "a damaged index was taken"
ls -A | grep -q '^\.a\.etl' && fail "half an index was left: $(ls -A)"

# ---- for whom
chmod 600 a.etl
index -f a.etl
expect "mode of the index of a private trace" "$(stat -c %a a.etl.idx)" 600
chmod 644 a.etl
index -f a.etl
expect "mode of the index of a public trace" "$(stat -c %a a.etl.idx)" 644

# ---- a folder that cannot be written to
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T"
	mkdir cache && chown 65534 cache
	rm -f a.etl.idx
	XDG_CACHE_HOME=$T/cache setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$(command -v openetw)" index a.etl >out 2>err || fail "index of a trace in another user's folder: $(cat err)"
	[ ! -e a.etl.idx ] || fail "another user wrote into the folder"
	expect "files in the cache" "$(ls cache/openetw | wc -l)" 1
fi
[ ! -e a.etl.idx.lanes ] || fail "a file of lanes of a trace without switches"

openetw index nothing.etl >out 2>err && fail "a file that is not there"
grep -q 'nothing.etl: cannot open it' err || fail "which file, and why: $(cat err)"
openetw index "$0" >out 2>err && fail "a script was taken for a trace"
grep -q 'index.sh: ' err || fail "no trace: $(cat err)"

# ---- made as soon as the recording ends
run_status 0 openetw run --index -o made.etl -p OpenETW.Sample.Hello -- "$SAMPLES/hello-tracelogging" 3
[ -f made.etl.idx ] || fail "run --index made no index"
reused made.etl || fail "the index that run --index made was not taken"
run_status 0 openetw start kept -o kept.etl -p OpenETW.Sample.Hello
"$SAMPLES/hello-tracelogging" 3 >/dev/null
run_status 0 openetw stop --index kept
reused kept.etl || fail "the index that stop --index made was not taken"
