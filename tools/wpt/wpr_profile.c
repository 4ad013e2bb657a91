/* SPDX-License-Identifier: MIT
 * From the words after -start to one united profile; profiles as text.
 */
#include "tools/common/session_options.h"
#include "tools/wpt/wpr.h"
#include "base/file.h"
#include "tools/common/path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

extern const char profiles_builtin[];
extern const size_t profiles_builtin_bytes;

int wpr_fail(uint32_t code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputc('\t', stderr);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n\n\tError code: 0x%08x\n", code);
	if (code == WPR_NOT_RUNNING) {
		fprintf(stderr, "\t'wpr -start PROFILE' begins a recording; 'wpr -status' shows what runs. A "
				"recording with\n\tan -instancename is reached by that name only.\n");
	} else {
		const char *hint = (code & 0xFFFF0000u) == WPR_HRESULT(0) ? cli_hint(code & 0xFFFF) : NULL;
		if (hint) {
			fprintf(stderr, "\t%s\n", hint);
		}
		fprintf(stderr, "\t'openetw explain 0x%08x' says more\n", code);
	}
	return CLI_FAILED;
}

int wpr_fail_call(uint32_t win32, const char *fmt, ...)
{
	char what[600];
	const char *why = openetw_last_error_text(), *text = openetw_error_text(win32);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	return wpr_fail(WPR_HRESULT(win32), "wpr %s: %s", what, *why ? why : text ? text : "unknown error");
}

void wpr_warn(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "wpr: warning: %s\n", text);
}

static char *read_all(const char *path, size_t *ret_n)
{
	char mapped[PATH_MAX];
	struct strbuf b = {0};
	int err = file_read(path, PROFILE_BYTES_MAX, &b);
	if (err == -ENOENT) {
		err = file_read(cli_path(path, mapped), PROFILE_BYTES_MAX, &b);
	}
	if (err == 0) {
		*ret_n = b.len;
		return b.s;
	}
	if (err == -EFBIG || err == -EINVAL || err == -EISDIR) {
		wpr_fail(WPR_BAD_PROFILE, "%s is no file, or larger than a profile can be (%u MB).", path,
			 PROFILE_BYTES_MAX >> 20);
	} else if (err == -ENOMEM) {
		wpr_fail_call(ERROR_NOT_ENOUGH_MEMORY, "cannot read %s", path);
	} else {
		wpr_fail(WPR_HRESULT(win32_from_errno(err)), "Cannot open the profile %s: %s%s", path, strerror(-err),
			 strchr(path, '\\') ? "; folders are parted by / here" : "");
	}
	strbuf_finish(&b);
	return NULL;
}

/* A file may have profiles that can be used and others that cannot. */
static void warn_of_broken(const struct profile_doc *doc, const char *path)
{
	struct strbuf b = {0};
	for (const struct profile_entry *e = profile_entries(doc); e; e = e->next) {
		if (e->broken) {
			strbuf_addf(&b, "%s%s", b.len ? ", " : "", e->id);
		}
	}
	if (b.len) {
		fprintf(stderr, "wpr: warning: of %s these cannot be used: %s\n", path ? path : "the built-in profiles",
			b.s);
	}
	strbuf_finish(&b);
}

struct profile_doc *wpr_document(const char *path, int *ret_status)
{
	struct profile_doc *doc = NULL;
	size_t n = profiles_builtin_bytes;
	char *text = path ? read_all(path, &n) : NULL;
	*ret_status = CLI_FAILED;
	if (path && !text) {
		return NULL;
	}
	/* A file may derive from what is built in. */
	struct profile_doc *base = NULL;
	if (text) {
		profile_read(profiles_builtin, profiles_builtin_bytes, &base);
	}
	int err = profile_read_upon(text ? text : profiles_builtin, n, base, &doc);
	free(text);
	if (!doc) {
		wpr_fail_call(win32_from_errno(err), "cannot read %s", path);
		return NULL;
	}
	unsigned errors = 0;
	for (const struct profile_note *p = profile_notes(doc); p; p = p->next) {
		fprintf(stderr, "%s:%u:%u: %s: %s\n", path ? path : "built-in profiles", p->line, p->column,
			p->error ? "error" : "warning", p->text);
		errors += p->error;
	}
	if (err == -EBADMSG) {
		wpr_fail(WPR_BAD_PROFILE, "%s is no valid profile: %u mistake%s.", path, errors,
			 errors == 1 ? "" : "s");
		profile_close(doc);
		return NULL;
	}
	warn_of_broken(doc, path);
	*ret_status = CLI_OK;
	return doc;
}

/* "file.wprp!Name" apart; a word that names a file or ends in .wprp is a file. */
static char *file_of(const char *word, const char **ret_name)
{
	const char *bang = strrchr(word, '!');
	size_t n = strlen(word);
	if (bang) {
		*ret_name = bang + 1;
		return strndup(word, (size_t)(bang - word));
	}
	if (n > 5 && strcasecmp(word + n - 5, ".wprp") == 0) {
		*ret_name = "";
		return strdup(word);
	}
	*ret_name = word;
	return NULL;
}

static const char *name_at(const void *ctx, int i)
{
	const struct profile_entry *e = profile_entries(ctx);
	while (e && i-- > 0) {
		e = e->next;
	}
	return e ? e->name : NULL;
}

/* What else Windows' wpr has by itself. NULL: not that either. */
static const char *only_windows(const char *name)
{
	static const struct {
		const char *name, *why;
	} rows[] = {
		{"Registry", "Linux has no registry"},
		{"Heap", "'openetw record --heap PID|NAME' records heaps"},
		{"Pool", "Linux' kernel has no pool tags"},
		{"Audio", "providers of Windows; name those that are meant in a profile"},
		{"Video", "providers of Windows; name those that are meant in a profile"},
		{"InternetExplorer", "providers of Windows"},
		{"EdgeBrowser", "providers of Windows; those of a browser here can be named in a profile"},
		{"Minifilter", "Linux has no filter manager; FileIO has the operations themselves"},
		{"GPU", "the kernel's graphics events have no source here yet"},
		{"XAMLActivity", "providers of Windows"},
		{"HTMLActivity", "providers of Windows"},
		{"DesktopComposition", "providers of Windows"},
		{"XAMLAppResponsiveness", "providers of Windows"},
		{"HTMLResponsiveness", "providers of Windows"},
		{"XAMLHTMLAppMemoryAnalysis", "providers of Windows"},
		{"ReferenceSet", "touched pages have no source here; ResidentSet has what is asked for"},
		{"HeapSnapshot", "heap snapshots have no source on this system"},
		{"UTC", "providers of Windows"},
		{"WdfTraceLoggingProvider", "providers of Windows' driver framework"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (strcasecmp(rows[i].name, name) == 0) {
			return rows[i].why;
		}
	}
	return NULL;
}

static int no_such_profile(const struct profile_doc *doc, const char *file, const char *name, bool file_mode)
{
	const struct profile_entry *other = profile_find(doc, name, PROFILE_ANY_MODE);
	const char *where = file ? file : "the built-in profiles ('wpr -profiles' lists them)";
	if (other) {
		return wpr_fail(WPR_NOT_FOUND, "The profile '%s' in %s has no variant for %s.%s",
				*name ? name : other->name, where,
				file_mode ? "a file" : "memory, which is where a recording goes without -filemode",
				file_mode ? "" : " Add -filemode.");
	}
	char plain[128];
	snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "."), name);
	const char *why = file ? NULL : only_windows(plain);
	if (why) {
		return wpr_fail(WPR_NOT_FOUND, "The profile '%s' of Windows is not here: %s.", plain, why);
	}
	const char *near = cli_nearest(plain, name_at, doc);
	return near ? wpr_fail(WPR_NOT_FOUND, "There is no profile '%s' in %s. Is '%s' meant?", name, where, near)
		    : wpr_fail(WPR_NOT_FOUND, "There is no profile '%s' in %s.", name, where);
}

static bool same_provider(void *ctx, const char *a, const char *b)
{
	GUID x, y;
	(void)ctx;
	return wpr_provider_guid(a, &x) && wpr_provider_guid(b, &y) && memcmp(&x, &y, sizeof x) == 0;
}

static int choose_one(struct wpr *w, const char *word, bool file_mode)
{
	static const struct profile_hooks hooks = {.same_provider = same_provider, .warn = wpr_warn};
	const char *name;
	struct profile *p = NULL;
	int status;
	char *file = file_of(word, &name);
	struct profile_doc *doc = wpr_document(file, &status);
	const struct profile_entry *e = doc ? profile_find(doc, name, file_mode ? PROFILE_FILE : PROFILE_MEMORY) : NULL;
	if (doc && !e) {
		status = no_such_profile(doc, file, name, file_mode);
	} else if (e && e->broken) {
		status = wpr_fail(WPR_BAD_PROFILE,
				  "The profile '%s' cannot be used: it, or what it uses, has mistakes.", e->id);
	} else if (e) {
		size_t used = strlen(w->names);
		snprintf(w->names + used, sizeof w->names - used, "%s%s.%s", used ? "+" : "", e->name,
			 profile_detail_text(e->detail));
		int err = profile_resolve(doc, e, &p);
		if (err == 0 && !w->profile) {
			w->profile = profile_create(e->name, e->detail, e->mode);
			err = w->profile ? 0 : -ENOMEM;
		}
		err = err == 0 ? profile_unite(w->profile, p, &hooks) : err;
		status = err ? wpr_fail_call(win32_from_errno(err), "cannot resolve '%s'", e->id) : CLI_OK;
		profile_free(p);
	}
	profile_close(doc);
	free(file);
	return status;
}

int wpr_choose(struct wpr *w, const char *const *words, int count, bool file_mode)
{
	int status = CLI_OK;
	for (int i = 0; i < count && status == CLI_OK; i++) {
		char plain[64];
		snprintf(plain, sizeof plain, "%.*s", (int)strcspn(words[i], "."), words[i]);
		/* Beside others, what only Windows has is left out; alone it is refused. */
		const char *why = count > 1 && !strchr(words[i], '!') ? only_windows(plain) : NULL;
		if (why && (w->profile || i + 1 < count)) {
			fprintf(stderr, "wpr: warning: the profile '%s' of Windows is not here and left out: %s\n",
				plain, why);
			continue;
		}
		status = choose_one(w, words[i], file_mode);
	}
	return status || w->profile ? status : choose_one(w, words[0], file_mode);
}

/* The keywords of a system provider that Linux has not. Is one of them strict? */
static bool missing_keywords(const struct profile *p, const struct profile_collector *c,
			     const struct profile_provider *v, bool tell)
{
	bool strict = false;
	struct strbuf b = {0};
	for (const struct profile_word *k = v->system_keywords; k; k = k->next) {
		uint32_t bits;
		const char *why;
		if (!wpr_kernel_keyword(k->text, &bits, &why)) {
			strbuf_addf(&b, "%s%s%s%s%s", b.len ? ", " : "", k->text, why ? " (" : "", why ? why : "",
				    why ? ")" : "");
			strict = strict || k->strict || v->strict || p->strict;
		}
	}
	if (b.len && tell) {
		fprintf(stderr, "wpr: warning: '%s': there is not on Linux: %s\n", c->name, b.s);
	}
	strbuf_finish(&b);
	return strict;
}

int wpr_check_sources(const struct wpr *w, bool tell, unsigned *ret_providers)
{
	unsigned providers = 0;
	bool strict = false, kernel = false;
	for (const struct profile_collector *c = w->profile->collectors; c; c = c->next) {
		bool mine = c->kind == PROFILE_EVENT && !c->private_session && !c->process_private;
		providers += wpr_kernel_wanted(c);
		if (tell && c->host_guest) {
			fprintf(stderr,
				"wpr: note: '%s': HostGuestCorrelation has no effect: hypervisors here tell nobody "
				"their clock\n",
				c->name);
		}
		for (const struct profile_provider *p = c->providers; p; p = p->next) {
			providers += mine;
			if (p->kind == PROFILE_SYSTEM) {
				kernel = true;
				strict = missing_keywords(w->profile, c, p, tell) || strict;
				continue;
			}
			strict = strict || (!mine && (p->strict || w->profile->strict));
			if (mine && tell && p->stacks) {
				fprintf(stderr,
					"wpr: warning: '%s': stacks of kernel events (%s%s) are not taken by an event "
					"provider here; a SystemProvider takes them\n",
					p->name, p->stacks->text, p->stacks->next ? ", …" : "");
			}
			if (mine || !tell) {
				continue;
			}
			if (p->kind == PROFILE_HEAP) {
				fprintf(stderr,
					"wpr: warning: '%s': wpr records no heap events; 'openetw record --heap' "
					"does\n",
					c->name);
			} else {
				fprintf(stderr,
					"wpr: warning: '%s' is a private session inside the process of '%s'; such "
					"sessions are started by that process (EVENT_TRACE_PRIVATE_LOGGER_MODE), not "
					"by "
					"wpr\n",
					c->name, p->name);
			}
		}
	}
	*ret_providers = providers;
	if (providers == 0) {
		return wpr_fail(WPR_NO_PROVIDER,
				kernel ? "%s: nothing of this profile can be recorded here."
				       : "%s: this profile enables no provider that can be recorded.",
				w->names);
	}
	return strict ? wpr_fail(WPR_NOT_SUPPORTED,
				 "%s: the profile says Strict=\"true\" of what cannot be recorded here, so "
				 "nothing was started.",
				 w->names)
		      : CLI_OK;
}

enum what {
	PROVIDER_ITSELF,
	STATE_ON_START,
	STATE_ON_SAVE,
	STATE_ON_DEMAND,
};

/* A heading, when it has something below it. */
static void print_providers(const struct profile_collector *c, enum what what, const char *heading)
{
	for (const struct profile_provider *v = c->providers; v; v = v->next) {
		const struct profile_state *s = what == STATE_ON_START  ? &v->on_start
						: what == STATE_ON_SAVE ? &v->on_save
									: &v->on_demand;
		if (v->kind != PROFILE_EVENT || (what != PROVIDER_ITSELF && !s->wanted)) {
			continue;
		}
		if (heading) {
			printf("%s\n", heading);
			heading = NULL;
		}
		uint64_t keywords = what == PROVIDER_ITSELF ? v->keywords : s->keywords;
		printf("\t%s: 0x%llx: 0x%02x%s\n", v->name, (unsigned long long)keywords, v->level,
		       what == PROVIDER_ITSELF && v->stack ? " : Stack" : "");
	}
}

/* In the layout of -profiledetails and "-status collectors details". */
void wpr_print_details(const struct profile *p, const char *instance, bool running)
{
	struct sysinfo si = {0};
	sysinfo(&si);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (const struct profile_collector *c = p->collectors; c; c = c->next) {
		char name[512];
		struct cli_props props;
		wpr_session_name(instance, c, name, sizeof name);
		bool runs = running && cli_session_query(name, &props) == ERROR_SUCCESS;
		if (running && c->kind == PROFILE_EVENT && !runs) {
			continue;
		}
		printf("\nCollector Name          : %s\n", name);
		printf("Buffer Size (KB)        : %u\n", runs ? props.p.BufferSize : c->buffer_kb);
		if (!running) {
			printf("Number of Buffers       : %u\n",
			       profile_buffer_count(c, (uint64_t)si.totalram * si.mem_unit,
						    cpus > 0 ? (uint32_t)cpus : 1));
		} else if (runs) {
			printf("Events Lost             : %u\n", props.p.EventsLost);
		}
		for (const struct profile_provider *v = c->providers; v; v = v->next) {
			if (v->kind == PROFILE_SYSTEM) {
				printf("System Keywords\n");
				for (const struct profile_word *k = v->system_keywords; k; k = k->next) {
					uint32_t bits;
					const char *why;
					printf("\t%s%s\n", k->text,
					       !running || (runs && wpr_kernel_keyword(k->text, &bits, &why))
						       ? ""
						       : " (not recorded)");
				}
				fputs(v->stacks ? "System Stacks\n" : "", stdout);
				for (const struct profile_word *k = v->stacks; k; k = k->next) {
					printf("\t%s\n", k->text);
				}
			}
		}
		print_providers(c, PROVIDER_ITSELF, "Providers");
		print_providers(c, STATE_ON_START, "CaptureState Providers on Start");
		print_providers(c, STATE_ON_SAVE, "CaptureState Providers on Save");
		print_providers(c, STATE_ON_DEMAND, "CaptureState Providers on Demand");
	}
}
