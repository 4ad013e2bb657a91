/* SPDX-License-Identifier: MIT */
#include "tools/openetw/indexing.h"

#include <openetw/error.h>
#include <openetw/query.h>

struct making {
	struct cli_progress progress;
	int ended; /* the signal that ended the recording: not meant for us */
};

static bool on_progress(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	struct making *m = context;
	cli_progress_show(&m->progress, "making the index: %3.0f%%  %llu events",
			  total ? 100.0 * (double)done / (double)total : 100.0, (unsigned long long)rows);
	return cli_signal_caught() == m->ended;
}

int indexing_make(const struct cli_args *a, const char *path, bool quiet)
{
	struct making m = {.ended = cli_signal_caught()};
	char size[32];
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_options, how);
	OPENETW_SIZED(struct openetw_index_about, about);
	how.flags = OPENETW_INDEX_WRITE;
	how.progress = on_progress;
	how.context = &m;
	cli_progress_start(&m.progress, !quiet);
	uint32_t code = openetw_index_open(&path, 1, &how, &x);
	cli_progress_end(&m.progress);
	if (code) {
		const char *why = openetw_last_error_text();
		return why[0] ? cli_tell(a, "no index: %s", why)
			      : cli_fail(a, code, "cannot make an index of %s", path);
	}
	openetw_index_about(x, &about);
	openetw_index_close(x);
	if (!about.on_disk) {
		return cli_tell(a, "no index: neither the folder of %s nor the cache directory can be written to",
				path);
	}
	if (!quiet) {
		cli_size_text(about.bytes, size, sizeof size);
		fprintf(stderr, "index: %llu event%s, %s\n", (unsigned long long)about.rows, PLURAL(about.rows), size);
	}
	return CLI_OK;
}
