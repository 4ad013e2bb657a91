/* SPDX-License-Identifier: MIT
 *
 * archive: the trace inside a .zip, .gz, .cab, .7z, .tar, .xz, .bz2 or .zst file. Front door.
 *
 * libetw reads plain .etl files only. The command unpacks an archive into a file without a name and
 * hands that file to libetw (unpacked.h does this for all verbs). The member whose name ends in
 * ".etl" is unpacked, the first one if there are several, or the only member whatever its name.
 *
 * An archive is hostile input. libarchive and zlib read it in a child process that has given up its
 * rights (confine.h): if the child crashes, runs away or takes too much memory, the caller gets an
 * error message. No name in an archive is ever used as a path. The output is bounded.
 *
 * A build without libarchive has the same functions: they recognise archives and say what to install.
 */
#ifndef TOOLS_COMMON_ARCHIVE_H
#define TOOLS_COMMON_ARCHIVE_H

#include "base/base.h"

#define CLI_ARCHIVE_PEEK_BYTES 512u /* at the start of a file: enough for cli_archive_kind() */

/* "zip archive", "gzip file" …; NULL: these bytes begin no archive. */
const char *cli_archive_kind(const uint8_t *p, size_t n);

struct cli_archive_result {
	uint64_t bytes;   /* unpacked */
	uint32_t traces;  /* members whose name ends in ".etl" */
	char member[256]; /* the name of the unpacked one, printable; "": the archive keeps no names */
	char damage[200]; /* why the rest could not be unpacked, printable; "": nothing is missing */
};
/* Called about ten times a second with the part of the archive that was read. False: stop. */
typedef bool cli_archive_progress_fn(void *ctx, unsigned percent, uint64_t unpacked_bytes);

/* Unpacks the trace in the archive `in` into `out`, which is empty; at most `most_bytes`. `progress` may
 * be NULL. 0: there is something in `out`; if the archive is damaged, ret->damage says so. Otherwise
 * -errno and a sentence in `d`: -ENOENT: no trace in it; -ENOTSUP: encrypted, or a build without
 * libarchive; -EFBIG: more than most_bytes; -ECANCELED: `progress` said stop; -EBADMSG: damaged. */
int cli_archive_unpack(int in, int out, uint64_t most_bytes, cli_archive_progress_fn *progress, void *ctx,
		       struct cli_archive_result *ret, struct diag *d);

#endif
