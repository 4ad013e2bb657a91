/* SPDX-License-Identifier: MIT
 * The file "wpr -stop" writes: one part moved into place, several merged.
 */
#include "tools/common/output.h"
#include "tools/wpt/wpr.h"

#include <stdio.h>
#include <stdlib.h>

int wpr_result_write(struct wpr *w, char **files, unsigned count, const char *to)
{
	bool compress = w->o->compress || w->profile->compress;
	if (count == 0) {
		return wpr_fail(WPR_NOT_RUNNING, "Nothing of the recording is left to save.");
	}
	cli_output_private();
	if (count == 1 && !compress) {
		if (!cli_output_move(w->args, files[0], to)) {
			return wpr_fail(WPR_HRESULT(29), "Cannot write %s. The recording is in %s.", to, files[0]);
		}
		return CLI_OK;
	}
	int status = cli_merge_files(w->args, (const char *const *)files, count, to, compress);
	if (cli_interrupted()) {
		return status;
	}
	if (status) {
		return wpr_fail(WPR_HRESULT(29), "Cannot write %s. The parts are in %s.", to, w->work);
	}
	for (unsigned i = 0; i < count && !w->profile->keep_parts; i++) {
		open_output_remove(files[i]);
	}
	return CLI_OK;
}

int wpr_result_try(const char *to)
{
	struct diag d;
	diag_clear(&d);
	int err = cli_output_try(to, &d);
	if (err < 0) {
		return wpr_fail(WPR_HRESULT(err == -ENOENT ? ERROR_PATH_NOT_FOUND : win32_from_errno(err)),
				"Cannot write %s. The recording goes on.", d.text);
	}
	return CLI_OK;
}
