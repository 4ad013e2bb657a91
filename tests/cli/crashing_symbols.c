/* SPDX-License-Identifier: MIT
 * In place of openetw-symbols: takes the first file, and crashes when it is asked about it. Of others it wants files
 * whose names are longer than the answer.
 */
#include "sandbox/sandbox.h"
#include "tools/symbols/symbols_wire.h"

static void handle(void *context, struct sandbox_question *q, struct strbuf *answer)
{
	static const struct symbols_opened opened[] = {
		{.state = SYMBOLS_READY},
		{.state = SYMBOLS_WANTS_DEBUG, .id_bytes = SYMBOLS_ID_MAX},
		{.state = SYMBOLS_WANTS_SHARED, .id_bytes = UINT32_MAX, .name_bytes = 2},
		{.state = SYMBOLS_WANTS_SHARED, .id_bytes = 8, .name_bytes = SYMBOLS_NAME_MAX},
		{.state = 77},
	};
	struct symbols_open o;
	if (q->kind != SYMBOLS_OPEN || q->n != sizeof o) {
		__builtin_trap();
	}
	memcpy(&o, q->p, sizeof o);
	strbuf_add(answer, &opened[o.number % BASE_ARRAY_LEN(opened)], sizeof opened[0]);
}

int main(void)
{
	return -sandbox_serve(handle, NULL);
}
