/* SPDX-License-Identifier: MIT
 *
 * Where a file shows that something is missing. Private to etl.
 */
#ifndef ETL_ETL_LOSS_H
#define ETL_ETL_LOSS_H

#include "etl/etl_index.h"

/* 0 with a list to be freed (NULL when there is nothing), or -ENOMEM. */
int etl_loss_collect(const struct etl_index *x, const struct etl_file_info *info, const struct etl_clock *clock,
		     struct etl_loss_range **ret, size_t *ret_count);

#endif
