/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "tools/common/cli.h"
#include "tools/common/path.h"

#include <stdio.h>
#include <stdlib.h>

int cli_file_read(const char *path, size_t max, struct strbuf *inout)
{
	FILE *f = cli_path_fopen(path);
	if (!f) {
		return -errno;
	}
	int err = file_read_fd(fileno(f), max, inout);
	fclose(f);
	return err;
}

int cli_source_read(const char *path, size_t max, struct strbuf *inout)
{
	struct strbuf raw = {0};
	int err = cli_file_read(path, max, &raw);
	if (err < 0) {
		strbuf_finish(&raw);
		return err;
	}
	if (raw.len >= 2 && memcmp(raw.s, "\xFF\xFE", 2) == 0) {
		size_t units = (raw.len - 2) / 2;
		long need = utf16_to_utf8_lossy(raw.s + 2, units, NULL, 0);
		if (need >= 0 && strbuf_room(inout, (size_t)need)) {
			utf16_to_utf8_lossy(raw.s + 2, units, inout->s + inout->len, (size_t)need + 1);
			inout->len += strlen(inout->s + inout->len); /* a NUL ends a source */
		}
	} else {
		strbuf_add(inout, raw.s, raw.len);
	}
	strbuf_finish(&raw);
	return inout->failed ? -ENOMEM : 0;
}
