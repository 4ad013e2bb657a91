/* SPDX-License-Identifier: MIT */
#include "tools/common/cli.h"
#include "tools/common/path.h"

#include <errno.h>
#include <stdio.h>

int cli_file_read(const char *path, size_t max, struct strbuf *inout)
{
	FILE *f = cli_path_fopen(path);
	char buf[65536];
	size_t n, before = inout->len;
	if (!f) {
		return -errno;
	}
	errno = 0;
	while (inout->len - before <= max && (n = fread(buf, 1, sizeof buf, f)) > 0) {
		strbuf_add(inout, buf, n);
	}
	int err = ferror(f)			? -(errno ? errno : EIO)
		  : inout->failed		? -ENOMEM
		  : inout->len - before > max ? -EFBIG
						: 0;
	fclose(f);
	return err;
}
