/* SPDX-License-Identifier: MIT
 * completion: shell completion scripts, generated from the verbs' tables so that they are never stale.
 */
#include "cli/cli.h"

static const struct cli_option no_options[] = {{0}};

static void words_of(const struct cli_command *c, FILE *f)
{
	for (const struct cli_option *o = c->options; o && o->name; o++) {
		fprintf(f, "--%s ", o->name);
	}
	fprintf(f, "--help");
}

static void bash(void)
{
	printf("# bash completion for openetw\n_openetw() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} opts='' kind=''\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '");
	for (int i = 0; cli_commands[i]; i++) {
		printf("%s ", cli_commands[i]->name);
	}
	printf("help' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $verb in\n");
	for (int i = 0; cli_commands[i]; i++) {
		printf("\t%s) opts='", cli_commands[i]->name);
		words_of(cli_commands[i], stdout);
		printf("' kind=%s ;;\n", cli_commands[i]->complete ? cli_commands[i]->complete : "file");
	}
	printf("\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\")) ;;\n"
	       "\t*) if [ \"$kind\" = session ]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$(openetw list --json 2>/dev/null | sed -n "
	       "'s/^{\"name\":\"\\([^\"]*\\)\".*/\\1/p')\" -- \"$cur\"))\n"
	       "\t   else\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\t   fi ;;\n\tesac\n}\n"
	       "complete -F _openetw openetw\n");
}

static void zsh(void)
{
	printf("#compdef openetw\n_openetw() {\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a verbs=(\n");
	for (int i = 0; cli_commands[i]; i++) {
		printf("\t\t\t'%s:%s'\n", cli_commands[i]->name, cli_commands[i]->summary);
	}
	printf("\t\t)\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (int i = 0; cli_commands[i]; i++) {
		printf("\t%s) compadd -- ", cli_commands[i]->name);
		words_of(cli_commands[i], stdout);
		printf(" ;;\n");
	}
	printf("\tesac\n\t_files\n}\n_openetw \"$@\"\n");
}

static void fish(void)
{
	for (int i = 0; cli_commands[i]; i++) {
		const struct cli_command *c = cli_commands[i];
		printf("complete -c openetw -n __fish_use_subcommand -a %s -d \"%s\"\n", c->name, c->summary);
		for (const struct cli_option *o = c->options; o && o->name; o++) {
			printf("complete -c openetw -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
			if (o->letter) {
				printf(" -s %c", o->letter);
			}
			printf("%s\n", o->arg ? " -r" : "");
		}
	}
}

static int run(struct cli_args *a)
{
	const char *shell = a->count == 1 ? a->words[0] : "";
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
	.details = "For bash: eval \"$(openetw completion bash)\"\n",
	.options = no_options,
	.run = run,
};
