/* SPDX-License-Identifier: MIT
 *
 * CPU cost of an event from sink_reserve to the page cache. Usage: sink_bench [file] [events] [kb]
 * Prints nanoseconds per 112-byte event: reserve and fill on the producer, CPU of the file thread.
 */
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void run(const char *path, uint32_t events, uint32_t kb, bool fill)
{
	struct sink_options o = {
		.name = u"bench",
		.log_file = path ? u"bench.etl" : NULL,
		.path = path,
		.props.buffer_kb = kb,
		.props.minimum_buffers = 64,
		.props.maximum_buffers = 256,
		.props.clock = 1,
		.cpus = 2,
	};
	struct sink *s = NULL;
	if (sink_create(&o, &s, NULL) < 0) {
		fprintf(stderr, "cannot create %s\n", path);
		exit(1);
	}
	uint8_t event[112] = {112};
	uint64_t thread0 = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t process0 = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t lost = 0;
	for (uint32_t i = 0; i < events; i++) {
		uint8_t *p = sink_reserve(s, 0, i, sizeof event);
		if (!p) {
			lost++;
			sink_drain_wait(s, 1000);
		} else if (fill) {
			memcpy(p, event, sizeof event);
		} else {
			p[0] = 1;
		}
	}
	uint64_t thread1 = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	struct sink_stats st;
	sink_stop(s, &st);
	uint64_t process1 = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	printf("%-8s %5u KB %s: producer %.2f ns, file thread %.2f ns, lost %llu\n", path ? "file" : "no file", kb,
	       fill ? "filled " : "reserve", (double)(thread1 - thread0) / events,
	       (double)(process1 - process0 - (thread1 - thread0)) / events, (unsigned long long)lost);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/tmp/sink-bench.etl";
	uint32_t events = argc > 2 ? (uint32_t)atoi(argv[2]) : 3000000;
	uint32_t kb = argc > 3 ? (uint32_t)atoi(argv[3]) : 64;
	for (int i = 0; i < 3; i++) {
		run(NULL, events, kb, false);
		run(NULL, events, kb, true);
		run(path, events, kb, true);
	}
	unlink(path);
	return 0;
}
