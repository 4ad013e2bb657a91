/* SPDX-License-Identifier: MIT
 * What may stand where in a profile: a table of elements, and the check against it.
 *
 * Attributes are written "Name:type", with "!" when required ("?!" : unless Base is given). Types:
 * text, id, bool, hex (a 64-bit number in either form), u<least>-<most>, =A|B|C.
 * "p" in place of "u": may have a fraction where PercentageOfTotalMemory is true.
 * Children are written "Name*" any number, "Name?" at most one, "Name+" at least one, "Name" one.
 * An element named Name@system is meant below system collectors and providers.
 */
#include "profile/profile_private.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define OPERATION    "Operation:=Set|Add|Remove"
#define MERGE_CHILDS "DeletePreMergedTraceFiles? FileCompression? CustomEvents? SkipMerge? InjectOnly?"
#define SIZES        "BufferSize? Buffers? BuffersPerCPU? BuffersPerCpu? StackCaching? MaximumFileSize? FileMax?"
#define STATES       "CaptureStateOnStart? CaptureStateOnSave? CaptureStateOnDemand?"
#define COUNTS                                                                            \
	"Counters? Events? SampledCounters? ProfileSources* LastBranch* ProcessorTrace* " \
	"MicroArchitecturalConfigId* MicroArchitecturalConfig*"
#define FILTERS "EventFilters? StackFilters? EventNameFilters? StackEventNameFilters?"

static const struct element {
	const char *name, *attrs, *children;
} elements[] = {
	{"WindowsPerformanceRecorder",
	 "Version:text! Author:text Team:text Copyright:text Company:text Comments:text Tag:text",
	 "Profiles TraceMergeProperties* OnOffTransitionConfigurations?"},
	{"Profiles", "",
	 "SystemCollector* EventCollector* HeapEventCollector* SystemProvider* EventProvider* "
	 "HeapEventProvider* HardwareCounter* MicroArchitecturalConfig* Profile+"},
	{"SystemCollector", "Id:id! Name:text Base:text Realtime:bool FileName:text HostGuestCorrelation:bool", SIZES},
	{"EventCollector",
	 "Id:id! Name:text?! Base:text Realtime:bool Private:bool ProcessPrivate:bool Secure:bool "
	 "FileName:text HostGuestCorrelation:bool",
	 SIZES},
	{"HeapEventCollector", "Id:id! Name:text?! Base:text Realtime:bool Secure:bool FileName:text", SIZES},
	{"BufferSize", "Value:u4-16384! " OPERATION, ""},
	{"Buffers", "Value:p1-1048576! PercentageOfTotalMemory:bool MaximumBufferSpace:u1-1048576 " OPERATION, ""},
	{"BuffersPerCPU", "Value:u1-65536! MaximumBufferSpace:u1-1048576 " OPERATION, ""},
	{"BuffersPerCpu", "Value:u1-65536! MaximumBufferSpace:u1-1048576 " OPERATION, ""},
	{"StackCaching", "BucketCount:u1-1048576 CacheSize:u1-1048576 " OPERATION, ""},
	{"MaximumFileSize", "Value:u1-1048576! FileMode:=Sequential|Circular|Newfile " OPERATION, ""},
	{"FileMax", "Value:u1-1048576! " OPERATION, ""},

	{"SystemProvider", "Id:id Base:text", "Keywords* Stacks* PoolTags? " STATES},
	{"Keywords@system", OPERATION, "Keyword* CustomKeyword*"},
	{"Keyword@system", "Value:text! Strict:bool RundownFlag:=Start|Stop|None", ""},
	{"CustomKeyword", "Value:hex! Strict:bool", ""},
	{"Stacks", OPERATION, "Stack* CustomStack*"},
	{"Stack", "Value:text! Strict:bool", ""},
	{"CustomStack", "Value:hex! Strict:bool", ""},
	{"PoolTags", OPERATION, "PoolTag*"},
	{"PoolTag", "Value:text!", ""},

	{"EventProvider",
	 "Id:id Name:text?! Level:u0-255 NonPagedMemory:bool Stack:bool SID:bool TSID:bool "
	 "EventKey:bool CaptureStateOnly:bool Strict:bool Base:text ProcessExeFilter:text",
	 "Keywords* Stacks* " STATES " " FILTERS},
	{"Keywords", OPERATION, "Keyword*"},
	{"Keyword", "Value:hex!", ""},
	{"CaptureStateOnStart", OPERATION " Timeout:u0-86400", "Keyword*"},
	{"CaptureStateOnSave", OPERATION " Timeout:u0-86400", "Keyword*"},
	{"CaptureStateOnDemand", OPERATION " Timeout:u0-86400", "Keyword*"},
	{"EventFilters", "FilterIn:bool! " OPERATION, "EventId+"},
	{"StackFilters", "FilterIn:bool! " OPERATION, "EventId+"},
	{"EventId", "Value:u0-65535!", ""},
	{"EventNameFilters", "FilterIn:bool! Level:u0-255 " OPERATION, "Keyword* EventName+"},
	{"StackEventNameFilters", "FilterIn:bool! Level:u0-255 " OPERATION, "Keyword* EventName+"},
	{"EventName", "Value:text!", ""},

	{"HeapEventProvider", "Id:id Base:text", "HeapProcessIds?"},
	{"HeapProcessIds", OPERATION, "HeapProcessId*"},
	{"HeapProcessId", "Value:text!", ""},
	{"HardwareCounter", "Id:id! Base:text Strict:bool", COUNTS},
	{"Counters", OPERATION, "Counter+"},
	{"Counter", "Value:text! Strict:bool", ""},
	{"Events", OPERATION, "Event+"},
	{"Event", "Value:text! Strict:bool", ""},
	{"SampledCounters", OPERATION, "SampledCounter+"},
	{"SampledCounter", "Value:text! Interval:u1-2147483647 Strict:bool", ""},
	{"ProfileSources", NULL, NULL},
	{"LastBranch", NULL, NULL},
	{"ProcessorTrace", NULL, NULL},
	{"MicroArchitecturalConfig", "Id:id! Base:text Strict:bool", NULL},

	{"Profile",
	 "Id:id! Name:text! Description:text! LoggingMode:=File|Memory! "
	 "DetailLevel:=Light|Verbose! Base:text Strict:bool Internal:bool Default:bool",
	 "ProblemCategories? Collectors* TraceMergeProperties?"},
	{"ProblemCategories", OPERATION, "ProblemCategory+"},
	{"ProblemCategory", "Value:text!", ""},
	{"Collectors", OPERATION, "SystemCollectorId* EventCollectorId* HeapEventCollectorId*"},
	{"SystemCollectorId", "Value:text!",
	 SIZES " SystemProviderId* SystemProvider* HardwareCounterId* HardwareCounter* MicroArchitecturalConfigId* "
	       "MicroArchitecturalConfig*"},
	{"SystemProviderId", "Value:text!", "Keywords* Stacks* PoolTags? " STATES},
	{"HardwareCounterId", "Value:text!", COUNTS},
	{"MicroArchitecturalConfigId", "Value:text!", NULL},
	{"EventCollectorId", "Value:text!", SIZES " EventProviders*"},
	{"EventProviders", OPERATION, "EventProviderId* EventProvider*"},
	{"EventProviderId", "Value:text!", "Keywords* Stacks* " STATES " " FILTERS},
	{"HeapEventCollectorId", "Value:text!", SIZES " HeapEventProviders*"},
	{"HeapEventProviders", OPERATION, "HeapEventProviderId* HeapEventProvider*"},
	{"HeapEventProviderId", "Value:text!", "HeapProcessIds?"},

	{"TraceMergeProperties", OPERATION, "TraceMergeProperty* TraceMergePropertyId*"},
	{"TraceMergeProperty", "Id:id! Name:text Base:text", MERGE_CHILDS},
	{"TraceMergePropertyId", "Value:text!", MERGE_CHILDS},
	{"DeletePreMergedTraceFiles", "Value:bool!", ""},
	{"FileCompression", "Value:bool!", ""},
	{"SkipMerge", "Value:bool!", ""},
	{"InjectOnly", "Value:bool!", ""},
	{"CustomEvents", OPERATION, "CustomEvent*"},
	{"CustomEvent",
	 "Value:=None|ImageId|BuildInfo|VolumeMapping|EventMetadata|PerfTrackMetadata|WinSAT|"
	 "NetworkInterface!",
	 ""},
	{"OnOffTransitionConfigurations", NULL, NULL}};

static const char *const system_keywords[] = {"AllFaults",
					      "Alpc",
					      "AntiStarvation",
					      "CC",
					      "ClockInterrupt",
					      "ClusterOff",
					      "CompactCSwitch",
					      "ContiguousMemorygeneration",
					      "CpuConfig",
					      "CSwitch",
					      "DiskIO",
					      "DiskIOInit",
					      "DiskIOInitialization",
					      "DPC",
					      "DPCQueue",
					      "Drivers",
					      "FileIO",
					      "FileIOInit",
					      "Filename",
					      "FilterIO",
					      "FilterIOFailure",
					      "FilterIOFastIO",
					      "FilterIOInit",
					      "FootPrint",
					      "HalClock",
					      "Handle",
					      "HardFaults",
					      "IdealProcessor",
					      "IdleStates",
					      "InterProcessorInterrupt",
					      "Interrupt",
					      "KernelQueue",
					      "Loader",
					      "LoadBalancer",
					      "Memory",
					      "MemoryInfo",
					      "MemoryInfoWS",
					      "NetworkTrace",
					      "Object",
					      "OpticalIO",
					      "OpticalIOInit",
					      "PmcProfile",
					      "Pool",
					      "Power",
					      "ProcessCounter",
					      "ProcessFreeze",
					      "ProcessThread",
					      "ReadyThread",
					      "ReferenceSet",
					      "Registry",
					      "RegistryHive",
					      "RegistryNotify",
					      "SampledProfile",
					      "Session",
					      "SpinLock",
					      "SplitIO",
					      "SynchronizationObjects",
					      "SystemCall",
					      "ThreadPriority",
					      "Timer",
					      "VAMap",
					      "VirtualAllocation",
					      "WakeCounter",
					      "WDFDPC",
					      "WDFInterrupt"};

/* ---- values --------------------------------------------------------------------------------- */

bool profile_percent(const char *text, uint32_t *ret_hundredths)
{
	uint32_t whole = 0, part = 0, digits = 0;
	const char *s = text;
	for (; *s >= '0' && *s <= '9' && whole <= 100; s++) {
		whole = whole * 10 + (uint32_t)(*s - '0');
	}
	if (s == text || (*s && *s != '.') || (*s && !s[1])) {
		return false;
	}
	for (s += *s == '.'; *s >= '0' && *s <= '9'; s++, digits++) {
		part += digits == 0 ? 10 * (uint32_t)(*s - '0') : digits == 1 ? (uint32_t)(*s - '0') : 0;
	}
	uint32_t all = 100 * whole + part;
	if (*s || all == 0 || all > 10000) {
		return false;
	}
	*ret_hundredths = all;
	return true;
}

bool profile_bool(const char *text, bool otherwise)
{
	return !text ? otherwise : strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

/* "0x10" and "16" are one keyword; names are compared without regard to case. */
bool profile_same_value(const char *a, const char *b)
{
	uint64_t x, y;
	if (parse_number(a, 0, UINT64_MAX, &x) && parse_number(b, 0, UINT64_MAX, &y)) {
		return x == y;
	}
	return strcasecmp(a, b) == 0;
}

const char *profile_schema_keyword(const char *name)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(system_keywords); i++) {
		if (strcasecmp(name, system_keywords[i]) == 0) {
			return system_keywords[i];
		}
	}
	return NULL;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Edits between two short words, without regard to case; one row at a time. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[34];
	size_t n = strlen(a), m = strlen(b);
	if (n > 32 || m > 32) {
		return 99;
	}
	for (size_t j = 0; j <= m; j++) {
		row[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned up = row[j];
			unsigned best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
			best = BASE_MIN(best, up + 1);
			best = BASE_MIN(best, row[j - 1] + 1);
			diagonal = up;
			row[j] = best;
		}
	}
	return row[m];
}

const char *profile_nearest(const char *text, const char *const *names, size_t count)
{
	const char *best = NULL;
	unsigned least = strlen(text) <= 4 ? 2 : 4;
	for (size_t i = 0; i < count; i++) {
		unsigned d = distance(text, names[i]);
		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}

/* ---- the check ------------------------------------------------------------------------------ */

struct word {
	char name[40];
	char kind; /* of a child: * ? + or 0 */
	const char *type;
	size_t type_bytes;
	bool required, unless_base;
};

/* The next word of an attribute or child list. */
static bool next_word(const char **list, bool attribute, struct word *w)
{
	const char *s = *list;
	while (*s == ' ') {
		s++;
	}
	if (!*s) {
		return false;
	}
	size_t n = strcspn(s, " "), name = attribute ? strcspn(s, ":") : n;
	*list = s + n;
	memset(w, 0, sizeof *w);
	if (attribute) {
		w->type = s + name + 1;
		w->type_bytes = n - name - 1;
		if (w->type[w->type_bytes - 1] == '!') {
			w->type_bytes--;
			w->required = true;
		}
		if (w->type[w->type_bytes - 1] == '?') {
			w->type_bytes--;
			w->unless_base = true;
		}
	} else if (strchr("*?+", s[n - 1])) {
		w->kind = s[--name];
	}
	memcpy(w->name, s, BASE_MIN(name, sizeof w->name - 1));
	return true;
}

static const struct element *element_of(const char *name, bool system)
{
	char special[48];
	snprintf(special, sizeof special, "%.36s@system", name);
	for (size_t i = 0; system && i < BASE_ARRAY_LEN(elements); i++) {
		if (strcmp(elements[i].name, special) == 0) {
			return &elements[i];
		}
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(elements); i++) {
		if (strcmp(elements[i].name, name) == 0) {
			return &elements[i];
		}
	}
	return NULL;
}

static bool in_list(const char *list, size_t n, const char *text)
{
	for (const char *s = list, *end = list + n; s < end;) {
		size_t k = 0;
		while (s + k < end && s[k] != '|') {
			k++;
		}
		if (strlen(text) == k && strncasecmp(s, text, k) == 0) {
			return true;
		}
		s += k + 1;
	}
	return false;
}

static bool looks_like_bool(const char *v)
{
	return strcasecmp(v, "true") == 0 || strcasecmp(v, "false") == 0 || strcmp(v, "1") == 0 || strcmp(v, "0") == 0;
}

static void check_value(struct profile_doc *doc, const struct xml_node *n, const struct xml_attr *a,
			const struct word *w)
{
	uint64_t v;
	if (w->type[0] == '=') {
		if (!in_list(w->type + 1, w->type_bytes - 1, a->value)) {
			profile_bad(doc, a, "%s of %s is '%.60s', but has to be one of %.*s", a->name, n->name,
				    a->value, (int)w->type_bytes - 1, w->type + 1);
		}
	} else if (w->type[0] == 'u' || w->type[0] == 'p') {
		char *end;
		unsigned long least = strtoul(w->type + 1, &end, 10);
		unsigned long most = strtoul(end + 1, NULL, 10);
		bool percent = w->type[0] == 'p' && profile_bool(xml_value(n, "PercentageOfTotalMemory"), false);
		uint32_t hundredths;
		if (percent) {
			if (!profile_percent(a->value, &hundredths)) {
				profile_bad(doc, a, "%s of %s is '%.60s', but has to be a percentage: from 0.01 to 100",
					    a->name, n->name, a->value);
			}
		} else if (!parse_number(a->value, 0, UINT64_MAX, &v)) {
			profile_bad(doc, a, "%s of %s is '%.60s', but has to be a number", a->name, n->name, a->value);
		} else if (v < least || v > most) {
			profile_bad(doc, a, "%s of %s is %.60s, but has to be from %lu to %lu", a->name, n->name,
				    a->value, least, most);
		}
	} else if (strncmp(w->type, "hex", w->type_bytes) == 0) {
		if (!parse_number(a->value, 0, UINT64_MAX, &v)) {
			profile_bad(doc, a, "%s of %s is '%.60s', but has to be a number such as 0x10", a->name,
				    n->name, a->value);
		}
	} else if (strncmp(w->type, "bool", w->type_bytes) == 0) {
		if (!looks_like_bool(a->value)) {
			profile_bad(doc, a, "%s of %s is '%.60s', but has to be true or false", a->name, n->name,
				    a->value);
		}
	} else if (strncmp(w->type, "id", w->type_bytes) == 0) {
		if (!*a->value || strpbrk(a->value, ": \t\n")) {
			profile_bad(doc, a, "the Id '%.60s' is empty or has a colon or space in it", a->value);
		}
	} else if (w->required && !*a->value) {
		profile_bad(doc, a, "%s of %s is empty", a->name, n->name);
	}
}

static void check_attributes(struct profile_doc *doc, const struct xml_node *n, const char *rules)
{
	struct word w;
	const char *names[24];
	char copies[24][40];
	for (const struct xml_attr *a = n->attrs; a; a = a->next) {
		if (*a->prefix) {
			continue; /* of another language */
		}
		size_t count = 0;
		bool known = false;
		for (const char *s = rules; next_word(&s, true, &w);) {
			if (strcasecmp(w.name, a->name) == 0) {
				check_value(doc, n, a, &w);
				known = true;
				break;
			}
			if (count < BASE_ARRAY_LEN(names)) {
				memcpy(copies[count], w.name, sizeof w.name);
				names[count] = copies[count];
				count++;
			}
		}
		if (!known) {
			const char *near = profile_nearest(a->name, names, count);
			profile_bad(doc, a,
				    near ? "%s has no attribute '%.40s'; is %s meant?" : "%s has no attribute '%.40s'",
				    n->name, a->name, near);
		}
	}
	for (const char *s = rules; next_word(&s, true, &w);) {
		bool excused = w.unless_base && xml_attr(n, "Base");
		if (w.required && !excused && !xml_attr(n, w.name)) {
			profile_bad(doc, n, "%s lacks the attribute %s", n->name, w.name);
		}
	}
}

/* Elements that the schema has elsewhere are passed over: Microsoft's own profiles have such. */
static bool is_elsewhere(const struct xml_node *c)
{
	return strcmp(c->name, "WindowsPerformanceRecorder") != 0 && strcmp(c->name, "Profiles") != 0 &&
	       element_of(c->name, false);
}

static void check_children(struct profile_doc *doc, const struct xml_node *n, const char *rules)
{
	struct word w;
	const char *names[24];
	char copies[24][40];
	unsigned counts[24] = {0}, furthest = 0;
	bool told = false;
	for (const struct xml_node *c = n->children; c; c = c->next) {
		unsigned at = 0;
		bool known = false;
		if (n == doc->profiles) {
			doc->within = c;
		}
		for (const char *s = rules; next_word(&s, false, &w); at++) {
			memcpy(copies[at], w.name, sizeof w.name);
			names[at] = copies[at];
			if (strcmp(w.name, c->name) == 0) {
				known = true;
				break;
			}
		}
		if (!known && is_elsewhere(c)) {
			profile_warn(doc, c, "<%.40s> has no meaning in <%s> and is passed over", c->name, n->name);
			continue;
		}
		if (!known) {
			const char *near = profile_nearest(c->name, names, at);
			profile_bad(doc, c,
				    near ? "<%.40s> cannot stand in <%s>; is <%s> meant?"
					 : "<%.40s> cannot stand in <%s>",
				    c->name, n->name, near);
			continue;
		}
		if (counts[at]++ > 0 && (w.kind == '?' || w.kind == 0)) {
			profile_bad(doc, c, "a second <%s> in <%s>, which takes one", c->name, n->name);
		}
		/* Collectors, providers, profiles; in which order within each the schema does not mind. */
		unsigned group = n != doc->profiles                ? 0
				 : strcmp(c->name, "Profile") == 0 ? 2
				 : strstr(c->name, "Collector")    ? 0
								   : 1;
		if (group < furthest && !told) {
			profile_warn(doc, c,
				     "<%s> comes after the first <%s>; Windows wants collectors first, then "
				     "providers, then profiles",
				     c->name, furthest == 2 ? "Profile" : "…Provider");
			told = true;
		}
		furthest = BASE_MAX(furthest, group);
	}
	if (n == doc->profiles) {
		doc->within = NULL;
	}
	unsigned at = 0;
	for (const char *s = rules; next_word(&s, false, &w); at++) {
		if ((w.kind == '+' || w.kind == 0) && counts[at] == 0) {
			profile_bad(doc, n, "<%s> lacks <%s>", n->name, w.name);
		}
	}
}

static void check_meaning(struct profile_doc *doc, const struct xml_node *n, bool system)
{
	const char *v = xml_value(n, "Value");
	if (system && v && strcmp(n->name, "Keyword") == 0 && !profile_schema_keyword(v)) {
		const char *near = profile_nearest(v, system_keywords, BASE_ARRAY_LEN(system_keywords));
		if (near) {
			profile_bad(doc, n, "there is no system keyword '%.40s'; is %s meant?", v, near);
		} else {
			profile_warn(doc, n, "the system keyword '%.40s' is not known here", v);
		}
	}
	if (strcmp(n->name, "PoolTag") == 0 && v && strlen(v) > 4) {
		profile_bad(doc, n, "the pool tag '%.40s' has more than four characters", v);
	}
	if (strcmp(n->name, "Profile") == 0) {
		const char *id = xml_value(n, "Id"), *name = xml_value(n, "Name");
		const char *mode = xml_value(n, "LoggingMode"), *detail = xml_value(n, "DetailLevel");
		size_t k = name ? strlen(name) : 0, d = detail ? strlen(detail) : 0;
		if (id && name && mode && detail &&
		    (strlen(id) != k + d + strlen(mode) + 2 || strncmp(id, name, k) != 0 || id[k] != '.' ||
		     strncasecmp(id + k + 1, detail, d) != 0 || id[k + 1 + d] != '.' ||
		     strcasecmp(id + k + 2 + d, mode) != 0)) {
			profile_warn(doc, n,
				     "the profile's Id is '%.60s', but should be Name.DetailLevel.LoggingMode: "
				     "'%.60s.%s.%s'",
				     id, name, detail, mode);
		}
	}
}

static bool is_child(const char *rules, const char *name)
{
	struct word w;
	for (const char *s = rules; next_word(&s, false, &w);) {
		if (strcmp(w.name, name) == 0) {
			return true;
		}
	}
	return false;
}

static void check(struct profile_doc *doc, const struct xml_node *n, bool system)
{
	if (strncmp(n->name, "System", 6) == 0) {
		system = true;
	} else if (strncmp(n->name, "Event", 5) == 0) {
		system = false;
	}
	const struct element *e = element_of(n->name, system);
	if (!e) {
		return; /* the parent's check has told */
	}
	if (e->attrs) {
		check_attributes(doc, n, e->attrs);
	}
	check_meaning(doc, n, system);
	if (!e->children) {
		return;
	}
	check_children(doc, n, e->children);
	for (const struct xml_node *c = n->children; c; c = c->next) {
		if (n == doc->profiles) {
			doc->within = c;
		}
		if (is_child(e->children, c->name)) {
			check(doc, c, system);
		}
		if (n == doc->profiles) {
			doc->within = NULL;
		}
	}
}

void profile_schema_check(struct profile_doc *doc)
{
	const struct xml_node *root = doc->xml.root;
	if (strcmp(root->name, "WindowsPerformanceRecorder") != 0) {
		profile_bad(doc, root,
			    "this is no recording profile: its outermost element is <%.60s>, not "
			    "<WindowsPerformanceRecorder>",
			    root->name);
		return;
	}
	doc->profiles = xml_child(root, "Profiles");
	check(doc, root, false);
}
