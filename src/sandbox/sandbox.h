/* SPDX-License-Identifier: MIT
 *
 * sandbox: what crashes or takes memory by nature is done by a program that has nothing. Front door.
 *
 *   parent, which trusts nothing that comes back       child, a program of ours (tools/symbols)
 *   ---------------------------------------------      ----------------------------------------
 *   sandbox_start()      fork, exec        ------>     sandbox_serve(): gives up every right
 *                                          <------     hello: version, what it gave up
 *   sandbox_ask()        bytes, descriptors ----->     the handler works
 *                                          <------     bytes
 *   sandbox_destroy()    end of the socket ------>     ends
 *
 * The child starts with an empty environment, in a session of its own, with /dev/null as its three streams and no
 * descriptor but the socket. Then it opens nothing, runs nothing, connects to nobody (base/confine.h,
 * CONFINE_SANDBOX); what it is to read is opened by the parent and handed over. Its memory and its processor time are
 * limited, and it leaves no core file. It ends with its parent.
 *
 * A question that is not answered costs its own answer only. A child that crashes, answers nonsense, or does not
 * answer in time is ended, and the next question starts another one, up to a limit. What the earlier child was told
 * is gone then; sandbox_start() says which child it is.
 *
 * Messages are those of a SOCK_SEQPACKET socket, at most SANDBOX_BYTES_MAX bytes. One thread: the one that asks
 * first must live as long as the sandbox, because the child ends with it.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/base.h"

#define SANDBOX_BYTES_MAX 65536u /* of a question, of an answer */
#define SANDBOX_FDS_MAX   2

/* ---- the parent ---------------------------------------------------------------------------------- */

struct sandbox;

struct sandbox_options {
	const char *program;   /* its full path */
	const char *argument;  /* NULL: none */
	uint64_t memory_bytes; /* that the child may write to; files that it maps do not count */
	uint64_t processor_s;  /* in its life */
	uint64_t file_bytes;   /* length of a file that it is given to write to; 0: it writes none */
	uint32_t answer_ms;    /* for one question */
	uint32_t starts_max;   /* children, one after the other */
};

/* Starts nothing yet. 0, -ENOMEM. */
int sandbox_create(const struct sandbox_options *o, struct sandbox **ret);
void sandbox_destroy(struct sandbox *s);

/* Makes sure that a child runs. The number of the child, from 1 on; or as sandbox_ask(). */
int sandbox_start(struct sandbox *s);
/* Ends the child that runs, whose answers make no sense; the next question starts another one. */
void sandbox_end(struct sandbox *s);
/* The number of the child that runs; 0: none does. */
int sandbox_running(const struct sandbox *s);
/* 0, and the answer, which is valid until the next call. Else there is none:
 *   -ECHILD     the child ended while it worked on this
 *   -ETIMEDOUT  it did not answer in time, or does not read its questions
 *   -EBADMSG    it answered what is no answer, or too much, or with descriptors
 *   -EMSGSIZE   the question or the answer would be too long; the child goes on
 *   -ENOLINK    as many children as there may be have ended
 *   others      no child could be started, or the kernel did not take the question
 * The answer's bytes may be anything: whoever has taken over the child has written them. */
int sandbox_ask(struct sandbox *s, uint32_t kind, const void *p, size_t n, const int *fds, int fd_count,
		const uint8_t **ret, size_t *ret_n);
/* What became of the child, after an error: "openetw-symbols was ended by signal 11 (Segmentation fault)". */
const char *sandbox_problem(const struct sandbox *s);
/* What the child that runs gave up: CONFINED_… of base/confine.h. */
unsigned sandbox_confined(const struct sandbox *s);

/* ---- the child ----------------------------------------------------------------------------------- */

struct sandbox_question {
	uint32_t kind;
	const uint8_t *p;
	size_t n;
	int fd[SANDBOX_FDS_MAX]; /* -1: none. The handler sets those to -1 that it keeps */
};
/* Writes what is to be answered behind `answer`, which is empty. */
typedef void (*sandbox_handler)(void *context, struct sandbox_question *q, struct strbuf *answer);
/* Gives up every right for good, and answers until the parent is gone. 0: it is gone; -errno: this program was not
 * started as a child. */
int sandbox_serve(sandbox_handler handler, void *context);
/* The same with threads, and writing to files that are open: CONFINE_DATABASE of base/confine.h. */
int sandbox_serve_threads(sandbox_handler handler, void *context);

#endif
