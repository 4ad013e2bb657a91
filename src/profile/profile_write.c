/* SPDX-License-Identifier: MIT
 * A resolved recording as a file of its own: no Base, no Operation, providers beside collectors.
 */
#include "profile/profile.h"
#include "xml/xml.h"

#include <stdio.h>
#include <string.h>

struct writer {
	struct strbuf *out;
	int depth;
};

static void indent(struct writer *w)
{
	for (int i = 0; i < w->depth; i++) {
		strbuf_adds(w->out, "  ");
	}
}

static void attribute(struct writer *w, const char *name, const char *value)
{
	strbuf_addf(w->out, " %s=\"", name);
	xml_escape(w->out, value, strlen(value));
	strbuf_addc(w->out, '"');
}

static void attribute_number(struct writer *w, const char *name, uint64_t v, const char *fmt)
{
	char text[32];
	snprintf(text, sizeof text, fmt, (unsigned long long)v);
	attribute(w, name, text);
}

static void truth(struct writer *w, const char *name, bool v)
{
	if (v) {
		attribute(w, name, "true");
	}
}

static void begin(struct writer *w, const char *name)
{
	indent(w);
	strbuf_addf(w->out, "<%s", name);
	w->depth++;
}
static void inner(struct writer *w)
{
	strbuf_adds(w->out, ">\n");
}
static void empty(struct writer *w)
{
	w->depth--;
	strbuf_adds(w->out, "/>\n");
}
static void end(struct writer *w, const char *name)
{
	w->depth--;
	indent(w);
	strbuf_addf(w->out, "</%s>\n", name);
}

static void value_number(struct writer *w, const char *element, uint64_t v, const char *fmt)
{
	begin(w, element);
	attribute_number(w, "Value", v, fmt);
	empty(w);
}

/* Custom keywords and stacks are those written as hex numbers. */
static void words(struct writer *w, const struct profile_word *l, const char *element, const char *custom)
{
	for (int pass = 0; pass < (custom ? 2 : 1); pass++) {
		for (const struct profile_word *p = l; p; p = p->next) {
			bool number = custom && p->text[0] == '0' && (p->text[1] | 32) == 'x';
			if (number != (pass == 1)) {
				continue;
			}
			begin(w, number ? custom : element);
			attribute(w, "Value", p->text);
			truth(w, "Strict", p->strict);
			empty(w);
		}
	}
}

static void list(struct writer *w, const char *outer, const struct profile_word *l, const char *element,
		 const char *custom)
{
	if (!l) {
		return;
	}
	begin(w, outer);
	inner(w);
	words(w, l, element, custom);
	end(w, outer);
}

static void state(struct writer *w, const char *name, const struct profile_state *s)
{
	if (!s->wanted) {
		return;
	}
	begin(w, name);
	if (s->timeout_s) {
		attribute_number(w, "Timeout", s->timeout_s, "%llu");
	}
	if (!s->has_keywords) {
		empty(w);
		return;
	}
	inner(w);
	if (s->words) {
		words(w, s->words, "Keyword", NULL);
	} else {
		value_number(w, "Keyword", s->keywords, "0x%llx");
	}
	end(w, name);
}

static void ids(struct writer *w, const char *name, const struct profile_ids *s)
{
	if (!s->present) {
		return;
	}
	begin(w, name);
	attribute(w, "FilterIn", s->in ? "true" : "false");
	inner(w);
	for (uint32_t i = 0; i < s->count; i++) {
		value_number(w, "EventId", s->id[i], "%llu");
	}
	end(w, name);
}

static void names(struct writer *w, const char *name, const struct profile_names *s)
{
	if (!s->present) {
		return;
	}
	begin(w, name);
	attribute(w, "FilterIn", s->in ? "true" : "false");
	attribute_number(w, "Level", s->level, "%llu");
	inner(w);
	value_number(w, "Keyword", s->keywords, "0x%llx");
	words(w, s->names, "EventName", NULL);
	end(w, name);
}

static const char *const collector_kinds[] = {"SystemCollector", "EventCollector", "HeapEventCollector"};
static const char *const provider_kinds[] = {"SystemProvider", "EventProvider", "HeapEventProvider"};

static void collector(struct writer *w, const struct profile_collector *c)
{
	const char *kind = collector_kinds[c->kind];
	begin(w, kind);
	attribute(w, "Id", c->id);
	attribute(w, "Name", c->name);
	truth(w, "Realtime", c->realtime);
	truth(w, "Private", c->private_session);
	truth(w, "ProcessPrivate", c->process_private);
	truth(w, "Secure", c->secure);
	truth(w, "HostGuestCorrelation", c->host_guest);
	if (c->file_name) {
		attribute(w, "FileName", c->file_name);
	}
	inner(w);
	value_number(w, "BufferSize", c->buffer_kb, "%llu");
	begin(w, "Buffers");
	if (c->percent_hundredths) {
		char percent[16];
		snprintf(percent, sizeof percent, c->percent_hundredths % 100 ? "%u.%02u" : "%u",
			 c->percent_hundredths / 100, c->percent_hundredths % 100);
		attribute(w, "Value", percent);
	} else {
		attribute_number(w, "Value", c->buffers, "%llu");
	}
	truth(w, "PercentageOfTotalMemory", c->percent_hundredths != 0);
	if (c->percent_most_mb) {
		attribute_number(w, "MaximumBufferSpace", c->percent_most_mb, "%llu");
	}
	empty(w);
	if (c->buffers_per_cpu) {
		value_number(w, "BuffersPerCPU", c->buffers_per_cpu, "%llu");
	}
	if (c->stack_cache_buckets || c->stack_cache_kb) {
		begin(w, "StackCaching");
		attribute_number(w, "BucketCount", BASE_MAX(c->stack_cache_buckets, 1u), "%llu");
		attribute_number(w, "CacheSize", BASE_MAX(c->stack_cache_kb, 1u), "%llu");
		empty(w);
	}
	if (c->file_most_mb) {
		begin(w, "MaximumFileSize");
		attribute_number(w, "Value", c->file_most_mb, "%llu");
		attribute(w, "FileMode", c->circular ? "Circular" : "Sequential");
		empty(w);
	}
	if (c->file_count) {
		value_number(w, "FileMax", c->file_count, "%llu");
	}
	end(w, kind);
}

static void provider(struct writer *w, const struct profile_provider *p, const char *id)
{
	const char *kind = provider_kinds[p->kind];
	begin(w, kind);
	attribute(w, "Id", id);
	if (p->kind == PROFILE_EVENT) {
		attribute(w, "Name", p->name);
		attribute_number(w, "Level", p->level, "%llu");
		truth(w, "NonPagedMemory", p->non_paged);
		truth(w, "Stack", p->stack);
		truth(w, "SID", p->sid);
		truth(w, "TSID", p->tsid);
		truth(w, "EventKey", p->event_key);
		truth(w, "CaptureStateOnly", p->capture_only);
		truth(w, "Strict", p->strict);
		if (p->exe) {
			attribute(w, "ProcessExeFilter", p->exe);
		}
	}
	inner(w);
	if (p->kind == PROFILE_EVENT && p->keywords != PROFILE_ALL) {
		begin(w, "Keywords");
		inner(w);
		value_number(w, "Keyword", p->keywords, "0x%llx");
		end(w, "Keywords");
	}
	list(w, "Keywords", p->system_keywords, "Keyword", "CustomKeyword");
	list(w, "Stacks", p->stacks, "Stack", "CustomStack");
	list(w, "PoolTags", p->pool_tags, "PoolTag", NULL);
	list(w, "HeapProcessIds", p->processes, "HeapProcessId", NULL);
	state(w, "CaptureStateOnStart", &p->on_start);
	state(w, "CaptureStateOnSave", &p->on_save);
	state(w, "CaptureStateOnDemand", &p->on_demand);
	ids(w, "EventFilters", &p->events);
	ids(w, "StackFilters", &p->stack_events);
	names(w, "EventNameFilters", &p->event_names);
	names(w, "StackEventNameFilters", &p->stack_names);
	end(w, kind);
}

/* Ids of a document of our own making: "c1", "p1_2" say nothing but are unique. Given ids may repeat
 * when files were united. */
static void provider_id(char out[32], unsigned c, unsigned p)
{
	snprintf(out, 32, "Provider_%u_%u", c, p);
}

static bool counts(const struct profile_collector *c)
{
	return c->counting.counters || c->counting.events || c->counting.sampled;
}

static void counting(struct writer *w, const struct profile_counters *c, unsigned ci)
{
	char id[32];
	snprintf(id, sizeof id, "HardwareCounter_%u", ci);
	begin(w, "HardwareCounter");
	attribute(w, "Id", id);
	truth(w, "Strict", c->strict);
	inner(w);
	list(w, "Counters", c->counters, "Counter", NULL);
	list(w, "Events", c->events, "Event", NULL);
	if (c->sampled) {
		begin(w, "SampledCounters");
		inner(w);
		for (const struct profile_word *s = c->sampled; s; s = s->next) {
			char name[200];
			const char *interval = strchr(s->text, '=');
			snprintf(name, sizeof name, "%.*s", (int)strcspn(s->text, "="), s->text);
			begin(w, "SampledCounter");
			attribute(w, "Value", name);
			if (interval) {
				attribute(w, "Interval", interval + 1);
			}
			empty(w);
		}
		end(w, "SampledCounters");
	}
	for (const struct profile_defined *d = c->defined; d; d = d->next) {
		const struct {
			const char *name;
			int64_t value;
		} numbers[] = {{"Family", d->family}, {"Model", d->model}, {"Stepping", d->stepping}};
		char number[24];
		begin(w, "ProfileSources");
		if (*d->architecture) {
			attribute(w, "Architecture", d->architecture);
		}
		for (size_t i = 0; i < BASE_ARRAY_LEN(numbers); i++) {
			snprintf(number, sizeof number, "%lld", (long long)numbers[i].value);
			if (numbers[i].value >= 0) {
				attribute(w, numbers[i].name, number);
			}
		}
		inner(w);
		begin(w, "ProfileSource");
		attribute(w, "Name", d->name);
		snprintf(number, sizeof number, "0x%X", d->event);
		attribute(w, "Event", number);
		snprintf(number, sizeof number, "0x%X", d->unit);
		attribute(w, "Unit", number);
		if (*d->extended) {
			attribute(w, "ExtendedBits", d->extended);
		}
		empty(w);
		end(w, "ProfileSources");
	}
	end(w, "HardwareCounter");
}

static void counting_of(struct writer *w, const struct profile *p)
{
	unsigned ci = 0;
	for (const struct profile_collector *c = p->collectors; c; c = c->next) {
		ci++;
		if (counts(c)) {
			counting(w, &c->counting, ci);
		}
	}
}

static void providers_of(struct writer *w, const struct profile *p, enum profile_kind k)
{
	unsigned ci = 0;
	for (const struct profile_collector *c = p->collectors; c; c = c->next) {
		unsigned pi = 0;
		ci++;
		for (const struct profile_provider *v = c->providers; v; v = v->next) {
			char id[32];
			provider_id(id, ci, ++pi);
			if (v->kind == k) {
				provider(w, v, id);
			}
		}
	}
}

static void use(struct writer *w, const struct profile_collector *c, const char *id, unsigned ci)
{
	static const char *const lists[] = {NULL, "EventProviders", "HeapEventProviders"};
	char name[40];
	snprintf(name, sizeof name, "%sId", collector_kinds[c->kind]);
	begin(w, name);
	attribute(w, "Value", id);
	if (!c->providers && !counts(c)) {
		empty(w);
		return;
	}
	inner(w);
	if (lists[c->kind]) {
		begin(w, lists[c->kind]);
		inner(w);
	}
	unsigned pi = 0;
	for (const struct profile_provider *v = c->providers; v; v = v->next) {
		char reference[40], pid[32];
		snprintf(reference, sizeof reference, "%sId", provider_kinds[v->kind]);
		provider_id(pid, ci, ++pi);
		begin(w, reference);
		attribute(w, "Value", pid);
		empty(w);
	}
	if (lists[c->kind]) {
		end(w, lists[c->kind]);
	}
	if (counts(c)) {
		char hid[32];
		snprintf(hid, sizeof hid, "HardwareCounter_%u", ci);
		begin(w, "HardwareCounterId");
		attribute(w, "Value", hid);
		empty(w);
	}
	end(w, name);
}

static void merge_properties(struct writer *w, const struct profile *p)
{
	if (!p->compress && !p->skip_merge && !p->inject_only && !p->keep_parts && !p->custom_events) {
		return;
	}
	begin(w, "TraceMergeProperties");
	inner(w);
	begin(w, "TraceMergeProperty");
	attribute(w, "Id", "TraceMerge");
	attribute(w, "Name", "TraceMerge");
	inner(w);
	const struct {
		const char *name;
		bool value;
	} flags[] = {{"DeletePreMergedTraceFiles", !p->keep_parts},
		     {"FileCompression", p->compress},
		     {"SkipMerge", p->skip_merge},
		     {"InjectOnly", p->inject_only}};
	for (size_t i = 0; i < BASE_ARRAY_LEN(flags); i++) {
		begin(w, flags[i].name);
		attribute(w, "Value", flags[i].value ? "true" : "false");
		empty(w);
	}
	list(w, "CustomEvents", p->custom_events, "CustomEvent", NULL);
	end(w, "TraceMergeProperty");
	end(w, "TraceMergeProperties");
}

void profile_write(const struct profile *p, struct strbuf *out)
{
	struct writer w = {.out = out};
	struct profile_collector named;
	char id[32];
	strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
	begin(&w, "WindowsPerformanceRecorder");
	attribute(&w, "Version", "1.0");
	inner(&w);
	begin(&w, "Profiles");
	inner(&w);
	for (int k = PROFILE_SYSTEM; k <= PROFILE_HEAP; k++) {
		unsigned ci = 0;
		for (const struct profile_collector *c = p->collectors; c; c = c->next) {
			ci++;
			if ((int)c->kind == k) {
				snprintf(id, sizeof id, "Collector_%u", ci);
				named = *c;
				named.id = id;
				collector(&w, &named);
			}
		}
	}
	for (int k = PROFILE_SYSTEM; k <= PROFILE_HEAP; k++) {
		providers_of(&w, p, (enum profile_kind)k);
	}
	counting_of(&w, p);
	begin(&w, "Profile");
	attribute(&w, "Id", p->id);
	attribute(&w, "Name", p->name);
	attribute(&w, "Description", p->description && *p->description ? p->description : p->name);
	attribute(&w, "LoggingMode", profile_mode_text(p->mode));
	attribute(&w, "DetailLevel", profile_detail_text(p->detail));
	truth(&w, "Strict", p->strict);
	inner(&w);
	list(&w, "ProblemCategories", p->problems, "ProblemCategory", NULL);
	begin(&w, "Collectors");
	inner(&w);
	for (int k = PROFILE_SYSTEM; k <= PROFILE_HEAP; k++) {
		unsigned ci = 0;
		for (const struct profile_collector *c = p->collectors; c; c = c->next) {
			ci++;
			if ((int)c->kind == k) {
				snprintf(id, sizeof id, "Collector_%u", ci);
				use(&w, c, id, ci);
			}
		}
	}
	end(&w, "Collectors");
	end(&w, "Profile");
	end(&w, "Profiles");
	merge_properties(&w, p);
	end(&w, "WindowsPerformanceRecorder");
}
