/* SPDX-License-Identifier: MIT
 *
 * Message ids and the message table.
 *
 * A string gets its id from the first thing that uses it: kind in the top four bits, number of the
 * provider in the next four, then what the thing's value gives. The table is a
 * MESSAGE_RESOURCE_DATA: runs of consecutive ids, then the texts.
 */
#include "mc/mc_template.h"
#include "base/vec.h"

#include <stdlib.h>

#define KIND_CLASSIC   0x0u /* events of the System, Application and Security logs: the bare id */
#define KIND_KEYWORD   0x1u
#define KIND_OPCODE    0x3u
#define KIND_LEVEL     0x5u /* filters too */
#define KIND_TASK      0x7u
#define KIND_NAME      0x9u /* providers and channels */
#define KIND_EVENT     0xBu
#define KIND_VALUE_MAP 0xDu
#define KIND_BIT_MAP   0xFu

struct ids {
	struct mc *mc;
	unsigned provider;
	uint32_t names, values, bits; /* next of those that are numbered */
	bool no_memory;
};

/* The messages by reference while they are collected. */
static size_t place(const struct mc *mc, const char *ref, bool *ret_found)
{
	size_t low = 0, high = mc->message_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(mc->messages[mid].ref, ref);
		if (c == 0) {
			*ret_found = true;
			return mid;
		}
		if (c < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	*ret_found = false;
	return low;
}

uint32_t mc_message_id(const struct mc *mc, const char *ref)
{
	bool found = false;
	size_t i = ref ? place(mc, ref, &found) : 0;
	return found ? mc->messages[i].value : MC_NO_MESSAGE;
}

static bool wants(const struct mc *mc, const char *ref)
{
	bool found = false;
	if (ref) {
		place(mc, ref, &found);
	}
	return ref && !found;
}

/* `text`: of winmeta's messages, when the manifest has no string for them. */
static void add_text(struct ids *ids, const char *ref, const char *text, uint32_t value)
{
	struct mc *mc = ids->mc;
	bool found;
	size_t at = place(mc, ref, &found);
	if (!VEC_ROOM(mc->messages, mc->message_count, mc->message_cap)) {
		ids->no_memory = true;
		return;
	}
	size_t n = strlen(ref);
	const char *id = NULL;
	if (!text && n > 10 && strncmp(ref, "$(string.", 9) == 0 && ref[n - 1] == ')') {
		id = arena_text(&mc->arena, ref + 9, n - 10);
		ids->no_memory |= !id;
	}
	memmove(mc->messages + at + 1, mc->messages + at, (mc->message_count - at) * sizeof *mc->messages);
	mc->messages[at] = (struct mc_message){ref, id, text ? text : ref, value};
	mc->message_count++;
}

static void add(struct ids *ids, const char *ref, uint32_t kind, uint32_t low)
{
	add_text(ids, ref, NULL, kind << 28 | (ids->provider & 0xF) << 24 | (low & 0xFFFFFF));
}

/* ---- winmeta ---------------------------------------------------------------------------------- */

/* A manifest may have winmeta's strings in tables of its own, as the manifest editor writes them:
 * "level.Error". Then its texts count, and they have names in the header. NULL: it has none. */
static const char *own_string(struct mc *mc, enum manifest_kind kind, const struct manifest_name *n)
{
	static const char *const words[MANIFEST_KIND_COUNT] = {
		[MANIFEST_LEVEL] = "level",     [MANIFEST_TASK] = "task",       [MANIFEST_OPCODE] = "opcode",
		[MANIFEST_KEYWORD] = "keyword", [MANIFEST_CHANNEL] = "channel", [MANIFEST_FILTER] = "filter"};
	static const char *const others[][2] = {{"win:DC_Start", "opcode.DCStart"},
						{"win:DC_Stop", "opcode.DCStop"},
						{"win:EventlogClassic", "keyword.Classic"}};
	const char *colon = strchr(n->name, ':');
	const char *id = mc_text(mc, "%s.%s", words[kind], colon ? colon + 1 : n->name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(others); i++) {
		id = strcmp(others[i][0], n->name) == 0 ? others[i][1] : id;
	}
	for (const struct manifest_culture *c = mc->m->cultures; c && id; c = c->next) {
		for (size_t i = 0; i < c->string_count; i++) {
			if (strcmp(c->strings[i].id, id) == 0) {
				return id;
			}
		}
	}
	return NULL;
}

/* Its names have messages too, which go into the table of who uses them. No attribute can be
 * written like these references. */
const char *mc_name_ref(const struct mc *mc, enum manifest_kind kind, const struct manifest_name *n)
{
	static const char marks[MANIFEST_KIND_COUNT] = {
		[MANIFEST_LEVEL] = 'L',   [MANIFEST_TASK] = 'T',    [MANIFEST_OPCODE] = 'O',
		[MANIFEST_KEYWORD] = 'K', [MANIFEST_CHANNEL] = 'C', [MANIFEST_FILTER] = 'F'};
	bool system = kind == MANIFEST_CHANNEL && n->imported && manifest_predefined_by_name(kind, n->name);
	if (n->message || (!n->predefined && !system)) {
		return n->message;
	}
	const char *id = own_string((struct mc *)mc, kind, n);
	if (id) {
		return mc_text((struct mc *)mc, "$(string.%s)", id);
	}
	/* The first byte of a message attribute is never this: XML has no such character. */
	return mc_text((struct mc *)mc, "\x01%c%s", marks[kind], n->name);
}

static uint32_t winmeta_value(struct ids *ids, enum manifest_kind kind, const struct manifest_name *n)
{
	uint32_t v = (uint32_t)n->value;
	switch (kind) {
	case MANIFEST_LEVEL: return KIND_LEVEL << 28 | v;
	case MANIFEST_TASK: return KIND_TASK << 28 | v;
	case MANIFEST_OPCODE: return KIND_OPCODE << 28 | v;
	case MANIFEST_KEYWORD: return KIND_KEYWORD << 28 | (n->value ? 64 - (uint32_t)__builtin_clzll(n->value) : 0);
	default: return KIND_NAME << 28 | (ids->provider & 0xF) << 24 | ids->names++;
	}
}

static void add_winmeta(struct ids *ids, enum manifest_kind kind, const struct manifest_name *n)
{
	const char *ref = n ? mc_name_ref(ids->mc, kind, n) : NULL;
	if (ref && ref != n->message && wants(ids->mc, ref)) {
		/* "win:None" is shown as nothing, but has a text. */
		add_text(ids, ref,
			 ref[0] == '$' ? NULL
			 : n->text[0]  ? n->text
				       : strchr(n->name, ':') + 1,
			 winmeta_value(ids, kind, n));
	}
}

static void add_names(struct ids *ids, const struct manifest_provider *p, enum manifest_kind kind)
{
	for (const struct manifest_name *n = p->names[kind]; n; n = n->next) {
		if (!wants(ids->mc, n->message)) {
			add_winmeta(ids, kind, n);
			continue;
		}
		uint32_t value = (uint32_t)n->value;
		switch (kind) {
		case MANIFEST_CHANNEL: add(ids, n->message, KIND_NAME, ids->names++); break;
		case MANIFEST_LEVEL: add(ids, n->message, KIND_LEVEL, value); break;
		case MANIFEST_TASK: add(ids, n->message, KIND_TASK, value & 0xFFFF); break;
		case MANIFEST_OPCODE:
			add(ids, n->message, KIND_OPCODE,
			    (n->task ? (uint32_t)n->task->value & 0xFF : 0) << 16 | value);
			break;
		case MANIFEST_KEYWORD:
			add(ids, n->message, KIND_KEYWORD, n->value ? 64 - (uint32_t)__builtin_clzll(n->value) : 0);
			break;
		default: add(ids, n->message, KIND_LEVEL, 0x800000u | (uint32_t)n->version << 8 | value);
		}
	}
}

/* Channels of the classic event log. Its readers know bare ids only. */
static bool is_classic(const struct manifest_name *channel)
{
	return channel && channel->value >= 8 && channel->value <= 10;
}

static void add_provider(struct ids *ids, const struct manifest_provider *p)
{
	ids->names = ids->values = ids->bits = 1;
	if (wants(ids->mc, p->message_ref)) {
		add(ids, p->message_ref, KIND_NAME, ids->names++);
	}
	static const enum manifest_kind order[] = {MANIFEST_CHANNEL, MANIFEST_LEVEL, MANIFEST_TASK, MANIFEST_OPCODE,
						   MANIFEST_KEYWORD};
	for (size_t i = 0; i < BASE_ARRAY_LEN(order); i++) {
		add_names(ids, p, order[i]);
	}
	for (const struct manifest_event *e = p->events; e; e = e->next) {
		const char *at = e->keywords;
		const struct manifest_name *k;
		add_winmeta(ids, MANIFEST_LEVEL, e->level_of);
		add_winmeta(ids, MANIFEST_TASK, e->task_of);
		add_winmeta(ids, MANIFEST_OPCODE, e->opcode_given ? e->opcode_of : NULL);
		while ((k = mc_next_keyword(p, &at)) != NULL) {
			add_winmeta(ids, MANIFEST_KEYWORD, k);
		}
		if (wants(ids->mc, e->message)) {
			add(ids, e->message, is_classic(e->channel_of) ? KIND_CLASSIC : KIND_EVENT,
			    (uint32_t)e->version << 16 | e->id);
		}
	}
	for (const struct manifest_map *m = p->maps; m; m = m->next) {
		for (const struct manifest_map_entry *e = m->entries; e; e = e->next) {
			if (wants(ids->mc, e->message)) {
				add(ids, e->message, m->bits ? KIND_BIT_MAP : KIND_VALUE_MAP,
				    m->bits ? ids->bits++ : ids->values++);
			}
		}
	}
	add_names(ids, p, MANIFEST_FILTER);
}

/* Two things with one id: the table could hold only one text. */
static int check(const struct mc *mc, struct diag *d)
{
	const struct mc_message **m = mc_messages_by_id(mc);
	int err = m || !mc->message_count ? 0 : -ENOMEM;
	for (size_t i = 1; err == 0 && i < mc->message_count; i++) {
		if (m[i]->value == m[i - 1]->value) {
			diag_at(d, UINT64_MAX,
				"messages '%s' and '%s' would both get the id 0x%08X; two things "
				"of the same kind have the same value",
				m[i - 1]->ref, m[i]->ref, m[i]->value);
			err = -EBADMSG;
		}
	}
	free(m);
	return err;
}

int mc_messages_build(struct mc *mc, struct diag *d)
{
	struct ids ids = {.mc = mc};
	for (const struct manifest_provider *p = mc->m->providers; p; p = p->next) {
		add_provider(&ids, p);
		ids.provider++;
	}
	return ids.no_memory ? -ENOMEM : check(mc, d);
}

static int by_id(const void *a, const void *b)
{
	const struct mc_message *x = *(const struct mc_message *const *)a, *y = *(const struct mc_message *const *)b;
	return x->value < y->value ? -1 : x->value > y->value;
}

const struct mc_message **mc_messages_by_id(const struct mc *mc)
{
	const struct mc_message **list = calloc(mc->message_count + 1, sizeof *list);
	for (size_t i = 0; list && i < mc->message_count; i++) {
		list[i] = &mc->messages[i];
	}
	if (list) {
		qsort(list, mc->message_count, sizeof *list, by_id);
	}
	return list;
}

/* ---- the table -------------------------------------------------------------------------------- */

bool mc_has_messages(const struct mc *mc)
{
	return mc->message_count > 0;
}

static const struct manifest_culture *language(const struct mc *mc, size_t i)
{
	const struct manifest_culture *c = mc->m->cultures;
	while (c && i--) {
		c = c->next;
	}
	return c;
}

size_t mc_language_count(const struct mc *mc)
{
	size_t n = 0;
	while (language(mc, n)) {
		n++;
	}
	return n ? n : 1;
}

const char *mc_language_name(const struct mc *mc, size_t i)
{
	const struct manifest_culture *c = language(mc, i);
	return c ? c->name : "en-US";
}

/* A string that a language lacks is taken from the first one. */
static const char *text_of(const struct mc *mc, const struct mc_message *m, size_t lang)
{
	if (!m->id) {
		return m->text;
	}
	for (int turn = 0; turn < 2; turn++) {
		const struct manifest_culture *c = language(mc, turn ? 0 : lang);
		for (size_t i = 0; c && i < c->string_count; i++) {
			if (strcmp(c->strings[i].id, m->id) == 0) {
				return c->strings[i].value;
			}
		}
	}
	return "";
}

static void put16(struct strbuf *b, uint16_t v)
{
	strbuf_add(b, &v, 2);
}
static void put32(struct strbuf *b, uint32_t v)
{
	strbuf_add(b, &v, 4);
}

/* Ends of lines inside a text become those of Windows. */
static void add_lines(struct strbuf *b, const char *text)
{
	for (const char *s = text; *s; s++) {
		if (*s == '\n' && (s == text || s[-1] != '\r')) {
			strbuf_addc(b, '\r');
		}
		strbuf_addc(b, *s);
	}
}

/* Length and flags, the text with a line's end and a terminator, filled up to four bytes. */
static void put_entry(struct strbuf *b, const char *given)
{
	struct strbuf lines = {0};
	add_lines(&lines, given);
	const char *text = lines.s ? lines.s : "";
	size_t n = lines.len;
	b->failed |= lines.failed;
	long units = utf8_to_utf16(text, n, NULL, 0);
	units = units < 0 ? 0 : units;
	size_t at = b->len, bytes = ((size_t)units * 2 + 6 + 3) & ~(size_t)3;
	bytes = BASE_MIN(bytes, (size_t)0xFFF8);
	put16(b, (uint16_t)(bytes + 4));
	put16(b, 1); /* MESSAGE_RESOURCE_UNICODE */
	uint16_t *wide = calloc((size_t)units + 1, sizeof *wide);
	if (!wide) {
		strbuf_finish(&lines);
		b->failed = true;
		return;
	}
	utf8_to_utf16(text, n, wide, (size_t)units + 1);
	strbuf_add(b, wide, BASE_MIN((size_t)units * 2, bytes - 6));
	free(wide);
	strbuf_finish(&lines);
	strbuf_add(b, "\r\0\n\0\0\0", 6);
	while ((b->len - at) % 4 && !b->failed) {
		strbuf_addc(b, 0);
	}
}

void mc_write_messages(const struct mc *mc, size_t lang, struct strbuf *out)
{
	const struct mc_message **m = mc_messages_by_id(mc);
	struct strbuf texts = {0};
	size_t blocks = 0;
	if (!m) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < mc->message_count; i++) {
		blocks += i == 0 || m[i]->value != m[i - 1]->value + 1;
	}
	put32(out, (uint32_t)blocks);
	for (size_t i = 0; i < mc->message_count;) {
		size_t end = i + 1;
		while (end < mc->message_count && m[end]->value == m[end - 1]->value + 1) {
			end++;
		}
		put32(out, m[i]->value);
		put32(out, m[end - 1]->value);
		put32(out, (uint32_t)(4 + blocks * 12 + texts.len));
		for (; i < end; i++) {
			put_entry(&texts, text_of(mc, m[i], lang));
		}
	}
	strbuf_add(out, texts.s ? texts.s : "", texts.len);
	out->failed |= texts.failed;
	strbuf_finish(&texts);
	free(m);
}
