/* SPDX-License-Identifier: MIT
 *
 * .tmf files, a message source after the other:
 *
 *   // comment
 *   guid name // SRC=file.c MJ= MN=
 *   #typev file_c25 10 "%0text %10!s! %11!d!" //   LEVEL=X FLAGS=Y FUNC=Z
 *   {
 *   name, ItemLong -- 11
 *   }
 */
#include "schema/wpp.h"

#include "base/source_text.h"

#include <stdlib.h>
#include <strings.h>

struct tmf {
	const char *p, *end;
	uint32_t line;
	struct arena *arena;
	struct diag *diag;
	struct manifest *manifest;
	struct manifest_provider *provider;
	struct manifest_event **events_tail;
	const char *source; /* SRC= of the provider */
	uint32_t maps;
};

static const struct {
	char name[18];
	uint16_t in, out, length;
} types[] = {
	{"ItemChar", TDH_INTYPE_UINT8, TDH_OUTTYPE_STRING, 0},
	{"ItemUChar", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	{"ItemCharShort", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	{"ItemCharSign", TDH_INTYPE_INT8, TDH_OUTTYPE_BYTE, 0},
	{"ItemWChar", TDH_INTYPE_UINT16, TDH_OUTTYPE_STRING, 0},
	{"ItemShort", TDH_INTYPE_INT16, TDH_OUTTYPE_SHORT, 0},
	{"ItemUShort", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 0},
	{"ItemInt", TDH_INTYPE_INT32, TDH_OUTTYPE_INT, 0},
	{"ItemLong", TDH_INTYPE_INT32, TDH_OUTTYPE_INT, 0},
	{"ItemULong", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	{"ItemULongX", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"ItemLongLong", TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	{"ItemULongLong", TDH_INTYPE_UINT64, TDH_OUTTYPE_UNSIGNEDLONG, 0},
	{"ItemLongLongX", TDH_INTYPE_UINT64, TDH_OUTTYPE_HEXINT64, 0},
	{"ItemLongLongXX", TDH_INTYPE_UINT64, TDH_OUTTYPE_HEXINT64, 0},
	{"ItemLongLongO", TDH_INTYPE_UINT64, TDH_OUTTYPE_UNSIGNEDLONG, 0},
	{"ItemFloat", TDH_INTYPE_FLOAT, TDH_OUTTYPE_FLOAT, 0},
	{"ItemDouble", TDH_INTYPE_DOUBLE, TDH_OUTTYPE_DOUBLE, 0},
	{"ItemPtr", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64, 0},
	{"ItemString", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemRString", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemMLString", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemWString", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemRWString", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemPString", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemPWString", TDH_INTYPE_MANIFEST_COUNTEDSTRING, TDH_OUTTYPE_STRING, 0},
	{"ItemGuid", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID, 0},
	{"ItemCLSID", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID, 0},
	{"ItemIID", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID, 0},
	{"ItemLIBID", TDH_INTYPE_GUID, TDH_OUTTYPE_GUID, 0},
	{"ItemIPAddr", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, 0},
	{"ItemIPV6Addr", TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 16},
	{"ItemPort", TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT, 0},
	{"ItemMACAddr", TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY, 6},
	{"ItemSid", TDH_INTYPE_SID, TDH_OUTTYPE_STRING, 0},
	{"ItemTimestamp", TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME, 0},
	{"ItemDate", TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME, 0},
	{"ItemTime", TDH_INTYPE_FILETIME, TDH_OUTTYPE_DATETIME, 0},
	{"ItemTimeDelta", TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	{"ItemWaitTime", TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	{"ItemDue", TDH_INTYPE_INT64, TDH_OUTTYPE_LONG, 0},
	{"ItemNTSTATUS", TDH_INTYPE_UINT32, TDH_OUTTYPE_NTSTATUS, 0},
	{"ItemNTerror", TDH_INTYPE_UINT32, TDH_OUTTYPE_NTSTATUS, 0},
	{"ItemWINERROR", TDH_INTYPE_UINT32, TDH_OUTTYPE_WIN32ERROR, 0},
	{"ItemNDIS_STATUS", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"ItemNDIS_OID", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"ItemHRESULT", TDH_INTYPE_INT32, TDH_OUTTYPE_HRESULT, 0},
	{"ItemHexDump", TDH_INTYPE_MANIFEST_COUNTEDBINARY, TDH_OUTTYPE_HEXBINARY, 0},
	{"ItemHexBytes", TDH_INTYPE_MANIFEST_COUNTEDBINARY, TDH_OUTTYPE_HEXBINARY, 0},
	{"ItemSockAddr", TDH_INTYPE_MANIFEST_COUNTEDBINARY, TDH_OUTTYPE_SOCKETADDRESS, 0},
	/* with a list of names, or the name of an enum behind */
	{"ItemListByte", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0},
	{"ItemListShort", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 0},
	{"ItemListLong", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 0},
	{"ItemSetByte", TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8, 0},
	{"ItemSetShort", TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16, 0},
	{"ItemSetLong", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"ItemEnum", TDH_INTYPE_INT32, TDH_OUTTYPE_INT, 0},
	{"ItemFlagsEnum", TDH_INTYPE_UINT32, TDH_OUTTYPE_HEXINT32, 0},
};

static int bad(struct tmf *t, const char *what)
{
	diag_at(t->diag, UINT64_MAX, "%s", what);
	if (t->diag && t->diag->line == 0) {
		t->diag->line = t->line;
		t->diag->column = 1;
	}
	return t->arena->failed ? -ENOMEM : -EBADMSG;
}

static bool next_line(struct tmf *t, const char **ret, const char **ret_end)
{
	if (t->p >= t->end) {
		return false;
	}
	const char *nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	const char *s = t->p, *end = nl ? nl : t->end;
	t->p = nl ? nl + 1 : t->end;
	t->line++;
	while (s < end && (*s == ' ' || *s == '\t')) {
		s++;
	}
	while (end > s && ((uint8_t)end[-1] <= ' ')) {
		end--;
	}
	*ret = s;
	*ret_end = end;
	return true;
}

/* KEY= in the comment of a line, up to the next blank. */
static const char *find_key(struct tmf *t, const char *s, const char *end, const char *key)
{
	size_t n = strlen(key);
	for (; s + n < end; s++) {
		if (memcmp(s, key, n) == 0 && s[n] == '=' && (s[-1] == ' ' || s[-1] == '/')) {
			const char *v = s + n + 1, *stop = v;
			while (stop < end && *stop != ' ' && *stop != '\t') {
				stop++;
			}
			return arena_text(t->arena, v, (size_t)(stop - v));
		}
	}
	return NULL;
}

/* guid name // SRC=... */
static int read_source(struct tmf *t, const char *s, const char *end)
{
	char guid[37];
	struct guid g;
	if (end - s < 36) {
		return 0;
	}
	memcpy(guid, s, 36);
	guid[36] = 0;
	if (guid_parse(guid, &g) < 0) {
		return 0; /* what we do not know is passed over */
	}
	struct manifest_provider *p = ARENA_NEW(t->arena, struct manifest_provider);
	if (!p) {
		return -ENOMEM;
	}
	const char *name = s + 36;
	while (name < end && *name == ' ') {
		name++;
	}
	const char *comment = name;
	while (comment < end && !(comment[0] == '/' && comment + 1 < end && comment[1] == '/')) {
		comment++;
	}
	const char *stop = comment;
	while (stop > name && stop[-1] == ' ') {
		stop--;
	}
	p->guid = g;
	p->name = arena_text(t->arena, name, (size_t)(stop - name));
	t->source = comment < end ? find_key(t, comment + 1, end, "SRC") : NULL;
	p->next = t->manifest->providers;
	t->manifest->providers = p;
	t->provider = p;
	t->events_tail = &p->events;
	return p->name ? 0 : -ENOMEM;
}

/* (first,second=0x5,third): values count on; bits of a set count from 0. */
static int read_list(struct tmf *t, const char *s, const char *end, bool set, struct manifest_item *it)
{
	struct manifest_map *m = ARENA_NEW(t->arena, struct manifest_map);
	char name[24] = "list";
	uint32_t value = 0, k = ++t->maps;
	size_t n = 4;
	if (!m || k > 100000) {
		return m ? bad(t, "too many lists") : -ENOMEM;
	}
	for (uint32_t v = k; v; v /= 10) {
		n++;
	}
	name[n] = 0;
	for (uint32_t v = k, i = (uint32_t)n; v; v /= 10) {
		name[--i] = (char)('0' + v % 10);
	}
	m->name = arena_text(t->arena, name, n);
	m->bits = set;
	struct manifest_map_entry **tail = &m->entries;
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *stop = comma ? comma : end;
		const char *eq = memchr(s, '=', (size_t)(stop - s));
		struct manifest_map_entry *e = ARENA_NEW(t->arena, struct manifest_map_entry);
		if (!e) {
			return -ENOMEM;
		}
		if (eq) {
			char number[24] = "";
			memcpy(number, eq + 1, BASE_MIN((size_t)(stop - eq - 1), sizeof number - 1));
			value = (uint32_t)strtoul(number, NULL, 0);
		}
		e->text = arena_text(t->arena, s, (size_t)((eq ? eq : stop) - s));
		e->value = set && !eq ? (value < 32 ? 1u << value : 0) : value;
		value++;
		if (!e->text) {
			return -ENOMEM;
		}
		*tail = e;
		tail = &e->next;
		m->entry_count++;
		s = comma ? comma + 1 : end;
	}
	m->next = t->provider->maps;
	t->provider->maps = m;
	it->map = m;
	it->map_name = m->name;
	return m->name ? 0 : -ENOMEM;
}

static int read_type(struct tmf *t, const char *s, const char *end, struct manifest_item *it)
{
	const char *open = memchr(s, '(', (size_t)(end - s));
	size_t n = (size_t)((open ? open : end) - s);
	for (size_t i = 0; i < BASE_ARRAY_LEN(types); i++) {
		if (strlen(types[i].name) != n || strncasecmp(types[i].name, s, n) != 0) {
			continue;
		}
		it->in_type = types[i].in;
		it->out_type = types[i].out;
		it->length = types[i].length;
		it->has_length = types[i].length != 0;
		bool list = strncasecmp(s, "ItemList", 8) == 0;
		bool set = strncasecmp(s, "ItemSet", 7) == 0;
		if (!open || (!list && !set)) {
			return 0;
		}
		const char *close = end;
		while (close > open + 1 && close[-1] != ')') {
			close--;
		}
		return read_list(t, open + 1, close > open + 1 ? close - 1 : end, set, it);
	}
	/* Where it ends is not known: the rest of the payload is shown as it is. */
	it->in_type = TDH_INTYPE_NONNULLTERMINATEDANSISTRING;
	it->out_type = TDH_OUTTYPE_HEXBINARY;
	return 0;
}

/* name, ItemLong -- 11 */
static int read_argument(struct tmf *t, const char *s, const char *end, struct manifest_template *x,
			 struct manifest_item ***tail)
{
	struct manifest_item *it = ARENA_NEW(t->arena, struct manifest_item);
	/* The last ", Item": the name is an expression and may hold commas. */
	const char *type = NULL;
	for (const char *k = s; k + 5 < end; k++) {
		if (*k == ',' && memmem(k, BASE_MIN((size_t)(end - k), 8ul), "Item", 4)) {
			type = k + 1;
			break;
		}
	}
	if (!it || !type) {
		return it ? bad(t, "an argument is \"name, ItemType -- number\"") : -ENOMEM;
	}
	const char *name_end = type - 1, *number = NULL;
	while (type < end && *type == ' ') {
		type++;
	}
	const char *type_end = end;
	for (const char *k = type; k + 1 < end; k++) {
		if (k[0] == '-' && k[1] == '-' && k[-1] == ' ') {
			type_end = k - 1;
			number = k + 2;
			break;
		}
		if (k[0] == '/' && k[1] == '/') {
			type_end = k;
			break;
		}
	}
	while (type_end > type && type_end[-1] == ' ') {
		type_end--;
	}
	if (x->item_count >= WPP_ARGS_MAX) {
		return bad(t, "too many arguments");
	}
	(void)number; /* arguments stand in their order */
	if ((size_t)(name_end - s) == 3 && memcmp(s, "Arg", 3) == 0) {
		char plain[8] = "Arg";
		uint32_t k = x->item_count + WPP_FIRST_INSERT;
		plain[3] = (char)('0' + k / 10);
		plain[4] = (char)('0' + k % 10);
		it->name = arena_text(t->arena, plain, 5);
	} else {
		it->name = arena_text(t->arena, s, (size_t)(name_end - s));
	}
	int err = it->name ? read_type(t, type, type_end, it) : -ENOMEM;
	**tail = it;
	*tail = &it->next;
	x->item_count++;
	return err;
}

static int read_arguments(struct tmf *t, struct manifest_event *e)
{
	const char *s, *end;
	struct manifest_template *x = ARENA_NEW(t->arena, struct manifest_template);
	if (!x) {
		return -ENOMEM;
	}
	x->tid = "";
	struct manifest_item **tail = &x->items;
	bool open = false;
	while (next_line(t, &s, &end)) {
		if (s == end || (end - s >= 2 && s[0] == '/' && s[1] == '/')) {
			continue;
		}
		if (*s == '{' && !open) {
			open = true;
		} else if (*s == '}' && open) {
			e->template = x->items ? x : NULL;
			return 0;
		} else if (!open) {
			return bad(t, "'{' is expected");
		} else {
			int err = read_argument(t, s, end, x, &tail);
			if (err < 0) {
				return err;
			}
		}
	}
	return bad(t, "'}' is missing");
}

static const char *attributes(struct tmf *t, const char *s, const char *end)
{
	static const char *const keys[] = {"FUNC", "LEVEL", "FLAGS", "COMPNAME", "SUBCOMP"};
	struct strbuf b = {0};
	for (size_t i = 0; i < BASE_ARRAY_LEN(keys); i++) {
		const char *v = s < end ? find_key(t, s, end, keys[i]) : NULL;
		if (v && *v) {
			strbuf_adds(&b, keys[i]);
			strbuf_addc(&b, '=');
			strbuf_adds(&b, v);
			strbuf_addc(&b, ';');
		}
	}
	if (t->source && *t->source) {
		strbuf_adds(&b, "FILE=");
		strbuf_adds(&b, t->source);
		strbuf_addc(&b, ';');
	}
	const char *all = b.len && !b.failed ? arena_text(t->arena, b.s, b.len) : NULL;
	strbuf_finish(&b);
	return all;
}

/* #typev name number "text" // attributes */
static int read_message(struct tmf *t, const char *s, const char *end)
{
	struct manifest_event *e = ARENA_NEW(t->arena, struct manifest_event);
	if (!e || !t->provider) {
		return e ? bad(t, "a message before its GUID") : -ENOMEM;
	}
	s += 6;
	while (s < end && *s == ' ') {
		s++;
	}
	const char *name = s;
	while (s < end && *s != ' ') {
		s++;
	}
	e->symbol = arena_text(t->arena, name, (size_t)(s - name));
	e->pos.line = t->line;
	uint32_t number = 0;
	while (s < end && *s == ' ') {
		s++;
	}
	for (; s < end && *s >= '0' && *s <= '9' && number <= 0xFFFF; s++) {
		number = number * 10 + (uint32_t)(*s - '0');
	}
	const char *quote = s < end ? memchr(s, '"', (size_t)(end - s)) : NULL;
	if (!quote || number > 0xFFFF || !e->symbol) {
		return bad(t, "a message is \"#typev name number \\\"text\\\"\"");
	}
	/* The text ends at the quote before the comment; quotes inside are not escaped. */
	const char *comment = NULL, *close = NULL;
	for (const char *k = quote + 1; k < end; k++) {
		if (*k == '"') {
			const char *after = k + 1;
			while (after < end && *after == ' ') {
				after++;
			}
			if (after == end || (end - after >= 2 && after[0] == '/' && after[1] == '/')) {
				close = k;
				comment = after;
				break;
			}
		}
	}
	if (!close) {
		return bad(t, "the text does not end");
	}
	const char *text = quote + 1;
	text += close - text >= 2 && text[0] == '%' && text[1] == '0' ? 2 : 0;
	e->id = (uint16_t)number;
	e->text = arena_text(t->arena, text, (size_t)(close - text));
	e->attributes = attributes(t, comment + 1, end);
	e->name = e->symbol;
	int err = e->text ? read_arguments(t, e) : -ENOMEM;
	*t->events_tail = e;
	t->events_tail = &e->next;
	t->provider->event_count++;
	return err;
}

static int read_lines(struct tmf *t)
{
	const char *s, *end;
	int err = 0;
	while (err == 0 && next_line(t, &s, &end)) {
		size_t n = (size_t)(end - s);
		if (n > 6 && memcmp(s, "#typev", 6) == 0) {
			err = read_message(t, s, end);
		} else if (n >= 36 && *s != '/' && *s != '#') {
			err = read_source(t, s, end);
		}
	}
	return err;
}

int wpp_read_tmf(const void *text, size_t n, struct manifest *ret, struct diag *d)
{
	struct source_text utf8;
	manifest_init(ret);
	int err = source_text_of(text, n, SOURCE_TEXT_LOSSY, &utf8);
	if (err < 0) {
		return err;
	}
	struct tmf t = {.p = utf8.s, .end = utf8.s + utf8.n, .arena = &ret->arena, .diag = d, .manifest = ret};
	err = read_lines(&t);
	source_text_finish(&utf8);
	if (err == 0 && !ret->providers) {
		err = bad(&t, "no message format in it");
	}
	if (ret->arena.failed) {
		err = -ENOMEM;
	}
	if (err < 0) {
		manifest_finish(ret);
	}
	return err;
}
