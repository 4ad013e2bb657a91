/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/source_text.h"
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
	struct source_text text;
	err = source_text_of(raw.s, raw.len, SOURCE_TEXT_LOSSY, &text);
	if (err == 0) {
		strbuf_add(inout, text.s, text.owned ? strlen(text.s) : text.n); /* a NUL ends a wide source */
		source_text_finish(&text);
	}
	strbuf_finish(&raw);
	return err == 0 && inout->failed ? -ENOMEM : err;
}
