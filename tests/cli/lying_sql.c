/* SPDX-License-Identifier: MIT
 *
 * An openetw-sql that somebody has taken over: what it answers to SQL_NEXT is no result. The name that it is called by,
 * lying_sql-N, says which lie.
 */
#include "tools/sql/sql_wire.h"

#include <errno.h>
#include <stdlib.h>

static int lie;
static unsigned asked;

static void record(struct strbuf *b, uint32_t kind, uint32_t bytes, const void *p, size_t n)
{
	struct sql_record r = {kind, bytes};
	strbuf_add(b, &r, sizeof r);
	strbuf_add(b, p, n);
}

static void columns(struct strbuf *b)
{
	static const uint32_t one[] = {SQL_STRING, 2, 'a'}; /* "a", of one byte */
	record(b, SQL_COLUMNS, 9, one, 9);
}

/* False: that was all. */
static bool lies(struct strbuf *b)
{
	uint32_t v[64] = {0};
	switch (lie) {
	case 0: record(b, SQL_ROW, UINT32_MAX, "", 0); break;             /* longer than may be */
	case 1: record(b, 77, 4, "abcd", 4); break;                       /* of no kind */
	case 2: columns(b), record(b, SQL_ROW, 0, "", 0); break;          /* fewer values than columns */
	case 3: v[0] = 9, columns(b), record(b, SQL_ROW, 8, v, 8); break; /* a value behind the end */
	case 4: v[0] = UINT32_MAX, columns(b), record(b, SQL_ROW, 8, v, 8); break;
	case 5: v[0] = 9999, v[1] = 1, record(b, SQL_COLUMNS, 8, v, 8); break; /* of no class */
	case 6: columns(b), record(b, SQL_ROW, 12, v, 12); break;              /* more values than columns */
	case 7: record(b, SQL_ROW, 100, "", 0); break;                         /* cut, and then nothing comes */
	case 8: /* a column without a name */ v[0] = SQL_STRING, record(b, SQL_COLUMNS, 8, v, 8); break;
	case 9: /* more columns than may be */
		for (unsigned i = 0; i < 5000; i++) {
			v[0] = SQL_STRING, v[1] = 1;
			record(b, i == 0 ? SQL_COLUMNS : 0, 5000 * 8, v, i == 0 ? 8 : 0);
			if (i > 0) {
				b->len -= sizeof(struct sql_record);
				strbuf_add(b, v, 8);
			}
		}
		break;
	case 10: record(b, SQL_ERROR, 7, "\x1b[31mno", 7); break;
	default: return false;
	}
	return asked++ == 0;
}

static void handle(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	struct sql_answer a = {SQL_DONE, 0};
	struct strbuf b = {0};
	(void)context;
	if (q->kind == SQL_OPEN) {
		strbuf_adds(answer, "v1");
		return;
	}
	if (q->kind != SQL_NEXT) {
		return;
	}
	if (lie == 11 && asked++ == 0) { /* wants a table of a name that is too long */
		a.state = SQL_WANTS;
		for (unsigned i = 0; i < 5000; i++) {
			strbuf_addc(&b, 'n');
		}
	} else if (lie == 12) { /* no answer at all */
		return;
	} else if (lies(&b)) {
		a.state = SQL_RUNNING;
	} else {
		strbuf_clear(&b);
	}
	strbuf_add(answer, &a, sizeof a);
	strbuf_add(answer, b.s, b.len);
	strbuf_finish(&b);
}

int main(int argc, char **argv)
{
	const char *dash = strrchr(argv[0], '-');
	(void)argc;
	lie = dash ? atoi(dash + 1) : 0;
	return sandbox_serve_threads(handle, NULL) < 0;
}
