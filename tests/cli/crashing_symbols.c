/* SPDX-License-Identifier: MIT
 * In place of openetw-symbols: takes files, and crashes when it is asked about one.
 */
#include "sandbox/sandbox.h"
#include "tools/symbols/symbols_wire.h"

static void handle(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	static const struct symbols_opened opened = {.state = SYMBOLS_READY};
	if (q->kind != SYMBOLS_OPEN) {
		__builtin_trap();
	}
	strbuf_add(answer, &opened, sizeof opened);
}

int main(void)
{
	return -sandbox_serve(handle, NULL);
}
