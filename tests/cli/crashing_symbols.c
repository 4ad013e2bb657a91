/* SPDX-License-Identifier: MIT
 * In place of openetw-symbols: takes the first file that it is given, and crashes when it is asked about it. Of others
 * it wants files whose names are longer than the answer.
 *   called lying_symbols       takes all files, and answers with what terminals obey
 *   called unconfined_symbols  says that it gave up nothing, and takes no file
 */
#include "proto/proto.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_wire.h"
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
	static size_t count;
	bool lies = strcmp(context, "lying_symbols") == 0;
	if (q->kind == SYMBOLS_LOOK && lies) {
		strbuf_adds(answer, "first\x1b[31m\nline 7\x1fpart;last");
		return;
	}
	if (q->kind != SYMBOLS_OPEN || q->n != sizeof(struct symbols_open)) {
		__builtin_trap();
	}
	strbuf_add(answer, &opened[lies ? 0 : count++ % BASE_ARRAY_LEN(opened)], sizeof opened[0]);
}

int main(int argc, char **argv)
{
	static const struct sandbox_head hello = {SANDBOX_MAGIC, SANDBOX_HELLO, 0, 0};
	if (argc == 1 && strcmp(argv[0], "unconfined_symbols") == 0) {
		return -proto_send(SANDBOX_SOCKET, &hello, sizeof hello, NULL, 0);
	}
	return -sandbox_serve(handle, argv[0]);
}
