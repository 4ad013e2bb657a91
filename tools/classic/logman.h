/* SPDX-License-Identifier: MIT
 *
 * Inside logman: cmd_logman.c has the verbs, logman_options.c makes a session of the options,
 * logman_query.c prints in Microsoft's layout, logman_xml.c reads and writes collector sets.
 */
#ifndef TOOLS_CLASSIC_LOGMAN_H
#define TOOLS_CLASSIC_LOGMAN_H

#include "tools/common/session_control.h"
#include "tools/common/winargs.h"

enum { /* codes of the data collector service, which scripts compare */
       PLA_E_DCS_NOT_FOUND = 0x80300002,
       PLA_E_DCS_IN_USE = 0x803000AA,
       PLA_E_DCS_ALREADY_EXISTS = 0x803000B7,
       PLA_E_DCS_NOT_RUNNING = 0x80300104,
};

/* "Error:", the sentence of the code and, when not NULL, why and what to do. Returns CLI_FAILED. */
int logman_error(uint32_t code, const char *why, const char *hint);
int logman_done(void); /* "The command completed successfully." */

/* What the options say on top of *s: providers, file, mode, buffers. Prints the mistake. `live`: no
 * defaults for a saved collector. */
bool logman_options(const struct winargs *w, bool live, struct etw_session *s);
/* An option that is known and not done here; says why. */
bool logman_refuse(const struct winargs *w);
/* -p and -pf into s, also those switched off with --p. */
bool logman_providers(const struct winargs *w, struct etw_session *s);
/* The option table. */
extern const struct cli_option logman_option_table[];
winargs_accept_fn logman_accept;

int logman_query_all(bool live);
int logman_query_live(const char *name);
int logman_query_saved(struct etw_session *s);
int logman_query_providers(const struct winargs *w, const char *which);
bool logman_is_live(const char *name, struct cli_props *ret);

int logman_import(const struct winargs *w, const char *name);
int logman_export(const struct winargs *w, const struct etw_session *s);

#endif
