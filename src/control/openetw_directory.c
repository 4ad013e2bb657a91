/* SPDX-License-Identifier: MIT
 * Where etwd lives, for programs that keep something of their own beside it; what it reads from files.
 */
#include "control/control.h"

#include "base/runtime_dir.h"

#include <openetw/openetw.h>

#include <stdlib.h>

uint32_t openetw_runtime_directory(char *path, uint32_t bytes)
{
	if (path == NULL || bytes == 0) {
		return ERROR_INVALID_PARAMETER;
	}
	return win32_from_errno(runtime_dir(false, true, path, bytes));
}

uint32_t openetw_etwd_place(char *path, uint32_t path_bytes, char *note, uint32_t note_bytes)
{
	struct runtime_environment s;
	char none[1];
	if (path == NULL || path_bytes == 0 || (note != NULL && note_bytes == 0)) {
		return ERROR_INVALID_PARAMETER;
	}
	note = note ? note : none;
	note[0] = 0;
	int r;
	if (proto_system_wanted()) {
		r = runtime_dir(true, false, path, path_bytes);
	} else {
		runtime_environment_get(&s);
		r = runtime_dir_user(&s, false, path, path_bytes, note == none ? NULL : note, note_bytes);
	}
	return r == -ENOENT ? (uint32_t)ERROR_SUCCESS : win32_from_errno(r);
}

uint32_t openetw_collectors_changed(bool start)
{
	uint8_t req[64];
	struct proto_writer w;
	struct control_reply *reply = malloc(sizeof *reply);
	if (reply == NULL) {
		return ERROR_NOT_ENOUGH_MEMORY;
	}
	proto_begin(&w, req, sizeof req, PROTO_RELOAD, 1);
	uint32_t code = control_call(req, proto_end(&w), start, 10000, reply);
	free(reply);
	return code;
}
