/* SPDX-License-Identifier: MIT
 * CTF 1.8 (diamon.org/ctf): a folder with "stream", packets of events, and "metadata", which describes them in TSDL.
 *
 * Each event class is one event with one list of fields: what the decoder gives for it, by name and type. So an event
 * whose versions differ has several classes of one name. Integers, doubles and texts are such; arrays and structures
 * are their JSON text. Times are nanoseconds since 1970: readers calculate other units with a loss.
 *
 *   packet   header (magic, uuid, stream), context (times, sizes), events, zeros up to a whole number of bytes
 *   event    class (32 bits), time (64 bits), context (cpu, pid, tid, process, …), fields; all aligned to bytes
 */
#include "tools/export/export.h"

#include "base/vec.h"
#include "tools/common/output_dir.h"
#include "tools/export/intern.h"
#include "tools/export/json_walk.h"

#include <stdlib.h>
#include <tdh.h>

#define CTF_MAGIC     0xC1FC1FC1u
#define PACKET_BYTES  (1u << 20) /* more only for one event that is bigger */
#define HEADER_BYTES  (4u + 16u + 4u)
#define CONTEXT_BYTES (5u * 8u)
#define CLASSES_MAX   (1u << 20)

struct ctf {
	struct strbuf packet, metadata, key, text;
	struct intern classes;
	struct guid uuid;
	uint64_t first, last; /* of the packet; last: of the stream too */
	bool any;
};

enum field_type { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_DOUBLE, FIELD_STRING };

static enum field_type type_of(const struct openetw_field *f)
{
	if (f->is_array || f->is_struct || json_type_of(f->json, f->json_length) != JSON_NUMBER) {
		return FIELD_STRING;
	}
	switch (json_number_of(f->json, f->json_length).kind) {
	case JSON_SIGNED: return FIELD_SIGNED;
	case JSON_DOUBLE: return FIELD_DOUBLE;
	case JSON_UNSIGNED: break;
	}
	/* A field that can be negative is signed in all its events. */
	switch (f->in_type) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_INT64: return FIELD_SIGNED;
	case TDH_INTYPE_FLOAT:
	case TDH_INTYPE_DOUBLE: return FIELD_DOUBLE;
	default: return FIELD_UNSIGNED;
	}
}

/* ---- the description --------------------------------------------------------------------------- */

/* An identifier: readers take the first underscore away, so that a name may be a word of the language. */
static void add_identifier(struct strbuf *b, const char *name, size_t n)
{
	strbuf_addc(b, '_');
	for (size_t i = 0; i < n; i++) {
		char c = name[i];
		bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
		strbuf_addc(b, fine ? c : '_');
	}
}

/* A text of the language, in quotes. */
static void add_literal(struct strbuf *b, const char *s)
{
	strbuf_addc(b, '"');
	for (; *s; s++) {
		uint8_t c = (uint8_t)*s;
		if (c == '"' || c == '\\') {
			strbuf_addc(b, '\\');
			strbuf_addc(b, (char)c);
		} else {
			strbuf_addc(b, c < ' ' || c == 0x7F ? '?' : (char)c);
		}
	}
	strbuf_addc(b, '"');
}

static void add_field(struct strbuf *b, const struct export_event *e, size_t i)
{
	static const char *const types[] = {"uint64_t", "int64_t", "double_t", "string"};
	const struct openetw_field *f = &e->field[i];
	unsigned same = 1;
	for (size_t k = 0; k < i; k++) {
		same += strcasecmp(e->field[k].name, f->name) == 0;
	}
	strbuf_addf(b, "\t\t%s ", types[type_of(f)]);
	add_identifier(b, f->name, f->name_length);
	if (same > 1) {
		strbuf_addf(b, "_%u", same);
	}
	strbuf_adds(b, ";\n");
}

static void describe(struct ctf *c, const struct export_event *e, uint32_t class)
{
	struct strbuf *b = &c->metadata;
	uint8_t level = e->record->EventHeader.EventDescriptor.Level;
	/* TRACE_CRIT, ERR, WARNING, INFO, DEBUG of LTTng */
	static const uint8_t loglevel[] = {6, 2, 3, 4, 6, 14};
	strbuf_adds(b, "event {\n\tname = ");
	strbuf_clear(&c->text);
	strbuf_adds(&c->text, e->provider);
	strbuf_addc(&c->text, ':');
	strbuf_adds(&c->text, e->name);
	add_literal(b, c->text.s ? c->text.s : "");
	strbuf_addf(b, ";\n\tid = %u;\n\tstream_id = 0;\n\tloglevel = %u;\n\tfields := struct {\n", class,
		    level < BASE_ARRAY_LEN(loglevel) ? loglevel[level] : 14);
	for (size_t i = 0; i < e->field_count; i++) {
		add_field(b, e, i);
	}
	strbuf_adds(b, "\t};\n};\n");
}

static uint32_t class_of(struct ctf *c, const struct export_event *e)
{
	bool is_new;
	char guid[37];
	cli_guid_text(&e->record->EventHeader.ProviderId, guid);
	strbuf_clear(&c->key);
	strbuf_addf(&c->key, "%s %u ", guid, e->record->EventHeader.EventDescriptor.Level);
	strbuf_adds(&c->key, e->provider);
	strbuf_addc(&c->key, '\n');
	strbuf_adds(&c->key, e->name);
	for (size_t i = 0; i < e->field_count; i++) {
		strbuf_addf(&c->key, "\n%u ", type_of(&e->field[i]));
		strbuf_add(&c->key, e->field[i].name, e->field[i].name_length);
	}
	uint32_t class =
		c->classes.count < CLASSES_MAX ? intern_text(&c->classes, c->key.s, c->key.len, &is_new) : INTERN_NONE;
	if (class != INTERN_NONE && is_new) {
		describe(c, e, class);
	}
	return class;
}

static void describe_stream(struct export *x, struct ctf *c)
{
	char uuid[37];
	struct strbuf *b = &c->metadata;
	guid_random(&c->uuid);
	/* The text of a UUID has its bytes in their order. */
	const uint8_t *u = c->uuid.b;
	snprintf(uuid, sizeof uuid, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
		 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	strbuf_adds(b, "/* CTF 1.8 */\n"
		       "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
		       "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
		       "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
		       "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
		       "typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
		       "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double_t;\n");
	strbuf_addf(b,
		    "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n"
		    "\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n\t\tuint32_t stream_id;\n"
		    "\t};\n};\nenv {\n\tdomain = \"etw\";\n\ttracer_name = \"openetw\";\n\ttrace_file = ",
		    uuid);
	add_literal(b, x->trace.name);
	strbuf_adds(b, ";\n\tos_version = ");
	add_literal(b, x->trace.os);
	strbuf_adds(b,
		    ";\n};\nclock {\n\tname = \"etw\";\n\tdescription = \"ns since 1970, UTC\";\n\tfreq = 1000000000;\n"
		    "\toffset_s = 0;\n\toffset = 0;\n\tabsolute = true;\n};\n"
		    "typealias integer { size = 64; align = 8; signed = false; map = clock.etw.value; } := time_t;\n"
		    "stream {\n\tid = 0;\n\tpacket.context := struct {\n\t\ttime_t timestamp_begin;\n"
		    "\t\ttime_t timestamp_end;\n\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
		    "\t\tuint64_t events_discarded;\n\t};\n"
		    "\tevent.header := struct {\n\t\tuint32_t id;\n\t\ttime_t timestamp;\n\t};\n"
		    "\tevent.context := struct {\n\t\tuint32_t _cpu_id;\n\t\tuint32_t _pid;\n\t\tuint32_t _tid;\n"
		    "\t\tstring _process;\n\t\tstring _thread;\n\t\tuint32_t _id;\n\t\tuint32_t _version;\n"
		    "\t\tuint32_t _opcode;\n\t\tuint32_t _task;\n\t\thex64_t _keywords;\n\t\tstring "
		    "_activity;\n\t};\n};\n");
}

/* ---- packets ----------------------------------------------------------------------------------- */

static void put32(struct strbuf *b, uint32_t v)
{
	uint8_t bytes[4];
	le32_put(bytes, v);
	strbuf_add(b, bytes, sizeof bytes);
}

static void put64(struct strbuf *b, uint64_t v)
{
	uint8_t bytes[8];
	le64_put(bytes, v);
	strbuf_add(b, bytes, sizeof bytes);
}

static void begin_packet(struct ctf *c)
{
	struct strbuf *b = &c->packet;
	strbuf_clear(b);
	put32(b, CTF_MAGIC);
	strbuf_add(b, c->uuid.b, sizeof c->uuid.b);
	put32(b, 0);
	for (size_t i = 0; i < CONTEXT_BYTES / 8; i++) {
		put64(b, 0); /* end_packet() writes it */
	}
	c->any = false;
}

static bool end_packet(struct export *x, struct ctf *c)
{
	struct strbuf *b = &c->packet;
	if (b->failed) {
		return export_fail(x, ENOMEM);
	}
	char *context = b->s + HEADER_BYTES;
	le64_put(context, c->first);
	le64_put(context + 8, c->last);
	le64_put(context + 16, (uint64_t)b->len * 8);
	le64_put(context + 24, (uint64_t)b->len * 8);
	bool ok = export_flush(x, b);
	begin_packet(c);
	return ok;
}

/* A text ends with a NUL, so it has none inside. */
static void put_text(struct export *x, struct strbuf *b, const char *s, size_t n)
{
	size_t whole = n ? strnlen(s, n) : 0;
	if (whole < n) {
		export_miss(x, "texts with a NUL inside: cut there");
	}
	strbuf_add(b, s, whole);
	strbuf_addc(b, 0);
}

static void put_field(struct export *x, struct strbuf *b, const struct openetw_field *f)
{
	struct json_number n = json_number_of(f->json, f->json_length);
	uint64_t bits;
	switch (type_of(f)) {
	case FIELD_UNSIGNED: put64(b, n.u); break;
	case FIELD_SIGNED: put64(b, n.kind == JSON_SIGNED ? (uint64_t)n.i : n.u); break;
	case FIELD_DOUBLE:
		memcpy(&bits, &n.d, sizeof bits);
		put64(b, bits);
		break;
	case FIELD_STRING:
		if (f->is_array || f->is_struct) {
			put_text(x, b, f->json, f->json_length);
		} else {
			put_text(x, b, f->text, f->text_length);
		}
		break;
	}
}

static void put_string(struct export *x, struct strbuf *b, const char *s)
{
	put_text(x, b, s ? s : "", s ? strlen(s) : 0);
}

static bool event(struct export *x, const struct export_event *e)
{
	static const GUID zero;
	struct ctf *c = x->own;
	struct strbuf *b = &c->packet;
	const EVENT_HEADER *h = &e->record->EventHeader;
	uint64_t time = e->time_100ns * 100;
	char activity[37] = "";
	if (time < c->last) { /* a stream's times never go back */
		export_miss(x, "times that lie before that of the event before them: written as that");
		time = c->last;
	}
	uint32_t class = class_of(c, e);
	if (class == INTERN_NONE) {
		if (c->classes.failed) {
			return export_fail(x, ENOMEM);
		}
		export_miss(x, "events with more than a million different lists of fields: left out");
		return true;
	}
	if (memcmp(&h->ActivityId, &zero, sizeof zero) != 0) {
		cli_guid_text(&h->ActivityId, activity);
	}
	c->first = c->any ? c->first : time;
	c->last = time;
	c->any = true;
	put32(b, class);
	put64(b, time);
	put32(b, e->cpu);
	put32(b, e->who->pid);
	put32(b, e->who->tid);
	put_string(x, b, e->who->process);
	put_string(x, b, e->who->thread);
	put32(b, h->EventDescriptor.Id);
	put32(b, h->EventDescriptor.Version);
	put32(b, h->EventDescriptor.Opcode);
	put32(b, h->EventDescriptor.Task);
	put64(b, h->EventDescriptor.Keyword);
	put_string(x, b, activity);
	for (size_t i = 0; i < e->field_count; i++) {
		put_field(x, b, &e->field[i]);
	}
	x->written++;
	if (b->failed || c->metadata.failed || c->key.failed || c->text.failed) {
		return export_fail(x, ENOMEM);
	}
	return b->len < PACKET_BYTES || end_packet(x, c);
}

/* ---- the kind ---------------------------------------------------------------------------------- */

static bool begin(struct export *x)
{
	struct ctf *c = x->own = calloc(1, sizeof *c);
	if (!c) {
		return export_fail(x, ENOMEM);
	}
	describe_stream(x, c);
	begin_packet(c);
	return true;
}

static bool end(struct export *x)
{
	struct ctf *c = x->own;
	if (x->written == 0) { /* babeltrace2 wants at least one packet */
		c->first = c->last = x->trace.start_100ns * 100;
		c->any = true;
	}
	if (c->any && !end_packet(x, c)) {
		return false;
	}
	FILE *f = c->metadata.failed ? NULL : cli_output_dir_file(x->dir, "metadata");
	if (!f) {
		return export_fail(x, c->metadata.failed ? ENOMEM : errno);
	}
	bool ok = fwrite(c->metadata.s, 1, c->metadata.len, f) == c->metadata.len;
	ok = fclose(f) == 0 && ok;
	x->bytes += c->metadata.len;
	return ok || export_fail(x, errno ? errno : EIO);
}

static void finish(struct export *x)
{
	struct ctf *c = x->own;
	if (c) {
		strbuf_finish(&c->packet);
		strbuf_finish(&c->metadata);
		strbuf_finish(&c->key);
		strbuf_finish(&c->text);
		intern_free(&c->classes);
		free(c);
	}
	x->own = NULL;
}

static const char *const folder[] = {"stream", "metadata", NULL};
const struct export_kind export_ctf = {
	.name = "ctf",
	.what = "a trace in the Common Trace Format 1.8, for babeltrace2 and Trace Compass",
	.suffix = "",
	.cannot = "call stacks; types of array and structure (they are JSON text)",
	.needs = EXPORT_FIELDS,
	.binary = true,
	.folder = folder,
	.begin = begin,
	.event = event,
	.end = end,
	.finish = finish,
};
