/* SPDX-License-Identifier: MIT
 *
 * why_provider EVENTS [SECONDS]: events of level 4 and keyword 1, from a provider whose GUID does not follow from its
 * name and which is in a group. With SECONDS it waits so long and writes some more.
 */
#include <windows.h>
#include <TraceLoggingProvider.h>

#include <stdlib.h>
#include <unistd.h>

TRACELOGGING_DEFINE_PROVIDER(g_renamed, "OpenETW.Test.Renamed",
			     (0x01020304, 0x0506, 0x0708, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10),
			     TraceLoggingOptionGroup(0xa1a2a3a4, 0xb1b2, 0xc1c2, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6,
						     0xd7, 0xd8));

static void write_events(int count)
{
	for (int i = 0; i < count; i++) {
		TraceLoggingWrite(g_renamed, "Line", TraceLoggingLevel(4), TraceLoggingKeyword(1),
				  TraceLoggingInt32(i, "Number"));
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	TraceLoggingRegister(g_renamed);
	write_events(count);
	if (argc > 2) {
		sleep((unsigned)atoi(argv[2]));
		write_events(count);
	}
	TraceLoggingUnregister(g_renamed);
	return 0;
}
