/* SPDX-License-Identifier: MIT
 *
 * Several trace files become one. In libopenetw.
 *
 *   if (openetw_merge(paths, 2, "both.etl", OPENETW_MERGE_COMPRESS, NULL, NULL) != 0) {
 *           fprintf(stderr, "%s\n", openetw_last_error_text());
 *   }
 */
#ifndef OPENETW_MERGE_H
#define OPENETW_MERGE_H

#include <openetw/defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called now and then with the number of events done; false ends the work. */
typedef bool (*openetw_merge_progress_fn)(void *context, uint64_t events);
#define OPENETW_MERGE_COMPRESS 1u
/* Writes the events of `count` (1 to 1,024) trace files to `output`, an .etl in the order of time, as
 * Windows' merging tools do: logger name "Relogger", the first file's header, losses added up. Time
 * stamps keep their bytes; those of a file with another clock are converted to the first one's.
 * `output` must be none of the inputs. ERROR_FILE_NOT_FOUND, ERROR_FILE_CORRUPT (no trace),
 * ERROR_CANCELLED (by `progress`, which may be NULL), ERROR_DISK_FULL, …;
 * openetw_last_error_text() names file and reason. */
OPENETW_API uint32_t openetw_merge(const char *const *paths, uint32_t count, const char *output, uint32_t flags,
				   openetw_merge_progress_fn progress, void *context);

#ifdef __cplusplus
}
#endif
#endif
