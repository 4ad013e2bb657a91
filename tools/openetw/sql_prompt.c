/* SPDX-License-Identifier: MIT
 *
 * Lines are edited with libedit where the system has it: it is loaded when a terminal asks, so nothing needs it to be
 * built, and no other verb has it in memory. Its functions are those of readline, by the same names.
 */
#include "tools/openetw/sql_prompt.h"

#include "tools/common/cli.h"
#include "tools/tables/table_make.h"
#include "tools/openetw/sql_ready.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define QUERY_MAX 60000u

static struct {
	char *(*readline)(const char *prompt);
	int (*add_history)(const char *line);
	char **(*matches)(const char *text, char *(*next)(const char *text, int state));
} edit;

static const char *const words[] = {
	"select",   "from",         "where",    "group by", "order by",       "limit",      "having",      "distinct",
	"join",     "left join",    "using",    "on",       "with",           "as",         "and",         "or",
	"not",      "between",      "like",     "in",       "is null",        "desc",       "asc",         "count(*)",
	"sum(",     "avg(",         "min(",     "max(",     "quantile_cont(", "time_text(", "stack_text(", "frame(",
	"describe", "process_name", "duration", "provider", "event",          "time",       ".tables",     ".help",
	".quit"};

static char *next_word(const char *text, int state)
{
	static size_t word, table;
	size_t n = strlen(text);
	if (state == 0) {
		word = table = 0;
	}
	while (word < BASE_ARRAY_LEN(words)) {
		const char *w = words[word++];
		if (strncasecmp(w, text, n) == 0) {
			return strdup(w);
		}
	}
	const char *const *names = table_make_names();
	while (names[table]) {
		const char *w = names[table++];
		if (strncasecmp(w, text, n) == 0) {
			return strdup(w);
		}
	}
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	return edit.matches(text, next_word);
}

static void load_edit(void)
{
	static const char *const libraries[] = {"libedit.so.2", "libedit.so", "libreadline.so.8"};
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		return;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(libraries) && !edit.readline; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		void *read = library ? dlsym(library, "readline") : NULL, *add = NULL, *matches = NULL, *hook = NULL;
		if (read) {
			add = dlsym(library, "add_history");
			matches = dlsym(library, "rl_completion_matches");
			hook = dlsym(library, "rl_attempted_completion_function");
		}
		if (!read || !add || !matches || !hook) {
			continue;
		}
		memcpy(&edit.readline, &read, sizeof read);
		memcpy(&edit.add_history, &add, sizeof add);
		memcpy(&edit.matches, &matches, sizeof matches);
		char **(*mine)(const char *, int, int) = complete;
		memcpy(hook, &mine, sizeof mine);
	}
}

/* A line without its end, to be freed; NULL: there are no more. */
static char *read_line(const char *prompt)
{
	if (edit.readline) {
		return edit.readline(prompt);
	}
	char *line = NULL;
	size_t cap = 0;
	if (isatty(STDIN_FILENO)) {
		fputs(prompt, stdout);
		fflush(stdout);
	}
	ssize_t n = getline(&line, &cap, stdin);
	if (n < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = 0;
	return line;
}

static void help(void)
{
	fputs("A query ends with a semicolon. .tables lists the tables, .run NAME runs a ready query, .list lists "
	      "those,\n.quit (or Ctrl-D) ends.\n",
	      stdout);
}

static bool ends(const char *text)
{
	size_t n = strlen(text);
	while (n > 0 && strchr(" \t\n", text[n - 1])) {
		n--;
	}
	return n > 0 && text[n - 1] == ';';
}

/* False: the end. */
static bool command(const char *line, void *context, int (*run)(void *context, const char *text), int *status)
{
	struct sql_ready q;
	if (strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0) {
		return false;
	}
	if (strncmp(line, ".run ", 5) == 0 && sql_ready_find(line + 5, &q)) {
		char *text = strndup(q.text, q.bytes);
		*status |= text ? run(context, text) : CLI_FAILED;
		free(text);
	} else if (strcmp(line, ".list") == 0) {
		for (unsigned i = 0; sql_ready_at(i, &q); i++) {
			printf("%-28s %s\n", q.name, q.question);
		}
	} else if (strcmp(line, ".tables") == 0) {
		*status |= run(context, line);
	} else {
		help();
	}
	return true;
}

int sql_prompt(void *context, int (*run)(void *context, const char *text))
{
	struct strbuf query = {0};
	bool terminal = isatty(STDIN_FILENO), more = true;
	int status = CLI_OK;
	load_edit();
	if (terminal) {
		help();
	}
	while (more) {
		char *line = read_line(query.len ? "  ...> " : "sql> ");
		if (!line && terminal && cli_signal_caught() == SIGINT) { /* what was typed is not wanted */
			cli_signals_restore();
			cli_signals_catch();
			clearerr(stdin);
			putchar('\n');
			strbuf_clear(&query);
			continue;
		}
		if (!line || (!terminal && cli_signal_caught())) {
			free(line);
			break;
		}
		if (query.len == 0 && line[0] == '.') {
			more = command(line, context, run, &status);
		} else if (query.len + strlen(line) > QUERY_MAX) {
			fputs("openetw sql: the query is too long\n", stderr);
			strbuf_clear(&query);
		} else {
			strbuf_adds(&query, line);
			strbuf_addc(&query, '\n');
		}
		if (query.len > 1 && ends(query.s)) {
			query.s[query.len - 1] = 0;
			if (edit.add_history) {
				edit.add_history(query.s);
			}
			status |= run(context, query.s);
			strbuf_clear(&query);
		} else if (query.len == 1) {
			strbuf_clear(&query);
		}
		free(line);
		if (terminal && cli_signal_caught()) { /* it ended a query */
			cli_signals_restore();
			cli_signals_catch();
		}
	}
	if (query.len > 1) { /* without its semicolon */
		status |= run(context, query.s);
	}
	strbuf_finish(&query);
	if (terminal) {
		putchar('\n');
		status = CLI_OK;
	}
	return status;
}
