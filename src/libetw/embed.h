/* SPDX-License-Identifier: MIT
 *
 * What the events of a file mean, written into the file: EventMetadata records, as merges write
 * them.
 */
#ifndef LIBETW_EMBED_H
#define LIBETW_EMBED_H

#include <stdbool.h>

/* Of the events with ids that the file holds, those whose description comes from an installed
 * manifest or out of a program, and that the file does not describe yet. Nothing happens to files
 * that are damaged, of 32-bit writers or of before Vista: then decoders need the manifest, as before. A
 * file whose session died has no end before and after. Returns the number of events described, or
 * -errno; -EBUSY: a session writes the file. `loaded`: of what this process loaded, too. */
int embed_schemas(const char *path, bool loaded);

#endif
