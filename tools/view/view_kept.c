/* SPDX-License-Identifier: MIT */
#include "tools/view/view_kept.h"

#include "base/order.h"
#include "tools/view/view.h"

#include <stdlib.h>

#define ANSWERS_MAX 256u
#define BYTES_MAX   (64u << 20)
#define ONE_MAX     (8u << 20)

struct answer {
	char *question;
	char *text;
	size_t length;
	const char *type; /* of the answer, a literal; NULL: JSON */
	uint64_t used;
	uint32_t generation;
};
struct view_kept {
	struct answer answer[ANSWERS_MAX];
	uint32_t count;
	uint64_t uses, bytes;
};
static uint32_t generation; /* order_… */

void view_kept_forget(void)
{
	order_add_full(&generation, 1u);
}

static void drop(struct view_kept *k, uint32_t i)
{
	struct answer *a = &k->answer[i];
	k->bytes -= a->length;
	free(a->question);
	free(a->text);
	*a = k->answer[--k->count];
}

void view_kept_destroy(struct view_kept *k)
{
	while (k && k->count) {
		drop(k, 0);
	}
	free(k);
}

/* Only a trace that is read whole has answers that stay true; a copy of a live one is asked for a moment. */
static struct view_trace *trace_of(struct view_request *r)
{
	struct view_trace *t = r->endpoint->keep ? view_trace_of(r) : NULL;
	return t && !t->live && !t->copy_of && view_trace_whole(t) ? t : NULL;
}

static void question_of(const struct view_request *r, struct strbuf *b)
{
	strbuf_adds(b, r->endpoint->path);
	for (size_t i = 0; i < r->given_count; i++) {
		strbuf_addf(b, "\x1e%s\x1f%s", r->given[i].name, r->given[i].value);
	}
}

static int find_locked(struct view_kept *k, const char *question)
{
	uint32_t now = order_load_acquire(&generation);
	for (uint32_t i = 0; k && i < k->count; i++) {
		if (strcmp(k->answer[i].question, question) == 0) {
			if (k->answer[i].generation == now) {
				return (int)i;
			}
			drop(k, i);
			return -1;
		}
	}
	return -1;
}

bool view_kept_find(struct view_request *r)
{
	struct strbuf question = {0};
	struct view_trace *t = trace_of(r);
	bool found = false;
	if (!t) {
		r->status = 0; /* the endpoint says what is wrong */
		strbuf_clear(&r->out);
		return false;
	}
	r->generation = order_load_acquire(&generation);
	question_of(r, &question);
	pthread_mutex_lock(&t->lock);
	int i = question.failed ? -1 : find_locked(t->kept, question.s);
	if (i >= 0) {
		struct answer *a = &t->kept->answer[i];
		a->used = ++t->kept->uses;
		strbuf_add(&r->out, a->text, a->length);
		r->type = a->type;
		r->status = 200;
		found = !r->out.failed;
	}
	pthread_mutex_unlock(&t->lock);
	strbuf_finish(&question);
	return found;
}

static void make_room_locked(struct view_kept *k, size_t bytes)
{
	while (k->count && (k->count == ANSWERS_MAX || k->bytes + bytes > BYTES_MAX)) {
		uint32_t oldest = 0;
		for (uint32_t i = 1; i < k->count; i++) {
			oldest = k->answer[i].used < k->answer[oldest].used ? i : oldest;
		}
		drop(k, oldest);
	}
}

void view_kept_add(struct view_request *r)
{
	struct view_trace *t = trace_of(r);
	struct strbuf question = {0};
	if (!t || r->status != 200 || r->passing || r->file >= 0 || r->filename || r->out.failed ||
	    r->out.len > ONE_MAX) {
		return;
	}
	question_of(r, &question);
	char *text = malloc(r->out.len + 1);
	if (text) {
		memcpy(text, r->out.s ? r->out.s : "", r->out.len);
	}
	pthread_mutex_lock(&t->lock);
	t->kept = t->kept ? t->kept : calloc(1, sizeof *t->kept);
	if (t->kept && text && !question.failed && find_locked(t->kept, question.s) < 0) {
		make_room_locked(t->kept, r->out.len);
		struct view_kept *k = t->kept;
		k->answer[k->count++] = (struct answer){.question = question.s,
							.text = text,
							.length = r->out.len,
							.type = r->type,
							.used = ++k->uses,
							.generation = r->generation};
		k->bytes += r->out.len;
		question.s = text = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	free(text);
	free(question.s);
}
