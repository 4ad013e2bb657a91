/* SPDX-License-Identifier: MIT
 * Filters of an enable. Parsed once, with every count checked; evaluated per event without
 * allocating.
 *
 * Scope filters (process id, executable) decide which registrations an enable reaches. Attribute
 * filters (event id, event name) and payload filters narrow the events. Stack filters only decide
 * whose stack is kept. What a payload means etwd does not know: the controller sends a program
 * (filter/filter.h).
 *
 * Package filters are scope filters that no process of this system passes, since none has a package
 * identity. How container filters name containers the SDK does not declare; here it is text.
 */
#include "etwd/etwd.h"

#include "filter/filter.h"
#include "filter/filter_named.h"
#include "format/etl_layout.h"

#include <stdlib.h>
#include <strings.h>

enum {
	FILTER_NONE = 0,
	FILTER_PID = (int)0x80000004,
	FILTER_EXECUTABLE = (int)0x80000008,
	FILTER_PACKAGE_ID = (int)0x80000010,
	FILTER_PACKAGE_APP_ID = (int)0x80000020,
	FILTER_PAYLOAD = (int)0x80000100,
	FILTER_CONTAINER = (int)0x80008000,
	FILTER_EVENT_ID = (int)0x80000200,
	FILTER_EVENT_NAME = (int)0x80000400,
	FILTER_STACKWALK = (int)0x80001000,
	FILTER_STACKWALK_NAME = (int)0x80002000,
	FILTER_STACKWALK_LEVEL_KW = (int)0x80004000,
};

/* EVENT_FILTER_EVENT_ID: u8 FilterIn, u8, u16 Count, u16 Events[] */
static int parse_ids(struct bytes b, struct id_set *s)
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
static int parse_names(struct bytes b, struct name_set *s)
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

/* A list of names. */
static int parse_list(const uint8_t *p, size_t n, char *out, size_t cap, bool *ret_present)
{
	size_t units = n / 2;
	while (units > 0 && le16_get(p + 2 * (units - 1)) == 0) {
		units--;
	}
	if (n % 2 != 0 || units > 512) {
		return -EINVAL;
	}
	long len = utf16_to_utf8(p, units, out, cap);
	if (len < 0 || (size_t)len >= cap) {
		return -EINVAL;
	}
	*ret_present = true;
	return 0;
}

static int parse_payload(struct enable_args *a, const uint8_t *p, size_t n, struct diag *diag)
{
	struct guid provider;
	bool named = filter_is_named(p, n);
	int r = named ? filter_named_check(p, n, &provider, diag)
		      : filter_check(p, n, &provider, diag);
	if (r < 0) {
		return r;
	}
	if (!guid_equal(&provider, &a->provider)) {
		diag_at(diag, UINT64_MAX, "the payload filter was made for another provider");
		return -EINVAL;
	}
	a->payload = named ? NULL : p;
	a->named = named ? p : NULL;
	a->filtered = true;
	return 0;
}

static int parse_one(struct enable_args *a, uint32_t type, const uint8_t *p, size_t n,
		     struct diag *diag)
{
	struct bytes b = bytes_of(p, n);
	switch ((int)type) {
	case FILTER_PID:
		if (n % 4 != 0 || n / 4 > BASE_ARRAY_LEN(a->pid_key)) {
			return -EINVAL;
		}
		a->has_pids = true;
		a->pid_count = (uint32_t)(n / 4);
		for (uint32_t i = 0; i < a->pid_count; i++) {
			/* Only those that live now: a later process of that number is another one. */
			a->pid_key[i] = etwd_process_start_key(bytes_u32(&b));
		}
		return 0;
	case FILTER_PACKAGE_ID:
	case FILTER_PACKAGE_APP_ID:
		a->has_packages = true;
		return n % 2 == 0 ? 0 : -EINVAL;
	case FILTER_PAYLOAD:
		return parse_payload(a, p, n, diag);
	case FILTER_CONTAINER:
		return parse_list(p, n, a->containers, sizeof a->containers, &a->has_containers);
	case FILTER_EXECUTABLE:
		return parse_list(p, n, a->exes, sizeof a->exes, &a->has_exes);
	case FILTER_EVENT_ID:
		a->filtered = true;
		return parse_ids(b, &a->ids);
	case FILTER_EVENT_NAME:
		a->filtered = true;
		return parse_names(b, &a->names);
	case FILTER_STACKWALK:
		a->stack_filtered = true;
		return parse_ids(b, &a->stack_ids);
	case FILTER_STACKWALK_NAME:
		a->stack_filtered = true;
		return parse_names(b, &a->stack_names);
	case FILTER_STACKWALK_LEVEL_KW:
		a->stack_filtered = true;
		a->stack_level.present = true;
		a->stack_level.any = bytes_u64(&b);
		a->stack_level.all = bytes_u64(&b);
		a->stack_level.level = bytes_u8(&b);
		a->stack_level.filter_in = bytes_u8(&b) != 0;
		return b.bad ? -EINVAL : 0;
	default:
		return 0; /* the provider's business, or nothing on this system */
	}
}

int etwd_filter_parse(const struct proto_message *m, struct enable_args *a, struct diag *diag)
{
	size_t at = 0, n;
	uint16_t tag;
	const uint8_t *p;
	while (proto_next(m, &at, &tag, &p, &n)) {
		if (tag != PROTO_TAG_FILTER) {
			continue;
		}
		if (n < 4 || n - 4 > ETWD_FILTER_BYTES_MAX || a->raw_count == ETWD_FILTERS_MAX) {
			diag_at(diag, UINT64_MAX, "too many filters, or a filter of a wrong size");
			return -EINVAL;
		}
		uint32_t type = le32_get(p);
		if (type == FILTER_NONE) {
			continue;
		}
		for (uint32_t i = 0; i < a->raw_count; i++) {
			if (a->raw[i].type == type) {
				diag_at(diag, UINT64_MAX, "filter type %#x is given twice", type);
				return -EINVAL;
			}
		}
		uint32_t bytes = (uint32_t)n - 4;
		uint8_t *copy = malloc(bytes ? bytes : 1);
		if (!copy) {
			return -ENOMEM;
		}
		memcpy(copy, p + 4, bytes);
		a->raw[a->raw_count].type = type;
		a->raw[a->raw_count].bytes = bytes;
		a->raw[a->raw_count++].data = copy;
		int r = parse_one(a, type, copy, bytes, diag);
		if (r < 0) {
			diag_at(diag, UINT64_MAX, "the filter of type %#x is %s", type,
				r == -EOPNOTSUPP ? "not evaluated here, so it is refused"
						 : "malformed");
			return r;
		}
	}
	if ((a->properties & EP_PROVIDER_GROUP) && a->filtered) {
		diag_at(diag, UINT64_MAX, "a provider group takes no event id, name or payload filter");
		return -EINVAL;
	}
	return 0;
}

void etwd_enable_args_unref(struct enable_args *a)
{
	if (!a || --a->refs > 0) {
		return;
	}
	for (uint32_t i = 0; i < a->raw_count; i++) {
		free(a->raw[i].data);
	}
	free(a);
}

/* ---- scope
 * --------------------------------------------------------------------------------------- */

static bool exe_listed(const char *list, const char *exe)
{
	size_t want = strlen(exe);
	while (*list) {
		size_t len = strcspn(list, ";");
		const char *item = list;
		size_t n = len;
		/* Callers write what they know from elsewhere: "app.exe", or a path. */
		for (size_t i = 0; i < len; i++) {
			if (list[i] == '/' || list[i] == '\\') {
				item = list + i + 1;
				n = len - i - 1;
			}
		}
		if (n == want && strncasecmp(item, exe, n) == 0) {
			return true;
		}
		if (n == want + 4 && strncasecmp(item + want, ".exe", 4) == 0 &&
		    strncasecmp(item, exe, want) == 0) {
			return true;
		}
		list += len + (list[len] == ';');
	}
	return false;
}

bool etwd_filter_scope(const struct enable_args *a, const struct process *p)
{
	if (a->has_pids) {
		bool found = false;
		for (uint32_t i = 0; i < a->pid_count; i++) {
			found |= a->pid_key[i] != 0 && a->pid_key[i] == p->start_key;
		}
		if (!found) {
			return false;
		}
	}
	if (a->has_packages || (a->has_containers && !etwd_container_listed(a->containers, p))) {
		return false;
	}
	return !a->has_exes || (p->exe[0] && exe_listed(a->exes, p->exe));
}

/* ---- events
 * -------------------------------------------------------------------------------------- */

static bool id_listed(const struct id_set *s, uint16_t id)
{
	for (uint16_t i = 0; i < s->count; i++) {
		if (s->id[i] == id) {
			return true;
		}
	}
	return false;
}

/* The event name inside TraceLogging metadata: u16 size, tag bytes up to one without bit 7, name.
 */
static const char *schema_name(const uint8_t *schema, uint32_t bytes, size_t *ret_len)
{
	struct bytes b = bytes_of(schema, bytes);
	bytes_u16(&b);
	while (bytes_left(&b) > 0 && (bytes_u8(&b) & 0x80)) {
	}
	return bytes_asz(&b, ret_len);
}

static bool in_range(const struct pool_rec *rec, uint8_t level, uint64_t any, uint64_t all)
{
	bool level_fits = level == 0 || rec->level <= level;
	bool kw_fits = rec->keyword == 0 ||
		       ((any == 0 || (rec->keyword & any) != 0) && (rec->keyword & all) == all);
	return level_fits && kw_fits;
}

static bool name_listed(const struct name_set *s, const char *name, size_t len)
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

static bool name_passes(const struct name_set *s, const struct pool_rec *rec, const uint8_t *schema,
			uint32_t schema_bytes)
{
	size_t len;
	const char *name = schema_name(schema, schema_bytes, &len);
	if (!name || !in_range(rec, s->level, s->any, s->all)) {
		return true; /* the filter speaks only about events within its own level and
				keywords */
	}
	return name_listed(s, name, len) == s->filter_in;
}

bool etwd_filter_event(const struct enable_args *a, const struct pool_event *ev,
		       const uint8_t *schema, uint32_t schema_bytes)
{
	const struct pool_rec *rec = ev->rec;
	if (schema) {
		return (!a->names.present || name_passes(&a->names, rec, schema, schema_bytes)) &&
		       (!a->named || filter_named_passes(a->named, schema, schema_bytes, ev->payload,
							 ev->payload_bytes));
	}
	if (a->ids.present && id_listed(&a->ids, rec->id) != a->ids.filter_in) {
		return false;
	}
	/* A bare string has no descriptor to be named by. Providers are 64-bit programs. */
	return !a->payload || (rec->flags & POOL_REC_STRING_ONLY) ||
	       filter_passes(a->payload, rec->id, rec->version, ev->payload, ev->payload_bytes, 8);
}

bool etwd_filter_stack(const struct enable_args *a, const struct pool_rec *rec,
		       const uint8_t *schema, uint32_t schema_bytes)
{
	if (a->stack_level.present && in_range(rec, a->stack_level.level, a->stack_level.any,
					       a->stack_level.all) != a->stack_level.filter_in) {
		return false;
	}
	if (schema) {
		return !a->stack_names.present ||
		       name_passes(&a->stack_names, rec, schema, schema_bytes);
	}
	return !a->stack_ids.present || id_listed(&a->stack_ids, rec->id) == a->stack_ids.filter_in;
}
