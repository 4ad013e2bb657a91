# SPDX-License-Identifier: MIT
# scripts/check-facts finds a GUID that is written out again, in each spelling, and none in comments.
set -u
tree=$1
T=$(mktemp -d /tmp/openetw-facts-XXXXXX)
trap 'rm -rf "$T"' EXIT
fail() {
	echo "FAIL: $*" >&2
	exit 1
}
mkdir -p "$T/scripts" "$T/include/etw" "$T/data" "$T/src/etwd" "$T/tools" "$T/winrt"
cp "$tree/scripts/check-facts" "$T/scripts"
cp -r "$tree/include/etw/values" "$T/include/etw"
cp -r "$tree/data/catalogue" "$T/data"
"$T/scripts/check-facts" >"$T/out" || fail "there is nothing to find: $(cat "$T/out")"
cat >"$T/src/etwd/some.c" <<'END'
/* 6a399ae0-4bc6-4de9-870b-3657f8947e7e */
static const char *text = "6A399AE0-4bc6-4de9-870b-3657f8947e7e";
static const GUID numbers = {0x6a399ae0, 0x4bc6, 0x4de9,
			     {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};
static const uint8_t bytes[] = {0xe0, 0x9a, 0x39, 0x6a, 0xc6, 0x4b, 0xe9, 0x4d,
				0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e};
bool first = word == 0x6a399ae0;
static const char *clr = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4";
static const char *own = "00112233-4455-6677-8899-aabbccddeeff";
END
cat >"$T/tools/other.c" <<'END'
static const char *own = "00112233-4455-6677-8899-aabbccddeeff";
END
"$T/scripts/check-facts" >"$T/out" && fail "nothing was found"
for found in 'some.c:2: .*ETW_GUID_CLASS_LOST_EVENT' 'some.c:3: .*ETW_GUID_CLASS_LOST_EVENT' \
	'some.c:5: .*ETW_GUID_CLASS_LOST_EVENT' 'some.c: 0x6a399ae0 is the first word' \
	'some.c:8: .*DotNETRuntime' 'other.c:1: .*stands in src/etwd/some.c:9'; do
	grep -q "$found" "$T/out" || fail "no '$found': $(cat "$T/out")"
done
[ "$(wc -l <"$T/out")" -eq 6 ] || fail "more than that: $(cat "$T/out")"
