# SPDX-License-Identifier: MIT
# Every verb that reads traces reads them in archives, too: it prints what it prints for the plain file.
. "$(dirname "$0")/lib.sh"
A=$(cd "$(dirname "$0")/../corpus/archives" && pwd)
cp "$A/plain.etl" "$T/x.etl"
cd "$T" || exit 1

cp "$A/two.zip" x.zip
if ! openetw dump -q x.zip >out 2>err; then # a build without libarchive
	says "libarchive-dev" err "what to install"
	says "unpack it first" err "what to do"
	skip "this build has no libarchive: $(cat err)"
fi

# same VERB WORDS…: the word FILE stands for the trace
same() {
	openetw $(echo "$*" | sed 's/FILE/x.etl/g') >plain.out 2>plain.err </dev/null
	wanted=$?
	for archive in two.zip small.etl.gz lzx.cab one.7z two.tar.xz; do
		cp "$A/$archive" "x.${archive##*.}"
		run_status $wanted openetw $(echo "$*" | sed "s/FILE/x.${archive##*.}/g")
		sed "s/x\.${archive##*.}/x.etl/g; s/\"bytes\":[0-9]*//" out >packed.out
		sed -i 's/"bytes":[0-9]*//' plain.out
		[ ! -s made ] || mv made made.packed
		cmp -s plain.out packed.out || fail "$* of $archive: $(diff plain.out packed.out | head -5)"
	done
}
same dump FILE
same dump --json --stacks FILE
same stats FILE
same info FILE --json
same report FILE
same tracefmt -nosummary FILE -displayonly
same xperf -i FILE -a tracestats
same xperf -i FILE -a process
same wevtutil qe /lf FILE
for verb in "merge x.gz -o made" "relog x.gz -o made" "tracerpt x.gz -o made -y" "xperf -merge x.gz made" "wpr -merge x.gz made" \
	"xperf -i x.gz -o made"; do
	rm -f made
	run_status 0 openetw $verb
	[ -s made ] || fail "$verb made nothing: $(cat err)"
	! openetw info --json made 2>/dev/null | grep -q /proc/self || fail "$verb: the path of a descriptor is in the file"
done
run_status 0 openetw merge x.gz x.etl -o made
[ "$(openetw dump -q made | wc -l)" -eq "$((2 * $(openetw dump -q x.etl | wc -l)))" ] || fail "merge of both: $(openetw dump -q made | wc -l)"

# Two archives of one name are two archives: what was unpacked belongs to the bytes, not to the name.
run_status 0 openetw dump -q x.zip x.gz x.zip
[ "$(wc -l <out)" -eq "$((3 * $(openetw dump -q x.etl | wc -l)))" ] || fail "three files: $(wc -l <out)"

# What cannot be read is named, with the name that the user gave.
head -c 9000 "$A/stored.gz" >cut.gz
run_status 1 openetw dump -q cut.gz
[ -s out ] || fail "nothing of a cut archive was shown"
says "cut.gz: the archive is damaged or cut" err "cut archive"
run_status 1 openetw merge cut.gz -o made
says "cut.gz: the archive is damaged or cut" err "merge of a cut archive"
printf 'PK\003\004nonsense' >bad.zip
for verb in "dump bad.zip" "stats bad.zip" "info bad.zip" "report bad.zip" "merge bad.zip -o no" "relog bad.zip -o no" \
	"tracerpt bad.zip -o no -y" "xperf -i bad.zip -a process"; do
	run_status 1 openetw $verb
	says "cannot read bad.zip, a zip archive" err "$verb"
	[ ! -e no ] || fail "$verb left a file"
done
cp x.etl readme.txt
gzip -c readme.txt >readme.gz # a name that ends in .etl is not needed where there is but one
run_status 0 openetw dump -q readme.gz
head -c 3000000 /dev/zero | gzip -c >zeros.gz
run_status 1 openetw dump -q zeros.gz
says "cannot open zeros.gz: at byte 54" err "an archive without a trace"
run_status 1 openetw merge x.etl zeros.gz -o no
says "zeros.gz: not a trace" err "merge of an archive without a trace"
! grep -q /proc/self err || fail "the path of a descriptor is shown: $(cat err)"
if [ -n "$HAVE_PYTHON" ]; then
	python3 -c '
import zipfile
d = open("x.etl", "rb").read()
z = zipfile.ZipFile("many.zip", "w")
z.writestr("../../evil.etl", d); z.writestr("/tmp/openetw-evil.etl", d); z.writestr("c.ETL", d)'
	run_status 0 openetw dump -q many.zip
	says "many.zip has 3 traces; only the first is read: ../../evil.etl" err "several traces"
	[ ! -e /tmp/openetw-evil.etl ] && [ ! -e ../evil.etl ] && [ ! -e ../../evil.etl ] || fail "a member got its name"
fi
# Nothing that was unpacked has a name.
ls | sort >after
for f in $(cat after); do
	case $f in
	x.* | *.out | *.err | out | err | after | made* | cut.gz | bad.zip | readme.* | zeros.gz | many.zip | run | root | config | state | data) ;;
	*) fail "there is a file $f" ;;
	esac
done
