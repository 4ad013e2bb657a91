/* SPDX-License-Identifier: MIT
 *
 * Templates with <UserData>: the event's fields stand in XML of the manifest's author instead of in
 * EventData. Read from the installed manifest, as nothing else carries it; events of programs and
 * traces that describe themselves have EventData.
 */
#include "tools/classic/wevtutil_render.h"
#include "xml/xml.h"

#include "tools/classic/wevtutil.h"

#include <stdlib.h>
#include <strings.h>

#define MANIFESTS_MAX 16u /* kept; of more providers, each is read anew */
#define VALUES_MAX    128u
#define EVENTS_URI    "http://schemas.microsoft.com/win/2004/08/events"

struct source {
	struct guid guid;
	struct xml_doc doc; /* root NULL: there is none */
	bool used;
};
struct fill {
	const char *value[VALUES_MAX];
	size_t count;
	struct strbuf *out;
};

static const struct xml_node *manifest_of(const struct guid *g)
{
	static struct source kept[MANIFESTS_MAX];
	static uint32_t next;
	for (uint32_t i = 0; i < MANIFESTS_MAX; i++) {
		if (kept[i].used && guid_equal(&kept[i].guid, g)) {
			return kept[i].doc.root;
		}
	}
	struct source *s = &kept[next++ % MANIFESTS_MAX];
	if (s->used && s->doc.root) {
		xml_finish(&s->doc);
	}
	*s = (struct source){.guid = *g, .used = true};
	char path[4096] = "";
	struct strbuf b = {0};
	wevtutil_source(g, path, sizeof path);
	if (!path[0] || cli_file_read(path, XML_BYTES_MAX, &b) < 0 || !b.len ||
	    xml_parse(b.s, b.len, &s->doc, NULL) < 0) {
		s->doc.root = NULL;
	}
	strbuf_finish(&b);
	return s->doc.root;
}

/* A node below, by name and what an attribute says. */
typedef bool (*match_fn)(const struct xml_node *n, const void *what);

static const struct xml_node *find(const struct xml_node *n, const char *name, match_fn match, const void *what,
				   int depth)
{
	if (strcasecmp(n->name, name) == 0 && match(n, what)) {
		return n;
	}
	const struct xml_node *found = NULL;
	for (const struct xml_node *c = n->children; c && !found && depth < 16; c = c->next) {
		found = find(c, name, match, what, depth + 1);
	}
	return found;
}

static bool is_provider(const struct xml_node *n, const void *what)
{
	const char *v = xml_value(n, "guid");
	struct guid g;
	return v && guid_parse(v, &g) == 0 && guid_equal(&g, what);
}

static bool is_event(const struct xml_node *n, const void *what)
{
	const EVENT_DESCRIPTOR *d = what;
	const char *value = xml_value(n, "value"), *version = xml_value(n, "version");
	return value && strtoul(value, NULL, 0) == d->Id && (version ? strtoul(version, NULL, 0) : 0) == d->Version;
}

static bool is_template(const struct xml_node *n, const void *what)
{
	const char *v = xml_value(n, "tid");
	return v && strcmp(v, what) == 0;
}

/* %1 is the first field. */
static void put_text(struct fill *f, const char *s)
{
	for (; *s; s++) {
		char *end = NULL;
		unsigned long n = *s == '%' && s[1] >= '1' && s[1] <= '9' ? strtoul(s + 1, &end, 10) : 0;
		if (n == 0 || n > f->count) {
			xml_escape(f->out, s, 1);
			continue;
		}
		xml_escape(f->out, f->value[n - 1], strlen(f->value[n - 1]));
		s = end - 1;
	}
}

static void put_node(struct fill *f, const struct xml_node *n, const char *ns, int depth)
{
	strbuf_addf(f->out, "<%s", n->name);
	if (n->ns[0] && strcmp(n->ns, ns) != 0) {
		strbuf_adds(f->out, " xmlns='");
		xml_escape(f->out, n->ns, strlen(n->ns));
		strbuf_addc(f->out, '\'');
	}
	for (const struct xml_attr *a = n->attrs; a; a = a->next) {
		if (strcmp(a->prefix, "xmlns") != 0 && strcmp(a->name, "xmlns") != 0) {
			strbuf_addf(f->out, " %s='", a->name);
			put_text(f, a->value);
			strbuf_addc(f->out, '\'');
		}
	}
	strbuf_addc(f->out, '>');
	for (const struct xml_node *c = n->children; c && depth < 32; c = c->next) {
		put_node(f, c, n->ns, depth + 1);
	}
	if (!n->children) {
		put_text(f, n->text);
	}
	strbuf_addf(f->out, "</%s>", n->name);
}

bool wevtutil_user_data(const EVENT_RECORD *e, const struct xml_node *event, struct strbuf *out)
{
	struct fill f = {.out = out};
	struct guid g;
	memcpy(g.b, &e->EventHeader.ProviderId, 16);
	const struct xml_node *data = xml_child(event, "EventData"), *n = NULL;
	const struct xml_node *manifest =
		data && !(e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) ? manifest_of(&g) : NULL;
	const struct xml_node *provider = manifest ? find(manifest, "provider", is_provider, &g, 0) : NULL;
	n = provider ? find(provider, "event", is_event, &e->EventHeader.EventDescriptor, 0) : NULL;
	const char *tid = n ? xml_value(n, "template") : NULL;
	n = tid ? find(provider, "template", is_template, tid, 0) : NULL;
	n = n ? xml_child(n, "UserData") : NULL;
	if (!n || !n->children) {
		return false;
	}
	for (const struct xml_node *v = data->children; v; v = v->next) {
		if (strcmp(v->name, "Data") != 0 || f.count == VALUES_MAX) {
			return false; /* structs have no place in it */
		}
		f.value[f.count++] = v->text;
	}
	strbuf_adds(out, "<UserData>");
	put_node(&f, n->children, EVENTS_URI, 0);
	strbuf_adds(out, "</UserData>");
	return !out->failed;
}
