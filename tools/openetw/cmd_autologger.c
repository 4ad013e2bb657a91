/* SPDX-License-Identifier: MIT
 * autologger: sessions that etwd starts by itself, each a file.
 */
#include "tools/common/session_start.h"
#include "tools/common/session_control.h"
#include "tools/common/path.h"
#include "tools/common/table.h"

#include <stdlib.h>

struct autologger_options {
	const char *output;
	struct cli_words provider;
	bool realtime, off, system, json;
	uint64_t file_max, expire_s, quota_mb; /* 0: not said */
	struct cli_session_options session;
	struct cli_enable_options enable;
};
static const struct cli_option options[] = {
	CLI_WORD(autologger_options, output, 'o', "output", "FILE",
		 "log file; default NAME.etl in the state directory"),
	CLI_WORDS(autologger_options, provider, 'p', "provider", "P", "enable Name:keywords:level (repeatable)"),
	CLI_FLAG(autologger_options, realtime, 'r', "realtime", "deliver to live consumers"),
	CLI_NUMBER(autologger_options, file_max, 0, "file-max", "N", 1, SESSION_FILE_MAX_LIMIT,
		   "keep the files of the last N starts: NAME.0001.etl … (up to 16)"),
	CLI_FLAG(autologger_options, off, 0, "off", "add it, but do not start it (Start = 0)"),
	CLI_DURATION(autologger_options, expire_s, 0, "expire", 1000000000, 1, UINT32_MAX,
		     "stop it so long after its start: 1h, 2d"),
	CLI_SIZE(autologger_options, quota_mb, 0, "quota", 1 << 20, 1, UINT32_MAX,
		 "stop it when its file has this size"),
	CLI_FLAG(autologger_options, system, 0, "system",
		 "of the instance for all users, in /etc/openetw/autologger.d"),
	CLI_FLAG(autologger_options, json, 'j', "json", "with list: one JSON object a line"),
	CLI_SESSION_OPTIONS(autologger_options, session),
	CLI_ENABLE_OPTIONS(autologger_options, enable),
	CLI_SESSION_FILTER_OPTION(autologger_options, enable),
	{0},
};

/* "FileCounter = 3" and "Status = 0", as etwd left them. */
static bool state_of(bool system, const char *name, uint32_t *ret_status, uint32_t *ret_counter)
{
	char path[4200], line[128];
	bool found = false;
	FILE *f = session_path(SESSION_STATE, system, name, path, sizeof path) == 0 ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		found = sscanf(line, "Status = %u", ret_status) == 1 || found;
		(void)sscanf(line, "FileCounter = %u", ret_counter);
	}
	if (f) {
		fclose(f);
	}
	return found;
}

struct listing {
	const struct autologger_options *o;
	struct table *table; /* when it is text */
};

static bool show(void *ctx, const char *path)
{
	const struct listing *l = ctx;
	const struct autologger_options *o = l->o;
	struct etw_session s;
	struct cli_props p;
	struct diag d = {0};
	uint32_t status = 0, counter = 0;
	int r = session_read_file(path, &cli_manifests, &s, &d);
	if (r < 0) {
		fprintf(stderr, "openetw autologger: %s:%u: %s\n", path, d.line, d.text[0] ? d.text : strerror(-r));
		return true;
	}
	bool ran = state_of(o->system, s.name, &status, &counter);
	bool live = cli_session_query(s.name, &p) == ERROR_SUCCESS;
	if (o->json) {
		struct strbuf b = {0};
		strbuf_adds(&b, "{\"name\":");
		strbuf_add_json(&b, s.name, strlen(s.name));
		strbuf_addf(&b, ",\"start\":%s,\"running\":%s,\"providers\":%u,\"file\":", s.start ? "true" : "false",
			    live ? "true" : "false", s.provider_count);
		strbuf_add_json(&b, live ? p.file : s.file, strlen(live ? p.file : s.file));
		if (ran) {
			strbuf_addf(&b, ",\"status\":%u,\"fileCounter\":%u", status, counter);
		}
		strbuf_adds(&b, ",\"path\":");
		strbuf_add_json(&b, path, strlen(path));
		strbuf_adds(&b, "}");
		puts(b.s);
		strbuf_finish(&b);
	} else {
		const char *name = openetw_error_name(status);
		table_cell(l->table, "%s", s.name);
		table_cell(l->table, "%s", s.start ? "on" : "off");
		table_cell(l->table, "%s", live ? "running" : "-");
		table_cell(l->table, "%s", !ran ? "never" : status == 0 ? "fine" : name ? name : "?");
		table_cell(l->table, "%u", s.provider_count);
		table_cell(l->table, "%s", path);
	}
	session_finish(&s);
	return true;
}

static int list(struct cli_args *a)
{
	static const struct table_column columns[] = {
		{"NAME", .cut = true}, {"START"}, {"NOW"}, {"LAST START"}, {"PROV", .right = true},
		{"FILE", .cut = true}};
	const struct autologger_options *o = a->given;
	struct listing l = {.o = o};
	char dir[4096];
	int r = session_dir(SESSION_AUTOLOGGERS, o->system, dir, sizeof dir);
	if (r == 0) {
		l.table = o->json ? NULL : table_create(columns, BASE_ARRAY_LEN(columns), 0);
		r = session_each(dir, show, &l);
		int printed = o->json ? 0 : table_print(stdout, l.table);
		r = r ? r : printed;
	}
	return r < 0 ? cli_fail(a, win32_from_errno(r), "cannot read %s: %s", dir, strerror(-r)) : CLI_OK;
}

/* 1: filled, else an exit status. */
static int describe(struct cli_args *a, struct etw_session *s)
{
	const struct autologger_options *o = a->given;
	if (!cli_session_options(a, &o->session, o->output, o->realtime, s)) {
		return CLI_USAGE;
	}
	if (o->output && !cli_path_absolute(o->output, s->file, sizeof s->file)) {
		return cli_usage(a, "the file name is too long");
	}
	s->start = !o->off;
	s->expire_s = (uint32_t)o->expire_s;
	s->quota = o->quota_mb << 20;
	s->file_max = (uint32_t)o->file_max;
	if (!cli_session_providers(a, &o->enable, &o->provider, s)) {
		return CLI_USAGE;
	}
	for (uint32_t i = 0; i < s->provider_count; i++) { /* in a file they stand without what says how to read them */
		char *name = s->provider[i].name;
		struct guid plain;
		if (guid_parse(name, &plain) == 0) {
			*name = 0;
		} else if (*name == '*') {
			memmove(name, name + 1, strlen(name));
		}
	}
	uint32_t code = cli_session_check(s, SESSION_RUNNER_AUTOLOGGER);
	return code ? cli_usage(a, "%s", cli_session_why()) : 1;
}

static int add(struct cli_args *a, const char *name, const char *path)
{
	struct etw_session s;
	if (access(path, F_OK) == 0) {
		return cli_fail(a, ERROR_ALREADY_EXISTS, "'%s' is in %s; remove it first", name, path);
	}
	session_init(&s);
	snprintf(s.name, sizeof s.name, "%s", name);
	int status = describe(a, &s);
	if (status == 1) {
		int r = session_write(path, &s);
		if (r < 0) {
			status = cli_fail(a, win32_from_errno(r), "cannot write %s: %s", path, strerror(-r));
		} else {
			status = CLI_OK;
			printf("%s: %s, %u provider%s\n", path,
			       s.start ? "starts with etwd" : "does not start (Start = 0)", s.provider_count,
			       s.provider_count == 1 ? "" : "s");
		}
	}
	session_finish(&s);
	return status;
}

static int run(struct cli_args *a)
{
	const struct autologger_options *o = a->given;
	const char *what = a->count ? a->words[0] : "list";
	char path[4200];
	if (strcmp(what, "list") == 0 && a->count <= 1) {
		return list(a);
	}
	bool removes = strcmp(what, "remove") == 0;
	if ((!removes && strcmp(what, "add") != 0) || a->count != 2) {
		return cli_usage(a, "list, add NAME or remove NAME?");
	}
	int r = session_path(SESSION_AUTOLOGGERS, o->system, a->words[1], path, sizeof path);
	if (r < 0) {
		return cli_fail(a, win32_from_errno(r), "no place for '%s'", a->words[1]);
	}
	if (!removes) {
		return add(a, a->words[1], path);
	}
	if (unlink(path) < 0) {
		return cli_fail(a, win32_from_errno(-errno), "cannot remove %s", path);
	}
	controller_forget_backlog(a->words[1], o->system);
	printf("%s removed; a session that runs goes on until 'openetw stop %s'\n", path, a->words[1]);
	return CLI_OK;
}

const struct cli_command cli_autologger = {
	.name = "autologger",
	.synopsis = "list | add NAME [-o FILE] [-p PROVIDER]… [options] | remove NAME",
	.summary = "Sessions that start with etwd, before the programs they record.",
	.details = "Each is a file of $XDG_CONFIG_HOME/openetw/autologger.d (--system: "
		   "/etc/openetw/autologger.d) with the\n"
		   "names of the Windows registry: Start, Guid, FileName, LogFileMode, BufferSize, …, "
		   "and a section for each\n"
		   "provider (docs/autologger.md). Mistakes stand in etwd.log with file and line.\n\n"
		   "Examples:\n"
		   "  openetw autologger add early -p MyCompany.Web:0x11:info --file-max 4\n"
		   "  openetw autologger list\n"
		   "  openetw autologger remove early\n",
	.options = options,
	CLI_INTO(autologger_options),
	.run = run,
	.complete = "list|add|remove",
};
