/* SPDX-License-Identifier: MIT
 *
 * machine_etl FILE EVENTS [STACKS]: a trace of a busy machine that never was, for measuring the query engine. 8 processors,
 * 200 processes with ten threads each: two in five events are context switches, with as many readied threads as every
 * third; samples with stacks (of STACKS different ones, 100,000 without that argument), disk reads and TraceLogging events of twenty providers. The same
 * arguments make the same bytes.
 */
#include "etl/etl_writer.h"
#include "format/etl_item.h"
#include "format/kernel_class.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, CPUS = 8, PROCESSES = 200, THREADS = 10, DEPTH = 24, PROVIDERS = 20 };

static uint64_t random_state = 88172645463325252ull;
static uint32_t stack_kinds = 100000;
static FILE *out;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) * n >> 32);
}

struct cpu {
	uint8_t *buf;
	uint32_t used;
	uint64_t time;
	uint32_t running; /* thread */
	uint32_t records;
};
static struct cpu cpus[CPUS];
static uint32_t buffers_written = 1;
static uint64_t made;

static void flush(uint32_t i)
{
	struct cpu *c = &cpus[i];
	const struct etl_buffer_args a = {.buffer_size = BUFFER,
					  .used = c->used,
					  .flush_raw = c->time,
					  .sequence = buffers_written,
					  .processor = (uint16_t)i,
					  .logger_id = 1};
	etl_write_buffer_header(c->buf, &a, true);
	if (fwrite(c->buf, BUFFER, 1, out) != 1) {
		perror("machine_etl");
		exit(1);
	}
	buffers_written++;
	c->used = ETL_BUFFER_HEADER_SIZE;
}

static uint8_t *room(uint32_t i, uint32_t bytes)
{
	if (cpus[i].used + bytes + 64 > BUFFER) {
		flush(i);
	}
	made++;
	return cpus[i].buf + cpus[i].used;
}

static void done(uint32_t i, uint8_t *p, uint32_t bytes)
{
	while (bytes & 7) {
		p[bytes++] = 0;
	}
	cpus[i].used += bytes;
}

/* A record of the kernel that names nobody in its header. */
static uint8_t *perfinfo(uint32_t i, uint16_t hook, uint8_t version, uint32_t payload)
{
	uint8_t *p = room(i, ETL_PERFINFO_HEADER_SIZE + payload);
	le16_put(p, version);
	p[2] = ETL_RT_PERFINFO64;
	p[3] = 0xC0;
	le16_put(p + 4, (uint16_t)(ETL_PERFINFO_HEADER_SIZE + payload));
	le16_put(p + 6, hook);
	le64_put(p + 8, cpus[i].time);
	return p + ETL_PERFINFO_HEADER_SIZE;
}

static uint32_t pid_of(uint32_t thread)
{
	return 1000 + 4 * (thread / THREADS);
}

static uint32_t tid_of(uint32_t thread)
{
	return 10000 + 4 * thread;
}

static uint8_t *system_record(uint32_t i, uint16_t hook, uint8_t version, uint32_t payload)
{
	uint8_t *p = room(i, ETL_SYSTEM_HEADER_SIZE + payload);
	memset(p, 0, ETL_SYSTEM_HEADER_SIZE + payload);
	le16_put(p, version);
	p[2] = ETL_RT_SYSTEM64;
	p[3] = 0xC0;
	le16_put(p + 4, (uint16_t)(ETL_SYSTEM_HEADER_SIZE + payload));
	le16_put(p + 6, hook);
	le32_put(p + 8, UINT32_MAX);
	le32_put(p + 12, UINT32_MAX);
	le64_put(p + 16, cpus[i].time);
	return p + ETL_SYSTEM_HEADER_SIZE;
}

static void rundown(void)
{
	for (uint32_t n = 0; n < PROCESSES; n++) {
		char name[32];
		uint32_t length = (uint32_t)snprintf(name, sizeof name, "program%u.exe", n) + 1, fixed = 24 + 4;
		uint8_t *p = system_record(0, 0x0303, 2, fixed + length + 2);
		le64_put(p, 0xFFFFAA0000000000ull + n * 4096);
		le32_put(p + 8, 1000 + 4 * n);
		le32_put(p + 12, 4);
		memcpy(p + fixed, name, length);
		done(0, cpus[0].buf + cpus[0].used, ETL_SYSTEM_HEADER_SIZE + fixed + length + 2);
	}
	for (uint32_t n = 0; n < PROCESSES * THREADS; n++) {
		uint8_t *p = system_record(0, 0x0503, 3, 80);
		le32_put(p, pid_of(n));
		le32_put(p + 4, tid_of(n));
		done(0, cpus[0].buf + cpus[0].used, ETL_SYSTEM_HEADER_SIZE + 80);
	}
}

static void context_switch(uint32_t i)
{
	uint32_t next = below(PROCESSES * THREADS);
	uint8_t *p = perfinfo(i, 0x0524, 4, 24);
	memset(p, 0, 24);
	le32_put(p, tid_of(next));
	le32_put(p + 4, tid_of(cpus[i].running));
	p[8] = 8;
	p[9] = 8;
	p[12] = (uint8_t)below(37);
	p[14] = 5;
	done(i, p - ETL_PERFINFO_HEADER_SIZE, ETL_PERFINFO_HEADER_SIZE + 24);
	cpus[i].running = next;
}

static void readied(uint32_t i)
{
	uint8_t *p = perfinfo(i, 0x0532, 2, 8);
	memset(p, 0, 8);
	le32_put(p, tid_of(below(PROCESSES * THREADS)));
	done(i, p - ETL_PERFINFO_HEADER_SIZE, ETL_PERFINFO_HEADER_SIZE + 8);
}

static void sample(uint32_t i)
{
	uint64_t time = cpus[i].time;
	uint32_t kind = below(stack_kinds);
	uint8_t *p = perfinfo(i, 0x0F2E, 2, 16);
	le64_put(p, 0x7FF600001000ull + kind * 64ull);
	le32_put(p + 8, tid_of(cpus[i].running));
	le32_put(p + 12, 1);
	done(i, p - ETL_PERFINFO_HEADER_SIZE, ETL_PERFINFO_HEADER_SIZE + 16);
	cpus[i].time += 3;
	p = perfinfo(i, 0x1820, 2, 16 + 8 * DEPTH);
	le64_put(p, time);
	le32_put(p + 8, pid_of(cpus[i].running));
	le32_put(p + 12, tid_of(cpus[i].running));
	for (uint32_t d = 0; d < DEPTH; d++) { /* the outer ones are shared by many */
		uint64_t what = d < 8 ? kind : kind >> (2 * (d - 7));
		le64_put(p + 16 + 8ull * d, 0x7FF600001000ull + d * 0x100000ull + what * 64);
	}
	done(i, p - ETL_PERFINFO_HEADER_SIZE, ETL_PERFINFO_HEADER_SIZE + 16 + 8 * DEPTH);
}

static void disk_read(uint32_t i)
{
	uint8_t *p = perfinfo(i, 0x010A, 3, 60);
	memset(p, 0, 60);
	le32_put(p + 8, 4096u << below(6));
	le64_put(p + 16, (uint64_t)below(1u << 30) * 512);
	le64_put(p + 24, 0xFFFFBB0000000000ull + below(500) * 64);
	le64_put(p + 40, 1000 + below(1u << 20));
	le32_put(p + 48, tid_of(cpus[i].running));
	done(i, p - ETL_PERFINFO_HEADER_SIZE, ETL_PERFINFO_HEADER_SIZE + 60);
}

static void application(uint32_t i)
{
	static const uint8_t meta[] = "\x12\0\0Request\0Id\0\x08"
				      "Ms\0\x08";
	uint32_t which = below(PROVIDERS), thread = cpus[i].running, at = ETL_EVENT_HEADER_SIZE;
	uint8_t *p = room(i, 256);
	uint8_t m[sizeof meta], traits[16];
	memset(p, 0, ETL_EVENT_HEADER_SIZE);
	traits[0] = (uint8_t)(2 + snprintf((char *)traits + 2, sizeof traits - 2, "Bench.P%02u", which) + 1);
	traits[1] = 0;
	at += etl_put_item(p + at, ETL_ITEM_PROV_TRAITS, traits, traits[0], true);
	memcpy(m, meta, sizeof meta);
	le16_put(m, sizeof meta - 1);
	at += etl_put_item(p + at, ETL_ITEM_EVENT_SCHEMA_TL, m, sizeof meta - 1, false);
	le32_put(p + at, below(100000));
	le32_put(p + at + 4, below(16) ? below(20) : 200 + below(3000));
	at += 8;
	le16_put(p, (uint16_t)at);
	p[2] = ETL_RT_EVENT64;
	p[3] = 0xC0;
	le16_put(p + 4, 1);
	le32_put(p + 8, tid_of(thread));
	le32_put(p + 12, pid_of(thread));
	le64_put(p + 16, cpus[i].time);
	memset(p + ETL_EH_PROVIDER, (int)(0x50 + which), 16);
	p[ETL_EH_DESCRIPTOR + 3] = 11;
	p[ETL_EH_DESCRIPTOR + 4] = (uint8_t)(which % 5 + 1);
	done(i, p, at);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "machine_etl FILE EVENTS [STACKS]\n");
		return 2;
	}
	uint64_t want = strtoull(argv[2], NULL, 0), t = 2000;
	stack_kinds = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : stack_kinds;
	out = fopen(argv[1], "w+");
	uint8_t *header = calloc(1, BUFFER);
	if (!out || !header) {
		perror(argv[1]);
		return 1;
	}
	struct etl_header_args a = {.buffer_size = BUFFER,
				    .processors = CPUS,
				    .end_filetime = 130000000000000001ull,
				    .timer_resolution = 156250,
				    .log_file_mode = 1,
				    .clock_type = 1,
				    .perf_freq = 1000000000,
				    .start_filetime = 130000000000000000ull,
				    .start_raw = 1000,
				    .logger_name = u"bench",
				    .file_name = u"bench",
				    .logger_name_units = 5,
				    .file_name_units = 5};
	etl_write_header_buffer(header, &a);
	fwrite(header, BUFFER, 1, out);
	for (uint32_t i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu){.buf = malloc(BUFFER), .used = ETL_BUFFER_HEADER_SIZE, .time = t, .running = i};
	}
	rundown();
	while (made < want) {
		uint32_t i = below(CPUS), what = below(100);
		t += 20 + below(1500);
		cpus[i].time = t;
		(what < 40   ? context_switch
		 : what < 55 ? readied
		 : what < 65 ? sample
		 : what < 70 ? disk_read
			     : application)(i);
	}
	for (uint32_t i = 0; i < CPUS; i++) {
		flush(i);
	}
	a.buffers_written = buffers_written;
	a.end_filetime = a.start_filetime + (t - a.start_raw) / 100;
	etl_write_header_buffer(header, &a);
	rewind(out);
	fwrite(header, BUFFER, 1, out);
	return fclose(out) == 0 ? 0 : 1;
}
