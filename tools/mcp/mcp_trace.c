/* SPDX-License-Identifier: MIT
 *
 * The traces that the worker has open, the one asked last in front.
 */
#include "tools/mcp/mcp_tool.h"

#include "base/parse.h"
#include "tools/common/absent.h"
#include "tools/common/select.h"
#include "tools/common/unpacked.h"
#include "tools/openetw/sql_client.h"
#include "tools/tables/table_make.h"
#include "tools/openetw/sql_rewrite.h"

#include "query/query_share.h"

#include <stdlib.h>
#include <sys/stat.h>

#define OPEN_MAX_TRACES 4

struct mcp_trace {
	struct mcp_trace *next;
	struct strbuf key; /* paths, sizes and times of the files */
	char **files;
	struct cli_unpacked_hold **holds; /* of these files */
	int count;
	struct table_maker maker;
	struct sql_client *client; /* NULL: no query yet */
	const struct mcp_call *call;
};
static struct mcp_trace *open_traces;

struct mcp_limits mcp_limits;

static void trace_close(struct mcp_trace *t)
{
	sql_client_destroy(t->client);
	table_maker_close(&t->maker);
	for (int i = 0; i < t->count; i++) {
		cli_unpacked_release(t->holds[i]);
		free(t->files[i]);
	}
	free(t->files);
	free(t->holds);
	strbuf_finish(&t->key);
	free(t);
}

void mcp_trace_close_all(void)
{
	while (open_traces) {
		struct mcp_trace *t = open_traces;
		open_traces = t->next;
		trace_close(t);
	}
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static bool take_file(const struct mcp_call *c, struct mcp_trace *t, const char *path)
{
	struct stat st;
	char *whole;
	int fd = allowed_open(c->args, &mcp_limits.may, path, &whole);
	if (fd < 0) {
		return false;
	}
	bool known = fstat(fd, &st) == 0;
	t->files[t->count] = whole;
	t->holds[t->count++] = cli_unpacked_hold(whole, fd);
	if (!known || !t->holds[t->count - 1]) {
		cli_tell(c->args, "cannot open %s", whole);
		return false;
	}
	/* a file that has changed is opened anew */
	strbuf_addf(&t->key, "%s\n%llu %llu %lld %lld.%09ld\n", whole, (unsigned long long)st.st_dev,
		    (unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		    st.st_mtim.tv_nsec);
	return true;
}

/* What the call names; without a name all files of the command line. */
static bool take_files(const struct mcp_call *c, struct mcp_trace *t, const char *param)
{
	const struct json_value *given = json_member(c->given, param);
	size_t n = json_count(given), count = n ? n : (size_t)mcp_limits.may.file_count;
	if (count == 0) {
		cli_tell(c->args, "%s needs '%s': which trace? list_traces says which there are", c->tool->name, param);
		return false;
	}
	t->files = calloc(count, sizeof *t->files);
	t->holds = calloc(count, sizeof *t->holds);
	for (size_t i = 0; t->files && t->holds && i < count; i++) {
		const char *path = n ? NULL : mcp_limits.may.files[i];
		if (n) {
			json_text(json_at(given, i), &path);
		}
		if (!path || !take_file(c, t, path)) {
			return false;
		}
	}
	return t->files && t->holds && !t->key.failed;
}

static struct mcp_trace *find_open(const struct strbuf *key)
{
	for (struct mcp_trace **at = &open_traces; *at; at = &(*at)->next) {
		struct mcp_trace *t = *at;
		if (t->key.len == key->len && memcmp(t->key.s, key->s, key->len) == 0) {
			*at = t->next; /* to the front */
			t->next = open_traces;
			open_traces = t;
			return t;
		}
	}
	return NULL;
}

static void close_oldest(void)
{
	int n = 0;
	for (struct mcp_trace **at = &open_traces; *at; at = &(*at)->next) {
		if (++n > OPEN_MAX_TRACES) {
			trace_close(*at);
			*at = NULL;
			return;
		}
	}
}

struct mcp_trace *mcp_trace_of(const struct mcp_call *c, const char *param)
{
	char why[600] = "";
	struct mcp_trace *t = calloc(1, sizeof *t), *there;
	if (!t) {
		cli_tell(c->args, "no memory");
		return NULL;
	}
	if (!take_files(c, t, param)) {
		trace_close(t);
		return NULL;
	}
	there = find_open(&t->key);
	if (there) {
		trace_close(t);
		there->maker.args = c->args;
		return there;
	}
	if (!table_maker_open(&t->maker, c->args, t->count, t->files)) {
		trace_close(t);
		return NULL;
	}
	if (!table_make_index(&t->maker, why, sizeof why)) {
		cli_tell(c->args, "%s", why);
		trace_close(t);
		return NULL;
	}
	t->next = open_traces;
	open_traces = t;
	close_oldest();
	return t;
}

struct table_maker *mcp_trace_maker(struct mcp_trace *t)
{
	return &t->maker;
}

struct openetw_index *mcp_trace_index(struct mcp_trace *t)
{
	return t->maker.index;
}

const struct openetw_index_about *mcp_trace_about(struct mcp_trace *t)
{
	return &t->maker.about;
}

/* ---- questions -------------------------------------------------------------------------------------- */

static bool take_time(const struct mcp_call *c, struct mcp_trace *t, const char *name, int64_t *inout)
{
	const struct json_value *v = json_member(c->given, name);
	const char *s;
	uint64_t u;
	int64_t start = (int64_t)t->maker.start;
	if (!v || json_integer(v, inout)) {
		return true;
	}
	if (json_text(v, &s)) {
		const char *plain = *s == '+' ? s + 1 : s;
		if (parse_duration(plain, 1, &u) && u <= INT64_MAX) {
			*inout = (int64_t)u;
			return true;
		}
		if (parse_time(s, &u)) {
			int64_t d = (int64_t)u - start;
			*inout = d > INT64_MAX / 100 ? INT64_MAX : d < INT64_MIN / 100 ? INT64_MIN : d * 100;
			return true;
		}
	}
	cli_tell(c->args,
		 "%s: '%s' is no time; write nanoseconds since the start of the trace, \"1.5s\", or a date as "
		 "\"2026-03-01T12:34:56Z\"",
		 c->tool->name, name);
	return false;
}

bool mcp_trace_range(const struct mcp_call *c, struct mcp_trace *t, const char *from, const char *to, int64_t *ret_from,
		     int64_t *ret_to)
{
	*ret_from = t->maker.about.first;
	*ret_to = t->maker.about.last;
	if (!take_time(c, t, from, ret_from) || !take_time(c, t, to, ret_to)) {
		return false;
	}
	if (*ret_from > *ret_to && t->maker.about.rows) {
		cli_tell(c->args,
			 "there is nothing between these times: '%s' is %lld ns and '%s' is %lld ns; the trace goes "
			 "from %lld to %lld",
			 from, (long long)*ret_from, to, (long long)*ret_to, (long long)t->maker.about.first,
			 (long long)t->maker.about.last);
		return false;
	}
	return true;
}

/* Of groups of rows. */
static bool on_progress(void *context, uint64_t done, uint64_t total)
{
	const struct mcp_trace *t = context;
	double part = total ? (double)done / (double)total : 1;
	cli_work_tell(CLI_WORK_EVENTS, (uint64_t)(part * (double)t->maker.about.rows), t->maker.about.rows);
	return !cli_signal_caught();
}

struct openetw_query *mcp_trace_all(const struct mcp_call *c, struct mcp_trace *t)
{
	struct openetw_query *q = openetw_query_create(t->maker.index);
	if (q) {
		openetw_query_set_progress(q, on_progress, t);
	} else {
		cli_tell(c->args, "no memory");
	}
	return q;
}

struct openetw_query *mcp_trace_query(const struct mcp_call *c, struct mcp_trace *t, const char *filter,
				      const char *from, const char *to)
{
	int64_t first, last;
	if (!mcp_trace_range(c, t, from, to, &first, &last)) {
		return NULL;
	}
	struct openetw_query *q = mcp_trace_all(c, t);
	if (!q) {
		return NULL;
	}
	openetw_query_set_range(q, first, last);
	if (openetw_query_set_filter(q, filter) != ERROR_SUCCESS) {
		cli_tell(c->args, "the filter is wrong: %s", openetw_query_problem(q));
		openetw_query_destroy(q);
		return NULL;
	}
	return q;
}

/* More events are not read again for this. */
#define ABSENT_ROWS_MOST 1000000u

void mcp_trace_nothing(const struct mcp_call *c, struct mcp_trace *t)
{
	const struct cli_select_options o = {.filter = mcp_call_text(c, "filter", NULL)};
	struct cli_select *select =
		o.filter && t->maker.about.rows <= ABSENT_ROWS_MOST ? cli_select_create(c->args, &o) : NULL;
	if (select) {
		cli_absent_files(c->args, select, NULL, t->count, t->files, 0, CLI_OK);
		cli_select_destroy(select);
	}
}

bool mcp_trace_failed(const struct mcp_call *c, uint32_t code)
{
	char unpacked[1000];
	const char *why = cli_unpacked_error(openetw_last_error_text(), unpacked, sizeof unpacked);
	if (code == ERROR_CANCELLED || cli_signal_caught()) {
		cli_tell(c->args, "cancelled");
	} else if (why[0]) {
		cli_tell(c->args, "%s", why);
	} else {
		cli_fail(c->args, code, "the question cannot be answered");
	}
	return false;
}

void mcp_put_answer(struct strbuf *b, const struct openetw_answer *a)
{
	json_put_count(b, "matched", a->matched);
	json_put_count(b, "scanned", a->scanned);
	if (a->undecided) {
		json_put_count(b, "undecided", a->undecided);
	}
	if (!a->exact) {
		json_put_truth(b, "exact", false);
	}
	if (a->partial) {
		json_put_truth(b, "partial", true);
	}
}

void mcp_put_date(struct strbuf *b, struct mcp_trace *t, const char *name, int64_t time)
{
	char text[TIME_TEXT_SIZE];
	format_time(table_make_filetime(&t->maker, time), false, text);
	json_put_text(b, name, text);
}

/* ---- SQL -------------------------------------------------------------------------------------------- */

#define SHARE_MIN  16u
#define NUMBER_MAX 64u

struct sheet { /* the rows of a query as they come */
	struct mcp_call *call;
	struct mcp_trace *trace;
	uint64_t most, rows;
	bool open, cut;    /* a result is being written; rows were left out */
	bool short_values; /* ends of values were left out */
	bool full;         /* whole results were left out */
	uint32_t columns;
	enum sql_class classes[SQL_COLUMNS_MAX];
};

/* What one of several values may take, which together take `most`. */
static size_t share_of(size_t most, uint32_t count)
{
	return BASE_MAX(most / BASE_MAX(count, 1u), (size_t)SHARE_MIN);
}

static bool on_columns(void *context, uint32_t count, const enum sql_class *classes, const struct sql_value *names)
{
	struct sheet *s = context;
	struct strbuf *b = &s->call->out;
	if (!mcp_call_room(s->call)) {
		s->full = true;
		return false;
	}
	size_t most = s->call->budget - b->len;
	json_put_comma(b);
	strbuf_adds(b, "{\"columns\":[");
	s->open = true;
	s->cut = s->short_values = false;
	s->columns = BASE_MIN(count, (uint32_t)SQL_COLUMNS_MAX);
	s->rows = 0;
	for (uint32_t i = 0; i < s->columns; i++) {
		s->classes[i] = classes[i];
		json_put_comma(b);
		size_t n = names[i].s ? names[i].n : 0;
		s->short_values |= json_put_part(b, n ? names[i].s : "", n, share_of(most, s->columns)) < n;
	}
	strbuf_adds(b, "],\"rows\":[");
	return true;
}

/* It comes out of a program that reads what strangers wrote: only what is JSON, on one line, goes into ours as it is. */
static bool stands_plain(enum sql_class class, const struct sql_value *v)
{
	char why[100];
	if (class == SQL_STRING || memchr(v->s, '\n', v->n) || memchr(v->s, '\r', v->n)) {
		return false;
	}
	if (class == SQL_NUMBER && (v->n > 16 || v->n != strspn(v->s, "0123456789+-.eE"))) {
		return false; /* longer numbers lose digits in most readers of JSON */
	}
	struct json_value *j = json_parse(v->s, v->n, why, sizeof why);
	json_free(j);
	return j != NULL;
}

/* A value of at most `most` bytes. False: its end was left out. */
static bool put_value(struct strbuf *b, enum sql_class class, const struct sql_value *v, size_t most)
{
	if (class == SQL_NUMBER) { /* a part of one is another number */
		most = BASE_MAX(most, (size_t)NUMBER_MAX);
	}
	json_put_comma(b);
	if (!v->s) {
		strbuf_adds(b, "null");
	} else if (v->n <= most && stands_plain(class, v)) {
		strbuf_add(b, v->s, v->n);
	} else {
		return json_put_part(b, v->s, v->n, most) == v->n;
	}
	return true;
}

/* False: the end of a value was left out. */
static bool put_row(struct sheet *s, uint32_t count, const struct sql_value *values, size_t most)
{
	struct strbuf *b = &s->call->out;
	bool whole = true;
	json_put_comma(b);
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < BASE_MIN(count, s->columns); i++) {
		whole &= put_value(b, s->classes[i], &values[i], most);
	}
	strbuf_addc(b, ']');
	return whole;
}

static bool on_row(void *context, uint32_t count, const struct sql_value *values)
{
	struct sheet *s = context;
	struct strbuf *b = &s->call->out;
	if (s->rows >= s->most || (s->rows > 0 && !mcp_call_room(s->call))) {
		s->cut = true;
		return false;
	}
	size_t before = b->len, most = s->call->budget - BASE_MIN(before, s->call->budget);
	if ((!put_row(s, count, values, most) || b->len > s->call->budget) &&
	    !b->failed) { /* the row that is too much */
		b->len = before;
		if (s->rows > 0) {
			s->cut = true;
			return false;
		}
		/* Of the first one as much is shown as there is room for. */
		s->short_values |= !put_row(s, count, values, share_of(most, s->columns));
	}
	s->rows++;
	return true;
}

static void end_sheet(struct sheet *s)
{
	struct strbuf *b = &s->call->out;
	if (!s->open) {
		return;
	}
	strbuf_addc(b, ']');
	json_put_count(b, "row_count", s->rows);
	mcp_put_cut(b, s->cut || s->short_values,
		    s->short_values ? "values were too long for the answer and lost their ends: select parts of them "
				      "(substr), or fewer columns"
		    : s->rows < s->most ? "the answer was full: select fewer columns or rows, or aggregate"
					: "there are more rows: raise max_rows, add LIMIT and OFFSET with ORDER "
					  "BY, or aggregate");
	strbuf_addc(b, '}');
	s->open = false;
}

static bool on_end(void *context)
{
	end_sheet(context);
	return true;
}

static int on_table(void *context, const char *name, char *why, size_t cap)
{
	return table_make(&((struct sheet *)context)->trace->maker, name, why, cap);
}

static int on_store(void *context, uint32_t file, struct sql_store *ret, int *ret_fd, char *why, size_t cap)
{
	struct mcp_trace *t = ((struct sheet *)context)->trace;
	struct index_share x;
	(void)why;
	(void)cap;
	if (!index_share_of(t->maker.index, file, &x)) {
		return 0;
	}
	*ret = (struct sql_store){x.offset, x.type_base, x.process_base, x.thread_base, x.stack_base};
	*ret_fd = x.fd;
	return 1;
}

static bool on_cancelled(void *context)
{
	(void)context;
	return cli_signal_caught() != 0;
}

bool mcp_trace_sql(struct mcp_call *c, struct mcp_trace *t, const char *text, uint64_t most_rows)
{
	struct sheet s = {.call = c, .trace = t, .most = most_rows};
	struct sql_sink sink = {.context = &s,
				.columns = on_columns,
				.row = on_row,
				.end = on_end,
				.table = on_table,
				.store = on_store,
				.cancelled = on_cancelled};
	struct sql_client_options o = {.memory_bytes = mcp_limits.memory_bytes,
				       .threads = (uint32_t)mcp_limits.threads,
				       .start_ns = ((int64_t)t->maker.start - 116444736000000000ll) * 100,
				       .out = -1};
	t->client = t->client ? t->client : sql_client_create(c->args, &o);
	if (!t->client) {
		return false;
	}
	char *faster = sql_rewrite(text);
	strbuf_adds(&c->out, "{\"results\":[");
	int status = sql_client_query(t->client, faster ? faster : text, &sink);
	end_sheet(&s);
	strbuf_addc(&c->out, ']');
	if (s.full) {
		mcp_put_cut(&c->out, true, "there are more results: send fewer statements in one call");
	}
	strbuf_addc(&c->out, '}');
	free(faster);
	return status == CLI_OK;
}
