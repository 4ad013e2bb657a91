/* SPDX-License-Identifier: MIT
 * Answers.
 */
#include "tools/view/view.h"

int view_done(struct view_request *r)
{
	if (r->out.failed) {
		return view_fail(r, 500, "no memory");
	}
	return r->status = 200;
}

void view_put_answer(struct strbuf *b, const struct openetw_answer *a)
{
	json_put_name(b, "answer");
	strbuf_addc(b, '{');
	json_put_truth(b, "exact", a->exact);
	json_put_truth(b, "partial", a->partial);
	json_put_count(b, "scanned", a->scanned);
	json_put_count(b, "matched", a->matched);
	json_put_count(b, "decoded", a->decoded);
	json_put_count(b, "undecided", a->undecided);
	json_put_real(b, "covered", a->bytes ? (double)a->bytes_covered / (double)a->bytes : 1);
	strbuf_addc(b, '}');
}

void view_put_hex(struct strbuf *b, const char *name, uint64_t v)
{
	json_put_name(b, name);
	strbuf_addf(b, "\"0x%llx\"", (unsigned long long)v);
}

/* ---- arrays ----------------------------------------------------------------------------------------- */

static size_t width(const char *type)
{
	return strcmp(type, "u8") == 0 ? 1 : strcmp(type, "u16") == 0 ? 2 : strcmp(type, "f64") == 0 ? 8 : 4;
}

void view_arrays_begin(struct view_arrays *a)
{
	memset(a, 0, sizeof *a);
	strbuf_addc(&a->head, '{');
	strbuf_addc(&a->list, '[');
}

void view_arrays_add(struct view_arrays *a, const char *name, const char *type, const void *p, size_t count)
{
	static const char zeros[8];
	json_put_comma(&a->list);
	strbuf_addc(&a->list, '{');
	json_put_text(&a->list, "name", name);
	json_put_text(&a->list, "type", type);
	json_put_count(&a->list, "length", count);
	strbuf_addc(&a->list, '}');
	if (count) {
		strbuf_add(&a->data, p, count * width(type));
	}
	strbuf_add(&a->data, zeros, BASE_ALIGN8(a->data.len) - a->data.len);
}

int view_arrays_end(struct view_arrays *a, struct view_request *r)
{
	json_put_name(&a->head, "arrays");
	strbuf_add(&a->head, a->list.s, a->list.len);
	strbuf_adds(&a->head, "]}");
	while ((a->head.len + 1) % 8 != 0 && !a->head.failed) {
		strbuf_addc(&a->head, ' ');
	}
	strbuf_addc(&a->head, '\n');
	strbuf_clear(&r->out);
	strbuf_add(&r->out, a->head.s, a->head.len);
	strbuf_add(&r->out, a->data.s, a->data.len);
	bool failed = a->head.failed || a->data.failed || a->list.failed;
	strbuf_finish(&a->head);
	strbuf_finish(&a->data);
	strbuf_finish(&a->list);
	r->type = "application/x-openetw-arrays";
	return failed ? view_fail(r, 500, "no memory") : view_done(r);
}
