/* SPDX-License-Identifier: MIT
 *
 * openetw-symbols: reads files of symbols for openetw, as a child without rights. Not for people: it is started with a
 * socket, and asked (tools/symbols/symbols_wire.h).
 */
#include "sandbox/sandbox.h"
#include "tools/symbols/symbols_dwarf.h"

#include <stdio.h>

static void open_file(struct sandbox_question *q, struct strbuf *answer)
{
	struct symbols_open o;
	struct symbols_opened opened = {.state = SYMBOLS_NONE};
	struct strbuf more = {0};
	if (q->n == sizeof o) {
		memcpy(&o, q->p, sizeof o);
		symbols_dwarf_open(&o, &q->fd[0], &opened, &more);
	}
	strbuf_add(answer, &opened, sizeof opened);
	strbuf_add(answer, more.s, more.len);
	strbuf_finish(&more);
}

static void look(const struct sandbox_question *q, struct strbuf *answer)
{
	struct symbols_look l;
	if (q->n == sizeof l) {
		memcpy(&l, q->p, sizeof l);
		symbols_dwarf_look(l.number, l.address, answer);
	}
}

static void handle(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	(void)context;
	if (q->kind == SYMBOLS_OPEN) {
		open_file(q, answer);
	} else if (q->kind == SYMBOLS_LOOK) {
		look(q, answer);
	}
}

int main(void)
{
	if (sandbox_serve(handle, NULL) < 0) {
		fputs("openetw-symbols: openetw starts this program when it reads files of symbols\n", stderr);
		return 2;
	}
	return 0;
}
