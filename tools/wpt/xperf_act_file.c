/* SPDX-License-Identifier: MIT
 * Reports about files and memory behind them: fileio, filename, hardfault, pagefault.
 */
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>

/* ---- fileio: operations, and what they took ------------------------------------------------------ */

#define OPEN_MAX 65536u /* operations without an end yet */

struct operation {
	uint64_t irp;
	double from;
	uint64_t offset, size;
	char *name, *process, *file; /* of `names` */
};
struct fileio {
	bool detail, headed;
	struct xperf_sums names, sums; /* 0 count, 1 bytes, 2 time, 3 failed */
	struct operation *open;        /* by irp, open addressing without chains: one that is overwritten has no end */
};

static bool fileio_begin(struct xperf_job *j)
{
	struct fileio *f = j->own;
	f->detail = f->detail || strcmp(j->action->name, "fileiodetail") == 0;
	f->open = calloc(OPEN_MAX, sizeof *f->open);
	j->failed = !f->open;
	return !j->failed;
}

static struct operation *open_at(struct fileio *f, uint64_t irp)
{
	return &f->open[(irp * 0x9e3779b97f4a7c15ull) >> 48 & (OPEN_MAX - 1)];
}

static void fileio_done(struct xperf_job *j, struct fileio *f, struct operation *o, bool ended)
{
	uint64_t status = ended ? xperf_number(j, "NtStatus") : 0;
	if (ended && (strcmp(o->name, "Read") == 0 || strcmp(o->name, "Write") == 0)) {
		/* What was done; the beginning says what was asked for. */
		o->size = status >= 0xc0000000u ? 0 : BASE_MIN(xperf_number(j, "ExtraInfo"), o->size);
	}
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "%s, %16s, ", o->process, o->name);
	xperf_quote(&j->key, o->file);
	if (f->detail) {
		if (!f->headed) {
			f->headed = true;
			fprintf(j->out, "%12s, %12s, %12s, %12s, %12s, %12s, %s\n", "Start Time", "End Time", "Time",
				"Offset", "Size", "Status", "    Process Name ( PID),        Operation, File");
		}
		if (ended) {
			fprintf(j->out, "%12.0f, %12.0f, %12.0f, %12llu, %12llu,   0x%08llx, %s\n", o->from, j->us,
				j->us - o->from, (unsigned long long)o->offset, (unsigned long long)o->size,
				(unsigned long long)status, j->key.s ? j->key.s : "");
		} else {
			fprintf(j->out, "%12.0f, %12s, %12s, %12llu, %12llu, %12s, %s\n", o->from, "-", "-",
				(unsigned long long)o->offset, (unsigned long long)o->size, "-",
				j->key.s ? j->key.s : "");
		}
	}
	struct xperf_sum *s = f->detail || j->key.failed ? NULL : xperf_sum(j, &f->sums, j->key.s);
	if (s) {
		s->v[0]++;
		s->v[1] += (double)o->size;
		s->v[2] += ended ? j->us - o->from : 0;
		s->v[3] += status >= 0xc0000000u;
	}
	*o = (struct operation){0};
}

static void fileio_event(struct xperf_job *j)
{
	struct fileio *f = j->own;
	uint64_t irp = xperf_number(j, "IrpPtr");
	struct operation *o = open_at(f, irp);
	if (strcmp(j->name, "FileIo/OperationEnd") == 0) {
		if (o->process && o->irp == irp) {
			fileio_done(j, f, o, true);
		}
		return;
	}
	if (irp == 0 || strncmp(j->name, "FileIo/", 7) != 0) {
		return;
	}
	if (o->process) {
		fileio_done(j, f, o, false);
	}
	const char *file = j->origin.file ? j->origin.file : xperf_text(j, "OpenPath");
	file = *file ? file : xperf_text(j, "FileName");
	xperf_key_process(j);
	struct xperf_sum *name = xperf_sum(j, &f->names, j->name + 7);
	char *n = name ? name->key : NULL;
	struct xperf_sum *process = j->key.failed ? NULL : xperf_sum(j, &f->names, j->key.s);
	char *p = process ? process->key : NULL;
	struct xperf_sum *path = xperf_sum(j, &f->names, *file ? file : "Unknown");
	if (n && p && path) {
		*o = (struct operation){.irp = irp,
					.from = j->us,
					.offset = xperf_number(j, "Offset"),
					.size = xperf_number(j, "IoSize"),
					.name = n,
					.process = p,
					.file = path->key};
	}
}

static void fileio_end(struct xperf_job *j)
{
	struct fileio *f = j->own;
	for (size_t i = 0; i < OPEN_MAX; i++) {
		if (f->open[i].process) {
			fileio_done(j, f, &f->open[i], false);
		}
	}
	if (f->detail) {
		return;
	}
	xperf_sums_sort(&f->sums, 2);
	fprintf(j->out, "    Process Name ( PID),        Operation, File, Count, Bytes, Time (us), Failed\n");
	for (size_t i = 0; i < f->sums.count; i++) {
		const struct xperf_sum *s = &f->sums.list[i];
		fprintf(j->out, "%s, %.0f, %.0f, %.0f, %.0f\n", s->key, s->v[0], s->v[1], s->v[2], s->v[3]);
	}
}

static void fileio_release(struct xperf_job *j)
{
	struct fileio *f = j->own;
	xperf_sums_finish(&f->names);
	xperf_sums_finish(&f->sums);
	free(f->open);
}

static const struct cli_option fileio_options[] = {
	CLI_FLAG(fileio, detail, 0, "detail", "each operation"),
	XPERF_RANGE,
	{0},
};

/* ---- filename ------------------------------------------------------------------------------------- */

static void filename_event(struct xperf_job *j)
{
	bool *headed = j->own;
	if (!*headed) {
		*headed = true;
		fprintf(j->out, "%10s, %16s, %18s, %s\n", "TimeStamp", "Type", "FileObject", "FileName");
	}
	strbuf_clear(&j->key);
	xperf_quote(&j->key, xperf_text(j, "FileName"));
	fprintf(j->out, "%10.0f, %16s, 0x%016llx, %s\n", j->us, strchr(j->name, '/') + 1,
		(unsigned long long)xperf_number(j, "FileObject"), j->key.s ? j->key.s : "");
}

static void filename_end(struct xperf_job *j)
{
	(void)j;
}

/* ---- hardfault ------------------------------------------------------------------------------------ */

struct hardfault {
	bool by_file, by_bytes;
	struct xperf_sums groups, rows;
};

static void hardfault_event(struct xperf_job *j)
{
	struct hardfault *h = j->own;
	struct strbuf file = {0};
	xperf_quote(&file, j->origin.file ? j->origin.file : "Unknown");
	xperf_key_process(j);
	char *process = j->key.failed ? NULL : strdup(j->key.s);
	const char *group = h->by_file ? file.s : process, *row = h->by_file ? process : file.s;
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "%s\t%s", group ? group : "", row ? row : "");
	double bytes = (double)xperf_number(j, "ByteCount"), begun = xperf_begun_us(j);
	for (int i = 0; i < 2 && process && !file.failed && !j->key.failed; i++) {
		struct xperf_sum *s = xperf_sum(j, i ? &h->rows : &h->groups, i ? j->key.s : group);
		if (s) {
			s->v[0]++;
			s->v[1] += bytes;
			s->v[2] += j->us - begun;
		}
	}
	j->failed = j->failed || !process || file.failed;
	free(process);
	strbuf_finish(&file);
}

/* The first row of a group among those that are sorted by name. */
static size_t first_row(const struct xperf_sums *rows, const char *group, size_t n)
{
	size_t low = 0, high = rows->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strncmp(rows->list[middle].key, group, n);
		if (c < 0 || (c == 0 && (unsigned char)rows->list[middle].key[n] < '\t')) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static int more(const void *pa, const void *pb, void *by)
{
	const struct xperf_sum *a = pa, *b = pb;
	int i = *(const int *)by;
	return a->v[i] != b->v[i] ? (a->v[i] > b->v[i] ? -1 : 1) : strcmp(a->key, b->key);
}

static void hardfault_end(struct xperf_job *j)
{
	struct hardfault *h = j->own;
	int by = h->by_bytes ? 1 : 0;
	xperf_sums_sort(&h->groups, by);
	xperf_sums_sort(&h->rows, -1);
	fprintf(j->out, "%s, %s,      Count,      Bytes,  Time (us)\n", h->by_file ? "File" : "    Process Name ( PID)",
		h->by_file ? "    Process Name ( PID)" : "File");
	for (size_t i = 0; i < h->groups.count; i++) {
		const struct xperf_sum *g = &h->groups.list[i];
		size_t n = strlen(g->key);
		fprintf(j->out, "%s, Total, %10.0f, %10.0f, %10.0f\n", g->key, g->v[0], g->v[1], g->v[2]);
		size_t from = first_row(&h->rows, g->key, n), to = from;
		while (to < h->rows.count && strncmp(h->rows.list[to].key, g->key, n) == 0 &&
		       h->rows.list[to].key[n] == '\t') {
			to++;
		}
		/* A copy: the search for the next group needs them by name. */
		struct xperf_sum *part = malloc((to - from + 1) * sizeof *part);
		if (!part) {
			j->failed = true;
			return;
		}
		memcpy(part, h->rows.list + from, (to - from) * sizeof *part);
		qsort_r(part, to - from, sizeof *part, more, &by);
		for (size_t k = 0; k < to - from; k++) {
			const struct xperf_sum *r = &part[k];
			fprintf(j->out, "%s, %s, %10.0f, %10.0f, %10.0f\n", g->key, r->key + n + 1, r->v[0], r->v[1],
				r->v[2]);
		}
		free(part);
	}
}

static void hardfault_release(struct xperf_job *j)
{
	struct hardfault *h = j->own;
	xperf_sums_finish(&h->groups);
	xperf_sums_finish(&h->rows);
}

static const struct cli_option hardfault_options[] = {
	CLI_FLAG(hardfault, by_file, 0, "file", "by file first, then by process"),
	CLI_FLAG(hardfault, by_bytes, 0, "bytes", "the most bytes first, not the most faults"),
	XPERF_RANGE,
	{0},
};

/* ---- pagefault ------------------------------------------------------------------------------------ */

static const char *const faults[] = {"TransitionFault", "DemandZeroFault", "CopyOnWrite",
				     "GuardPageFault",  "HardPageFault",   "AccessViolation"};

struct pagefault {
	bool detail;
	struct xperf_sums sums; /* one value for each kind, then all */
};

static void pagefault_event(struct xperf_job *j)
{
	struct pagefault *p = j->own;
	size_t kind = 0;
	while (kind < BASE_ARRAY_LEN(faults) && strcmp(j->name + 10, faults[kind]) != 0) {
		kind++;
	}
	if (kind == BASE_ARRAY_LEN(faults)) {
		return;
	}
	xperf_key_process(j);
	if (p->detail) {
		strbuf_adds(&j->key, ", ");
		xperf_symbol_cell(&j->key, j->state, j->origin.pid, xperf_number(j, "ProgramCounter"), j->time);
	}
	struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &p->sums, j->key.s);
	if (s) {
		s->v[kind]++;
		s->v[BASE_ARRAY_LEN(faults)]++;
	}
}

static void pagefault_end(struct xperf_job *j)
{
	struct pagefault *p = j->own;
	xperf_sums_sort(&p->sums, (int)BASE_ARRAY_LEN(faults));
	fprintf(j->out, "    Process Name ( PID)%s,      Total", p->detail ? ", Module!Function" : "");
	for (size_t i = 0; i < BASE_ARRAY_LEN(faults); i++) {
		fprintf(j->out, ", %s", faults[i]);
	}
	fputc('\n', j->out);
	for (size_t i = 0; i < p->sums.count; i++) {
		const struct xperf_sum *s = &p->sums.list[i];
		fprintf(j->out, "%s, %10.0f", s->key, s->v[BASE_ARRAY_LEN(faults)]);
		for (size_t k = 0; k < BASE_ARRAY_LEN(faults); k++) {
			fprintf(j->out, ", %*.0f", (int)strlen(faults[k]), s->v[k]);
		}
		fputc('\n', j->out);
	}
}

static void pagefault_release(struct xperf_job *j)
{
	struct pagefault *p = j->own;
	xperf_sums_finish(&p->sums);
}

static const struct cli_option pagefault_options[] = {
	CLI_FLAG(pagefault, detail, 0, "detail", "by the code that made them too"),
	XPERF_RANGE,
	{0},
};

#define FILEIO(NAME, TEXT)                                                                                      \
	{                                                                                                       \
		.name = NAME, .summary = TEXT, .options = fileio_options,                                       \
		.events = "FileIo/Create FileIo/Cleanup FileIo/Close FileIo/Read FileIo/Write FileIo/Flush "    \
			  "FileIo/SetInfo FileIo/Delete FileIo/Rename FileIo/QueryInfo FileIo/FSControl "       \
			  "FileIo/DirEnum FileIo/DirNotify FileIo/OperationEnd",                                \
		.source = "FILE_IO+FILE_IO_INIT+FILENAME", .own = sizeof(struct fileio), .begin = fileio_begin, \
		.event = fileio_event, .end = fileio_end, .release = fileio_release                             \
	}

const struct xperf_action xperf_file_actions[] = {
	FILEIO("fileio", "operations on files by process, kind and file"),
	FILEIO("fileiodetail", "each operation on a file, and how long it took"),
	{.name = "filename",
	 .summary = "names of files as they were recorded",
	 .events = "FileIo/Name FileIo/FileCreate FileIo/FileDelete FileIo/FileRundown",
	 .source = "FILENAME",
	 .own = sizeof(bool),
	 .event = filename_event,
	 .end = filename_end},
	{.name = "hardfault",
	 .summary = "hard page faults by process and file",
	 .options = hardfault_options,
	 .events = "PageFault/HardFault",
	 .source = "HARD_FAULTS",
	 .own = sizeof(struct hardfault),
	 .event = hardfault_event,
	 .end = hardfault_end,
	 .release = hardfault_release},
	{.name = "pagefault",
	 .summary = "page faults by process and kind",
	 .options = pagefault_options,
	 .events = "PageFault/TransitionFault PageFault/DemandZeroFault PageFault/CopyOnWrite "
		   "PageFault/GuardPageFault PageFault/HardPageFault PageFault/AccessViolation",
	 .source = "ALL_FAULTS",
	 .own = sizeof(struct pagefault),
	 .event = pagefault_event,
	 .end = pagefault_end,
	 .release = pagefault_release},
	{0},
};
