/* SPDX-License-Identifier: MIT
 *
 * Records that say which images a process has, as the kernel of Windows and a merge of its traces write them: without
 * them the addresses of a stack have no names later, when the process is gone. Sessions of the kernel have them from
 * the collector (src/kernel); this is for all others.
 */
#ifndef ETL_ETL_IMAGE_H
#define ETL_ETL_IMAGE_H

#include "base/base.h"
#include "format/file_record.h"

/* Hooks of the Image and Process classes. */
enum etl_image_hook {
	ETL_IMAGE_LOAD = 0x030A,
	ETL_IMAGE_UNLOAD = 0x1402,
	ETL_IMAGE_DC_START = 0x1403,
	ETL_IMAGE_DC_END = 0x1404,
	ETL_PROCESS_START = 0x0301,
	ETL_PROCESS_END = 0x0302,
	ETL_PROCESS_DC_START = 0x0303,
	ETL_PROCESS_DC_END = 0x0304,
};
/* They are no events that anybody asked for: a mark tells them from what the kernel's sessions record
 * (format/file_record.h). */
#define ETL_IMAGE_EXPLAINS   FILE_RECORD_EXPLAINS
#define ETL_IMAGE_PATH_UNITS 1500u /* what is longer is cut: it has to fit small buffers */

struct etl_image {
	uint64_t base, bytes;
	uint32_t pid;
	const uint8_t *build_id; /* may be NULL */
	uint32_t build_id_bytes;
	const char *path; /* UTF-8 */
};
struct etl_process {
	uint32_t pid, parent, uid;
	const char *name; /* UTF-8 */
};

/* Is this one of them? `last` goes from record to record, and begins with zeros: an ImageID, which has no room for a
 * mark, is one if it says more about the image before it. */
struct etl_image_last {
	uint64_t time, base;
};
struct etl_record;
bool etl_image_explains(const struct etl_record *r, struct etl_image_last *last);

/* Room for one record, a multiple of 8, or NULL when there is none (and the loss is counted). */
typedef void *(*etl_image_room_fn)(void *ctx, uint64_t time, uint32_t bytes);
/* `time` is of the session's clock. An image that comes is followed by which build of which file it is. */
void etl_image_put(enum etl_image_hook hook, uint64_t time, const struct etl_image *i, etl_image_room_fn room,
		   void *ctx);
void etl_process_put(enum etl_image_hook hook, uint64_t time, const struct etl_process *p, etl_image_room_fn room,
		     void *ctx);

#endif
