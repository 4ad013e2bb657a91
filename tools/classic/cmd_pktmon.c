/* SPDX-License-Identifier: MIT
 * pktmon: Windows' packet monitor. What it writes is converted, its event traces are sessions; packets are
 * what record takes.
 */
#include "tools/classic/become.h"

#include <ctype.h>
#include <strings.h>

#define SESSION "PktMon"

static bool is(const char *word, const char *longer, const char *letter)
{
	word += *word == '/' ? 1 : 0;
	return strcasecmp(word, longer) == 0 || (letter && strcasecmp(word, letter) == 0);
}

static const char *value_of(struct cli_args *a, int *inout)
{
	if (*inout + 1 == a->count) {
		cli_usage(a, "%s needs a value", a->words[*inout]);
		return NULL;
	}
	return a->words[++*inout];
}

/* etl2pcap, etl2txt and their former names. */
static int convert(struct cli_args *a, bool text)
{
	const char *file = NULL, *out = NULL;
	for (int i = 1; i < a->count; i++) {
		const char *w = a->words[i];
		if (is(w, "--out", "-o")) {
			if ((out = value_of(a, &i)) == NULL) {
				return CLI_USAGE;
			}
		} else if (*w == '-') {
			return cli_usage(a, "%s is not done here; 'openetw %s' has filters of its own", w,
					 text ? "dump" : "relog");
		} else if (file) {
			return cli_usage(a, "one file at a time");
		} else {
			file = w;
		}
	}
	if (!file) {
		return cli_usage(a, "which file?");
	}
	struct cli_become b = {.word = {"openetw", text ? "tracefmt" : "pcapng", file, "-o"}, .count = 4};
	if (out) {
		cli_become_add(&b, out);
	} else {
		cli_become_add_beside(&b, file, text ? ".txt" : ".pcapng");
	}
	if (text) {
		cli_become_add(&b, "-nosummary");
	}
	return cli_become(a, &b);
}

struct start {
	const char *file, *size, *mode;
	struct {
		const char *name, *keywords, *level;
	} provider[32];
	int count;
	bool capture, events;
};

static bool number(const char *v)
{
	return isdigit((unsigned char)*v) != 0;
}

static int start_words(struct cli_args *a, struct start *s)
{
	for (int i = 1; i < a->count; i++) {
		const char *w = a->words[i], *v = i + 1 < a->count ? a->words[i + 1] : "";
		const char **to = NULL;
		if (is(w, "--capture", "-c")) {
			s->capture = true;
			i += number(v); /* of old versions: a component */
		} else if (is(w, "--trace", "-t") || is(w, "--etw", NULL)) {
			s->events = true;
		} else if (is(w, "-p", NULL) && number(v)) { /* of old versions: bytes of a packet */
			s->capture = true;
			i++;
		} else if (is(w, "--provider", "-p")) {
			if (s->count == BASE_ARRAY_LEN(s->provider)) {
				return cli_usage(a, "at most %d providers", (int)BASE_ARRAY_LEN(s->provider));
			}
			to = &s->provider[s->count++].name;
		} else if (is(w, "--keywords", "-k") && s->count > 0) {
			to = &s->provider[s->count - 1].keywords;
		} else if (is(w, "--level", "-l") && s->count > 0) {
			to = &s->provider[s->count - 1].level;
		} else if (is(w, "--file-name", "-f")) {
			to = &s->file;
		} else if (is(w, "--file-size", "-s")) {
			to = &s->size;
		} else if (is(w, "--log-mode", "-m")) {
			to = &s->mode;
		} else if (is(w, "--comp", NULL) || is(w, "--type", NULL) || is(w, "--pkt-size", NULL) ||
			   is(w, "--flags", NULL)) {
			s->capture = true;
			if (!value_of(a, &i)) {
				return CLI_USAGE;
			}
		} else if (is(w, "--counters-only", "-o")) {
			s->capture = true;
		} else {
			return cli_usage(a, "start: '%s' is not understood", w);
		}
		if (to && (*to = value_of(a, &i)) == NULL) {
			return CLI_USAGE;
		}
	}
	return CLI_OK;
}

static int start(struct cli_args *a)
{
	struct start s = {.mode = "circular", .size = "512"};
	int status = start_words(a, &s);
	if (status) {
		return status;
	}
	const char *file = s.file ? s.file : "PktMon.etl";
	struct cli_become b = {.word = {"openetw"}, .count = 1};
	bool live = strcasecmp(s.mode, "real-time") == 0;
	if (s.capture || s.count == 0) {
		cli_become_add(&b, "record");
		cli_become_add(&b, "--packets");
	} else {
		cli_become_add(&b, "start");
		cli_become_add(&b, SESSION);
	}
	if (!live) {
		cli_become_add(&b, "-o");
		cli_become_add(&b, file);
	}
	for (int i = 0; i < s.count; i++) {
		cli_become_add(&b, "-p");
		cli_become_addf(&b, "%s:%s:%s", s.provider[i].name,
				s.provider[i].keywords ? s.provider[i].keywords : "",
				s.provider[i].level ? s.provider[i].level : "4");
	}
	if (s.capture || s.count == 0) {
		fprintf(stderr, "openetw pktmon: packets are recorded until Ctrl-C, by this line:\n\t");
		cli_become_say(&b);
		return CLI_FAILED;
	}
	if (live) {
		cli_become_add(&b, "--realtime");
	} else if (strcasecmp(s.mode, "memory") == 0) {
		return cli_instead(a, "--log-mode memory",
				   "'openetw start " SESSION " -m buffering -p …', and 'openetw flush " SESSION
				   " -o FILE' writes it");
	} else if (strcasecmp(s.mode, "multi-file") == 0) {
		return cli_instead(a, "--log-mode multi-file",
				   "'openetw start " SESSION " -m newfile --max-size 512MB -o PktMon%d.etl -p …'");
	} else if (strcasecmp(s.mode, "circular") != 0) {
		return cli_usage(a, "--log-mode is circular, multi-file, memory or real-time, not '%s'", s.mode);
	} else {
		cli_become_add(&b, "-m");
		cli_become_add(&b, "circular");
		cli_become_add(&b, "--max-size");
		cli_become_addf(&b, "%sMB", s.size);
	}
	return cli_become(a, &b);
}

static int run(struct cli_args *a)
{
	const char *verb = a->count > 0 ? a->words[0] : "";
	if (strcasecmp(verb, "etl2pcap") == 0 || strcasecmp(verb, "pcapng") == 0) {
		return convert(a, false);
	}
	if (strcasecmp(verb, "etl2txt") == 0 || strcasecmp(verb, "format") == 0) {
		return convert(a, true);
	}
	if (strcasecmp(verb, "start") == 0) {
		return start(a);
	}
	if (strcasecmp(verb, "stop") == 0 || strcasecmp(verb, "status") == 0) {
		struct cli_become b = {.word = {"openetw", strcasecmp(verb, "stop") == 0 ? "stop" : "query", SESSION},
				       .count = 3};
		return cli_become(a, &b);
	}
	static const struct {
		const char *verb, *instead;
	} others[] = {
		{"filter", "'openetw record --packets IFACE' takes one interface; 'openetw pcapng' and a reader of "
			   "captures select"},
		{"list", "'ip link' lists the interfaces; 'openetw record --packets IFACE' takes one"},
		{"comp", "'ip link' lists the interfaces; 'openetw record --packets IFACE' takes one"},
		{"counters", "'ip -s link' shows what interfaces counted"},
		{"reset", "'ip -s link' shows what interfaces counted; nothing sets that to zero"},
		{"unload", "there is no driver to unload"},
		{"hex2pkt", "'text2pcap' makes a capture of a hexadecimal dump"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(others); i++) {
		if (strcasecmp(verb, others[i].verb) == 0) {
			return cli_instead(a, others[i].verb, others[i].instead);
		}
	}
	return cli_usage(a,
			 *verb ? "'%s' is none of start, stop, status, etl2pcap, etl2txt"
			       : "start, stop, status, etl2pcap or etl2txt?",
			 verb);
}

const struct cli_command cli_pktmon = {
	.name = "pktmon",
	.synopsis = "etl2pcap|etl2txt FILE [-o FILE] | start --trace -p PROVIDER … [-f FILE] | stop | status",
	.summary = "Windows' packet monitor, with what our verbs have for it.",
	.details =
		"Each command is done by another verb, and the line that does it is printed: etl2pcap by pcapng, "
		"etl2txt by\n"
		"tracefmt, 'start --trace' by a session PktMon, which stop ends. Packets are taken by 'openetw record\n"
		"--packets', in the foreground; 'start --capture' says the line.\n\n"
		"Examples:\n"
		"  openetw pktmon etl2pcap PktMon.etl --out PktMon.pcapng\n"
		"  openetw pktmon start --trace -p MyCompany.Web -k 0x11 -l 5 -f web.etl\n"
		"  openetw pktmon stop\n",
	.run = run,
	.classic = true,
	.raw = true,
	.linked = true,
	.complete = "file",
};
