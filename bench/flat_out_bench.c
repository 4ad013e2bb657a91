/* SPDX-License-Identifier: MIT
 * Two producers on two cores at a fixed total rate, into one session with a file: the highest rate without
 * loss, and etwd's CPU per recorded event. Usage: flat_out_bench [seconds] [M events/s; 0 flat out]
 */
#include "bench.h"

#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>
#include <dirent.h>
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
			bench_pause();
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

/* CPU time of etwd's threads by name, from the scheduler: exact, and free of what else runs. */
struct cpu {
	double drain_ns, file_ns;
};

static struct cpu etwd_cpu(void)
{
	struct cpu sum = {0, 0};
	char path[600], name[32];
	const char *dir = getenv("OPENETW_RUNTIME_DIR");
	snprintf(path, sizeof path, "%s/pid", dir ? dir : "");
	FILE *f = fopen(path, "re");
	int pid = 0;
	if (!f || fscanf(f, "%d", &pid) != 1) {
		return sum;
	}
	fclose(f);
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *e; tasks && (e = readdir(tasks));) {
		unsigned long long ns = 0;
		snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", pid, e->d_name);
		f = fopen(path, "re");
		if (e->d_name[0] == '.' || !f || fscanf(f, "%llu", &ns) != 1) {
			ns = 0;
		}
		if (f) {
			fclose(f);
		}
		snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, e->d_name);
		f = fopen(path, "re");
		bool file = f && fgets(name, sizeof name, f) && strncmp(name, "etw-file", 8) == 0;
		if (f) {
			fclose(f);
		}
		*(file ? &sum.file_ns : &sum.drain_ns) += (double)ns;
	}
	if (tasks) {
		closedir(tasks);
	}
	return sum;
}

/* While the producers run: CPU of each tenth of a second, as if every event in it arrived. The best and the
 * median window say what the machine's other work hides in the mean. */
#define WINDOWS_MAX 200u
static struct bench_summary watch(double seconds, double rate)
{
	static double ns[WINDOWS_MAX];
	size_t n = 0;
	struct cpu before = etwd_cpu();
	uint64_t freq = clock_frequency(), start = clock_now(), t0 = start;
	while (n < WINDOWS_MAX && (double)(t0 - start) < (seconds - 0.15) * (double)freq) {
		bench_sleep_us(100000);
		struct cpu after = etwd_cpu();
		uint64_t t1 = clock_now();
		double events = rate * (double)(t1 - t0) / (double)freq;
		ns[n++] = (after.drain_ns + after.file_ns - before.drain_ns - before.file_ns) / events;
		before = after;
		t0 = t1;
	}
	return n > 2 ? bench_summarise(ns, n) : (struct bench_summary){0};
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	static const double all[] = {1e6, 2e6, 4e6, 6e6, 8e6, 12e6, 16e6, 20e6, 0};
	double only = argc > 2 ? atof(argv[2]) * 1e6 : 0;
	const double *rates = argc > 2 ? &only : all;
	static struct {
		EVENT_TRACE_PROPERTIES p;
		char name[64], file[256];
	} props;
	for (size_t i = 0; i < (argc > 2 ? 1 : BASE_ARRAY_LEN(all)); i++) {
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
		snprintf(props.file, sizeof props.file, "%s/flat.etl",
			 getenv("BENCH_DIR") ? getenv("BENCH_DIR") : "/tmp");
		ULONG code = StartTraceA(&h, "bench-flat", &props.p);
		if (code) {
			fprintf(stderr, "StartTrace: %u\n", code);
			return 1;
		}
		EnableTraceEx2(h, &guid, 1, 5, 0, 0, 0, NULL);
		struct cpu cpu0 = etwd_cpu();
		int out[2][2];
		for (int k = 0; k < 2; k++) {
			if (pipe(out[k]) == 0 && fork() == 0) {
				dup2(out[k][1], 1);
				producer(k, rates[i] / 2, seconds);
				_exit(0);
			}
			close(out[k][1]);
		}
		struct bench_summary windows = {0};
		if (rates[i] > 0) {
			windows = watch(seconds, rates[i]);
		}
		uint64_t total = 0;
		for (int k = 0; k < 2; k++) {
			char text[64] = "";
			ssize_t n = read(out[k][0], text, sizeof text - 1);
			total += n > 0 ? strtoull(text, NULL, 10) : 0;
			close(out[k][0]);
			wait(NULL);
		}
		struct cpu cpu = etwd_cpu();
		props.p.Wnode.BufferSize = sizeof props;
		ControlTraceA(h, NULL, &props.p, EVENT_TRACE_CONTROL_STOP);
		char wanted[32] = "flat out";
		if (rates[i] > 0) {
			snprintf(wanted, sizeof wanted, "%.0f M/s", rates[i] / 1e6);
		}
		double kept = (double)(total > props.p.EventsLost ? total - props.p.EventsLost : 1);
		double drain = (cpu.drain_ns - cpu0.drain_ns) / kept, file = (cpu.file_ns - cpu0.file_ns) / kept;
		printf("%-9s wrote %6.2f M/s, lost %u (%.4f %%), etwd %.1f ns CPU an event (drain %.1f, file %.1f)\n",
		       wanted, (double)total / seconds / 1e6, props.p.EventsLost,
		       total ? 100.0 * props.p.EventsLost / (double)total : 0, drain + file, drain, file);
		if (rates[i] > 0) {
			printf("          in windows of 0.1 s: best %.1f, median %.1f ns\n", windows.best,
			       windows.median);
		}
		fflush(stdout);
		unlink(props.file);
	}
	return 0;
}
