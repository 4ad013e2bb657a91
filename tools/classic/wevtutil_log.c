/* SPDX-License-Identifier: MIT
 *
 * el and gl: channels that providers declare. What a manifest says about isolation, access, size
 * and so on is read from the manifest itself; a channel says it or gets what Windows gives it.
 */
#include "tools/classic/wevtutil.h"
#include "base/vec.h"
#include "tools/common/event_xml.h"
#include "xml/xml.h"

#include <stdlib.h>
#include <strings.h>

struct channel {
	char name[256], owner[256];
	const char *type;
	bool enabled;
	struct guid guid;
};
struct channels {
	struct channel *items;
	size_t count, cap;
};

static const char *text_or(const char *s, const char *fallback)
{
	return s && *s ? s : fallback;
}

/* Windows' own logs, which manifests import, belong to nobody here. */
static bool collect(struct channels *l)
{
	size_t count = 0;
	struct wevtutil_provider *list = wevtutil_providers(&count);
	for (size_t i = 0; i < count; i++) {
		const struct manifest_provider *p = schema_process_provider(false, &list[i].guid);
		for (const struct manifest_name *n = p ? p->names[MANIFEST_CHANNEL] : NULL; n; n = n->next) {
			size_t k = 0;
			while (k < l->count && strcasecmp(l->items[k].name, n->name) != 0) {
				k++;
			}
			/* an import comes with no type of its own */
			if (k < l->count && (n->imported || !l->items[k].owner[0])) {
				continue;
			}
			if (!VEC_ROOM(l->items, k, l->cap)) {
				free(list);
				return false;
			}
			struct channel *c = &l->items[k];
			l->count += k == l->count;
			*c = (struct channel){.type = text_or(n->channel_type, "Admin"),
					      .enabled = n->imported || n->enabled,
					      .guid = p->guid};
			snprintf(c->name, sizeof c->name, "%s", n->name);
			if (!n->imported) {
				snprintf(c->owner, sizeof c->owner, "%s", p->name);
			}
		}
	}
	free(list);
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct channel *x = a, *y = b;
	return strcasecmp(x->name, y->name);
}

int wevtutil_logs(struct wevtutil *w)
{
	struct channels l = {0};
	if (!collect(&l)) {
		free(l.items);
		return cli_fail(w->a, ERROR_NOT_ENOUGH_MEMORY, "cannot list channels");
	}
	if (l.count) {
		qsort(l.items, l.count, sizeof *l.items, by_name);
	}
	for (size_t i = 0; i < l.count; i++) {
		cli_puts(l.items[i].name);
	}
	free(l.items);
	return CLI_OK;
}

/* ---- gl ---------------------------------------------------------------------------------------
 */

/* The <channel> of that name, anywhere. */
static const struct xml_node *find_channel(const struct xml_node *n, const char *name, int depth)
{
	const char *own = strcasecmp(n->name, "channel") == 0 ? xml_value(n, "name") : NULL;
	if (own && strcasecmp(own, name) == 0) {
		return n;
	}
	for (const struct xml_node *c = n->children; c && depth < 16; c = c->next) {
		const struct xml_node *found = find_channel(c, name, depth + 1);
		if (found) {
			return found;
		}
	}
	return NULL;
}

static const struct xml_node *read_channel(const struct channel *c, struct xml_doc *doc)
{
	char path[4096];
	struct strbuf b = {0};
	const struct xml_node *found = NULL;
	wevtutil_source(&c->guid, path, sizeof path);
	bool whole = path[0] && cli_file_read(path, XML_BYTES_MAX, &b) == 0;
	if (whole && b.len && xml_parse(b.s, b.len, doc, NULL) == 0) {
		found = find_channel(doc->root, c->name, 0);
		if (!found) {
			xml_finish(doc);
		}
	}
	strbuf_finish(&b);
	return found;
}

struct row {
	int depth;
	const char *name, *value;
};

static const char *said(const struct xml_node *channel, const char *part, const char *name, const char *fallback)
{
	const struct xml_node *n = channel;
	if (n && part) {
		n = xml_child(channel, part);
		const struct xml_node *v = n ? xml_child(n, name) : NULL;
		return v ? text_or(v->text, fallback) : fallback;
	}
	return n ? text_or(xml_value(n, name), fallback) : fallback;
}

int wevtutil_log(struct wevtutil *w)
{
	struct channels l = {0};
	const struct channel *c = NULL;
	const char *format = wevtutil_value(w, "f", "text");
	bool xml = strcasecmp(format, "xml") == 0;
	if (!xml && strcasecmp(format, "text") != 0) {
		return cli_usage(w->a, "/f takes text or xml, not '%s'", format);
	}
	collect(&l);
	for (size_t i = 0; i < l.count && !c; i++) {
		c = strcasecmp(l.items[i].name, w->word) == 0 ? &l.items[i] : NULL;
	}
	if (!c) {
		fprintf(stderr,
			"Failed to read configuration for log %s.\nThe specified channel could not "
			"be "
			"found.\n",
			w->word);
		free(l.items);
		return CLI_FAILED;
	}
	struct xml_doc doc;
	const struct xml_node *n = read_channel(c, &doc);
	bool direct = strcasecmp(c->type, "Analytic") == 0 || strcasecmp(c->type, "Debug") == 0;
	const struct row rows[] = {
		{0, "name", c->name},
		{0, "enabled", c->enabled ? "true" : "false"},
		{0, "type", c->type},
		{0, "owningPublisher", c->owner},
		{0, "isolation", said(n, NULL, "isolation", "Application")},
		{0, "channelAccess", said(n, NULL, "access", "")},
		{0, "logging", NULL},
		{1, "logFileName", ""}, /* nothing is written without a session */
		{1, "retention", said(n, "logging", "retention", direct ? "true" : "false")},
		{1, "autoBackup", said(n, "logging", "autoBackup", "false")},
		{1, "maxSize", said(n, "logging", "maxSize", "1052672")},
		{0, "publishing", NULL},
		{1, "fileMax", said(n, "publishing", "fileMax", "1")},
	};
	struct strbuf b = {0};
	if (xml) {
		strbuf_adds(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<channel");
		for (size_t i = 0; i < 5; i++) {
			strbuf_addf(&b, " %s=\"", rows[i].name);
			xml_escape(&b, rows[i].value, strlen(rows[i].value));
			strbuf_addc(&b, '"');
		}
		strbuf_adds(&b, " xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">\n");
	}
	const char *within = NULL;
	for (size_t i = xml ? 6 : 0; i < BASE_ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		if (xml && !r->value) {
			if (within) {
				strbuf_addf(&b, "  </%s>\n", within);
			}
			within = r->name;
			strbuf_addf(&b, "  <%s>\n", r->name);
		} else if (xml) {
			strbuf_addf(&b, "    <%s>", r->name);
			xml_escape(&b, r->value, strlen(r->value));
			strbuf_addf(&b, "</%s>\n", r->name);
		} else {
			strbuf_addf(&b, "%s%s:%s%s\n", r->depth ? "  " : "", r->name, r->value ? " " : "",
				    r->value ? r->value : "");
		}
	}
	if (xml) {
		strbuf_addf(&b, "  </%s>\n</channel>\n", within);
	}
	fwrite(b.s ? b.s : "", 1, b.len, stdout);
	strbuf_finish(&b);
	if (n) {
		xml_finish(&doc);
	}
	free(l.items);
	return CLI_OK;
}
