/* SPDX-License-Identifier: MIT
 *
 * Records that a file has for itself and that are no events anybody asked for: its headers, descriptions of events, and
 * what etwd adds so that stacks of programs have names (Process and Image, marked in a field that Windows leaves unused,
 * and the ImageIDs beside an Image, which have no mark). Whoever counts or shows events leaves them out.
 */
#ifndef FORMAT_FILE_RECORD_H
#define FORMAT_FILE_RECORD_H

#include "base/base.h"

/* The mark: in Image the word behind DefaultBase, in Process the upper half of UniqueProcessKey. */
#define FILE_RECORD_EXPLAINS 0x5754454Fu /* "OETW" */

struct file_record_image { /* the last marked Image; all 0 at first */
	int64_t time;
	uint64_t base;
};
/* Of all classic records, in their order. `provider` is the GUID of the class. */
bool file_record_is(struct file_record_image *last, const void *provider, int64_t time, const void *payload,
		    size_t bytes);

#endif
