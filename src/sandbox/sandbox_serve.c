/* SPDX-License-Identifier: MIT
 * The child's side: no rights, one question after the other.
 */
#include "base/confine.h"
#include "proto/proto.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_wire.h"

static uint8_t question[sizeof(struct sandbox_head) + SANDBOX_BYTES_MAX];
static uint8_t answer[sizeof(struct sandbox_head) + SANDBOX_BYTES_MAX];

static int send_answer(uint32_t number, uint32_t value, const void *p, size_t n)
{
	struct sandbox_head h = {SANDBOX_MAGIC, number, value, (uint32_t)n};
	memcpy(answer, &h, sizeof h);
	if (n > 0) {
		memcpy(answer + sizeof h, p, n);
	}
	return proto_send(SANDBOX_SOCKET, answer, sizeof h + n, NULL, 0);
}

static int serve(enum confine_program program, sandbox_handler handler, void *context)
{
	struct strbuf text = {0};
	int r = send_answer(SANDBOX_HELLO, confine(program), NULL, 0);
	while (r == 0) {
		struct sandbox_question q = {.fd = {-1, -1}};
		struct sandbox_head h;
		int fds = SANDBOX_FDS_MAX;
		long n = proto_recv(SANDBOX_SOCKET, question, sizeof question, q.fd, &fds, -1);
		if (n <= 0) {
			r = (int)n;
			break;
		}
		memcpy(&h, question, sizeof h);
		if ((size_t)n < sizeof h || h.magic != SANDBOX_MAGIC || h.bytes != (size_t)n - sizeof h) {
			r = -EBADMSG;
			break;
		}
		q.kind = h.value;
		q.p = question + sizeof h;
		q.n = h.bytes;
		strbuf_clear(&text);
		handler(context, &q, &text);
		base_close(&q.fd[0]);
		base_close(&q.fd[1]);
		bool fits = !text.failed && text.len <= SANDBOX_BYTES_MAX;
		r = send_answer(h.number, fits ? SANDBOX_FITS : SANDBOX_TOO_BIG, text.s, fits ? text.len : 0);
	}
	strbuf_finish(&text);
	return r;
}

int sandbox_serve(sandbox_handler handler, void *context)
{
	return serve(CONFINE_SANDBOX, handler, context);
}

int sandbox_serve_threads(sandbox_handler handler, void *context)
{
	return serve(CONFINE_DATABASE, handler, context);
}
