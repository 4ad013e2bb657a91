/* SPDX-License-Identifier: MIT
 *
 * What OpenETW adds to the Windows API. Clean as C99 and C++11. The other headers of this folder stand alone:
 * reader.h, recorder.h, decode.h, state.h; openetw.hpp for C++.
 *
 * There are two libraries. libetw (-letw, pkg-config etw) has what programs that are traced need, and with it all of
 * Windows' functions: openetw.h, error.h, session.h, trace.h, decode.h. libopenetw (-lopenetw -letw, pkg-config openetw)
 * is for programs that look at traces: reader.h, recorder.h, state.h, merge.h.
 *
 *   printf("OpenETW %s\n", openetw_version());
 */
#ifndef OPENETW_OPENETW_H
#define OPENETW_OPENETW_H

#include <openetw/defs.h>
#include <openetw/error.h>
#include <openetw/merge.h>
#include <openetw/session.h>
#include <openetw/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch". Never NULL. */
OPENETW_API const char *openetw_version(void);

/* The directory of this user's etwd, made when it is not there: private to them, empty after a restart of
 * the machine. Programs may keep files about running sessions in folders of their own there. Win32
 * code: ERROR_ACCESS_DENIED when it is not safely theirs, ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_runtime_directory(char *path, uint32_t bytes);

/* Where the etwd that this program's calls reach runs, or would run (UTF-8): the user's, or with
 * OPENETW_INSTANCE=system the one of all users. Nothing is made. `note` says why it is not the usual place, ""
 * when it is; NULL: never mind. ERROR_SUCCESS; ERROR_ACCESS_DENIED: no place is safely this user's;
 * ERROR_INVALID_PARAMETER. */
OPENETW_API uint32_t openetw_etwd_place(char *path, uint32_t path_bytes, char *note, uint32_t note_bytes);

/* The files of saved collectors (docs/autologger.md) have changed: etwd reads them again, and keeps their
 * time tables from now on. `start`: start etwd when none runs. Win32 code;
 * ERROR_WMI_INSTANCE_NOT_FOUND: none runs. */
OPENETW_API uint32_t openetw_collectors_changed(bool start);

/* Counters of the daemon itself as one JSON object: sessions, processes, registrations, connections, memory,
 * events, and what became of the pools that an etwd before it left behind (adopted_*). Terminated; cut at
 * `size` bytes. ERROR_WMI_INSTANCE_NOT_FOUND: no etwd runs. */
OPENETW_API uint32_t openetw_daemon_counters(char *json, uint32_t size);

#ifdef __cplusplus
}
#endif
#endif
