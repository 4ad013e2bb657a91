/* SPDX-License-Identifier: MIT
 *
 * One event. It lies in memory of the relogger's own, which it writes to the new file as it is, so its bytes are
 * changed where they are.
 */
#include "tools/scrub/scrub.h"

#include "base/vec.h"
#include "etw/values/guids.h"
#include "format/kernel_class.h"
#include "schema/schema_leaf.h"

#include <stdlib.h>
#include <strings.h>
#include <tdh.h>

/* Texts of the kernel's PerfInfo events that say nothing about a machine or its users: names of hardware counters. A
 * version is not among them: "1.0 built by: alice". */
static const char *const harmless[] = {"CounterName", "SourceName"};

#define EVENTSOURCE_MANIFEST 0xFFFEu /* the event in which an EventSource sends its manifest */
#define EVENTSOURCE_MAGIC    0x5Bu

static bool among(const struct cli_words *w, const char *name, size_t n)
{
	for (int i = 0; i < w->count; i++) {
		if (strlen(w->text[i]) == n && strncasecmp(w->text[i], name, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_harmless(const struct scrub *s, const struct schema_leaf *l)
{
	if (kernel_class_group(&s->e->EventHeader.ProviderId) != KERNEL_GROUP_PERF) {
		return false;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(harmless); i++) {
		if (strlen(harmless[i]) == l->name_bytes && memcmp(harmless[i], l->name, l->name_bytes) == 0) {
			return true;
		}
	}
	return false;
}

static void leaks(struct scrub *s, const struct schema_leaf *l)
{
	if (s->leaks++ == 0) {
		snprintf(s->leak, sizeof s->leak, "%s/%s: %.*s", s->provider, s->event, l ? (int)l->name_bytes : 5,
			 l ? l->name : "items");
	}
}

static bool is_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i]) {
			return false;
		}
	}
	return true;
}

/* Zeros; when checking, whether they are. Counts under `count` what was not zero. */
static void blank(struct scrub *s, const struct schema_leaf *l, uint8_t *p, size_t n, uint64_t *count)
{
	if (is_zero(p, n)) {
		return;
	}
	if (s->check) {
		leaks(s, l);
		return;
	}
	memset(p, 0, n);
	*count += 1;
}

static void count_field(struct scrub *s, const struct schema_leaf *l)
{
	struct strbuf b = {0};
	bool is_new;
	strbuf_addf(&b, "%s/%s: ", s->provider, s->event);
	strbuf_add(&b, l->name, l->name_bytes);
	uint32_t i = intern_text(&s->fields, b.s, b.len, &is_new);
	strbuf_finish(&b);
	if (i != INTERN_NONE && is_new && VEC_ROOM(s->field_count, s->fields_used, s->field_cap)) {
		s->field_count[s->fields_used++] = 0;
	}
	if (i != INTERN_NONE && i < s->fields_used) {
		s->field_count[i]++;
	}
}

/* ---- values ------------------------------------------------------------------------------------ */

static void text(struct scrub *s, const struct schema_leaf *l, bool wide)
{
	uint8_t *p = s->payload + l->at;
	uint8_t *end = s->payload + l->from + l->taken, *rest = p + l->bytes;
	if (rest < end) { /* a terminator, and whatever lay in a field of fixed length behind it */
		blank(s, l, rest, (size_t)(end - rest), &s->rests);
	}
	if (l->bytes == 0) {
		return;
	}
	if (s->check) {
		bool clean =
			wide ? scrub_is_clean16(&s->names, p, l->bytes / 2) : scrub_is_clean8(&s->names, p, l->bytes);
		if (!clean) {
			leaks(s, l);
		}
		return;
	}
	if (wide) {
		scrub_text16(&s->names, p, l->bytes / 2);
		if (l->bytes % 2) {
			p[l->bytes - 1] = 0;
		}
	} else {
		scrub_text8(&s->names, p, l->bytes);
	}
	s->texts++;
	count_field(s, l);
}

/* One character by itself: the same letter for all of them, since a list of them is a text. */
static void character(struct scrub *s, const struct schema_leaf *l)
{
	uint8_t *p = s->payload + l->at;
	if (is_zero(p, l->bytes) || (p[0] == 'x' && is_zero(p + 1, l->bytes - 1))) {
		return;
	}
	if (s->check) {
		leaks(s, l);
		return;
	}
	memset(p, 0, l->bytes);
	p[0] = 'x';
	s->texts++;
	count_field(s, l);
}

/* S-1-5-18 and its like name roles, not people. `n`: sub-authorities. */
static bool is_role(const uint8_t *sid, unsigned n)
{
	bool nt = is_zero(sid + 2, 5) && sid[7] == 5;
	uint32_t first = n ? le32_get(sid + 8) : 0;
	return n == 0 || (nt && (n == 1 || first == 32)) || (!nt && n == 1);
}

#define SID_HEAD      8u
#define SID_ISSUED    0x5C000000u /* in the numbers that were made up */
#define SID_ISSUED_OF 0xFF000000u

static bool is_sid(const uint8_t *p, size_t n)
{
	return n >= SID_HEAD && p[0] == 1 && p[1] <= 15 && n >= SID_HEAD + 4u * p[1];
}

/* False: it is none. */
static bool sid(struct scrub *s, const struct schema_leaf *l, uint8_t *p, size_t n)
{
	if (!is_sid(p, n)) {
		return false;
	}
	unsigned count = p[1];
	size_t used = SID_HEAD + 4 * (size_t)count;
	if (used < n) {
		blank(s, l, p + used, n - used, &s->rests);
	}
	if (is_role(p, count)) {
		return true;
	}
	/* Number by number, so that users of one domain stay so, and the domain by itself is the same. The first one only
	 * says what kind of identity it is. */
	for (uint8_t *at = p + SID_HEAD + 4; at < p + used; at += 4) {
		uint8_t made[4];
		if (s->check && (le32_get(at) & SID_ISSUED_OF) != SID_ISSUED) {
			leaks(s, l);
		} else if (!s->check) {
			scrub_bytes(&s->names, "identity", at, 4, made, sizeof made);
			le32_put(at, (le32_get(made) & ~SID_ISSUED_OF) | SID_ISSUED);
		}
	}
	if (s->check) {
		return true;
	}
	s->users++;
	return true;
}

/* Nobody's own: any address, this machine, all machines. */
static bool is_public4(const uint8_t *p)
{
	return is_zero(p, 4) || p[0] == 127 || le32_get(p) == UINT32_MAX;
}

static void address4(struct scrub *s, const struct schema_leaf *l, uint8_t *p)
{
	uint8_t made[3];
	if (is_public4(p)) {
		return;
	}
	if (s->check) {
		if (p[0] != 10) {
			leaks(s, l);
		}
		return;
	}
	scrub_bytes(&s->names, "address", p, 4, made, sizeof made);
	p[0] = 10;
	memcpy(p + 1, made, sizeof made);
	s->addresses++;
}

static void address6(struct scrub *s, const struct schema_leaf *l, uint8_t *p)
{
	static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
	uint8_t made[15];
	if (memcmp(p, mapped, sizeof mapped) == 0) {
		address4(s, l, p + 12);
		return;
	}
	if (is_zero(p, 15) && p[15] <= 1) { /* :: and ::1 */
		return;
	}
	if (s->check) {
		if (p[0] != 0xFD) {
			leaks(s, l);
		}
		return;
	}
	scrub_bytes(&s->names, "address", p, 16, made, sizeof made);
	p[0] = 0xFD;
	memcpy(p + 1, made, sizeof made);
	s->addresses++;
}

static void socket_address(struct scrub *s, const struct schema_leaf *l, uint8_t *p, size_t n)
{
	enum { IPV4 = 2, IPV6_WINDOWS = 23, IPV6_LINUX = 10 };
	uint16_t family = n >= 2 ? le16_get(p) : 0;
	if (family == IPV4 && n >= 8) {
		address4(s, l, p + 4);
		blank(s, l, p + 8, n - 8, &s->blocks);
	} else if ((family == IPV6_WINDOWS || family == IPV6_LINUX) && n >= 24) {
		blank(s, l, p + 4, 4, &s->blocks); /* flow */
		address6(s, l, p + 8);
		blank(s, l, p + 24, n - 24, &s->blocks);
	} else {
		blank(s, l, p, n, &s->blocks);
	}
}

static void bytes(struct scrub *s, const struct schema_leaf *l)
{
	uint8_t *p = s->payload + l->at;
	if (l->out_type == TDH_OUTTYPE_IPV6 && l->bytes == 16) {
		address6(s, l, p);
	} else if (l->out_type == TDH_OUTTYPE_SOCKETADDRESS) {
		socket_address(s, l, p, l->bytes);
	} else {
		blank(s, l, p, l->bytes, &s->blocks);
	}
}

/* Behind pointers of 4 or 8 bytes, which are as the kernel had them. */
static void token_user(struct scrub *s, const struct schema_leaf *l)
{
	uint8_t *p = s->payload + l->from;
	size_t n = l->taken;
	for (size_t at = 0; at <= 16; at += 8) {
		if (n >= at && is_sid(p + at, n - at) && sid(s, l, p + at, n - at)) {
			return;
		}
	}
	if (n > 4) { /* 4 zeros say that there is none */
		blank(s, l, p, n, &s->blocks);
	}
}

static bool is_character(const struct schema_leaf *l)
{
	switch (l->in_type) {
	case TDH_INTYPE_UNICODECHAR:
	case TDH_INTYPE_ANSICHAR: return true;
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_UINT16:
		return l->out_type == TDH_OUTTYPE_STRING || l->out_type == TDH_OUTTYPE_XML ||
		       l->out_type == TDH_OUTTYPE_JSON || l->out_type == TDH_OUTTYPE_UTF8;
	default: return false;
	}
}

static void leaf(void *ctx, const struct schema_leaf *l)
{
	struct scrub *s = ctx;
	uint8_t *p = s->payload + l->at;
	bool asked = among(&s->take, l->name, l->name_bytes);
	if (!asked && (among(&s->keep, l->name, l->name_bytes) || is_harmless(s, l))) {
		return;
	}
	if (is_character(l)) {
		character(s, l);
		return;
	}
	switch (l->in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING: text(s, l, true); return;
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
	case TDH_INTYPE_COUNTEDANSISTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING: text(s, l, false); return;
	case TDH_INTYPE_SID:
		if (!sid(s, l, p, l->bytes)) {
			blank(s, l, p, l->bytes, &s->blocks);
		}
		return;
	case TDH_INTYPE_WBEMSID: token_user(s, l); return;
	case TDH_INTYPE_BINARY:
	case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
	case TDH_INTYPE_HEXDUMP:
	case TDH_INTYPE_RESERVED24: bytes(s, l); return;
	default: break;
	}
	if (l->out_type == TDH_OUTTYPE_IPV4 && l->bytes == 4) {
		address4(s, l, p);
	} else if (asked) {
		blank(s, l, p, l->bytes, &s->numbers);
	}
}

/* ---- the event --------------------------------------------------------------------------------- */

static void items(struct scrub *s, EVENT_RECORD *e)
{
	for (USHORT i = 0; i < e->ExtendedDataCount; i++) {
		EVENT_HEADER_EXTENDED_DATA_ITEM *x = &e->ExtendedData[i];
		uint8_t *p = (uint8_t *)(uintptr_t)x->DataPtr;
		switch (x->ExtType) {
		case EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID:
		case EVENT_HEADER_EXT_TYPE_TS_ID:
		case EVENT_HEADER_EXT_TYPE_INSTANCE_INFO:
		case EVENT_HEADER_EXT_TYPE_STACK_TRACE32:
		case EVENT_HEADER_EXT_TYPE_STACK_TRACE64:
		case EVENT_HEADER_EXT_TYPE_PEBS_INDEX:
		case EVENT_HEADER_EXT_TYPE_PMC_COUNTERS:
		case EVENT_HEADER_EXT_TYPE_EVENT_KEY:
		case EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL:
		case EVENT_HEADER_EXT_TYPE_PROV_TRAITS:
		case EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY:
		case EVENT_HEADER_EXT_TYPE_CONTROL_GUID:
		case EVENT_HEADER_EXT_TYPE_QPC_DELTA:
		case EVENT_HEADER_EXT_TYPE_STACK_KEY32:
		case EVENT_HEADER_EXT_TYPE_STACK_KEY64: break;
		case EVENT_HEADER_EXT_TYPE_SID:
			if (!sid(s, NULL, p, x->DataSize)) {
				blank(s, NULL, p, x->DataSize, &s->items);
			}
			break;
		default: blank(s, NULL, p, x->DataSize, &s->items); /* names of packages, containers, … */
		}
	}
}

/* Descriptions of events: what providers call things. */
static bool is_description(const EVENT_RECORD *e)
{
	static const struct guid metadata = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);
	const uint8_t *p = e->UserData;
	return memcmp(&e->EventHeader.ProviderId, &metadata, sizeof metadata) == 0 ||
	       (e->EventHeader.EventDescriptor.Id == EVENTSOURCE_MANIFEST && e->UserDataLength >= 8 && p[0] == 1 &&
		p[3] == EVENTSOURCE_MAGIC);
}

/* An EventSource's manifest stays, but for the names of files in it: they may be paths of who built the program. */
static void manifest_paths(struct scrub *s, uint8_t *p, size_t n)
{
	static const char attribute[] = "FileName=\"";
	const size_t length = sizeof attribute - 1;
	for (uint8_t *at; n > length && (at = memmem(p, n, attribute, length)) != NULL;) {
		n -= (size_t)(at + length - p);
		p = at + length;
		uint8_t *quote = memchr(p, '"', n);
		size_t bytes = quote ? (size_t)(quote - p) : n;
		if (s->check && !scrub_is_clean8(&s->names, p, bytes)) {
			leaks(s, NULL);
		} else if (!s->check) {
			scrub_text8(&s->names, p, bytes);
		}
		p += bytes;
		n -= bytes;
	}
}

int scrub_event(struct scrub *s, EVENT_RECORD *e)
{
	uint32_t explained;
	s->e = e;
	s->payload = e->UserData;
	openetw_event_names(s->decoder, e, &s->provider, &s->event);
	/* The names live until the decoder is asked again. */
	char provider[256], event[256];
	snprintf(provider, sizeof provider, "%s", s->provider);
	snprintf(event, sizeof event, "%s", s->event);
	s->provider = provider;
	s->event = event;
	s->events++;
	items(s, e);
	if (is_description(e)) {
		if (e->EventHeader.EventDescriptor.Id == EVENTSOURCE_MANIFEST) {
			manifest_paths(s, s->payload, e->UserDataLength);
		}
	} else if (e->UserDataLength) {
		int err = schema_decode_leaves(s->decoder, e, leaf, s, &explained);
		if (err == -ENOMEM) {
			return err;
		}
		uint32_t n = e->UserDataLength;
		blank(s, NULL, s->payload + BASE_MIN(explained, n), n - BASE_MIN(explained, n),
		      err == -ENOENT ? &s->unknown : &s->rests);
	}
	s->provider = s->event = "";
	return s->names.failed ? -ENOMEM : 0;
}

void scrub_finish(struct scrub *s)
{
	scrub_names_finish(&s->names);
	intern_free(&s->fields);
	free(s->field_count);
	openetw_decoder_destroy(s->decoder);
}
