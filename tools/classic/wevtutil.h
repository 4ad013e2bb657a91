/* SPDX-License-Identifier: MIT
 *
 * wevtutil: providers that are installed, and queries over .etl files.
 *
 *   cmd_wevtutil.c         words, options, verbs
 *   wevtutil_install.c     im, um: files in the user's or the machine's directory (base/datadir.h)
 *   wevtutil_publisher.c   ep, gp      wevtutil_log.c    el, gl
 *   wevtutil_query.c       qe          wevtutil_render.c one event as wevtutil shows it
 *   xpath.c                queries
 */
#ifndef TOOLS_CLASSIC_WEVTUTIL_H
#define TOOLS_CLASSIC_WEVTUTIL_H

#include "tools/common/cli.h"
#include "schema/schema_store.h"

/* "/name:value" or "/name"; NULL when it was not given. */
struct wevtutil {
	struct cli_args *a;
	const char *verb;
	const char *word; /* the one positional; NULL */
	const struct wevtutil_option *options;
	const char *value[32]; /* by the option's place in the table */
};
struct wevtutil_option {
	const char *name, *longer; /* as Windows has them */
	bool flag;                 /* true, false or nothing */
};
const char *wevtutil_value(const struct wevtutil *w, const char *name, const char *fallback);
/* False when absent. */
bool wevtutil_on(const struct wevtutil *w, const char *name);

int wevtutil_install(struct wevtutil *w);
int wevtutil_uninstall(struct wevtutil *w);
int wevtutil_publishers(struct wevtutil *w);
int wevtutil_publisher(struct wevtutil *w);
int wevtutil_logs(struct wevtutil *w);
int wevtutil_log(struct wevtutil *w);
int wevtutil_query(struct wevtutil *w);

/* Every provider with a manifest, sorted by name: free() the list. NULL: no memory. */
struct wevtutil_provider {
	struct guid guid;
	char name[256];
};
struct wevtutil_provider *wevtutil_providers(size_t *ret_count);
/* By name (any case) or GUID; NULL: not known. */
const struct manifest_provider *wevtutil_find(const char *name);
/* The file a provider was read from, may be "": built in. */
void wevtutil_source(const struct guid *provider, char *ret, size_t cap);
/* What "im /rf: /mf: /pf:" said about an installed manifest: text of a line, or "". */
void wevtutil_override(const char *path, const char *key, char *ret, size_t cap);

/* /bm and /sbm: the number of the last event that was shown. They tell what is wrong: CLI_FAILED. */
int wevtutil_bookmark_read(const char *file, uint64_t *ret);
int wevtutil_bookmark_write(const char *file, const char *trace, uint64_t record);

#endif
