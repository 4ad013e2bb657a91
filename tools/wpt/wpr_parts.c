/* SPDX-License-Identifier: MIT
 * The files of a recording while it runs: what they are called and which are there.
 */
#include "base/open_output.h"
#include "base/vec.h"
#include "tools/wpt/wpr.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

uint32_t wpr_files_kept(const struct wpr *w, const struct profile_collector *c)
{
	bool several = w->profile->mode == PROFILE_FILE && c->file_count > 1 && c->file_most_mb > 0;
	return several && !c->circular ? c->file_count : 0;
}

static const char *base_name(const struct profile_collector *c)
{
	const char *name = c->file_name ? c->file_name : "";
	for (const char *s = name; *s; s++) {
		name = *s == '/' || *s == '\\' ? s + 1 : name;
	}
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '%') ? name : "";
}

void wpr_part_path(const struct wpr *w, const struct profile_collector *c, unsigned index, char *out, size_t cap)
{
	const char *name = base_name(c);
	char own[64];
	for (const struct profile_collector *o = w->profile->collectors; o && *name; o = o->next) {
		name = o != c && strcasecmp(base_name(o), name) == 0 ? "" : name;
	}
	if (!*name) {
		snprintf(own, sizeof own, "collector%u.etl", index);
		name = own;
	}
	const char *dot = strrchr(name, '.');
	int stem = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
	snprintf(out, cap, "%s/%.*s%s%s", w->work, stem, name, wpr_files_kept(w, c) ? "_%d" : "", name + stem);
}

int wpr_each_part(const struct wpr *w, const struct profile_collector *c, unsigned index,
		  bool (*each)(void *ctx, const char *path), void *ctx)
{
	char pattern[2100], path[2200];
	wpr_part_path(w, c, index, pattern, sizeof pattern);
	char *mark = wpr_files_kept(w, c) ? strstr(pattern, "%d") : NULL;
	if (!mark) {
		return access(pattern, R_OK) == 0 && !each(ctx, pattern) ? -ENOMEM : 0;
	}
	/* The first numbers may be gone already. */
	unsigned least = UINT_MAX, most = 0;
	const char *slash = strrchr(pattern, '/');
	char dir[2100];
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - pattern), pattern);
	DIR *d = opendir(dir);
	size_t head = (size_t)(mark - slash - 1);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		char *end;
		unsigned long n;
		if (strncmp(e->d_name, slash + 1, head) == 0 && e->d_name[head] >= '0' && e->d_name[head] <= '9' &&
		    (n = strtoul(e->d_name + head, &end, 10), strcmp(end, mark + 2) == 0)) {
			least = (unsigned)BASE_MIN(n, (unsigned long)least);
			most = (unsigned)BASE_MAX(n, (unsigned long)most);
		}
	}
	if (d) {
		closedir(d);
	}
	for (unsigned n = least; n <= most && least != UINT_MAX; n++) {
		snprintf(path, sizeof path, "%.*s%u%s", (int)(mark - pattern), pattern, n, mark + 2);
		if (access(path, R_OK) == 0 && !each(ctx, path)) {
			return -ENOMEM;
		}
	}
	return 0;
}

bool wpr_collect_part(void *ctx, const char *path)
{
	struct wpr_parts *p = ctx;
	char *copy = VEC_ROOM(p->file, p->count, p->cap) ? strdup(path) : NULL;
	if (!copy) {
		return false;
	}
	p->file[p->count++] = copy;
	return true;
}

bool wpr_remove_part(void *ctx, const char *path)
{
	(void)ctx;
	open_output_remove(path);
	return true;
}
