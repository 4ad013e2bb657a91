/* SPDX-License-Identifier: MIT
 * Two producers on two cores at a fixed total rate, into one session with a file: the highest rate without
 * loss, and etwd's CPU per event.
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <sys/wait.h>

static const GUID guid = {0x9c5e4a57, 0x6c86, 0x55a5, {0x9c, 0x07, 0x5b, 0x3e, 0xaa, 0x4d, 0x90, 0x15}};

static void producer(int cpu, double rate, double seconds)
{
	struct bench_payload p = {1, 0, {2}};
	REGHANDLE r;
	bench_pin(cpu);
	EventRegister(&guid, NULL, NULL, &r);
	uint64_t freq = clock_frequency(), start = clock_now();
	uint64_t end = start + (uint64_t)(seconds * (double)freq);
	double per_event = (double)freq / rate;
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4};
	uint64_t n = 0;
	/* Bursts of 32 keep the average rate without reading the clock for every event. */
	for (uint64_t now = start; now < end; now = clock_now()) {
		while (rate > 0 && (double)n * per_event > (double)(clock_now() - start)) {
			__builtin_ia32_pause();
		}
		for (int i = 0; i < 32; i++, n++) {
			EVENT_DATA_DESCRIPTOR data[3];
			p.b = n;
			EventDataDescCreate(&data[0], &p.a, 4);
			EventDataDescCreate(&data[1], &p.b, 8);
			EventDataDescCreate(&data[2], p.c, 16);
			EventWrite(r, &d, 3, data);
		}
	}
	printf("%llu\n", (unsigned long long)n);
	fflush(stdout);
	EventUnregister(r);
}

static double etwd_cpu_ms(void)
{
	char path[512], line[1024] = "";
	snprintf(path, sizeof path, "%s/pid", getenv("OPENETW_RUNTIME_DIR") ? getenv("OPENETW_RUNTIME_DIR") : "");
	FILE *f = fopen(path, "re");
	int pid = 0;
	if (!f || fscanf(f, "%d", &pid) != 1) {
		return 0;
	}
	fclose(f);
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof line, f)) {
		return 0;
	}
	fclose(f);
	unsigned long user = 0, sys = 0;
	char *s = strrchr(line, ')');
	if (s) {
		sscanf(s + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys);
	}
	return (double)(user + sys) * 1000 / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	static const double rates[] = {1e6, 2e6, 4e6, 6e6, 8e6, 12e6, 16e6, 20e6, 0};
	static struct {
		EVENT_TRACE_PROPERTIES p;
		char name[64], file[256];
	} props;
	for (size_t i = 0; i < BASE_ARRAY_LEN(rates); i++) {
		TRACEHANDLE h;
		memset(&props, 0, sizeof props);
		props.p.Wnode.BufferSize = sizeof props;
		props.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
		props.p.LoggerNameOffset = offsetof(__typeof__(props), name);
		props.p.LogFileNameOffset = offsetof(__typeof__(props), file);
		props.p.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		props.p.BufferSize = 1024;
		props.p.MinimumBuffers = 32;
		props.p.MaximumBuffers = 128;
		snprintf(props.file, sizeof props.file, "%s/flat.etl", getenv("BENCH_DIR") ? getenv("BENCH_DIR") : "/tmp");
		ULONG code = StartTraceA(&h, "bench-flat", &props.p);
		if (code) {
			fprintf(stderr, "StartTrace: %u\n", code);
			return 1;
		}
		EnableTraceEx2(h, &guid, 1, 5, 0, 0, 0, NULL);
		double cpu0 = etwd_cpu_ms();
		int out[2][2];
		for (int k = 0; k < 2; k++) {
			if (pipe(out[k]) == 0 && fork() == 0) {
				dup2(out[k][1], 1);
				producer(k, rates[i] / 2, seconds);
				_exit(0);
			}
			close(out[k][1]);
		}
		uint64_t total = 0;
		for (int k = 0; k < 2; k++) {
			char text[64] = "";
			ssize_t n = read(out[k][0], text, sizeof text - 1);
			total += n > 0 ? strtoull(text, NULL, 10) : 0;
			close(out[k][0]);
			wait(NULL);
		}
		double cpu = etwd_cpu_ms() - cpu0;
		props.p.Wnode.BufferSize = sizeof props;
		ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
		char wanted[32] = "flat out";
		if (rates[i] > 0) {
			snprintf(wanted, sizeof wanted, "%.0f M/s", rates[i] / 1e6);
		}
		printf("%-9s wrote %6.2f M/s, lost %u (%.4f %%), etwd %.1f ns CPU an event\n", wanted,
		       (double)total / seconds / 1e6, props.p.EventsLost,
		       total ? 100.0 * props.p.EventsLost / (double)total : 0, cpu * 1e6 / (double)(total ? total : 1));
		fflush(stdout);
		unlink(props.file);
	}
	return 0;
}
