/* SPDX-License-Identifier: MIT
 *
 * Runs a libFuzzer target without libFuzzer: every file of the corpus folder as it is, then a fixed
 * number of seeded mutations of each (byte flips, cuts, splices), so that fuzz targets are ordinary,
 * repeatable tests. FUZZ_SEED and FUZZ_RUNS override.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t state;

static uint32_t next(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33);
}

/* A fresh, exactly sized copy each time, so that ASan sees every overread. */
static void run_one(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy) {
		return;
	}
	memcpy(copy, p, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void mutate(const uint8_t *p, size_t n, unsigned runs)
{
	uint8_t *copy = malloc(n + 64);
	if (!copy) {
		return;
	}
	for (unsigned i = 0; i < runs; i++) {
		memcpy(copy, p, n);
		size_t len = n;
		unsigned edits = 1 + next() % 8;
		for (unsigned k = 0; k < edits && len > 0; k++) {
			switch (next() % 5) {
			case 0: copy[next() % len] = (uint8_t)next(); break;
			case 1: copy[next() % len] ^= (uint8_t)(1u << next() % 8); break;
			case 2: len = next() % (len + 1); break;
			case 3: copy[next() % len] = (next() & 1) ? 0xFF : 0; break;
			default: {
				size_t a = next() % len, b = next() % len;
				size_t m = next() % 32;
				m = m < len - a ? m : len - a;
				m = m < len - b ? m : len - b;
				memmove(copy + a, copy + b, m);
			}
			}
		}
		run_one(copy, len);
	}
	free(copy);
}

static int run_file(const char *path, unsigned runs)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		return -1;
	}
	struct stat st;
	if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
		fclose(f);
		return -1;
	}
	uint8_t *data = malloc((size_t)st.st_size + 1);
	size_t n = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	fclose(f);
	if (data) {
		run_one(data, n);
		mutate(data, n, runs);
	}
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	const char *seed = getenv("FUZZ_SEED");
	const char *count = getenv("FUZZ_RUNS");
	state = seed ? strtoull(seed, NULL, 0) : 20240601;
	unsigned runs = count ? (unsigned)strtoul(count, NULL, 0) : 2000;
	printf("seed %llu, %u mutations of each input\n", (unsigned long long)state, runs);
	run_one((const uint8_t *)"", 0);
	unsigned files = 0;
	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		if (!d) {
			files += run_file(argv[i], runs) == 0;
			continue;
		}
		for (struct dirent *e; (e = readdir(d));) {
			char path[4096];
			snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
			files += run_file(path, runs) == 0;
		}
		closedir(d);
	}
	if (files == 0) {
		uint8_t noise[512];
		for (size_t i = 0; i < sizeof noise; i++) {
			noise[i] = (uint8_t)next();
		}
		mutate(noise, sizeof noise, runs);
	}
	printf("%u files\n", files);
	return 0;
}
