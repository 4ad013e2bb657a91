/* SPDX-License-Identifier: MIT
 * A provider that attacks whatever it can reach of the transport: scribbles over every shared mapping it
 * may write, and tries to get at what it may not: make read-only mappings writable, map their file anew,
 * shrink or grow the files, punch holes, take or break seals.
 *
 *   scribbler NAME SECONDS [SEED]
 *
 * Prints one line for everything that should have been refused and was not; exit status 1 then.
 * Expected to crash itself now and then: that is its own affair.
 */
#include "base/base.h"

#include <windows.h>
#include <dirent.h>
#include <evntprov.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static REGHANDLE handle;
static uint64_t seed;

static uint64_t roll(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static int breaches;

static void breach(const char *what, const char *where)
{
	printf("BREACH: %s of %s was possible\n", what, where);
	breaches++;
}

struct area {
	uint8_t *at;
	size_t bytes;
};
static struct area areas[256];
static unsigned area_count;

static void look_at_mappings(void)
{
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long from, to;
		char perm[8];
		if (sscanf(line, "%lx-%lx %7s", &from, &to, perm) != 3 || !strstr(line, "memfd:")) {
			continue;
		}
		line[strcspn(line, "\n")] = 0;
		if (perm[3] != 's') {
			continue;
		}
		if (perm[1] != 'w') {
			if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE) == 0) {
				breach("making a read-only mapping writable", line);
			}
		} else if (area_count < BASE_ARRAY_LEN(areas)) {
			areas[area_count++] = (struct area){(uint8_t *)from, to - from};
		}
	}
	if (f) {
		fclose(f);
	}
}

/* Through /proc/self/task/TID/fd, because libetw's thread has a descriptor table of its own, and
 * /proc/self/map_files for what is only mapped. */
static void attack_file(const char *path, const char *what)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		return;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (ftruncate(fd, 0) == 0 || ftruncate(fd, st.st_size / 2) == 0) {
			breach("shrinking", what);
		}
		if (ftruncate(fd, st.st_size * 2) == 0) {
			breach("growing", what);
		}
		if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0) {
			breach("sealing", what);
		}
		if (fcntl(fd, F_GET_SEALS) & F_SEAL_FUTURE_WRITE) {
			uint64_t junk = 0x4141414141414141ull;
			if (pwrite(fd, &junk, sizeof junk, 64) > 0) {
				breach("writing", what);
			}
			if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED) {
				breach("mapping anew for writing", what);
			}
		}
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size); /* may do */
	}
	close(fd);
}

static void attack_folder(const char *folder)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[600], target[256];
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		ssize_t n = readlink(path, target, sizeof target - 1);
		if (n <= 0) {
			continue;
		}
		target[n] = 0;
		if (strstr(target, "memfd:")) {
			attack_file(path, target);
		}
	}
	if (d) {
		closedir(d);
	}
}

static void attack_files(void)
{
	attack_folder("/proc/self/map_files");
	DIR *d = opendir("/proc/self/task");
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[400];
		snprintf(path, sizeof path, "/proc/self/task/%s/fd", e->d_name);
		attack_folder(path);
	}
	if (d) {
		closedir(d);
	}
}

static void *write_events(void *arg)
{
	uint8_t payload[28] = {0};
	EVENT_DESCRIPTOR d = {.Id = 1, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data;
	EventDataDescCreate(&data, payload, sizeof payload);
	for (;;) {
		EventWrite(handle, &d, 1, &data);
	}
	return NULL;
}

static void *scribble(void *arg)
{
	uint64_t s = seed + (uintptr_t)arg * 7919;
	for (;;) {
		const struct area *a = &areas[roll(&s) % area_count];
		uint64_t value = roll(&s);
		size_t at = roll(&s) % a->bytes & ~7ull;
		switch (value % 8) {
		case 0: at %= 4096; break; /* headers more often */
		case 1: value = UINT64_MAX; break;
		case 2: value = 0; break;
		case 3: value = *(volatile uint64_t *)(a->at + at) + 1; break;
		case 4: value = *(volatile uint64_t *)(a->at + at) ^ 1ull << value % 64; break;
		case 5: memset(a->at + at, (int)value, BASE_MIN(a->bytes - at, value >> 32 & 255)); continue;
		}
		*(volatile uint64_t *)(a->at + at) = value;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct guid g;
	GUID guid;
	if (argc < 3 || guid_from_provider_name(argv[1], &g) < 0) {
		return 2;
	}
	memcpy(&guid, g.b, 16);
	seed = argc > 3 ? strtoull(argv[3], NULL, 0) | 1 : (uint64_t)time(NULL) | 1;
	fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	if (EventRegister(&guid, NULL, NULL, &handle) != 0) {
		return 2;
	}
	for (int i = 0; i < 1000 && !EventProviderEnabled(handle, 1, 0); i++) {
		usleep(5000);
	}
	look_at_mappings();
	attack_files();
	if (area_count == 0 || breaches > 0) {
		printf("%u areas to scribble over, %d breaches\n", area_count, breaches);
		return 1;
	}
	printf("%u areas\n", area_count);
	fflush(stdout);
	pthread_t t;
	pthread_create(&t, NULL, write_events, NULL);
	pthread_create(&t, NULL, scribble, NULL);
	pthread_create(&t, NULL, scribble, (void *)1);
	usleep((useconds_t)(strtod(argv[2], NULL) * 1e6));
	_exit(0);
}
