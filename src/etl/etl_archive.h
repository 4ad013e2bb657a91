/* SPDX-License-Identifier: MIT
 *
 * Trace files inside .gz, .zip and .cab, as they are sent around. The first member whose name ends
 * in ".etl" counts (or the only one). Private to etl.
 */
#ifndef ETL_ETL_ARCHIVE_H
#define ETL_ETL_ARCHIVE_H

#include "etl/etl_index.h"

enum etl_archive_kind {
	ETL_ARCHIVE_NONE,
	ETL_ARCHIVE_GZIP,
	ETL_ARCHIVE_ZIP,
	ETL_ARCHIVE_CAB,
};

enum etl_archive_kind etl_archive_kind_of(const uint8_t *p, size_t n);
/* Unpacks the member through `write`. 0; -EBADMSG or -ENODATA with diag when the archive is damaged
 * or cut: what could be unpacked has been written; -ENOENT: no trace in it; -ENOTSUP: a method or an
 * encryption we do not know. */
int etl_archive_unpack(const struct etl_source *s, enum etl_archive_kind kind,
		       int (*write)(void *ctx, const uint8_t *p, size_t n), void *ctx,
		       struct diag *d);
/* The same into a file without a name (in $TMPDIR or /var/tmp or /tmp, else in memory). As above;
 * *ret_fd is set when anything was unpacked, else -1. */
int etl_archive_open(const struct etl_source *s, enum etl_archive_kind kind, int *ret_fd,
		     struct diag *d);

#endif
