/* SPDX-License-Identifier: MIT
 *
 * Single records of a file, in any order: for who knows where they stand. As careful as etl_reader.
 */
#ifndef ETL_ETL_PICK_H
#define ETL_ETL_PICK_H

#include "etl/etl_reader.h"

struct etl_pick;
/* Looks at all buffer headers once. `fd` stays the caller's and is read with pread alone. -errno; -EBADMSG with diag. */
int etl_pick_open(int fd, struct etl_pick **ret, struct diag *d);
void etl_pick_close(struct etl_pick *p);
/* The record at these places, as struct etl_record names them; valid until the next call. Some buffers are kept plain, up
 * to 64 MiB of them, so neighbours are cheap. 0; -ENOENT: none stands there; -errno. */
int etl_pick_record(struct etl_pick *p, uint64_t file_offset, uint32_t buffer_offset, struct etl_record *ret);
/* Ticks a second, as the header says: of durations in payloads. */
uint64_t etl_pick_frequency(const struct etl_pick *p);

#endif
