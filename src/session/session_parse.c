/* SPDX-License-Identifier: MIT
 * Text -> session and back. The keys are one table.
 */
#include "session/session_payload.h"
#include "filter/filter_named.h"
#include "base/parse.h"

#include "base/printable.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum kind {
	NUMBER, /* uint32_t */
	BIG,    /* uint64_t */
	BYTE,
	TEXT,
	GUID_TEXT,
	FLAG,
	SUFFIX,
};
struct key {
	char name[28]; /* an array: a pointer would be written by the loader, in every process */
	enum kind kind;
	size_t offset, size;
	uint64_t min, max;
};
#define KEY(name, kind, type, member, min, max)                                                         \
	{                                                                                               \
		name, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member), min, max \
	}
static const struct key session_keys[] = {
	KEY("Name", TEXT, etw_session, name, 0, 0),
	KEY("Start", NUMBER, etw_session, start, 0, 1),
	KEY("Guid", GUID_TEXT, etw_session, props.guid, 0, 0),
	KEY("FileName", TEXT, etw_session, file, 0, 0),
	KEY("LogFileMode", NUMBER, etw_session, props.mode, 0, UINT32_MAX),
	KEY("MaxFileSize", NUMBER, etw_session, props.maximum_file_size, 0, UINT32_MAX),
	KEY("BufferSize", NUMBER, etw_session, props.buffer_kb, 0, SESSION_BUFFER_KB_MAX),
	KEY("MinimumBuffers", NUMBER, etw_session, props.minimum_buffers, 0, SESSION_BUFFERS_MAX),
	KEY("MaximumBuffers", NUMBER, etw_session, props.maximum_buffers, 0, SESSION_BUFFERS_MAX),
	KEY("FlushTimer", NUMBER, etw_session, props.flush_timer, 0, 86400000),
	KEY("ClockType", NUMBER, etw_session, props.clock, 1, 3),
	KEY("FileMax", NUMBER, etw_session, file_max, 0, SESSION_FILE_MAX_LIMIT),
	KEY("Expire", NUMBER, etw_session, expire_s, 0, UINT32_MAX),
	KEY("NewFileAfter", NUMBER, etw_session, rotate_s, 0, 4294967),
	KEY("KeepFiles", NUMBER, etw_session, keep_files, 0, UINT32_MAX),
	KEY("EndTime", BIG, etw_session, end_filetime, 0, UINT64_MAX),
	KEY("BeginTime", BIG, etw_session, begin_filetime, 0, UINT64_MAX),
	KEY("Daily", FLAG, etw_session, daily, 0, 1),
	KEY("RunCommand", TEXT, etw_session, command, 0, 0),
	KEY("Quota", BIG, etw_session, quota, 0, UINT64_MAX),
	KEY("FileSuffix", SUFFIX, etw_session, suffix, 0, 0),
	KEY("NextSerial", NUMBER, etw_session, serial, 0, 999999),
	KEY("Overwrite", FLAG, etw_session, overwrite, 0, 1),
	KEY("DisableRealtimePersistence", FLAG, etw_session, not_persistent, 0, 1),
};
static const struct key provider_keys[] = {
	KEY("Name", TEXT, session_provider, name, 0, 0),
	KEY("Enabled", FLAG, session_provider, enabled, 0, 1),
	KEY("EnableLevel", BYTE, session_provider, level, 0, 255),
	KEY("EnableFlags", BIG, session_provider, any, 0, UINT32_MAX), /* what 32-bit providers have */
	KEY("MatchAnyKeyword", BIG, session_provider, any, 0, UINT64_MAX),
	KEY("MatchAllKeyword", BIG, session_provider, all, 0, UINT64_MAX),
	KEY("EnableProperty", NUMBER, session_provider, properties, 0, UINT32_MAX),
};
/* Values that Windows knows and that mean nothing here; taken without a word. FileCounter and
 * Status are kept by etwd in its state directory. */
static const char ignored[][12] = {"Boot", "Status", "FileCounter"};
static const char suffixes[][8] = {"none", "number", "time"};

void session_init(struct etw_session *s)
{
	*s = (struct etw_session){.props.clock = 1, .serial = 1};
}

void session_provider_finish(struct session_provider *p)
{
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		free(p->filter[i]);
		p->filter[i] = NULL;
	}
	free(p->expression);
	free(p->payload);
	p->expression = NULL;
	p->payload = NULL;
	p->payload_bytes = 0;
}

void session_finish(struct etw_session *s)
{
	for (uint32_t i = 0; i < s->provider_count; i++) {
		session_provider_finish(&s->provider[i]);
	}
	free(s->provider);
	s->provider = NULL;
	s->provider_count = s->provider_cap = 0;
}

bool session_provider_is_kernel(const struct session_provider *p)
{
	return guid_equal(&p->guid, &kernel_trace_control_guid);
}

struct session_provider *session_add_provider(struct etw_session *s, const struct guid *g)
{
	if (s->provider_count >= SESSION_PROVIDERS_MAX) {
		return NULL;
	}
	if (!VEC_ROOM(s->provider, s->provider_count, s->provider_cap)) {
		return NULL;
	}
	struct session_provider *p = &s->provider[s->provider_count++];
	*p = (struct session_provider){.guid = *g, .enabled = true, .level = 0};
	return p;
}

const char *session_add_failed(const struct etw_session *s)
{
	_Static_assert(SESSION_PROVIDERS_MAX == 1024, "the text says so");
	return s->provider_count >= SESSION_PROVIDERS_MAX ? "there are more than 1024 providers"
							  : "another provider needs more memory than there is";
}

static bool report(struct diag *d, uint32_t line, const char *fmt, ...) BASE_PRINTF(3, 4);
static bool report(struct diag *d, uint32_t line, const char *fmt, ...)
{
	if (d) {
		va_list ap;
		va_start(ap, fmt);
		d->line = line;
		d->offset = UINT64_MAX;
		printable_vformat(d->text, sizeof d->text, fmt, ap);
		va_end(ap);
	}
	return false;
}

static bool store(const struct key *k, void *base, const char *v, uint32_t line, struct diag *d)
{
	uint8_t *at = (uint8_t *)base + k->offset;
	uint64_t n = 0;
	if (k->kind == TEXT) {
		if (strlen(v) >= k->size) {
			return report(d, line, "%s is longer than %zu bytes", k->name, k->size - 1);
		}
		memcpy(at, v, strlen(v) + 1);
		return true;
	}
	if (k->kind == GUID_TEXT) {
		struct guid g;
		if (guid_parse(v, &g) < 0) {
			return report(d, line, "%s: '%s' is no GUID", k->name, v);
		}
		memcpy(at, &g, sizeof g);
		return true;
	}
	if (k->kind == SUFFIX) {
		for (size_t i = 0; i < BASE_ARRAY_LEN(suffixes); i++) {
			if (strcasecmp(v, suffixes[i]) == 0) {
				enum session_suffix s = (enum session_suffix)i;
				memcpy(at, &s, sizeof s);
				return true;
			}
		}
		return report(d, line, "%s is none, number or time, not '%s'", k->name, v);
	}
	if (!parse_number(v, 0, UINT64_MAX, &n)) {
		return report(d, line, "%s: '%s' is no number", k->name, v);
	}
	if (n < k->min || n > k->max) {
		return report(d, line, "%s is %llu to %llu, not %s", k->name, (unsigned long long)k->min,
			      (unsigned long long)k->max, v);
	}
	switch (k->kind) {
	case BIG: memcpy(at, &n, 8); break;
	case NUMBER: {
		uint32_t v32 = (uint32_t)n;
		memcpy(at, &v32, 4);
		break;
	}
	case FLAG: {
		bool b = n != 0;
		memcpy(at, &b, sizeof b);
		break;
	}
	default: *at = (uint8_t)n;
	}
	return true;
}

static const struct key *find(const struct key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(keys[i].name, name) == 0) {
			return &keys[i];
		}
	}
	return NULL;
}

static bool is_ignored(const char *name)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(ignored); i++) {
		if (strcasecmp(ignored[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* How far a file was read. */
struct place {
	bool provider; /* in a provider's section: the last one */
	bool no_memory;
};

static bool section(struct etw_session *s, const char *name, const struct session_manifests *manifests, uint32_t line,
		    struct place *at, struct diag *d)
{
	struct guid g;
	at->provider = strcasecmp(name, "Session") != 0;
	if (!at->provider) {
		return s->provider_count == 0 || report(d, line, "[Session] stands before the providers");
	}
	struct guid plain;
	bool is_guid = guid_parse(name + (*name == '#'), &plain) == 0;
	if (provider_guid(name, manifests ? manifests->installed : NULL, &g) < 0) {
		return report(d, line, "[%s] is neither a GUID nor a provider's name", name);
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (guid_equal(&s->provider[i].guid, &g)) {
			return report(d, line, "[%s] was there already in line %u", name, s->provider[i].line);
		}
	}
	struct session_provider *p = session_add_provider(s, &g);
	if (!p) {
		at->no_memory = s->provider_count < SESSION_PROVIDERS_MAX;
		return report(d, line, "%s", session_add_failed(s));
	}
	p->line = line;
	if (!is_guid) {
		snprintf(p->name, sizeof p->name, "%s", name + (*name == '*'));
	}
	return true;
}

static char *trim(char *s)
{
	s += strspn(s, " \t\r");
	size_t n = strlen(s);
	while (n > 0 && strchr(" \t\r", s[n - 1])) {
		s[--n] = 0;
	}
	return s;
}

/* 1: it was one of them; 0: it was none; -1: reported. */
static int kernel_key(struct etw_session *s, const char *name, const char *value, uint32_t line, struct diag *d)
{
	if (strcasecmp(name, "EnableKernelFlags") == 0) {
		uint32_t word[KERNEL_MASK_WORDS] = {0};
		if (parse_numbers(value, 0, UINT32_MAX, word, KERNEL_MASK_WORDS) <= 0) {
			report(d, line, "EnableKernelFlags takes up to 8 group masks such as 0x7,0x2, not '%.60s'",
			       value);
			return -1;
		}
		memcpy(s->kernel.mask.word, word, sizeof word);
		return 1;
	}
	if (strcasecmp(name, "KernelStacks") == 0) {
		uint32_t hook[KERNEL_STACKS_MAX];
		int n = parse_numbers(value, 0, UINT16_MAX, hook, KERNEL_STACKS_MAX);
		if (n < 0) {
			report(d, line, "KernelStacks takes events such as 0xf2e,0x524 (group and type), not '%.60s'",
			       value);
			return -1;
		}
		for (int i = 0; i < n; i++) {
			s->kernel.stack[i] = (uint16_t)hook[i];
		}
		s->kernel.stacks = (uint32_t)n;
		return 1;
	}
	return 0;
}

static bool refused(int r, struct place *at, uint32_t line, const char *key, const struct diag *why, struct diag *d)
{
	at->no_memory = r == -ENOMEM;
	return report(d, line, "%s %s", key, at->no_memory ? "needs more memory than there is" : why->text);
}

static bool line_parse(struct etw_session *s, char *text, const struct session_manifests *manifests, uint32_t line,
		       struct place *at, struct diag *d)
{
	char *w = trim(text);
	if (*w == 0 || *w == '#' || *w == ';') {
		return true;
	}
	if (*w == '[') {
		size_t n = strlen(w);
		if (w[n - 1] != ']') {
			return report(d, line, "a section's ']' is missing");
		}
		w[n - 1] = 0;
		return section(s, trim(w + 1), manifests, line, at, d);
	}
	char *eq = strchr(w, '=');
	if (!eq) {
		return report(d, line, "'%.60s' is no \"Key = value\"", w);
	}
	*eq = 0;
	char *name = trim(w), *value = trim(eq + 1);
	size_t n = strlen(value);
	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') {
		value[n - 1] = 0;
		value++;
	}
	if (is_ignored(name)) {
		return true;
	}
	for (int f = 0; f < SESSION_FILTER_COUNT && at->provider; f++) {
		if (strcasecmp(session_filter_key((enum session_filter)f), name) == 0) {
			struct diag why = {0};
			int r = session_set_filter(&s->provider[s->provider_count - 1], (enum session_filter)f, value,
						   &why);
			return r == 0 || refused(r, at, line, session_filter_key((enum session_filter)f), &why, d);
		}
	}
	int kernel = at->provider ? 0 : kernel_key(s, name, value, line, d);
	if (kernel != 0) {
		return kernel > 0;
	}
	if (at->provider && strcasecmp(SESSION_PAYLOAD_KEY, name) == 0) {
		struct diag why = {0};
		int r = session_payload_add(&s->provider[s->provider_count - 1], value,
					    manifests ? manifests->describe : NULL, &why);
		return r == 0 || refused(r, at, line, SESSION_PAYLOAD_KEY, &why, d);
	}
	if (at->provider && strcasecmp(SESSION_EXPRESSION_KEY, name) == 0) {
		struct diag why = {0};
		int r = session_set_expression(&s->provider[s->provider_count - 1], value,
					       manifests ? manifests->describe : NULL, &why);
		return r == 0 || refused(r, at, line, SESSION_EXPRESSION_KEY, &why, d);
	}
	const struct key *k = at->provider ? find(provider_keys, BASE_ARRAY_LEN(provider_keys), name)
					   : find(session_keys, BASE_ARRAY_LEN(session_keys), name);
	if (!k) {
		return report(d, line, "'%.60s' is no key of a %s", name, at->provider ? "provider" : "session");
	}
	void *base = at->provider ? (void *)&s->provider[s->provider_count - 1] : (void *)s;
	return store(k, base, value, line, d);
}

int session_parse(const char *text, size_t n, const char *name, const struct session_manifests *manifests,
		  struct etw_session *ret, struct diag *d)
{
	if (n > SESSION_BYTES_MAX) {
		return -E2BIG;
	}
	char *copy = malloc(n + 1);
	if (!copy) {
		return -ENOMEM;
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	struct etw_session s;
	session_init(&s);
	struct place place = {.provider = false};
	bool fine = true;
	uint32_t line = 0;
	size_t at = n >= 3 && memcmp(copy, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	if (memchr(copy, 0, n)) {
		fine = report(d, 0, "there is a NUL byte in the file");
	}
	while (fine && at < n) {
		char *end = memchr(copy + at, '\n', n - at);
		size_t stop = end ? (size_t)(end - copy) : n;
		copy[stop] = 0;
		fine = line_parse(&s, copy + at, manifests, ++line, &place, d);
		at = stop + 1;
	}
	for (uint32_t i = 0; fine && i < s.provider_count; i++) {
		const struct session_provider *p = &s.provider[i];
		struct diag why = {0};
		int r = 0;
		if (p->expression && (p->filter[SESSION_FILTER_EVENT_ID] || p->filter[SESSION_FILTER_EVENT_NAME] ||
				      (p->payload && filter_is_named(p->payload, p->payload_bytes)))) {
			fine = report(d, p->line,
				      SESSION_EXPRESSION_KEY
				      " says it all: leave out EventIdFilter, EventNameFilter and PayloadFilter");
		} else if ((r = session_expression_each(p, NULL, NULL, &why)) == -ENOMEM) {
			fine = refused(r, &place, p->line, SESSION_EXPRESSION_KEY, &why, d);
		} else if (r < 0) {
			fine = report(d, p->line, SESSION_EXPRESSION_KEY " (column %u): %s", why.column, why.text);
		}
	}
	if (fine && s.name[0] == 0) {
		snprintf(s.name, sizeof s.name, "%s", name ? name : "");
	}
	free(copy);
	if (!fine) {
		session_finish(&s);
		return place.no_memory ? -ENOMEM : -EBADMSG;
	}
	*ret = s;
	return 0;
}

/* A value whose blanks at the ends, quotes or nothing at all must survive stands in quotes. */
static void put_text(struct strbuf *b, const char *key, const char *v)
{
	if (v && *v) {
		size_t n = strlen(v);
		bool quote = strchr(" \t\"", v[0]) || strchr(" \t\"", v[n - 1]);
		strbuf_addf(b, quote ? "%s = \"%s\"\n" : "%s = %s\n", key, v);
	}
}

static void put_number(struct strbuf *b, const char *key, uint64_t v, uint64_t unless)
{
	if (v != unless) {
		strbuf_addf(b, "%s = %llu\n", key, (unsigned long long)v);
	}
}

void session_format(const struct etw_session *s, struct strbuf *out)
{
	char guid[37];
	strbuf_adds(out, "# A trace session; docs/autologger.md explains the keys.\n[Session]\n");
	put_text(out, "Name", s->name);
	put_number(out, "Start", s->start, 0);
	if (!guid_is_zero(&s->props.guid)) {
		strbuf_addf(out, "Guid = {%s}\n", guid_format(&s->props.guid, guid));
	}
	put_text(out, "FileName", s->file);
	strbuf_addf(out, "LogFileMode = 0x%x\n", s->props.mode);
	put_number(out, "MaxFileSize", s->props.maximum_file_size, 0);
	put_number(out, "BufferSize", s->props.buffer_kb, 0);
	put_number(out, "MinimumBuffers", s->props.minimum_buffers, 0);
	put_number(out, "MaximumBuffers", s->props.maximum_buffers, 0);
	put_number(out, "FlushTimer", s->props.flush_timer, 0);
	put_number(out, "ClockType", s->props.clock ? s->props.clock : 1, 1);
	put_number(out, "FileMax", s->file_max, 0);
	put_number(out, "Expire", s->expire_s, 0);
	put_number(out, "NewFileAfter", s->rotate_s, 0);
	put_number(out, "KeepFiles", s->keep_files, 0);
	put_number(out, "BeginTime", s->begin_filetime, 0);
	put_number(out, "EndTime", s->end_filetime, 0);
	put_number(out, "Daily", s->daily, 0);
	put_text(out, "RunCommand", s->command);
	put_number(out, "Quota", s->quota, 0);
	if (s->suffix != SESSION_SUFFIX_NONE) {
		put_text(out, "FileSuffix", suffixes[s->suffix]);
		put_number(out, "NextSerial", s->serial, 1);
	}
	put_number(out, "Overwrite", s->overwrite, 0);
	put_number(out, "DisableRealtimePersistence", s->not_persistent, 0);
	for (unsigned i = 0; !kernel_mask_empty(&s->kernel.mask) && i < KERNEL_MASK_WORDS; i++) {
		strbuf_addf(out, "%s0x%x%s", i ? "," : "EnableKernelFlags = ", s->kernel.mask.word[i],
			    i == KERNEL_MASK_WORDS - 1 ? "\n" : "");
	}
	for (uint32_t i = 0; i < s->kernel.stacks; i++) {
		strbuf_addf(out, "%s0x%x%s", i ? "," : "KernelStacks = ", s->kernel.stack[i],
			    i == s->kernel.stacks - 1 ? "\n" : "");
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *p = &s->provider[i];
		strbuf_addf(out, "\n[{%s}]\n", guid_format(&p->guid, guid));
		put_text(out, "Name", p->name);
		strbuf_addf(out, "Enabled = %d\nEnableLevel = %u\nMatchAnyKeyword = 0x%llx\n", p->enabled, p->level,
			    (unsigned long long)p->any);
		if (p->all) {
			strbuf_addf(out, "MatchAllKeyword = 0x%llx\n", (unsigned long long)p->all);
		}
		if (p->properties) {
			strbuf_addf(out, "EnableProperty = 0x%x\n", p->properties);
		}
		for (int f = 0; f < SESSION_FILTER_COUNT; f++) {
			put_text(out, session_filter_key((enum session_filter)f), p->filter[f]);
		}
		session_payload_format(p, out); /* before the filter, which may be about it */
		put_text(out, SESSION_EXPRESSION_KEY, p->expression);
	}
}
