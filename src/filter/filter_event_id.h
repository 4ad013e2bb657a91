/* SPDX-License-Identifier: MIT
 *
 * Which events of a provider one enable selects, beyond level and keywords, and which of them get a
 * stack: the EVENT_FILTER_TYPE_* that are evaluated for each event. Parsed once with every count
 * checked, by etwd and by private sessions; evaluated without allocating.
 */
#ifndef FILTER_FILTER_EVENT_ID_H
#define FILTER_FILTER_EVENT_ID_H

#include "base/base.h"
#include "etw/values/filter_types.h"

struct filter_ids {
	bool present, filter_in;
	uint16_t count;
	uint16_t id[MAX_EVENT_FILTER_EVENT_ID_COUNT];
};
struct filter_names {
	bool present, filter_in;
	uint8_t level;
	uint16_t count;
	uint32_t bytes;
	uint64_t any, all;
	const char *names; /* count NUL-terminated names; points into the filter's bytes */
};
struct filter_select {
	bool filtered;          /* some event may be refused */
	bool stack_filtered;    /* some stack may be */
	const uint8_t *payload; /* a blob of filter/filter_payload.h; NULL: none */
	const uint8_t *named;   /* likewise of filter/filter_named.h */
	struct filter_ids ids, stack_ids;
	struct filter_names names, stack_names;
	struct {
		bool present, filter_in;
		uint8_t level;
		uint64_t any, all;
	} stack_level;
};

/* What the filters look at of one event. */
struct filter_facts {
	uint16_t id;
	uint8_t version, level;
	bool string_only;
	uint64_t keyword;
	const uint8_t *schema; /* data of the TraceLogging metadata item; NULL: none */
	size_t schema_bytes;
	const uint8_t *payload;
	size_t payload_bytes;
};

/* Adds one filter (EVENT_FILTER_TYPE_*) of an enable of `provider`. The bytes have to stay as long as `s` is used. 0,
 * also for types that are not evaluated for each event; -EINVAL: malformed, or of another provider (then d says so). */
int filter_select_add(struct filter_select *s, const struct guid *provider, uint32_t type, const uint8_t *p, size_t n,
		      struct diag *d);
/* To be called only when filtered or stack_filtered, after level and keywords passed. */
bool filter_select_event(const struct filter_select *s, const struct filter_facts *f);
bool filter_select_stack(const struct filter_select *s, const struct filter_facts *f);

/* EVENT_FILTER_EVENT_ID as bytes, of up to MAX_EVENT_FILTER_EVENT_ID_COUNT ids; how many bytes. `in`: only these, else all others. */
size_t filter_ids_write(bool in, const uint16_t *ids, uint16_t count, uint8_t *out);
/* EVENT_FILTER_EVENT_NAME as bytes, for any level and keywords unless they are limited: begun, then one name after another. How many bytes
 * there are yet. False: no room, in MAX_EVENT_FILTER_EVENT_NAME_SIZE bytes. */
size_t filter_names_begin(bool in, uint8_t *out);
void filter_names_limit(uint8_t *out, uint8_t level, uint64_t any);
bool filter_names_add(uint8_t *out, size_t *inout_bytes, const char *name, size_t n);

/* Is a program of this file name in a ";"-separated list? "app.exe" in the list means "app", too, and a
 * path its last part: callers write what they know from elsewhere. */
bool filter_exe_listed(const char *list, const char *exe);

#endif
