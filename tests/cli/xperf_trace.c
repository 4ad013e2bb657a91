/* SPDX-License-Identifier: MIT
 *
 * Writes a kernel trace with known contents, for the reports of xperf: xperf_trace FILE.
 * Times below are microseconds from the start; the clock counts 100 ns.
 */
#include "../corpus/etl_build.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define START    1000000ull /* ticks */
#define FILETIME 130000000000000000ull
#define FILE_ONE 0xffffa00000001000ull
#define NTOS     0xfffff80000000000ull
#define DISK     0xfffff80000200000ull
#define ALPHA    0x400000ull

static uint64_t at(double us)
{
	return START + (uint64_t)(us * 10);
}

static uint8_t *system_record(struct etl_build *b, double us, unsigned hook, unsigned version, uint32_t pid,
			      uint32_t tid, uint32_t payload)
{
	uint8_t *p = etl_build_record(b, 0x20 + payload);
	etl_build_u16(p, version);
	etl_build_u16(p + 2, 0xC002);
	etl_build_u16(p + 4, 0x20 + payload);
	etl_build_u16(p + 6, hook);
	etl_build_u32(p + 8, tid);
	etl_build_u32(p + 12, pid);
	etl_build_u64(p + 0x10, at(us));
	return p + 0x20;
}

static uint8_t *perfinfo(struct etl_build *b, double us, unsigned hook, unsigned version, uint32_t payload)
{
	uint8_t *p = etl_build_record(b, 0x10 + payload);
	etl_build_u16(p, version);
	etl_build_u16(p + 2, 0xC011);
	etl_build_u16(p + 4, 0x10 + payload);
	etl_build_u16(p + 6, hook);
	etl_build_u64(p + 8, at(us));
	return p + 16;
}

static uint32_t wide(uint8_t *p, const char *s)
{
	uint32_t n = 0;
	do {
		etl_build_u16(p + 2 * n, (unsigned char)s[n]);
	} while (s[n++]);
	return 2 * n;
}

static void process(struct etl_build *b, double us, unsigned hook, uint32_t pid, uint32_t parent, const char *name,
		    const char *command)
{
	uint32_t n = (uint32_t)strlen(name) + 1, c = 2 * ((uint32_t)strlen(command) + 1);
	uint8_t *p = system_record(b, us, hook, 4, pid, 0, 40 + n + c + 4);
	etl_build_u64(p, pid);
	etl_build_u32(p + 8, pid);
	etl_build_u32(p + 12, parent);
	memcpy(p + 40, name, n);
	wide(p + 40 + n, command);
}

static void thread(struct etl_build *b, double us, unsigned hook, uint32_t pid, uint32_t tid)
{
	uint8_t *p = system_record(b, us, hook, 3, pid, tid, 72);
	etl_build_u32(p, pid);
	etl_build_u32(p + 4, tid);
}

static void image(struct etl_build *b, uint32_t pid, uint64_t base, uint64_t size, const char *name)
{
	uint8_t *p = system_record(b, 1, 0x1403, 2, pid, 0, 56 + 2 * ((uint32_t)strlen(name) + 1));
	etl_build_u64(p, base);
	etl_build_u64(p + 8, size);
	etl_build_u32(p + 16, pid);
	wide(p + 56, name);
}

static void cswitch(struct etl_build *b, double us, uint32_t to, uint32_t from)
{
	uint8_t *p = perfinfo(b, us, 0x0524, 2, 24);
	etl_build_u32(p, to);
	etl_build_u32(p + 4, from);
}

static void ready(struct etl_build *b, double us, uint32_t tid, unsigned flag)
{
	uint8_t *p = perfinfo(b, us, 0x0532, 2, 8);
	etl_build_u32(p, tid);
	p[6] = (uint8_t)flag;
}

static void sample(struct etl_build *b, double us, uint32_t pid, uint32_t tid, uint64_t ip, uint64_t caller)
{
	uint8_t *p = perfinfo(b, us, 0x0F2E, 2, 16);
	etl_build_u64(p, ip);
	etl_build_u32(p + 8, tid);
	etl_build_u16(p + 12, 1);
	p = perfinfo(b, us + 1, 0x1820, 2, 32);
	etl_build_u64(p, at(us));
	etl_build_u32(p + 8, pid);
	etl_build_u32(p + 12, tid);
	etl_build_u64(p + 16, ip);
	etl_build_u64(p + 24, caller);
}

static void dpc(struct etl_build *b, double from, double to, uint64_t routine, int isr)
{
	uint8_t *p = perfinfo(b, to, isr ? 0x0F43 : 0x0F44, 2, isr ? 20 : 16);
	etl_build_u64(p, at(from));
	etl_build_u64(p + 8, routine);
}

static void disk(struct etl_build *b, double from, double to, int write, uint32_t bytes, uint64_t irp, uint32_t tid)
{
	uint8_t *p = system_record(b, to, write ? 0x010B : 0x010A, 3, 0xffffffff, 0xffffffff, 52);
	etl_build_u32(p + 8, bytes);
	etl_build_u64(p + 16, 0x10000);
	etl_build_u64(p + 24, FILE_ONE);
	etl_build_u64(p + 32, irp);
	etl_build_u64(p + 40, (uint64_t)((to - from) * 10));
	etl_build_u32(p + 48, tid);
}

static void mark(struct etl_build *b, double us, const char *text)
{
	memcpy(perfinfo(b, us, 0x0F22, 2, (uint32_t)strlen(text) + 1), text, strlen(text));
}

static void machine(struct etl_build *b)
{
	uint8_t *p = system_record(b, 3, 0x0B0A, 2, 4, 0, 808);
	etl_build_u32(p, 2250);
	etl_build_u32(p + 4, 2);
	etl_build_u32(p + 8, 24105);
	etl_build_u32(p + 12, 4096);
	wide(p + 20, "TRUTH");
}

int main(int argc, char **argv)
{
	static const struct etl_build_header h = {.clock_type = 1,
						  .perf_freq = 10000000,
						  .cpu_mhz = 2250,
						  .start_raw = START,
						  .start_filetime = FILETIME};
	struct etl_build b;
	uint8_t *p;
	etl_build_start(&b, 16384, &h);
	etl_build_u32(b.mem + 0x48 + 0x20 + 0x0C, 2);                       /* processors */
	etl_build_u64(b.mem + 0x48 + 0x20 + 0x10, FILETIME + 100000000ull); /* the end, after 10 s */

	etl_build_begin(&b, 0, 1);
	process(&b, 1, 0x0303, 100, 4, "alpha.exe", "alpha.exe -x");
	thread(&b, 1, 0x0503, 100, 101);
	image(&b, 0, NTOS, 0x100000, "\\SystemRoot\\system32\\ntos.exe");
	image(&b, 0, DISK, 0x100000, "\\SystemRoot\\system32\\disk.sys");
	image(&b, 100, ALPHA, 0x10000, "C:\\alpha.exe");
	machine(&b);
	p = perfinfo(&b, 4, 0x0F49, 2, 12);
	etl_build_u32(p + 4, 10000);
	etl_build_u32(p + 8, 10000);
	process(&b, 1000, 0x0301, 200, 100, "beta.exe", "beta.exe");
	thread(&b, 1001, 0x0501, 200, 201);
	p = system_record(&b, 2000, 0x0424, 2, 0, 0, 8 + 2 * 14);
	etl_build_u64(p, FILE_ONE);
	wide(p + 8, "C:\\dir\\one.da");
	mark(&b, 900000, "one");
	cswitch(&b, 1000000, 101, 0);
	dpc(&b, 1100002, 1100005, NTOS + 0x10, 1);
	dpc(&b, 1100000, 1100010, DISK + 0x10, 0);
	sample(&b, 1200000, 100, 101, ALPHA + 0x100, ALPHA + 0x200);
	sample(&b, 1201000, 100, 101, ALPHA + 0x100, ALPHA + 0x300);
	for (int i = 0; i < 3; i++) { /* two of one kind and one of another */
		p = system_record(&b, 1250000 + i, i < 2 ? 0x020B : 0x020A, 2, 100, 101, 16);
		etl_build_u64(p, 0x7000);
		etl_build_u64(p + 8, ALPHA + 0x100);
	}
	p = system_record(&b, 1300000, 0x0443, 3, 100, 101, 44);
	etl_build_u64(p + 8, 0x10);
	etl_build_u64(p + 16, FILE_ONE);
	etl_build_u64(p + 24, FILE_ONE);
	etl_build_u32(p + 32, 101);
	etl_build_u32(p + 36, 1000);
	p = system_record(&b, 1300050, 0x044C, 3, 100, 101, 20);
	etl_build_u64(p, 0x10);
	etl_build_u64(p + 8, 11);
	ready(&b, 1400000, 201, 0);
	cswitch(&b, 1500000, 201, 101);
	sample(&b, 1550000, 200, 201, NTOS + 0x100, NTOS + 0x200);
	disk(&b, 1600000, 1600300, 0, 4096, 0xA0, 201);
	disk(&b, 1600050, 1600400, 1, 8192, 0xB0, 201);
	p = system_record(&b, 1700500, 0x0220, 2, 200, 201, 40);
	etl_build_u64(p, at(1700000));
	etl_build_u64(p + 24, FILE_ONE);
	etl_build_u32(p + 32, 201);
	etl_build_u32(p + 36, 4096);
	ready(&b, 2000000, 101, 1);
	mark(&b, 2000001, "two, three");
	cswitch(&b, 2500000, 0, 201);
	process(&b, 9000000, 0x0302, 200, 100, "beta.exe", "beta.exe");
	etl_build_end(&b, at(9500000));

	etl_build_begin(&b, 1, 1);
	dpc(&b, 3500000, 3500100, DISK + 0x20, 0);
	etl_build_end(&b, at(9500000));

	int fd = argc == 2 ? open(argv[1], O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1;
	size_t n = (size_t)b.buffers * b.buffer_size;
	bool fine = fd >= 0 && write(fd, b.mem, n) == (ssize_t)n;
	free(b.mem);
	return fine ? 0 : 1;
}
