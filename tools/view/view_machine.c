/* SPDX-License-Identifier: MIT
 * The machine that a trace was recorded on, as its system configuration records say it: SystemConfig/CPU has the host, the
 * BuildInfo that a merge adds has the system. OpenETW writes both as Windows does.
 */
#include "tools/view/view_machine.h"

#include "etl/etl_writer.h"
#include "query/query_share.h"
#include "tools/common/windows_name.h"

#include <stdlib.h>

#define ROWS_MOST 64u /* of each: a file, or a merged one, has one or a few */

struct view_machine {
	char host[200], os[300];
};
struct texts {
	uint64_t rows[ROWS_MOST];
	uint32_t count;
};

static bool take_row(void *context, const struct openetw_row *row)
{
	struct texts *x = context;
	x->rows[x->count++] = row->row;
	return x->count < ROWS_MOST;
}

static bool take_field(void *context, const struct openetw_field *f)
{
	strbuf_add(context, f->text, BASE_MIN(f->text_length, 250u));
	return false;
}

/* The texts of a field in the rows of an event, each once; "vm and db-3". */
static void collect(struct view_trace *t, const char *event, const char *field, char *out, size_t cap)
{
	struct openetw_query *q = openetw_query_create(t->x);
	struct openetw_decoder *d = view_decoder_take(t);
	struct texts rows = {0};
	struct strbuf filter = {0}, all = {0};
	const openetw_event_record *e;
	strbuf_addf(&filter, "event == \"%s\"", event);
	if (q && d && !filter.failed && openetw_query_set_filter(q, filter.s) == ERROR_SUCCESS) {
		openetw_query_rows(q, 0, ROWS_MOST, take_row, &rows, NULL);
	}
	for (uint32_t i = 0; i < rows.count; i++) {
		struct strbuf text = {0};
		if (openetw_query_event(q, rows.rows[i], &e) == ERROR_SUCCESS) {
			openetw_decode_field(d, e, field, take_field, &text);
		}
		if (text.len && !(all.s && strstr(all.s, text.s))) {
			strbuf_addf(&all, all.len ? " and %s" : "%s", text.s);
		}
		strbuf_finish(&text);
	}
	snprintf(out, cap, "%s", all.s && !all.failed ? all.s : "");
	strbuf_finish(&filter);
	strbuf_finish(&all);
	openetw_query_destroy(q);
	view_decoder_give(t, d);
}

static bool has_type(struct view_trace *t, const char *name)
{
	OPENETW_SIZED(struct openetw_index_about, a);
	view_trace_about(t, &a);
	for (uint32_t i = 0; i < a.types; i++) {
		OPENETW_SIZED(struct openetw_index_type, type);
		if (openetw_index_type(t->x, i, &type) == ERROR_SUCCESS && type.rows && strcmp(type.name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Builds of Windows 11 go on calling the product Windows 10. */
static void correct(char *os, unsigned build)
{
	static const char ten[] = "Windows 10", eleven[] = "Windows 11";
	if (build >= 22000 && strncmp(os, ten, sizeof ten - 1) == 0) {
		memcpy(os, eleven, sizeof eleven - 1);
	}
}

static struct view_machine *find(struct view_trace *t)
{
	struct view_machine *m = calloc(1, sizeof *m);
	struct index_share x = {0};
	char lab[250] = "";
	if (!m) {
		return NULL;
	}
	bool stored = index_share_of(t->x, 0, &x) && x.store->about;
	unsigned version = stored ? x.store->about->os_version : 0, build = stored ? x.store->about->os_build : 0;
	if (has_type(t, "SystemConfig/CPU")) {
		collect(t, "SystemConfig/CPU", "ComputerName", m->host, sizeof m->host);
	}
	if (has_type(t, "SystemConfigEx/BuildInfo")) {
		collect(t, "SystemConfigEx/BuildInfo", "ProductName", m->os, sizeof m->os);
		collect(t, "SystemConfigEx/BuildInfo", "BuildLab", lab, sizeof lab);
		correct(m->os, build);
	}
	/* Our headers name a build of Windows, for tools that ask for one: they say nothing about the system. */
	if (!m->os[0] && build && build != ETL_OS_BUILD) {
		snprintf(m->os, sizeof m->os, "%s", cli_windows_name(version & 0xFF, version >> 8 & 0xFF, build));
	}
	/* The release of Linux: "6.1.0-18-amd64 #1 SMP …". */
	if (lab[0] && strstr(lab, " #")) {
		size_t n = strlen(m->os);
		snprintf(m->os + n, sizeof m->os - n, ", Linux %.*s", (int)strcspn(lab, " "), lab);
	}
	return m;
}

static struct view_machine *machine_of(struct view_trace *t)
{
	if (t->live || !view_trace_whole(t)) {
		return NULL; /* the records may stand at the end */
	}
	pthread_mutex_lock(&t->lock);
	struct view_machine *m = t->machine;
	pthread_mutex_unlock(&t->lock);
	if (m) {
		return m;
	}
	m = find(t);
	pthread_mutex_lock(&t->lock);
	if (t->machine) { /* another request was faster */
		free(m);
		m = t->machine;
	}
	t->machine = m;
	pthread_mutex_unlock(&t->lock);
	return m;
}

const char *view_machine_host(struct view_trace *t)
{
	struct view_machine *m = machine_of(t);
	return m && m->host[0] ? m->host : NULL;
}

const char *view_machine_os(struct view_trace *t)
{
	struct view_machine *m = machine_of(t);
	return m && m->os[0] ? m->os : NULL;
}
