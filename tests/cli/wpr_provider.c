/* SPDX-License-Identifier: MIT
 *
 * A TraceLogging provider that prints what its callback receives, for wpr.sh.
 *
 *   wpr_provider [milliseconds [thread]]
 *
 * Asked for its state it waits so long and then writes the event "Inside"; with "thread" another
 * thread does the waiting and writes "Outside", and the callback returns at once. Runs until killed.
 */
#include <windows.h>
#include <TraceLoggingProvider.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TRACELOGGING_DEFINE_PROVIDER(g_provider, "OpenETW.Test.Callback",
			     (0xca11bac0, 0x0001, 0x4e57, 0x8a, 0x5e, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55));

static unsigned wait_ms;
static int elsewhere;

static void *later(void *unused)
{
	(void)unused;
	usleep(wait_ms * 1000);
	TraceLoggingWrite(g_provider, "Outside", TraceLoggingLevel(1));
	return NULL;
}

static VOID NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	pthread_t t;
	(void)source;
	(void)context;
	printf("(%u;%u;0x%llX)%s%s\n", (unsigned)code, (unsigned)level, (unsigned long long)any,
	       all ? " match-all" : "", filter ? " filter" : "");
	fflush(stdout);
	if (code != EVENT_CONTROL_CODE_CAPTURE_STATE || wait_ms == 0) {
		return;
	}
	if (elsewhere) {
		if (pthread_create(&t, NULL, later, NULL) == 0) {
			pthread_detach(t);
		}
		return;
	}
	usleep(wait_ms * 1000);
	TraceLoggingWrite(g_provider, "Inside", TraceLoggingLevel(1));
}

int main(int argc, char **argv)
{
	wait_ms = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	elsewhere = argc > 2;
	if (FAILED(TraceLoggingRegisterEx(g_provider, on_enable, NULL))) {
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		pause();
	}
}
