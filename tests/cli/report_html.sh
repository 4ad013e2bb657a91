# SPDX-License-Identifier: MIT
# report --html: one page that loads and runs nothing, whose numbers are those of the tables, whatever names are in the trace.
. "$(dirname "$0")/lib.sh"
[ -d "$CORPUS" ] || skip "no corpus in $CORPUS"
N=$CORPUS/perfview/net.4.5.2.x86.etl

page() { # page FILE: well-formed, and without what a browser would fetch or run
	py '
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.allowed = [], set("html head meta title style body h1 h2 p br svg g rect text path line div table tr th td".split())
    def handle_starttag(self, tag, attrs):
        if tag not in self.allowed: sys.exit("an element %s" % tag)
        for k, v in attrs:
            if k.startswith("on") or k in ("href", "src", "style", "xlink:href"): sys.exit("an attribute %s" % k)
        if tag not in ("meta", "br"): self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        n = len(self.open)
        self.handle_starttag(tag, attrs)
        del self.open[n:]
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag: sys.exit("not well-formed: </%s>" % tag)
p = Page()
p.feed(text)
p.close()
if p.open or not text.endswith("</html>\n"): sys.exit("the page ends early")
if re.search(r"https?://|javascript:|nan|inf\b|-nan", re.sub(r"<(text|td|title|th|h1)[^>]*>[^<]*", "", text)): sys.exit("no number, or an address")
if re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text): sys.exit("a character that no page has")' "$1" || fail "$1"
}
find "$CORPUS" -name '*.etl' | sort >"$T/files"
while read -r f; do
	run_status 0 openetw report --html "$T/page.html" --force "$f"
	page "$T/page.html"
done <"$T/files"
run_status 0 openetw report --html "$T/page.html" --force "$N"
says '<title>all, 6681 samples, 100.00 %</title>' "$T/page.html" "the samples that were not idle"
says '<title>jit!System.DateTime.get_Now, 4709 samples, \|<title>jit!System.DateTime.get_Now, 4[0-9]* samples, ' "$T/page.html" "a function with its callees"
says '<td>Test.x86.exe</td><td class="n">3644</td><td class="n">4900</td>' "$T/page.html" "samples of a process"
says '>disk read<' "$T/page.html" "a lane of the time line"
run_status 0 openetw report --html - --process 3644 --from +3s --to +4s "$N"
page "$T/out"
grep -q MsMpEng "$T/out" && fail "another process is in the page of one"
run_status 2 openetw report --html "$T/x.html" --json "$N"
run_status 2 openetw report --html "$T/x.html"
run_status 1 openetw report --html "$T/x.html" "$T/no.etl"
[ ! -e "$T/x.html" ] || fail "a page of nothing"

# Names that would be obeyed.
name='<svg onload=alert(1)>&"x'
cp "$(command -v sleep)" "$T/$name" 2>/dev/null || skip "no such file names here"
openetw record --cpu --wait -o "$T/k.etl" -- "$T/$name" 0.1 >"$T/out" 2>"$T/err" </dev/null ||
	skip "perf events are not for us here: $(head -1 "$T/err")"
run_status 0 openetw report --html "$T/k.html" "$T/k.etl"
page "$T/k.html"
says '&lt;svg onload' "$T/k.html" "the name, escaped"
