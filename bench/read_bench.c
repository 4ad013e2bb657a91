/* SPDX-License-Identifier: MIT
 *
 * read_bench --make FILE MIB: makes the file of which the next line speaks and leaves it there.
 * read_bench [MIB] [FILE…]: how fast trace files are read: the floor (read() of the whole file), the
 * reader's scan (count by provider and id), ProcessTrace with a callback that counts, and decoding
 * to JSON. MIB is the size of a made file of 8 processors' 64 KiB buffers whose TraceLogging events
 * carry u32 + u64 + 16 bytes; FILE… are read as well. CPU time of this thread, best of several runs.
 */
#include "bench.h"
#include "etl/etl_reader.h"
#include "etl/etl_writer.h"

#include <windows.h>
#include <evntcons.h>
#include <evntrace.h>

#include "format/etl_item.h"
#include "openetw/decode.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS = 5, BUFFER = 65536, CPUS = 8, RECORD = 0x50 + 48 + 24 + 28 + 4 };

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t make_record(uint8_t *p, uint64_t time, uint32_t n)
{
	static const uint8_t meta[] = "\x16\0\0Event\0a\0\x08"
				      "b\0\x0A"
				      "c\0\x2F\x01";
	static const uint8_t traits[] = "\x0f\0Bench.Reader";
	uint32_t at = 0x50;
	memset(p, 0, 0x50);
	at += etl_put_item(p + at, 12, traits, sizeof traits, true);
	uint8_t m[sizeof meta];
	memcpy(m, meta, sizeof meta);
	m[0] = (uint8_t)(sizeof meta);
	le16_put(m, sizeof meta);
	at += etl_put_item(p + at, 11, m, sizeof meta, false);
	le32_put(p + at, n);
	le64_put(p + at + 4, n);
	memset(p + at + 12, (int)n, 16);
	at += 28;
	le16_put(p, (uint16_t)at);
	le16_put(p + 2, 0xC013);
	le16_put(p + 4, 1);
	le32_put(p + 8, 100 + n % 8);
	le32_put(p + 12, 50);
	le64_put(p + 0x10, time);
	memset(p + 0x18, 0x5A, 16);
	p[0x2B] = 11;
	p[0x2C] = 4;
	while (at & 7) {
		p[at++] = 0;
	}
	return at;
}

static void make_file(const char *path, uint64_t mib)
{
	static const uint16_t name[] = u"bench";
	uint8_t *buf = malloc(BUFFER);
	uint32_t buffers = (uint32_t)(mib * 1048576 / BUFFER);
	struct etl_header_args a = {.buffer_size = BUFFER,
				    .processors = CPUS,
				    .end_filetime = 130000000000000001ull,
				    .timer_resolution = 156250,
				    .log_file_mode = 1,
				    .buffers_written = buffers,
				    .clock_type = 1,
				    .perf_freq = 1000000000,
				    .start_filetime = 130000000000000000ull,
				    .start_raw = 1000,
				    .logger_name = name,
				    .file_name = name,
				    .logger_name_units = 5,
				    .file_name_units = 5};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	etl_write_header_buffer(buf, &a);
	ssize_t w = write(fd, buf, BUFFER);
	for (uint32_t i = 1; i < buffers; i++) {
		uint32_t used = 0x48, n = 0;
		uint64_t time = 2000 + (uint64_t)(i / CPUS) * 1000000 + i % CPUS;
		while (used + 256 <= BUFFER) {
			used += make_record(buf + used, time + n * 1000, n);
			n++;
		}
		etl_write_buffer_header(buf,
					&(struct etl_buffer_args){.buffer_size = BUFFER,
								  .used = used,
								  .flush_raw = time + n * 1000,
								  .sequence = i,
								  .processor = i % CPUS,
								  .logger_id = 1},
					true);
		w += write(fd, buf, BUFFER);
	}
	close(fd);
	free(buf);
	if (w < (ssize_t)buffers * BUFFER) {
		fprintf(stderr, "cannot write %s\n", path);
		exit(1);
	}
}

static uint64_t events, sum;

static void floor_read(const char *path)
{
	static uint8_t buf[1 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t n;
	while ((n = read(fd, buf, sizeof buf)) > 0) {
		sum += buf[0];
	}
	close(fd);
	events = 0;
}

static void scan(const char *path)
{
	static uint32_t counts[65536];
	struct etl_reader *r;
	struct etl_record e;
	events = 0;
	if (etl_reader_open(path, 0, &r, NULL) < 0) {
		return;
	}
	while (etl_reader_next(r, &e) > 0) {
		counts[(le32_get(e.provider.b) * 31 + e.id) & 65535]++;
		events++;
	}
	etl_reader_close(r);
}

static struct openetw_decoder *decoder;
static struct openetw_text text;

static void WINAPI on_count(PEVENT_RECORD e)
{
	events++;
	sum += e->EventHeader.EventDescriptor.Id;
}

static void WINAPI on_json(PEVENT_RECORD e)
{
	events++;
	openetw_text_clear(&text);
	openetw_decode_json(decoder, e, &text);
	sum += text.length;
}

static void process(const char *path, PEVENT_RECORD_CALLBACK callback)
{
	EVENT_TRACE_LOGFILEA log = {0};
	events = 0;
	log.LogFileName = (char *)(uintptr_t)path;
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = callback;
	TRACEHANDLE h = OpenTraceA(&log);
	if (h != INVALID_PROCESSTRACE_HANDLE) {
		ProcessTrace(&h, 1, NULL, NULL);
		CloseTrace(h);
	}
}

static void run_count(const char *path)
{
	process(path, on_count);
}

static void run_json(const char *path)
{
	process(path, on_json);
}

static void measure(const char *name, const char *path, void (*run)(const char *))
{
	struct stat st;
	double best = 0;
	stat(path, &st);
	for (unsigned i = 0; i < RUNS; i++) {
		double before = cpu_ns();
		run(path);
		double took = cpu_ns() - before;
		best = best == 0 || took < best ? took : best;
	}
	printf("%-14s %9.2f MB/s", name, (double)st.st_size * 1e3 / best);
	if (events) {
		printf("  %8.2f ns/event  %7.2f M events/s", best / (double)events, (double)events * 1e3 / best);
	}
	printf("\n");
}

static void all(const char *path)
{
	struct stat st;
	stat(path, &st);
	printf("%s: %.1f MB\n", path, (double)st.st_size / 1e6);
	measure("read()", path, floor_read);
	measure("scan", path, scan);
	measure("ProcessTrace", path, run_count);
	measure("JSON", path, run_json);
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	printf("at most %ld MiB of memory so far\n", r.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 0) : 256;
	const char *dir = getenv("BENCH_DIR");
	char path[4096];
	if (argc == 4 && strcmp(argv[1], "--make") == 0) {
		make_file(argv[2], strtoull(argv[3], NULL, 0));
		return 0;
	}
	decoder = openetw_decoder_create();
	if (mib) {
		snprintf(path, sizeof path, "%s/read_bench.etl", dir ? dir : "/tmp");
		make_file(path, mib);
		all(path);
		unlink(path);
	}
	for (int i = 2; i < argc; i++) {
		all(argv[i]);
	}
	openetw_decoder_destroy(decoder);
	return sum == 1;
}
