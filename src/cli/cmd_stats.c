/* SPDX-License-Identifier: MIT
 * stats: what a trace holds: events by provider and id, time range, rates, loss.
 */
#include "cli/trace.h"

#include <openetw/decode.h>
#include <stdlib.h>

static const struct cli_option options[] = {
	{'j', "json", NULL, "JSON lines instead of a table", NULL},
	{0},
};

/* Open addressing; the key is (provider, id, version, opcode for classic events, TraceLogging name). */
struct row {
	GUID provider;
	uint64_t count;
	uint64_t bytes;
	uint64_t first, last; /* FILETIME */
	uint16_t id;
	uint8_t version, opcode;
	bool used;
	char event[64];
	char name[96];
};
struct stats {
	struct row *rows;
	size_t cap, used;
	uint64_t events, first, last;
	struct openetw_decoder *decoder;
	bool failed;
};

static uint64_t hash(const void *p, size_t n, uint64_t h)
{
	const uint8_t *s = p;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ s[i]) * 1099511628211ull;
	}
	return h;
}

static struct row *slot(struct row *rows, size_t cap, const struct row *k)
{
	uint64_t h = hash(&k->provider, 16, 14695981039346656037ull);
	h = hash(&k->id, 2, h);
	h = hash(&k->version, 1, h);
	h = hash(&k->opcode, 1, h);
	h = hash(k->event, strlen(k->event), h);
	for (size_t i = h & (cap - 1);; i = (i + 1) & (cap - 1)) {
		struct row *r = &rows[i];
		if (!r->used || (memcmp(&r->provider, &k->provider, 16) == 0 && r->id == k->id &&
				 r->version == k->version && r->opcode == k->opcode &&
				 strcmp(r->event, k->event) == 0)) {
			return r;
		}
	}
}

static bool grow(struct stats *s)
{
	size_t cap = s->cap ? s->cap * 2 : 256;
	struct row *rows = calloc(cap, sizeof *rows);
	if (!rows) {
		return false;
	}
	for (size_t i = 0; i < s->cap; i++) {
		if (s->rows[i].used) {
			*slot(rows, cap, &s->rows[i]) = s->rows[i];
		}
	}
	free(s->rows);
	s->rows = rows;
	s->cap = cap;
	return true;
}

static void event(void *ctx, const EVENT_RECORD *e)
{
	struct stats *s = ctx;
	const EVENT_HEADER *h = &e->EventHeader;
	if (2 * (s->used + 1) > s->cap && !grow(s)) {
		s->failed = true;
		return;
	}
	struct row key = {
		.provider = h->ProviderId,
		.id = h->EventDescriptor.Id,
		.version = h->EventDescriptor.Version,
		.opcode = h->EventDescriptor.Opcode,
	};
	snprintf(key.event, sizeof key.event, "%s", openetw_event_name(s->decoder, e));
	struct row *r = slot(s->rows, s->cap, &key);
	uint64_t t = (uint64_t)h->TimeStamp.QuadPart;
	if (!r->used) {
		*r = key;
		r->used = true;
		r->first = t;
		snprintf(r->name, sizeof r->name, "%s", openetw_provider_name(s->decoder, e));
		s->used++;
	}
	r->count++;
	r->bytes += e->UserDataLength;
	r->last = t;
	s->first = s->events == 0 || t < s->first ? t : s->first;
	s->last = t > s->last ? t : s->last;
	s->events++;
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->used != y->used) {
		return x->used ? -1 : 1;
	}
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void print_row(const struct row *r, double seconds, bool json)
{
	if (json) {
		char guid[37];
		cli_guid_text(&r->provider, guid);
		struct strbuf b = {0};
		strbuf_addf(&b, "{\"providerGuid\":\"%s\",\"provider\":", guid);
		strbuf_add_json(&b, r->name, strlen(r->name));
		strbuf_addf(&b, ",\"id\":%u,\"version\":%u,\"opcode\":%u,\"event\":", r->id, r->version, r->opcode);
		strbuf_add_json(&b, r->event, strlen(r->event));
		strbuf_addf(&b, ",\"count\":%llu,\"bytes\":%llu}", (unsigned long long)r->count,
			    (unsigned long long)r->bytes);
		puts(b.s);
		strbuf_finish(&b);
		return;
	}
	printf("%10llu %11.1f/s %10.1f  %-36s %5u %3u %3u  %s\n", (unsigned long long)r->count,
	       seconds > 0 ? (double)r->count / seconds : 0, (double)r->bytes / (double)r->count,
	       r->name, r->id, r->version, r->opcode, r->event);
}

static int run(struct cli_args *a)
{
	if (a->count == 0 || a->count > 64) {
		return cli_usage(a, a->count ? "at most 64 files" : "which file?");
	}
	struct stats s = {.decoder = openetw_decoder_create()};
	struct cli_trace t = {.args = a, .event = event, .ctx = &s};
	if (!s.decoder || !grow(&s)) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot count");
	}
	if (!cli_trace_open(&t, a->count, a->words, NULL)) {
		return CLI_FAILED;
	}
	uint32_t code = cli_trace_run(&t);
	int status = code ? cli_fail(a, code, "stopped after %llu events", (unsigned long long)t.events) : CLI_OK;
	bool json = cli_flag(a, "json");
	double seconds = (double)(s.last - s.first) / 1e7;
	qsort(s.rows, s.cap, sizeof *s.rows, by_count);
	if (!json) {
		printf("%llu events of %zu kinds in %.3f s; lost when recorded: %llu events, %llu buffers\n\n",
		       (unsigned long long)s.events, s.used, seconds, (unsigned long long)t.lost_events,
		       (unsigned long long)t.lost_buffers);
		printf("%10s %13s %10s  %-36s %5s %3s %3s  %s\n", "COUNT", "RATE", "BYTES", "PROVIDER", "ID", "VER",
		       "OP", "EVENT");
	}
	for (size_t i = 0; i < s.used; i++) {
		print_row(&s.rows[i], seconds, json);
	}
	if (s.failed) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "some kinds of events could not be counted");
	}
	openetw_decoder_destroy(s.decoder);
	free(s.rows);
	return status;
}

const struct cli_command cli_stats = {
	.name = "stats",
	.synopsis = "FILE… [--json]",
	.summary = "Count the events of .etl files by provider and event.",
	.options = options,
	.run = run,
	.complete = "file",
};
