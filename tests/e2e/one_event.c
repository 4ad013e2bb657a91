/* SPDX-License-Identifier: MIT
 * A process that lives for one TraceLogging event: register, write, unregister, end. Its number is in
 * the event. "forks=N" behind it: after the event it forks N children that write one each; "wait" behind that: when
 * its input ends.
 */
#include <windows.h>
#include <TraceLoggingProvider.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TRACELOGGING_DEFINE_PROVIDER(provider, "Test.OneEvent", (0x5c5f5a11, 0x1f6b, 0x4b7c, 0x9a, 0x21, 1, 2, 3, 4, 5, 6));

int main(int argc, char **argv)
{
	TraceLoggingRegister(provider);
	TraceLoggingWrite(provider, "One", TraceLoggingInt32(argc > 1 ? atoi(argv[1]) : 0, "number"));
	int forks = argc > 2 && strncmp(argv[2], "forks=", 6) == 0 ? atoi(argv[2] + 6) : 0;
	char line[16];
	while (argc > 3 && read(0, line, sizeof line) > 0) {
	}
	for (int i = 0; i < forks; i++) {
		if (fork() == 0) {
			TraceLoggingWrite(provider, "One", TraceLoggingInt32(1000 + i, "number"));
			_exit(0);
		}
	}
	while (wait(NULL) > 0) {
	}
	TraceLoggingUnregister(provider);
	return 0;
}
