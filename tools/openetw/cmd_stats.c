/* SPDX-License-Identifier: MIT
 * stats: what a trace holds: events by kind, provider or process, rates, gaps, loss and when it
 * happened.
 */
#include "kernel_payload.h"
#include "tools/common/select.h"
#include "tools/common/session_options.h"
#include "tools/common/shortage.h"
#include "base/map.h"
#include "base/parse.h"
#include "base/vec.h"
#include "tools/common/absent.h"
#include "tools/common/trace_reading.h"
#include "tools/common/event_view.h"
#include "etw/values/guids.h"
#include "tools/common/table.h"

#include <stdlib.h>

enum stats_by { BY_EVENT, BY_PROVIDER, BY_PROCESS, BY_LEVEL };
#define GAPS_MAX 100
struct stats_options {
	bool json, decode, utc, local;
	enum stats_by by;
	uint64_t gaps;
	struct cli_select_options select;
};
static const struct cli_option options[] = {
	CLI_FLAG(stats_options, json, 'j', "json", "JSON lines instead of a table"),
	CLI_CHOICE(stats_options, by, BY_EVENT, 0, "by", "WHAT", "event|provider|process|level",
		   "count by event (default), provider, process or level"),
	CLI_NUMBER(stats_options, gaps, 0, "gaps", "N", 0, GAPS_MAX,
		   "show the N longest times without events (default 3)"),
	CLI_FLAG(stats_options, decode, 0, "decode",
		 "decode every event, and say what could not be, why, and what to supply"),
	CLI_SELECT_OPTIONS(stats_options, select),
	CLI_FLAG(stats_options, utc, 0, "utc", "times in UTC (the default)"),
	CLI_FLAG(stats_options, local, 0, "local", "times of this machine's zone"),
	{0},
};

/* The key is what `by` asks for: (provider, id, version, opcode, event name), … */
struct row {
	GUID provider;
	uint64_t count;
	uint64_t bytes;
	uint64_t first, last; /* FILETIME */
	uint32_t pid;
	uint16_t id;
	uint8_t version, opcode, level;
	bool of_file;                    /* records of the file itself: no events */
	uint64_t undecoded, unexplained; /* events; payload bytes behind the last known field */
	char *reason;                    /* of the first one; owned, may be NULL */
	bool tlg;                        /* its name is part of the key; else it may become known later */
	char event[64];
	char name[96];
	EVENT_HEADER header; /* of the first one */
};
/* What the last events of a kind were counted under: most events are of few kinds. */
#define CACHE_SLOTS 1024u /* power of two */
struct cached {
	uint64_t hash; /* of all that makes the key */
	size_t row;    /* + 1; 0: free */
	GUID provider;
	EVENT_DESCRIPTOR d;
};
struct gap {
	uint64_t from, to;
};
#define LOSSES_MAX 64
struct stats {
	struct cli_shortages shortages;
	enum stats_by by;
	struct row *rows; /* as they came, until they are printed */
	size_t used, cap, header_kinds;
	struct map places; /* of rows, by key */
	uint64_t headers;
	struct cached cache[CACHE_SLOTS];
	uint64_t events, bytes, first, last;
	uint64_t previous;
	uint64_t backwards; /* events earlier than one before them (the headers of further files
			       are) */
	uint64_t outside;   /* of the times the header names */
	uint64_t start, end;
	struct gap gaps[GAPS_MAX];
	uint64_t gap_count, gap_wanted;
	/* Records of a live session that say when something was lost. */
	struct {
		uint64_t first, last, events, buffers;
	} loss;
	/* What the buffers of the files show. */
	struct openetw_loss_range losses[LOSSES_MAX];
	uint64_t loss_count; /* more than fit, perhaps */
	struct openetw_decoder *decoder;
	struct cli_view *view;
	struct cli_select *select;
	struct openetw_state *state; /* NULL: nobody asks for processes */
	bool failed, local;
	bool decode;
	uint64_t undecoded, partly, unexplained;
	struct openetw_text text;
};

static uint64_t place_key(const struct map *places, const struct row *k)
{
	uint8_t key[16 + 2 + 4 + 3 + sizeof k->event];
	size_t n = strlen(k->event);
	memcpy(key, &k->provider, 16);
	le16_put(key + 16, k->id);
	le32_put(key + 18, k->pid);
	key[22] = k->version;
	key[23] = k->opcode;
	key[24] = k->level;
	memcpy(key + 25, k->event, n);
	return map_hash(places, key, 25 + n);
}

static bool same_key(const struct row *r, const struct row *k)
{
	return memcmp(&r->provider, &k->provider, 16) == 0 && r->id == k->id && r->pid == k->pid &&
	       r->version == k->version && r->opcode == k->opcode && r->level == k->level &&
	       strcmp(r->event, k->event) == 0;
}

static void note_time(struct stats *s, uint64_t t)
{
	if (s->events > 0 && t < s->previous) {
		s->backwards++;
	} else if (s->events > 0 && s->gap_wanted) {
		uint64_t n = t - s->previous;
		uint64_t at = s->gap_count;
		while (at > 0 && n > s->gaps[at - 1].to - s->gaps[at - 1].from) {
			at--;
		}
		if (at < s->gap_wanted && n > 0) {
			uint64_t keep = BASE_MIN(s->gap_count, s->gap_wanted - 1);
			memmove(&s->gaps[at + 1], &s->gaps[at], (size_t)(keep - at) * sizeof s->gaps[0]);
			s->gaps[at] = (struct gap){s->previous, t};
			s->gap_count = keep + 1;
		}
	}
	s->previous = BASE_MAX(s->previous, t);
	s->outside += t < s->start || (s->end && t > s->end);
	s->first = s->events == 0 || t < s->first ? t : s->first;
	s->last = t > s->last ? t : s->last;
}

static void note_loss(struct stats *s, const EVENT_RECORD *e, uint64_t t)
{
	static const struct guid lost = GUID_INIT(ETW_GUID_CLASS_LOST_EVENT);
	if (memcmp(&e->EventHeader.ProviderId, &lost, sizeof lost) != 0) {
		return;
	}
	s->loss.first = s->loss.events + s->loss.buffers ? s->loss.first : t;
	s->loss.last = t;
	s->loss.events += e->EventHeader.EventDescriptor.Opcode == KP_LOST_EVENT_RTEVENT;
	s->loss.buffers += e->EventHeader.EventDescriptor.Opcode == KP_LOST_EVENT_RTBUFFER;
}

/* Metadata that travels with the event: its kind is not known without. */
static const EVENT_HEADER_EXTENDED_DATA_ITEM *metadata_of(const EVENT_RECORD *e)
{
	return e->ExtendedDataCount ? cli_event_item(e, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL) : NULL;
}

static void make_key(struct stats *s, const EVENT_RECORD *e, bool tlg, struct row *key)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const struct openetw_event_origin *origin;
	const char *name;
	switch (s->by) {
	case BY_EVENT:
		key->provider = h->ProviderId;
		key->id = h->EventDescriptor.Id;
		key->version = h->EventDescriptor.Version;
		key->opcode = h->EventDescriptor.Opcode;
		key->tlg = tlg;
		if (tlg) {
			name = openetw_event_name(s->decoder, e);
			snprintf(key->event, sizeof key->event, "%s", name);
		}
		break;
	case BY_PROVIDER: key->provider = h->ProviderId; break;
	case BY_PROCESS:
		origin = cli_view_origin(s->view);
		key->pid = origin->pid;
		snprintf(key->event, sizeof key->event, "%s", origin->process ? origin->process : "");
		break;
	case BY_LEVEL: key->level = h->EventDescriptor.Level; break;
	}
}

/* NULL: no memory. */
static struct row *find_row(struct stats *s, const EVENT_RECORD *e, bool tlg)
{
	const EVENT_HEADER *h = &e->EventHeader;
	struct row key = {.first = (uint64_t)h->TimeStamp.QuadPart, .header = *h};
	make_key(s, e, tlg, &key);
	uint64_t place = place_key(&s->places, &key);
	MAP_EACH(&s->places, place, at) {
		struct row *r = &s->rows[map_value(&s->places, at)];
		if (same_key(r, &key)) {
			return r;
		}
	}
	if (!VEC_ROOM(s->rows, s->used, s->cap) || map_add(&s->places, place, s->used) < 0) {
		return NULL;
	}
	snprintf(key.name, sizeof key.name, "%s", openetw_provider_name(s->decoder, e));
	s->rows[s->used] = key;
	return &s->rows[s->used++];
}

/* The same as find_row(), which it asks only for kinds it does not remember. */
static struct row *find_row_quick(struct stats *s, const EVENT_RECORD *e)
{
	const EVENT_HEADER *h = &e->EventHeader;
	const EVENT_HEADER_EXTENDED_DATA_ITEM *m = metadata_of(e);
	uint8_t key[32];
	memcpy(key, &h->ProviderId, 16);
	memcpy(key + 16, &h->EventDescriptor, 16);
	uint64_t n = map_hash(&s->places, key, sizeof key);
	if (m) {
		n ^= map_hash(&s->places, (const void *)(uintptr_t)m->DataPtr, m->DataSize);
	}
	struct cached *c = &s->cache[n & (CACHE_SLOTS - 1)];
	if (c->row && c->hash == n && memcmp(&c->provider, key, 16) == 0 && memcmp(&c->d, key + 16, 16) == 0) {
		return &s->rows[c->row - 1];
	}
	struct row *r = find_row(s, e, m != NULL);
	if (r) {
		*c = (struct cached){n, (size_t)(r - s->rows) + 1, h->ProviderId, h->EventDescriptor};
	}
	return r;
}

static void decode(struct stats *s, struct row *r, const EVENT_RECORD *e)
{
	openetw_text_clear(&s->text);
	uint32_t result = openetw_decode_json(s->decoder, e, &s->text);
	if (result == OPENETW_DECODED) {
		uint64_t left = openetw_decoder_unread(s->decoder);
		r->unexplained += left;
		s->unexplained += left;
		return;
	}
	s->undecoded += result == OPENETW_NO_SCHEMA;
	s->partly += result == OPENETW_PARTLY;
	r->undecoded++;
	r->reason = r->reason ? r->reason : strdup(openetw_decoder_reason(s->decoder));
}

static bool event(void *ctx, const EVENT_RECORD *e)
{
	struct stats *s = ctx;
	cli_view_set(s->view, e);
	if (!cli_select_match(s->select, s->view, e)) {
		openetw_decoder_learn(s->decoder, e);
		return true;
	}
	openetw_decoder_learn(s->decoder, e);
	bool header = cli_is_header(e);
	s->headers += header;
	if (header && s->by != BY_EVENT) {
		return true;
	}
	struct row *r = s->by == BY_EVENT ? find_row_quick(s, e) : find_row(s, e, false);
	if (!r) {
		s->failed = true;
		return false;
	}
	uint64_t t = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	r->count++;
	r->bytes += e->UserDataLength;
	r->last = t;
	if (header) { /* a row of its own kind, below the others; no event */
		s->header_kinds += !r->of_file;
		r->of_file = true;
		return true;
	}
	if (s->decode) {
		decode(s, r, e);
	}
	note_time(s, t);
	note_loss(s, e, t);
	(void)cli_shortage_take(&s->shortages, e);
	s->events++;
	s->bytes += e->UserDataLength;
	return true;
}

/* What events are called may be told at the end of a trace only. */
static void name_rows(struct stats *s)
{
	for (size_t i = 0; i < s->used; i++) {
		struct row *r = &s->rows[i];
		const char *provider, *name;
		EVENT_RECORD e = {.EventHeader = r->header};
		if (r->tlg || s->by == BY_PROCESS || s->by == BY_LEVEL) {
			continue;
		}
		openetw_event_names(s->decoder, &e, &provider, &name);
		if (r->name[0] == '{' || r->name[0] == 0) {
			snprintf(r->name, sizeof r->name, "%s", provider);
		}
		if (s->by == BY_EVENT) {
			snprintf(r->event, sizeof r->event, "%s", name);
		} else if (r->header.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) {
			/* Kernel classes are providers of their own. */
			size_t n = strlen(r->name);
			snprintf(r->name + n, sizeof r->name - n, "/%.*s", (int)strcspn(name, "/"), name);
		}
	}
}

static void loss(void *ctx, const struct openetw_loss_range *l)
{
	struct stats *s = ctx;
	if (s->loss_count < LOSSES_MAX) {
		s->losses[s->loss_count] = *l;
	}
	s->loss_count++;
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->of_file != y->of_file) {
		return x->of_file ? 1 : -1;
	}
	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->event, y->event);
}

static void print_row_json(const struct stats *s, const struct row *r)
{
	struct strbuf b = {0};
	char guid[37], first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];
	switch (s->by) {
	case BY_EVENT:
	case BY_PROVIDER:
		cli_guid_text(&r->provider, guid);
		strbuf_addf(&b, "{\"providerGuid\":\"%s\",\"provider\":", guid);
		strbuf_add_json(&b, r->name, strlen(r->name));
		if (s->by == BY_EVENT) {
			strbuf_addf(&b, ",\"id\":%u,\"version\":%u,\"opcode\":%u,\"event\":", r->id, r->version,
				    r->opcode);
			strbuf_add_json(&b, r->event, strlen(r->event));
		}
		break;
	case BY_PROCESS:
		strbuf_addf(&b, "{\"pid\":%lld", r->pid == UINT32_MAX ? -1ll : (long long)r->pid);
		if (r->event[0]) {
			strbuf_adds(&b, ",\"process\":");
			strbuf_add_json(&b, r->event, strlen(r->event));
		}
		break;
	case BY_LEVEL: strbuf_addf(&b, "{\"level\":%u", r->level); break;
	}
	format_time(r->first, s->local, first);
	format_time(r->last, s->local, last);
	strbuf_addf(&b, ",\"count\":%llu,\"bytes\":%llu,\"first\":\"%s\",\"last\":\"%s\"", (unsigned long long)r->count,
		    (unsigned long long)r->bytes, first, last);
	strbuf_adds(&b, r->of_file ? ",\"header\":true" : "");
	if (r->undecoded) {
		strbuf_addf(&b, ",\"undecoded\":%llu,\"reason\":", (unsigned long long)r->undecoded);
		strbuf_add_json(&b, r->reason ? r->reason : "", strlen(r->reason ? r->reason : ""));
	}
	if (r->unexplained) {
		strbuf_addf(&b, ",\"unexplainedBytes\":%llu", (unsigned long long)r->unexplained);
	}
	strbuf_addc(&b, '}');
	puts(b.failed ? "{}" : b.s);
	strbuf_finish(&b);
}

/* Behind COUNT, RATE and BYTES */
static const struct table_column columns_of[][8] = {
	[BY_EVENT] = {{"PROVIDER"}, {"ID", .right = true}, {"VER", .right = true}, {"OP", .right = true}, {"EVENT"}},
	[BY_PROVIDER] = {{"PROVIDER"}},
	[BY_PROCESS] = {{"PROCESS"}},
	[BY_LEVEL] = {{"LEVEL", .right = true}},
};

static void add_row(struct table *t, const struct stats *s, const struct row *r, double seconds)
{
	table_cell(t, "%llu", (unsigned long long)r->count);
	table_cell(t, "%.1f/s", seconds > 0 ? (double)r->count / seconds : 0);
	table_cell(t, "%.1f", (double)r->bytes / (double)r->count);
	switch (s->by) {
	case BY_EVENT:
		table_cell(t, "%s", r->name);
		table_cell(t, "%u", r->id);
		table_cell(t, "%u", r->version);
		table_cell(t, "%u", r->opcode);
		table_cell(t, "%s", r->event);
		break;
	case BY_PROVIDER: table_cell(t, "%s", r->name); break;
	case BY_PROCESS:
		if (r->pid == UINT32_MAX) {
			table_cell(t, "- (events without a process)");
		} else if (r->event[0]) {
			table_cell(t, "%s(%u)", r->event, r->pid);
		} else {
			table_cell(t, "%u", r->pid);
		}
		break;
	case BY_LEVEL: table_cell(t, "%u", r->level); break;
	}
}

static void print_table(const struct stats *s, double seconds)
{
	struct table_column columns[3 + BASE_ARRAY_LEN(columns_of[0])] = {
		{"COUNT", .right = true}, {"RATE", .right = true}, {"BYTES", .right = true}};
	unsigned count = 3;
	for (const struct table_column *c = columns_of[s->by]; c->heading; c++) {
		columns[count++] = *c;
	}
	struct table *t = table_create(columns, count, 0);
	for (size_t i = 0; i < s->used; i++) {
		if (s->rows[i].of_file && (i == 0 || !s->rows[i - 1].of_file)) {
			table_line(t, 0, "%s", "");
			table_line(t, 0, "%llu records of the file itself, which are no events:",
				   (unsigned long long)s->headers);
		}
		add_row(t, s, &s->rows[i], seconds);
	}
	putchar('\n');
	table_print(stdout, t);
}

static const struct {
	const char *json, *text;
} loss_kinds[] = {
	[OPENETW_LOST_EVENTS] = {"events", "events were lost"},
	[OPENETW_LOST_BUFFERS] = {"buffers", "buffers were lost"},
	[OPENETW_LOST_BACKUP] = {"backup", "parts of what was put aside for a live consumer were lost"},
	[OPENETW_LOST_MISSING] = {"missing", "not in the file"},
	[OPENETW_LOST_OVERWRITTEN] = {"overwritten", "overwritten, as the mode wants"},
	[OPENETW_LOST_LATEST] = {"latest", "the last loss"},
};

static void print_losses(const struct stats *s, const struct cli_trace *t)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], cpu[32] = "";
	uint64_t n = BASE_MIN(s->loss_count, (uint64_t)LOSSES_MAX);
	for (uint64_t i = 0; i < n; i++) {
		const struct openetw_loss_range *l = &s->losses[i];
		format_time(l->from, s->local, from);
		format_time(l->to, s->local, to);
		cpu[0] = 0;
		if (l->processor != UINT32_MAX) {
			snprintf(cpu, sizeof cpu, " on processor %u", l->processor);
		}
		if (l->kind == OPENETW_LOST_LATEST) {
			printf("  the last loss%s: %s\n", cpu, to);
		} else if (l->count) {
			printf("  %llu buffer%s between %s and %s: %s%s\n", (unsigned long long)l->count,
			       l->count == 1 ? "" : "s", from, to, loss_kinds[l->kind].text,
			       l->kind != OPENETW_LOST_MISSING ? ""
			       : t->lost_events || t->lost_buffers || t->unknown[0]
				       ? "; empty, or lost"
				       : "; empty ones, as nothing was lost");
		} else {
			printf("  between %s and %s%s %s\n", from, to, cpu, loss_kinds[l->kind].text);
		}
	}
	if (s->loss_count > n) {
		printf("  and %llu more such times\n", (unsigned long long)(s->loss_count - n));
	}
}

static void print_losses_json(const struct stats *s)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	for (uint64_t i = 0; i < BASE_MIN(s->loss_count, (uint64_t)LOSSES_MAX); i++) {
		const struct openetw_loss_range *l = &s->losses[i];
		format_time(l->from, s->local, from);
		format_time(l->to, s->local, to);
		printf("{\"loss\":{\"what\":\"%s\",\"from\":\"%s\",\"to\":\"%s\"", loss_kinds[l->kind].json, from, to);
		if (l->processor != UINT32_MAX) {
			printf(",\"cpu\":%u", l->processor);
		}
		if (l->count) {
			printf(",\"buffers\":%llu", (unsigned long long)l->count);
		}
		puts("}}");
	}
}

/* Cut down, so that 100 % means all. */
static double decoded_percent(const struct stats *s)
{
	uint64_t good = s->events - s->undecoded - s->partly;
	return s->events ? (double)(good * 10000 / s->events) / 100.0 : 100.0;
}

static void print_decoded(const struct stats *s)
{
	printf("decoded %.2f %%: %llu without schema, %llu partly; unexplained bytes: %llu\n", decoded_percent(s),
	       (unsigned long long)s->undecoded, (unsigned long long)s->partly, (unsigned long long)s->unexplained);
	for (size_t i = 0; i < s->used; i++) {
		const struct row *r = &s->rows[i];
		if (r->undecoded) {
			printf("  %llu: %s\n", (unsigned long long)r->undecoded, r->reason ? r->reason : "");
		}
		if (r->unexplained) {
			printf("  %s %s: %llu bytes behind the fields that its schema has\n", r->name, r->event,
			       (unsigned long long)r->unexplained);
		}
	}
}

static void print_text(const struct stats *s, const struct cli_trace *t)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], text[64];
	double seconds = (double)(s->last - s->first) / 1e7;
	format_duration(s->last - s->first, text, sizeof text);
	size_t kinds = s->used - s->header_kinds;
	printf("%llu event%s of %zu kind%s in %s, %.0f events/s\n", (unsigned long long)s->events, PLURAL(s->events),
	       kinds, PLURAL(kinds), text, seconds > 0 ? (double)s->events / seconds : 0.0);
	if (s->events) {
		format_time(s->first, s->local, from);
		format_time(s->last, s->local, to);
		printf("first %s, last %s\n", from, to);
	}
	cli_trace_print_loss(stdout, t);
	putchar('\n');
	cli_shortage_print(stdout, &s->shortages);
	if (s->loss.events + s->loss.buffers) {
		format_time(s->loss.first, s->local, from);
		format_time(s->loss.last, s->local, to);
		printf("  %llu reports of lost events and %llu of lost buffers between %s and %s\n",
		       (unsigned long long)s->loss.events, (unsigned long long)s->loss.buffers, from, to);
	}
	print_losses(s, t);
	if (s->backwards) {
		printf("clock: %llu event%s earlier than the one before\n", (unsigned long long)s->backwards,
		       s->backwards == 1 ? " is" : "s are");
	}
	if (s->outside) {
		printf("clock: %llu event%s outside the times of the header\n", (unsigned long long)s->outside,
		       s->outside == 1 ? " lies" : "s lie");
	}
	if (s->decode) {
		print_decoded(s);
	}
	print_table(s, seconds);
	if (s->gap_count) {
		printf("\nlongest times without events:\n");
	}
	for (uint64_t i = 0; i < s->gap_count; i++) {
		format_duration(s->gaps[i].to - s->gaps[i].from, text, sizeof text);
		format_time(s->gaps[i].from, s->local, from);
		printf("  %-16s from %s\n", text, from);
	}
}

static void print_json(const struct stats *s, const struct cli_trace *t)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	for (size_t i = 0; i < s->used; i++) {
		print_row_json(s, &s->rows[i]);
	}
	for (uint64_t i = 0; i < s->gap_count; i++) {
		format_time(s->gaps[i].from, s->local, from);
		format_time(s->gaps[i].to, s->local, to);
		printf("{\"gap\":{\"from\":\"%s\",\"to\":\"%s\",\"seconds\":%.7f}}\n", from, to,
		       (double)(s->gaps[i].to - s->gaps[i].from) / 1e7);
	}
	print_losses_json(s);
	cli_shortage_json(stdout, &s->shortages, "{\"notKept\":{", "}}");
	format_time(s->first, s->local, from);
	format_time(s->last, s->local, to);
	struct strbuf lost = {0};
	cli_loss_json(&lost, t->lost_events, t->lost_buffers, t->unknown);
	printf("{\"total\":{\"events\":%llu,\"headers\":%llu,\"kinds\":%zu,\"bytes\":%llu,\"first\":\"%s\",\"last\":"
	       "\"%s\",%s,\"backwards\":%llu,\"outside\":%llu",
	       (unsigned long long)s->events, (unsigned long long)s->headers, s->used - s->header_kinds,
	       (unsigned long long)s->bytes, from, to, lost.s ? lost.s : "", (unsigned long long)s->backwards,
	       (unsigned long long)s->outside);
	if (s->decode) {
		printf(",\"decodedPercent\":%.2f,\"undecoded\":%llu,\"partly\":%llu,\"unexplainedBytes\":%llu",
		       decoded_percent(s), (unsigned long long)s->undecoded, (unsigned long long)s->partly,
		       (unsigned long long)s->unexplained);
	}
	printf("}}\n");
	strbuf_finish(&lost);
}

static int count(struct cli_args *a, struct stats *s)
{
	struct cli_trace t = {.args = a,
			      .event = event,
			      .ctx = s,
			      .select = s->select,
			      .state = s->state,
			      .metadata = true,
			      .loss = loss};
	if (!cli_trace_open(&t, a->count, a->words, NULL)) {
		return CLI_FAILED;
	}
	s->start = t.first_start;
	for (int i = 0; i < t.count; i++) {
		uint64_t end = (uint64_t)t.file[i].LogfileHeader.EndTime.QuadPart;
		s->end = end == 0 || (i > 0 && s->end == 0) ? 0 : BASE_MAX(s->end, end);
	}
	uint32_t code = cli_trace_run(&t);
	if (code == ERROR_INVALID_TIME) {
		return cli_usage(a, "--to lies before --from");
	}
	int status = t.interrupted ? 128 + t.interrupted : t.problems ? CLI_FAILED : CLI_OK;
	if (code) {
		status = cli_fail(a, code, "stopped after %llu events", (unsigned long long)t.events);
	}
	if (t.interrupted) {
		return status; /* counts of a part would look like those of all */
	}
	name_rows(s);
	if (s->used) {
		qsort(s->rows, s->used, sizeof *s->rows, by_count);
	}
	if (((const struct stats_options *)a->given)->json) {
		print_json(s, &t);
	} else {
		print_text(s, &t);
	}
	if (s->failed) {
		status = cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "too many kinds of events; the counts are not complete");
	}
	uint64_t matched = s->events + (cli_select_names_events(s->select) ? s->headers : 0);
	status = code ? status : cli_absent_files(a, s->select, NULL, a->count, a->words, matched, status);
	return cli_select_finish(a, s->select, status);
}

static int run(struct cli_args *a)
{
	if (a->count == 0 || a->count > CLI_TRACE_FILES_MAX) {
		return cli_usage(a, a->count ? "at most 1024 files" : "which file?");
	}
	const struct stats_options *o = a->given;
	struct stats *s = calloc(1, sizeof *s);
	if (!s) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot count");
	}
	s->by = o->by;
	s->gap_wanted = o->gaps;
	s->local = o->local;
	s->decode = o->decode;
	int status = CLI_USAGE;
	if ((s->select = cli_select_create(a, &o->select)) != NULL) {
		cli_select_set_local(s->select, s->local);
		s->decoder = openetw_decoder_create();
		s->view = s->decoder ? cli_view_create(s->decoder, false) : NULL;
		if (s->view && (s->by == BY_PROCESS || cli_select_names_process(s->select))) {
			s->state = openetw_state_create(cli_select_asks_stack(s->select) ? OPENETW_STATE_STACKS : 0);
			cli_view_set_state(s->view, s->state);
		}
		status = s->view ? count(a, s) : cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot count");
	}
	cli_view_destroy(s->view);
	cli_state_end(s->state);
	openetw_decoder_destroy(s->decoder);
	cli_select_destroy(s->select);
	for (size_t i = 0; i < s->used; i++) {
		free(s->rows[i].reason);
	}
	map_free(&s->places);
	openetw_text_free(&s->text);
	free(s->rows);
	free(s);
	return status;
}

const struct cli_command cli_stats = {
	.name = "stats",
	.synopsis = "FILE… [--json] [--by event|provider|process|level] [options]",
	.summary = "Count the events of .etl files; show rates, gaps and loss.",
	.details = "Columns: how many, how many each second of the trace, mean payload bytes, "
		   "what. JSON has one line for each\n"
		   "row (providerGuid, provider, id, version, opcode, event or pid, process or level; "
		   "count, bytes, first, last; header: true\n"
		   "for records of the file itself, which are no events), one\n"
		   "for each gap ({\"gap\":{from, to, seconds}}), one for each loss whose time the file "
		   "shows ({\"loss\":{what, from,\n"
		   "to, cpu, buffers}}; what: events, buffers, backup, missing, overwritten, latest), one for what the "
		   "recorder\n"
		   "did not keep ({\"notKept\":{what, count}}) and at last {\"total\":{events, headers, kinds, bytes, "
		   "first, last,\n"
		   "eventsLost, buffersLost, backwards, outside}}; with --decode also\n"
		   "decodedPercent, undecoded, partly, unexplainedBytes there, and undecoded, reason, unexplainedBytes "
		   "of rows.\n\n"
		   "Examples:\n"
		   "  openetw stats web.etl\n"
		   "  openetw stats --by process --level error web.etl\n"
		   "  openetw stats --gaps 10 --filter 'event == Heartbeat' web.etl\n",
	.options = options,
	CLI_INTO(stats_options),
	.defaults = &(const struct stats_options){.gaps = 3},
	.run = run,
	.complete = "file",
};
