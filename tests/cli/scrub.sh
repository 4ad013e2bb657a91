# SPDX-License-Identifier: MIT
# scrub: no word of a text is left, the same word becomes the same other word, and the trace is otherwise as it was.
. "$(dirname "$0")/lib.sh"

# planted secrets in a recording of this tree's own provider
record_hello "$T/hello.etl" 20
run_status 0 openetw scrub "$T/hello.etl" -o "$T/clean.etl"
says 'texts: their words are pseudonyms' "$T/err" "what was taken"
says 'OrderLine: Article' "$T/err" "the field it was in"
openetw dump -q --json "$T/hello.etl" >"$T/before"
openetw dump -q --json "$T/clean.etl" >"$T/after"
[ "$(wc -l <"$T/before")" -eq "$(wc -l <"$T/after")" ] || fail "other events"
cat >"$T/compare.py" <<'PY'
import json, re, sys
before, after, raw = [json.loads(l) for l in open(sys.argv[1])], [json.loads(l) for l in open(sys.argv[2])], open(sys.argv[3], "rb").read()
# Names of values of a list are the schema's words, and so are the fields': an export of a schema is no secret.
def texts(v):
    if isinstance(v, dict):
        return [t for i in v.values() for t in texts(i)]
    if isinstance(v, list):
        return [t for i in v for t in texts(i)]
    return [v] if isinstance(v, str) else []
key = lambda e: (e["meta"]["time"], e["meta"]["provider"], e["meta"]["event"], e["meta"].get("pid", -1), e["meta"]["cpu"])
assert sorted(map(key, before)) == sorted(map(key, after)), "times, names, processes"
names, words = {}, lambda s: re.findall(r"[A-Za-z0-9_]+", s)
for b, a in zip(before, after):
    if key(b) != key(a):
        continue
    b.pop("meta"), a.pop("meta")
    assert list(b) == list(a), "fields"
    for x, y in zip(texts(b), texts(a)):
        if not x.isascii():
            assert y.isascii(), (x, y)
            continue
        assert len(x) == len(y) or "S-1-" in x or "." in x or ":" in x, (x, y)
        if "S-1-" in x: # identities are numbers where they are no text
            continue
        for p, q in zip(words(x), words(y)):
            if p != q and len(p) > 4:
                assert names.setdefault(p.lower(), q.lower()) == q.lower(), (p, q, names[p.lower()])
for word in sys.argv[4:]:
    for form in (word.encode(), word.encode("utf-16-le"), word.lower().encode(), word.lower().encode("utf-16-le")):
        assert form not in raw, word
print(len(names), "words were replaced")
PY
py 'exec(open(__import__("sys").argv.pop(1)).read())' "$T/compare.py" "$T/before" "$T/after" "$T/clean.etl" teapot \
	>"$T/py" 2>&1 || fail "$(tail -2 "$T/py")"
grep -q teapot "$T/before" || fail "the secret was not there before"

# --keep leaves a field, --field takes a number; --key makes it repeatable
run_status 0 openetw scrub "$T/hello.etl" -o "$T/kept.etl" --keep Article --field Amount
[ "$(openetw dump -q --json "$T/kept.etl" | grep -c teapot)" -eq "$(grep -c teapot "$T/before")" ] || fail "--keep"
! openetw dump -q --json "$T/kept.etl" | grep -q '"Amount":[1-9]' || fail "--field"
for n in 1 2; do
	run_status 0 openetw scrub "$T/hello.etl" -o "$T/key$n.etl" --key secret -q
	openetw dump -q "$T/key$n.etl" >"$T/key$n"
done
cmp -s "$T/key1" "$T/key2" || fail "--key: other pseudonyms"
! cmp -s "$T/key1" "$T/after" || fail "pseudonyms do not follow from the key"

# kernel records: names, command lines, identities, addresses
f=$CORPUS/perfview/net.4.5.2.x86.etl
if [ -e "$f" ]; then
	run_status 0 openetw scrub "$f" -o "$T/kernel.etl" --json
	json_lines "$T/err"
	openetw dump -q --json "$f" >"$T/before"
	openetw dump -q --json "$T/kernel.etl" >"$T/after"
	py 'exec(open(__import__("sys").argv.pop(1)).read())' "$T/compare.py" "$T/before" "$T/after" "$T/kernel.etl" \
		Test.x86.exe MsMpEng GetDatePart perfview.exe >"$T/py" 2>&1 || fail "$(tail -2 "$T/py")"
	for what in UserSID daddr saddr; do
		openetw dump -q --json -F "$what" "$f" | grep -o "\"$what\":\"[^\"]*\"" | sort -u >"$T/a"
		openetw dump -q --json -F "$what" "$T/kernel.etl" | grep -o "\"$what\":\"[^\"]*\"" | sort -u >"$T/b"
		[ "$(wc -l <"$T/a")" -eq "$(wc -l <"$T/b")" ] || fail "$what: not one for one"
		left=$(comm -12 "$T/a" "$T/b" | grep -v '"S-1-5-[0-9]*"\|"127\.\|"::1"\|"::"\|"0\.0\.0\.0"')
		[ -z "$left" ] || fail "$what: $left is left"
	done
	openetw report "$T/kernel.etl" --folded "$T/folded" --no-inlines >"$T/out" 2>&1 || fail "its stacks are gone"
	[ "$(awk '{n += $NF} END {print n}' "$T/folded")" -eq 6681 ] || fail "its stacks are not all"
fi
# every file of the corpus: as many events, and scrubbing again finds nothing that it could say was missed
for f in "$CORPUS"/tx/*.etl "$CORPUS"/krabsetw/*.etl "$CORPUS"/sawbuck/*.etl "$CORPUS"/etl-parser/*.etl "$CORPUS"/demikernel/*.etl; do
	[ -e "$f" ] || continue
	run_status 0 openetw scrub "$f" -o "$T/x.etl" --force -q
	[ "$(openetw dump -q "$f" | wc -l)" -eq "$(openetw dump -q "$T/x.etl" | wc -l)" ] || fail "$f lost events"
done

# names of files inside an EventSource's manifest, which otherwise stays
f=$CORPUS/tx/BondEtwSample-8e8c94d6.etl
if [ -e "$f" ]; then
	run_status 0 openetw scrub "$f" -o "$T/x.etl" --force -q
	grep -aq 'resourceFileName="MSOpenTech' "$f" && ! grep -aq 'FileName="MSOpenTech' "$T/x.etl" || fail "a name in a manifest"
	grep -aq '<provider name="MSOpenTech' "$T/x.etl" || fail "the manifest is gone"
fi

# mistakes; an input stays, and nothing half done is left
run_status 2 openetw scrub "$T/hello.etl"
run_status 2 openetw scrub
run_status 1 openetw scrub /no/such.etl -o "$T/y.etl"
run_status 1 openetw scrub "$T/hello.etl" -o "$T/hello.etl"
[ ! -e "$T/y.etl" ] && [ ! -e "$T/y.etl.partial" ] || fail "a file of nothing"
