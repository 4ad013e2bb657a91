/* SPDX-License-Identifier: MIT
 * Payload filters in files: conditions on TraceLogging events as people write them, or the bytes of a filter
 * ("hex:…"), which is what commands write of a manifest's events. Several lines are one filter.
 */
#include "session/session_payload.h"

#include "filter/filter_text.h"

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

int session_payload_add(struct session_provider *p, const char *text, struct diag *d)
{
	uint8_t blob[FILTER_BYTES_MAX];
	size_t n = 0;
	if (strncmp(text, "hex:", 4) == 0) {
		for (text += 4; text[0] && n < sizeof blob; text += 2) {
			int a = digit(text[0]), b = a < 0 ? -1 : digit(text[1]);
			if (b < 0) {
				break;
			}
			blob[n++] = (uint8_t)(a << 4 | b);
		}
		if (*text || n == 0 || p->payload) {
			diag_at(d, UINT64_MAX,
				p->payload ? "in hex: stands alone"
					   : "hex: is followed by up to 4096 bytes in hexadecimal");
			return -EINVAL;
		}
		return session_set_payload(p, blob, n, d);
	}
	struct filter_text t;
	uint16_t id;
	int r = filter_text_parse(text, &t, d);
	if (r < 0) {
		return r;
	}
	if (filter_text_number(&t, &id)) {
		diag_at(d, UINT64_MAX,
			"names event %u of a manifest, whose fields only the commands know: 'openetw autologger add "
			"… --payload' writes such a filter",
			id);
		return -EINVAL;
	}
	if (p->payload && !filter_is_named(p->payload, p->payload_bytes)) {
		diag_at(d, UINT64_MAX, "in words and hex: exclude each other");
		return -EINVAL;
	}
	if (p->payload) {
		n = p->payload_bytes;
		memcpy(blob, p->payload, n);
	}
	r = filter_named_add(blob, &n, &p->guid, t.event, t.any, t.c, t.count, d);
	return r < 0 ? r : session_set_payload(p, blob, n, d);
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
