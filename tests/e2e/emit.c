/* SPDX-License-Identifier: MIT
 * A provider whose every event can be checked: payload = u32 thread, u64 sequence, 16 pattern bytes.
 *
 *   emit NAME COUNT [threads=N] [pace=USEC] [level=N] [keywords=N] [size=BYTES] [wait] [ready=FILE]
 *        [book=FILE]
 *
 * book: "attempts ok", two binary u64, kept in FILE while running, so that they survive a kill.
 * COUNT 0: until SIGTERM. "wait": until somebody enabled the provider (at most 10 s). Prints
 * "attempts A ok K" when done; with ids = 1 + sequence % 4 and keyword bit sequence % 4 unless given.
 */
#include "base/base.h"

#include <windows.h>
#include <evntprov.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static REGHANDLE handle;
static uint64_t per_thread;
static unsigned pace_us, level = 4, extra;
static uint64_t keywords;
static struct book {
	atomic_ullong attempts, ok;
} own_book, *book = &own_book;
static volatile sig_atomic_t done;

static struct book *book_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	void *m = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, sizeof(struct book)) == 0) {
		m = mmap(NULL, sizeof(struct book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (m == MAP_FAILED) {
		exit(3);
	}
	close(fd);
	return m;
}

static void on_term(int sig)
{
	done = 1;
}

static void *writer(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg;
	uint8_t pattern[16];
	static uint8_t more[65536];
	for (uint64_t seq = 0; !done && (per_thread == 0 || seq < per_thread); seq++) {
		for (int i = 0; i < 16; i++) {
			pattern[i] = (uint8_t)(seq * 31 + thread * 7 + (unsigned)i);
		}
		EVENT_DESCRIPTOR d = {.Id = (USHORT)(1 + seq % 4),
				      .Level = (UCHAR)level,
				      .Keyword = keywords ? keywords : 1ull << (seq % 4)};
		EVENT_DATA_DESCRIPTOR data[4];
		EventDataDescCreate(&data[0], &thread, sizeof thread);
		EventDataDescCreate(&data[1], &seq, sizeof seq);
		EventDataDescCreate(&data[2], pattern, sizeof pattern);
		EventDataDescCreate(&data[3], more, extra);
		book->attempts++;
		if (EventWrite(handle, &d, extra ? 4 : 3, data) == 0) {
			book->ok++;
		}
		if (pace_us) {
			struct timespec t = {pace_us / 1000000, (long)(pace_us % 1000000) * 1000};
			nanosleep(&t, NULL);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = 1;
	bool wait = false;
	const char *ready = NULL;
	if (argc < 3) {
		return 2;
	}
	uint64_t count = strtoull(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++) {
		char *v = strchr(argv[i], '=');
		uint64_t n = v ? strtoull(v + 1, NULL, 0) : 0;
		if (strncmp(argv[i], "threads=", 8) == 0) {
			threads = (unsigned)n;
		} else if (strncmp(argv[i], "pace=", 5) == 0) {
			pace_us = (unsigned)n;
		} else if (strncmp(argv[i], "level=", 6) == 0) {
			level = (unsigned)n;
		} else if (strncmp(argv[i], "keywords=", 9) == 0) {
			keywords = n;
		} else if (strncmp(argv[i], "size=", 5) == 0) {
			extra = (unsigned)n;
		} else if (strncmp(argv[i], "ready=", 6) == 0) {
			ready = v + 1;
		} else if (strncmp(argv[i], "book=", 5) == 0) {
			book = book_open(v + 1);
		} else {
			wait = true;
		}
	}
	struct guid g;
	GUID guid;
	if (guid_parse(argv[1], &g) < 0 && guid_from_provider_name(argv[1], &g) < 0) {
		return 2;
	}
	memcpy(&guid, g.b, 16);
	signal(SIGTERM, on_term);
	if (EventRegister(&guid, NULL, NULL, &handle) != 0) {
		return 1;
	}
	if (ready) {
		FILE *f = fopen(ready, "w");
		if (f) {
			fclose(f);
		}
	}
	for (int i = 0; wait && i < 2000 && !EventProviderEnabled(handle, 1, 0); i++) {
		struct timespec t = {0, 5000000};
		nanosleep(&t, NULL);
	}
	per_thread = count / threads;
	pthread_t th[256];
	for (unsigned i = 1; i < threads && i < 256; i++) {
		pthread_create(&th[i], NULL, writer, (void *)(uintptr_t)i);
	}
	writer(NULL);
	for (unsigned i = 1; i < threads && i < 256; i++) {
		pthread_join(th[i], NULL);
	}
	EventUnregister(handle);
	printf("attempts %llu ok %llu\n", (unsigned long long)book->attempts, (unsigned long long)book->ok);
	return 0;
}
