/* SPDX-License-Identifier: MIT
 *
 * Which modes of a session exclude each other, which ones need something else, and who can run what: said once,
 * with Windows' code and a sentence. The library asks before it sends a start, and whoever is to run the session
 * asks again, as a start may come from anybody.
 */
#ifndef SESSION_SESSION_MODES_H
#define SESSION_SESSION_MODES_H

#include "session/session.h"

/* Who is going to run it. */
enum session_runner {
	SESSION_RUNNER_ANY,        /* not known yet: only what nobody runs is refused */
	SESSION_RUNNER_ETWD,       /* etwd, for a program */
	SESSION_RUNNER_AUTOLOGGER, /* etwd, for a file of its own */
	SESSION_RUNNER_PROCESSES,  /* private: the processes that registered its provider, told by etwd */
	SESSION_RUNNER_HERE,       /* private: this process */
	SESSION_RUNNER_BUFFERS,    /* src/sink, below all of them: what it has may have no file and no name */
};

enum session_file_kind {
	SESSION_FILE_NONE,
	SESSION_FILE_PLAIN,
	SESSION_FILE_COUNTED, /* its name holds %d */
};
/* Of a name of that many units, which need not end with a zero; NULL: none. */
enum session_file_kind session_file_kind(const uint16_t *name, size_t units);

/* 0, or the Win32 code for what is wrong with these properties and *ret_why, a sentence of static storage. */
uint32_t session_modes_check(const struct session_properties *p, enum session_file_kind file,
			     enum session_runner runner, const char **ret_why);
/* The same of a session that is described as a whole, by what it comes to when it starts: an autologger gets a file and an
 * order of its buffers, a private session its provider's GUID. */
uint32_t session_check(const struct etw_session *s, enum session_runner runner, const char **ret_why);
/* An autologger's mode when etwd starts it; does it need a file that it does not name? */
uint32_t session_autologger_mode(const struct etw_session *s);
bool session_autologger_wants_file(const struct etw_session *s);

#endif
