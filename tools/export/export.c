/* SPDX-License-Identifier: MIT */
#include "tools/export/export.h"

#include "base/level.h"

#define ADDRESS(c, name) &export_##c,
const struct export_kind *const export_kinds[] = {EXPORT_EACH_KIND(ADDRESS, ADDRESS) NULL};
#undef ADDRESS

const struct export_kind *export_kind_of(const char *name)
{
	for (int i = 0; export_kinds[i]; i++) {
		if (strcmp(export_kinds[i]->name, name) == 0) {
			return export_kinds[i];
		}
	}
	return NULL;
}

bool export_fail(struct export *x, int err)
{
	x->error = x->error ? x->error : err;
	return false;
}

bool export_put(struct export *x, const void *p, size_t n)
{
	errno = 0;
	if (n && fwrite_unlocked(p, 1, n, x->f) != n) {
		return export_fail(x, errno ? errno : EIO);
	}
	x->bytes += n;
	return true;
}

bool export_flush(struct export *x, struct strbuf *b)
{
	if (b->failed) {
		return export_fail(x, ENOMEM);
	}
	bool ok = export_put(x, b->s, b->len);
	strbuf_clear(b);
	return ok;
}

void export_miss_n(struct export *x, const char *what, uint64_t n)
{
	unsigned i = 0;
	while (i < x->miss_count && x->miss[i].what != what) {
		i++;
	}
	if (n && i < EXPORT_MISSES_MAX) {
		x->miss_count = BASE_MAX(x->miss_count, i + 1);
		x->miss[i].what = what;
		x->miss[i].count += n;
	}
}

void export_miss(struct export *x, const char *what)
{
	export_miss_n(x, what, 1);
}

void export_print_misses(const struct export *x, FILE *f)
{
	for (unsigned i = 0; i < x->miss_count; i++) {
		fprintf(f, "  %llu %s\n", (unsigned long long)x->miss[i].count, x->miss[i].what);
	}
}

void export_add_misses(const struct export *x, struct strbuf *b)
{
	strbuf_adds(b, "\"notRepresented\":[");
	for (unsigned i = 0; i < x->miss_count; i++) {
		strbuf_addf(b, "%s{\"count\":%llu,\"what\":", i ? "," : "", (unsigned long long)x->miss[i].count);
		strbuf_add_json(b, x->miss[i].what, strlen(x->miss[i].what));
		strbuf_adds(b, "}");
	}
	strbuf_adds(b, "]");
}

const char *export_level(const struct export_event *e)
{
	uint8_t level = e->record->EventHeader.EventDescriptor.Level;
	const char *word = level ? level_word(level) : NULL;
	return word ? word : "";
}
