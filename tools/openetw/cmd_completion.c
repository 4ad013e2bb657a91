/* SPDX-License-Identifier: MIT
 * completion: shell completion scripts, generated from the verbs' tables so that they are never
 * stale.
 */
#include "tools/common/cli.h"
#include "tools/openetw/filter_words.h"

static const struct cli_option no_options[] = {{0}};

/* How the session names get out of the JSON: the name comes first in each line. */
#define SESSIONS "openetw list --json 2>/dev/null | sed -n 's/^{\"name\":\"\\([^\"]*\\)\".*/\\1/p'"

/* The classic tools' options begin with one dash. */
static const char *dashes(const struct cli_command *c)
{
	return c->classic ? "-" : "--";
}

/* The options that are shown, those of the verb's topics too, each name once; ended by an empty row. */
static const struct cli_option *rows_of(const struct cli_command *c)
{
	static struct cli_option rows[256];
	struct cli_topic t = {.options = c->options};
	size_t n = 0;
	rows[0] = (struct cli_option){0};
	for (int i = 0;; i++) {
		for (const struct cli_option *o = t.options; o && o->name && n + 1 < BASE_ARRAY_LEN(rows); o++) {
			if (o->help && !cli_option_find(rows, o->name, strlen(o->name), 0, c->classic)) {
				rows[n++] = *o;
				rows[n] = (struct cli_option){0};
			}
		}
		if (!c->topic || !c->topic(i, &t)) {
			return rows;
		}
	}
}

static void words_of(const struct cli_command *c)
{
	for (const struct cli_option *o = rows_of(c); o->name; o++) {
		printf("%s%s ", dashes(c), o->name);
	}
	printf("--help");
}

static bool takes_filter(const struct cli_option *o)
{
	return strcmp(o->name, "filter") == 0 && o->arg;
}

/* Names are of traces, which anybody may have written: one that would be two lines, or move the cursor, is not offered. */
static bool print_whole(void *text, const struct filter_completion *c)
{
	for (const char *p = c->text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f) {
			return true;
		}
	}
	printf("%.*s%s\n", (int)c->replaces.at, (const char *)text, c->text);
	return true;
}

/* What a filter that somebody is typing may become: the shells' functions call this, with the words of the command line
 * from the verb on: the filter itself among them, and what is behind it, where the shell tells that. */
static int filter(char *text, int count, char **words)
{
	struct filter_words *w = filter_words_create(text, count, words);
	int err = w ? filter_complete(text, strlen(text), filter_words_get(w), print_whole, text) : -ENOMEM;
	filter_words_destroy(w);
	return err == 0 ? CLI_OK : CLI_FAILED;
}

/* "a|b|c" as "a b c" */
static void alternatives(const char *values)
{
	for (; *values; values++) {
		putchar(*values == '|' ? ' ' : *values);
	}
}

static void bash_verb(const struct cli_command *c)
{
	printf("\t%s)\n\t\topts='", c->name);
	words_of(c);
	printf("'\n\t\tkind='%s'\n\t\tcase $prev in\n", c->complete ? c->complete : "");
	for (const struct cli_option *o = rows_of(c); o->name; o++) {
		if (!o->arg) {
			continue;
		}
		printf("\t\t%s%s", dashes(c), o->name);
		if (o->letter) {
			printf("|-%c", o->letter);
		}
		if (o->values) {
			printf(") COMPREPLY=($(compgen -W '");
			alternatives(o->values);
			printf("' -- \"$cur\")); return ;;\n");
		} else if (takes_filter(o)) {
			printf(") mapfile -t COMPREPLY < <(openetw completion filter -- \"${cur#[\\\"\\']}\" "
			       "\"${COMP_WORDS[@]:1}\" 2>/dev/null); compopt -o nospace 2>/dev/null; "
			       "return ;;\n");
		} else if (strstr(o->arg, "FILE")) {
			printf(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
		} else {
			printf(") return ;;\n");
		}
	}
	printf("\t\tesac ;;\n");
}

static void bash(void)
{
	printf("# bash completion for openetw\n_openetw() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
	       "verb=${COMP_WORDS[1]}\n"
	       "\tlocal opts='' kind=''\n\tCOMPREPLY=()\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (int i = 0; cli_commands[i]; i++) {
		printf("%s ", cli_commands[i]->name);
	}
	printf("help' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $verb in\n");
	for (int i = 0; cli_commands[i]; i++) {
		bash_verb(cli_commands[i]);
	}
	printf("\thelp) kind=verb ;;\n\tesac\n\tcase $cur in\n"
	       "\t-*) COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\")); return ;;\n\tesac\n"
	       "\tcase $kind in\n"
	       "\tsession)\n\t\tlocal name\n" /* compgen -W would run the commands in names that others chose */
	       "\t\twhile IFS= read -r name; do [[ $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\"); done "
	       "< <(" SESSIONS ") ;;\n"
	       "\tfile) COMPREPLY=($(compgen -f -X '!*.etl' -- \"$cur\") $(compgen -d -- "
	       "\"$cur\")) ;;\n"
	       "\tcommand) COMPREPLY=($(compgen -c -f -- \"$cur\")) ;;\n\tverb) "
	       "COMPREPLY=($(compgen -W '");
	for (int i = 0; cli_commands[i]; i++) {
		printf("%s ", cli_commands[i]->name);
	}
	printf("' -- \"$cur\")) ;;\n\t*) COMPREPLY=($(compgen -W \"${kind//|/ }\" -- \"$cur\")) "
	       ";;\n\tesac\n}\n"
	       "complete -o filenames -F _openetw openetw\n");
}

/* Inside zsh's '--name[help]:message:action' */
static void zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'') {
			printf("'\\''");
		} else {
			if (strchr("[]:\\", *s)) {
				putchar('\\');
			}
			putchar(*s);
		}
	}
}

static void zsh_verb(const struct cli_command *c)
{
	printf("\t%s)\n\t\t_arguments -s \\\n", c->name);
	for (const struct cli_option *o = rows_of(c); o->name; o++) {
		for (int letter = o->letter ? 1 : 0; letter >= 0; letter--) {
			if (letter) {
				printf("\t\t\t'*-%c[", o->letter);
			} else {
				printf("\t\t\t'*%s%s[", dashes(c), o->name);
			}
			zsh_text(o->help);
			printf("]");
			if (o->arg) {
				putchar(':');
				zsh_text(o->arg);
				putchar(':');
				if (o->values) {
					putchar('(');
					alternatives(o->values);
					putchar(')');
				} else if (takes_filter(o)) {
					printf("_openetw_filter");
				} else if (strstr(o->arg, "FILE")) {
					printf("_files");
				}
			}
			printf("' \\\n");
		}
	}
	const char *kind = c->complete ? c->complete : "";
	printf("\t\t\t'--help[show help]' \\\n\t\t\t");
	if (strcmp(kind, "session") == 0) {
		printf("'*:session:($(_openetw_sessions))'");
	} else if (strcmp(kind, "file") == 0) {
		printf("'*:file:_files -g \"*.etl\"'");
	} else if (strcmp(kind, "command") == 0) {
		printf("'*::command:_normal'");
	} else if (strchr(kind, '|')) {
		printf("'*:word:(");
		alternatives(kind);
		printf(")'");
	} else {
		printf("'*: :'");
	}
	printf(" ;;\n");
}

static void zsh(void)
{
	printf("#compdef openetw\n_openetw_sessions() {\n\t" SESSIONS "\n}\n"
	       "_openetw_filter() {\n\tlocal -a all\n"
	       "\tall=(${(f)\"$(openetw completion filter -- \"${(Q)PREFIX}\" \"${words[@]}\" 2>/dev/null)\"})\n"
	       "\tcompadd -U -S '' -a all\n}\n_openetw() {\n"
	       "\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(\n");
	for (int i = 0; cli_commands[i]; i++) {
		printf("\t\t\t'%s:", cli_commands[i]->name);
		zsh_text(cli_commands[i]->summary);
		printf("'\n");
	}
	printf("\t\t)\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n\tlocal verb=$words[2]\n"
	       "\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n");
	for (int i = 0; cli_commands[i]; i++) {
		zsh_verb(cli_commands[i]);
	}
	printf("\tesac\n}\n_openetw \"$@\"\n");
}

/* Inside fish's single quotes */
static void fish_text(const char *s)
{
	putchar('\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\') {
			putchar('\\');
		}
		putchar(*s);
	}
	putchar('\'');
}

static void fish(void)
{
	printf("function __openetw_sessions\n\t" SESSIONS "\nend\n");
	for (int i = 0; cli_commands[i]; i++) {
		const struct cli_command *c = cli_commands[i];
		printf("complete -c openetw -n __fish_use_subcommand -f -a %s -d ", c->name);
		fish_text(c->summary);
		putchar('\n');
		if (c->complete && strcmp(c->complete, "session") == 0) {
			printf("complete -c openetw -n '__fish_seen_subcommand_from %s' -f -a "
			       "'(__openetw_sessions)'\n",
			       c->name);
		} else if (c->complete && strchr(c->complete, '|')) {
			printf("complete -c openetw -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
			alternatives(c->complete);
			printf("'\n");
		}
		for (const struct cli_option *o = rows_of(c); o->name; o++) {
			printf("complete -c openetw -n '__fish_seen_subcommand_from %s' -%c %s", c->name,
			       c->classic ? 'o' : 'l', o->name);
			if (o->letter) {
				printf(" -s %c", o->letter);
			}
			printf(" -d ");
			fish_text(o->help);
			if (o->values) {
				printf(" -x -a '");
				alternatives(o->values);
				printf("'");
			} else if (takes_filter(o)) {
				printf(" -x -a '(openetw completion filter -- (string trim -l -c \"\\\"\\'\" -- "
				       "(commandline -ct)) (commandline -opc)[2..-1])'");
			} else if (o->arg) {
				printf(strstr(o->arg, "FILE") ? " -r -F" : " -x");
			}
			putchar('\n');
		}
	}
}

static int run(struct cli_args *a)
{
	const char *shell = a->count == 1 ? a->words[0] : "";
	if (a->count >= 2 && strcmp(a->words[0], "filter") == 0) {
		return filter(a->words[1], a->count - 2, a->words + 2);
	}
	if (strcmp(shell, "bash") == 0) {
		bash();
	} else if (strcmp(shell, "zsh") == 0) {
		zsh();
	} else if (strcmp(shell, "fish") == 0) {
		fish();
	} else {
		return cli_usage(a, "which shell? bash, zsh or fish");
	}
	return CLI_OK;
}

const struct cli_command cli_completion = {
	.name = "completion",
	.synopsis = "bash|zsh|fish",
	.summary = "Print a shell completion script.",
	.details = "An installed OpenETW has them where the shells look. Otherwise:\n"
		   "  bash: eval \"$(openetw completion bash)\"\n"
		   "  zsh:  openetw completion zsh >~/.zfunc/_openetw     (a directory of $fpath)\n"
		   "  fish: openetw completion fish >~/.config/fish/completions/openetw.fish\n",
	.options = no_options,
	.run = run,
	.complete = "bash|zsh|fish",
};
