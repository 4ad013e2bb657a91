/* SPDX-License-Identifier: MIT */
#include "symbol/symbol_more.h"
#include "base/vec.h"

#include <stdlib.h>

#define FUNCTIONS_MAX  (4u << 20)
#define TEXT_BYTES_MAX (128u << 20)

void symbol_more_add(struct symbol_more *m, uint64_t linked, uint64_t bytes, const char *name, const char *suffix)
{
	if (m->full) {
		return;
	}
	if (!VEC_ROOM_UP_TO(m->list, m->count, m->cap, FUNCTIONS_MAX)) {
		m->full = true;
		return;
	}
	size_t at = m->text.len;
	strbuf_adds(&m->text, name);
	strbuf_adds(&m->text, suffix);
	strbuf_add(&m->text, "", 1);
	if (m->text.failed || m->text.len > TEXT_BYTES_MAX) {
		m->full = true;
		return;
	}
	m->list[m->count++] = (struct symbol_more_one){linked, bytes, (uint32_t)at};
}

void symbol_more_free(struct symbol_more *m)
{
	free(m->list);
	strbuf_finish(&m->text);
	*m = (struct symbol_more){0};
}
