/* SPDX-License-Identifier: MIT
 * A process that lives for one TraceLogging event: register, write, unregister, end. Its number is in
 * the event.
 */
#include <windows.h>
#include <TraceLoggingProvider.h>

#include <stdlib.h>

TRACELOGGING_DEFINE_PROVIDER(provider, "Test.OneEvent",
			     (0x5c5f5a11, 0x1f6b, 0x4b7c, 0x9a, 0x21, 1, 2, 3, 4, 5, 6));

int main(int argc, char **argv)
{
	TraceLoggingRegister(provider);
	TraceLoggingWrite(provider, "One", TraceLoggingInt32(argc > 1 ? atoi(argv[1]) : 0, "number"));
	TraceLoggingUnregister(provider);
	return 0;
}
