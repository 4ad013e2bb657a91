/* SPDX-License-Identifier: MIT
 * --payload: conditions on the fields of events, as the filter EnableTraceEx2 takes.
 *
 *   EVENT: FIELD OP VALUE { and|or FIELD OP VALUE }
 *
 * EVENT is the number of a manifest's event, in all its versions, or the name of a TraceLogging event.
 */
#include "cli/payload.h"

#include "filter/filter_named.h"

#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

#define TEXT_MAX     1024
#define VERSIONS_MAX 64

static const struct {
	const char *text;
	uint8_t op;
	bool words; /* of strings, in Windows' filters */
} operators[] = {
	{"==", FILTER_EQ, false},	    {"=", FILTER_EQ, false},
	{"!=", FILTER_NE, false},	    {"<=", FILTER_LE, false},
	{">=", FILTER_GE, false},	    {"<", FILTER_LT, false},
	{">", FILTER_GT, false},	    {"between", FILTER_BETWEEN, false},
	{"outside", FILTER_NOTBETWEEN, false}, {"%", FILTER_MODULO, false},
	{"~", FILTER_CONTAINS, true},	    {"!~", FILTER_DOESNTCONTAIN, true},
	{"is", FILTER_IS, true},	    {"isnot", FILTER_ISNOT, true},
};

struct payload {
	char text[TEXT_MAX];
	const char *event;
	bool any;
	struct filter_named_condition c[FILTER_PREDICATES_MAX];
	size_t count;
};

/* The next word of *inout: up to a blank, or in quotes. NULL at the end. */
static char *word(char **inout)
{
	char *s = *inout + strspn(*inout, " \t");
	if (*s == 0) {
		return NULL;
	}
	char quote = *s == '"' || *s == '\'' ? *s : 0;
	char *end = quote ? strchr(s + 1, quote) : s + strcspn(s, " \t");
	if (!end) {
		return NULL;
	}
	*inout = end + (*end != 0);
	*end = 0;
	return s + (quote != 0);
}

static bool parse(const struct cli_args *a, const char *text, struct payload *p)
{
	if (strlen(text) >= sizeof p->text) {
		cli_usage(a, "--payload is longer than %d bytes", TEXT_MAX - 1);
		return false;
	}
	strcpy(p->text, text);
	char *colon = strchr(p->text, ':'), *rest = colon ? colon + 1 : p->text;
	if (colon) {
		*colon = 0;
	}
	p->event = p->text + strspn(p->text, " ");
	p->count = 0;
	p->any = false;
	char *joint = NULL;
	bool fine = colon && *p->event;
	while (fine) {
		char *field = word(&rest), *op = word(&rest), *value = word(&rest);
		size_t i = 0;
		while (op && i < BASE_ARRAY_LEN(operators) && strcasecmp(operators[i].text, op) != 0) {
			i++;
		}
		if (!field || !op || !value || i == BASE_ARRAY_LEN(operators) ||
		    p->count == FILTER_PREDICATES_MAX) {
			fine = false;
			break;
		}
		p->c[p->count++] = (struct filter_named_condition){field, value, operators[i].op};
		char *next = word(&rest);
		if (!next) {
			break;
		}
		bool any = strcasecmp(next, "or") == 0;
		fine = (any || strcasecmp(next, "and") == 0) && (!joint || any == p->any);
		joint = next;
		p->any = any;
	}
	if (!fine) {
		cli_usage(a,
			  "--payload '%s': write EVENT: FIELD OP VALUE, up to 8 joined by 'and' or all by 'or'; "
			  "OP is == != < <= > >= between outside %% ~ !~",
			  text);
	}
	return fine;
}

/* ---- events of manifests ----------------------------------------------------------------------- */

/* String fields have operators of their own in Windows' filters; nobody wants to know that. */
static uint32_t create(const GUID *g, const EVENT_DESCRIPTOR *e, const struct payload *p, void **ret)
{
	PAYLOAD_FILTER_PREDICATE pred[FILTER_PREDICATES_MAX];
	uint16_t names[FILTER_PREDICATES_MAX][256], values[FILTER_PREDICATES_MAX][256];
	uint32_t code = ERROR_INVALID_PARAMETER;
	for (unsigned words = 0; words < 1u << p->count; words++) {
		bool sensible = true;
		for (size_t i = 0; i < p->count; i++) {
			uint8_t op = p->c[i].op;
			bool flip = words >> i & 1;
			sensible = sensible && !(flip && op != FILTER_EQ && op != FILTER_NE);
			op = flip && op == FILTER_EQ ? FILTER_IS : flip && op == FILTER_NE ? FILTER_ISNOT : op;
			long n = utf8_to_utf16(p->c[i].field, strlen(p->c[i].field), names[i], 256);
			long v = utf8_to_utf16(p->c[i].value, strlen(p->c[i].value), values[i], 256);
			if (n < 0 || n >= 256 || v < 0 || v >= 256) {
				return ERROR_INVALID_PARAMETER;
			}
			pred[i] = (PAYLOAD_FILTER_PREDICATE){names[i], op, values[i]};
		}
		if (sensible) {
			code = TdhCreatePayloadFilter(g, e, p->any, (ULONG)p->count, pred, ret);
		}
		if (code == ERROR_SUCCESS) {
			return code;
		}
	}
	return code;
}

static bool add_manifest(const struct cli_args *a, const GUID *g, const struct payload *p, unsigned long id,
			 void **made, ULONG *inout_count)
{
	ULONG bytes = 0, before = *inout_count;
	GUID copy = *g;
	uint8_t *mem = NULL;
	if (TdhEnumerateManifestProviderEvents(&copy, NULL, &bytes) == ERROR_INSUFFICIENT_BUFFER) {
		mem = malloc(bytes);
	}
	PPROVIDER_EVENT_INFO info = (PPROVIDER_EVENT_INFO)(void *)mem;
	bool fine = mem && TdhEnumerateManifestProviderEvents(&copy, info, &bytes) == ERROR_SUCCESS;
	for (ULONG i = 0; fine && i < info->NumberOfEvents; i++) {
		const EVENT_DESCRIPTOR *e = &info->EventDescriptorsArray[i];
		if (e->Id != id || *inout_count == VERSIONS_MAX) {
			continue;
		}
		uint32_t code = create(g, e, p, &made[*inout_count]);
		if (code) {
			cli_usage(a, "--payload: event %lu: %s", id, openetw_last_error_text());
			free(mem);
			return false;
		}
		++*inout_count;
	}
	free(mem);
	if (*inout_count == before) {
		cli_usage(a,
			  "--payload: no installed manifest describes event %lu of this provider; 'openetw "
			  "wevtutil im FILE.man' installs one. TraceLogging events are named",
			  id);
		return false;
	}
	return true;
}

/* ---- both --------------------------------------------------------------------------------------- */

bool cli_payload_filters(const struct cli_args *a, const GUID *g, struct cli_filters *f)
{
	struct payload p;
	uint8_t named[FILTER_BYTES_MAX];
	void *made[VERSIONS_MAX];
	size_t named_bytes = 0;
	ULONG count = 0;
	struct guid guid;
	bool fine = true;
	memcpy(guid.b, g, 16);
	const char *v;
	for (int i = 0; fine && (v = cli_value_at(a, "payload", i)) != NULL; i++) {
		char *end;
		fine = parse(a, v, &p);
		unsigned long id = fine ? strtoul(p.event, &end, 0) : 0;
		if (fine && end != p.event && *end == 0 && id <= 0xFFFF) {
			fine = add_manifest(a, g, &p, id, made, &count);
		} else if (fine) {
			struct diag d = {0};
			fine = filter_named_add(named, &named_bytes, &guid, p.event, p.any, p.c, p.count,
						&d) == 0;
			if (!fine) {
				cli_usage(a, "--payload '%s': %s", v, d.text);
			}
		}
	}
	if (fine && count && named_bytes) {
		cli_usage(a, "--payload names events either by number or by name");
		fine = false;
	}
	if (fine && named_bytes) {
		fine = cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD, named, named_bytes);
	}
	EVENT_FILTER_DESCRIPTOR d = {0};
	if (fine && count) {
		uint32_t code = TdhAggregatePayloadFilters(count, made, NULL, &d);
		if (code) {
			cli_usage(a, "--payload: the filters are larger than 4096 bytes together");
			fine = false;
		} else {
			fine = cli_filters_put(f, EVENT_FILTER_TYPE_PAYLOAD,
					       (const void *)(uintptr_t)d.Ptr, d.Size);
			TdhCleanupPayloadEventFilterDescriptor(&d);
		}
	}
	for (ULONG i = 0; i < count; i++) {
		TdhDeletePayloadFilter(&made[i]);
	}
	return fine;
}
