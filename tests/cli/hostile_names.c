/* SPDX-License-Identifier: MIT
 * A provider all of whose names and values hold what a terminal obeys, and a function whose symbol a test
 * gives such a name.
 *
 *   hostile_names spin MILLISECONDS | write FILE
 */
#include <windows.h>
#include <evntprov.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Newline, ESC, DEL, U+009B, U+202E, U+2028, tab. */
#define NASTY                              \
	"EVIL\nFORGED\x1b[31m\x7f\xC2\x9B" \
	"31m\xE2\x80\xAEtxt\xE2\x80\xA8\t"
static const uint16_t nasty_wide[] = {'E', 'V',    'I', 'L', '\n', 'F',    'O',  'R',    'G', 'E',
				      'D', 0x1b,   '[', '3', '1',  'm',    0x7f, 0x9B,   '3', '1',
				      'm', 0x202E, 't', 'x', 't',  0x2028, '\t', 0xDC00, 0};

/* {6e0aa5ae-5d31-4b27-8a34-2f6f4a7c1e99} */
static const GUID provider = {0x6e0aa5ae, 0x5d31, 0x4b27, {0x8a, 0x34, 0x2f, 0x6f, 0x4a, 0x7c, 0x1e, 0x99}};

static volatile uint64_t sink;

/* As long as what the test puts in its place in the symbol table. */
__attribute__((noinline)) void symbol_to_be_renamed(uint64_t until);
void symbol_to_be_renamed(uint64_t until)
{
	struct timespec t;
	do {
		for (int i = 0; i < 100000; i++) {
			sink += (uint64_t)i * sink;
		}
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < until);
}

static size_t put(uint8_t *at, const void *p, size_t n)
{
	memcpy(at, p, n);
	return n;
}

static int write_events(const char *file)
{
	REGHANDLE h;
	uint8_t traits[256], meta[512];
	uint16_t size;
	static const char text[] = NASTY "\x9B";
	if (EventRegister(&provider, NULL, NULL, &h) != 0) {
		return 1;
	}
	size_t n = 2 + put(traits + 2, NASTY, sizeof NASTY);
	size = (uint16_t)n;
	memcpy(traits, &size, 2);
	if (EventSetInformation(h, EventProviderSetTraits, traits, (ULONG)n) != 0) {
		return 1;
	}
	n = 2;
	meta[n++] = 0;
	n += put(meta + n, NASTY, sizeof NASTY);
	n += put(meta + n, "a" NASTY, sizeof NASTY + 1);
	meta[n++] = 2; /* a string of bytes */
	n += put(meta + n, "w" NASTY, sizeof NASTY + 1);
	meta[n++] = 1; /* a string of UTF-16 */
	size = (uint16_t)n;
	memcpy(meta, &size, 2);
	EVENT_DESCRIPTOR d = {.Id = 0, .Channel = 11, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data[4];
	EventDataDescCreate(&data[0], traits, *(uint16_t *)(void *)traits);
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], meta, (ULONG)n);
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[2], text, sizeof text);
	EventDataDescCreate(&data[3], nasty_wide, sizeof nasty_wide);
	for (int i = 0; i < 3; i++) {
		if (EventWriteTransfer(h, &d, NULL, NULL, 4, data) != 0) {
			fprintf(stderr, "EventWriteTransfer failed\n");
		}
	}
	FILE *f = fopen(file, "w");
	if (f) {
		fputs("x", f);
		fclose(f);
	}
	EventUnregister(h);
	return f ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct timespec t;
	if (argc == 3 && strcmp(argv[1], "write") == 0) {
		return write_events(argv[2]);
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	symbol_to_be_renamed((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 +
			     (argc == 3 ? (uint64_t)atoi(argv[2]) : 300));
	return 0;
}
