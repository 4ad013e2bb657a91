/* SPDX-License-Identifier: MIT
 *
 * Inside logman: cmd_logman.c has the verbs, logman_options.c makes a session of the options,
 * logman_query.c prints in Microsoft's layout, logman_xml.c reads and writes collector sets.
 */
#ifndef TOOLS_CLASSIC_LOGMAN_H
#define TOOLS_CLASSIC_LOGMAN_H

#include "tools/common/session_options.h"
#include "tools/common/session_control.h"

enum { /* codes of the data collector service, which scripts compare */
       PLA_E_DCS_NOT_FOUND = 0x80300002,
       PLA_E_DCS_IN_USE = 0x803000AA,
       PLA_E_DCS_ALREADY_EXISTS = 0x803000B7,
       PLA_E_DCS_NOT_RUNNING = 0x80300104,
};

/* "Error:", the sentence of the code and, when not NULL, why and what to do. Returns CLI_FAILED. */
int logman_error(uint32_t code, const char *why, const char *hint);
int logman_done(void); /* "The command completed successfully." */

/* A time such as 1:30 behind an option. */
struct logman_span {
	enum cli_switch said;
	bool timed; /* a value was there */
	uint32_t s;
};
/* -b and -e */
struct logman_date {
	enum cli_switch said;
	uint64_t filetime;
	char text[128];
};
/* -p, --p and -pf, in their order */
struct logman_providers {
	int count, cap;
	struct logman_wish {
		bool off, file;
		const char *text, *keywords, *level;
	} * at;
};
struct logman_options {
	enum cli_switch ets, real_time, append, overwrite, flush, private, daily;
	struct logman_providers providers;
	struct logman_span flush_timer, rotate, run_for;
	struct logman_date begin, end;
	uint64_t buffer_kb, max_mb, pid;
	struct logman_buffers {
		uint64_t min, max;
	} buffers; /* 0: not given */
	uint32_t mode, clock, manual;
	int suffix; /* enum session_suffix; LOGMAN_UNSAID */
	const char *name, *file, *format, *session, *command, *xml;
	bool no_file, no_limit, no_command, json, explain;
};
enum {
	LOGMAN_UNSAID = -1,
	LOGMAN_BY_HAND_START = 1, /* of `manual` */
	LOGMAN_BY_HAND_STOP = 2,
};
extern const struct cli_option logman_option_table[];
extern const struct logman_options logman_defaults;

/* What the options say on top of *s: providers, file, mode, buffers. Prints the mistake. `live`: no
 * defaults for a saved collector. */
bool logman_describe(const struct cli_args *a, bool live, struct etw_session *s);

int logman_query_all(bool live);
int logman_query_live(const char *name);
int logman_query_saved(struct etw_session *s);
int logman_query_providers(const struct cli_args *a, const char *which);
bool logman_is_live(const char *name, struct cli_props *ret);

int logman_import(const struct cli_args *a, const char *name);
int logman_export(const struct cli_args *a, const struct etw_session *s);

#endif
