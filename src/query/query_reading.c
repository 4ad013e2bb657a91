/* SPDX-License-Identifier: MIT
 */
#include "query/query_reading.h"

int reading_select(struct scan *s, struct scan_part *p, uint16_t *rows, uint32_t n, uint32_t *ret)
{
	struct plan_event e = {.file = p->file, .knows = PLAN_ROW};
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = rows[i];
		e.type = store_type_at(&p->c, row);
		e.process = store_process_at(&p->c, row);
		e.thread = p->c.thread[row];
		e.cpu = p->c.cpu[row];
		e.time = store_time(&p->c, row);
		enum filter_truth t = plan_rest(s->q->plan, &e);
		rows[k] = (uint16_t)row;
		k += t == FILTER_YES;
		s->undecided += t == FILTER_UNKNOWN;
	}
	*ret = k;
	return 0;
}

void reading_free(struct reading *r)
{
}
