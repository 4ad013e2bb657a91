/* SPDX-License-Identifier: MIT
 * logman's options and the session they describe.
 */
#include "tools/classic/logman.h"
#include "tools/common/mode_names.h"
#include "tools/common/path.h"

#include "base/parse.h"
#include "base/vec.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

/* ---- reading values ------------------------------------------------------------------------------ */

static bool is_time(const char *s)
{
	return strspn(s, "0123456789:") == strlen(s) && *s;
}

/* Which words are values that may be missing. One after -p and its provider is keywords or a level when it looks like
 * it, or when nothing else is missing on the line. */
static bool wants_provider(int index, const char *word, int words)
{
	return (*word >= '0' && *word <= '9') || *word == '(' || strncasecmp(word, "win:", 4) == 0 || words >= 2;
}

static bool wants_date(int index, const char *word, int words)
{
	return (*word >= '0' && *word <= '9') || strcasecmp(word, "am") == 0 || strcasecmp(word, "pm") == 0;
}

static bool wants_time(int index, const char *word, int words)
{
	return is_time(word);
}

static bool wants_start_stop(int index, const char *word, int words)
{
	return strcasecmp(word, "start") == 0 || strcasecmp(word, "stop") == 0;
}

static bool add_wish(const struct cli_args *a, struct logman_providers *p, struct logman_wish wish)
{
	if (!VEC_ROOM(p->at, p->count, p->cap)) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot read the options");
		return false;
	}
	p->at[p->count++] = wish;
	return true;
}

static bool take_provider(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	return add_wish(a, member,
			(struct logman_wish){.off = *o->name == '-',
					     .text = value[0],
					     .keywords = count > 1 ? value[1] : NULL,
					     .level = count > 2 ? value[2] : NULL});
}

static bool take_provider_file(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	return add_wish(a, member, (struct logman_wish){.file = true, .text = value});
}

static bool take_span(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct logman_span *t = member;
	const char *s = count ? value[0] : "0";
	uint64_t total = 0;
	t->said = CLI_ON;
	t->timed = count > 0;
	for (int parts = 0; is_time(s) && parts < 3; parts++) {
		uint64_t part;
		if (!parse_number_at(&s, UINT32_MAX, &part)) {
			break;
		}
		total = total * 60 + part;
		if (*s == 0) {
			t->s = (uint32_t)BASE_MIN(total, (uint64_t)UINT32_MAX);
			return true;
		}
		s++;
	}
	cli_usage(a, "-%s takes a time such as 90, 1:30 or 1:00:00, not '%s'", o->name, value[0]);
	return false;
}

static bool take_buffers(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct logman_buffers *b = member;
	return cli_take_number(a, o, value[0], &b->min) && (count == 1 || cli_take_number(a, o, value[1], &b->max));
}

static bool take_manual(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	uint32_t *which = member;
	for (int i = 0; i < count; i++) {
		*which |= strcasecmp(value[i], "stop") == 0 ? LOGMAN_BY_HAND_STOP : LOGMAN_BY_HAND_START;
	}
	*which |= count ? 0 : LOGMAN_BY_HAND_START | LOGMAN_BY_HAND_STOP;
	return true;
}

/* "1/31/2026 5:30:00 PM", "17:30", "2026-01-31 17:30:00"; of this machine's zone. 0, or -EINVAL. */
static int date_parse(const char *text, uint64_t *ret)
{
	int month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0, used = 0;
	time_t now = time(NULL);
	struct tm tm;
	localtime_r(&now, &tm);
	if (sscanf(text, "%d/%d/%d%n", &month, &day, &year, &used) == 3 ||
	    sscanf(text, "%d-%d-%d%n", &year, &month, &day, &used) == 3) {
		text += used;
		text += *text == 'T' || *text == ' ';
	} else {
		year = tm.tm_year + 1900;
		month = tm.tm_mon + 1;
		day = tm.tm_mday;
	}
	if (*text) {
		used = 0;
		if (sscanf(text, "%d:%d%n", &hour, &minute, &used) < 2) {
			return -EINVAL;
		}
		text += used;
		if (sscanf(text, ":%d%n", &second, &used) == 1) {
			text += used;
		}
		text += strspn(text, " ");
		if (strcasecmp(text, "pm") == 0 && hour >= 1 && hour <= 12) {
			hour = hour % 12 + 12;
		} else if (strcasecmp(text, "am") == 0 && hour >= 1 && hour <= 12) {
			hour %= 12;
		} else if (*text) {
			return -EINVAL;
		}
	}
	if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970 || year > 9999 || hour < 0 || hour > 23 ||
	    minute < 0 || minute > 59 || second < 0 || second > 59) {
		return -EINVAL;
	}
	struct tm want = {.tm_year = year - 1900,
			  .tm_mon = month - 1,
			  .tm_mday = day,
			  .tm_hour = hour,
			  .tm_min = minute,
			  .tm_sec = second,
			  .tm_isdst = -1};
	time_t t = mktime(&want);
	if (t == (time_t)-1 || want.tm_mday != day) {
		return -EINVAL;
	}
	*ret = ((uint64_t)t + 11644473600ull) * 10000000;
	return 0;
}

/* Words joined. */
static bool take_date(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct logman_date *d = member;
	d->said = CLI_ON;
	d->text[0] = 0;
	for (int i = 0; i < count; i++) {
		size_t n = strlen(d->text);
		snprintf(d->text + n, sizeof d->text - n, "%s%s", i ? " " : "", value[i]);
	}
	if (date_parse(d->text, &d->filetime) < 0) {
		cli_usage(a, "-%s takes a time such as 1/31/2026 5:30:00PM or 17:30, not '%s'", o->name, d->text);
		return false;
	}
	return true;
}

static const char *mode_at(const void *ctx, int i)
{
	(void)ctx;
	return mode_names_at(MODE_NAMES_LOGMAN, i);
}

static bool take_mode(const struct cli_args *a, const struct cli_option *o, const char *text, void *member)
{
	uint32_t *bits = member;
	uint64_t v;
	while (*text) {
		char word[64];
		size_t n = strcspn(text, "+,|");
		snprintf(word, sizeof word, "%.*s", (int)n, text);
		uint32_t bit = mode_names_bit(MODE_NAMES_LOGMAN, word);
		if (bit) {
			*bits |= bit;
		} else if (parse_number(word, 0, UINT32_MAX, &v)) {
			*bits |= (uint32_t)v;
		} else {
			const char *near = cli_nearest(word, mode_at, NULL);
			cli_usage(a, near ? "-mode: no mode '%s'; did you mean %s?" : "-mode: no mode '%s'", word,
				  near);
			return false;
		}
		text += n + (text[n] != 0);
	}
	return true;
}

#define SPAN(member, name, arg, wants, help) \
	CLI_OWN_ALL(logman_options, member, struct logman_span, take_span, wants, name, arg, help)
#define DATE(member, name, help)                                                                                    \
	CLI_OWN_ALL(logman_options, member, struct logman_date, take_date, wants_date, name, "DATE [TIME [AM|PM]]", \
		    help)
/* --name of what has a value */
#define BACK(member, name) CLI_SET(logman_options, member, CLI_OFF, 0, "-" name, NULL)
#define NOT(member, name)  CLI_FLAG(logman_options, member, 0, "-" name, NULL)

const struct logman_options logman_defaults = {.suffix = LOGMAN_UNSAID};
const struct cli_option logman_option_table[] = {
	CLI_SWITCH(logman_options, ets, "ets", "act on live sessions; nothing is saved"),
	CLI_WORD(logman_options, name, 0, "n", "NAME", "the collector's name (it may follow the verb without -n)"),
	CLI_OWN_ALL(logman_options, providers, struct logman_providers, take_provider, wants_provider, "p",
		    "PROVIDER [KEYWORDS [LEVEL]]", "enable a provider (repeatable); update --p disables it"),
	CLI_OWN_ALL(logman_options, providers, struct logman_providers, take_provider, wants_provider, "-p",
		    "PROVIDER [KEYWORDS [LEVEL]]", NULL),
	CLI_OWN(logman_options, providers, struct logman_providers, take_provider_file, 0, "pf", "FILE",
		"providers from a file, one a line: {guid} [keywords] [level] [name]"),
	CLI_WORD(logman_options, file, 0, "o", "FILE", "log file; %d stands for the number in newfile mode"),
	NOT(no_file, "o"),
	CLI_ONE_OF(logman_options, format, 0, "f", "FORMAT", "bin|bincirc|csv|tsv|sql", "bin or bincirc (circular)"),
	CLI_OWN(logman_options, mode, uint32_t, take_mode, 0, "mode", "MODES",
		"logging modes joined by +, or a number"),
	CLI_SWITCH(logman_options, real_time, "rt", "deliver to live consumers"),
	CLI_NUMBER(logman_options, buffer_kb, 0, "bs", "KB", 4, 16384, "size of one buffer"),
	{.name = "nb",
	 .arg = "MIN [MAX]",
	 .help = "number of buffers",
	 .take_all = take_buffers,
	 .wants = wants_time,
	 .offset = CLI_AT(logman_options, buffers, struct logman_buffers),
	 .min = 1,
	 .max = 1 << 20},
	CLI_CHOICE(logman_options, clock, 1, 0, "ct", "CLOCK", "perf|system|cycle", "perf, system or cycle"),
	SPAN(flush_timer, "ft", "[[hh:]mm:]ss", NULL, "write part-filled buffers this often"),
	BACK(flush_timer.said, "ft"),
	CLI_NUMBER(logman_options, max_mb, 0, "max", "MB", 1, UINT32_MAX, "size limit of the log file"),
	NOT(no_limit, "max"),
	SPAN(rotate, "cnf", "[TIME]", wants_time, "a new file whenever -max is reached"),
	BACK(rotate.said, "cnf"),
	CLI_SWITCH(logman_options, append, "a", "append to the file"),
	CLI_SWITCH(logman_options, overwrite, "ow", "overwrite the file"),
	CLI_CHOICE(logman_options, suffix, SESSION_SUFFIX_NUMBER, 0, "v", "FORMAT", "nnnnnn|mmddhhmm",
		   "number of each run in the file's name: nnnnnn or mmddhhmm"),
	CLI_SET(logman_options, suffix, SESSION_SUFFIX_NONE, 0, "-v", NULL),
	SPAN(run_for, "rf", "[[hh:]mm:]ss", NULL, "stop after that time"),
	BACK(run_for.said, "rf"),
	CLI_WORD(logman_options, session, 0, "ln", "NAME", "the session's name where it is not the collector's"),
	CLI_SWITCH(logman_options, flush, "fd", "with update: write what is in memory now"),
	CLI_SWITCH(logman_options, private, "ul",
		   "private: in each process that has the provider (-p), with a file of its own: FILE, FILE_PID …"),
	CLI_NUMBER(logman_options, pid, 0, "pid", "PID", 1, UINT32_MAX,
		   "with query providers: what that process has registered"),
	CLI_WORD(logman_options, xml, 0, "xml", "FILE", "with import and export: the collector set"),
	CLI_ACCEPTED(0, "config", "FILE", "more options from a file"),
	CLI_ACCEPTED(0, "y", NULL, "yes to all questions; there are none here"),
	CLI_ACCEPTED(0, "as", NULL, "accepted; nothing here takes long"),
	CLI_REFUSED("s", "HOST", "refused: another computer",
		    "the session of another computer: run logman there, for instance through ssh"),
	CLI_REFUSED("u", "USER [PASSWORD]", "refused: another user", "another user's rights: use sudo -u USER"),
	DATE(begin, "b", "a saved collector starts at that time, while etwd runs"),
	BACK(begin.said, "b"),
	DATE(end, "e", "stop at that time: 1/31/2026 5:30:00PM, or 2026-01-31 17:30"),
	BACK(end.said, "e"),
	CLI_SWITCH(logman_options, daily, "r", "with -b: every day, at the times of -b and -e"),
	CLI_OWN_ALL(logman_options, manual, uint32_t, take_manual, wants_start_stop, "m", "[START] [STOP]",
		    "by hand: start, stop or both; takes -b and -e back"),
	CLI_WORD(logman_options, command, 0, "rc", "COMMAND",
		 "a saved collector: for the shell when a run has ended; $OPENETW_LOG_FILE is its file"),
	NOT(no_command, "rc"),
	CLI_FLAG(logman_options, json, 0, "json", "query: one JSON object a line, of live sessions and providers"),
	CLI_FLAG(logman_options, explain, 0, "explain", "do nothing but print the same as a line of openetw"),
	{0},
};

/* ---- the session that they describe -------------------------------------------------------------- */

/* `daily`: a time of day will do. */
static bool use_date(const struct cli_args *a, const char *option, const struct logman_date *d, bool daily,
		     uint64_t *inout)
{
	if (d->said) {
		*inout = d->said == CLI_ON ? d->filetime : 0;
	}
	if (d->said == CLI_ON && *inout <= clock_filetime() && !daily) {
		cli_usage(a, "-%s: '%s' is over already", option, d->text);
		return false;
	}
	return true;
}

/* What only a saved collector can have. */
static bool use_schedule(const struct cli_args *a, bool live, struct etw_session *s)
{
	const struct logman_options *o = a->given;
	const char *saved = o->begin.said == CLI_ON        ? "b"
			    : o->daily == CLI_ON           ? "r"
			    : o->command && !o->no_command ? "rc"
							   : NULL;
	if (live && saved) {
		cli_usage(a,
			  "-%s is of saved collectors: -ets neither saves nor schedules. 'logman create trace NAME … "
			  "-%s' saves one",
			  saved, saved);
		return false;
	}
	s->daily = o->daily == CLI_ON || (s->daily && o->daily != CLI_OFF);
	if (!use_date(a, "b", &o->begin, s->daily, &s->begin_filetime) ||
	    !use_date(a, "e", &o->end, s->daily, &s->end_filetime)) {
		return false;
	}
	s->begin_filetime = o->manual & LOGMAN_BY_HAND_START ? 0 : s->begin_filetime;
	s->end_filetime = o->manual & LOGMAN_BY_HAND_STOP ? 0 : s->end_filetime;
	if (s->daily && s->begin_filetime == 0) {
		if (o->daily == CLI_ON) {
			cli_usage(a, "-r repeats a collector at the time of -b: give that, too");
			return false;
		}
		s->daily = false;
	}
	if (s->begin_filetime && s->end_filetime && !s->daily && s->end_filetime <= s->begin_filetime) {
		cli_usage(a, "-e is before -b");
		return false;
	}
	if (o->no_command) {
		s->command[0] = 0;
	} else if (o->command) {
		if (strlen(o->command) >= sizeof s->command || strchr(o->command, '\n')) {
			cli_usage(a, "-rc takes one line of at most %u bytes", SESSION_COMMAND_MAX - 1);
			return false;
		}
		snprintf(s->command, sizeof s->command, "%s", o->command);
	}
	return true;
}

static bool add(const struct cli_args *a, struct etw_session *s, const char *text, const char *keywords,
		const char *level, const char *where)
{
	struct session_provider p;
	char bad[64];
	if (!controller_provider(text, &p)) {
		cli_usage(a, "%s'%s' is neither a GUID nor a provider's name", where, text);
		return false;
	}
	if (keywords && !controller_keywords(keywords, &p.guid, &p.any, bad, sizeof bad)) {
		cli_usage(a,
			  "%s'%s' is no keyword of %s: write a number, or names as 'logman query "
			  "providers %s' shows them",
			  where, bad, text, text);
		return false;
	}
	if (level && !controller_level(level, &p.level)) {
		cli_usage(a, "%s'%s' is no level: 0-255 or win:Critical … win:Verbose", where, level);
		return false;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) {
		if (guid_equal(&s->provider[i].guid, &p.guid)) {
			session_provider_finish(&s->provider[i]);
			s->provider[i] = p;
			return true;
		}
	}
	struct session_provider *at = session_add_provider(s, &p.guid);
	if (!at) {
		cli_usage(a, "%s", session_add_failed(s));
		return false;
	}
	*at = p;
	return true;
}

static char *word_of(char **inout)
{
	char *s = *inout + strspn(*inout, " \t\r\n"), *end;
	if (*s == 0) {
		return NULL;
	}
	if (*s == '"' || *s == '(') {
		char close = *s == '"' ? '"' : ')';
		end = strchr(s + 1, close);
		end = end ? end + (close == ')') : s + strlen(s);
		s += close == '"';
	} else {
		end = s + strcspn(s, " \t\r\n");
	}
	*inout = end + (*end != 0);
	*end = 0;
	return s;
}

/* "{guid} [keywords] [level] [name]"; the name may come in front, too, as a name. */
static bool provider_file(const struct cli_args *a, const char *path, struct etw_session *s)
{
	FILE *f = cli_path_fopen(path);
	char line[1024], where[600];
	bool fine = true;
	if (!f) {
		cli_usage(a, "-pf: cannot read %s: %s", path, strerror(errno));
		return false;
	}
	for (unsigned n = 1; fine && fgets(line, sizeof line, f); n++) {
		char *rest = line;
		if (n == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) {
			rest += 3;
		}
		char *name = word_of(&rest);
		if (!name || *name == '#' || *name == ';') {
			continue;
		}
		char *keywords = word_of(&rest), *level = word_of(&rest), *label = word_of(&rest);
		uint64_t v;
		/* Windows' own lists write hexadecimal without a prefix; only where it is no
		 * decimal. */
		char hex[32];
		if (keywords && *keywords != '(' && !parse_number(keywords, 0, UINT64_MAX, &v) &&
		    strspn(keywords, "0123456789abcdefABCDEF") == strlen(keywords)) {
			snprintf(hex, sizeof hex, "0x%.28s", keywords);
			keywords = hex;
		}
		snprintf(where, sizeof where, "%.500s:%u: ", path, n);
		fine = add(a, s, name, keywords, level, where);
		if (fine && label && !s->provider[s->provider_count - 1].name[0]) {
			snprintf(s->provider[s->provider_count - 1].name, 256, "%s", label);
		}
	}
	fclose(f);
	return fine;
}

static bool use_providers(const struct cli_args *a, struct etw_session *s)
{
	const struct logman_options *o = a->given;
	for (int i = 0; i < o->providers.count; i++) {
		const struct logman_wish *w = &o->providers.at[i];
		if (!(w->file ? provider_file(a, w->text, s) : add(a, s, w->text, w->keywords, w->level, ""))) {
			return false;
		}
		struct session_provider p;
		bool off = w->off && controller_provider(w->text, &p);
		for (uint32_t k = 0; k < s->provider_count && off; k++) {
			if (guid_equal(&s->provider[k].guid, &p.guid)) {
				s->provider[k].enabled = false;
			}
		}
	}
	return true;
}

/* Absolute, so that a collector means the same file wherever it is started. */
static bool absolute(const struct cli_args *a, const char *file, char *out, size_t cap)
{
	if (!cli_path_absolute(file, out, cap)) {
		cli_usage(a, "the file name is too long");
		return false;
	}
	return true;
}

static bool has_extension(const char *file)
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
	return dot && (!slash || dot > slash);
}

/* -o, or the session's name in the current directory. */
static bool choose_file(const struct cli_args *a, struct etw_session *s)
{
	const struct logman_options *given = a->given;
	const char *o = given->file;
	bool memory = s->props.mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE);
	if (given->no_file) {
		s->file[0] = 0;
		return true;
	}
	if (!o && (memory || s->file[0])) {
		return true;
	}
	char name[3200];
	if (!o) {
		bool numbered = s->props.mode & EVENT_TRACE_FILE_MODE_NEWFILE;
		snprintf(name, sizeof name, numbered ? "%s_%%d" : "%s", s->name);
		for (char *c = name; *c; c++) {
			*c = *c == '/' || *c == '\\' ? '_' : *c;
		}
		o = name;
	}
	if (!absolute(a, o, s->file, sizeof s->file - 8)) {
		return false;
	}
	if (!has_extension(s->file)) {
		strcat(s->file, ".etl");
	}
	/* What -cnf goes on to needs a name of its own, which the line need not tell apart. */
	char *dot = strrchr(s->file, '.');
	size_t n = dot ? strlen(dot) : 0;
	if (dot && given->rotate.said == CLI_ON && !strstr(s->file, "%d") && strlen(s->file) + 4 < sizeof s->file) {
		memmove(dot + 3, dot, n + 1);
		memcpy(dot, "_%d", 3);
	}
	return true;
}

static uint32_t use_span(const struct logman_span *t, uint32_t now)
{
	return t->said == CLI_ON ? t->s : t->said == CLI_OFF ? 0 : now;
}

bool logman_describe(const struct cli_args *a, bool live, struct etw_session *s)
{
	const struct logman_options *o = a->given;
	if (!use_providers(a, s)) {
		return false;
	}
	if (o->format) {
		if (strncasecmp(o->format, "bin", 3) != 0) {
			cli_usage(a, "-f %s: a trace is bin or bincirc; 'tracerpt -of CSV' makes text of it",
				  o->format);
			return false;
		}
		s->props.mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_CIRCULAR;
		s->props.mode |= strcasecmp(o->format, "bincirc") == 0 ? EVENT_TRACE_FILE_MODE_CIRCULAR : 0;
	}
	s->props.mode |= o->mode;
	s->props.mode |= o->real_time == CLI_ON ? EVENT_TRACE_REAL_TIME_MODE : 0;
	s->props.mode &= o->real_time == CLI_OFF ? ~(uint32_t)EVENT_TRACE_REAL_TIME_MODE : UINT32_MAX;
	s->props.mode |= o->append == CLI_ON ? EVENT_TRACE_FILE_MODE_APPEND : 0;
	s->props.mode |= o->private == CLI_ON ? EVENT_TRACE_PRIVATE_LOGGER_MODE : 0;
	if (o->rotate.said == CLI_ON) {
		s->rotate_s = o->rotate.timed ? o->rotate.s : s->rotate_s;
		if (s->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR) {
			fprintf(stderr, "logman: note: -cnf makes new files, none of which is circular\n");
		}
		s->props.mode |= EVENT_TRACE_FILE_MODE_NEWFILE;
		s->props.mode &= ~(uint32_t)(EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR);
	} else if (o->rotate.said == CLI_OFF) {
		s->props.mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_NEWFILE;
		s->rotate_s = 0;
	}
	s->props.buffer_kb = o->buffer_kb ? (uint32_t)o->buffer_kb : s->props.buffer_kb;
	s->props.minimum_buffers = o->buffers.min ? (uint32_t)o->buffers.min : s->props.minimum_buffers;
	s->props.maximum_buffers = o->buffers.max ? (uint32_t)o->buffers.max : s->props.maximum_buffers;
	s->props.maximum_file_size = o->no_limit ? 0 : o->max_mb ? (uint32_t)o->max_mb : s->props.maximum_file_size;
	if (s->rotate_s && s->props.maximum_file_size == 0) {
		s->props.maximum_file_size = 1u << 20; /* by time alone */
	}
	if (!use_schedule(a, live, s)) {
		return false;
	}
	s->props.flush_timer = use_span(&o->flush_timer, s->props.flush_timer);
	s->expire_s = use_span(&o->run_for, s->expire_s);
	if (o->clock) {
		s->props.clock = o->clock;
	} else if (s->props.mode & EVENT_TRACE_FILE_MODE_APPEND) {
		s->props.clock = 2; /* an appended file can only be in system time */
	}
	if (o->suffix != LOGMAN_UNSAID) {
		s->suffix = o->suffix;
	} else if (live) {
		s->suffix = SESSION_SUFFIX_NONE;
	}
	s->overwrite = o->overwrite == CLI_ON || (s->overwrite && o->overwrite != CLI_OFF);
	if (!choose_file(a, s)) {
		return false;
	}
	uint32_t order = s->props.mode & (EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR |
					  EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_APPEND);
	if (s->file[0] && order == 0) {
		s->props.mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	return true;
}
