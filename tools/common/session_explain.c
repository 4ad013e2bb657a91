/* SPDX-License-Identifier: MIT
 * A session as command lines of openetw: what -explain of the other tools prints.
 */
#include "tools/common/session_start.h"

#include "base/parse.h"
#include "filter/filter_parse.h"
#include "session/session_payload.h"
#include "tools/common/cli.h"

#define FLUSH_MOST 86400u /* of --flush-timer */
/* With a file and none of these, the command line means the first. */
#define ORDERS                                                                                               \
	(EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE | \
	 EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_BUFFERING_MODE)

void cli_quote(FILE *f, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./:,+=@%{}";
	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, f);
		return;
	}
	fputs(cli_quoted("%s", word), f);
}

/* Would that name be taken for this provider? */
static bool names_it(const struct session_provider *p)
{
	GUID g;
	return p->name[0] && !strchr(p->name, ':') && cli_provider_guid(p->name, &g) &&
	       memcmp(&g, p->guid.b, sizeof g) == 0;
}

static void put_provider(FILE *f, const struct session_provider *p)
{
	char text[400], guid[37];
	int n = names_it(p) ? snprintf(text, sizeof text, "%s", p->name)
			    : snprintf(text, sizeof text, "{%s}", guid_format(&p->guid, guid));
	/* Always with the level: without one openetw means 5. */
	if (p->any) {
		n += snprintf(text + n, sizeof text - (size_t)n, ":0x%llx", (unsigned long long)p->any);
	} else {
		n += snprintf(text + n, sizeof text - (size_t)n, ":");
	}
	n += snprintf(text + n, sizeof text - (size_t)n, ":%u", p->level);
	if (p->properties) {
		snprintf(text + n, sizeof text - (size_t)n,
			 p->properties == EVENT_ENABLE_PROPERTY_STACK_TRACE ? ":stack" : ":0x%x", p->properties);
	}
	cli_quote(f, text);
}

static void put_filters(FILE *f, const struct session_provider *p)
{
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		if (p->filter[i]) {
			fprintf(f, " --%s ", cli_filter_option((enum session_filter)i));
			cli_quote(f, p->filter[i]);
		}
	}
	if (p->expression) {
		fputs(" --filter ", f);
		cli_quote(f, p->expression);
	}
	if (p->all) {
		fprintf(f, " --match-all 0x%llx", (unsigned long long)p->all);
	}
	putc('\n', f);
	/* Of a provider with an expression it is what that says of a manifest's events. */
	if (p->payload && !p->expression) {
		struct strbuf b = {0};
		session_payload_format(p, &b);
		const char *text = b.failed ? "no memory" : b.s;
		fprintf(f, "# and a filter that has no option, as a session file has it: %.*s\n",
			(int)strcspn(text, "\n"), text);
		strbuf_finish(&b);
	}
}

/* For people, what the lines below say in numbers. */
static void put_schedule(FILE *f, const struct etw_session *s, bool live)
{
	char when[TIME_TEXT_SIZE];
	if (s->begin_filetime) {
		format_time(s->begin_filetime, true, when);
		fprintf(f, "# it starts at %s%s\n", when, s->daily ? ", and every day at that time of day" : "");
	}
	if (s->end_filetime) {
		format_time(s->end_filetime, true, when);
		fprintf(f, "# it ends at %s%s\n", when, s->daily ? ", and every day at that time of day" : "");
	}
	if (s->command[0]) {
		fputs("# when it has ended, the shell runs ", f);
		cli_quote(f, s->command);
		putc('\n', f);
	}
	if (s->owner_pid && !live) {
		fprintf(f, "# it ends with process %u\n", s->owner_pid);
	}
}

static bool is_one_of(const char *line, const char *const *keys, size_t count)
{
	size_t n = strcspn(line, " ");
	for (size_t i = 0; i < count; i++) {
		if (n == strlen(keys[i]) && memcmp(line, keys[i], n) == 0) {
			return true;
		}
	}
	return false;
}

/* Is this line of a session's file said by the command line? What an option says roughly is not. */
static bool is_said(const char *line, const struct etw_session *s, bool live)
{
	static const char *const always[] = {"Name",           "Start",      "FileName",
					     "MaxFileSize",    "BufferSize", "MinimumBuffers",
					     "MaximumBuffers", "ClockType",  "Expire"};
	static const char *const running[] = {"NewFileAfter", "KeepFiles", "EnableKernelFlags", "KernelStacks"};
	static const char *const saved[] = {"FileMax"};
	static const char *const quota[] = {"Quota"}, *const timer[] = {"FlushTimer"}, *const mode[] = {"LogFileMode"};
	return is_one_of(line, always, BASE_ARRAY_LEN(always)) ||
	       (live ? is_one_of(line, running, BASE_ARRAY_LEN(running)) : is_one_of(line, saved, 1)) ||
	       (is_one_of(line, quota, 1) && s->quota % (1u << 20) == 0) ||
	       (is_one_of(line, timer, 1) && s->props.flush_timer <= FLUSH_MOST) ||
	       (is_one_of(line, mode, 1) && (!s->file[0] || (s->props.mode & ORDERS)));
}

/* --match-all and the filters of start are for all its providers. */
static bool by_itself(const struct session_provider *p)
{
	bool filtered = false;
	for (int i = 0; i < SESSION_FILTER_COUNT; i++) {
		filtered |= p->filter[i] != NULL;
	}
	return filtered || p->expression || p->payload || p->all;
}

/* Is this line of a provider's section said by -p, or, of a session that runs, by a line of 'openetw enable'? */
static bool is_said_of(const char *line, const struct session_provider *p, bool live)
{
	static const char *const keys[] = {"Enabled", "EnableLevel", "MatchAnyKeyword", "EnableProperty"};
	static const char *const name[] = {"Name"};
	bool kernel = session_provider_is_kernel(p);
	return live ? p->enabled || kernel
		    : p->enabled && !kernel &&
			       (is_one_of(line, keys, BASE_ARRAY_LEN(keys)) ||
				(is_one_of(line, name, 1) && names_it(p)));
}

/* The rest, as it stands in a session's file: whoever adds these lines there has the same session. */
static void put_rest(FILE *f, const struct etw_session *s, bool live)
{
	struct strbuf b = {0};
	bool any = false;
	const char *section = NULL; /* its line, when it was not printed yet */
	uint32_t sections = 0;      /* of providers */
	session_format(s, &b);
	for (char *line = b.failed ? NULL : b.s, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = 0;
		if (*line == '[') {
			sections += strcmp(line, "[Session]") != 0;
			section = sections ? line : NULL;
			continue;
		}
		bool said = !*line || *line == '#';
		said = said || (sections ? is_said_of(line, &s->provider[sections - 1], live) : is_said(line, s, live));
		if (!said) {
			fputs(any ? "" : "# what no option says, as lines of its file:\n", f);
			if (section) {
				fprintf(f, "#   %s\n", section);
			}
			fprintf(f, "#   %s\n", line);
			section = NULL;
			any = true;
		}
	}
	fputs(b.failed ? "# there is too little memory for the rest of it\n" : "", f);
	strbuf_finish(&b);
}

void cli_session_explain_enable(FILE *f, const char *session, const struct session_provider *p, const char *option)
{
	fputs(p->enabled ? "openetw enable " : "openetw disable ", f);
	cli_quote(f, session);
	fprintf(f, " %s%s", option ? option : "", option ? " " : "");
	put_provider(f, p);
	put_filters(f, p);
}

void cli_session_explain(FILE *f, const char *verb, const struct etw_session *s, const struct cli_counters *counters)
{
	static const char *const clocks[] = {"", "", " --clock system", " --clock cycles"};
	bool append =
		s->props.mode & EVENT_TRACE_FILE_MODE_APPEND; /* whose clock is the system's, unless one is said */
	uint32_t m = s->props.mode, said = 0;
	/* A session that runs takes a provider with filters of its own afterwards; a file has them in it, and what it
	 * asks of the kernel. */
	bool live = strcmp(verb, "start") == 0;
	fprintf(f, "openetw %s ", verb);
	cli_quote(f, s->name);
	if (s->file[0]) {
		fputs(" -o ", f);
		cli_quote(f, s->file);
	}
	const struct {
		uint32_t bit;
		const char *text;
	} modes[] = {{EVENT_TRACE_FILE_MODE_CIRCULAR, " -m circular"},
		     {EVENT_TRACE_FILE_MODE_NEWFILE, " -m newfile"},
		     {EVENT_TRACE_FILE_MODE_APPEND, " -m append"},
		     {EVENT_TRACE_BUFFERING_MODE, " -m buffering"},
		     {EVENT_TRACE_FILE_MODE_SEQUENTIAL, ""},
		     {EVENT_TRACE_REAL_TIME_MODE, " -r"},
		     {EVENT_TRACE_FILE_MODE_PREALLOCATE, " --preallocate"},
		     {EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, " --no-per-cpu"}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(modes); i++) {
		/* A file is sequential without a word. */
		if ((m & modes[i].bit) && (modes[i].text[0] || s->file[0])) {
			fputs(modes[i].text, f);
			said |= modes[i].bit;
		}
	}
	if (m & ~said) {
		fprintf(f, " --mode-bits 0x%x", m & ~said);
	}
	if (s->props.maximum_file_size) {
		/* In KB it is said by --mode-bits. */
		fprintf(f, " --max-size %u%s", s->props.maximum_file_size,
			m & EVENT_TRACE_USE_KBYTES_FOR_SIZE ? "" : "MB");
	}
	if (s->props.buffer_kb) {
		fprintf(f, " --buffer-size %uK", s->props.buffer_kb);
	}
	if (s->props.minimum_buffers || s->props.maximum_buffers) {
		fprintf(f, " --buffers %u", s->props.minimum_buffers ? s->props.minimum_buffers : 1);
		if (s->props.maximum_buffers) {
			fprintf(f, ":%u", s->props.maximum_buffers);
		}
	}
	struct session_kernel kernel = s->kernel;
	kernel.mask = launch_kernel_mask(s);
	if (!kernel_mask_empty(&kernel.mask) && live) {
		cli_kernel_explain(f, &kernel, counters);
	}
	if (s->props.flush_timer && s->props.flush_timer <= FLUSH_MOST) {
		fprintf(f, " --flush-timer %us", s->props.flush_timer);
	}
	if (s->expire_s) {
		fprintf(f, " --expire %us", s->expire_s);
	}
	if (s->quota >= 1u << 20) {
		fprintf(f, " --quota %lluMB", (unsigned long long)(s->quota >> 20));
	}
	if (s->owner_pid && live) {
		fprintf(f, " --with-pid %u", s->owner_pid);
	}
	if (s->file_max && !live) {
		fprintf(f, " --file-max %u", s->file_max);
	}
	if (!s->start && !live) {
		fputs(" --off", f);
	}
	if (s->rotate_s && live) {
		fprintf(f, " --new-file-every %us", s->rotate_s);
	}
	if (s->keep_files && live) {
		fprintf(f, " --keep-files %u", s->keep_files);
	}
	fputs(s->props.clock == 1 && append ? " --clock qpc" : s->props.clock < 4 ? clocks[s->props.clock] : "", f);
	for (uint32_t i = 0; i < s->provider_count; i++) {
		const struct session_provider *p = &s->provider[i];
		if (p->enabled && !(live && by_itself(p)) && !session_provider_is_kernel(p)) {
			fputs(" -p ", f);
			put_provider(f, p);
		}
	}
	putc('\n', f);
	put_schedule(f, s, live);
	for (uint32_t i = 0; i < s->provider_count && live; i++) {
		const struct session_provider *p = &s->provider[i];
		if (p->enabled && by_itself(p)) {
			cli_session_explain_enable(f, s->name, p, NULL);
		}
	}
	put_rest(f, s, live);
}
