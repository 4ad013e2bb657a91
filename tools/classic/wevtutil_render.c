/* SPDX-License-Identifier: MIT */
#include "tools/classic/wevtutil_render.h"
#include "base/level.h"
#include "xml/xml.h"

#include "base/parse.h"

#include <openetw/decode.h>
#include <stdlib.h>
#include <tdh.h>

/* ---- what the schema says ---------------------------------------------------------------------
 */

static void wide_text(const TRACE_EVENT_INFO *info, size_t bytes, ULONG offset, char *ret, size_t cap)
{
	struct bytes in = bytes_at(info, bytes, offset);
	size_t n = 0;
	const uint8_t *s = offset ? bytes_wsz(&in, &n) : NULL;
	ret[0] = 0;
	if (!s) {
		return;
	}
	utf16_to_utf8_lossy(s, n, ret, cap);
	ret[cap - 1] = 0;
	n = strlen(ret);
	/* names in maps and lists end in a blank */
	while (n && (ret[n - 1] == ' ' || ret[n - 1] == '\n' || ret[n - 1] == '\r')) {
		ret[--n] = 0;
	}
}

/* A list of names, each terminated, an empty one at the end. */
static void wide_list(const TRACE_EVENT_INFO *info, size_t bytes, ULONG offset, char *ret, size_t cap)
{
	struct bytes in = bytes_at(info, offset ? bytes : 0, offset);
	size_t used = 0, units = 0;
	const uint8_t *s;
	ret[0] = 0;
	while ((s = bytes_wsz(&in, &units)) != NULL && units > 0) {
		char one[128];
		utf16_to_utf8_lossy(s, units, one, sizeof one);
		int n = snprintf(ret + used, cap - used, "%s%s", used ? "," : "", one);
		used += n > 0 && (size_t)n < cap - used ? (size_t)n : 0;
	}
}

struct values {
	char *text[100];
	size_t count;
};

static bool take_value(void *ctx, const struct openetw_field *f)
{
	struct values *v = ctx;
	if (v->count < BASE_ARRAY_LEN(v->text)) {
		v->text[v->count++] = strndup(f->text, f->text_length);
	}
	return true;
}

/* "%1" and "%1!s!" are the items, "%n" is a new line, "%%" a percent sign. */
static char *fill_in(const char *text, const struct values *v)
{
	struct strbuf b = {0};
	for (const char *s = text; *s; s++) {
		if (*s != '%' || !s[1]) {
			strbuf_addc(&b, *s);
			continue;
		}
		s++;
		if (*s >= '1' && *s <= '9') {
			size_t n = (size_t)(*s - '0');
			while (s[1] >= '0' && s[1] <= '9' && n < 10) {
				n = 10 * n + (size_t)(*++s - '0');
			}
			if (n <= v->count && v->text[n - 1]) {
				strbuf_adds(&b, v->text[n - 1]);
			} else {
				strbuf_addf(&b, "%%%zu", n);
			}
			const char *end = s[1] == '!' ? strchr(s + 2, '!') : NULL;
			s = end ? end : s;
			continue;
		}
		switch (*s) {
		case 'n': strbuf_addc(&b, '\n'); break;
		case 't': strbuf_addc(&b, '\t'); break;
		case 'b': strbuf_addc(&b, ' '); break;
		case 'r': strbuf_addc(&b, '\r'); break;
		case '0': return b.failed ? NULL : b.s; /* ends the text */
		case '%':
		case '.':
		case '!': strbuf_addc(&b, *s); break;
		default: strbuf_addc(&b, *s);
		}
	}
	strbuf_add(&b, "", 0);
	return b.failed ? NULL : b.s;
}

static void read_schema(struct openetw_decoder *decoder, const EVENT_RECORD *e, struct wevtutil_event *v)
{
	ULONG bytes = 0;
	EVENT_RECORD *r = (EVENT_RECORD *)(uintptr_t)e;
	if (TdhGetEventInformation(r, 0, NULL, NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	TRACE_EVENT_INFO *info = malloc(bytes);
	if (!info || TdhGetEventInformation(r, 0, NULL, info, &bytes) != ERROR_SUCCESS) {
		free(info);
		return;
	}
	wide_text(info, bytes, info->LevelNameOffset, v->level, sizeof v->level);
	wide_text(info, bytes, info->TaskNameOffset, v->task, sizeof v->task);
	wide_text(info, bytes, info->OpcodeNameOffset, v->opcode, sizeof v->opcode);
	wide_text(info, bytes, info->ChannelNameOffset, v->channel, sizeof v->channel);
	wide_list(info, bytes, info->KeywordsNameOffset, v->keywords, sizeof v->keywords);
	if (info->EventMessageOffset) {
		struct values values = {.count = 0};
		char *text = malloc(65536);
		if (text) {
			wide_text(info, bytes, info->EventMessageOffset, text, 65536);
			openetw_decode_fields(decoder, e, take_value, &values);
			v->message = fill_in(text, &values);
		}
		for (size_t i = 0; i < values.count; i++) {
			free(values.text[i]);
		}
		free(text);
	}
	free(info);
}

/* In the place of EventData; the tree is made again. */
static int put_user_data(const EVENT_RECORD *e, const struct strbuf *text, struct wevtutil_event *v)
{
	static const char close[] = "</EventData>";
	struct strbuf user = {0}, b = {0};
	const char *from = strstr(text->s, "<EventData>");
	const char *to = from ? strstr(from, close) : NULL;
	int err = 0;
	if (to && wevtutil_user_data(e, v->doc.root, &user)) {
		strbuf_add(&b, text->s, (size_t)(from - text->s));
		strbuf_add(&b, user.s, user.len);
		strbuf_adds(&b, to + sizeof close - 1);
		struct xml_doc other;
		err = b.failed ? -ENOMEM : xml_parse(b.s, b.len, &other, NULL);
		if (err == 0) {
			xml_finish(&v->doc);
			v->doc = other;
		} else if (err == -EBADMSG) {
			err = 0; /* what the manifest says is no XML with these values */
		}
	}
	strbuf_finish(&user);
	strbuf_finish(&b);
	return err;
}

int wevtutil_event_read(struct openetw_decoder *decoder, const EVENT_RECORD *e, struct wevtutil_event *ret)
{
	struct cli_xml x = {.decoder = decoder, .utc = true};
	struct strbuf b = {0};
	*ret = (struct wevtutil_event){.message = NULL};
	cli_xml_event(&x, e, &b);
	int err = b.failed || !b.s ? -ENOMEM : xml_parse(b.s, b.len, &ret->doc, NULL);
	if (err == 0) {
		err = put_user_data(e, &b, ret);
	}
	strbuf_finish(&b);
	cli_xml_finish(&x);
	if (err < 0) {
		return err;
	}
	read_schema(decoder, e, ret);
	struct xml_node *system = (struct xml_node *)(uintptr_t)xml_child(ret->doc.root, "System");
	struct xml_node *channel = system ? (struct xml_node *)(uintptr_t)xml_child(system, "Channel") : NULL;
	if (channel) {
		channel->text = ret->channel; /* queries name it */
	}
	return 0;
}

void wevtutil_event_finish(struct wevtutil_event *v)
{
	xml_finish(&v->doc);
	free(v->message);
}

/* ---- XML --------------------------------------------------------------------------------------
 */

static void add_attributes(const struct xml_node *n, struct strbuf *out)
{
	for (const struct xml_attr *a = n->attrs; a; a = a->next) {
		strbuf_addf(out, " %s=", a->name);
		cli_xml_value(out, a->value);
	}
}

static void add_node(const struct xml_node *n, int depth, struct strbuf *out)
{
	strbuf_addf(out, "<%s", n->name);
	if (depth == 0) {
		strbuf_adds(out, " xmlns='http://schemas.microsoft.com/win/2004/08/events/event'");
	}
	if (depth > 0 && n->ns[0] && n->parent && strcmp(n->ns, n->parent->ns) != 0) {
		strbuf_adds(out, " xmlns='");
		xml_escape(out, n->ns, strlen(n->ns));
		strbuf_addc(out, '\'');
	}
	add_attributes(n, out);
	bool layout = strcmp(n->name, "EventData") == 0; /* its own text is our line ends */
	if (!n->children && !*n->text) {
		strbuf_adds(out, "/>");
		return;
	}
	strbuf_addc(out, '>');
	for (const struct xml_node *c = n->children; c && depth < 64; c = c->next) {
		/* ours follows, and times of classic events mean nothing here */
		if (depth > 0 ||
		    (strcmp(c->name, "RenderingInfo") != 0 && strcmp(c->name, "ExtendedTracingInfo") != 0)) {
			add_node(c, depth + 1, out);
		}
	}
	if (!n->children && !layout) {
		xml_escape(out, n->text, strlen(n->text)); /* one event is one line: it escapes newlines */
	}
	if (depth > 0) {
		strbuf_addf(out, "</%s>", n->name);
	}
}

static void element(struct strbuf *out, const char *name, const char *text)
{
	if (!*text) {
		strbuf_addf(out, "<%s></%s>", name, name);
		return;
	}
	strbuf_addf(out, "<%s>", name);
	xml_escape(out, text, strlen(text));
	strbuf_addf(out, "</%s>", name);
}

static const char *provider_name(const struct wevtutil_event *v)
{
	const struct xml_node *s = xml_child(v->doc.root, "System");
	const struct xml_node *p = s ? xml_child(s, "Provider") : NULL;
	const char *name = p ? xml_value(p, "Name") : NULL;
	return name ? name : "";
}

void wevtutil_event_xml(const struct wevtutil_event *v, bool rendered, struct strbuf *out)
{
	add_node(v->doc.root, 0, out);
	if (rendered) {
		strbuf_adds(out, "<RenderingInfo Culture='en-US'>");
		element(out, "Message", v->message ? v->message : "");
		element(out, "Level", v->level);
		element(out, "Task", v->task);
		element(out, "Opcode", v->opcode);
		element(out, "Channel", v->channel);
		element(out, "Provider", provider_name(v));
		strbuf_adds(out, "<Keywords>");
		for (const char *s = v->keywords; *s;) {
			size_t n = strcspn(s, ",");
			strbuf_adds(out, "<Keyword>");
			xml_escape(out, s, n);
			strbuf_adds(out, "</Keyword>");
			s += n + (s[n] == ',');
		}
		strbuf_adds(out, "</Keywords></RenderingInfo>");
	}
	strbuf_adds(out, "</Event>\n");
}

/* ---- text -------------------------------------------------------------------------------------
 */

static const char *of_system(const struct wevtutil_event *v, const char *name, const char *attribute)
{
	const struct xml_node *s = xml_child(v->doc.root, "System");
	const struct xml_node *n = s ? xml_child(s, name) : NULL;
	const char *text = n && attribute ? xml_value(n, attribute) : n ? n->text : NULL;
	return text ? text : "";
}

/* Lines that a message makes for itself begin with blanks: no text can look like the next event. */
static void add_lines(struct strbuf *out, const char *text)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "\r\n");
		strbuf_add_printable(out, s, n);
		s += n;
		n = strspn(s, "\r\n");
		strbuf_adds(out, n && s[n] ? "\n  " : "");
		s += n;
	}
}

void wevtutil_event_text(const struct wevtutil_event *v, uint64_t index, struct strbuf *out)
{
	const char *number = of_system(v, "Level", NULL);
	uint64_t level = 0;
	(void)parse_number(number, 0, UINT64_MAX, &level);
	/* The Event Viewer shows events without a level as information. */
	const char *text = level_text(level == 0 ? 4 : (uint8_t)BASE_MIN(level, (uint64_t)UINT8_MAX));
	const char *level_name = v->level[0] ? v->level : text ? text : number;
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	const struct {
		const char *name, *text;
	} rows[] = {{"Log Name", v->channel},
		    {"Source", provider_name(v)},
		    {"Date", of_system(v, "TimeCreated", "SystemTime")},
		    {"Event ID", of_system(v, "EventID", NULL)},
		    {"Task", v->task},
		    {"Level", level_name},
		    {"Opcode", v->opcode},
		    {"Keyword", v->keywords},
		    {"User", ""},
		    {"User Name", ""},
		    {"Computer", host}};
	strbuf_addf(out, "Event[%llu]:\n", (unsigned long long)index);
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		strbuf_addf(out, "  %s: %s\n", rows[i].name, rows[i].text[0] ? rows[i].text : "N/A");
	}
	strbuf_adds(out, "  Description: \n");
	add_lines(out, v->message ? v->message : "N/A");
	strbuf_adds(out, "\n\n");
}
