/* SPDX-License-Identifier: MIT */
#include "tools/common/shortage.h"

#include "kernel_payload.h"

static const struct guid losses = GUID_INIT(KP_OPEN_ETW_LOSSES_GUID);

bool cli_shortage_take(struct cli_shortages *s, const EVENT_RECORD *e)
{
	const struct kernel_payload in = {e->UserData, e->UserDataLength, 8};
	struct bytes b = kernel_payload_from(in, KP_OPEN_ETW_LOSSES_SHORTAGE_SINCE_V0_WHAT);
	if (e->EventHeader.EventDescriptor.Id != KP_OPEN_ETW_LOSSES_SHORTAGE ||
	    memcmp(&e->EventHeader.ProviderId, losses.b, sizeof losses.b) != 0) {
		return false;
	}
	uint64_t count = kernel_payload_get(in, KP_OPEN_ETW_LOSSES_SHORTAGE_SINCE_V0_COUNT);
	size_t n;
	const char *what = bytes_asz(&b, &n);
	uint32_t i = 0;
	while (what && i < s->n && strncmp(s->list[i].what, what, sizeof s->list[i].what - 1) != 0) {
		i++;
	}
	if (!what || i == CLI_SHORTAGES_MAX) {
		return true;
	}
	if (i == s->n) {
		s->n++;
		n = BASE_MIN(n, sizeof s->list[i].what - 1);
		memcpy(s->list[i].what, what, n);
		s->list[i].what[n] = 0;
		for (char *c = s->list[i].what; *c; c++) {
			*c = (uint8_t)*c < ' ' || (uint8_t)*c > '~' ? '?' : *c; /* ours are in English */
		}
	}
	s->list[i].count += count;
	return true;
}

void cli_shortage_print(FILE *f, const struct cli_shortages *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		fprintf(f, "not kept: %llu %s\n", (unsigned long long)s->list[i].count, s->list[i].what);
	}
}

void cli_shortage_json(FILE *f, const struct cli_shortages *s, const char *begin, const char *end)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct strbuf what = {0};
		strbuf_add_json(&what, s->list[i].what, strlen(s->list[i].what));
		fprintf(f, "%s\"what\":%s,\"count\":%llu%s\n", begin, what.s ? what.s : "\"\"",
			(unsigned long long)s->list[i].count, end);
		strbuf_finish(&what);
	}
}
