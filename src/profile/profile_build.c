/* SPDX-License-Identifier: MIT
 * Resolved trees as structs.
 */
#include "profile/profile_private.h"
#include "base/parse.h"

#include <stdio.h>
#include <strings.h>

struct build {
	struct profile_doc *doc;
	struct profile *p;
	struct profile_tree tree;
};

static void *need(struct build *b, size_t n)
{
	void *p = arena_alloc(&b->p->arena, n);
	if (!p) {
		b->tree.err = -ENOMEM;
	}
	return p;
}

static const char *text(struct build *b, const char *s)
{
	if (!s) {
		return NULL;
	}
	char *c = arena_text(&b->p->arena, s, strlen(s));
	if (!c) {
		b->tree.err = -ENOMEM;
		return "";
	}
	return c;
}

/* The schema check has seen to it that numbers are numbers, in their range. */
static uint64_t number(const struct xml_node *n, const char *name, uint64_t otherwise)
{
	const char *v = n ? xml_value(n, name) : NULL;
	uint64_t x;
	return v && parse_number(v, 0, UINT64_MAX, &x) ? x : otherwise;
}

static bool flag(const struct xml_node *n, const char *name, bool otherwise)
{
	return profile_bool(n ? xml_value(n, name) : NULL, otherwise);
}

static void words(struct build *b, const struct xml_node *n, const char *element, struct profile_word **list)
{
	while (*list) {
		list = &(*list)->next;
	}
	for (const struct xml_node *c = n ? xml_child(n, element) : NULL; c; c = xml_next(c, element)) {
		struct profile_word *w = need(b, sizeof *w);
		if (!w) {
			return;
		}
		const char *v = xml_value(c, "Value");
		*w = (struct profile_word){.text = text(b, v ? v : ""), .strict = flag(c, "Strict", false)};
		*list = w;
		list = &w->next;
	}
}

static uint64_t mask(const struct xml_node *n, bool *ret_any)
{
	uint64_t m = 0;
	*ret_any = false;
	for (const struct xml_node *c = n ? xml_child(n, "Keyword") : NULL; c; c = xml_next(c, "Keyword")) {
		m |= number(c, "Value", 0);
		*ret_any = true;
	}
	return m;
}

static void state(struct build *b, const struct xml_node *n, struct profile_state *s, bool system)
{
	if (!n) {
		return;
	}
	s->wanted = true;
	s->timeout_s = (uint32_t)number(n, "Timeout", 0);
	if (system) {
		words(b, n, "Keyword", &s->words);
		s->has_keywords = s->words != NULL;
	} else {
		s->keywords = mask(n, &s->has_keywords);
	}
}

static void ids(struct build *b, const struct xml_node *n, struct profile_ids *s)
{
	if (!n) {
		return;
	}
	s->present = true;
	s->in = flag(n, "FilterIn", true);
	for (const struct xml_node *c = xml_child(n, "EventId"); c; c = xml_next(c, "EventId")) {
		uint16_t v = (uint16_t)number(c, "Value", 0);
		uint32_t i = 0;
		while (i < s->count && s->id[i] != v) {
			i++;
		}
		if (i < s->count) {
			continue;
		}
		if (s->count == PROFILE_IDS_MAX) {
			profile_bad(b->doc, c, "more than %u event ids in <%s>", PROFILE_IDS_MAX, n->name);
			b->tree.err = -EBADMSG;
			return;
		}
		s->id[s->count++] = v;
	}
}

static void names(struct build *b, const struct xml_node *n, struct profile_names *s)
{
	bool any;
	if (!n) {
		return;
	}
	s->present = true;
	s->in = flag(n, "FilterIn", true);
	s->level = (uint8_t)number(n, "Level", 0xFF);
	s->keywords = mask(n, &any);
	s->keywords = any ? s->keywords : PROFILE_ALL;
	words(b, n, "EventName", &s->names);
}

static void event_provider(struct build *b, const struct xml_node *n, struct profile_provider *p)
{
	bool any;
	const char *name = xml_value(n, "Name");
	p->name = text(b, name ? name : "");
	p->level = (uint8_t)number(n, "Level", 0xFF);
	p->keywords = mask(xml_child(n, "Keywords"), &any);
	p->keywords = any ? p->keywords : PROFILE_ALL;
	p->stack = flag(n, "Stack", false);
	p->sid = flag(n, "SID", false);
	p->tsid = flag(n, "TSID", false);
	p->event_key = flag(n, "EventKey", false);
	p->non_paged = flag(n, "NonPagedMemory", false);
	p->capture_only = flag(n, "CaptureStateOnly", false);
	p->exe = text(b, xml_value(n, "ProcessExeFilter"));
	ids(b, xml_child(n, "EventFilters"), &p->events);
	ids(b, xml_child(n, "StackFilters"), &p->stack_events);
	names(b, xml_child(n, "EventNameFilters"), &p->event_names);
	names(b, xml_child(n, "StackEventNameFilters"), &p->stack_names);
	if (!*p->name && b->tree.err == 0) {
		profile_bad(b->doc, n, "the event provider '%.60s' has no Name, also not by way of Base",
			    xml_value(n, "Id") ? xml_value(n, "Id") : "");
		b->tree.err = -EBADMSG;
	}
}

/* `kind` is "EventProvider" or its like. */
static void provider(struct build *b, const char *kind, enum profile_kind k, const struct xml_node *reference,
		     struct profile_provider ***end)
{
	struct xml_node *n = profile_tree_refer(&b->tree, kind, reference);
	struct profile_provider *p = n ? need(b, sizeof *p) : NULL;
	if (!p) {
		return;
	}
	p->kind = k;
	p->id = text(b, xml_value(n, "Id") ? xml_value(n, "Id") : "");
	p->name = "";
	p->line = n->line;
	p->strict = flag(n, "Strict", false);
	bool system = k == PROFILE_SYSTEM;
	state(b, xml_child(n, "CaptureStateOnStart"), &p->on_start, system);
	state(b, xml_child(n, "CaptureStateOnSave"), &p->on_save, system);
	state(b, xml_child(n, "CaptureStateOnDemand"), &p->on_demand, system);
	if (k == PROFILE_EVENT || system) { /* since version 10.0.15002 of wpr of both */
		words(b, xml_child(n, "Stacks"), "Stack", &p->stacks);
		words(b, xml_child(n, "Stacks"), "CustomStack", &p->stacks);
	}
	if (k == PROFILE_EVENT) {
		event_provider(b, n, p);
	} else if (system) {
		words(b, xml_child(n, "Keywords"), "Keyword", &p->system_keywords);
		words(b, xml_child(n, "Keywords"), "CustomKeyword", &p->system_keywords);
		words(b, xml_child(n, "PoolTags"), "PoolTag", &p->pool_tags);
	} else {
		words(b, xml_child(n, "HeapProcessIds"), "HeapProcessId", &p->processes);
	}
	**end = p;
	*end = &p->next;
}

static void providers(struct build *b, const struct xml_node *in, const char *kind, enum profile_kind k,
		      struct profile_provider ***end)
{
	char reference[48];
	snprintf(reference, sizeof reference, "%.40sId", kind);
	for (const struct xml_node *c = in ? in->children : NULL; c && b->tree.err == 0; c = c->next) {
		if (strcmp(c->name, reference) == 0 || strcmp(c->name, kind) == 0) {
			provider(b, kind, k, c, end);
		}
	}
}

/* "Name=Interval". */
static void sampled(struct build *b, const struct xml_node *in, struct profile_word **list)
{
	while (*list) {
		list = &(*list)->next;
	}
	for (const struct xml_node *c = in ? xml_child(in, "SampledCounter") : NULL; c;
	     c = xml_next(c, "SampledCounter")) {
		struct profile_word *w = need(b, sizeof *w);
		const char *v = xml_value(c, "Value");
		char with[200];
		if (!w) {
			return;
		}
		uint64_t interval = number(c, "Interval", 0);
		int n = snprintf(with, sizeof with, "%.150s", v ? v : "");
		if (interval) {
			snprintf(with + n, sizeof with - (size_t)n, "=%llu", (unsigned long long)interval);
		}
		*w = (struct profile_word){.text = text(b, with), .strict = flag(c, "Strict", false)};
		*list = w;
		list = &w->next;
	}
}

static bool is_counted(struct build *b, const struct profile_counters *c, const char *name)
{
	const struct profile_word *const lists[] = {c->counters, c->sampled};
	size_t n = strlen(name);
	for (size_t i = 0; i < BASE_ARRAY_LEN(lists); i++) {
		for (const struct profile_word *w = lists[i]; w && b->doc->compared < PROFILE_COMPARES_MAX;
		     w = w->next) {
			b->doc->compared++;
			if (strncasecmp(w->text, name, n) == 0 && (w->text[n] == 0 || (i == 1 && w->text[n] == '='))) {
				return true;
			}
		}
	}
	return false;
}

/* A number in either form; `otherwise` when it is not said. */
static int64_t said(struct build *b, const struct xml_node *n, const char *name, int64_t otherwise, int64_t most)
{
	const struct xml_attr *a = xml_attr(n, name);
	uint64_t x;
	if (!a || !*a->value) {
		return otherwise;
	}
	if (!parse_number(a->value, 0, UINT64_MAX, &x) || x > (uint64_t)most) {
		profile_bad(b->doc, a, "%s of %s is '%.60s', but has to be a number up to 0x%llx", name, n->name,
			    a->value, (unsigned long long)most);
		b->tree.err = -EBADMSG;
		return otherwise;
	}
	return (int64_t)x;
}

/* <ProfileSources Architecture Family Model Stepping> of <ProfileSource Name Event Unit ExtendedBits>. */
static void defined_in(struct build *b, const struct xml_node *in, struct profile_counters *to)
{
	struct profile_defined **end = &to->defined;
	while (*end) {
		end = &(*end)->next;
	}
	for (const struct xml_node *l = xml_child(in, "ProfileSources"); l; l = xml_next(l, "ProfileSources")) {
		for (const struct xml_node *c = xml_child(l, "ProfileSource"); c && b->tree.err == 0;
		     c = xml_next(c, "ProfileSource")) {
			const char *name = xml_value(c, "Name"), *more = xml_value(c, "ExtendedBits");
			const char *maker = xml_value(xml_attr(c, "Architecture") ? c : l, "Architecture");
			struct profile_defined *d = name && is_counted(b, to, name) ? need(b, sizeof *d) : NULL;
			if (!d) {
				continue;
			}
			*d = (struct profile_defined){
				.name = text(b, name),
				.architecture = text(b, maker ? maker : ""),
				.family = said(b, l, "Family", -1, INT32_MAX),
				.model = said(b, l, "Model", -1, INT32_MAX),
				.stepping = said(b, l, "Stepping", -1, INT32_MAX),
				.event = (uint32_t)said(b, c, "Event", 0, UINT32_MAX),
				.unit = (uint32_t)said(b, c, "Unit", 0, UINT32_MAX),
				.extended = text(b, more ? more : ""),
			};
			*end = d;
			end = &d->next;
		}
	}
}

/* Windows has to be told of a definition by its Id. Here a counter may also be what the file defines anywhere: it
 * can mean nothing else. */
static void definitions(struct build *b, const struct xml_node *in, struct profile_counters *to)
{
	static const char kind[] = "MicroArchitecturalConfig";
	for (const struct xml_node *c = in->children; c && b->tree.err == 0; c = c->next) {
		if (strcmp(c->name, "MicroArchitecturalConfigId") == 0) {
			(void)profile_tree_refer(&b->tree, kind, c); /* is it there? */
		} else if (strcmp(c->name, kind) == 0) {
			defined_in(b, c, to);
		}
	}
	defined_in(b, in, to);
}

static void defined_anywhere(struct build *b, struct profile_counters *to)
{
	static const char kind[] = "MicroArchitecturalConfig";
	for (const struct profile_doc *d = b->doc; d && (to->counters || to->sampled); d = d->base) {
		for (const struct xml_node *n = d->profiles ? xml_child(d->profiles, kind) : NULL;
		     n && b->tree.err == 0; n = xml_next(n, kind)) {
			const struct xml_node *whole =
				profile_is_faulty(b->doc, n) ? NULL : profile_tree_derive(&b->tree, n);
			if (whole) {
				defined_in(b, whole, to);
			}
		}
	}
}

static void counting(struct build *b, const struct xml_node *in, struct profile_counters *to)
{
	static const char *const none[] = {"LastBranch", "ProcessorTrace"};
	for (const struct xml_node *c = in->children; c && b->tree.err == 0; c = c->next) {
		if (strcmp(c->name, "HardwareCounterId") != 0 && strcmp(c->name, "HardwareCounter") != 0) {
			continue;
		}
		const struct xml_node *n = profile_tree_refer(&b->tree, "HardwareCounter", c);
		if (!n) {
			return;
		}
		words(b, xml_child(n, "Counters"), "Counter", &to->counters);
		words(b, xml_child(n, "Events"), "Event", &to->events);
		sampled(b, xml_child(n, "SampledCounters"), &to->sampled);
		definitions(b, n, to);
		to->strict = to->strict || flag(n, "Strict", false);
		for (size_t i = 0; i < BASE_ARRAY_LEN(none); i++) {
			to->refused = xml_child(n, none[i]) ? none[i] : to->refused;
		}
	}
	if (b->tree.err == 0) {
		definitions(b, in, to);
	}
	defined_anywhere(b, to);
	if (b->doc->compared == PROFILE_COMPARES_MAX && b->tree.err == 0) {
		profile_bad(b->doc, in, "too many counters and definitions of counters");
		b->tree.err = -EBADMSG;
	}
}

static void collector(struct build *b, const char *kind, enum profile_kind k, const struct xml_node *reference,
		      struct profile_collector ***end)
{
	struct xml_node *n = profile_tree_refer(&b->tree, kind, reference);
	struct profile_collector *c = n ? need(b, sizeof *c) : NULL;
	if (!c) {
		return;
	}
	const char *name = xml_value(n, "Name");
	const struct xml_node *buffers = xml_child(n, "Buffers"), *file = xml_child(n, "MaximumFileSize");
	const struct xml_node *cache = xml_child(n, "StackCaching");
	const struct xml_node *per_cpu = xml_child(n, "BuffersPerCPU");
	per_cpu = per_cpu ? per_cpu : xml_child(n, "BuffersPerCpu");
	const char *file_mode = file ? xml_value(file, "FileMode") : NULL;
	*c = (struct profile_collector){
		.kind = k,
		.id = text(b, xml_value(n, "Id") ? xml_value(n, "Id") : ""),
		.name = text(b, name ? name : ""),
		.line = n->line,
		.realtime = flag(n, "Realtime", false),
		.private_session = flag(n, "Private", false),
		.process_private = flag(n, "ProcessPrivate", false),
		.secure = flag(n, "Secure", false),
		.host_guest = flag(n, "HostGuestCorrelation", false),
		.file_name = text(b, xml_value(n, "FileName")),
		.buffer_kb = (uint32_t)number(xml_child(n, "BufferSize"), "Value", 128),
		.buffers = (uint32_t)number(buffers, "Value", 64),
		.percent_most_mb = (uint32_t)number(buffers, "MaximumBufferSpace", 0),
		.buffers_per_cpu = (uint32_t)number(per_cpu, "Value", 0),
		.file_most_mb = (uint32_t)number(file, "Value", 0),
		.circular = file_mode && strcasecmp(file_mode, "Circular") == 0,
		.file_count = (uint32_t)number(xml_child(n, "FileMax"), "Value", 0),
		.stack_cache_buckets = (uint32_t)number(cache, "BucketCount", 0),
		.stack_cache_kb = (uint32_t)number(cache, "CacheSize", 0),
	};
	if (flag(buffers, "PercentageOfTotalMemory", false)) {
		profile_percent(xml_value(buffers, "Value"), &c->percent_hundredths);
	}
	if (!*c->name && k == PROFILE_SYSTEM) {
		c->name = text(b, "WPR System Collector"); /* one more name is not needed: there is one kernel */
	}
	if (!*c->name && b->tree.err == 0) {
		profile_bad(b->doc, n, "the collector '%.60s' has no Name, also not by way of Base", c->id);
		b->tree.err = -EBADMSG;
	}
	struct profile_provider **last = &c->providers;
	if (k == PROFILE_SYSTEM) {
		providers(b, n, "SystemProvider", k, &last);
		counting(b, n, &c->counting);
	} else if (k == PROFILE_EVENT) {
		providers(b, xml_child(n, "EventProviders"), "EventProvider", k, &last);
	} else {
		providers(b, xml_child(n, "HeapEventProviders"), "HeapEventProvider", k, &last);
	}
	**end = c;
	*end = &c->next;
}

static void merge_properties(struct build *b, const struct xml_node *profile)
{
	const struct xml_node *outer = xml_child(b->doc->xml.root, "TraceMergeProperties");
	const struct xml_node *own = xml_child(profile, "TraceMergeProperties");
	const struct xml_node *n = own ? xml_child(own, "TraceMergeProperty") : NULL;
	const struct xml_node *reference = own ? xml_child(own, "TraceMergePropertyId") : NULL;
	for (const char *id = reference ? xml_value(reference, "Value") : NULL; outer && id && !n;
	     outer = xml_next(outer, "TraceMergeProperties")) {
		for (n = xml_child(outer, "TraceMergeProperty"); n; n = xml_next(n, "TraceMergeProperty")) {
			if (xml_value(n, "Id") && strcmp(xml_value(n, "Id"), id) == 0) {
				break;
			}
		}
	}
	n = n ? n : outer ? xml_child(outer, "TraceMergeProperty") : NULL;
	if (!n) {
		return;
	}
	b->p->compress = flag(xml_child(n, "FileCompression"), "Value", false);
	b->p->skip_merge = flag(xml_child(n, "SkipMerge"), "Value", false);
	b->p->inject_only = flag(xml_child(n, "InjectOnly"), "Value", false);
	b->p->keep_parts = !flag(xml_child(n, "DeletePreMergedTraceFiles"), "Value", true);
	words(b, xml_child(n, "CustomEvents"), "CustomEvent", &b->p->custom_events);
}

/* A profile that, by way of its base, records with a collector, and itself with one derived from it:
 * what that means is not documented. */
static void warn_of_both(struct build *b, const struct xml_node *definition, const struct xml_node *reference,
			 const char *kind)
{
	const char *id = xml_value(reference, "Value"), *of = id;
	for (unsigned i = 0; of && *of && i < PROFILE_BASES_MAX && !b->doc->told_of_both; i++) {
		const struct xml_node *d = profile_tree_definition(b->doc, kind, of);
		of = d ? xml_value(d, "Base") : NULL;
		for (const struct xml_node *c = of && *of ? reference->parent->children : NULL; c; c = c->next) {
			const char *other = xml_value(c, "Value");
			if (other && strcmp(c->name, reference->name) == 0 && strcmp(other, of) == 0) {
				profile_warn(b->doc, definition,
					     "the profile '%.60s' records with the collector '%.60s' and with "
					     "'%.60s', which is derived from it; what that means is not "
					     "documented: here they are two, unless they have one Name",
					     xml_value(definition, "Id"), of, id);
				b->doc->told_of_both = true; /* such files do it everywhere */
				break;
			}
		}
	}
}

void profile_order_collectors(struct profile *p)
{
	struct profile_collector *all = p->collectors, **end = &p->collectors;
	for (int k = PROFILE_SYSTEM; k <= PROFILE_HEAP; k++) {
		for (struct profile_collector **from = &all; *from;) {
			struct profile_collector *c = *from;
			if ((int)c->kind == k) {
				*from = c->next;
				*end = c;
				end = &c->next;
			} else {
				from = &c->next;
			}
		}
	}
	*end = NULL;
}

int profile_build(struct profile_doc *doc, const struct xml_node *definition, struct profile *p)
{
	struct build b = {.doc = doc, .p = p, .tree = {.doc = doc}};
	struct arena scratch;
	arena_init(&scratch, PROFILE_MEMORY_MAX);
	b.tree.arena = &scratch;
	const struct xml_node *n = profile_tree_derive(&b.tree, definition);
	if (n) {
		const char *mode = xml_value(n, "LoggingMode"), *detail = xml_value(n, "DetailLevel");
		p->id = text(&b, xml_value(n, "Id"));
		p->name = text(&b, xml_value(n, "Name"));
		p->description = text(&b, xml_value(n, "Description"));
		p->mode = mode && strcasecmp(mode, "File") == 0 ? PROFILE_FILE : PROFILE_MEMORY;
		p->detail = detail && strcasecmp(detail, "Light") == 0 ? PROFILE_LIGHT : PROFILE_VERBOSE;
		p->strict = flag(n, "Strict", false);
		p->internal = flag(n, "Internal", false);
		p->is_default = flag(n, "Default", false);
		words(&b, xml_child(n, "ProblemCategories"), "ProblemCategory", &p->problems);
		struct profile_collector **end = &p->collectors;
		const struct xml_node *in = xml_child(n, "Collectors");
		for (const struct xml_node *c = in ? in->children : NULL; c && b.tree.err == 0; c = c->next) {
			static const struct {
				const char *reference, *kind;
				enum profile_kind k;
			} kinds[] = {{"SystemCollectorId", "SystemCollector", PROFILE_SYSTEM},
				     {"EventCollectorId", "EventCollector", PROFILE_EVENT},
				     {"HeapEventCollectorId", "HeapEventCollector", PROFILE_HEAP}};
			for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
				if (strcmp(c->name, kinds[i].reference) == 0) {
					warn_of_both(&b, definition, c, kinds[i].kind);
					collector(&b, kinds[i].kind, kinds[i].k, c, &end);
				}
			}
		}
		merge_properties(&b, n);
		profile_order_collectors(p);
	}
	arena_finish(&scratch);
	if (b.tree.err == 0 && (scratch.failed || p->arena.failed)) {
		b.tree.err = -ENOMEM;
	}
	return b.tree.err;
}
