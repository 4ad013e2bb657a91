/* SPDX-License-Identifier: MIT
 *
 * The images of this process, into its private sessions whose events have stacks: before the first of them, when
 * libraries have come or gone since, and again where the beginning is overwritten. On the logger thread, or on that of
 * a controller; the list is taken first, since the dynamic linker's lock must not be held when others are.
 */
#include "inproc/inproc_private.h"

#include "base/loaded_images.h"
#include "etl/etl_image.h"
#include "base/vec.h"

#include <limits.h>
#include <stdlib.h>

#define IMAGES_MAX 4096u

struct mine {
	struct loaded_image i;
	char *path;
};
struct list {
	struct mine *at;
	uint32_t count, cap;
};

/* context: the dynamic linker's lock is held. */
static int add(void *ctx, const struct loaded_image *i)
{
	struct list *l = ctx;
	if (!VEC_ROOM_UP_TO(l->at, l->count, l->cap, IMAGES_MAX)) {
		return 1;
	}
	char *path = strdup(i->path);
	if (path) {
		l->at[l->count++] = (struct mine){*i, path};
	}
	return 0;
}

/* As others know it: the program's is not said, and a library's may be relative. */
static const char *path_of(const char *said, char path[PATH_MAX])
{
	if (!said[0]) {
		ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
		path[n > 0 ? n : 0] = 0;
		return path;
	}
	return !strchr(said, '/') ? "[vdso]" : said[0] != '/' && realpath(said, path) ? path : said;
}

struct to {
	struct sink *sink;
	bool explain;
};

static void *room(void *ctx, uint64_t time, uint32_t bytes)
{
	const struct to *t = ctx;
	return t->explain ? sink_explain(t->sink, time, bytes) : sink_reserve(t->sink, 0, time, bytes);
}

uint64_t inproc_images_say(struct inproc_session *s, uint64_t time, bool explain)
{
	struct list l = {NULL, 0, 0};
	char path[PATH_MAX];
	struct to t = {s->sink, explain};
	uint64_t changes = loaded_images_each(add, &l);
	for (uint32_t k = 0; k < l.count; k++) {
		struct etl_image e = {.base = l.at[k].i.base,
				      .bytes = l.at[k].i.bytes,
				      .pid = inproc.pid,
				      .build_id = l.at[k].i.build_id,
				      .build_id_bytes = l.at[k].i.build_id_bytes,
				      .path = path_of(l.at[k].path, path)};
		etl_image_put(ETL_IMAGE_DC_START, time, &e, room, &t);
		free(l.at[k].path);
	}
	free(l.at);
	return changes ? changes : 1;
}

uint64_t inproc_images_changes(void)
{
	uint64_t n = loaded_images_changes();
	return n ? n : 1;
}
