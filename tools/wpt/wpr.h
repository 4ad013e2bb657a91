/* SPDX-License-Identifier: MIT
 *
 * What wpr records. A recording is one united profile and the sessions of its collectors; between
 * "wpr -start" and "wpr -stop" it lives in <runtime directory>/wpr/<instance>: the profile as a file
 * of its own, and a few lines about it. That folder is removed when the recording ends.
 */
#ifndef TOOLS_WPT_WPR_H
#define TOOLS_WPT_WPR_H

#include "tools/common/session_start.h"
#include "profile/profile.h"

#include <limits.h>

/* Codes that scripts compare. */
#define WPR_NOT_RUNNING     0xC5583000u
#define WPR_ALREADY_RUNNING 0xC5583001u
#define WPR_NO_PROVIDER     0xC5580612u
#define WPR_BAD_OPTION      0xC5600602u
#define WPR_HRESULT(win32)  (0x80070000u | ((win32)&0xFFFFu))
#define WPR_NOT_FOUND       WPR_HRESULT(1168) /* no such profile */
#define WPR_BAD_PROFILE     WPR_HRESULT(13)
#define WPR_NOT_SUPPORTED   WPR_HRESULT(50)

#define WPR_PROFILES_MAX 64 /* on one command line */

#define WPR_SAVE_TIMEOUT_S  300u /* unless the profile has a Timeout */
#define WPR_START_TIMEOUT_S 60u
#define WPR_ENABLE_WAIT_MS  5000u

/* What its command line says. */
struct wpr_options {
	struct cli_verb verb;
	const char *record_to, *instance, *scenario, *scenario_part, *paging, *refused;
	bool file_mode, compress, details, explain, boottrace, purge_cache;
};
struct wpr {
	struct cli_args *args;
	const struct wpr_options *o;
	const char *instance; /* "" : the one without a name */
	char state[2048];     /* folder */
	char work[2048];      /* folder of the files so far; "" in memory mode until saved */
	char names[2048];     /* profiles, as they were asked for */
	uint64_t started;     /* FILETIME */
	int lock;             /* descriptor; -1: not held */
	bool settle;          /* etwd is only just starting */
	bool marks;           /* a session takes them */
	char boot[72];        /* of a recording from boot: its instance; else "" */
	struct profile *profile;
};

/* "\ttext", a blank line, "\tError code: 0x…" on stderr. CLI_FAILED. */
int wpr_fail(uint32_t code, const char *fmt, ...) BASE_PRINTF(2, 3);
/* The reason of a call that failed, with the session in front. */
int wpr_fail_call(uint32_t win32, const char *fmt, ...) BASE_PRINTF(2, 3);
void wpr_warn(void *ctx, const char *text);

/* ---- wpr_profile.c: from words to profiles --------------------------------------------------- */

/* Reads "file.wprp" or, for NULL, what is built in. Prints mistakes. NULL: did so. */
struct profile_doc *wpr_document(const char *path, int *ret_status);
/* "[file!]Name[.Detail]", several; unites them into w->profile. Prints mistakes. CLI_OK or a status. */
int wpr_choose(struct wpr *w, const char *const *words, int count, bool file_mode);
/* The names of a profile: those of cli_provider_guid, and special ones. */
bool wpr_provider_guid(const char *name, GUID *ret);
/* How many providers will be recorded; what will not is said on stderr when `tell`. */
int wpr_check_sources(const struct wpr *w, bool tell, unsigned *ret_providers);
void wpr_print_details(const struct profile *p, const char *instance, bool running);

/* ---- wpr_state.c: what is kept between -start and -stop --------------------------------------- */

bool wpr_state_open(struct wpr *w, bool lock); /* prints mistakes */
int wpr_state_save(struct wpr *w);
/* False: there is none. A damaged one is said and false too. */
bool wpr_state_load(struct wpr *w);
void wpr_state_remove(struct wpr *w);
void wpr_close(struct wpr *w);

/* ---- wpr_boot.c ------------------------------------------------------------------------------- */

/* From here on *w is a recording from boot. */
void wpr_boot_begin(struct wpr *w);
/* Where such recordings are known. False: printed why. */
bool wpr_boot_folder(char *out, size_t cap);
int wpr_boot_add(struct wpr *w);
/* Is it the machine's boot that is meant? From here on that instance is. */
bool wpr_boot_system(void);
void wpr_boot_tell(const char *again);     /* what it takes besides, on stderr */
void wpr_boot_remove(const struct wpr *w); /* the autologgers */

/* ---- wpr_result.c ------------------------------------------------------------------------------ */

/* ---- wpr_look.c: verbs that record nothing; an exit status -------------------------------------- */

int wpr_run_status(struct wpr *w);
int wpr_run_profiles(struct wpr *w);
int wpr_run_details(struct wpr *w);
int wpr_run_export(struct wpr *w);
int wpr_run_merge(struct wpr *w);
int wpr_run_interval(struct wpr *w, const char *verb); /* setprofint, profint, resetprofint */

/* The event BuildInfo into the first session, when the profile's merge properties ask for it. */
void wpr_identity_write(struct wpr *w);

/* Can the result be written there? Better known before the sessions are stopped. */
int wpr_result_try(const char *to);
int wpr_result_write(struct wpr *w, char **files, unsigned count, const char *to);

/* ---- wpr_sessions.c --------------------------------------------------------------------------- */

void wpr_session_name(const char *instance, const struct profile_collector *c, char *out, size_t cap);
/* Is a session made for it? */
bool wpr_recorded(const struct profile_collector *c);
void wpr_sessions_describe(const struct wpr *w, const struct profile_collector *c, unsigned index,
			   struct etw_session *ret);
/* Its GUID is zero when that is not known; without `filters` there are none. False: *d says what is wrong with them. */
bool wpr_describe_provider(const struct profile_provider *p, bool filters, struct session_provider *v, struct diag *d);
/* Does any of them run? */
bool wpr_sessions_run(const struct wpr *w);
int wpr_sessions_start(struct wpr *w);
enum wpr_moment {
	WPR_ON_START,
	WPR_ON_SAVE,
	WPR_ON_DEMAND,
};
/* Asks every provider that the profile wants asked, and waits for its answer. */
int wpr_sessions_capture(struct wpr *w, enum wpr_moment when);
struct wpr_totals {
	uint64_t events_lost, buffers_lost, events;
	unsigned sessions, missing;
};
/* Writes and stops all; the files are in w->work, `ret_files` (malloc, each too) names them. */
int wpr_sessions_save(struct wpr *w, char ***ret_files, unsigned *ret_count, struct wpr_totals *t);
void wpr_sessions_cancel(struct wpr *w);
int wpr_sessions_flush(struct wpr *w);
void wpr_sessions_totals(const struct wpr *w, struct wpr_totals *t);
/* The equivalent openetw lines, for --explain. */
void wpr_sessions_explain(const struct wpr *w);

/* ---- wpr_kernel.c: names of profiles for what the kernel records ------------------------------ */

/* Can it be had on Linux? *ret_why: why not, when that is known. */
bool wpr_kernel_keyword(const char *keyword, uint32_t *ret_bits, const char **ret_why);
/* What a system collector's providers want and can have. */
void wpr_kernel_wish(const struct profile_collector *c, struct session_kernel *ret);
/* What of its hardware counters there is, into the wish. CLI_OK, or printed why. */
int wpr_kernel_counters(const struct cli_args *a, const struct profile *profile, const struct profile_collector *c,
			struct session_kernel *inout, struct cli_counters *to);
bool wpr_kernel_wanted(const struct profile_collector *c);
bool wpr_kernel_strict(const struct profile *profile, const struct profile_collector *c);

/* What a filter asks for, as the descriptors of EnableTraceEx2. */
enum wpr_enabling {
	WPR_ENABLE,
	WPR_CAPTURE,
	WPR_DISABLE,
};
uint32_t wpr_enable(TRACEHANDLE session, const struct profile_provider *p, enum wpr_enabling what, uint64_t keywords,
		    uint32_t timeout_ms);

/* ---- files while recording (wpr_parts.c) ----------------------------------------------------- */

/* FileMax: that many files of MaximumFileSize, the last ones; 0: one file. */
uint32_t wpr_files_kept(const struct wpr *w, const struct profile_collector *c);
/* What the collector's file is called: as the profile says (FileName), where that is a name of its own. With
 * %d when there are several. */
void wpr_part_path(const struct wpr *w, const struct profile_collector *c, unsigned index, char *out, size_t cap);
/* Those that are there, in order; -ENOMEM when `each` is false. */
int wpr_each_part(const struct wpr *w, const struct profile_collector *c, unsigned index,
		  bool (*each)(void *ctx, const char *path), void *ctx);
struct wpr_parts {
	char **file; /* heap, each and all */
	unsigned count, cap;
};
bool wpr_collect_part(void *ctx, const char *path); /* ctx: struct wpr_parts */
bool wpr_remove_part(void *ctx, const char *path);

#endif
