/* SPDX-License-Identifier: MIT
 * Filters of an enable: scope filters here, those of single events in filter/filter_payload.h.
 *
 * Scope filters (process id, executable) decide which registrations an enable reaches. Attribute
 * filters (event id, event name) and payload filters narrow the events. Stack filters only decide
 * whose stack is kept. What a payload means etwd does not know: the controller sends a program
 * (filter/filter_payload.h).
 *
 * Package filters are scope filters that no process of this system passes, since none has a package
 * identity. How container filters name containers the SDK does not declare; here it is text.
 */
#include "base/process.h"
#include "etw/values/enable_properties.h"
#include "etw/values/filter_types.h"
#include "etwd/etwd_limits.h"
#include "etwd/etwd_process.h"
#include "etwd/etwd_provider.h"
#include "proto/proto.h"

#include <stdlib.h>

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

static int parse_one(struct enable_args *a, uint32_t type, const uint8_t *p, size_t n, struct diag *diag)
{
	struct bytes b = bytes_of(p, n);
	switch (type) {
	case EVENT_FILTER_TYPE_PID:
		if (n % 4 != 0 || n / 4 > BASE_ARRAY_LEN(a->pid_key)) {
			return -EINVAL;
		}
		a->has_pids = true;
		a->pid_count = (uint32_t)(n / 4);
		for (uint32_t i = 0; i < a->pid_count; i++) {
			/* Only those that live now: a later process of that number is another one. */
			a->pid_key[i] = process_start_key(bytes_u32(&b));
		}
		return 0;
	case EVENT_FILTER_TYPE_PACKAGE_ID:
	case EVENT_FILTER_TYPE_PACKAGE_APP_ID: a->has_packages = true; return n % 2 == 0 ? 0 : -EINVAL;
	case EVENT_FILTER_TYPE_CONTAINER:
		return parse_list(p, n, a->containers, sizeof a->containers, &a->has_containers);
	case EVENT_FILTER_TYPE_EXECUTABLE_NAME: return parse_list(p, n, a->exes, sizeof a->exes, &a->has_exes);
	default: return filter_select_add(&a->select, &a->provider, type, p, n, diag);
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
		if (n < 4 || n - 4 > ETWD_FILTER_BYTES_MAX || a->raw_count == MAX_EVENT_FILTERS_COUNT) {
			diag_at(diag, UINT64_MAX, "too many filters, or a filter of a wrong size");
			return -EINVAL;
		}
		uint32_t type = le32_get(p);
		if (type == EVENT_FILTER_TYPE_NONE) {
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
			diag_at(diag, UINT64_MAX, "the filter of type %#x is malformed", type);
			return r;
		}
	}
	if ((a->properties & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) && a->select.filtered) {
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

bool etwd_filter_scope(const struct enable_args *a, const struct process *p)
{
	if (a->has_pids) {
		bool found = false;
		for (uint32_t i = 0; i < a->pid_count; i++) {
			found |= a->pid_key[i] != 0 && a->pid_key[i] == p->identity.start_key;
		}
		if (!found) {
			return false;
		}
	}
	if (a->has_packages || (a->has_containers && !etwd_container_listed(a->containers, p))) {
		return false;
	}
	return !a->has_exes || (p->exe[0] && filter_exe_listed(a->exes, p->exe));
}

/* ---- events
 * -------------------------------------------------------------------------------------- */

static struct filter_facts facts_of(const struct pool_rec *rec, const uint8_t *schema, uint32_t schema_bytes)
{
	return (struct filter_facts){
		.id = rec->id,
		.version = rec->version,
		.level = rec->level,
		.string_only = rec->flags & POOL_REC_STRING_ONLY,
		.keyword = rec->keyword,
		.schema = schema,
		.schema_bytes = schema_bytes,
	};
}

bool etwd_filter_event(const struct enable_args *a, const struct pool_event *ev, const uint8_t *schema,
		       uint32_t schema_bytes)
{
	struct filter_facts f = facts_of(ev->rec, schema, schema_bytes);
	f.payload = ev->payload;
	f.payload_bytes = ev->payload_bytes;
	return filter_select_event(&a->select, &f);
}

bool etwd_filter_stack(const struct enable_args *a, const struct pool_rec *rec, const uint8_t *schema,
		       uint32_t schema_bytes)
{
	struct filter_facts f = facts_of(rec, schema, schema_bytes);
	return filter_select_stack(&a->select, &f);
}
