/* SPDX-License-Identifier: MIT
 */
#include "query/query_field.h"

int field_prepare(struct openetw_query *q, struct field_column **ret)
{
	return -ENOTSUP;
}

bool field_number(const struct field_column *c, const struct scan_part *p, uint32_t row, double *ret)
{
	return false;
}
