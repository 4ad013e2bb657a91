/* SPDX-License-Identifier: MIT
 * StartTrace, ControlTrace and its wrappers, QueryAllTraces: codes and blocks as documented,
 * against a real daemon.
 */
#include "control_testing.h"

#include <openetw/openetw.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const GUID some_guid = {0x11111111, 0x2222, 0x3333, {4, 4, 5, 5, 5, 5, 5, 5}};

/* ---- StartTrace ------------------------------------------------------------------------------ */

/* Each row breaks one thing in a block that is right. */
struct fault {
	const char *what;
	void (*make)(struct block *b);
	ULONG code;
};
static void no_size(struct block *b)
{
	b->p.Wnode.BufferSize = 0;
}
static void short_size(struct block *b)
{
	b->p.Wnode.BufferSize = sizeof b->p - 1;
}
static void no_room(struct block *b)
{
	b->p.Wnode.BufferSize = sizeof b->p;
	b->p.LogFileNameOffset = 0;
	b->p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
}
static void little_room(struct block *b) /* one unit less than the name and its end */
{
	b->p.LogFileNameOffset = 0;
	b->p.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
	b->p.Wnode.BufferSize = b->p.LoggerNameOffset + 2 * 6;
}
static void little_room_before_file(struct block *b)
{
	b->p.LogFileNameOffset = b->p.LoggerNameOffset + 8;
}
static void file_offset_1(struct block *b)
{
	b->p.LogFileNameOffset = 1;
}
static void name_offset_1(struct block *b)
{
	b->p.LoggerNameOffset = 1;
}
static void file_offset_out(struct block *b)
{
	b->p.LogFileNameOffset = sizeof *b + 2;
}
static void name_offset_out(struct block *b)
{
	b->p.LoggerNameOffset = sizeof *b + 2;
}
static void odd_offset(struct block *b)
{
	b->p.LogFileNameOffset |= 1;
}
static void no_flag(struct block *b)
{
	b->p.Wnode.Flags = 0;
}
static void wrong_version(struct block *b)
{
	b->p.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES; /* and its VersionNumber is 0 */
	b->p.LoggerNameOffset += 64;
	b->p.LogFileNameOffset += 64;
}
static void kernel_guid(struct block *b)
{
	b->p.Wnode.Guid = SystemTraceControlGuid;
}
static void no_file(struct block *b)
{
	b->p.LogFileMode = 0;
	b->p.LogFileNameOffset = 0;
}
static void empty_file(struct block *b)
{
	b->file[0] = 0;
}
static void missing_dir(struct block *b)
{
	memcpy(b->file, u"/nonexistent-dir/x.etl", sizeof u"/nonexistent-dir/x.etl");
}
static void a_directory(struct block *b)
{
	memcpy(b->file, u"/tmp", sizeof u"/tmp");
}
static void clock_4(struct block *b)
{
	b->p.Wnode.ClientContext = 4;
}
#define MODE(Name, Bits, Size)                 \
	static void Name(struct block *b)      \
	{                                      \
		b->p.LogFileMode = (Bits);     \
		b->p.MaximumFileSize = (Size); \
	}
MODE(seq_circ, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR, 1)
MODE(seq_new, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_NEWFILE, 1)
MODE(circ_new, EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE, 1)
MODE(circ_unlimited, EVENT_TRACE_FILE_MODE_CIRCULAR, 0)
MODE(new_unlimited, EVENT_TRACE_FILE_MODE_NEWFILE, 0)
MODE(new_uncounted, EVENT_TRACE_FILE_MODE_NEWFILE, 1)
MODE(prealloc_unlimited, EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0)
MODE(append_circ, EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_CIRCULAR, 1)
MODE(append_rt, EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_REAL_TIME_MODE, 0)
MODE(append_new, EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE, 1)
MODE(append_private, EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_PRIVATE_LOGGER_MODE, 0)
MODE(buffering_rt, EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE, 0)
MODE(buffering_seq, EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0)
MODE(private_rt, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_REAL_TIME_MODE, 0)
MODE(private_new, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_FILE_MODE_NEWFILE, 1)
MODE(private_secure, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_SECURE_MODE, 0)
MODE(private_system, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE, 0)
MODE(inproc_unknown, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC | 0x200000, 0)
MODE(buffering_prealloc, EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_FILE_MODE_PREALLOCATE, 1)
MODE(inproc_alone, EVENT_TRACE_PRIVATE_IN_PROC | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0)
MODE(both_sequences, EVENT_TRACE_USE_GLOBAL_SEQUENCE | EVENT_TRACE_USE_LOCAL_SEQUENCE, 0)

static const struct fault faults[] = {
	{"Wnode.BufferSize 0", no_size, ERROR_BAD_LENGTH},
	{"Wnode.BufferSize below the structure", short_size, ERROR_BAD_LENGTH},
	{"no room for the name", no_room, ERROR_BAD_LENGTH},
	{"one unit too little for the name", little_room, ERROR_BAD_LENGTH},
	{"too little between name and file", little_room_before_file, ERROR_BAD_LENGTH},
	{"LogFileNameOffset 1", file_offset_1, ERROR_INVALID_PARAMETER},
	{"LoggerNameOffset 1", name_offset_1, ERROR_INVALID_PARAMETER},
	{"LogFileNameOffset outside", file_offset_out, ERROR_INVALID_PARAMETER},
	{"LoggerNameOffset outside", name_offset_out, ERROR_INVALID_PARAMETER},
	{"odd offset", odd_offset, ERROR_INVALID_PARAMETER},
	{"no WNODE_FLAG_TRACED_GUID", no_flag, ERROR_INVALID_PARAMETER},
	{"versioned, version 0", wrong_version, ERROR_INVALID_PARAMETER},
	{"SystemTraceControlGuid under another name", kernel_guid, ERROR_INVALID_PARAMETER},
	{"neither mode nor file", no_file, ERROR_BAD_PATHNAME},
	{"empty file name", empty_file, ERROR_BAD_PATHNAME},
	{"directory that is not there", missing_dir, ERROR_PATH_NOT_FOUND},
	{"a directory as file", a_directory, ERROR_BAD_PATHNAME},
	{"clock 4", clock_4, ERROR_INVALID_PARAMETER},
	{"sequential + circular", seq_circ, ERROR_INVALID_PARAMETER},
	{"sequential + new file", seq_new, ERROR_INVALID_PARAMETER},
	{"circular + new file", circ_new, ERROR_INVALID_PARAMETER},
	{"circular without a size", circ_unlimited, ERROR_INVALID_PARAMETER},
	{"new file without a size", new_unlimited, ERROR_INVALID_PARAMETER},
	{"new file without %d", new_uncounted, ERROR_INVALID_PARAMETER},
	{"preallocated without a size", prealloc_unlimited, ERROR_INVALID_PARAMETER},
	{"append + circular", append_circ, ERROR_INVALID_PARAMETER},
	{"append + real time", append_rt, ERROR_INVALID_PARAMETER},
	{"append + new file", append_new, ERROR_INVALID_PARAMETER},
	{"append + private", append_private, ERROR_INVALID_PARAMETER},
	{"buffering + real time", buffering_rt, ERROR_INVALID_PARAMETER},
	{"buffering + sequential", buffering_seq, ERROR_INVALID_PARAMETER},
	{"private + real time", private_rt, ERROR_INVALID_PARAMETER},
	{"private + new file", private_new, ERROR_INVALID_PARAMETER},
	{"private + secure", private_secure, ERROR_INVALID_PARAMETER},
	{"private + system logger", private_system, ERROR_INVALID_PARAMETER},
	{"in-process + an unknown bit", inproc_unknown, ERROR_INVALID_PARAMETER},
	{"buffering + preallocated", buffering_prealloc, ERROR_INVALID_PARAMETER},
	{"in-process without private", inproc_alone, ERROR_INVALID_PARAMETER},
	{"two kinds of sequence numbers", both_sequences, ERROR_INVALID_PARAMETER},
};

static void a_start_with_one_fault_returns_the_documented_code(void **state)
{
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		struct block b;
		CONTROLTRACE_ID id = 77;
		block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "fault.etl");
		faults[i].make(&b);
		expect_code(StartTraceW(&id, u"Faulty", &b.p), faults[i].code, faults[i].what);
		if (openetw_last_error_text()[0] == 0) {
			fail_msg("no reason is given for: %s", faults[i].what);
		}
		assert_true(id == 0); /* never the caller's old value, never INVALID_HANDLE_VALUE */
	}
}

static void a_start_without_its_pointers_is_refused(void **state)
{
	struct block b;
	CONTROLTRACE_ID id;
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(StartTraceW(NULL, u"x", &b.p), ERROR_INVALID_PARAMETER, "no handle");
	expect_code(StartTraceW(&id, u"x", NULL), ERROR_INVALID_PARAMETER, "no block");
	expect_code(StartTraceW(&id, NULL, &b.p), ERROR_INVALID_PARAMETER, "no name");
	expect_code(StartTraceW(&id, u"", &b.p), ERROR_INVALID_PARAMETER, "empty name");
	expect_code(StartTraceA(NULL, "x", &b.p), ERROR_INVALID_PARAMETER, "no handle, A");
	expect_code(StartTraceA(&id, "x", NULL), ERROR_INVALID_PARAMETER, "no block, A");
	expect_code(StartTraceA(&id, NULL, &b.p), ERROR_INVALID_PARAMETER, "no name, A");
	expect_code(StartTraceA(&id, "\xFF", &b.p), ERROR_INVALID_PARAMETER, "no UTF-8");
}

/* Windows takes any size, uses 16 MB and says so. */
static void buffers_above_16_mb_are_made_16_mb(void **state)
{
	static const ULONG modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_REAL_TIME_MODE,
				      EVENT_TRACE_PRIVATE_LOGGER_MODE};
	static const ULONG sizes[] = {16385, 65536, 0xFFFFFFFF};
	for (size_t i = 0; i < COUNT_OF(modes) * COUNT_OF(sizes); i++) {
		ULONG mode = modes[i / COUNT_OF(sizes)];
		struct block b;
		CONTROLTRACE_ID id;
		block_init(&b, mode, mode == EVENT_TRACE_REAL_TIME_MODE ? NULL : "large.etl");
		b.p.BufferSize = sizes[i % COUNT_OF(sizes)];
		if (mode == EVENT_TRACE_PRIVATE_LOGGER_MODE) {
			b.p.Wnode.Guid = some_guid;
		}
		expect_code(StartTraceW(&id, u"Large", &b.p), ERROR_SUCCESS, "start");
		assert_int_equal(b.p.BufferSize, 16384);
		b.p.BufferSize = 0;
		expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS, "query");
		assert_int_equal(b.p.BufferSize, 16384);
		session_stop(id);
	}
}

static void a_start_fills_the_block(void **state)
{
	struct block b;
	CONTROLTRACE_ID id;
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "fill.etl");
	b.p.BufferSize = 4;
	b.p.MinimumBuffers = 1;
	expect_code(StartTraceW(&id, u"Fill", &b.p), ERROR_SUCCESS, "start");
	assert_memory_equal(b.name, u"Fill", 10);
	assert_true(b.p.Wnode.HistoricalContext == id);
	assert_true(b.p.Wnode.Guid.Data1 != 0);
	assert_int_equal(b.p.BufferSize, 4);
	assert_true(b.p.MinimumBuffers >= 2);
	assert_true(b.p.MaximumBuffers >= b.p.MinimumBuffers);
	assert_int_equal(b.p.Wnode.ClientContext, 1); /* 0 asks for the default, QPC */
	struct block q;
	expect_code(session_query(id, &q), ERROR_SUCCESS, "query");
	assert_memory_equal(q.name, u"Fill", 10);
	assert_memory_equal(q.file, b.file, 16);
	assert_int_equal(q.p.LogFileMode, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	assert_memory_equal(&q.p.Wnode.Guid, &b.p.Wnode.Guid, 16);
	assert_true(q.p.NumberOfBuffers >= q.p.MinimumBuffers);
	assert_true(q.p.FreeBuffers <= q.p.NumberOfBuffers);
	assert_true((uintptr_t)q.p.LoggerThreadId != 0);
	session_stop(id);
}

static void the_a_forms_speak_utf8(void **state)
{
	struct block b;
	CONTROLTRACE_ID id, again;
	block_init_a(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "\xC3\xA4.etl");
	expect_code(StartTraceA(&id, "N\xC3\xA4me", &b.p), ERROR_SUCCESS, "start");
	assert_string_equal((char *)b.name, "N\xC3\xA4me");
	struct block w;
	expect_code(session_query(id, &w), ERROR_SUCCESS, "query W");
	assert_memory_equal(w.name, u"Näme", 10);
	struct stat st;
	assert_int_equal(stat(testing_path("\xC3\xA4.etl"), &st), 0);
	block_init_a(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(StartTraceA(&again, "N\xC3\x84ME", &b.p), ERROR_ALREADY_EXISTS, "other case");
	block_init_a(&b, 0, NULL);
	expect_code(StopTraceA(0, "n\xC3\xA4me", &b.p), ERROR_SUCCESS, "stop by name");
}

static void what_is_in_use_is_not_given_twice(void **state)
{
	struct block b;
	CONTROLTRACE_ID id, other;
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "used.etl");
	b.p.Wnode.Guid = some_guid;
	expect_code(StartTraceW(&id, u"Used", &b.p), ERROR_SUCCESS, "first");
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(StartTraceW(&other, u"uSED", &b.p), ERROR_ALREADY_EXISTS, "name");
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	b.p.Wnode.Guid = some_guid;
	expect_code(StartTraceW(&other, u"Other", &b.p), ERROR_ALREADY_EXISTS, "session GUID");
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "used.etl");
	expect_code(StartTraceW(&other, u"Other", &b.p), ERROR_BAD_PATHNAME, "file");
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "used.etl");
	expect_code(StartTraceW(&other, u"Used", &b.p), ERROR_ALREADY_EXISTS, "the same again");
	session_stop(id);
}

static void a_file_that_has_no_room_is_refused_at_the_start(void **state)
{
	struct block b;
	CONTROLTRACE_ID id;
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "vast.etl");
	b.p.MaximumFileSize = UINT32_MAX; /* 4 PB */
	expect_code(StartTraceW(&id, u"Vast", &b.p), ERROR_DISK_FULL, "MaximumFileSize");
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE, "vast.etl");
	b.p.MaximumFileSize = UINT32_MAX;
	expect_code(StartTraceW(&id, u"Vast", &b.p), ERROR_DISK_FULL, "preallocated");
}

static void one_change_of_file_after_another_is_not_busy(void **state)
{
	struct block b;
	CONTROLTRACE_ID id;
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, "turn0.etl");
	expect_code(StartTraceW(&id, u"Turns", &b.p), ERROR_SUCCESS, "start");
	for (int i = 1; i <= 20; i++) {
		char name[32];
		snprintf(name, sizeof name, "turn%d.etl", i);
		block_init(&b, 0, name);
		expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_SUCCESS, "update");
	}
	session_stop(id);
}

static void names_have_at_most_1024_characters(void **state)
{
	static WCHAR name[1030];
	struct block b;
	CONTROLTRACE_ID id;
	for (int i = 0; i < 1024; i++) {
		name[i] = (WCHAR)('a' + i % 26);
	}
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(StartTraceW(&id, name, &b.p), ERROR_SUCCESS, "1024");
	assert_memory_equal(b.name, name, 2050);
	name[0] = 'A';
	block_init(&b, 0, NULL);
	expect_code(QueryTraceW(0, name, &b.p), ERROR_SUCCESS, "query, another case");
	session_stop(id);
	name[1024] = 'x';
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(StartTraceW(&id, name, &b.p), ERROR_BAD_LENGTH, "1025");
}

/* ---- ControlTrace ---------------------------------------------------------------------------- */

static void control_finds_a_session_by_id_or_name(void **state)
{
	CONTROLTRACE_ID one = session_start(u"Find One", EVENT_TRACE_REAL_TIME_MODE, NULL);
	CONTROLTRACE_ID two = session_start(u"Find Two", EVENT_TRACE_REAL_TIME_MODE, NULL);
	const struct {
		const char *what;
		CONTROLTRACE_ID id;
		const WCHAR *name;
		ULONG code, control;
		CONTROLTRACE_ID found;
	} cases[] = {
		{"id", one, NULL, ERROR_SUCCESS, 0, one},
		{"name", 0, u"Find Two", ERROR_SUCCESS, 0, two},
		{"name in another case", 0, u"FIND two", ERROR_SUCCESS, 0, two},
		{"both: the id counts", one, u"Find Two", ERROR_SUCCESS, 0, one},
		{"neither", 0, NULL, ERROR_INVALID_PARAMETER, 0, 0},
		{"INVALID_HANDLE_VALUE", (CONTROLTRACE_ID)-1, NULL, ERROR_INVALID_PARAMETER, 0, 0},
		{"stale id", 999, NULL, ERROR_WMI_INSTANCE_NOT_FOUND, 0, 0},
		{"unknown name", 0, u"Nobody", ERROR_WMI_INSTANCE_NOT_FOUND, 0, 0},
		{"unknown name, stop", 0, u"Nobody", ERROR_WMI_INSTANCE_NOT_FOUND, 1, 0},
		{"unknown name, flush", 0, u"Nobody", ERROR_WMI_INSTANCE_NOT_FOUND, 3, 0},
		{"control code 6", one, NULL, ERROR_INVALID_PARAMETER, 6, 0},
		{"next file of no new-file session", one, NULL, ERROR_INVALID_PARAMETER, 4, 0},
		{"conversion", one, NULL, ERROR_NOT_SUPPORTED, 5, 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct block b;
		block_init(&b, 0, NULL);
		expect_code(ControlTraceW(cases[i].id, cases[i].name, &b.p, cases[i].control), cases[i].code,
			    cases[i].what);
		if (cases[i].found) {
			assert_true(b.p.Wnode.HistoricalContext == cases[i].found);
		}
	}
	expect_code(ControlTraceW(one, NULL, NULL, 0), ERROR_INVALID_PARAMETER, "no block");
	session_stop(one);
	session_stop(two);
	struct block b;
	expect_code(session_query(one, &b), ERROR_WMI_INSTANCE_NOT_FOUND, "stopped");
}

static void control_checks_the_block_first(void **state)
{
	CONTROLTRACE_ID id = session_start(u"Blocks", EVENT_TRACE_REAL_TIME_MODE, NULL);
	static const struct fault control_faults[] = {
		{"size 0", no_size, ERROR_BAD_LENGTH},
		{"short size", short_size, ERROR_BAD_LENGTH},
		{"file offset 1", file_offset_1, ERROR_INVALID_PARAMETER},
		{"name offset 1", name_offset_1, ERROR_INVALID_PARAMETER},
		{"file offset outside", file_offset_out, ERROR_INVALID_PARAMETER},
		{"name offset outside", name_offset_out, ERROR_INVALID_PARAMETER},
		{"flags 0 are fine for a query", no_flag, ERROR_SUCCESS},
	};
	for (size_t i = 0; i < COUNT_OF(control_faults); i++) {
		struct block b;
		block_init(&b, 0, NULL);
		control_faults[i].make(&b);
		expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), control_faults[i].code,
			    control_faults[i].what);
	}
	session_stop(id);
}

static void more_data_still_fills_and_still_stops(void **state)
{
	CONTROLTRACE_ID id = session_start(u"A longer name", EVENT_TRACE_REAL_TIME_MODE, NULL);
	struct block b;
	block_init(&b, 0, NULL);
	b.p.Wnode.BufferSize = b.p.LoggerNameOffset + 8;
	b.name[4] = 0x7777;
	expect_code(ControlTraceW(id, NULL, &b.p, 0), ERROR_MORE_DATA, "query");
	assert_true(b.p.Wnode.HistoricalContext == id);
	assert_int_equal(b.p.LogFileMode, EVENT_TRACE_REAL_TIME_MODE);
	assert_int_equal(b.name[4], 0x7777); /* not a byte beyond the block */
	block_init(&b, 0, NULL);
	b.p.LoggerNameOffset = 0;
	b.p.Wnode.BufferSize = sizeof b.p;
	b.p.Wnode.Flags = 0;
	expect_code(ControlTraceW(id, NULL, &b.p, 0), ERROR_SUCCESS, "query without names");
	block_init(&b, 0, NULL);
	b.p.Wnode.BufferSize = b.p.LoggerNameOffset + 8;
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_MORE_DATA, "stop");
	expect_code(session_query(id, &b), ERROR_WMI_INSTANCE_NOT_FOUND, "it is stopped");
}

/* ---- UPDATE ---------------------------------------------------------------------------------- */

static void an_update_changes_what_windows_lets_change(void **state)
{
	CONTROLTRACE_ID id =
		session_start(u"Upd", EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_REAL_TIME_MODE, "upd.etl");
	struct block before, b;
	expect_code(session_query(id, &before), ERROR_SUCCESS, "query");
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	b.p.FlushTimer = 7;
	b.p.MaximumBuffers = before.p.MaximumBuffers + 3;
	b.p.BufferSize = 4096; /* not among them */
	b.p.MinimumBuffers = 500;
	b.p.MaximumFileSize = 99;
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_SUCCESS, "update");
	assert_int_equal(b.p.FlushTimer, 7);
	assert_int_equal(b.p.MaximumBuffers, before.p.MaximumBuffers + 3);
	assert_int_equal(b.p.BufferSize, before.p.BufferSize);
	assert_int_equal(b.p.MinimumBuffers, before.p.MinimumBuffers);
	assert_int_equal(b.p.MaximumFileSize, before.p.MaximumFileSize);
	assert_true(b.p.LogFileMode & EVENT_TRACE_REAL_TIME_MODE);
	block_init(&b, 0, NULL); /* zeros leave alone, but a mode of 0 ends the feed */
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_SUCCESS, "real time off");
	assert_int_equal(b.p.FlushTimer, 7);
	assert_false(b.p.LogFileMode & EVENT_TRACE_REAL_TIME_MODE);
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_SUCCESS, "real time on");
	assert_true(b.p.LogFileMode & EVENT_TRACE_REAL_TIME_MODE);
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, NULL);
	b.p.EnableFlags = 1;
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_INVALID_PARAMETER, "flags");
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, "upd.etl");
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_BAD_PATHNAME, "the same file");
	block_init(&b, EVENT_TRACE_REAL_TIME_MODE, "upd2.etl");
	expect_code(UpdateTraceW(id, NULL, &b.p), ERROR_SUCCESS, "another file");
	expect_code(session_query(id, &b), ERROR_SUCCESS, "query");
	assert_int_equal(b.file[0], '/');
	session_stop(id);
	struct tally t;
	tally_file("upd.etl", &t);
	tally_file("upd2.etl", &t);
}

/* ---- QueryAllTraces -------------------------------------------------------------------------- */

static void query_all_lists_sessions_and_counts_the_rest(void **state)
{
	CONTROLTRACE_ID id[3];
	static struct block b[3];
	EVENT_TRACE_PROPERTIES *array[3] = {&b[0].p, &b[1].p, &b[2].p};
	ULONG count = 77;
	for (int i = 0; i < 3; i++) {
		static const WCHAR *const names[] = {u"All 0", u"All 1", u"All 2"};
		id[i] = session_start(names[i], EVENT_TRACE_REAL_TIME_MODE, NULL);
		block_init(&b[i], 0, NULL);
	}
	expect_code(QueryAllTracesW(array, 3, &count), ERROR_SUCCESS, "all");
	assert_int_equal(count, 3);
	for (int i = 0; i < 3; i++) {
		assert_memory_equal(b[i].name, u"All ", 8);
		block_init_a(&b[i], 0, NULL);
	}
	expect_code(QueryAllTracesA(array, 2, &count), ERROR_MORE_DATA, "two of three");
	assert_int_equal(count, 3);
	assert_memory_equal(b[1].name, "All ", 4);
	expect_code(QueryAllTracesW(NULL, 2, &count), ERROR_INVALID_PARAMETER, "no array");
	expect_code(QueryAllTracesW(array, 0, &count), ERROR_INVALID_PARAMETER, "no elements");
	expect_code(QueryAllTracesW(array, 2, NULL), ERROR_INVALID_PARAMETER, "no count");
	expect_code(QueryAllTracesW(array, 100000, &count), ERROR_INVALID_PARAMETER, "too many");
	b[1].p.Wnode.BufferSize = 8;
	expect_code(QueryAllTracesW(array, 3, &count), ERROR_BAD_LENGTH, "a short element");
	for (int i = 0; i < 3; i++) {
		session_stop(id[i]);
		block_init(&b[i], 0, NULL);
	}
	expect_code(QueryAllTracesW(array, 3, &count), ERROR_SUCCESS, "none");
	assert_int_equal(count, 0);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static const GUID provider = {0xABCDEF01, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static void write_events(REGHANDLE h, unsigned n, unsigned payload)
{
	static char bytes[8192];
	EVENT_DATA_DESCRIPTOR data;
	for (unsigned i = 0; i < n; i++) {
		EVENT_DESCRIPTOR d = {.Id = (USHORT)(i % 64), .Level = 4, .Keyword = 1};
		EventDataDescCreate(&data, bytes, payload);
		EventWrite(h, &d, 1, &data);
		if (i % 64 == 63) {
			usleep(2000); /* the point is the file, not the pace */
		}
	}
}

static void a_new_file_session_numbers_its_files(void **state)
{
	struct block b;
	REGHANDLE h;
	CONTROLTRACE_ID id;
	struct tally t;
	unsigned sum = 0;
	block_init(&b, EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE, "new%d.etl");
	b.p.MaximumFileSize = 512;
	b.p.BufferSize = 64;
	expect_code(StartTraceW(&id, u"New", &b.p), ERROR_SUCCESS, "start");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), ERROR_SUCCESS, "enable");
	write_events(h, 10, 100);
	block_init(&b, 0, NULL);
	expect_code(ControlTraceW(id, NULL, &b.p, EVENT_TRACE_CONTROL_INCREMENT_FILE), ERROR_SUCCESS, "next file");
	write_events(h, 800, 1000);
	session_stop(id);
	EventUnregister(h);
	for (int i = 1; i <= 32; i++) {
		char name[32];
		struct stat st;
		snprintf(name, sizeof name, "new%d.etl", i);
		if (stat(testing_path(name), &st) < 0) {
			assert_true(i > 3); /* one, the next, and at least one more by size */
			break;
		}
		assert_true(st.st_size <= 512 * 1024);
		tally_file(name, &t);
		sum += t.events;
	}
	assert_int_equal(sum, 810);
}

static void a_flight_recorder_keeps_the_newest_and_writes_when_told(void **state)
{
	struct block b;
	REGHANDLE h;
	CONTROLTRACE_ID id;
	struct tally t;
	struct stat st;
	block_init(&b, EVENT_TRACE_BUFFERING_MODE, "flight.etl");
	b.p.BufferSize = 16;
	b.p.MinimumBuffers = 4;
	expect_code(StartTraceW(&id, u"Flight", &b.p), ERROR_SUCCESS, "start");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), ERROR_SUCCESS, "enable");
	write_events(h, 640, 1000);
	expect_code(session_query(id, &b), ERROR_SUCCESS, "query");
	assert_int_equal(b.p.BuffersWritten, 0);
	block_init(&b, 0, "dump.etl");
	expect_code(FlushTraceW(id, NULL, &b.p), ERROR_SUCCESS, "flush to a file");
	tally_file("dump.etl", &t);
	assert_true(t.events > 0 && t.events < 640);
	assert_int_equal(t.last_id, 63); /* the newest */
	assert_int_equal(stat(testing_path("dump.etl"), &st), 0);
	session_stop(id);
	EventUnregister(h);
}

static void an_append_session_goes_on_with_a_file_it_fits(void **state)
{
	struct block b;
	REGHANDLE h;
	CONTROLTRACE_ID id;
	struct tally t;
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	for (int round = 0; round < 2; round++) {
		block_init(&b, EVENT_TRACE_FILE_MODE_APPEND, "append.etl");
		b.p.Wnode.ClientContext = 2;
		b.p.BufferSize = 64;
		expect_code(StartTraceW(&id, u"Append", &b.p), ERROR_SUCCESS, "start");
		expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), 0, "enable");
		write_events(h, 50, 20);
		session_stop(id);
	}
	EventUnregister(h);
	tally_file("append.etl", &t);
	assert_int_equal(t.events, 100);
	block_init(&b, EVENT_TRACE_FILE_MODE_APPEND, "append.etl");
	b.p.Wnode.ClientContext = 2;
	b.p.BufferSize = 128; /* not the file's */
	assert_int_not_equal(StartTraceW(&id, u"Append", &b.p), ERROR_SUCCESS);
	assert_true(id == 0);
	tally_file("append.etl", &t);
	assert_int_equal(t.events, 100);
}

static void a_sequential_session_stops_at_its_size(void **state)
{
	struct block b;
	REGHANDLE h;
	CONTROLTRACE_ID id;
	block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_KBYTES_FOR_SIZE, "full.etl");
	b.p.MaximumFileSize = 256;
	b.p.BufferSize = 16;
	expect_code(StartTraceW(&id, u"Full", &b.p), ERROR_SUCCESS, "start");
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), ERROR_SUCCESS, "enable");
	ULONG code = ERROR_SUCCESS;
	for (int i = 0; i < 200 && code == ERROR_SUCCESS; i++) {
		write_events(h, 64, 1000);
		code = session_query(id, &b);
	}
	expect_code(code, ERROR_WMI_INSTANCE_NOT_FOUND, "it is over");
	EventUnregister(h);
	struct stat st;
	assert_int_equal(stat(testing_path("full.etl"), &st), 0);
	assert_true(st.st_size <= 256 * 1024);
}

static void every_clock_gives_times_of_today(void **state)
{
	for (ULONG clock = 1; clock <= 3; clock++) {
		struct block b;
		REGHANDLE h;
		CONTROLTRACE_ID id;
		struct tally t;
		char name[32];
		snprintf(name, sizeof name, "clock%u.etl", clock);
		block_init(&b, EVENT_TRACE_FILE_MODE_SEQUENTIAL, name);
		b.p.Wnode.ClientContext = clock;
		expect_code(StartTraceW(&id, u"Clock", &b.p), ERROR_SUCCESS, name);
		/* The cycle counter may be unusable; then it is the system time, as on Windows. */
		assert_true(b.p.Wnode.ClientContext == clock || (clock == 3 && b.p.Wnode.ClientContext == 2));
		assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
		expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 20000, NULL), 0, "enable");
		time_t before = time(NULL);
		write_events(h, 10, 10);
		session_stop(id);
		EventUnregister(h);
		tally_file(name, &t);
		assert_int_equal(t.events, 10);
		EVENT_TRACE_LOGFILEA l = {0};
		l.LogFileName = (char *)(uintptr_t)testing_path(name);
		l.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
		PROCESSTRACE_HANDLE p = OpenTraceA(&l);
		assert_true(p != INVALID_PROCESSTRACE_HANDLE);
		assert_int_equal(l.LogfileHeader.ReservedFlags, b.p.Wnode.ClientContext);
		time_t start = (time_t)(l.LogfileHeader.StartTime.QuadPart / 10000000 - 11644473600);
		assert_true(start >= before - 5 && start <= before + 60);
		CloseTrace(p);
	}
}

static void a_private_session_is_found_by_its_guid_and_not_listed(void **state)
{
	struct block b;
	CONTROLTRACE_ID id;
	REGHANDLE h;
	struct tally t;
	ULONG count = 77;
	EVENT_TRACE_PROPERTIES *array[1] = {&b.p};
	assert_int_equal(EventRegister(&provider, NULL, NULL, &h), 0);
	ULONG mode = EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC | EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	block_init(&b, mode, "private.etl");
	b.p.Wnode.Guid = provider;
	expect_code(StartTraceW(&id, u"Private", &b.p), ERROR_SUCCESS, "start");
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 0, NULL), ERROR_SUCCESS, "enable");
	/* out: 3 and 5 */
	EVENT_FILTER_DESCRIPTOR f = {(ULONGLONG)(uintptr_t) "\0\0\2\0\3\0\5\0", 8, EVENT_FILTER_TYPE_EVENT_ID};
	ENABLE_TRACE_PARAMETERS p = {.Version = 2, .EnableFilterDesc = &f, .FilterDescCount = 1};
	expect_code(EnableTraceEx2(id, &provider, 1, 5, 0, 0, 0, &p), ERROR_SUCCESS, "enable with a filter");
	write_events(h, 20, 10);
	block_init(&b, 0, NULL);
	expect_code(QueryAllTracesW(array, 1, &count), ERROR_SUCCESS, "list");
	assert_int_equal(count, 0);
	block_init(&b, mode, NULL);
	b.p.Wnode.Guid = provider;
	expect_code(ControlTraceW(0, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS, "stop");
	EventUnregister(h);
	tally_file("private.etl", &t);
	assert_int_equal(t.events, 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_with_one_fault_returns_the_documented_code),
		cmocka_unit_test(a_start_without_its_pointers_is_refused),
		cmocka_unit_test(buffers_above_16_mb_are_made_16_mb),
		cmocka_unit_test(a_start_fills_the_block),
		cmocka_unit_test(the_a_forms_speak_utf8),
		cmocka_unit_test(what_is_in_use_is_not_given_twice),
		cmocka_unit_test(names_have_at_most_1024_characters),
		cmocka_unit_test(control_finds_a_session_by_id_or_name),
		cmocka_unit_test(control_checks_the_block_first),
		cmocka_unit_test(more_data_still_fills_and_still_stops),
		cmocka_unit_test(an_update_changes_what_windows_lets_change),
		cmocka_unit_test(query_all_lists_sessions_and_counts_the_rest),
		cmocka_unit_test(a_file_that_has_no_room_is_refused_at_the_start),
		cmocka_unit_test(one_change_of_file_after_another_is_not_busy),
		cmocka_unit_test(a_new_file_session_numbers_its_files),
		cmocka_unit_test(a_flight_recorder_keeps_the_newest_and_writes_when_told),
		cmocka_unit_test(an_append_session_goes_on_with_a_file_it_fits),
		cmocka_unit_test(a_sequential_session_stops_at_its_size),
		cmocka_unit_test(every_clock_gives_times_of_today),
		cmocka_unit_test(a_private_session_is_found_by_its_guid_and_not_listed),
	};
	return cmocka_run_group_tests(tests, testing_setup, testing_teardown);
}
