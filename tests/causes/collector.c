/* SPDX-License-Identifier: MIT
 * Writes what the runtime of .NET writes when it collects garbage, for the tests of report's first lines.
 *
 * collector MILLISECONDS PAUSE COUNT   COUNT times: stopped for PAUSE ms, then going on for MILLISECONDS
 *
 * What is between two pauses is a suspension as well, but a debugger's, which is no collection.
 */
#include <windows.h>
#include <evntprov.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const GUID runtime = {0xE13C0D23, 0xCCBC, 0x4E12, {0x93, 0x1B, 0xD9, 0xCC, 0x2E, 0xEE, 0x27, 0xE4}};
enum { KEYWORD_GC = 1, LEVEL_INFO = 4, FOR_GC = 1, FOR_DEBUGGER = 5 };

static REGHANDLE handle;

static void put(USHORT id, UCHAR opcode, const void *data, ULONG size)
{
	EVENT_DESCRIPTOR d = {
		.Id = id, .Version = 1, .Level = LEVEL_INFO, .Opcode = opcode, .Task = 1, .Keyword = KEYWORD_GC};
	EVENT_DATA_DESCRIPTOR part;
	EventDataDescCreate(&part, data, size);
	EventWrite(handle, &d, 1, &part);
}

int main(int argc, char **argv)
{
	static const USHORT instance = 1;
	if (argc < 4 || EventRegister(&runtime, NULL, NULL, &handle) != 0) {
		fprintf(stderr, "collector MILLISECONDS PAUSE COUNT\n");
		return 2;
	}
	printf("gc %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < atoi(argv[3]); i++) {
		struct {
			UINT32 number, generation, reason, type;
			USHORT instance;
		} __attribute__((packed)) start = {(UINT32)i, 2, 0, 0, instance};
		struct {
			UINT32 reason, count;
			USHORT instance;
		} __attribute__((packed)) suspend = {FOR_GC, (UINT32)i, instance};
		struct {
			UINT32 number, generation;
			USHORT instance;
		} __attribute__((packed)) end = {(UINT32)i, 2, instance};
		put(9, 10, &suspend, sizeof suspend);
		put(1, 1, &start, sizeof start);
		usleep((useconds_t)atoi(argv[2]) * 1000);
		put(2, 2, &end, sizeof end);
		put(3, 132, &instance, sizeof instance);
		suspend.reason = FOR_DEBUGGER;
		put(9, 10, &suspend, sizeof suspend);
		usleep((useconds_t)atoi(argv[1]) * 1000);
		put(3, 132, &instance, sizeof instance);
	}
	EventUnregister(handle);
	return 0;
}
