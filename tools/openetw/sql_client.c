/* SPDX-License-Identifier: MIT
 *
 * The child is asked for the next bytes again and again, and gives its answer within SQL_PATIENCE_MS, however long the
 * query takes: so Ctrl-C, and the end of the child, are noticed at once.
 */
#include "tools/openetw/sql_client.h"

#include "base/confine.h"
#include "base/printable.h"
#include "tools/common/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSOR_S (24u * 3600)
#define ANSWER_MS   60000u        /* of the child's thread that only answers; a machine may be busy */
#define DRAIN_NS    5000000000ull /* for the end of a query that nobody waits for any more */
#define STARTS_MAX  1000u         /* a prompt may see many queries end badly */
#define OVERHEAD    (2ull << 30)  /* memory of the child beside DuckDB's own limit: stacks of threads, arenas */
#define FILE_MAX    (1ull << 46)
#define LIBRARY     "libduckdb.so"

struct sql_client {
	const struct cli_args *args;
	struct sql_client_options o;
	struct sandbox *child;
	int opened;          /* the child that has the database; 0: none */
	struct strbuf bytes; /* of the result, that came and are no whole record yet */
	size_t taken;
	enum sql_class classes[SQL_COLUMNS_MAX];
	struct sql_value values[SQL_COLUMNS_MAX];
	uint32_t columns;
	struct cli_progress progress;
};

/* ---- where things are ----------------------------------------------------------------------------- */

#if defined(__aarch64__)
#define PACKAGE "@duckdb/node-bindings-linux-arm64"
#else
#define PACKAGE "@duckdb/node-bindings-linux-x64"
#endif

/* Where the line puts it that is said when there is none. Of another user's directory nothing is loaded. */
static bool find_own(char *out, size_t cap)
{
	const char *data = getauxval(AT_SECURE) ? NULL : getenv("XDG_DATA_HOME");
	const char *home = getauxval(AT_SECURE) ? NULL : getenv("HOME");
	struct stat st;
	int n = -1;
	if (data && data[0] == '/') {
		n = snprintf(out, cap, "%s/openetw/node_modules/" PACKAGE "/" LIBRARY, data);
	} else if (home && home[0] == '/') {
		n = snprintf(out, cap, "%s/.local/share/openetw/node_modules/" PACKAGE "/" LIBRARY, home);
	}
	return n > 0 && (size_t)n < cap && stat(out, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0);
}

/* OPENETW_DUCKDB, beside this program (in the build tree), where it is installed, for this user, or wherever the dynamic
 * linker finds it. */
static void find_library(char *out, size_t cap)
{
	const char *env = getauxval(AT_SECURE) ? NULL : getenv("OPENETW_DUCKDB");
	if (env && env[0] == '/') {
		snprintf(out, cap, "%s", env);
	} else if (!helper_find(LIBRARY, NULL, R_OK, out, cap) &&
		   !helper_find("../lib/openetw/" LIBRARY, NULL, R_OK, out, cap) &&
		   !helper_find("../" LIBRARY, NULL, R_OK, out, cap) && !find_own(out, cap)) {
		snprintf(out, cap, "%s", LIBRARY);
	}
}

static uint64_t memory_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	uint64_t half = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 2 : 0;
	return BASE_MAX(half, 1ull << 30);
}

static uint32_t threads_default(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > 8 ? 8 : (uint32_t)n;
}

struct sql_client *sql_client_create(const struct cli_args *a, const struct sql_client_options *o)
{
	char program[4200], library[4200];
	struct sql_client *c = calloc(1, sizeof *c);
	if (!c) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
		return NULL;
	}
	c->args = a;
	c->o = *o;
	c->o.memory_bytes = c->o.memory_bytes ? c->o.memory_bytes : memory_default();
	c->o.threads = c->o.threads ? c->o.threads : threads_default();
	if (!helper_find("openetw-sql", "OPENETW_SQL", X_OK, program, sizeof program)) {
		cli_tell(a, "the program openetw-sql, which belongs to openetw, is not found");
		free(c);
		return NULL;
	}
	find_library(library, sizeof library);
	struct sandbox_options s = {.program = program,
				    .argument = library,
				    .memory_bytes = c->o.memory_bytes + OVERHEAD,
				    .processor_s = PROCESSOR_S,
				    .file_bytes = o->out >= 0 ? FILE_MAX : 0,
				    .answer_ms = ANSWER_MS,
				    .starts_max = STARTS_MAX};
	if (sandbox_create(&s, &c->child) < 0) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "no memory");
		free(c);
		return NULL;
	}
	return c;
}

void sql_client_destroy(struct sql_client *c)
{
	if (c) {
		sandbox_destroy(c->child);
		strbuf_finish(&c->bytes);
	}
	free(c);
}

/* ---- questions ------------------------------------------------------------------------------------ */

/* False: said why. */
static bool ask(struct sql_client *c, enum sql_question kind, const void *p, size_t n, const int *fd,
		const uint8_t **ret, size_t *ret_n)
{
	int r = sandbox_ask(c->child, kind, p, n, fd, fd ? 1 : 0, ret, ret_n);
	if (r < 0) {
		cli_progress_end(&c->progress);
		c->opened = 0;
		cli_tell(c->args, "the query ended: %s", r == -EMSGSIZE ? "it is too long" : sandbox_problem(c->child));
		return false;
	}
	if (*ret_n > 0 && kind != SQL_NEXT && **ret == '!') {
		cli_progress_end(&c->progress);
		cli_tell(c->args, "%.*s", (int)BASE_MIN(*ret_n - 1, (size_t)2000), (const char *)*ret + 1);
		return false;
	}
	return true;
}

static void tell_absent(const struct cli_args *a, const char *why)
{
	cli_tell(a, "DuckDB's library is not found (%s)", why);
	fputs("  one line installs it, for this user:  npm install --ignore-scripts --prefix "
	      "~/.local/share/openetw " PACKAGE "\n",
	      stderr);
}

static bool open_database(struct sql_client *c)
{
	struct sql_open o = {.memory_bytes = c->o.memory_bytes, .threads = c->o.threads, .start_ns = c->o.start_ns};
	const uint8_t *p;
	size_t n;
	int child = sandbox_start(c->child);
	if (child < 0) {
		cli_tell(c->args, "%s", sandbox_problem(c->child));
		return false;
	}
	if (child == c->opened) {
		return true;
	}
	int r = sandbox_ask(c->child, SQL_OPEN, &o, sizeof o, &c->o.out, c->o.out >= 0 ? 1 : 0, &p, &n);
	if (r < 0) {
		cli_tell(c->args, "%s", sandbox_problem(c->child));
		return false;
	}
	if (n > 0 && p[0] == '!') {
		char why[300];
		printable_copy(why, sizeof why, (const char *)p + 1, n - 1);
		if (strstr(why, ".so")) {
			tell_absent(c->args, why);
		} else {
			cli_tell(c->args, "%s", why);
		}
		return false;
	}
	if (!(sandbox_confined(c->child) & (CONFINED_CALLS | CONFINED_FILES))) {
		fprintf(stderr,
			"openetw %s: the query runs with the rights of this user, because neither seccomp nor "
			"Landlock is to be had\n",
			c->args->command->name);
	}
	c->opened = child;
	return true;
}

/* ---- results -------------------------------------------------------------------------------------- */

static bool nonsense(struct sql_client *c)
{
	cli_progress_end(&c->progress);
	sandbox_end(c->child);
	c->opened = 0;
	cli_tell(c->args, "openetw-sql answered what is no result");
	return false;
}

static bool take_values(struct bytes *b, uint32_t count, struct sql_value *values, enum sql_class *classes)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t class = classes ? bytes_u32(b) : 0, n = bytes_u32(b);
		const uint8_t *p = n ? bytes_take(b, n - 1) : NULL;
		if (b->bad || class > SQL_NESTED) {
			return false;
		}
		values[i] = (struct sql_value){(const char *)p, n ? n - 1 : 0};
		if (classes) {
			classes[i] = class;
		}
	}
	return bytes_left(b) == 0;
}

static bool take_columns(struct sql_client *c, const uint8_t *p, size_t n, const struct sql_sink *sink)
{
	struct bytes b = bytes_of(p, n), count = b;
	for (c->columns = 0; bytes_left(&count) > 0; c->columns++) {
		(void)bytes_u32(&count);
		uint32_t length = bytes_u32(&count);
		if (length == 0 || !bytes_take(&count, length - 1) || c->columns == SQL_COLUMNS_MAX) {
			return nonsense(c);
		}
	}
	if (!take_values(&b, c->columns, c->values, c->classes)) {
		return nonsense(c);
	}
	return sink->columns(sink->context, c->columns, c->classes, c->values);
}

enum { GOES_ON, STOPPED, FAILED };

/* DuckDB shows the place in the query in lines of their own. */
static void tell_lines(const struct cli_args *a, const uint8_t *p, uint32_t bytes)
{
	char text[4001];
	snprintf(text, sizeof text, "%.*s", (int)BASE_MIN(bytes, 4000u), (const char *)p);
	bool memory = strncmp(text, "Out of Memory", 13) == 0;
	if (memory) { /* DuckDB goes on with settings that are locked here */
		text[strcspn(text, "\n")] = 0;
	}
	fflush(stdout);
	fprintf(stderr, "openetw %s: ", a->command->name);
	cli_put_lines(stderr, text);
	if (memory) {
		fputs("  --memory SIZE gives the query more; --threads 1 lets it need less\n", stderr);
	}
}

static int take_record(struct sql_client *c, const struct sql_record *r, const uint8_t *p, const struct sql_sink *sink)
{
	struct bytes b = bytes_of(p, r->bytes);
	switch (r->kind) {
	case SQL_COLUMNS: return take_columns(c, p, r->bytes, sink) ? GOES_ON : c->opened ? STOPPED : FAILED;
	case SQL_ROW:
		if (!take_values(&b, c->columns, c->values, NULL)) {
			nonsense(c);
			return FAILED;
		}
		return sink->row(sink->context, c->columns, c->values) ? GOES_ON : STOPPED;
	case SQL_END: return sink->end(sink->context) ? GOES_ON : STOPPED;
	case SQL_ERROR:
		cli_progress_end(&c->progress);
		tell_lines(c->args, p, r->bytes);
		return FAILED;
	default: nonsense(c); return FAILED;
	}
}

static int take_records(struct sql_client *c, const struct sql_sink *sink)
{
	struct sql_record r;
	int what = GOES_ON;
	while (what == GOES_ON && c->bytes.len - c->taken >= sizeof r) {
		const uint8_t *p = (const uint8_t *)c->bytes.s + c->taken;
		memcpy(&r, p, sizeof r);
		if (r.bytes > SQL_RECORD_MAX + SQL_COLUMNS_MAX * 8u) {
			nonsense(c);
			return FAILED;
		}
		if (c->bytes.len - c->taken - sizeof r < r.bytes) {
			break;
		}
		what = take_record(c, &r, p + sizeof r, sink);
		c->taken += sizeof r + r.bytes;
	}
	if (c->taken == c->bytes.len) {
		strbuf_clear(&c->bytes);
		c->taken = 0;
	} else if (c->taken > (1u << 20)) {
		memmove(c->bytes.s, c->bytes.s + c->taken, c->bytes.len - c->taken);
		c->bytes.len -= c->taken;
		c->taken = 0;
	}
	return what;
}

/* The index of each file. False: said why. */
static bool give_stores(struct sql_client *c, const struct sql_sink *sink, char *why, size_t cap)
{
	struct sql_store s;
	const uint8_t *p;
	size_t n;
	int fd, r;
	for (uint32_t i = 0; (r = sink->store(sink->context, i, &s, &fd, why, cap)) > 0; i++) {
		if (!ask(c, SQL_STORE, &s, sizeof s, &fd, &p, &n)) {
			return false;
		}
	}
	return true;
}

/* A table that a query wants. False: said why. */
static bool give_table(struct sql_client *c, const uint8_t *p, size_t n, const struct sql_sink *sink)
{
	char name[SQL_NAME_MAX + 1], why[600] = "";
	struct strbuf b = {0};
	const uint8_t *answer;
	if (n > SQL_NAME_MAX) {
		return nonsense(c);
	}
	memcpy(name, p, n);
	name[n] = 0;
	cli_progress_end(&c->progress);
	int fd = -1;
	if (strcmp(name, "events") != 0) {
		fd = sink->table(sink->context, name, why, sizeof why);
		if (fd < 0 && !why[0]) {
			snprintf(why, sizeof why, "there is no such table");
		}
	} else if (!give_stores(c, sink, why, sizeof why)) {
		return false;
	}
	struct sql_table head = {.name_bytes = (uint32_t)n};
	strbuf_add(&b, &head, sizeof head);
	strbuf_add(&b, name, n);
	strbuf_adds(&b, fd < 0 ? why : "");
	bool ok = !b.failed && ask(c, SQL_TABLE, b.s, b.len, fd >= 0 ? &fd : NULL, &answer, &n);
	base_close(&fd);
	strbuf_finish(&b);
	return ok;
}

/* The child is done with it, whatever it still has to say. */
static void drain(struct sql_client *c)
{
	const uint8_t *p;
	size_t n;
	struct sql_answer a;
	if (!c->opened || !ask(c, SQL_CANCEL, NULL, 0, NULL, &p, &n)) {
		return;
	}
	uint64_t end = clock_read_system_ns() + DRAIN_NS;
	do {
		if (!ask(c, SQL_NEXT, NULL, 0, NULL, &p, &n) || n < sizeof a) {
			return;
		}
		memcpy(&a, p, sizeof a);
	} while (a.state != SQL_DONE && clock_read_system_ns() < end);
	if (a.state != SQL_DONE) { /* the next query gets another child */
		sandbox_end(c->child);
		c->opened = 0;
	}
}

static int run(struct sql_client *c, enum sql_question kind, const void *question, size_t bytes,
	       const struct sql_sink *sink)
{
	const uint8_t *p;
	size_t n;
	if (bytes > SQL_TEXT_MAX) {
		return cli_tell(c->args, "the query is longer than %u bytes", SQL_TEXT_MAX);
	}
	if (!open_database(c) || !ask(c, kind, question, bytes, NULL, &p, &n)) {
		return CLI_FAILED;
	}
	strbuf_clear(&c->bytes);
	c->taken = 0;
	c->columns = 0;
	cli_progress_start(&c->progress, true);
	for (;;) {
		struct sql_answer a;
		if (sink->cancelled(sink->context)) {
			cli_progress_end(&c->progress);
			drain(c);
			return cli_tell(c->args, "the query was cancelled");
		}
		if (!ask(c, SQL_NEXT, NULL, 0, NULL, &p, &n)) {
			return CLI_FAILED;
		}
		if (n < sizeof a) {
			nonsense(c);
			return CLI_FAILED;
		}
		memcpy(&a, p, sizeof a);
		p += sizeof a;
		n -= sizeof a;
		if (a.state == SQL_WANTS) {
			if (!give_table(c, p, n, sink)) {
				return CLI_FAILED;
			}
		} else if (a.state == SQL_RUNNING) {
			strbuf_add(&c->bytes, p, n);
			int what = c->bytes.failed ? STOPPED : take_records(c, sink);
			if (what != GOES_ON) {
				drain(c);
				cli_progress_end(&c->progress);
				return what == FAILED ? CLI_FAILED : CLI_OK;
			}
			if (n == 0 && a.percent <= 100) {
				cli_work_tell(CLI_WORK_QUERY, a.percent, 100);
				cli_progress_show(&c->progress, "%3u%% of the query", a.percent);
			}
		} else {
			cli_progress_end(&c->progress);
			return c->bytes.len == c->taken ? CLI_OK : (nonsense(c), CLI_FAILED);
		}
	}
}

int sql_client_query(struct sql_client *c, const char *text, const struct sql_sink *sink)
{
	return run(c, SQL_QUERY, text, strlen(text), sink);
}

int sql_client_export(struct sql_client *c, const char *text, enum sql_export_format format,
		      const struct sql_sink *sink)
{
	struct sql_export e = {.format = format};
	struct strbuf b = {0};
	strbuf_add(&b, &e, sizeof e);
	strbuf_add(&b, text, strlen(text));
	int status = b.failed ? cli_tell(c->args, "no memory") : run(c, SQL_EXPORT, b.s, b.len, sink);
	strbuf_finish(&b);
	return status;
}
