/* SPDX-License-Identifier: MIT
 *
 * Profiles: the collection in tests/profile validates and resolves, that in tests/profile/bad is
 * refused at the place and in the words its last line expects; derivation does what the schema's
 * documentation says.
 */
#include "profile/profile.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, PROFILE_BYTES_MAX + 1);
	assert_non_null(f);
	assert_non_null(text);
	*ret_n = fread(text, 1, PROFILE_BYTES_MAX, f);
	fclose(f);
	return text;
}

/* Calls `each` for every profile file of a folder of this project. */
static unsigned for_files(const char *folder, void (*each)(const char *path))
{
	char dir[512], path[1024];
	unsigned n = 0;
	snprintf(dir, sizeof dir, "%s/%s", OPENETW_SOURCE_DIR, folder);
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		size_t k = strlen(e->d_name);
		if (k > 5 && strcmp(e->d_name + k - 5, ".wprp") == 0) {
			snprintf(path, sizeof path, "%s/%.255s", dir, e->d_name);
			each(path);
			n++;
		}
	}
	closedir(d);
	return n;
}

static void resolves(const char *path)
{
	size_t n;
	char *text = read_file(path, &n);
	struct profile_doc *doc = NULL;
	int err = profile_read(text, n, &doc);
	if (err) {
		fail_msg("%s: %s", path, doc && profile_notes(doc) ? profile_notes(doc)->text : "?");
	}
	for (const struct profile_entry *e = profile_entries(doc); e; e = e->next) {
		struct profile *p, *q;
		struct strbuf a = {0}, b = {0};
		struct profile_doc *again;
		assert_int_equal(profile_resolve(doc, e, &p), 0);
		assert_non_null(p->collectors);
		profile_write(p, &a);
		assert_int_equal(profile_read(a.s, a.len, &again), 0);
		assert_null(profile_notes(again)); /* not even a warning */
		assert_int_equal(profile_resolve(again, profile_entries(again), &q), 0);
		profile_write(q, &b);
		assert_string_equal(a.s, b.s);
		strbuf_finish(&a);
		strbuf_finish(&b);
		profile_free(p);
		profile_free(q);
		profile_close(again);
	}
	profile_close(doc);
	free(text);
}

static void every_profile_of_the_collection_resolves_and_survives_being_written(void **state)
{
	assert_true(for_files("tests/profile", resolves) >= 20);
	assert_true(for_files("data/profiles", resolves) >= 1);
}

/* The last line: <!-- expect LINE:COLUMN words --> or <!-- expect * words -->. */
static void is_refused(const char *path)
{
	size_t n;
	char *text = read_file(path, &n);
	char *expect = strstr(text, "<!-- expect ");
	struct profile_doc *doc = NULL;
	assert_non_null(expect);
	char *place = expect + strlen("<!-- expect "), *words = strchr(place, ' ') + 1;
	unsigned line = 0, column = 0;
	bool anywhere = *place == '*';
	assert_true(anywhere || sscanf(place, "%u:%u", &line, &column) == 2);
	*strstr(words, " -->") = 0;
	size_t before = (size_t)(expect - text);
	assert_int_equal(profile_read(text, before, &doc), -EBADMSG);
	bool found = false;
	for (const struct profile_note *p = profile_notes(doc); p; p = p->next) {
		assert_true(p->line > 0 && p->column > 0);
		found = found ||
			(p->error && (anywhere || (p->line == line && p->column == column)) && strstr(p->text, words));
	}
	if (!found) {
		const struct profile_note *p = profile_notes(doc);
		fail_msg("%s: wanted %u:%u '%s', got %u:%u '%s'", path, line, column, words, p->line, p->column,
			 p->text);
	}
	profile_close(doc);
	free(text);
}

static void every_bad_profile_is_refused_where_its_mistake_is(void **state)
{
	assert_true(for_files("tests/profile/bad", is_refused) >= 20);
}

/* The last line: <!-- expect ID… not ID… -->: which profiles are left, and which are lost. */
static void is_of_use_in_part(const char *path)
{
	size_t n;
	char *text = read_file(path, &n), *expect = strstr(text, "<!-- expect ");
	struct profile_doc *d = NULL;
	assert_non_null(expect);
	*strstr(expect, " -->") = 0;
	int err = profile_read(text, (size_t)(expect - text), &d);
	if (err) {
		fail_msg("%s: %s", path, d && profile_notes(d) ? profile_notes(d)->text : "?");
	}
	assert_non_null(profile_notes(d));
	const struct profile_entry *e = profile_entries(d);
	bool lost = false;
	char all[512] = "", wanted[512] = "";
	for (const struct profile_entry *x = e; x; x = x->next) {
		struct profile *p;
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s ", x->broken ? "!" : "", x->id);
		int resolved = profile_resolve(d, x, &p);
		assert_int_equal(resolved, x->broken ? -EBADMSG : 0);
		if (resolved == 0) {
			assert_non_null(p->collectors->providers);
			profile_free(p);
		}
	}
	for (char *w = strtok(expect + strlen("<!-- expect "), " "); w; w = strtok(NULL, " ")) {
		if (strcmp(w, "not") == 0) {
			lost = true;
			continue;
		}
		snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s ", lost ? "!" : "", w);
	}
	if (strcmp(all, wanted) != 0) {
		fail_msg("%s: wanted %s, got %s", path, wanted, all);
	}
	profile_close(d);
	free(text);
}

static void a_mistake_costs_the_profiles_that_use_it_and_no_other(void **state)
{
	assert_true(for_files("tests/profile/partly", is_of_use_in_part) >= 6);
}

/* ---- one file of the collection, by its number ------------------------------------------------- */

static struct profile_doc *doc;
static struct profile *open_profile(const char *file, const char *name, enum profile_mode mode)
{
	char path[1024];
	size_t n;
	struct profile *p;
	snprintf(path, sizeof path, "%s/tests/profile/%s.wprp", OPENETW_SOURCE_DIR, file);
	char *text = read_file(path, &n);
	assert_int_equal(profile_read(text, n, &doc), 0);
	free(text);
	const struct profile_entry *e = profile_find(doc, name, mode);
	assert_non_null(e);
	assert_int_equal(profile_resolve(doc, e, &p), 0);
	return p;
}
static void done(struct profile *p)
{
	profile_free(p);
	profile_close(doc);
}
static struct profile_provider *provider(const struct profile *p, unsigned index)
{
	struct profile_provider *v = p->collectors->providers;
	while (v && index-- > 0) {
		v = v->next;
	}
	return v;
}

static void what_is_not_said_has_the_documented_default(void **state)
{
	struct profile *p = open_profile("01-least", "A", PROFILE_FILE);
	const struct profile_provider *v = provider(p, 0);
	assert_string_equal(v->name, "MyCompany.Web");
	assert_int_equal(v->level, 0xFF);
	assert_true(v->keywords == PROFILE_ALL);
	assert_false(v->stack || v->sid || v->on_start.wanted || v->events.present || v->strict);
	done(p);
	p = open_profile("10-inline-providers", "A", PROFILE_FILE);
	assert_int_equal(p->collectors->kind, PROFILE_SYSTEM);
	assert_int_equal(p->collectors->buffer_kb, 128);
	assert_int_equal(p->collectors->buffers, 64);
	assert_string_equal(p->collectors->providers->system_keywords->text, "cpuconfig");
	assert_string_equal(p->collectors->next->providers->next->name, "MyCompany.Queue");
	done(p);
}

static void every_attribute_of_a_provider_arrives(void **state)
{
	struct profile *p = open_profile("04-all-provider-attributes", "A", PROFILE_FILE);
	const struct profile_provider *v = provider(p, 0);
	assert_int_equal(v->level, 5);
	assert_true(v->keywords == (0x8000000000000000u | 0x11));
	assert_true(v->stack && v->sid && v->tsid && v->event_key && v->non_paged && v->strict);
	assert_false(v->capture_only);
	assert_string_equal(v->exe, "web;db");
	assert_true(v->on_start.wanted && v->on_start.has_keywords);
	assert_int_equal(v->on_start.keywords, 2);
	assert_int_equal(v->on_save.keywords, 0x44);
	assert_int_equal(v->on_save.timeout_s, 30);
	assert_true(v->on_demand.wanted && !v->on_demand.has_keywords);
	done(p);
	p = open_profile("05-event-filters", "A", PROFILE_FILE);
	v = provider(p, 0);
	assert_true(v->events.present && v->events.in);
	assert_int_equal(v->events.count, 3);
	assert_int_equal(v->events.id[1], 16);
	assert_true(v->stack_events.present && !v->stack_events.in);
	done(p);
	p = open_profile("06-event-name-filters", "A", PROFILE_FILE);
	v = provider(p, 0);
	assert_int_equal(v->event_names.level, 5);
	assert_int_equal(v->event_names.keywords, 3);
	assert_string_equal(v->event_names.names->next->text, "Gr\xC3\xB6\xC3\x9F"
							      "e");
	assert_true(v->stack_names.keywords == PROFILE_ALL);
	done(p);
}

static void a_derived_profile_adds_removes_or_sets(void **state)
{
	struct profile *p = open_profile("11-add-a-provider", "B", PROFILE_FILE);
	assert_string_equal(provider(p, 0)->name, "MyCompany.Web");
	assert_string_equal(provider(p, 1)->name, "MyCompany.Db");
	assert_null(provider(p, 2));
	assert_null(p->collectors->next);
	done(p);
	p = open_profile("12-remove-a-provider", "B", PROFILE_FILE);
	assert_string_equal(provider(p, 0)->name, "MyCompany.Db");
	assert_null(provider(p, 1));
	done(p);
	p = open_profile("13-set-replaces", "B", PROFILE_FILE);
	assert_string_equal(provider(p, 0)->name, "MyCompany.Db");
	assert_null(provider(p, 1));
	done(p);
	p = open_profile("23-remove-a-collector", "B", PROFILE_FILE);
	assert_string_equal(p->collectors->name, "Events");
	assert_null(p->collectors->next);
	done(p);
	p = open_profile("02-file-and-memory", "A", PROFILE_MEMORY);
	assert_int_equal(p->mode, PROFILE_MEMORY);
	assert_string_equal(provider(p, 0)->name, "MyCompany.Web");
	done(p);
}

static void a_derived_provider_or_collector_has_what_its_base_has(void **state)
{
	struct profile *p = open_profile("14-derived-provider", "A", PROFILE_FILE);
	const struct profile_provider *v = provider(p, 0);
	assert_string_equal(v->name, "MyCompany.Web");
	assert_int_equal(v->keywords, 0x6); /* 1 and 2, 4 added, 0x1 removed as "1" */
	assert_true(v->stack);
	assert_int_equal(v->level, 5);
	done(p);
	p = open_profile("15-derived-collector", "A", PROFILE_FILE);
	assert_string_equal(p->collectors->name, "Big events");
	assert_int_equal(p->collectors->buffer_kb, 128);
	assert_int_equal(p->collectors->buffers, 512);
	done(p);
	p = open_profile("24-a-chain-of-bases", "A", PROFILE_FILE);
	assert_int_equal(provider(p, 0)->keywords, 0xFF);
	done(p);
}

static void a_reference_changes_what_it_refers_to_in_its_place_only(void **state)
{
	struct profile *p = open_profile("16-collector-changed-where-used", "A", PROFILE_FILE);
	assert_int_equal(p->collectors->buffer_kb, 512);
	assert_int_equal(p->collectors->buffers, 7);
	done(p);
	p = open_profile("17-keywords-changed-where-used", "A", PROFILE_FILE);
	assert_int_equal(provider(p, 0)->keywords, 0x11);
	assert_int_equal(provider(p, 0)->on_save.keywords, 0x20);
	done(p);
}

static void a_name_chooses_verbose_and_the_asked_mode(void **state)
{
	struct profile *p = open_profile("03-light-and-verbose", "A", PROFILE_FILE);
	assert_int_equal(p->detail, PROFILE_VERBOSE);
	assert_int_equal(profile_find(doc, "a.light", PROFILE_MEMORY)->detail, PROFILE_LIGHT);
	assert_int_equal(profile_find(doc, "A.Verbose.Memory", PROFILE_ANY_MODE)->mode, PROFILE_MEMORY);
	assert_int_equal(profile_find(doc, "", PROFILE_ANY_MODE)->mode, PROFILE_MEMORY);
	assert_null(profile_find(doc, "A.Medium", PROFILE_FILE));
	assert_null(profile_find(doc, "AB", PROFILE_FILE));
	done(p);
	p = open_profile("20-many-names", "", PROFILE_FILE);
	assert_string_equal(p->name, "Third"); /* Default="true" */
	assert_null(profile_find(doc, "Third", PROFILE_MEMORY));
	done(p);
}

static void buffers_are_a_count_or_a_part_of_memory(void **state)
{
	const uint64_t gib = 1u << 30;
	struct profile *p = open_profile("07-percent-of-memory", "A", PROFILE_MEMORY);
	assert_int_equal(profile_buffer_count(p->collectors, 4 * gib, 4), 122);  /* 3 % in MiB */
	assert_int_equal(profile_buffer_count(p->collectors, 64 * gib, 4), 192); /* the cap */
	assert_int_equal(profile_buffer_count(p->collectors, 1, 4), 2);
	done(p);
	p = open_profile("08-circular-file", "A", PROFILE_FILE);
	assert_int_equal(profile_buffer_count(p->collectors, gib, 4), 20);
	assert_true(p->collectors->circular);
	assert_int_equal(p->collectors->file_most_mb, 100);
	done(p);
}

static unsigned warnings;
static void count_warning(void *ctx, const char *text)
{
	warnings++;
}

static void united_profiles_get_at_least_what_each_asked_for(void **state)
{
	const struct profile_hooks hooks = {.warn = count_warning};
	struct profile *all = profile_create("All", PROFILE_VERBOSE, PROFILE_FILE);
	static const char *const files[] = {"14-derived-provider", "17-keywords-changed-where-used",
					    "22-two-collectors", "16-collector-changed-where-used"};
	warnings = 0;
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct profile *p = open_profile(files[i], "A", PROFILE_FILE);
		assert_int_equal(profile_unite(all, p, &hooks), 0);
		done(p); /* what was united does not need it */
	}
	assert_string_equal(all->collectors->name, "Events");
	assert_string_equal(all->collectors->next->name, "Other");
	assert_null(all->collectors->next->next);
	assert_int_equal(all->collectors->buffer_kb, 512);
	const struct profile_provider *v = provider(all, 0);
	assert_string_equal(v->name, "MyCompany.Web");
	assert_int_equal(v->level, 0xFF);
	assert_true(v->keywords == PROFILE_ALL);
	assert_true(v->stack);
	assert_int_equal(v->on_save.keywords, 0x20);
	assert_null(provider(all, 1));
	assert_int_equal(warnings, 0);
	struct profile *p = open_profile("05-event-filters", "A", PROFILE_FILE);
	assert_int_equal(profile_unite(all, p, &hooks), 0);
	assert_false(provider(all, 0)->events.present); /* the others want all of them */
	assert_int_equal(warnings, 1);
	done(p);
	p = open_profile("02-file-and-memory", "A", PROFILE_MEMORY);
	assert_int_equal(profile_unite(all, p, NULL), -EINVAL);
	done(p);
	profile_free(all);
}

static bool without_star(void *ctx, const char *a, const char *b)
{
	return strcmp(a + (*a == '*'), b + (*b == '*')) == 0;
}

static void one_provider_under_two_names_is_enabled_once(void **state)
{
	const struct profile_hooks hooks = {.same_provider = without_star};
	struct profile *all = profile_create("All", PROFILE_VERBOSE, PROFILE_FILE);
	static const char *const files[] = {"17-keywords-changed-where-used", "06-event-name-filters"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct profile *p = open_profile(files[i], "A", PROFILE_FILE);
		assert_int_equal(profile_unite(all, p, &hooks), 0);
		done(p);
	}
	assert_string_equal(provider(all, 0)->name, "MyCompany.Web");
	assert_null(provider(all, 1));
	assert_true(provider(all, 0)->stack_names.present); /* only one wants stacks, and only these */
	assert_false(provider(all, 0)->event_names.present);
	profile_free(all);
}

static void hardware_counters_are_derived_united_and_written(void **state)
{
	struct profile *p = open_profile("31-counters-with-events", "A", PROFILE_FILE);
	const struct profile_counters *c = &p->collectors->counting;
	assert_string_equal(c->counters->text, "PageFaults");
	assert_string_equal(c->counters->next->text, "ContextSwitches");
	assert_null(c->counters->next->next);
	assert_string_equal(c->events->text, "CSwitch");
	assert_string_equal(c->events->next->text, "SystemCallEnter");
	assert_string_equal(c->sampled->text, "PageFaults=50");
	assert_string_equal(c->sampled->next->text, "CpuMigrations");
	assert_true(c->strict);
	assert_null(c->refused);
	/* Another recording in the same session adds what it counts; and what is written reads the same. */
	struct profile_doc *first = doc, *again;
	struct profile *all = profile_create("A", PROFILE_VERBOSE, PROFILE_FILE), *back;
	struct strbuf out = {0};
	assert_non_null(all);
	assert_int_equal(profile_unite(all, p, NULL), 0);
	struct profile *inlined = open_profile("31-counters-with-events", "Inline", PROFILE_FILE);
	assert_false(inlined->collectors->counting.strict);
	assert_int_equal(profile_unite(all, inlined, NULL), 0);
	done(inlined);
	doc = first;
	profile_write(all, &out);
	assert_int_equal(profile_read(out.s, out.len, &again), 0);
	assert_int_equal(profile_resolve(again, profile_entries(again), &back), 0);
	c = &back->collectors->counting;
	assert_string_equal(c->counters->next->next->text, "InstructionRetired");
	assert_null(c->counters->next->next->next);
	assert_string_equal(c->events->next->text, "SystemCallEnter");
	assert_string_equal(c->sampled->text, "PageFaults=50");
	assert_string_equal(c->sampled->next->text, "CpuMigrations");
	profile_free(back);
	profile_close(again);
	strbuf_finish(&out);
	profile_free(all);
	done(p);
}

static void counters_that_a_file_defines_itself_resolve(void **state)
{
	struct profile *p = open_profile("32-counters-of-its-own", "A", PROFILE_FILE);
	assert_null(profile_notes(doc)); /* Microsoft's profiles have the Id in the HardwareCounter */
	const struct profile_defined *d = p->collectors->counting.defined;
	assert_string_equal(d->name, "AcmeStalls");
	assert_string_equal(d->architecture, "INTEL");
	assert_int_equal(d->family, 6);
	assert_int_equal(d->model, 1);
	assert_int_equal(d->stepping, 99);
	assert_int_equal(d->event, 0xA2);
	assert_int_equal(d->unit, 1);
	assert_string_equal(d->extended, "04010000");
	d = d->next; /* for another processor, found without being referred to */
	assert_string_equal(d->name, "AcmeStalls");
	assert_string_equal(d->architecture, "ARM");
	assert_int_equal(d->family, -1);
	assert_int_equal(d->event, 0x8123);
	assert_string_equal(d->next->name, "AcmeLoads");
	assert_null(d->next->next); /* what nobody counts is left out */
	struct profile *all = profile_create("A", PROFILE_VERBOSE, PROFILE_FILE);
	assert_int_equal(profile_unite(all, p, NULL), 0);
	assert_int_equal(profile_unite(all, p, NULL), 0);
	d = all->collectors->counting.defined;
	assert_string_equal(d->next->next->name, "AcmeLoads");
	assert_null(d->next->next->next);
	profile_free(all);
	done(p);
}

static void kernel_heap_and_merge_parts_are_kept(void **state)
{
	struct profile *p = open_profile("09-kernel-and-events", "A", PROFILE_FILE);
	const struct profile_provider *v = provider(p, 0);
	assert_int_equal(p->collectors->kind, PROFILE_SYSTEM);
	assert_int_equal(p->collectors->stack_cache_buckets, 2048);
	assert_string_equal(v->system_keywords->next->text, "Loader");
	assert_true(v->system_keywords->next->strict);
	assert_string_equal(v->system_keywords->next->next->next->text, "0x20000001");
	assert_string_equal(v->stacks->next->text, "0x0524");
	assert_string_equal(v->pool_tags->text, "Ntf*");
	assert_string_equal(v->on_start.words->text, "ProcessThread");
	done(p);
	p = open_profile("18-heap", "A", PROFILE_FILE);
	assert_int_equal(p->collectors->next->kind, PROFILE_HEAP);
	assert_string_equal(p->collectors->next->providers->processes->text, "0");
	done(p);
	p = open_profile("19-merge-properties", "A", PROFILE_FILE);
	assert_true(p->compress && p->keep_parts);
	assert_string_equal(p->custom_events->next->text, "BuildInfo");
	done(p);
}

static void a_list_in_two_parts_is_applied_part_by_part(void **state)
{
	struct profile *p = open_profile("30-lists-in-two-parts", "Two", PROFILE_FILE);
	struct profile_collector *c = p->collectors;
	assert_string_equal(c->name, "WPR System Collector"); /* when nothing is said */
	assert_int_equal(c->percent_hundredths, 140);
	assert_int_equal(profile_buffer_count(c, 1000ull << 20, 4), 14);
	assert_int_equal(c->next->buffers_per_cpu, 16);
	assert_string_equal(c->next->providers->name, "MyCompany.Web");
	assert_string_equal(c->next->providers->next->name, "MyCompany.Db");
	done(p);
	p = open_profile("30-lists-in-two-parts", "Fewer", PROFILE_FILE); /* Remove, then Add */
	c = p->collectors;
	assert_int_equal(c->kind, PROFILE_SYSTEM);
	assert_string_equal(c->next->providers->name, "MyCompany.Cache");
	assert_null(c->next->providers->next);
	assert_null(c->next->next);
	done(p);
	/* A list of providers in a collector that is added: to those that are there. */
	p = open_profile("30-lists-in-two-parts", "More", PROFILE_FILE);
	c = p->collectors->next;
	assert_string_equal(c->providers->next->next->name, "MyCompany.Cache");
	assert_int_equal(c->buffers, 48);                /* 32 and 16 */
	assert_non_null(p->collectors->providers->next); /* of the kernel, too */
	done(p);
}

static void a_profile_derives_from_another_document(void **state)
{
	static const char base_text[] =
		"<WindowsPerformanceRecorder Version='1'><Profiles>"
		"<EventCollector Id='E' Name='Events'/><EventProvider Id='P' Name='X'/>"
		"<Profile Id='A.Light.File' Name='A' Description='d' LoggingMode='File' DetailLevel='Light'>"
		"<Collectors><EventCollectorId Value='E'><EventProviders><EventProviderId Value='P'/>"
		"</EventProviders></EventCollectorId></Collectors></Profile>"
		"</Profiles></WindowsPerformanceRecorder>";
	static const char text[] = "<WindowsPerformanceRecorder Version='1'><Profiles>"
				   "<EventProvider Id='P' Name='Y'/>" /* an Id of the other document: this one counts */
				   "<Profile Id='B.Light.File' Name='B' Base='A.Light.File' Description='d' "
				   "LoggingMode='File' DetailLevel='Light'><Collectors Operation='Add'>"
				   "<EventCollectorId Value='E'><EventProviders><EventProvider Id='Q' Name='Z'/>"
				   "</EventProviders></EventCollectorId></Collectors></Profile>"
				   "</Profiles></WindowsPerformanceRecorder>";
	struct profile_doc *base;
	struct profile *p;
	assert_int_equal(profile_read(base_text, sizeof base_text - 1, &base), 0);
	assert_int_equal(profile_read_upon(text, sizeof text - 1, base, &doc), 0);
	assert_null(profile_entries(doc)->next); /* those of the other one are not listed */
	assert_int_equal(profile_resolve(doc, profile_entries(doc), &p), 0);
	assert_string_equal(p->collectors->name, "Events");
	assert_string_equal(p->collectors->providers->name, "Y");
	assert_string_equal(p->collectors->providers->next->name, "Z");
	profile_free(p);
	profile_close(doc);
}

static void what_is_in_the_wrong_order_for_windows_is_a_warning(void **state)
{
	static const char text[] =
		"<WindowsPerformanceRecorder Version='1'><Profiles>"
		"<EventProvider Id='P' Name='X'/><EventCollector Id='E' Name='E'/>"
		"<Profile Id='A.Light.File' Name='A' Description='d' LoggingMode='File' DetailLevel='Light'>"
		"<Collectors><EventCollectorId Value='E'><EventProviders><EventProviderId Value='P'/>"
		"</EventProviders></EventCollectorId></Collectors></Profile>"
		"</Profiles></WindowsPerformanceRecorder>";
	assert_int_equal(profile_read(text, sizeof text - 1, &doc), 0);
	assert_non_null(profile_notes(doc));
	assert_false(profile_notes(doc)->error);
	profile_close(doc);
	/* So is an Id that does not say what the profile is: profiles in use have such. */
	static const char odd[] =
		"<WindowsPerformanceRecorder Version='1'><Profiles><EventCollector Id='E' Name='E'/>"
		"<Profile Id='Base.Light' Name='A' Description='d' LoggingMode='File' DetailLevel='Light'>"
		"<Collectors><EventCollectorId Value='E'/></Collectors></Profile>"
		"</Profiles></WindowsPerformanceRecorder>";
	assert_int_equal(profile_read(odd, sizeof odd - 1, &doc), 0);
	assert_non_null(profile_notes(doc));
	assert_false(profile_notes(doc)->error);
	profile_close(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_profile_of_the_collection_resolves_and_survives_being_written),
		cmocka_unit_test(every_bad_profile_is_refused_where_its_mistake_is),
		cmocka_unit_test(a_mistake_costs_the_profiles_that_use_it_and_no_other),
		cmocka_unit_test(what_is_not_said_has_the_documented_default),
		cmocka_unit_test(every_attribute_of_a_provider_arrives),
		cmocka_unit_test(a_derived_profile_adds_removes_or_sets),
		cmocka_unit_test(a_derived_provider_or_collector_has_what_its_base_has),
		cmocka_unit_test(a_reference_changes_what_it_refers_to_in_its_place_only),
		cmocka_unit_test(a_name_chooses_verbose_and_the_asked_mode),
		cmocka_unit_test(buffers_are_a_count_or_a_part_of_memory),
		cmocka_unit_test(united_profiles_get_at_least_what_each_asked_for),
		cmocka_unit_test(one_provider_under_two_names_is_enabled_once),
		cmocka_unit_test(hardware_counters_are_derived_united_and_written),
		cmocka_unit_test(counters_that_a_file_defines_itself_resolve),
		cmocka_unit_test(kernel_heap_and_merge_parts_are_kept),
		cmocka_unit_test(a_list_in_two_parts_is_applied_part_by_part),
		cmocka_unit_test(a_profile_derives_from_another_document),
		cmocka_unit_test(what_is_in_the_wrong_order_for_windows_is_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
