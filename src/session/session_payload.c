/* SPDX-License-Identifier: MIT
 * What a provider's events carry, in files: conditions on TraceLogging events as people write them, or the bytes of
 * a filter ("hex:…"), which is what commands write of a manifest's events. Several lines are one filter. And whole
 * filters (Filter = …), which are kept as they were written and compiled when the session starts.
 */
#include "session/session_payload.h"

#include "filter/filter_compile.h"

#include <stdlib.h>

int session_set_payload(struct session_provider *p, const void *blob, size_t n, struct diag *d)
{
	struct guid g;
	int r = n > FILTER_BYTES_MAX       ? -EINVAL
		: filter_is_named(blob, n) ? filter_named_check(blob, n, &g, d)
					   : filter_check(blob, n, &g, d);
	if (r == 0 && !guid_equal(&g, &p->guid)) {
		diag_at(d, UINT64_MAX, "is a filter of another provider's events");
		r = -EINVAL;
	}
	uint8_t *copy = r == 0 ? malloc(n) : NULL;
	if (!copy) {
		return r < 0 ? r : -ENOMEM;
	}
	memcpy(copy, blob, n);
	free(p->payload);
	p->payload = copy;
	p->payload_bytes = (uint32_t)n;
	return 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static int add_hex(struct session_provider *p, const char *text, struct diag *d)
{
	uint8_t blob[FILTER_BYTES_MAX];
	size_t n = 0;
	for (; text[0] && n < sizeof blob; text += 2) {
		int a = digit(text[0]), b = a < 0 ? -1 : digit(text[1]);
		if (b < 0) {
			break;
		}
		blob[n++] = (uint8_t)(a << 4 | b);
	}
	if (*text || n == 0 || p->payload) {
		diag_at(d, UINT64_MAX,
			p->payload ? "in hex: stands alone" : "hex: is followed by up to 4096 bytes in hexadecimal");
		return -EINVAL;
	}
	return session_set_payload(p, blob, n, d);
}

static int add_clause(struct session_provider *p, const struct filter_clause *c, filter_manifest_fn *describe,
		      struct diag *d)
{
	uint8_t blob[FILTER_BYTES_MAX];
	struct filter_conditions conditions;
	size_t n = 0;
	if (c->by_id && !describe) {
		diag_at(d, UINT64_MAX,
			"names event %u of a manifest, whose fields only the commands know: 'openetw autologger add "
			"… --payload' writes such a filter",
			c->id);
		return -EINVAL;
	}
	if (p->payload && filter_is_named(p->payload, p->payload_bytes) == c->by_id) {
		diag_at(d, UINT64_MAX, "names events either by number or by name, and in words or as hex:");
		return -EINVAL;
	}
	if (p->payload) {
		n = p->payload_bytes;
		memcpy(blob, p->payload, n);
	}
	int r = filter_conditions_of(c->expr, &conditions, d);
	r = r < 0 ? r
	    : c->by_id
		    ? describe(&p->guid, c->id, &conditions, blob, &n, d)
		    : filter_named_add(blob, &n, &p->guid, c->event, conditions.any, conditions.c, conditions.count, d);
	return r < 0 ? r : session_set_payload(p, blob, n, d);
}

/* A reason that has a column says it in words: the file's line is told with it. */
static int with_column(int r, const struct diag *why, struct diag *d)
{
	if (r < 0 && why->column) {
		diag_at(d, UINT64_MAX, "(column %u): %s", why->column, why->text);
	} else if (r < 0) {
		diag_at(d, UINT64_MAX, "%s", why->text);
	}
	return r;
}

int session_payload_add(struct session_provider *p, const char *text, filter_manifest_fn *describe, struct diag *d)
{
	struct filter_clause c;
	struct diag why = {0};
	if (strncmp(text, "hex:", 4) == 0) {
		return add_hex(p, text + 4, d);
	}
	int r = filter_clause_parse(text, &c, &why);
	if (r == 0) {
		r = add_clause(p, &c, describe, &why);
		filter_clause_finish(&c);
	}
	return with_column(r, &why, d);
}

void session_payload_format(const struct session_provider *p, struct strbuf *out)
{
	if (p->payload) {
		strbuf_adds(out, SESSION_PAYLOAD_KEY " = hex:");
		for (uint32_t i = 0; i < p->payload_bytes; i++) {
			strbuf_addf(out, "%02x", p->payload[i]);
		}
		strbuf_adds(out, "\n");
	}
}

/* ---- Filter = … ------------------------------------------------------------------------------ */

int session_expression_each(const struct session_provider *p, session_filter_fn *each, void *ctx, struct diag *d)
{
	return p->expression ? filter_text_each(p->expression, &p->guid, p->payload != NULL, NULL, each, ctx, d) : 0;
}

static bool keep_payload(void *provider, uint32_t type, const uint8_t *bytes, size_t n)
{
	return type != EVENT_FILTER_TYPE_PAYLOAD || filter_is_named(bytes, n) ||
	       session_set_payload((struct session_provider *)provider, bytes, n, NULL) == 0;
}

int session_set_expression(struct session_provider *p, const char *text, filter_manifest_fn *describe, struct diag *d)
{
	struct diag why = {0};
	size_t n = strlen(text);
	if (n >= SESSION_EXPRESSION_TEXT || strcspn(text, "\r\n") != n) {
		diag_at(d, UINT64_MAX, "is one line of up to %zu bytes", (size_t)SESSION_EXPRESSION_TEXT - 1);
		return -EINVAL;
	}
	/* What is about the fields of a manifest's event becomes the payload filter, unless there is one already. */
	int r = filter_text_each(text, &p->guid, p->payload != NULL, describe, keep_payload, p, &why);
	char *copy = r == 0 ? strdup(text) : NULL;
	if (copy) {
		free(p->expression);
		p->expression = copy;
	} else if (r == 0) {
		return -ENOMEM;
	}
	return with_column(r, &why, d);
}
