/* SPDX-License-Identifier: MIT */
#include "session/provider_spec.h"
#include "session/session.h"
#include "etw/values/filter_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <unistd.h>
#include <cmocka.h>

/* The example of the documentation: a registry export's names, with Windows' own spelling. */
static const char example[] = "; a comment\r\n"
			      "Start=1\r\n"
			      "guid = {D3F0CF8A-0001-4c5c-a5f8-0d0a3f3a7a11}\r\n"
			      "LogFileMode = 0x8000101\n"
			      "FileName = \"/var/log/with blank .etl\"\n"
			      "FileCounter = 3\n"
			      "\n"
			      "[{aa1cf0de-0001-4c5c-a5f8-0d0a3f3a7a11}]\n"
			      "Enabled = 1\n"
			      "EnableLevel = 4\n"
			      "MatchAnyKeyword = 0xFFFFFFFFFFFFFFFF\n"
			      "EnableProperty = 4\n"
			      "[OpenETW.Sample.Hello]\n"
			      "Enabled = 0";

static void the_registrys_names_mean_what_they_mean_there(void **state)
{
	(void)state;
	struct etw_session s;
	struct diag d = {0};
	struct guid g;
	assert_int_equal(session_parse(example, sizeof example - 1, "boot", NULL, &s, &d), 0);
	assert_string_equal(s.name, "boot");
	assert_int_equal(s.start, 1);
	assert_int_equal(s.props.mode, 0x8000101);
	assert_int_equal(s.props.clock, 1);
	assert_string_equal(s.file, "/var/log/with blank .etl");
	guid_parse("d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11", &g);
	assert_true(guid_equal(&s.props.guid, &g));
	assert_int_equal(s.provider_count, 2);
	assert_int_equal(s.provider[0].level, 4);
	assert_true(s.provider[0].any == UINT64_MAX);
	assert_int_equal(s.provider[0].properties, 4);
	assert_true(s.provider[0].enabled);
	assert_false(s.provider[1].enabled);
	guid_from_provider_name("OpenETW.Sample.Hello", &g);
	assert_true(guid_equal(&s.provider[1].guid, &g));
	session_finish(&s);
}

static bool count_filter(void *ctx, uint32_t type, const uint8_t *bytes, size_t n)
{
	static const uint32_t types[] = {0x80000200, 0x80000400, 0x80000100};
	int *count = ctx;
	assert_true(*count < 3 && bytes && n > 0);
	assert_int_equal(type, types[(*count)++]);
	return true;
}

static void a_filter_in_words_survives_the_file_and_becomes_bytes(void **state)
{
	static const char words[] = "event == Login and (User == \"ann b\" or Tries > 3)";
	static const char text[] = "[{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}]\n"
				   "Filter = event == Login and (User == \"ann b\" or Tries > 3)\n";
	struct etw_session s, t;
	struct strbuf b = {0};
	struct diag d = {0};
	int count = 0;
	(void)state;
	assert_int_equal(session_parse(text, strlen(text), "x", NULL, &s, &d), 0);
	assert_string_equal(s.provider[0].expression, words);
	session_format(&s, &b);
	assert_int_equal(session_parse(b.s, b.len, "x", NULL, &t, &d), 0);
	assert_string_equal(t.provider[0].expression, words);
	assert_int_equal(session_expression_each(&t.provider[0], count_filter, &count, &d), 0);
	assert_int_equal(count, 3);
	strbuf_finish(&b);
	session_finish(&s);
	session_finish(&t);
}

/* A manifest whose events have one field, a byte called Status. */
static int describe(const struct guid *provider, uint16_t id, const struct filter_conditions *c,
		    uint8_t out[FILTER_BYTES_MAX], size_t *inout_bytes, struct diag *d)
{
	static const struct filter_field field = {.kind = FILTER_FIXED, .length = 1, .count = 1};
	uint8_t value[8] = {(uint8_t)strtoul(c->c[0].value, NULL, 10)};
	struct filter_predicate p = {.op = c->c[0].op, .type = FILTER_UNSIGNED, .bytes = 8, .value = value};
	struct filter_event e = {.provider = *provider,
				 .id = id,
				 .field_count = 1,
				 .fields = &field,
				 .predicate_count = 1,
				 .predicates = &p};
	if (strcmp(c->c[0].field, "Status") != 0) {
		d->column = c->c[0].name_column;
		diag_at(d, UINT64_MAX, "event %u has no field '%s'", id, c->c[0].field);
		return -EINVAL;
	}
	return filter_write(&e, out, inout_bytes);
}

static void conditions_on_a_manifests_event_are_words_in_a_file_too(void **state)
{
	static const struct session_manifests manifests = {.describe = describe};
	static const char *const lines[] = {"Filter = id == 7 and Status >= 200", "PayloadFilter = 7: Status >= 200"};
	static const uint8_t low = 199, high = 200;
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(lines); i++) {
		struct etw_session s, t;
		struct strbuf b = {0};
		struct diag d = {0};
		char text[200];
		int n = snprintf(text, sizeof text, "[{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}]\n%s\n", lines[i]);
		if (session_parse(text, (size_t)n, "x", &manifests, &s, &d) != 0) {
			fail_msg("'%s': %s", lines[i], d.text);
		}
		/* Written, it has the bytes, too: whoever reads it then needs no manifest. */
		session_format(&s, &b);
		assert_int_equal(session_parse(b.s, b.len, "x", NULL, &t, &d), 0);
		assert_non_null(t.provider[0].payload);
		assert_true(filter_passes(t.provider[0].payload, 7, 0, &high, 1, 8));
		assert_false(filter_passes(t.provider[0].payload, 7, 0, &low, 1, 8));
		strbuf_finish(&b);
		session_finish(&s);
		session_finish(&t);
	}
	struct etw_session s;
	struct diag d = {0};
	static const char wrong[] = "[{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}]\nFilter = id == 7 and Stauts >= 200\n";
	assert_int_equal(session_parse(wrong, strlen(wrong), "x", &manifests, &s, &d), -EBADMSG);
	assert_non_null(strstr(d.text, "(column 13): event 7 has no field 'Stauts'"));
}

static void a_filter_that_no_session_evaluates_is_refused_with_its_column(void **state)
{
	static const struct {
		const char *lines, *says;
	} cases[] = {
		{"Filter = event == A and B & 3", "(column 18): the session cannot evaluate '&'"},
		{"Filter = event == A and", "(column 15): "},
		{"Filter = event == A and B =~ /x/", "(column 18): the session cannot evaluate regular expressions"},
		{"Filter = event == A and stack has x", "(column 16): the session cannot evaluate 'stack'"},
		{"Filter = event == A and text has x", "(column 16): the session cannot evaluate 'text'"},
		{"Filter = event == A and duration > 1s", "(column 16): the session cannot evaluate 'duration'"},
		{"Filter = time > 1s", "(column 1): the session cannot evaluate 'time'"},
		{"Filter = id == 3 and B == 3", "(column 7): the fields of a manifest's event"},
		{"Filter = event == A\nEventIdFilter = 3", "leave out EventIdFilter"},
		{"PayloadFilter = A: B & 3", "(column 6): the session cannot evaluate '&'"},
	};
	(void)state;
	for (size_t i = 0; i < BASE_ARRAY_LEN(cases); i++) {
		struct etw_session s;
		struct diag d = {0};
		char text[200];
		int n = snprintf(text, sizeof text, "[{d3f0cf8a-0001-4c5c-a5f8-0d0a3f3a7a11}]\n%s\n", cases[i].lines);
		assert_int_equal(session_parse(text, (size_t)n, "x", NULL, &s, &d), -EBADMSG);
		if (!strstr(d.text, cases[i].says)) {
			fail_msg("'%s': %s", cases[i].lines, d.text);
		}
	}
}

static void filters_of_processes_and_payloads_survive_the_file(void **state)
{
	(void)state;
	static const char text[] = "[Test.Saved]\nProcessIdFilter = 17,0x2A\n"
				   "PayloadFilter = Login: User == 'ann b' and Tries > 3\n"
				   "PayloadFilter = Logout: User ~ x\n";
	struct etw_session s, t;
	struct diag d = {0};
	struct strbuf b = {0};
	uint8_t bytes[SESSION_FILTER_BYTES];
	size_t n;
	assert_int_equal(session_parse(text, sizeof text - 1, "x", NULL, &s, &d), 0);
	/* EVENT_FILTER_TYPE_PID: an array of ULONG. */
	assert_int_equal(
		session_filter_make(SESSION_FILTER_PID, s.provider[0].filter[SESSION_FILTER_PID], bytes, &n, &d), 0);
	assert_int_equal(session_filter_type(SESSION_FILTER_PID), 0x80000004);
	assert_int_equal(n, 8);
	assert_int_equal(le32_get(bytes), 17);
	assert_int_equal(le32_get(bytes + 4), 42);
	assert_non_null(memmem(s.provider[0].payload, s.provider[0].payload_bytes, "ann b", 5));
	assert_non_null(memmem(s.provider[0].payload, s.provider[0].payload_bytes, "Logout", 6));
	session_format(&s, &b);
	assert_int_equal(session_parse(b.s, b.len, "x", NULL, &t, &d), 0);
	assert_int_equal(t.provider[0].payload_bytes, s.provider[0].payload_bytes);
	assert_memory_equal(t.provider[0].payload, s.provider[0].payload, s.provider[0].payload_bytes);
	session_finish(&s);
	session_finish(&t);
	strbuf_finish(&b);
	static const char *const wrong[] = {
		"[Test.Saved]\nPayloadFilter = Login\n",
		"[Test.Saved]\nPayloadFilter = 17: A == 1\n", /* of a manifest */
		"[Test.Saved]\nPayloadFilter = hex:454f4e46\n",
		"[Test.Saved]\nPayloadFilter = hex:zz\n",
		"[Test.Saved]\nProcessIdFilter = 1,2,3,4,5,6,7,8,9\n",
		"[Test.Saved]\nProcessIdFilter = \n",
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		d = (struct diag){0};
		assert_int_equal(session_parse(wrong[i], strlen(wrong[i]), "x", NULL, &s, &d), -EBADMSG);
		assert_int_equal(d.line, 2);
		assert_true(d.text[0] != 0);
	}
}

static void kernel_masks_and_stacks_survive_the_file(void **state)
{
	(void)state;
	static const char text[] = "EnableKernelFlags = 0x7,0x2\nKernelStacks = 0xF2E,0x524\n";
	struct etw_session s, t;
	struct diag d = {0};
	struct strbuf b = {0};
	assert_int_equal(session_parse(text, sizeof text - 1, "x", NULL, &s, &d), 0);
	assert_false(kernel_mask_empty(&s.kernel.mask));
	session_format(&s, &b);
	assert_int_equal(session_parse(b.s, b.len, "x", NULL, &t, &d), 0);
	assert_int_equal(t.kernel.mask.word[0], 7);
	assert_int_equal(t.kernel.mask.word[1], 2);
	assert_int_equal(t.kernel.mask.word[7], 0);
	assert_int_equal(t.kernel.stacks, 2);
	assert_int_equal(t.kernel.stack[0], 0xF2E);
	assert_int_equal(t.kernel.stack[1], 0x524);
	session_finish(&s);
	session_finish(&t);
	strbuf_finish(&b);
	assert_int_equal(session_parse("KernelStacks = 0x10000\n", 23, "x", NULL, &s, &d), -EBADMSG);
	assert_int_equal(session_parse("EnableKernelFlags = 1,2,3,4,5,6,7,8,9\n", 38, "x", NULL, &s, &d), -EBADMSG);
}

static void every_mistake_is_named_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t line;
		const char *says;
	} rows[] = {
		{"Start = 1\nBufferSice = 4\n", 2, "'BufferSice' is no key of a session"},
		{"Start = yes", 1, "'yes' is no number"},
		{"Start = 2", 1, "Start is 0 to 1"},
		{"\n\nClockType = 0", 3, "ClockType is 1 to 3"},
		{"FlushTimer = 1s", 1, "'1s' is no number"},
		{"FlushTimer = -1", 1, "'-1' is no number"},
		{"MaxFileSize = 4294967296", 1, "MaxFileSize is 0 to 4294967295"},
		{"Guid = 123", 1, "is no GUID"},
		{"just words", 1, "is no \"Key = value\""},
		{"[{123}]", 1, "neither a GUID nor"},
		{"[]", 1, "neither a GUID nor"},
		{"[A", 1, "']' is missing"},
		{"[A]\nBufferSize = 4", 2, "'BufferSize' is no key of a provider"},
		{"[A]\nEnableLevel = 256", 2, "EnableLevel is 0 to 255"},
		{"[A]\n[B]\n[a]\n", 3, "was there already in line 1"},
		{"[A]\n[Session]\n", 2, "stands before the providers"},
		{"FileMax = 17", 1, "FileMax is 0 to 16"},
		{"[A]\nEventIdFilter = 1,x", 2, "up to 64 numbers"},
		{"[A]\nEventIdFilter = ", 2, "up to 64 numbers"},
		{"[A]\nEventIdFilter = 65536", 2, "up to 64 numbers"},
		{"[A]\nEventNameFilter = A,,B", 2, "names such as"},
		{"[A]\nStackWalkLevelFilter = 256", 2, "a level and keywords"},
		{"EventIdFilter = 1", 1, "no key of a session"},
		{"FileSuffix = both", 1, "none, number or time"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct etw_session s;
		struct diag d = {0};
		assert_int_equal(session_parse(rows[i].text, strlen(rows[i].text), "x", NULL, &s, &d), -EBADMSG);
		if (!strstr(d.text, rows[i].says) || d.line != rows[i].line) {
			fail_msg("%s: line %u: %s", rows[i].text, d.line, d.text);
		}
	}
}

/* The layouts are EVENT_FILTER_EVENT_ID, _EVENT_NAME and _LEVEL_KW of the documentation. */
static void filters_become_the_bytes_of_the_api(void **state)
{
	static const struct {
		enum session_filter kind;
		const char *text;
		size_t bytes;
		const char *want;
	} rows[] = {
		{SESSION_FILTER_EVENT_ID, "1,0x102", 8, "\1\0\2\0\1\0\2\1"},
		{SESSION_FILTER_STACK_ID, "!7", 6, "\0\0\1\0\7\0"},
		{SESSION_FILTER_EVENT_NAME, "!Ab,C", 25, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0Ab\0C\0"},
		{SESSION_FILTER_EVENT_NAME, "@4:0x10:Ab", 23, "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4\1\1\0Ab\0"},
		{SESSION_FILTER_STACK_NAME, "\\!a\\,b,c\\\\d\\e", 31,
		 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\0!a,b\0c\\d\\e\0"},
		{SESSION_FILTER_STACK_LEVEL, "4:0x10", 24, "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4\1\0\0\0\0\0\0"},
		{SESSION_FILTER_EXE, "a;b", 8, "a\0;\0b\0\0\0"},
		{SESSION_FILTER_CONTAINER, "c", 4, "c\0\0\0"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		uint8_t out[SESSION_FILTER_BYTES];
		size_t n = 0;
		assert_int_equal(session_filter_make(rows[i].kind, rows[i].text, out, &n, NULL), 0);
		assert_int_equal(n, rows[i].bytes);
		assert_memory_equal(out, rows[i].want, n);
	}
	uint8_t out[SESSION_FILTER_BYTES];
	size_t n;
	static const char *const wrong[] = {"@4:Start", "@256:1:Start", "@4:0x10:", "@4:0x10", "A,", ""};
	for (size_t i = 0; i < BASE_ARRAY_LEN(wrong); i++) {
		assert_int_equal(session_filter_make(SESSION_FILTER_EVENT_NAME, wrong[i], out, &n, NULL), -EINVAL);
	}
	static const char text[] = "[A]\nEventIdFilter = !1,2\nExecutableFilter = web;db\n";
	struct etw_session s, back;
	struct strbuf b = {0};
	assert_int_equal(session_parse(text, strlen(text), "x", NULL, &s, NULL), 0);
	session_format(&s, &b);
	assert_int_equal(session_parse(b.s, b.len, "x", NULL, &back, NULL), 0);
	assert_string_equal(back.provider[0].filter[SESSION_FILTER_EVENT_ID], "!1,2");
	assert_string_equal(back.provider[0].filter[SESSION_FILTER_EXE], "web;db");
	strbuf_finish(&b);
	session_finish(&s);
	session_finish(&back);
}

static void a_session_survives_its_file(void **state)
{
	(void)state;
	char dir[] = "/tmp/saved-test-XXXXXX", path[4096];
	assert_non_null(mkdtemp(dir));
	setenv("XDG_CONFIG_HOME", dir, 1);
	struct etw_session s, back;
	struct diag d = {0};
	session_init(&s);
	strcpy(s.name, "a/b\\c: %d");
	strcpy(s.file, "/tmp/x%d.etl");
	s.props.mode = 0x8;
	s.props.maximum_file_size = 7;
	s.quota = 1ull << 40;
	s.suffix = SESSION_SUFFIX_TIME;
	struct session_provider *p = session_add_provider(&s, &GUID_ZERO);
	p->any = 1;
	p->all = UINT64_MAX;
	strcpy(p->name, "Some Name");
	assert_int_equal(session_path(SESSION_COLLECTORS, false, s.name, path, sizeof path), 0);
	assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
	assert_string_equal(strrchr(path, '/'), "/a%2Fb%5Cc%3A %25d.conf");
	assert_int_equal(session_write(path, &s), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(session_read_file(path, NULL, &back, &d), 0);
	assert_string_equal(back.name, s.name);
	assert_string_equal(back.file, s.file);
	assert_int_equal(back.props.mode, 8);
	assert_true(back.quota == s.quota);
	assert_int_equal(back.suffix, SESSION_SUFFIX_TIME);
	assert_int_equal(back.provider_count, 1);
	assert_true(back.provider[0].all == UINT64_MAX);
	assert_string_equal(back.provider[0].name, "Some Name");
	session_finish(&s);
	session_finish(&back);
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* As long as what Windows takes; each text says what it was made of. */
static void a_filter_is_never_cut(void **state)
{
	(void)state;
	uint16_t ids[MAX_EVENT_FILTER_EVENT_ID_COUNT];
	struct strbuf names = {0}, numbers = {0}, b = {0};
	struct etw_session s, back;
	struct diag d = {0};
	uint8_t out[SESSION_FILTER_BYTES];
	size_t bytes;
	session_init(&s);
	session_init(&back);
	struct session_provider *p = session_add_provider(&s, &(struct guid){{1}});
	assert_non_null(p);
	for (uint16_t i = 0; i < BASE_ARRAY_LEN(ids); i++) {
		ids[i] = (uint16_t)(65535 - i);
	}
	session_filter_ids_text(&numbers, false, ids, BASE_ARRAY_LEN(ids));
	session_filter_names_text(&names, true, 5, UINT64_MAX);
	for (unsigned i = 0; i < 200; i++) {
		char name[32];
		snprintf(name, sizeof name, "%sEvent, number %03u", i ? "" : "@", i);
		session_filter_name_text(&names, i == 0, name);
	}
	assert_true(names.len > 3500);
	assert_int_equal(session_set_filter(p, SESSION_FILTER_STACK_ID, numbers.s, &d), 0);
	assert_int_equal(session_set_filter(p, SESSION_FILTER_EVENT_NAME, names.s, &d), 0);
	session_format(&s, &b);
	assert_int_equal(session_parse(b.s, b.len, "x", NULL, &back, &d), 0);
	assert_string_equal(back.provider[0].filter[SESSION_FILTER_STACK_ID], numbers.s);
	assert_string_equal(back.provider[0].filter[SESSION_FILTER_EVENT_NAME], names.s);
	assert_int_equal(session_filter_make(SESSION_FILTER_EVENT_NAME, names.s, out, &bytes, NULL), 0);
	assert_int_equal(bytes, 20 + 200 * sizeof "Event, number 000" + 1);
	assert_memory_equal(out + 20, "@Event, number 000", 19);
	assert_int_equal(le16_get(out + 18), 200);
	/* What is too long is refused, and the one before it stays. */
	for (unsigned i = 0; i < 100; i++) {
		session_filter_name_text(&names, false, "one more");
	}
	assert_int_equal(session_set_filter(p, SESSION_FILTER_EVENT_NAME, names.s, &d), -EINVAL);
	assert_true(strlen(p->filter[SESSION_FILTER_EVENT_NAME]) < names.len);
	assert_int_equal(session_set_filter(p, SESSION_FILTER_EVENT_NAME, NULL, &d), 0);
	assert_null(p->filter[SESSION_FILTER_EVENT_NAME]);
	strbuf_finish(&names);
	strbuf_finish(&numbers);
	strbuf_finish(&b);
	session_finish(&s);
	session_finish(&back);
}

static void names_do_not_leave_their_directory(void **state)
{
	(void)state;
	char path[4096];
	setenv("XDG_CONFIG_HOME", "/c", 1);
	unsetenv("OPENETW_ROOT");
	assert_int_equal(session_path(SESSION_AUTOLOGGERS, false, "../x", path, sizeof path), 0);
	assert_string_equal(path, "/c/openetw/autologger.d/%2E.%2Fx.conf");
	assert_int_equal(session_path(SESSION_AUTOLOGGERS, true, "x", path, sizeof path), 0);
	assert_string_equal(path, "/etc/openetw/autologger.d/x.conf");
	char name[400];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	assert_int_equal(session_path(SESSION_COLLECTORS, false, name, path, sizeof path), -ENAMETOOLONG);
}

static void a_root_for_tests_covers_the_users_home_too(void **state)
{
	(void)state;
	char path[4096];
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/x", 1);
	setenv("OPENETW_ROOT", "/r", 1);
	assert_int_equal(session_dir(SESSION_AUTOLOGGERS, false, path, sizeof path), 0);
	assert_string_equal(path, "/r/home/x/.config/openetw/autologger.d");
	assert_int_equal(session_dir(SESSION_STATE, false, path, sizeof path), 0);
	assert_string_equal(path, "/r/home/x/.local/state/openetw");
	setenv("XDG_CONFIG_HOME", "/c", 1);
	assert_int_equal(session_dir(SESSION_AUTOLOGGERS, false, path, sizeof path), 0);
	assert_string_equal(path, "/c/openetw/autologger.d");
	unsetenv("OPENETW_ROOT");
}

/* Descriptions of events lie there, too, for everybody. */
static void the_machines_place_is_open_and_what_sessions_keep_there_is_not(void **state)
{
	(void)state;
	char dir[] = "/tmp/saved-test-XXXXXX", path[4096], wanted[64], command[64];
	struct stat st;
	mode_t mask = umask(022);
	assert_non_null(mkdtemp(dir));
	setenv("OPENETW_ROOT", dir, 1);
	assert_int_equal(session_dir(SESSION_STATE, true, path, sizeof path), 0);
	snprintf(wanted, sizeof wanted, "%s/var/lib/openetw", dir);
	assert_string_equal(path, wanted);
	strcat(path, "/realtime");
	assert_int_equal(session_make_dirs(path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(wanted, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	unsetenv("OPENETW_ROOT");
	umask(mask);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

#define MANIFEST "11111111-2222-3333-4444-555555555555"

static bool installed(const char *name, struct guid *ret)
{
	return strcasecmp(name, "Test-Installed") == 0 && guid_parse(MANIFEST, ret) == 0;
}

/* A command's -p and a session file's section name the same provider. */
static void a_section_by_name_is_the_provider_that_commands_mean(void **state)
{
	static const char text[] = "[Test-Installed]\n[*Test-Installed]\n[Test-Other]\n";
	static const char *const specs[] = {"Test-Installed", "*Test-Installed", "Test-Other"};
	struct etw_session s;
	char guid[37];
	assert_int_equal(session_parse(text, strlen(text), "x",
				       &(const struct session_manifests){.installed = installed}, &s, NULL),
			 0);
	assert_int_equal(s.provider_count, 3);
	assert_string_equal(guid_format(&s.provider[0].guid, guid), MANIFEST);
	assert_string_equal(s.provider[0].name, "Test-Installed");
	assert_string_equal(s.provider[1].name, "Test-Installed");
	for (uint32_t i = 0; i < 3; i++) {
		struct provider_spec p = {.level = 5};
		assert_int_equal(provider_spec_parse(specs[i], installed, &p, NULL), 0);
		assert_memory_equal(&p.guid, &s.provider[i].guid, sizeof p.guid);
	}
	session_finish(&s);
}

static void a_provider_is_written_with_keywords_level_and_options(void **state)
{
	static const struct {
		const char *text;
		uint64_t any;
		uint8_t level;
		uint32_t properties;
		const char *filter;
	} rows[] = {
		{"A.B:::event == Order", 7, 4, 0x200, "event == Order"},
		{"A.B:::stack:event == Order and A == \"x:y\"", 7, 4, 0x204, "event == Order and A == \"x:y\""},
		{"A.B::info::id==7", 7, 4, 0x200, "id==7"},
		{"A.B:::stack,tick:id == 7", 7, 4, 0x200, "stack,tick:id == 7"},
		{"A.B:::stacks:x", 0, 0, 0},
		{"A.B", 7, 4, 0x200},
		{"A.B:0x10", 0x10, 4, 0x200},
		{"A.B::2", 7, 2, 0x200},
		{"A.B:*:error", 7, 2, 0x200},
		{"A.B:12:win:x", 0, 0, 0},
		{"{" MANIFEST "}:1:255:stack,sid", 1, 255, 0x205},
		{"A.B:::'stack','key'", 7, 4, 0x304},
		{"A.B:::'stack|tsid'", 7, 4, 0x206},
		{"A.B:::0x80", 7, 4, 0x280},
		{"A.B:::'stack", 0, 0, 0},
		{"A.B:::stacks", 0, 0, 0},
		{"A.B:-1", 0, 0, 0},
		{"A.B:0x10000000000000000", 0, 0, 0},
		{"A.B:1:256", 0, 0, 0},
		{"", 0, 0, 0},
		{":1", 0, 0, 0},
		{"{A}", 0, 0, 0},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		struct provider_spec p = {.any = 7, .level = 4, .properties = 0x200}, before = p;
		struct diag d = {0};
		int r = provider_spec_parse(rows[i].text, NULL, &p, &d);
		if (rows[i].properties == 0) {
			assert_int_equal(r, -EINVAL);
			assert_true(d.text[0] != 0);
			assert_memory_equal(&p, &before, sizeof p);
			continue;
		}
		assert_int_equal(r, 0);
		assert_true(p.any == rows[i].any);
		assert_int_equal(p.level, rows[i].level);
		assert_int_equal(p.properties, rows[i].properties);
		assert_int_equal(!p.filter, !rows[i].filter);
		assert_string_equal(p.filter ? p.filter : "", rows[i].filter ? rows[i].filter : "");
	}
}

/* Sanitizers need address space of their own, and cannot be limited. */
static void a_file_that_memory_does_not_suffice_for_is_not_called_wrong(void **state)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	skip();
#else
	struct strbuf b = {0};
	for (unsigned i = 0; i < 1000; i++) {
		strbuf_addf(&b, "[{d3f0cf8a-%04x-4c5c-a5f8-0d0a3f3a7a11}]\n", i);
	}
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	struct rlimit before, less;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	less = before;
	less.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE) + (1u << 18); /* they take more */
	struct etw_session s;
	struct diag d = {0};
	assert_int_equal(setrlimit(RLIMIT_AS, &less), 0);
	int r = session_parse(b.s, b.len, "x", NULL, &s, &d);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_int_equal(r, -ENOMEM);
	assert_non_null(strstr(d.text, "memory"));
	strbuf_finish(&b);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_memory_does_not_suffice_for_is_not_called_wrong),
		cmocka_unit_test(the_registrys_names_mean_what_they_mean_there),
		cmocka_unit_test(filters_of_processes_and_payloads_survive_the_file),
		cmocka_unit_test(a_filter_in_words_survives_the_file_and_becomes_bytes),
		cmocka_unit_test(conditions_on_a_manifests_event_are_words_in_a_file_too),
		cmocka_unit_test(a_filter_that_no_session_evaluates_is_refused_with_its_column),
		cmocka_unit_test(kernel_masks_and_stacks_survive_the_file),
		cmocka_unit_test(every_mistake_is_named_with_its_line),
		cmocka_unit_test(a_session_survives_its_file),
		cmocka_unit_test(filters_become_the_bytes_of_the_api),
		cmocka_unit_test(a_filter_is_never_cut),
		cmocka_unit_test(names_do_not_leave_their_directory),
		cmocka_unit_test(a_root_for_tests_covers_the_users_home_too),
		cmocka_unit_test(a_section_by_name_is_the_provider_that_commands_mean),
		cmocka_unit_test(a_provider_is_written_with_keywords_level_and_options),
		cmocka_unit_test(the_machines_place_is_open_and_what_sessions_keep_there_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
