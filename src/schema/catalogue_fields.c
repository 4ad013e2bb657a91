/* SPDX-License-Identifier: MIT
 *
 * The field lists of a catalogue:
 *   type[(size)][?][:map] Name[\[count\]], ...      @alias      { members } Name[\[count\]]
 */
#include "schema/catalogue_private.h"

#include <stdlib.h>

static const struct {
	char name[18];
	uint16_t in, out;
	uint16_t length;
} types[] = {
	{"u8", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE},
	{"u16", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT},
	{"u32", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT},
	{"u64", TDH_INTYPE_UINT64, TDH_OUTTYPE_UNSIGNEDLONG},
	{"i8", TDH_INTYPE_INT8, TDH_OUTTYPE_BYTE},
	{"i16", TDH_INTYPE_INT16, TDH_OUTTYPE_SHORT},
	{"i32", TDH_INTYPE_INT32, TDH_OUTTYPE_INT},
	{"i64", TDH_INTYPE_INT64, TDH_OUTTYPE_LONG},
	{"x8", TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8},
	{"x16", TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16},
	{"x32", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32},
	{"x64", TDH_INTYPE_UINT64, TDH_OUTTYPE_HEXINT64},
	{"f32", TDH_INTYPE_FLOAT, TDH_OUTTYPE_FLOAT},
	{"f64", TDH_INTYPE_DOUBLE, TDH_OUTTYPE_DOUBLE},
	{"bool", TDH_INTYPE_BOOLEAN, TDH_OUTTYPE_BOOLEAN},
	{"bool8", TDH_INTYPE_UINT8, TDH_OUTTYPE_BOOLEAN},
	{"ptr", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64},
	{"code", TDH_INTYPE_POINTER, TDH_OUTTYPE_CODE_POINTER},
	{"size", TDH_INTYPE_POINTER, TDH_OUTTYPE_UNSIGNEDLONG},
	{"guid", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID},
	{"time", TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME},
	{"systime", TDH_INTYPE_SYSTEMTIME, TDH_OUTTYPE_DATETIME},
	{"wsz", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING},
	{"asz", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING},
	{"sid", TDH_INTYPE_SID, TDH_OUTTYPE_STRING},
	{"usersid", TDH_INTYPE_WBEMSID, TDH_OUTTYPE_STRING},
	{"bin", TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY},
	{"sockaddr", TDH_INTYPE_BINARY, TDH_OUTTYPE_SOCKETADDRESS},
	{"cwsz", TDH_INTYPE_MANIFEST_COUNTEDSTRING, TDH_OUTTYPE_STRING},
	{"casz", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, TDH_OUTTYPE_STRING},
	{"cbin", TDH_INTYPE_MANIFEST_COUNTEDBINARY, TDH_OUTTYPE_HEXBINARY},
	{"rest", TDH_INTYPE_NONNULLTERMINATEDANSISTRING, TDH_OUTTYPE_STRING},
	{"wrest", TDH_INTYPE_NONNULLTERMINATEDSTRING, TDH_OUTTYPE_STRING},
	{"binrest", TDH_INTYPE_NONNULLTERMINATEDANSISTRING, TDH_OUTTYPE_HEXBINARY},
	{"pid", TDH_INTYPE_UINT32, TDH_OUTTYPE_PID},
	{"tid", TDH_INTYPE_UINT32, TDH_OUTTYPE_TID},
	{"port", TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT},
	{"ip4", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4},
	{"ip6", TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 16},
	{"ntstatus", TDH_INTYPE_UINT32, TDH_OUTTYPE_NTSTATUS},
	{"win32", TDH_INTYPE_UINT32, TDH_OUTTYPE_WIN32ERROR},
	{"hresult", TDH_INTYPE_INT32, TDH_OUTTYPE_HRESULT},
};

struct list {
	struct manifest_item **tail;
	struct manifest_item *first;
	const struct list *outer;
	uint32_t count;
	unsigned depth;
};

static void skip(const char **at)
{
	*at += strspn(*at, " \t");
}

static struct manifest_item *find_item(const struct list *l, const char *name, size_t n)
{
	for (; l; l = l->outer) {
		for (struct manifest_item *it = l->first; it; it = it->next) {
			if (strlen(it->name) == n && memcmp(it->name, name, n) == 0) {
				return it;
			}
		}
	}
	return NULL;
}

/* A number, an earlier field, or for counts `*`. `close` ends it. */
static int read_size(struct catalogue_reader *r, const char **at, const struct list *l, char close,
		     struct manifest_item *it)
{
	const char *s = *at;
	const char *end = strchr(s, close);
	if (!end || end == s) {
		return catalogue_bad(r, "a size is expected", s);
	}
	size_t n = (size_t)(end - s);
	*at = end + 1;
	bool count = close == ']';
	if (count && n == 1 && *s == '*') {
		it->to_end = true;
		return 0;
	}
	if (*s >= '0' && *s <= '9') {
		unsigned long v = strtoul(s, NULL, 0);
		if (v > 0xFFFF) {
			return catalogue_bad(r, "a size is below 65536", s);
		}
		*(count ? &it->has_count : &it->has_length) = true;
		*(count ? &it->count : &it->length) = (uint16_t)v;
		return 0;
	}
	struct manifest_item *of = find_item(l, s, n);
	if (!of) {
		return catalogue_bad(r, "no such field before this one", s);
	}
	*(count ? &it->count_of : &it->length_of) = of;
	return 0;
}

static int read_type(struct catalogue_reader *r, const char **at, const struct list *l, struct manifest_item *it)
{
	const char *s = *at;
	size_t n = strcspn(s, " \t(:?,");
	size_t i = 0;
	while (i < BASE_ARRAY_LEN(types) && !(strlen(types[i].name) == n && memcmp(types[i].name, s, n) == 0)) {
		i++;
	}
	if (i == BASE_ARRAY_LEN(types)) {
		return catalogue_bad(r, "unknown type", s);
	}
	it->in_type = types[i].in;
	it->out_type = types[i].out;
	it->length = types[i].length;
	it->has_length = types[i].length != 0;
	*at += n;
	if (**at == '(') {
		(*at)++;
		int err = read_size(r, at, l, ')', it);
		if (err < 0) {
			return err;
		}
	}
	if (**at == '?') {
		it->optional = true;
		(*at)++;
	}
	if (**at == ':') {
		(*at)++;
		size_t k = strcspn(*at, " \t,");
		it->map_name = arena_text(r->arena, *at, k);
		*at += k;
	}
	return 0;
}

static int read_list(struct catalogue_reader *r, const char **at, struct list *l);

static int read_struct(struct catalogue_reader *r, const char **at, struct list *l, struct manifest_item *it)
{
	struct list members = {.outer = l, .depth = l->depth + 1};
	(*at)++;
	members.tail = &members.first;
	int err = read_list(r, at, &members);
	if (err < 0) {
		return err;
	}
	if (**at != '}') {
		return catalogue_bad(r, "} is expected", *at);
	}
	(*at)++;
	it->is_struct = true;
	it->members = members.first;
	it->member_count = members.count;
	return 0;
}

static int read_alias(struct catalogue_reader *r, const char **at, struct list *l)
{
	size_t n = strcspn(*at + 1, " \t,}");
	for (const struct catalogue_alias *a = r->aliases; a; a = a->next) {
		if (strlen(a->name) == n && memcmp(a->name, *at + 1, n) == 0) {
			const char *fields = a->fields;
			*at += n + 1;
			l->depth++;
			int err = read_list(r, &fields, l);
			l->depth--;
			return err == 0 && *fields ? catalogue_bad(r, "what is this?", fields) : err;
		}
	}
	return catalogue_bad(r, "unknown alias", *at);
}

static int read_item(struct catalogue_reader *r, const char **at, struct list *l)
{
	struct manifest_item *it = ARENA_NEW(r->arena, struct manifest_item);
	if (!it) {
		return -ENOMEM;
	}
	it->pos.line = r->text.line_start;
	int err = **at == '{' ? read_struct(r, at, l, it) : read_type(r, at, l, it);
	if (err < 0) {
		return err;
	}
	skip(at);
	size_t n = strcspn(*at, " \t,[}");
	if (n == 0) {
		return catalogue_bad(r, "a field name is expected", *at);
	}
	it->name = arena_text(r->arena, *at, n);
	*at += n;
	if (**at == '[') {
		(*at)++;
		err = read_size(r, at, l, ']', it);
		if (err < 0) {
			return err;
		}
	}
	if (!it->name || (it->map_name && r->arena->failed)) {
		return -ENOMEM;
	}
	*l->tail = it;
	l->tail = &it->next;
	l->count++;
	if (++r->item_count > SCHEMA_FIELDS_MAX) {
		return catalogue_bad(r, "too many fields", *at);
	}
	return 0;
}

static int read_list(struct catalogue_reader *r, const char **at, struct list *l)
{
	if (l->depth > CATALOGUE_DEPTH_MAX) {
		return catalogue_bad(r, "too deep", *at);
	}
	for (;;) {
		skip(at);
		if (**at == 0 || **at == '}') {
			return 0;
		}
		int err = **at == '@' ? read_alias(r, at, l) : read_item(r, at, l);
		if (err < 0) {
			return err;
		}
		skip(at);
		if (**at != ',') {
			return 0;
		}
		(*at)++;
	}
}

int catalogue_read_fields(struct catalogue_reader *r, const char **at, struct manifest_template *t)
{
	struct list l = {.depth = 0};
	l.tail = &l.first;
	r->item_count = 0;
	skip(at);
	if (**at == '-') {
		(*at)++;
	} else {
		int err = read_list(r, at, &l);
		if (err < 0) {
			return err;
		}
	}
	skip(at);
	if (**at) {
		return catalogue_bad(r, "what is this?", *at);
	}
	t->items = l.first;
	t->item_count = l.count;
	return 0;
}
