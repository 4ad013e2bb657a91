/* SPDX-License-Identifier: MIT
 * Filters evaluated for each event: ids, names, payloads, and whose stack is kept.
 */
#include "filter/filter_event_id.h"

#include "base/match.h"
#include "filter/filter_payload.h"
#include "filter/filter_named.h"

#include <strings.h>

/* EVENT_FILTER_EVENT_ID: u8 FilterIn, u8, u16 Count, u16 Events[] */
static int parse_ids(struct bytes b, struct filter_ids *s)
{
	s->filter_in = bytes_u8(&b) != 0;
	bytes_u8(&b);
	s->count = bytes_u16(&b);
	if (b.bad || s->count > BASE_ARRAY_LEN(s->id)) {
		return -EINVAL;
	}
	for (uint16_t i = 0; i < s->count; i++) {
		s->id[i] = bytes_u16(&b);
	}
	s->present = true;
	return b.bad ? -EINVAL : 0;
}

/* EVENT_FILTER_EVENT_NAME: u64 any, u64 all, u8 level, u8 FilterIn, u16 NameCount, names */
static int parse_names(struct bytes b, struct filter_names *s)
{
	s->any = bytes_u64(&b);
	s->all = bytes_u64(&b);
	s->level = bytes_u8(&b);
	s->filter_in = bytes_u8(&b) != 0;
	s->count = bytes_u16(&b);
	const uint8_t *names = b.p;
	for (uint16_t i = 0; i < s->count && !b.bad; i++) {
		size_t len;
		bytes_asz(&b, &len);
	}
	if (b.bad) {
		return -EINVAL;
	}
	s->names = (const char *)names;
	s->bytes = (uint32_t)(b.p - names);
	s->present = true;
	return 0;
}

static int parse_payload(struct filter_select *s, const struct guid *provider, const uint8_t *p, size_t n,
			 struct diag *d)
{
	struct guid of;
	bool named = filter_is_named(p, n);
	int r = named ? filter_named_check(p, n, &of, d) : filter_check(p, n, &of, d);
	if (r < 0) {
		return r;
	}
	if (!guid_equal(&of, provider)) {
		diag_at(d, UINT64_MAX, "the payload filter was made for another provider");
		return -EINVAL;
	}
	s->payload = named ? NULL : p;
	s->named = named ? p : NULL;
	s->filtered = true;
	return 0;
}

int filter_select_add(struct filter_select *s, const struct guid *provider, uint32_t type, const uint8_t *p, size_t n,
		      struct diag *d)
{
	struct bytes b = bytes_of(p, n);
	switch (type) {
	case EVENT_FILTER_TYPE_PAYLOAD: return parse_payload(s, provider, p, n, d);
	case EVENT_FILTER_TYPE_EVENT_ID: s->filtered = true; return parse_ids(b, &s->ids);
	case EVENT_FILTER_TYPE_EVENT_NAME: s->filtered = true; return parse_names(b, &s->names);
	case EVENT_FILTER_TYPE_STACKWALK: s->stack_filtered = true; return parse_ids(b, &s->stack_ids);
	case EVENT_FILTER_TYPE_STACKWALK_NAME: s->stack_filtered = true; return parse_names(b, &s->stack_names);
	case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
		s->stack_filtered = true;
		s->stack_level.present = true;
		s->stack_level.any = bytes_u64(&b);
		s->stack_level.all = bytes_u64(&b);
		s->stack_level.level = bytes_u8(&b);
		s->stack_level.filter_in = bytes_u8(&b) != 0;
		return b.bad ? -EINVAL : 0;
	default: return 0; /* a scope filter, or the provider's business */
	}
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { IDS_AT = 4, NAMES_LEVEL = 16, NAMES_IN = 17, NAMES_COUNT = 18, NAMES_AT = 20 };

size_t filter_ids_write(bool in, const uint16_t *ids, uint16_t count, uint8_t *out)
{
	out[0] = in;
	out[1] = 0;
	le16_put(out + 2, count);
	for (uint16_t i = 0; i < count; i++) {
		le16_put(out + IDS_AT + 2 * i, ids[i]);
	}
	return IDS_AT + 2 * (size_t)count;
}

size_t filter_names_begin(bool in, uint8_t *out)
{
	memset(out, 0, NAMES_AT);
	out[NAMES_IN] = in;
	return NAMES_AT;
}

void filter_names_limit(uint8_t *out, uint8_t level, uint64_t any)
{
	le64_put(out, any);
	out[NAMES_LEVEL] = level;
}

bool filter_names_add(uint8_t *out, size_t *inout_bytes, const char *name, size_t n)
{
	if (n > MAX_EVENT_FILTER_EVENT_NAME_SIZE || *inout_bytes + n + 1 > MAX_EVENT_FILTER_EVENT_NAME_SIZE) {
		return false;
	}
	memcpy(out + *inout_bytes, name, n);
	out[*inout_bytes + n] = 0;
	*inout_bytes += n + 1;
	le16_put(out + NAMES_COUNT, (uint16_t)(le16_get(out + NAMES_COUNT) + 1));
	return true;
}

bool filter_exe_listed(const char *list, const char *exe)
{
	size_t want = strlen(exe);
	while (*list) {
		size_t len = strcspn(list, ";");
		const char *item = list;
		size_t n = len;
		for (size_t i = 0; i < len; i++) {
			if (list[i] == '/' || list[i] == '\\') {
				item = list + i + 1;
				n = len - i - 1;
			}
		}
		if (n == want && strncasecmp(item, exe, n) == 0) {
			return true;
		}
		if (n == want + 4 && strncasecmp(item + want, ".exe", 4) == 0 && strncasecmp(item, exe, want) == 0) {
			return true;
		}
		list += len + (list[len] == ';');
	}
	return false;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool id_listed(const struct filter_ids *s, uint16_t id)
{
	for (uint16_t i = 0; i < s->count; i++) {
		if (s->id[i] == id) {
			return true;
		}
	}
	return false;
}

/* The event name inside TraceLogging metadata: u16 size, tag bytes up to one without bit 7, name. */
static const char *schema_name(const uint8_t *schema, size_t bytes, size_t *ret_len)
{
	struct bytes b = bytes_of(schema, bytes);
	bytes_u16(&b);
	while (bytes_left(&b) > 0 && (bytes_u8(&b) & 0x80)) {
	}
	return bytes_asz(&b, ret_len);
}

static bool in_range(const struct filter_facts *f, uint8_t level, uint64_t any, uint64_t all)
{
	return match_level(match_limit(level), f->level) && match_keywords(match_any(any), all, true, f->keyword);
}

static bool name_listed(const struct filter_names *s, const char *name, size_t len)
{
	const char *at = s->names, *end = s->names + s->bytes;
	for (uint16_t i = 0; i < s->count && at < end; i++) {
		size_t n = strlen(at);
		if (n == len && memcmp(at, name, n) == 0) {
			return true;
		}
		at += n + 1;
	}
	return false;
}

static bool name_passes(const struct filter_names *s, const struct filter_facts *f)
{
	size_t len;
	const char *name = schema_name(f->schema, f->schema_bytes, &len);
	if (!name || !in_range(f, s->level, s->any, s->all)) {
		return true; /* the filter speaks only about events within its own level and keywords */
	}
	return name_listed(s, name, len) == s->filter_in;
}

bool filter_select_event(const struct filter_select *s, const struct filter_facts *f)
{
	if (f->schema) {
		return (!s->names.present || name_passes(&s->names, f)) &&
		       (!s->named ||
			filter_named_passes(s->named, f->schema, f->schema_bytes, f->payload, f->payload_bytes));
	}
	if (s->ids.present && id_listed(&s->ids, f->id) != s->ids.filter_in) {
		return false;
	}
	/* A bare string has no descriptor to be named by. Providers are 64-bit programs. */
	return !s->payload || f->string_only ||
	       filter_passes(s->payload, f->id, f->version, f->payload, f->payload_bytes, 8);
}

bool filter_select_stack(const struct filter_select *s, const struct filter_facts *f)
{
	if (s->stack_level.present &&
	    in_range(f, s->stack_level.level, s->stack_level.any, s->stack_level.all) != s->stack_level.filter_in) {
		return false;
	}
	if (f->schema) {
		return !s->stack_names.present || name_passes(&s->stack_names, f);
	}
	return !s->stack_ids.present || id_listed(&s->stack_ids, f->id) == s->stack_ids.filter_in;
}
