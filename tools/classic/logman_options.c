/* SPDX-License-Identifier: MIT
 * logman's options and the session they describe.
 */
#include "tools/classic/logman.h"
#include "tools/common/mode_names.h"
#include "tools/common/path.h"

#include "base/parse.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

const struct cli_option logman_option_table[] = {
	{0, "ets", NULL, "act on live sessions; nothing is saved", NULL},
	{0, "n", "NAME", "the collector's name (it may follow the verb without -n)", NULL},
	{0, "p", "PROVIDER [KEYWORDS [LEVEL]]", "enable a provider (repeatable); update --p disables it", NULL},
	{0, "pf", "FILE", "providers from a file, one a line: {guid} [keywords] [level] [name]", NULL},
	{0, "o", "FILE", "log file; %d stands for the number in newfile mode", NULL},
	{0, "f", "FORMAT", "bin or bincirc (circular)", "bin|bincirc|csv|tsv|sql"},
	{0, "mode", "MODES", "logging modes joined by +, or a number", NULL},
	{0, "rt", NULL, "deliver to live consumers", NULL},
	{0, "bs", "KB", "size of one buffer", NULL},
	{0, "nb", "MIN [MAX]", "number of buffers", NULL},
	{0, "ct", "CLOCK", "perf, system or cycle", "perf|system|cycle"},
	{0, "ft", "[[hh:]mm:]ss", "write part-filled buffers this often", NULL},
	{0, "max", "MB", "size limit of the log file", NULL},
	{0, "cnf", "[TIME]", "a new file whenever -max is reached", NULL},
	{0, "a", NULL, "append to the file", NULL},
	{0, "ow", NULL, "overwrite the file", NULL},
	{0, "v", "FORMAT", "number of each run in the file's name: nnnnnn or mmddhhmm", "nnnnnn|mmddhhmm"},
	{0, "rf", "[[hh:]mm:]ss", "stop after that time", NULL},
	{0, "ln", "NAME", "the session's name where it is not the collector's", NULL},
	{0, "fd", NULL, "with update: write what is in memory now", NULL},
	{0, "ul", NULL, "private: in each process that has the provider (-p), with a file of its own: FILE, FILE_PID …",
	 NULL},
	{0, "pid", "PID", "with query providers: what that process has registered", NULL},
	{0, "xml", "FILE", "with import and export: the collector set", NULL},
	{0, "config", "FILE", "more options from a file", NULL},
	{0, "y", NULL, "yes to all questions; there are none here", NULL},
	{0, "as", NULL, "accepted; nothing here takes long", NULL},
	{0, "s", "HOST", "refused: another computer", NULL},
	{0, "u", "USER [PASSWORD]", "refused: another user", NULL},
	{0, "b", "DATE [TIME [AM|PM]]", "a saved collector starts at that time, while etwd runs", NULL},
	{0, "e", "DATE [TIME [AM|PM]]", "stop at that time: 1/31/2026 5:30:00PM, or 2026-01-31 17:30", NULL},
	{0, "r", NULL, "with -b: every day, at the times of -b and -e", NULL},
	{0, "m", "[START] [STOP]", "by hand: start, stop or both; takes -b and -e back", NULL},
	{0, "rc", "COMMAND", "a saved collector: for the shell when a run has ended; $OPENETW_LOG_FILE is its file",
	 NULL},
	{0, "json", NULL, "query: one JSON object a line, of live sessions and providers", NULL},
	{0, "explain", NULL, "do nothing but print the same as a line of openetw", NULL},
	{0},
};

static bool is_time(const char *s)
{
	return strspn(s, "0123456789:") == strlen(s) && *s;
}

/* A word after -p and its provider is keywords or a level when it looks like it, or when nothing
 * else is missing on the line. */
bool logman_accept(const struct cli_option *o, int index, const char *word, int positionals)
{
	(void)index;
	if (strcasecmp(o->name, "p") == 0) {
		return (*word >= '0' && *word <= '9') || *word == '(' || strncasecmp(word, "win:", 4) == 0 ||
		       positionals >= 2;
	}
	if (strcasecmp(o->name, "e") == 0 || strcasecmp(o->name, "b") == 0) {
		return (*word >= '0' && *word <= '9') || strcasecmp(word, "am") == 0 || strcasecmp(word, "pm") == 0;
	}
	if (strcasecmp(o->name, "m") == 0) {
		return strcasecmp(word, "start") == 0 || strcasecmp(word, "stop") == 0;
	}
	if (strcasecmp(o->name, "nb") == 0 || strcasecmp(o->name, "cnf") == 0) {
		return is_time(word);
	}
	return true;
}

static bool parse_clock(const struct winargs *w, const char *name, uint32_t *inout_s)
{
	const struct winarg *g = winargs_find(w, name);
	if (!g || g->off || g->count == 0) {
		return true;
	}
	const char *s = g->value[0];
	uint64_t total = 0;
	int parts = 0;
	while (is_time(s) && parts < 3) {
		uint64_t part;
		if (!parse_number_at(&s, UINT32_MAX, &part)) {
			break;
		}
		total = total * 60 + part;
		parts++;
		if (*s == 0) {
			*inout_s = (uint32_t)BASE_MIN(total, (uint64_t)UINT32_MAX);
			return true;
		}
		s++;
	}
	cli_usage(w->a, "-%s takes a time such as 90, 1:30 or 1:00:00, not '%s'", name, g->value[0]);
	return false;
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

/* -b and -e with their words joined. `daily`: a time of day will do. */
static bool parse_date(const struct winargs *w, const char *option, bool daily, uint64_t *inout)
{
	const struct winarg *g = winargs_find(w, option);
	char text[128] = "";
	if (!g || g->off) {
		*inout = g ? 0 : *inout;
		return true;
	}
	for (int i = 0; i < g->count; i++) {
		size_t n = strlen(text);
		snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", g->value[i]);
	}
	if (g->count == 0 || date_parse(text, inout) < 0) {
		cli_usage(w->a, "-%s takes a time such as 1/31/2026 5:30:00PM or 17:30, not '%s'", option, text);
		return false;
	}
	if (*inout <= clock_filetime() && !daily) {
		cli_usage(w->a, "-%s: '%s' is over already", option, text);
		return false;
	}
	return true;
}

/* What only a saved collector can have. */
static bool parse_schedule(const struct winargs *w, bool live, struct etw_session *s)
{
	static const char *const names[] = {"b", "r", "rc"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (live && winargs_on(w, names[i])) {
			cli_usage(w->a,
				  "-%s is of saved collectors: -ets neither saves nor schedules. 'logman create trace "
				  "NAME "
				  "… -%s' saves one",
				  names[i], names[i]);
			return false;
		}
	}
	s->daily = winargs_on(w, "r") || (s->daily && !winargs_off(w, "r"));
	if (!parse_date(w, "b", s->daily, &s->begin_filetime) || !parse_date(w, "e", s->daily, &s->end_filetime)) {
		return false;
	}
	const struct winarg *manual = winargs_find(w, "m");
	for (int i = 0; manual && i < BASE_MAX(manual->count, 1); i++) {
		const char *what = manual->count ? manual->value[i] : "";
		s->begin_filetime = strcasecmp(what, "stop") == 0 ? s->begin_filetime : 0;
		s->end_filetime = strcasecmp(what, "start") == 0 ? s->end_filetime : 0;
	}
	if (s->daily && s->begin_filetime == 0) {
		if (winargs_on(w, "r")) {
			cli_usage(w->a, "-r repeats a collector at the time of -b: give that, too");
			return false;
		}
		s->daily = false;
	}
	if (s->begin_filetime && s->end_filetime && !s->daily && s->end_filetime <= s->begin_filetime) {
		cli_usage(w->a, "-e is before -b");
		return false;
	}
	const char *command = winargs_value(w, "rc", NULL);
	if (winargs_off(w, "rc")) {
		s->command[0] = 0;
	} else if (command) {
		if (strlen(command) >= sizeof s->command || strchr(command, '\n')) {
			cli_usage(w->a, "-rc takes one line of at most %u bytes", SESSION_COMMAND_MAX - 1);
			return false;
		}
		snprintf(s->command, sizeof s->command, "%s", command);
	}
	return true;
}

static const char *mode_at(const void *ctx, int i)
{
	(void)ctx;
	return mode_names_at(MODE_NAMES_LOGMAN, i);
}

static bool parse_mode(const struct winargs *w, const char *text, uint32_t *inout)
{
	uint64_t v;
	while (*text) {
		char word[64];
		size_t n = strcspn(text, "+,|");
		snprintf(word, sizeof word, "%.*s", (int)n, text);
		uint32_t bit = mode_names_bit(MODE_NAMES_LOGMAN, word);
		if (bit) {
			*inout |= bit;
		} else if (parse_number(word, 0, UINT32_MAX, &v)) {
			*inout |= (uint32_t)v;
		} else {
			const char *near = cli_nearest(word, mode_at, NULL);
			cli_usage(w->a, near ? "-mode: no mode '%s'; did you mean %s?" : "-mode: no mode '%s'", word,
				  near);
			return false;
		}
		text += n + (text[n] != 0);
	}
	return true;
}

static bool add(const struct winargs *w, struct etw_session *s, const char *text, const char *keywords,
		const char *level, const char *where)
{
	struct session_provider p;
	char bad[64];
	if (!controller_provider(text, &p)) {
		cli_usage(w->a, "%s'%s' is neither a GUID nor a provider's name", where, text);
		return false;
	}
	if (keywords && !controller_keywords(keywords, &p.guid, &p.any, bad, sizeof bad)) {
		cli_usage(w->a,
			  "%s'%s' is no keyword of %s: write a number, or names as 'logman query "
			  "providers %s' shows them",
			  where, bad, text, text);
		return false;
	}
	if (level && !controller_level(level, &p.level)) {
		cli_usage(w->a, "%s'%s' is no level: 0-255 or win:Critical … win:Verbose", where, level);
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
		cli_usage(w->a, "%s", session_add_failed(s));
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
static bool provider_file(const struct winargs *w, const char *path, struct etw_session *s)
{
	FILE *f = cli_path_fopen(path);
	char line[1024], where[600];
	bool fine = true;
	if (!f) {
		cli_usage(w->a, "-pf: cannot read %s: %s", path, strerror(errno));
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
		fine = add(w, s, name, keywords, level, where);
		if (fine && label && !s->provider[s->provider_count - 1].name[0]) {
			snprintf(s->provider[s->provider_count - 1].name, 256, "%s", label);
		}
	}
	fclose(f);
	return fine;
}

bool logman_providers(const struct winargs *w, struct etw_session *s)
{
	for (int i = 0; i < w->arg_count; i++) {
		const struct winarg *g = &w->arg[i];
		if (strcasecmp(g->option->name, "p") == 0) {
			if (g->count == 0) {
				cli_usage(w->a, "--p needs PROVIDER");
				return false;
			}
			if (!add(w, s, g->value[0], g->count > 1 ? g->value[1] : NULL,
				 g->count > 2 ? g->value[2] : NULL, "")) {
				return false;
			}
			struct guid id;
			struct session_provider p;
			controller_provider(g->value[0], &p);
			id = p.guid;
			for (uint32_t k = 0; k < s->provider_count && g->off; k++) {
				if (guid_equal(&s->provider[k].guid, &id)) {
					s->provider[k].enabled = false;
				}
			}
		} else if (strcasecmp(g->option->name, "pf") == 0 && g->count && !provider_file(w, g->value[0], s)) {
			return false;
		}
	}
	return true;
}

/* Absolute, so that a collector means the same file wherever it is started. */
static bool absolute(const struct winargs *w, const char *file, char *out, size_t cap)
{
	if (!cli_path_absolute(file, out, cap)) {
		cli_usage(w->a, "the file name is too long");
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
static bool choose_file(const struct winargs *w, struct etw_session *s)
{
	const char *o = winargs_value(w, "o", NULL);
	bool memory = s->props.mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE);
	if (winargs_off(w, "o")) {
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
	if (!absolute(w, o, s->file, sizeof s->file - 8)) {
		return false;
	}
	if (!has_extension(s->file)) {
		strcat(s->file, ".etl");
	}
	/* What -cnf goes on to needs a name of its own, which the line need not tell apart. */
	char *dot = strrchr(s->file, '.');
	size_t n = dot ? strlen(dot) : 0;
	if (dot && winargs_on(w, "cnf") && !strstr(s->file, "%d") && strlen(s->file) + 4 < sizeof s->file) {
		memmove(dot + 3, dot, n + 1);
		memcpy(dot, "_%d", 3);
	}
	return true;
}

bool logman_refuse(const struct winargs *w)
{
	static const struct {
		const char *name, *why;
	} rows[] = {
		{"s", "the session of another computer: run logman there, for instance through ssh"},
		{"u", "another user's rights: use sudo -u USER"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (winargs_on(w, rows[i].name)) {
			cli_usage(w->a, "-%s is not done here: %s", rows[i].name, rows[i].why);
			return true;
		}
	}
	return false;
}

bool logman_options(const struct winargs *w, bool live, struct etw_session *s)
{
	const char *v;
	if (!logman_providers(w, s)) {
		return false;
	}
	if ((v = winargs_value(w, "f", NULL)) != NULL) {
		if (strncasecmp(v, "bin", 3) != 0) {
			cli_usage(w->a,
				  "-f %s: a trace is bin or bincirc; 'tracerpt -of CSV' makes text "
				  "of it",
				  v);
			return false;
		}
		s->props.mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_CIRCULAR;
		s->props.mode |= strcasecmp(v, "bincirc") == 0 ? EVENT_TRACE_FILE_MODE_CIRCULAR : 0;
	}
	v = winargs_value(w, "mode", NULL);
	if (v && !parse_mode(w, v, &s->props.mode)) {
		return false;
	}
	s->props.mode |= winargs_on(w, "rt") ? EVENT_TRACE_REAL_TIME_MODE : 0;
	s->props.mode &= winargs_off(w, "rt") ? ~(uint32_t)EVENT_TRACE_REAL_TIME_MODE : UINT32_MAX;
	s->props.mode |= winargs_on(w, "a") ? EVENT_TRACE_FILE_MODE_APPEND : 0;
	s->props.mode |= winargs_on(w, "ul") ? EVENT_TRACE_PRIVATE_LOGGER_MODE : 0;
	if (winargs_on(w, "cnf")) {
		if (!parse_clock(w, "cnf", &s->rotate_s)) {
			return false;
		}
		if (s->props.mode & EVENT_TRACE_FILE_MODE_CIRCULAR) {
			fprintf(stderr, "logman: note: -cnf makes new files, none of which is circular\n");
		}
		s->props.mode |= EVENT_TRACE_FILE_MODE_NEWFILE;
		s->props.mode &= ~(uint32_t)(EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR);
	}
	if (winargs_off(w, "cnf")) {
		s->props.mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_NEWFILE;
		s->rotate_s = 0;
	}
	if (!winargs_u32(w, "bs", 0, 4, 16384, &s->props.buffer_kb) ||
	    !winargs_u32(w, "nb", 0, 1, 1u << 20, &s->props.minimum_buffers) ||
	    !winargs_u32(w, "nb", 1, 1, 1u << 20, &s->props.maximum_buffers) ||
	    !winargs_u32(w, "max", 0, 1, UINT32_MAX, &s->props.maximum_file_size) ||
	    !parse_clock(w, "ft", &s->props.flush_timer) || !parse_clock(w, "rf", &s->expire_s)) {
		return false;
	}
	s->props.maximum_file_size = winargs_off(w, "max") ? 0 : s->props.maximum_file_size;
	if (s->rotate_s && s->props.maximum_file_size == 0) {
		s->props.maximum_file_size = 1u << 20; /* by time alone */
	}
	if (!parse_schedule(w, live, s)) {
		return false;
	}
	s->props.flush_timer = winargs_off(w, "ft") ? 0 : s->props.flush_timer;
	s->expire_s = winargs_off(w, "rf") ? 0 : s->expire_s;
	if ((v = winargs_value(w, "ct", NULL)) != NULL) {
		s->props.clock = strcasecmp(v, "system") == 0 ? 2 : strcasecmp(v, "cycle") == 0 ? 3 : 1;
	} else if (s->props.mode & EVENT_TRACE_FILE_MODE_APPEND) {
		s->props.clock = 2; /* an appended file can only be in system time */
	}
	if ((v = winargs_value(w, "v", NULL)) != NULL) {
		s->suffix = strcasecmp(v, "nnnnnn") == 0 ? SESSION_SUFFIX_NUMBER : SESSION_SUFFIX_TIME;
	} else if (winargs_off(w, "v") || live) {
		s->suffix = SESSION_SUFFIX_NONE;
	}
	s->overwrite = winargs_on(w, "ow") || (s->overwrite && !winargs_off(w, "ow"));
	if (!choose_file(w, s)) {
		return false;
	}
	uint32_t order = s->props.mode & (EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR |
					  EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_FILE_MODE_APPEND);
	if (s->file[0] && order == 0) {
		s->props.mode |= EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	}
	return true;
}
