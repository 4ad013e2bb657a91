/* SPDX-License-Identifier: MIT
 *
 * Real kernel traces against what others print of them: PerfView's listing (process, thread and
 * file of events that carry none), the list of modules that came with the files.
 */
#include "machine/machine.h"

#include "format/kernel_class.h"

#include "../../tests/corpus/corpus.h"
#include "../../tests/corpus/etl_build.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct etl_reader *open_file(const char *file)
{
	char path[4096];
	struct etl_reader *r;
	assert_int_equal(etl_reader_open(corpus_path(file, path, sizeof path), 0, &r, NULL), 0);
	return r;
}

static struct machine *feed(const char *file)
{
	struct etl_reader *r = open_file(file);
	struct machine *s = machine_create(MACHINE_STACKS);
	struct etl_record e;
	while (etl_reader_next(r, &e) > 0) {
		machine_add(s, &e);
	}
	assert_false(machine_full(s));
	etl_reader_close(r);
	return s;
}

struct line {
	double time; /* 100 ns */
	uint32_t cpu, bytes;
	long pid, tid;
	char process[64], file[64];
	bool found;
};

static double number(const char *p)
{
	char buf[64];
	size_t k = 0;
	for (; *p && *p != ':' && k < sizeof buf - 1; p++) {
		if (*p != ',') {
			buf[k++] = *p;
		}
	}
	buf[k] = 0;
	return atof(buf);
}

static void field(const char *line, const char *key, char *out, size_t cap)
{
	const char *p = strstr(line, key);
	size_t n = p ? strcspn(p + strlen(key), ";\n") : 0;
	snprintf(out, cap, "%.*s", (int)BASE_MIN(n, cap - 1), p ? p + strlen(key) : "");
}

/* Lines of kernel events of that name. */
static unsigned load_lines(const char *baseline, const char *name, struct line *lines, unsigned cap)
{
	size_t bytes;
	char *text = corpus_load(baseline, &bytes);
	unsigned n = 0;
	for (char *line = text, *next; *line; line = next) {
		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		char one[1024], value[64];
		snprintf(one, sizeof one, "%.*s", (int)BASE_MIN(next - line, 1000), line);
		const char *what = strstr(one, "Windows Kernel/");
		if (strncmp(one, "EVENT ", 6) != 0 || !what || strncmp(what + 15, name, strlen(name)) != 0 ||
		    n == cap) {
			continue;
		}
		struct line *l = &lines[n++];
		memset(l, 0, sizeof *l);
		l->time = number(one + 6) * 10000.0;
		field(one, "ProceNum=", value, sizeof value);
		l->cpu = (uint32_t)atol(value);
		field(one, "DataLen=", value, sizeof value);
		l->bytes = (uint32_t)atol(value);
		field(one, " PID=", value, sizeof value);
		l->pid = atol(value);
		field(one, " TID=", value, sizeof value);
		l->tid = atol(value);
		field(one, "PName=", l->process, sizeof l->process);
		field(one, "FileName=", l->file, sizeof l->file);
	}
	free(text);
	return n;
}

/* PerfView leaves the extension out. */
static bool same_process(const char *name, const char *listed)
{
	size_t n = strlen(listed);
	return strncmp(name, listed, n) == 0 && (name[n] == 0 || name[n] == '.');
}

static void compare(const char *name, uint16_t hook, unsigned least)
{
	static struct line lines[200];
	unsigned n = load_lines("perfview/net.4.5.2.x86.baseline.txt", name, lines, 200);
	struct machine *s = feed("perfview/net.4.5.2.x86.etl"); /* all first: files come last */
	struct etl_reader *r = open_file("perfview/net.4.5.2.x86.etl");
	uint64_t start = etl_reader_info(r)->start_filetime;
	struct etl_record e;
	unsigned checked = 0;
	while (etl_reader_next(r, &e) > 0) {
		if (e.hook != hook) {
			continue;
		}
		double at = (double)(int64_t)(e.time_filetime - start);
		for (unsigned i = 0; i < n; i++) {
			struct line *l = &lines[i];
			if (fabs(at - l->time) > 5.5 || e.cpu != l->cpu || e.payload_bytes != l->bytes || l->found) {
				continue;
			}
			struct machine_who w = machine_who(s, &e);
			const struct machine_process *p = machine_process_at(s, w.pid, e.time_filetime);
			if ((long)(int32_t)w.pid != l->pid || (long)(int32_t)w.tid != l->tid || !p ||
			    !same_process(p->name, l->process)) {
				continue; /* perhaps another one within the same microsecond */
			}
			l->found = true;
			checked++;
			if (l->file[0]) {
				/* Listed with a drive letter and cut; the trace has a device. */
				const char *f = machine_file(s, le64_get(e.payload + 24), e.time_filetime);
				assert_non_null(f);
				size_t cut = strcspn(l->file, "."), tail = cut > 3 ? cut - 3 : 0;
				char part[64];
				snprintf(part, sizeof part, "%.*s", (int)tail, l->file + 2);
				assert_non_null(strstr(f, part));
			}
			break;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (!lines[i].found) {
			fail_msg("%s at %.3f ms: nobody of pid %ld tid %ld %s", name, lines[i].time / 10000,
				 lines[i].pid, lines[i].tid, lines[i].process);
		}
	}
	assert_true(checked >= least);
	etl_reader_close(r);
	machine_destroy(s);
}

static void samples_have_the_process_that_perfview_lists(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	compare("PerfInfo/Sample ", 0x0F2E, 5);
}

static void hard_faults_have_process_and_file(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	compare("Memory/HardFault", 0x0220, 5);
}

static void disk_events_have_their_issuing_thread(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	compare("DiskIO/ReadInit", 0x010C, 5);
	compare("DiskIO/Read ", 0x010A, 5);
	compare("DiskIO/Write ", 0x010B, 5);
}

static void processes_and_their_ends_are_known(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	struct machine *s = feed("perfview/net.4.5.2.x86.etl");
	static const struct {
		uint32_t pid;
		const char *name;
		uint32_t parent;
	} want[] = {{0, "Idle", 0},
		    {4, "System", 0},
		    {456, "smss.exe", 4},
		    {576, "csrss.exe", 564},
		    {624, "csrss.exe", 616}};
	for (unsigned i = 0; i < BASE_ARRAY_LEN(want); i++) {
		const struct machine_process *p = machine_process_at(s, want[i].pid, UINT64_MAX);
		assert_non_null(p);
		assert_string_equal(p->name, want[i].name);
		assert_int_equal(p->parent, want[i].parent);
	}
	assert_non_null(strstr(machine_process_at(s, 456, 0)->command_line, "\\SystemRoot\\System32"));
	assert_null(machine_process_at(s, 123456789, 0));
	machine_destroy(s);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void every_stack_finds_an_event_and_every_key_its_addresses(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	struct machine *s = feed("perfview/net.4.5.2.x86.etl");
	struct etl_reader *r = open_file("perfview/net.4.5.2.x86.etl");
	struct etl_record e;
	size_t samples = 0, with_stack = 0, in_module = 0, addresses = 0, owners = 0;
	size_t exact = 0, in_kernel = 0, times_count = 0;
	uint64_t *times = malloc(100000 * sizeof *times);
	uint64_t last = 0;
	while (etl_reader_next(r, &e) > 0) {
		const uint64_t *any;
		struct machine_who whose;
		if (e.hook == 0x1820 || e.hook == 0x1825 || e.hook == 0x1826) {
			assert_true(times_count < 100000);
			times[times_count++] = le64_get(e.payload);
		}
		if (e.hook >> 8 != 0x18 && e.time_raw != last &&
		    machine_stack(s, e.time_raw, MACHINE_NO_ID, &any, &whose) > 0) {
			last = e.time_raw;
			owners++;
		}
		if (e.hook != 0x0F2E || le32_get(e.payload + 8) == 0) {
			continue;
		}
		samples++;
		const uint64_t *a;
		struct machine_who w = machine_who(s, &e);
		uint32_t n = machine_stack(s, e.time_raw, w.tid, &a, &whose);
		with_stack += n > 0;
		for (uint32_t i = 0; i < n; i++) {
			/* User code may be made at run time; the kernel's stands in modules. */
			if (a[i] >> 47) {
				addresses++;
				in_module += machine_image_at(s, w.pid, a[i], e.time_filetime) != NULL;
			}
		}
		/* The innermost address is where the sample was taken; in user mode only nearly,
		 * for that part is walked later. */
		if (n > 0 && le64_get(e.payload) >> 47) {
			in_kernel++;
			exact += a[0] == le64_get(e.payload);
		}
	}
	printf("%zu of %zu samples have a stack; %zu of %zu kernel addresses lie in a module\n", with_stack, samples,
	       in_module, addresses);
	printf("%zu events own one\n", owners);
	/* Two threads' events may have one time: count times. */
	qsort(times, times_count, sizeof *times, by_value);
	size_t distinct = 0;
	for (size_t i = 0; i < times_count; i++) {
		distinct += i == 0 || times[i] != times[i - 1];
	}
	free(times);
	assert_int_equal(owners, distinct);
	assert_true(with_stack * 10 > samples * 9);
	printf("%zu of %zu in the kernel begin with the address of the sample\n", exact, in_kernel);
	/* one lost its kernel part */
	assert_int_equal(in_kernel, 852);
	assert_int_equal(exact, 851);
	assert_true(in_module * 100 > addresses * 99);
	etl_reader_close(r);
	machine_destroy(s);
}

static void modules_of_three_class_versions_are_those_that_were_logged(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	static const char *const files[] = {"sawbuck/image_data_32_v0.etl", "sawbuck/image_data_32_v2.etl",
					    "sawbuck/image_data_64_v1.etl", "sawbuck/vista_test_data_32_v0.etl"};
	size_t bytes;
	char *tsv = corpus_load("sawbuck/expected-modules.tsv", &bytes);
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct etl_reader *r = open_file(files[i]);
		struct machine *s = machine_create(0);
		struct etl_record e;
		uint32_t pid = UINT32_MAX;
		while (etl_reader_next(r, &e) > 0) {
			machine_add(s, &e);
			/* Version 0 names no process: the header does. */
			if (pid == UINT32_MAX && kernel_class_group(&e.provider) == KERNEL_GROUP_IMAGE) {
				pid = e.version == 0 ? e.pid : machine_who(s, &e).pid;
			}
		}
		assert_int_not_equal(pid, UINT32_MAX);
		unsigned lines = 0;
		for (char *line = strchr(strchr(tsv, '\n') + 1, '\n') + 1, *next; *line; line = next) {
			next = strchr(line, '\n');
			next = next ? next + 1 : line + strlen(line);
			char one[512];
			snprintf(one, sizeof one, "%.*s", (int)(next - line), line);
			one[strcspn(one, "\r\n")] = 0;
			uint64_t base = strtoull(one, NULL, 16);
			uint64_t size = strtoull(strchr(one, '\t') + 1, NULL, 16);
			const char *path = strrchr(one, '\t') + 1;
			const struct machine_image *m = machine_image_at(s, pid, base, UINT64_MAX);
			if (!m || m->base != base || m->size != size || strcmp(m->path, path) != 0) {
				fail_msg("%s: no %s", files[i], path);
			}
			lines++;
		}
		assert_int_equal(lines, 24);
		machine_destroy(s);
		etl_reader_close(r);
	}
	free(tsv);
}

static void context_switch(struct etl_build *b, uint64_t time, uint32_t tid)
{
	uint8_t *p = etl_build_record(b, 0x10 + 24);
	etl_build_u16(p, 2);
	etl_build_u16(p + 2, 0xC011);
	etl_build_u16(p + 4, 0x10 + 24);
	etl_build_u16(p + 6, 0x0524);
	etl_build_u64(p + 8, time);
	etl_build_u32(p + 16, tid);
}

static void thread(struct etl_build *b, uint64_t time, unsigned type, uint32_t pid, uint32_t tid)
{
	uint8_t *p = etl_build_record(b, 0x20 + 72);
	etl_build_u16(p, 3);
	etl_build_u16(p + 2, 0xC002);
	etl_build_u16(p + 4, 0x20 + 72);
	etl_build_u16(p + 6, 0x0500 | type);
	etl_build_u64(p + 0x10, time);
	etl_build_u32(p + 0x20, pid);
	etl_build_u32(p + 0x24, tid);
}

/* A record without ids takes the thread that was switched to last on its processor, and of a tid
 * that was used twice the process of that time. */
static uint32_t put_pointer(uint8_t *p, uint32_t n, unsigned width, uint64_t v)
{
	if (width == 4) {
		le32_put(p + n, (uint32_t)v);
	} else {
		le64_put(p + n, v);
	}
	return n + width;
}

/* A process's end as the class has it: process 1776, child of 988, that was no user's or had a SID. */
static uint32_t process_payload(uint8_t *p, unsigned width, uint8_t version, uint32_t exit_status, bool user)
{
	static const uint8_t sid[12] = {1, 1, 0, 0, 0, 0, 0, 5, 18};
	static const char name[] = "notepad.exe";
	uint32_t n = put_pointer(p, 0, width, 0);
	le32_put(p + n, 1776), le32_put(p + n + 4, 988), le32_put(p + n + 8, 1);
	le32_put(p + n + 12, exit_status);
	n += 16;
	if (version >= 3) {
		n = put_pointer(p, n, width, 0x1f000);
	}
	if (version >= 4) {
		le32_put(p + n, 0);
		n += 4;
	}
	if (user) {
		n = put_pointer(p, put_pointer(p, n, width, 0), width, 0);
		memcpy(p + n, sid, sizeof sid);
		n += sizeof sid;
	} else {
		le32_put(p + n, 0);
		n += 4;
	}
	memcpy(p + n, name, sizeof name);
	n += sizeof name;
	for (unsigned texts = version >= 4 ? 3 : 1; texts; texts--) {
		memcpy(p + n, "n\0o\0\0", 6);
		n += 6;
	}
	return n;
}

static void processes_are_read_when_a_program_of_another_width_wrote_them(void **state)
{
	struct machine *s = machine_create(0);
	for (unsigned k = 0; k < 48; k++) {
		unsigned width = k & 1 ? 8 : 4, claimed = k & 2 ? 8 : 4;
		uint8_t payload[256] = {0};
		struct etl_record r = {.type = claimed == 8 ? ETL_RT_FULL64 : ETL_RT_FULL32,
				       .pointer_size = (uint8_t)claimed,
				       .version = (uint8_t)(2 + k / 16),
				       .opcode = 2,
				       .pid = 7644,
				       .tid = 6452,
				       .payload = payload};
		assert_int_equal(guid_parse("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", &r.provider), 0);
		r.payload_bytes = process_payload(payload, width, r.version, k & 4 ? 259 : 0, k & 8);
		struct machine_who w = machine_who(s, &r);
		if (w.pid != 1776) {
			fail_msg("%u-byte pointers, header says %u, version %u: process %u", width, claimed, r.version,
				 w.pid);
		}
	}
	machine_destroy(s);
}

static void images_of_version_0_are_read_in_each_width(void **state)
{
	static const char path[] = "C:\\Windows\\a.dll";
	for (unsigned k = 0; k < 4; k++) {
		unsigned width = k & 1 ? 8 : 4, claimed = k & 2 ? 8 : 4;
		struct machine *s = machine_create(0);
		uint8_t payload[128] = {0};
		uint32_t n = put_pointer(payload, 0, width, 0x76e10000);
		le32_put(payload + n, 0x127000);
		n += 4;
		for (size_t i = 0; i < sizeof path; i++) {
			le16_put(payload + n, (uint8_t)path[i]);
			n += 2;
		}
		struct etl_record r = {.type = claimed == 8 ? ETL_RT_FULL64 : ETL_RT_FULL32,
				       .pointer_size = (uint8_t)claimed,
				       .opcode = 3,
				       .pid = 7644,
				       .payload = payload,
				       .payload_bytes = n};
		assert_int_equal(guid_parse("2cb15d1d-5fc1-11d2-abe1-00a0c911f518", &r.provider), 0);
		machine_add(s, &r);
		const struct machine_image *m = machine_image_at(s, 7644, 0x76e10000, UINT64_MAX);
		assert_non_null(m);
		assert_int_equal(m->base, 0x76e10000);
		assert_int_equal(m->size, 0x127000);
		assert_string_equal(m->path, path);
		machine_destroy(s);
	}
}

static void image_events_are_about_their_process_in_each_width(void **state)
{
	if (!corpus_present()) {
		skip();
	}
	static const char *const files[] = {"sawbuck/image_data_32_v0.etl", "sawbuck/image_data_32_v2.etl",
					    "sawbuck/image_data_64_v1.etl"};
	for (size_t i = 0; i < BASE_ARRAY_LEN(files); i++) {
		struct etl_reader *r = open_file(files[i]);
		struct machine *s = machine_create(0);
		struct etl_record e;
		while (etl_reader_next(r, &e) > 0) {
			if (e.type == ETL_RT_FULL32) {
				assert_int_equal(machine_who(s, &e).pid, e.pid); /* of its own images */
			}
		}
		machine_destroy(s);
		etl_reader_close(r);
	}
}

static void context_switches_tell_who_ran(void **state)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 1000, .start_filetime = 1000};
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	etl_build_begin(&b, 1, 1);
	thread(&b, 1100, 1, 50, 7);
	context_switch(&b, 1200, 7);
	uint8_t *p = etl_build_record(&b, 0x18); /* 0x0F32: an interrupt */
	etl_build_u16(p, 2);
	etl_build_u16(p + 2, 0xC011);
	etl_build_u16(p + 4, 0x18);
	etl_build_u16(p + 6, 0x0F32);
	etl_build_u64(p + 8, 1300);
	thread(&b, 1400, 2, 50, 7);
	thread(&b, 1500, 1, 60, 7);
	etl_build_end(&b, 1600);
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, 2 * 4096, 0, &r, NULL), 0);
	struct machine *s = machine_create(0);
	bool asked = false;
	while (etl_reader_next(r, &e) > 0) {
		machine_add(s, &e);
		if (e.hook == 0x0F32) {
			struct machine_who w = machine_who(s, &e);
			assert_int_equal(w.tid, 7);
			assert_int_equal(w.pid, 50);
			asked = true;
		}
	}
	assert_true(asked);
	assert_int_equal(machine_pid_of_thread(s, 7, 1450), 50);
	assert_int_equal(machine_pid_of_thread(s, 7, 1550), 60);
	assert_int_equal(machine_pid_of_thread(s, 8, 1550), MACHINE_NO_ID);
	assert_int_equal(machine_pid_of_thread(s, 0, 1550), 0);
	machine_destroy(s);
	etl_reader_close(r);
	free(b.mem);
}

static void process(struct etl_build *b, uint64_t time, unsigned type, uint32_t pid, const char *name)
{
	uint32_t bytes = 0x20 + 40 + (uint32_t)strlen(name) + 1 + 6;
	uint8_t *p = etl_build_record(b, bytes);
	etl_build_u16(p, 4);
	etl_build_u16(p + 2, 0xC002);
	etl_build_u16(p + 4, bytes);
	etl_build_u16(p + 6, 0x0300 + type);
	etl_build_u64(p + 0x10, time);
	etl_build_u32(p + 0x20 + 8, pid); /* zeros up to the user, who is nobody */
	strcpy((char *)p + 0x20 + 40, name);
}

/* What a ring has left: an end whose start is gone, and the closing rundown names what has the number now. */
static void before_an_end_without_a_start_it_was_what_ended(void **state)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 1000, .start_filetime = 1000};
	struct etl_build b;
	etl_build_start(&b, 4096, &h);
	etl_build_begin(&b, 1, 1);
	thread(&b, 1300, 2, 60, 9);
	process(&b, 1300, 2, 60, "first");
	process(&b, 1400, 2, 60, "second"); /* by exec: the same number, the same thread */
	thread(&b, 1500, 4, 61, 9);
	process(&b, 1500, 4, 60, "third");
	etl_build_end(&b, 1600);
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, 2 * 4096, 0, &r, NULL), 0);
	struct machine *s = machine_create(0);
	while (etl_reader_next(r, &e) > 0) {
		machine_add(s, &e);
	}
	assert_int_equal(machine_pid_of_thread(s, 9, 1200), 60);
	assert_int_equal(machine_pid_of_thread(s, 9, 1450), 61);
	assert_string_equal(machine_process_at(s, 60, 1200)->name, "first");
	assert_string_equal(machine_process_at(s, 60, 1350)->name, "second");
	assert_string_equal(machine_process_at(s, 60, 1450)->name, "third");
	machine_destroy(s);
	etl_reader_close(r);
	free(b.mem);
}

/* A thread start of version 3 when type is 1, a rundown when 3, the setting of a name when 72. */
static void named_thread(struct etl_build *b, uint64_t time, unsigned type, uint32_t tid, const char *name)
{
	uint32_t n = (uint32_t)strlen(name), head = type == 72 ? 8 : 8 + 7 * 8 + 8, bytes = 0x20 + head + 2 * n + 2;
	uint8_t *p = etl_build_record(b, bytes);
	etl_build_u16(p, type == 72 ? 2 : 3);
	etl_build_u16(p + 2, 0xC002);
	etl_build_u16(p + 4, bytes);
	etl_build_u16(p + 6, 0x0500 | type);
	etl_build_u64(p + 0x10, time);
	etl_build_u32(p + 0x20, 50);
	etl_build_u32(p + 0x24, tid);
	for (uint32_t i = 0; i < n; i++) {
		etl_build_u16(p + 0x20 + head + 2 * i, (uint8_t)name[i]);
	}
}

static void threads_have_the_name_they_were_given_last(void **state)
{
	static const struct etl_build_header h = {
		.clock_type = 1, .perf_freq = 10000000, .start_raw = 1000, .start_filetime = 1000};
	struct etl_build b;
	struct machine_thread t;
	etl_build_start(&b, 4096, &h);
	etl_build_begin(&b, 1, 1);
	named_thread(&b, 1100, 3, 7, "of the rundown");
	named_thread(&b, 1100, 1, 8, "");
	named_thread(&b, 1200, 72, 8, "first");
	named_thread(&b, 1300, 72, 8, "second");
	thread(&b, 1400, 2, 50, 8);
	named_thread(&b, 1500, 1, 8, ""); /* another one with this number */
	named_thread(&b, 1600, 72, 9, "of nobody");
	etl_build_end(&b, 1700);
	struct etl_reader *r;
	struct etl_record e;
	assert_int_equal(etl_reader_open_memory(b.mem, 2 * 4096, 0, &r, NULL), 0);
	struct machine *s = machine_create(0);
	while (etl_reader_next(r, &e) > 0) {
		machine_add(s, &e);
	}
	assert_true(machine_thread_at(s, 7, 1150, &t));
	assert_string_equal(t.name, "of the rundown");
	assert_true(machine_thread_at(s, 8, 1150, &t));
	assert_string_equal(t.name, "second");
	assert_true(machine_thread_at(s, 8, 1550, &t));
	assert_string_equal(t.name, "");
	assert_false(machine_thread_at(s, 9, 1650, &t));
	machine_destroy(s);
	etl_reader_close(r);
	free(b.mem);
}

static struct etl_record kernel_record(uint16_t hook, uint8_t version, const uint32_t *words, uint32_t count)
{
	return (struct etl_record){.type = ETL_RT_PERFINFO64,
				   .pointer_size = 8,
				   .hook = hook,
				   .version = version,
				   .pid = MACHINE_NO_ID,
				   .tid = MACHINE_NO_ID,
				   .payload = (const uint8_t *)words,
				   .payload_bytes = 4 * count};
}

/* As the classes of Windows 2000, XP and 2003 are documented. */
static void ids_stand_where_each_version_of_a_class_has_them(void **state)
{
	struct machine *s = machine_create(0);
	struct machine_thread t;
	struct etl_record r = kernel_record(0x0501, 0, (const uint32_t[]){11, 22}, 2); /* thread, process */
	machine_add(s, &r);
	assert_true(machine_thread_at(s, 11, 0, &t));
	assert_int_equal(t.pid, 22);
	r = kernel_record(0x0502, 1, (const uint32_t[]){33, 44}, 2); /* process, thread */
	machine_add(s, &r);
	assert_true(machine_thread_at(s, 44, 0, &t));
	assert_int_equal(t.pid, 33);
	r = kernel_record(0x060A, 0, (const uint32_t[]){1, 2, 3, 4, 55}, 5); /* addresses, ports, size, process */
	assert_int_equal(machine_who(s, &r).pid, 55);
	r = kernel_record(0x060A, 1, (const uint32_t[]){66, 4, 1, 2, 3}, 5);
	assert_int_equal(machine_who(s, &r).pid, 66);
	r = kernel_record(0x0323, 2, (const uint32_t[]){1, 2, 77}, 3); /* InSwap: a pointer, process */
	assert_int_equal(machine_who(s, &r).pid, 77);
	r = kernel_record(0x0122, 3, (const uint32_t[]){1, 2, 3, 4, 5, 6, 7}, 7); /* of a driver: names no thread */
	assert_int_equal(machine_who(s, &r).tid, MACHINE_NO_ID);
	machine_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_the_process_that_perfview_lists),
		cmocka_unit_test(hard_faults_have_process_and_file),
		cmocka_unit_test(disk_events_have_their_issuing_thread),
		cmocka_unit_test(processes_and_their_ends_are_known),
		cmocka_unit_test(every_stack_finds_an_event_and_every_key_its_addresses),
		cmocka_unit_test(modules_of_three_class_versions_are_those_that_were_logged),
		cmocka_unit_test(processes_are_read_when_a_program_of_another_width_wrote_them),
		cmocka_unit_test(images_of_version_0_are_read_in_each_width),
		cmocka_unit_test(image_events_are_about_their_process_in_each_width),
		cmocka_unit_test(context_switches_tell_who_ran),
		cmocka_unit_test(before_an_end_without_a_start_it_was_what_ended),
		cmocka_unit_test(threads_have_the_name_they_were_given_last),
		cmocka_unit_test(ids_stand_where_each_version_of_a_class_has_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
