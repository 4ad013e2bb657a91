/* SPDX-License-Identifier: MIT
 *
 * Which clock stamps events. We trust the CPU counter exactly when the kernel itself uses it as
 * its clocksource: then it is constant, synchronised between CPUs, and not stopped in idle.
 */
#include "base/base.h"
#include "base/order.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define NS_PER_S            1000000000ull
#define FILETIME_UNIX_EPOCH 116444736000000000ull /* 1601 to 1970 in 100 ns */

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_read_system_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

static bool kernel_trusts_counter(void)
{
#if defined(__aarch64__)
	return true; /* the architected counter is constant by definition */
#else
	char name[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	ssize_t n = read(fd, name, sizeof name - 1);
	close(fd);
	return n >= 4 && memcmp(name, "tsc\n", 4) == 0;
#endif
}

enum clock_kind clock_kind(void)
{
	/* 0 unknown, else kind + 1. Racing first callers compute the same value. */
	static int known __attribute__((section(".data"))); /* a page that is written anyway */
	int k = order_load_relaxed(&known);
	if (BASE_UNLIKELY(k == 0)) {
		k = 1 + (int)(kernel_trusts_counter() ? CLOCK_KIND_TSC : CLOCK_KIND_SYSTEM);
		order_store_relaxed(&known, k);
	}
	return (enum clock_kind)(k - 1);
}

#if !defined(__aarch64__)
/* The kernel publishes the counter's scale in the first page of any perf event. */
static uint64_t frequency_from_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		return 0;
	}
	uint64_t freq = 0;
	struct perf_event_mmap_page *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (page->cap_user_time && page->time_mult != 0) {
			freq = (uint64_t)(((unsigned __int128)NS_PER_S << page->time_shift) / page->time_mult);
		}
		munmap(page, 4096);
	}
	close(fd);
	return freq;
}

static void counter_ns_pair(uint64_t *counter, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 16; i++) {
		uint64_t a = clock_read_counter();
		uint64_t t = read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t b = clock_read_counter();
		if (b - a < best) {
			best = b - a;
			*counter = a + (b - a) / 2;
			*ns = t;
		}
	}
}

static uint64_t frequency_by_measuring(void)
{
	uint64_t c0 = 0, n0 = 0, c1 = 0, n1 = 0;
	counter_ns_pair(&c0, &n0);
	struct timespec pause = {0, 20 * 1000 * 1000};
	nanosleep(&pause, NULL);
	counter_ns_pair(&c1, &n1);
	return clock_muldiv(c1 - c0, NS_PER_S, n1 - n0);
}

static uint64_t counter_frequency(void)
{
	uint64_t f = frequency_from_perf();
	return f != 0 ? f : frequency_by_measuring();
}
#else
static uint64_t counter_frequency(void)
{
	uint64_t f;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(f));
	return f;
}
#endif

uint64_t clock_frequency(void)
{
	static uint64_t known __attribute__((section(".data")));
	uint64_t f = order_load_relaxed(&known);
	if (f != 0) {
		return f;
	}
	f = clock_kind() == CLOCK_KIND_SYSTEM ? NS_PER_S : counter_frequency();
	order_store_relaxed(&known, f);
	return f;
}

uint64_t clock_filetime(void)
{
	return read_ns(CLOCK_REALTIME) / 100 + FILETIME_UNIX_EPOCH;
}

void clock_pair(uint64_t *ret_raw, uint64_t *ret_filetime)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t a = clock_now();
		uint64_t ft = clock_filetime();
		uint64_t b = clock_now();
		if (b - a < best) {
			best = b - a;
			*ret_raw = a + (b - a) / 2;
			*ret_filetime = ft;
		}
	}
}

void clock_pair_system(enum clock_kind k, uint64_t *ret_raw, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		uint64_t a = clock_now_of(k);
		uint64_t ns = clock_read_system_ns();
		uint64_t b = clock_now_of(k);
		if (b - a < best) {
			best = b - a;
			*ret_raw = a + (b - a) / 2;
			*ret_ns = ns;
		}
	}
}

uint64_t clock_boot_filetime(void)
{
	return clock_filetime() - read_ns(CLOCK_BOOTTIME) / 100;
}
