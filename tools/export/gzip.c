/* SPDX-License-Identifier: MIT */
#include "tools/export/gzip.h"

#include <stdlib.h>

#ifdef OPENETW_ARCHIVES
#include <zlib.h>

#define WINDOW 15
#define GZIP   16 /* added to the window: with gzip's header */

struct gzip {
	struct export *x;
	z_stream z;
	uint8_t out[65536];
};

struct gzip *gzip_create(struct export *x)
{
	struct gzip *g = calloc(1, sizeof *g);
	if (g && deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		g = NULL;
	}
	if (g) {
		g->x = x;
	}
	return g;
}

static bool deflate_all(struct gzip *g, const void *p, size_t n, int flush)
{
	int end = Z_OK;
	g->z.next_in = (Bytef *)(uintptr_t)p;
	g->z.avail_in = (uInt)n;
	do {
		g->z.next_out = g->out;
		g->z.avail_out = sizeof g->out;
		end = deflate(&g->z, flush);
		if (!export_put(g->x, g->out, sizeof g->out - g->z.avail_out)) {
			return false;
		}
	} while (g->z.avail_out == 0 || (flush == Z_FINISH && end == Z_OK));
	return true;
}

bool gzip_flush(struct gzip *g, struct strbuf *b)
{
	if (b->failed) {
		return export_fail(g->x, ENOMEM);
	}
	for (size_t i = 0; i < b->len;) {
		size_t n = BASE_MIN(b->len - i, (size_t)1 << 30);
		if (!deflate_all(g, b->s + i, n, Z_NO_FLUSH)) {
			return false;
		}
		i += n;
	}
	strbuf_clear(b);
	return true;
}

bool gzip_end(struct gzip *g)
{
	return deflate_all(g, NULL, 0, Z_FINISH);
}

void gzip_destroy(struct gzip *g)
{
	if (g) {
		deflateEnd(&g->z);
		free(g);
	}
}

#else

struct gzip {
	struct export *x;
};

struct gzip *gzip_create(struct export *x)
{
	struct gzip *g = calloc(1, sizeof *g);
	if (g) {
		g->x = x;
	}
	return g;
}

bool gzip_flush(struct gzip *g, struct strbuf *b)
{
	return export_flush(g->x, b);
}

bool gzip_end(struct gzip *g)
{
	return true;
}

void gzip_destroy(struct gzip *g)
{
	free(g);
}

#endif
