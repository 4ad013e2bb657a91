/* SPDX-License-Identifier: MIT
 * Filters of an enable, written as text, into the bytes that EnableTraceEx2 takes.
 */
#include "session/session.h"
#include "base/parse.h"
#include "etw/values/filter_types.h"
#include "filter/filter_event_id.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEVEL_BYTES = 24 };

static const struct {
	const char *key;
	uint32_t type;
	size_t most; /* bytes, as documented for the type */
	const char *syntax;
} kinds[SESSION_FILTER_COUNT] = {
	[SESSION_FILTER_EXE] = {"ExecutableFilter", EVENT_FILTER_TYPE_EXECUTABLE_NAME, MAX_EVENT_FILTER_DATA_SIZE,
				"names separated by ; such as a;b"},
	[SESSION_FILTER_EVENT_ID] = {"EventIdFilter", EVENT_FILTER_TYPE_EVENT_ID, MAX_EVENT_FILTER_DATA_SIZE,
				     "up to 64 numbers such as 1,2,7, or !1,2 for all others"},
	[SESSION_FILTER_EVENT_NAME] = {"EventNameFilter", EVENT_FILTER_TYPE_EVENT_NAME,
				       MAX_EVENT_FILTER_EVENT_NAME_SIZE,
				       "names such as Start,Stop, or !Tick for all others"},
	[SESSION_FILTER_STACK_ID] = {"StackWalkFilter", EVENT_FILTER_TYPE_STACKWALK, MAX_EVENT_FILTER_DATA_SIZE,
				     "up to 64 numbers such as 1,2,7, or !1,2 for all others"},
	[SESSION_FILTER_STACK_NAME] = {"StackWalkNameFilter", EVENT_FILTER_TYPE_STACKWALK_NAME,
				       MAX_EVENT_FILTER_EVENT_NAME_SIZE,
				       "names such as Start,Stop, or !Tick for all others"},
	[SESSION_FILTER_STACK_LEVEL] = {"StackWalkLevelFilter", EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW,
					MAX_EVENT_FILTER_DATA_SIZE,
					"a level and keywords such as 2 or 4:0x10, or !4:0x10 for all others"},
	[SESSION_FILTER_CONTAINER] = {"ContainerFilter", EVENT_FILTER_TYPE_CONTAINER, MAX_EVENT_FILTER_DATA_SIZE,
				      "container ids or control groups separated by ;"},
	[SESSION_FILTER_PID] = {"ProcessIdFilter", EVENT_FILTER_TYPE_PID, 4 * MAX_EVENT_FILTER_PID_COUNT,
				"up to 8 process ids such as 17,42"},
};

const char *session_filter_key(enum session_filter kind)
{
	return kinds[kind].key;
}

uint32_t session_filter_type(enum session_filter kind)
{
	return kinds[kind].type;
}

bool session_filter_is_stack(enum session_filter kind)
{
	return kind == SESSION_FILTER_STACK_ID || kind == SESSION_FILTER_STACK_NAME ||
	       kind == SESSION_FILTER_STACK_LEVEL;
}

static size_t put_ids(const char *s, bool in, uint8_t *out)
{
	uint32_t ids[MAX_EVENT_FILTER_EVENT_ID_COUNT];
	uint16_t narrow[MAX_EVENT_FILTER_EVENT_ID_COUNT];
	int count = parse_numbers(s, 0, UINT16_MAX, ids, MAX_EVENT_FILTER_EVENT_ID_COUNT);
	for (int i = 0; i < count; i++) {
		narrow[i] = (uint16_t)ids[i];
	}
	return count > 0 ? filter_ids_write(in, narrow, (uint16_t)count, out) : 0;
}

/* What a backslash may stand before. */
static bool is_escaped(const char *s)
{
	return s[0] == '\\' && s[1] && strchr(",\\!@", s[1]);
}

static size_t put_names(const char *s, bool in, uint8_t *out)
{
	size_t at = filter_names_begin(in, out);
	if (*s == '@') {
		uint64_t level, any;
		s++;
		if (!parse_number_at(&s, UINT8_MAX, &level) || *s++ != ':' || !parse_number_at(&s, UINT64_MAX, &any) ||
		    *s++ != ':') {
			return 0;
		}
		filter_names_limit(out, (uint8_t)level, any);
	}
	for (bool more = true; more;) {
		char name[MAX_EVENT_FILTER_EVENT_NAME_SIZE];
		size_t n = 0;
		for (; *s && *s != ','; s++) {
			s += is_escaped(s);
			if (n == sizeof name) {
				return 0;
			}
			name[n++] = *s;
		}
		if (n == 0 || !filter_names_add(out, &at, name, n)) {
			return 0;
		}
		more = *s == ',';
		s += more;
	}
	return at;
}

void session_filter_ids_text(struct strbuf *out, bool in, const uint16_t *ids, uint32_t count)
{
	strbuf_adds(out, in ? "" : "!");
	for (uint32_t i = 0; i < count; i++) {
		strbuf_addf(out, "%s%u", i ? "," : "", ids[i]);
	}
}

void session_filter_names_text(struct strbuf *out, bool in, uint8_t level, uint64_t any)
{
	strbuf_adds(out, in ? "" : "!");
	if (level || any) {
		strbuf_addf(out, "@%u:0x%llx:", level, (unsigned long long)any);
	}
}

void session_filter_name_text(struct strbuf *out, bool first, const char *name)
{
	strbuf_adds(out, first ? "" : ",");
	for (const char *s = name; *s; s++) {
		if (strchr(",\\", *s) || (s == name && strchr("!@", *s))) {
			strbuf_addc(out, '\\');
		}
		strbuf_addc(out, *s);
	}
}

/* EVENT_FILTER_LEVEL_KW: u64 any, u64 all, u8 level, u8 FilterIn, padding */
static size_t put_level(const char *s, bool in, uint8_t *out)
{
	uint64_t level, any = 0;
	if (!parse_number_at(&s, UINT8_MAX, &level) || (*s == ':' && (s++, !parse_number_at(&s, UINT64_MAX, &any))) ||
	    *s) {
		return 0;
	}
	memset(out, 0, LEVEL_BYTES);
	le64_put(out, any);
	out[16] = (uint8_t)level;
	out[17] = in;
	return LEVEL_BYTES;
}

static size_t put_pids(const char *s, uint8_t *out)
{
	uint32_t pids[MAX_EVENT_FILTER_PID_COUNT];
	int count = parse_numbers(s, 0, UINT32_MAX, pids, MAX_EVENT_FILTER_PID_COUNT);
	for (int i = 0; i < count; i++) {
		le32_put(out + 4 * i, pids[i]);
	}
	return count > 0 ? 4 * (size_t)count : 0;
}

/* UTF-16 with its terminator. */
static size_t put_text(const char *s, uint8_t *out, size_t cap)
{
	uint16_t wide[512];
	long units = utf8_to_utf16(s, strlen(s), wide, BASE_ARRAY_LEN(wide));
	if (units <= 0 || 2 * ((size_t)units + 1) > cap) {
		return 0;
	}
	for (long i = 0; i <= units; i++) {
		le16_put(out + 2 * i, i < units ? wide[i] : 0);
	}
	return 2 * ((size_t)units + 1);
}

int session_filter_make(enum session_filter kind, const char *text, uint8_t out[SESSION_FILTER_BYTES],
			size_t *ret_bytes, struct diag *d)
{
	size_t n = 0, cap = kinds[kind].most;
	bool in = *text != '!';
	const char *list = text + !in;
	switch (kind) {
	case SESSION_FILTER_EVENT_ID:
	case SESSION_FILTER_STACK_ID: n = put_ids(list, in, out); break;
	case SESSION_FILTER_EVENT_NAME:
	case SESSION_FILTER_STACK_NAME: n = put_names(list, in, out); break;
	case SESSION_FILTER_PID: n = put_pids(text, out); break;
	case SESSION_FILTER_STACK_LEVEL: n = put_level(list, in, out); break;
	default: n = put_text(text, out, cap);
	}
	if (n == 0 || n > cap) {
		diag_at(d, UINT64_MAX, "takes %s, not '%.80s'", kinds[kind].syntax, text);
		return -EINVAL;
	}
	*ret_bytes = n;
	return 0;
}

int session_set_filter(struct session_provider *p, enum session_filter kind, const char *text, struct diag *d)
{
	char *copy = NULL;
	if (text) {
		uint8_t bytes[SESSION_FILTER_BYTES];
		size_t n;
		if (strpbrk(text, "\r\n")) {
			diag_at(d, UINT64_MAX, "is one line");
			return -EINVAL;
		}
		int r = session_filter_make(kind, text, bytes, &n, d);
		if (r < 0) {
			return r;
		}
		copy = strdup(text);
		if (!copy) {
			diag_at(d, UINT64_MAX, "needs more memory than there is");
			return -ENOMEM;
		}
	}
	free(p->filter[kind]);
	p->filter[kind] = copy;
	return 0;
}
