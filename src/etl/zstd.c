/* SPDX-License-Identifier: MIT
 *
 * Zstandard for log files of our own readers. libzstd is looked for when the first such file is
 * read or written: programs that only trace should not load it, and machines without it only lack
 * this one format. The few functions are declared here as their stable interface has them.
 */
#include "etl/etl_record.h"
#include "etl/etl_writer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define LEVEL          3
#define PARAM_WINDOW   100 /* ZSTD_d_windowLogMax */
#define WINDOW_LOG_MAX 24  /* no buffer is larger than 16 MiB */

struct in_buffer {
	const void *p;
	size_t size, pos;
};
struct out_buffer {
	void *p;
	size_t size, pos;
};

static struct {
	void *(*create_c)(void);
	size_t (*free_c)(void *);
	size_t (*compress)(void *, void *, size_t, const void *, size_t, int);
	size_t (*bound)(size_t);
	unsigned (*is_error)(size_t);
	void *(*create_d)(void);
	size_t (*free_d)(void *);
	size_t (*set)(void *, int, int);
	size_t (*decompress)(void *, struct out_buffer *, struct in_buffer *);
} lib;
static bool available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
	void *h = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *at;
	} wanted[] = {
		{"ZSTD_createCCtx", &lib.create_c},
		{"ZSTD_freeCCtx", &lib.free_c},
		{"ZSTD_compressCCtx", &lib.compress},
		{"ZSTD_compressBound", &lib.bound},
		{"ZSTD_isError", &lib.is_error},
		{"ZSTD_createDCtx", &lib.create_d},
		{"ZSTD_freeDCtx", &lib.free_d},
		{"ZSTD_DCtx_setParameter", &lib.set},
		{"ZSTD_decompressStream", &lib.decompress},
	};
	bool all = h != NULL;
	for (size_t i = 0; all && i < BASE_ARRAY_LEN(wanted); i++) {
		void *f = dlsym(h, wanted[i].name);
		memcpy(wanted[i].at, &f, sizeof f);
		all = f != NULL;
	}
	available = all;
}

bool etl_zstd_available(void)
{
	pthread_once(&once, load);
	return available;
}

struct etl_zstd {
	void *context;
};

int etl_zstd_create(struct etl_zstd **ret)
{
	if (!etl_zstd_available()) {
		return -ENOTSUP;
	}
	struct etl_zstd *z = calloc(1, sizeof *z);
	if (z) {
		z->context = lib.create_c();
	}
	if (!z || !z->context) {
		free(z);
		return -ENOMEM;
	}
	*ret = z;
	return 0;
}

void etl_zstd_destroy(struct etl_zstd *z)
{
	if (z) {
		lib.free_c(z->context);
		free(z);
	}
}

size_t etl_zstd_bound(size_t n)
{
	return etl_zstd_available() ? lib.bound(n) : 0;
}

size_t etl_zstd_compress(struct etl_zstd *z, const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	size_t r = lib.compress(z->context, out, cap, in, n, LEVEL);
	return lib.is_error(r) ? 0 : r;
}

int zstd_decompress_some(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes, size_t *ret_done)
{
	*ret_done = 0;
	if (!etl_zstd_available()) {
		return -ENOTSUP;
	}
	void *d = lib.create_d();
	if (!d) {
		return -ENOMEM;
	}
	lib.set(d, PARAM_WINDOW, WINDOW_LOG_MAX);
	struct in_buffer i = {in, in_bytes, 0};
	struct out_buffer o = {out, out_bytes, 0};
	while (o.pos < o.size) {
		size_t in_before = i.pos, out_before = o.pos;
		size_t r = lib.decompress(d, &o, &i);
		/* 0 is the end of a frame, and there is only one. */
		if (lib.is_error(r) || r == 0 || (i.pos == in_before && o.pos == out_before)) {
			break;
		}
	}
	lib.free_d(d);
	*ret_done = o.pos;
	return o.pos == out_bytes ? 0 : -EBADMSG;
}
