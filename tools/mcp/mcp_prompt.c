/* SPDX-License-Identifier: MIT */
#include "tools/mcp/mcp_more.h"

#include <stdio.h>

struct prompt {
	const char *name, *title, *help;
	const char *text; /* what the user would say; "%s" is which trace */
};
static const struct prompt prompts[] = {
	{"what-went-wrong", "What went wrong?", "Errors, warnings and losses of a trace, and what led to them.",
	 "Find out what went wrong in %s. Begin with overview: was anything lost when it was recorded, and which "
	 "errors "
	 "and "
	 "warnings are there (level <= warning)? Look at the first of them with find_events and get_event, and at what "
	 "the same process did shortly before. Say what you know, what you conclude, and what the trace cannot tell."},
	{"who-used-the-cpu", "Who used the CPU?", "Processes, threads and functions by the time of processors.",
	 "Find out who used the processors in %s: call report with name = summary, then stacks of the samples of the "
	 "process "
	 "that took most. Name processes and functions with their shares, and say if the trace has no samples."},
	{"why-was-it-slow", "Why was it slow?", "Waits, disks and files: what threads waited for.",
	 "Find out why something was slow in %s. Ask waits for the longest waits, and by = waker for who ended them; "
	 "follow "
	 "the longest from waker to waker. Look at disks and files in report. Say how much of the time each cause "
	 "explains."},
	{"what-changed", "What changed?", "Compares two traces, or the halves of one.",
	 "Find out what changed in %s: compare its first half with its second one, or with the other trace if several "
	 "are "
	 "named, by type, by process and by level. Say which differences matter, and show an event of each."},
};

void mcp_prompt_list(struct strbuf *b)
{
	strbuf_adds(b, "\"prompts\":[");
	for (size_t i = 0; i < BASE_ARRAY_LEN(prompts); i++) {
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", prompts[i].name);
		json_put_text(b, "title", prompts[i].title);
		json_put_text(b, "description", prompts[i].help);
		strbuf_adds(
			b,
			",\"arguments\":[{\"name\":\"trace\",\"description\":\"Which trace, as list_traces names it; "
			"without it the one there is.\",\"required\":false}]}");
	}
	strbuf_addc(b, ']');
}

bool mcp_prompt_get(const struct json_value *params, struct strbuf *b, char *why, size_t cap)
{
	const char *name = "", *trace = NULL, *key;
	const struct prompt *p = NULL;
	struct json_value *v;
	const struct json_value *given = json_member(params, "arguments");
	json_text(json_member(params, "name"), &name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(prompts); i++) {
		p = strcmp(prompts[i].name, name) == 0 ? &prompts[i] : p;
	}
	if (!p) {
		snprintf(why, cap, "there is no prompt '%.80s'; prompts/list has them all", name);
		return false;
	}
	for (size_t i = 0; json_member_at(given, i, &key, &v); i++) {
		if (strcmp(key, "trace") != 0 || !json_text(v, &trace)) {
			snprintf(why, cap, "the prompt '%s' takes one argument, 'trace', a text", p->name);
			return false;
		}
	}
	struct strbuf text = {0};
	const char *gap = strstr(p->text, "%s");
	strbuf_add(&text, p->text, (size_t)(gap - p->text));
	strbuf_adds(&text, trace && trace[0] ? "the trace " : "the trace");
	strbuf_adds(&text, trace ? trace : "");
	strbuf_adds(&text, gap + 2);
	strbuf_adds(b, "\"description\":");
	strbuf_add_json(b, p->help, strlen(p->help));
	strbuf_adds(b, ",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
	strbuf_add_json(b, text.failed ? "" : text.s, text.failed ? 0 : text.len);
	strbuf_adds(b, "}}]");
	strbuf_finish(&text);
	return true;
}
