/* SPDX-License-Identifier: MIT
 *
 * What starts sessions beside controllers: configuration files and saved collectors; and programs that etwd runs.
 */
#ifndef ETWD_ETWD_SCHEDULE_H
#define ETWD_ETWD_SCHEDULE_H

#include "base/base.h"

struct conn;
struct etwd;
struct proto_message;
struct session;

/* ---- autologgers ---------------------------------------------------------------------------- */

/* Start the sessions of the configuration files. Their mistakes are only logged. */
void etwd_autolog_start(struct etwd *d);

/* ---- other programs ------------------------------------------------------------------------- */

/* May this one be executed; one of that name at these places (NULL ends), relative to
 * etwd's own folder unless they begin with /; the command `openetw`. */
bool etwd_program_usable(const char *path);
bool etwd_program_find(const char *name, const char *const *places, char *out, size_t cap);
bool etwd_program_find_cli(char *out, size_t cap);
/* For jobs: runs it, in a session of its own, without terminal, with `file` (-1: none) as descriptor 3; its exit
 * status, or a negative errno. */
int etwd_program_run(const char *program, char *const *argv, char *const *env, int file);

/* ---- saved collectors that begin at a time -------------------------------------------------- */

void etwd_schedule_start(struct etwd *d);
void etwd_schedule_reload(struct etwd *d, struct conn *c, const struct proto_message *m);
bool etwd_schedule_pending(const struct etwd *d);                  /* then etwd stays */
void etwd_schedule_ended(struct etwd *d, const struct session *s); /* its command */
void etwd_schedule_finish(struct etwd *d);
/* FILETIME of the next time after `now`, or 0. Daily: at that time of day in the local zone. */
uint64_t etwd_schedule_next(uint64_t begin, bool daily, uint64_t now);

#endif
