/* SPDX-License-Identifier: MIT */
#include "query/query_share.h"

#include "query/query_index.h"

bool index_share_of(const struct openetw_index *x, uint32_t file, struct index_share *ret)
{
	if (x->ring) { /* its views come and go */
		return false;
	}
	x = index_now(x);
	if (file >= x->file_count) {
		return false;
	}
	const struct index_file *f = &x->files[file];
	*ret = (struct index_share){.fd = f->store.fd,
				    .store = &f->store,
				    .offset = f->offset,
				    .type_base = f->type_base,
				    .process_base = f->process_base,
				    .thread_base = f->thread_base,
				    .stack_base = f->stack_base};
	return true;
}
