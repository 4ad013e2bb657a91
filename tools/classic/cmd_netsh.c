/* SPDX-License-Identifier: MIT
 * netsh trace: the tracing of Windows' network shell.
 */
#include "tools/classic/become.h"
#include "tools/common/path.h"

#include <strings.h>
#include <unistd.h>

#define SESSION "NetTrace"

/* "NAME=VALUE": its value. */
static const char *value_of(const char *word, const char *name)
{
	size_t n = strlen(name);
	return strncasecmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static bool there(const char *file)
{
	char mapped[PATH_MAX];
	return access(cli_path(file, mapped), F_OK) == 0;
}

static bool yes(const char *v)
{
	return v && strcasecmp(v, "yes") == 0;
}

struct start {
	const char *file, *mode, *size, *overwrite, *buffer;
	struct {
		const char *name, *keywords, *level;
	} provider[32];
	int count;
	bool capture, scenario;
};

static int start_words(struct cli_args *a, struct start *s)
{
	static const char *const filters[] = {
		"CaptureInterface",    "Ethernet",         "Protocol", "IPv4", "IPv6", "capturetype",
		"PacketTruncateBytes", "CaptureMultiLayer"};
	static const char *const accepted[] = {"report",    "correlation", "traceonly",
					       "perfMerge", "sessionname", "InternetClient"};
	for (int i = 2; i < a->count; i++) {
		const char *w = a->words[i], *v;
		bool known = false;
		if ((v = value_of(w, "capture")) != NULL) {
			s->capture = yes(v);
		} else if (value_of(w, "scenario") || value_of(w, "globalKeywords") || value_of(w, "globalLevel")) {
			s->scenario = true;
		} else if ((v = value_of(w, "tracefile")) != NULL) {
			s->file = v;
		} else if ((v = value_of(w, "filemode")) != NULL) {
			s->mode = v;
		} else if ((v = value_of(w, "maxsize")) != NULL) {
			s->size = v;
		} else if ((v = value_of(w, "buffersize")) != NULL) {
			s->buffer = v;
		} else if ((v = value_of(w, "overwrite")) != NULL) {
			s->overwrite = v;
		} else if ((v = value_of(w, "persistent")) != NULL) {
			if (yes(v)) {
				return cli_instead(a, "persistent=yes",
						   "'openetw autologger add " SESSION
						   " -o FILE -p …' records from boot");
			}
		} else if ((v = value_of(w, "provider")) != NULL) {
			if (s->count == BASE_ARRAY_LEN(s->provider)) {
				return cli_usage(a, "at most %d providers", (int)BASE_ARRAY_LEN(s->provider));
			}
			s->provider[s->count++].name = v;
		} else if (s->count > 0 && (v = value_of(w, "keywords")) != NULL) {
			s->provider[s->count - 1].keywords = v;
		} else if (s->count > 0 && (v = value_of(w, "level")) != NULL) {
			s->provider[s->count - 1].level = v;
		} else {
			for (size_t k = 0; k < BASE_ARRAY_LEN(accepted); k++) {
				known = known || value_of(w, accepted[k]);
			}
			for (size_t k = 0; k < BASE_ARRAY_LEN(filters); k++) {
				size_t n = strlen(filters[k]);
				if (strncasecmp(w, filters[k], n) == 0 && strchr(w, '=')) {
					return cli_instead(a, w,
							   "'openetw record --packets IFACE' takes one interface; "
							   "readers of captures select more");
				}
			}
			if (!known) {
				return cli_usage(a, "start: '%s' is not understood", w);
			}
		}
	}
	return CLI_OK;
}

static int start(struct cli_args *a)
{
	struct start s = {.file = "NetTrace.etl", .mode = "circular", .size = "250"};
	int status = start_words(a, &s);
	if (status) {
		return status;
	}
	if (s.scenario && s.count == 0 && !s.capture) {
		return cli_instead(
			a, "scenario",
			"its providers are Windows' own; name those that are here: provider=NAME keywords=0x… level=…");
	}
	struct cli_become b = {.word = {"openetw"}, .count = 1};
	bool packets = s.capture || s.count == 0;
	cli_become_add(&b, packets ? "record" : "start");
	cli_become_add(&b, packets ? "--packets" : SESSION);
	cli_become_add(&b, "-o");
	cli_become_add(&b, s.file);
	for (int i = 0; i < s.count; i++) {
		cli_become_add(&b, "-p");
		cli_become_addf(&b, "%s:%s:%s", s.provider[i].name,
				s.provider[i].keywords ? s.provider[i].keywords : "",
				s.provider[i].level ? s.provider[i].level : "");
	}
	if (packets) {
		fprintf(stderr, "openetw netsh: packets are recorded until Ctrl-C, by this line:\n\t");
		cli_become_say(&b);
		return CLI_FAILED;
	}
	bool append = strcasecmp(s.mode, "append") == 0, single = strcasecmp(s.mode, "single") == 0;
	if (!append && !single && strcasecmp(s.mode, "circular") != 0) {
		return cli_usage(a, "filemode is single, circular or append, not '%s'", s.mode);
	}
	cli_become_add(&b, "-m");
	cli_become_add(&b, append ? "append" : single ? "sequential" : "circular");
	if (strcmp(s.size, "0") != 0 && !append) {
		cli_become_add(&b, "--max-size");
		cli_become_addf(&b, "%sMB", s.size);
	}
	if (s.buffer) {
		cli_become_add(&b, "--buffer-size");
		cli_become_addf(&b, "%sK", s.buffer);
	}
	if (s.overwrite && !yes(s.overwrite) && !append && there(s.file)) {
		return cli_fail(a, ERROR_ALREADY_EXISTS, "%s is there, and overwrite=no", s.file);
	}
	if (yes(s.overwrite) && !append) {
		cli_become_add(&b, "--force");
	}
	return cli_become(a, &b);
}

static int convert(struct cli_args *a)
{
	const char *in = NULL, *out = NULL, *dump = "TXT", *overwrite = NULL, *tmf = NULL, *man = NULL;
	for (int i = 2; i < a->count; i++) {
		const char *w = a->words[i], *v;
		if ((v = value_of(w, "input")) != NULL) {
			in = v;
		} else if ((v = value_of(w, "output")) != NULL) {
			out = v;
		} else if ((v = value_of(w, "dump")) != NULL) {
			dump = v;
		} else if ((v = value_of(w, "overwrite")) != NULL) {
			overwrite = v;
		} else if ((v = value_of(w, "tmfpath")) != NULL) {
			tmf = v;
		} else if ((v = value_of(w, "manpath")) != NULL) {
			man = v;
		} else if (value_of(w, "report") || value_of(w, "metadata")) {
			continue;
		} else if (!in) {
			in = w;
		} else if (!out) {
			out = w;
		} else {
			return cli_usage(a, "convert: '%s' is not understood", w);
		}
	}
	if (!in) {
		return cli_usage(a, "convert: which file?");
	}
	bool text = strcasecmp(dump, "TXT") == 0, csv = strcasecmp(dump, "CSV") == 0,
	     xml = strcasecmp(dump, "XML") == 0;
	if (!text && !csv && !xml) {
		return cli_instead(a, "convert",
				   "dump is TXT, CSV or XML; 'openetw tracerpt FILE -report' makes a report");
	}
	struct cli_become b = {.word = {"openetw", text ? "tracefmt" : "tracerpt", in, "-o"}, .count = 4};
	if (out) {
		cli_become_add(&b, out);
	} else {
		cli_become_add_beside(&b, in, text ? ".txt" : csv ? ".csv" : ".xml");
	}
	const char *written = b.word[b.count - 1];
	if (written && !yes(overwrite) && there(written)) {
		return cli_fail(a, ERROR_ALREADY_EXISTS, "%s is there; overwrite=yes overwrites it", written);
	}
	if (text) {
		cli_become_add(&b, "-nosummary");
	} else {
		cli_become_add(&b, "-of");
		cli_become_add(&b, csv ? "CSV" : "XML");
		cli_become_add(&b, "-y");
	}
	if (tmf) {
		cli_become_add(&b, text ? "-p" : "-tp");
		cli_become_add(&b, tmf);
	}
	if (man && text) {
		cli_become_add(&b, "-manpath");
		cli_become_add(&b, man);
	}
	return cli_become(a, &b);
}

static int merge(struct cli_args *a)
{
	struct cli_become b = {.word = {"openetw", "merge"}, .count = 2};
	if (a->count < 4) {
		return cli_usage(a, "merge takes files and, last, the one to write");
	}
	for (int i = 2; i < a->count - 1; i++) {
		cli_become_add(&b, a->words[i]);
	}
	cli_become_add(&b, "-o");
	cli_become_add(&b, a->words[a->count - 1]);
	return cli_become(a, &b);
}

static int show(struct cli_args *a)
{
	const char *what = a->count > 2 ? a->words[2] : "";
	struct cli_become b = {.word = {"openetw"}, .count = 1};
	if (strcasecmp(what, "status") == 0) {
		cli_become_add(&b, "query");
		cli_become_add(&b, SESSION);
	} else if (strcasecmp(what, "providers") == 0) {
		cli_become_add(&b, "providers");
	} else if (strcasecmp(what, "provider") == 0 && a->count > 3) {
		const char *name = value_of(a->words[3], "name");
		cli_become_add(&b, "wevtutil");
		cli_become_add(&b, "gp");
		cli_become_add(&b, name ? name : a->words[3]);
	} else if (strcasecmp(what, "interfaces") == 0) {
		return cli_instead(a, "show interfaces",
				   "'ip link' lists them; 'openetw record --packets IFACE' takes one");
	} else {
		return cli_instead(
			a, "show",
			"what is here: show status, show providers, show provider NAME; scenarios are Windows' own");
	}
	return cli_become(a, &b);
}

static int run(struct cli_args *a)
{
	const char *verb = a->count > 1 ? a->words[1] : "";
	if (a->count == 0 || strcasecmp(a->words[0], "trace") != 0) {
		return cli_usage(a, "only 'netsh trace' is done here");
	}
	if (strcasecmp(verb, "start") == 0) {
		return start(a);
	}
	if (strcasecmp(verb, "stop") == 0) {
		struct cli_become b = {.word = {"openetw", "stop", SESSION}, .count = 3};
		return cli_become(a, &b);
	}
	if (strcasecmp(verb, "convert") == 0) {
		return convert(a);
	}
	if (strcasecmp(verb, "merge") == 0) {
		return merge(a);
	}
	if (strcasecmp(verb, "show") == 0) {
		return show(a);
	}
	if (strcasecmp(verb, "correlate") == 0) {
		return cli_instead(a, "correlate",
				   "'openetw relog FILE -o FILE --filter \"activity == GUID\"' keeps one activity");
	}
	if (strcasecmp(verb, "diagnose") == 0 || strcasecmp(verb, "export") == 0 ||
	    strcasecmp(verb, "postreset") == 0 || strcasecmp(verb, "dump") == 0) {
		return cli_instead(a, verb, "that is about Windows' own scenarios");
	}
	return cli_usage(a,
			 *verb ? "'trace %s' is none of start, stop, convert, merge, show"
			       : "trace start, stop, convert, merge or show?",
			 verb);
}

const struct cli_command cli_netsh = {
	.name = "netsh",
	.synopsis = "trace start provider=NAME [keywords=0x…] [level=N] … [tracefile=FILE] | trace stop | trace "
		    "convert FILE …",
	.summary = "'netsh trace' of Windows, with what our verbs have for it.",
	.details = "Each command is done by another verb, and the line that does it is printed: start by a session "
		   "NetTrace,\n"
		   "which stop ends; convert (dump=TXT, CSV or XML) by tracefmt and tracerpt; merge, show status, show "
		   "providers.\n"
		   "Packets (capture=yes) are taken by 'openetw record --packets', in the foreground; start says the "
		   "line.\n"
		   "Without tracefile= it is NetTrace.etl in the current directory.\n\n"
		   "Examples:\n"
		   "  openetw netsh trace start provider=MyCompany.Web keywords=0x11 level=5 tracefile=web.etl\n"
		   "  openetw netsh trace stop\n"
		   "  openetw netsh trace convert web.etl dump=CSV\n",
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "file",
};
