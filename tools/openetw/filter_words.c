/* SPDX-License-Identifier: MIT */
#include "tools/openetw/filter_words.h"

#include "tools/common/options.h"
#include "tools/common/session_options.h"
#include "tools/openetw/monitor.h"
#include "tools/tables/index_words.h"

#include <ctype.h>
#include <openetw/decode.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tdh.h>
#include <unistd.h>

#define NAMES_MAX  2048u /* of a kind; more are not offered */
#define EVENTS_MAX 1024u /* that are looked at for their fields */
#define DEPTH_MAX  8     /* of structs */
#define FILES_MAX  16    /* of one command line */
#define WAIT_MS    700u  /* for a trace without an index, of which then the beginning is known */

struct names {
	char *name[NAMES_MAX + 1]; /* NULL behind the last */
	unsigned count;
};
struct filter_words {
	struct filter_vocabulary vocabulary;
	struct names fields, events, providers;
	struct index_words *of_files; /* NULL: the command line names no trace */
};

static void add(struct names *n, const char *name)
{
	for (unsigned i = 0; i < n->count; i++) {
		if (strcmp(n->name[i], name) == 0) {
			return;
		}
	}
	if (*name && n->count < NAMES_MAX && (n->name[n->count] = strdup(name)) != NULL) {
		n->count++;
	}
}

/* The UTF-16 text at an offset of a block; "" when there is none. */
static const char *wide(const void *block, ULONG offset, char out[512])
{
	const uint16_t *s = (const uint16_t *)(const void *)((const char *)block + offset);
	size_t n = 0;
	while (offset && n < 255 && s[n]) {
		n++;
	}
	long bytes = utf16_to_utf8_lossy(s, n, out, 512);
	if (bytes < 0 || bytes >= 512 || !offset) {
		out[0] = 0;
	}
	while (out[0] && out[strlen(out) - 1] == ' ') { /* names of tasks and opcodes end so */
		out[strlen(out) - 1] = 0;
	}
	return out;
}

/* ---- providers, and what their events have ----------------------------------------------------- */

static void add_providers(struct names *n)
{
	ULONG bytes = 0;
	char name[512];
	if (TdhEnumerateProviders(NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	PPROVIDER_ENUMERATION_INFO info = malloc(bytes);
	if (info && TdhEnumerateProviders(info, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < info->NumberOfProviders; i++) {
			add(n, wide(info, info->TraceProviderInfoArray[i].ProviderNameOffset, name));
		}
	}
	free(info);
}

static void add_fields(struct names *n, const TRACE_EVENT_INFO *info, ULONG first, ULONG count, const char *prefix,
		       int depth)
{
	char name[512], path[768];
	for (ULONG i = first; i < first + count && i < info->PropertyCount; i++) {
		const EVENT_PROPERTY_INFO *p = &info->EventPropertyInfoArray[i];
		snprintf(path, sizeof path, "%s%s", prefix, wide(info, p->NameOffset, name));
		if (!(p->Flags & PropertyStruct)) {
			add(n, path);
		} else if (depth < DEPTH_MAX && strlen(path) + 2 < sizeof path) {
			strcat(path, ".");
			add_fields(n, info, p->structType.StructStartIndex, p->structType.NumOfStructMembers, path,
				   depth + 1);
		}
	}
}

static void add_event(struct filter_words *w, GUID *g, EVENT_DESCRIPTOR *e)
{
	ULONG bytes = 0;
	char task[512], opcode[512], both[1100];
	if (TdhGetManifestEventInformation(g, e, NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	PTRACE_EVENT_INFO info = malloc(bytes);
	if (info && TdhGetManifestEventInformation(g, e, info, &bytes) == ERROR_SUCCESS) {
		add_fields(&w->fields, info, 0, info->TopLevelPropertyCount, "", 0);
		wide(info, info->TaskNameOffset, task);
		wide(info, info->OpcodeNameOffset, opcode);
		snprintf(both, sizeof both, "%s%s%s", task, *task && *opcode && e->Opcode ? "/" : "",
			 *task && e->Opcode ? opcode : "");
		add(&w->events, both);
	}
	free(info);
}

static void add_provider(struct filter_words *w, const char *name)
{
	GUID g;
	ULONG bytes = 0;
	if (!cli_provider_guid(name, &g) ||
	    TdhEnumerateManifestProviderEvents(&g, NULL, &bytes) != ERROR_INSUFFICIENT_BUFFER) {
		return;
	}
	PPROVIDER_EVENT_INFO info = malloc(bytes);
	if (info && TdhEnumerateManifestProviderEvents(&g, info, &bytes) == ERROR_SUCCESS) {
		for (ULONG i = 0; i < info->NumberOfEvents && i < EVENTS_MAX; i++) {
			add_event(w, &g, &info->EventDescriptorsArray[i]);
		}
	}
	free(info);
}

/* ---- which providers --------------------------------------------------------------------------- */

/* A shell hands out words as they were typed. */
static const char *unquoted(const char *word, char out[300])
{
	word += *word == '"' || *word == '\'';
	size_t n = strlen(word);
	n -= n && (word[n - 1] == '"' || word[n - 1] == '\'');
	snprintf(out, 300, "%.*s", (int)BASE_MIN(n, (size_t)299), word);
	return out;
}

/* provider == NAME, anywhere in the text. */
static void add_named_in(struct filter_words *w, const char *text)
{
	char name[300];
	for (const char *s = text; (s = strstr(s, "provider")) != NULL;) {
		s += strlen("provider");
		s += strspn(s, " ");
		size_t signs = strspn(s, "=");
		s += signs + strspn(s + signs, " ");
		char quote = *s == '"' || *s == '\'' ? *s : 0;
		size_t n = quote ? strcspn(s + 1, "\"'") : strcspn(s, " ()");
		if (signs && n && n < sizeof name) {
			snprintf(name, sizeof name, "%.*s", (int)n, s + (quote != 0));
			add_provider(w, name);
		}
	}
}

/* The value of an option among the words: "-p X", "-pX", "--provider X", "--provider=X". NULL: another word. */
static const char *value_of(char **words, int count, int i, char letter, const char *name)
{
	const char *s = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
	size_t n = strlen(name);
	if (s[0] == '-' && s[1] == letter) {
		return s[2] ? s + 2 : next;
	}
	if (strncmp(s, "--", 2) == 0 && strncmp(s + 2, name, n) == 0) {
		return s[n + 2] == '=' ? s + n + 3 : s[n + 2] ? NULL : next;
	}
	return NULL;
}

/* ---- traces on the command line ----------------------------------------------------------------- */

/* A shell hands out words as they were typed: quotes, backslashes and ~ mean what they mean to it. False: too long. */
static bool path_of(const char *word, char *out, size_t cap)
{
	size_t n = 0;
	char quote = 0;
	const char *home = word[0] == '~' && (word[1] == '/' || !word[1]) ? getenv("HOME") : NULL;
	if (home) {
		n = (size_t)snprintf(out, cap, "%s", home);
		word++;
	}
	for (const char *s = word; *s && n + 1 < cap; s++) {
		if (quote ? *s == quote : *s == '"' || *s == '\'') {
			quote = quote ? 0 : *s;
		} else {
			s += *s == '\\' && quote != '\'' && s[1];
			out[n++] = *s;
		}
	}
	if (n + 1 >= cap) {
		return false;
	}
	out[n] = 0;
	return true;
}

/* Is the word behind this one its value? */
static bool takes_next(const struct cli_command *c, const char *word)
{
	const char *name = word + 1 + (word[1] == '-');
	bool whole = word[1] == '-' && word[2];
	if (strchr(word, '=') || (!whole && word[1] && word[2])) {
		return false;
	}
	const struct cli_option *o = cli_option_find(c->options, whole ? name : "", whole ? strlen(name) : 0,
						     whole ? 0 : word[1], c->classic);
	return o && o->arg && o->arg[0] != '[';
}

/* The files among the words, each to be freed. How many. */
static uint32_t files_of(const struct cli_command *c, int count, char **words, char *files[FILES_MAX])
{
	char path[4096];
	struct stat st;
	uint32_t n = 0;
	for (int i = 1; i < count && n < FILES_MAX; i++) {
		if (words[i][0] == '-' && words[i][1]) {
			i += takes_next(c, words[i]);
		} else if (path_of(words[i], path, sizeof path) && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			   (files[n] = strdup(path)) != NULL) {
			n++;
		}
	}
	return n;
}

/* Somebody waits for a key to do something, so an index that has to be made is not waited for, and writes no file. */
static struct index_words *words_of_files(const struct cli_command *c, int count, char **words)
{
	char *files[FILES_MAX], there[4096];
	struct openetw_index *x = NULL;
	struct index_words *w = NULL;
	OPENETW_SIZED(struct openetw_index_options, o);
	uint32_t n = files_of(c, count, words, files);
	o.flags = OPENETW_INDEX_BACKGROUND;
	for (uint32_t i = 0; i < n; i++) {
		bool kept =
			openetw_index_path(files[i], there, sizeof there) == ERROR_SUCCESS && access(there, R_OK) == 0;
		o.flags |= kept ? 0 : OPENETW_INDEX_MEMORY;
	}
	if (n && openetw_index_open((const char *const *)files, n, &o, &x) == ERROR_SUCCESS) {
		struct openetw_decoder *d = openetw_decoder_create();
		const char *patience = getenv("OPENETW_COMPLETION_MS");
		openetw_index_wait(x, patience ? (uint32_t)strtoul(patience, NULL, 10) : WAIT_MS);
		w = index_words_create(x, d);
		openetw_decoder_destroy(d);
		openetw_index_close(x);
	}
	for (uint32_t i = 0; i < n; i++) {
		free(files[i]);
	}
	return w;
}

struct filter_words *filter_words_create(const char *text, int count, char **words)
{
	struct filter_words *w = calloc(1, sizeof *w);
	char plain[300];
	if (!w) {
		return NULL;
	}
	if (count > 0 && strcmp(words[0], "monitor") == 0) {
		w->vocabulary.names = monitor_names;
		return w;
	}
	for (int i = 1; i < count; i++) {
		const char *file = value_of(words, count, i, 'M', "manifest");
		if (file) {
			(void)openetw_schema_load_file(unquoted(file, plain));
		}
	}
	const struct cli_command *c = count > 0 ? cli_find(words[0]) : NULL;
	w->of_files = c && c->complete && strcmp(c->complete, "file") == 0 ? words_of_files(c, count, words) : NULL;
	if (w->of_files) {
		w->vocabulary = *index_words_get(w->of_files);
		return w;
	}
	for (int i = 1; i < count; i++) {
		const char *provider = value_of(words, count, i, 'p', "provider");
		if (provider) {
			unquoted(provider, plain);
			plain[strcspn(plain, ":")] = 0;
			add_provider(w, plain);
		}
	}
	add_named_in(w, text);
	add_providers(&w->providers);
	w->vocabulary.fields = (const char *const *)w->fields.name;
	w->vocabulary.events = (const char *const *)w->events.name;
	w->vocabulary.providers = (const char *const *)w->providers.name;
	return w;
}

const struct filter_vocabulary *filter_words_get(const struct filter_words *w)
{
	return &w->vocabulary;
}

static void names_finish(struct names *n)
{
	for (unsigned i = 0; i < n->count; i++) {
		free(n->name[i]);
	}
}

void filter_words_destroy(struct filter_words *w)
{
	if (w) {
		names_finish(&w->fields);
		names_finish(&w->events);
		names_finish(&w->providers);
		index_words_destroy(w->of_files);
		free(w);
	}
}
