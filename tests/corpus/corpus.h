/* SPDX-License-Identifier: MIT
 *
 * Where the real trace files are, and a reader for the few shapes of JSON in derived.json. For
 * tests.
 */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline const char *corpus_path(const char *name, char *out, size_t cap)
{
	const char *dir = getenv("OPENETW_CORPUS");
	if (dir) {
		snprintf(out, cap, "%s/%s", dir, name);
	} else {
		snprintf(out, cap, "%s/../shared/corpus/%s", OPENETW_SOURCE_DIR, name);
	}
	return out;
}

/* Prints why and returns false when the real files are not here. */
static inline bool corpus_present(void)
{
	char path[4096];
	if (access(corpus_path("derived.json", path, sizeof path), R_OK) == 0) {
		return true;
	}
	printf("skipped: no real trace files at %s (set OPENETW_CORPUS)\n", path);
	return false;
}

/* malloc, NUL behind; NULL when it cannot be read. */
static inline char *corpus_load(const char *name, size_t *ret_n)
{
	char path[4096];
	FILE *f = fopen(corpus_path(name, path, sizeof path), "rb");
	if (!f) {
		return NULL;
	}
	fseek(f, 0, SEEK_END);
	long n = ftell(f);
	rewind(f);
	char *p = malloc((size_t)n + 1);
	if (p && fread(p, 1, (size_t)n, f) != (size_t)n) {
		free(p);
		p = NULL;
	}
	fclose(f);
	if (p) {
		p[n] = 0;
		*ret_n = (size_t)n;
	}
	return p;
}

struct corpus_json {
	const char *begin, *end; /* between the braces */
};

static inline struct corpus_json corpus_object(struct corpus_json in, const char *key)
{
	char quoted[256];
	snprintf(quoted, sizeof quoted, "\"%s\": {", key);
	const char *p = in.begin ? strstr(in.begin, quoted) : NULL;
	if (!p || p >= in.end) {
		return (struct corpus_json){NULL, NULL};
	}
	p += strlen(quoted);
	int depth = 1;
	const char *q = p;
	for (; *q && depth; q++) {
		depth += *q == '{' ? 1 : *q == '}' ? -1 : 0;
	}
	return (struct corpus_json){p, q - 1};
}

static inline uint64_t corpus_number(struct corpus_json in, const char *key)
{
	char quoted[256];
	snprintf(quoted, sizeof quoted, "\"%s\": ", key);
	const char *p = in.begin ? strstr(in.begin, quoted) : NULL;
	return p && p < in.end ? strtoull(p + strlen(quoted), NULL, 10) : UINT64_MAX;
}

/* "key": number pairs of a flat object. */
static inline bool corpus_pair(struct corpus_json *in, char key[64], uint64_t *ret)
{
	const char *p = in->begin ? memchr(in->begin, '"', (size_t)(in->end - in->begin)) : NULL;
	const char *q = p ? strchr(p + 1, '"') : NULL;
	if (!q || q - p > 60) {
		return false;
	}
	memcpy(key, p + 1, (size_t)(q - p - 1));
	key[q - p - 1] = 0;
	char *after;
	*ret = strtoull(q + 2, &after, 10);
	in->begin = after;
	return true;
}

static const char *const corpus_files[] = {
	"demikernel/PktMon.etl",
	"etl-parser/ShutdownPerfDiagLogger.etl",
	"etl-parser/lxcore_kernel.etl",
	"krabsetw/powershell.etl",
	"monogame-samples/PerfViewData.etl",
	"perfview/SelfDescribingSingleEvent.etl",
	"perfview/gcevents.etl",
	"perfview/net.4.5.2.x86.etl",
	"perfview/primitive-types.etl",
	"sawbuck/image_data_32_v0.etl",
	"sawbuck/image_data_32_v2.etl",
	"sawbuck/image_data_64_v1.etl",
	"sawbuck/process_data_32_v1.etl",
	"sawbuck/process_data_64_v2.etl",
	"sawbuck/vista_test_data_32_v0.etl",
	"sonde/test.etl",
	"tx/BondEtwSample-8e8c94d6.etl",
	"tx/HTTP_Server.etl",
	"tx/Process.etl",
	"tx/WsRm01.etl",
};
#define CORPUS_FILES (sizeof corpus_files / sizeof corpus_files[0])

#endif
