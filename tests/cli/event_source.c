/* SPDX-License-Identifier: MIT
 *
 * Behaves as an EventSource of .NET: sends its manifest in the stream, at its end, or with "first" at its beginning too. Usage:
 * event_source BUILD [first]; the builds have the same event 1 with its fields in another order ("old", "new"), or wider ("wide"). "mute-" before
 * it: the same, and the manifest is never sent.
 */
#include <windows.h>

#include <evntprov.h>
#include <stdio.h>
#include <string.h>

static const GUID shop = {0x5f0a1c7e, 0x3b52, 0x4c1d, {0x9a, 0x31, 0x6e, 0x2b, 0x80, 0x11, 0x47, 0xd2}};

static void send_manifest(REGHANDLE h, const char *fields)
{
	static unsigned char chunk[8 + 4096] = {1, 1, 0, 0x5B};
	char text[4096];
	int n = snprintf(
		text, sizeof text,
		"<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">"
		"<instrumentation xmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\"><events>"
		"<provider name=\"Test-Shop\" guid=\"{5f0a1c7e-3b52-4c1d-9a31-6e2b801147d2}\" symbol=\"Shop\">"
		"<tasks><task name=\"Sold\" value=\"65533\"/></tasks>"
		"<templates><template tid=\"T\">%s</template></templates>"
		"<events><event value=\"1\" version=\"0\" task=\"Sold\" template=\"T\"/></events></provider></events>"
		"</instrumentation></instrumentationManifest>",
		fields);
	/* in three chunks */
	EVENT_DESCRIPTOR d = {
		.Id = 0xFFFE, .Version = 1, .Opcode = 0xFE, .Task = 0xFFFE, .Keyword = 0x00FFFFFFFFFFFFFF};
	for (int i = 0; i < 3; i++) {
		int each = (n + 2) / 3, at = each * i, bytes = at + each < n ? each : n - at;
		EVENT_DATA_DESCRIPTOR data;
		chunk[4] = 3;
		chunk[6] = (unsigned char)i;
		memcpy(chunk + 8, text + at, (size_t)bytes);
		EventDataDescCreate(&data, chunk, 8 + (ULONG)bytes);
		EventWrite(h, &d, 1, &data);
	}
}

int main(int argc, char **argv)
{
	static const char price[] = "<data name=\"Price\" inType=\"win:UInt32\"/>",
			  count[] = "<data name=\"Count\" inType=\"win:UInt32\"/>",
			  wide[] = "<data name=\"Price\" inType=\"win:UInt64\"/>";
	REGHANDLE h;
	char fields[512];
	const char *build = argc > 1 ? argv[1] : "";
	int mute = strncmp(build, "mute-", 5) == 0;
	build += mute ? 5 : 0;
	ULONG seven = 7, nine = 9;
	ULONGLONG wide_nine = 9;
	EVENT_DATA_DESCRIPTOR p, c, data[2];
	EVENT_DESCRIPTOR d = {.Id = 1, .Task = 65533, .Level = 4};
	int is_wide = strcmp(build, "wide") == 0, first_count = strcmp(build, "old") == 0;
	if (is_wide) {
		EventDataDescCreate(&p, &wide_nine, sizeof wide_nine);
	} else {
		EventDataDescCreate(&p, &nine, sizeof nine);
	}
	EventDataDescCreate(&c, &seven, sizeof seven);
	data[0] = first_count ? c : p;
	data[1] = first_count ? p : c;
	snprintf(fields, sizeof fields, "%s%s",
		 first_count ? count
		 : is_wide   ? wide
			     : price,
		 first_count ? price : count);
	if (EventRegister(&shop, NULL, NULL, &h) != ERROR_SUCCESS) {
		return 1;
	}
	if (argc > 2) {
		send_manifest(h, fields);
	}
	for (int i = 0; i < 3; i++) {
		EventWrite(h, &d, 2, data);
	}
	if (!mute) {
		send_manifest(h, fields);
	}
	EventUnregister(h);
	return 0;
}
