/* SPDX-License-Identifier: MIT
 * Notifications of progress: how much of a call is done, as far as the process that works on it says so.
 */
#include "tools/mcp/mcp_reply.h"

#define TELL_NS 1000000000ull /* between two of them */
#define PIECE   100000u       /* thousandths of a percent: what a piece of the work counts */

/* "making the index: 31 of 120 MB" */
static void put_words(struct strbuf *b, const struct cli_work_done *x)
{
	unsigned long long done = x->done, total = x->total;
	double percent = total ? 100.0 * (double)done / (double)total : 0;
	switch ((enum cli_work)x->work) {
	case CLI_WORK_INDEX:
		strbuf_addf(b, "making the index: %.1f of %.1f MB", (double)done / 1e6, (double)total / 1e6);
		break;
	case CLI_WORK_BUFFERS: strbuf_addf(b, "reading the trace: %llu of %llu buffers", done, total); break;
	case CLI_WORK_EVENTS: strbuf_addf(b, "looking at events: %llu of %llu", done, total); break;
	case CLI_WORK_MACHINE: strbuf_addf(b, "reading processes and modules: %.0f%%", percent); break;
	case CLI_WORK_QUERY: strbuf_addf(b, "running the query: %.0f%%", percent); break;
	default: strbuf_adds(b, "worked on"); break;
	}
}

/* Nobody knows how many pieces there will be, so the total is that of those that have begun. The number has to increase with
 * each notification, also while nothing is told and where the numbers of a piece stand still. */
static void put_progress(struct strbuf *b, struct mcp_job *j)
{
	struct cli_work_done x = {0};
	bool known = cli_work_look(&x);
	uint64_t before = known ? PIECE * (uint64_t)(x.piece - 1) : 0, now = before;
	if (known && x.total) {
		now += (uint64_t)((double)PIECE * ((double)x.done / (double)x.total));
	}
	j->told = BASE_MAX(now, j->told + 1);
	strbuf_addf(b, "\"progress\":%llu.%03llu", (unsigned long long)(j->told / 1000),
		    (unsigned long long)(j->told % 1000));
	if (known && j->told <= before + PIECE) {
		strbuf_addf(b, ",\"total\":%llu", (unsigned long long)((before + PIECE) / 1000));
	}
	strbuf_adds(b, ",\"message\":\"");
	put_words(b, &x);
	strbuf_addf(b, ", for %u s\"", j->told_seconds);
}

int mcp_progress_tell(struct mcp_server *s, struct mcp_job *j)
{
	struct strbuf b = {0};
	if (!j || !j->running || !j->token[0] || j->kill_ns) {
		return -1;
	}
	uint64_t now = clock_read_system_ns();
	if (now - j->told_ns >= TELL_NS) {
		j->told_seconds++;
		j->told_ns = now;
		strbuf_addf(
			&b,
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,",
			j->token);
		put_progress(&b, j);
		strbuf_adds(&b, "}}");
		mcp_reply_line(s, &b);
		strbuf_finish(&b);
	}
	return (int)((j->told_ns + TELL_NS - now) / 1000000 + 1);
}
