/* SPDX-License-Identifier: MIT
 *
 * Output through gzip. In a build without zlib the bytes go out as they are; readers of pprof take both.
 */
#ifndef TOOLS_EXPORT_GZIP_H
#define TOOLS_EXPORT_GZIP_H

#include "tools/export/export.h"

struct gzip;
struct gzip *gzip_create(struct export *x); /* NULL: no memory */
/* The buffer's bytes, and then it is empty. False: export_fail() was called. */
bool gzip_flush(struct gzip *g, struct strbuf *b);
bool gzip_end(struct gzip *g);
void gzip_destroy(struct gzip *g);

#endif
