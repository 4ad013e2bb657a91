/* SPDX-License-Identifier: MIT
 * The table events as a table in memory, for whoever reads tables in this process. openetw-sql reads the index itself
 * (tools/sql/sql_events.c); the values are the same.
 */
#include "tools/tables/table_make.h"

#include "query/query_share.h"

struct columns {
	int time, provider, event, process, pid, name, thread, tid, container, cpu, level, id, version, opcode, task,
		keyword, type, stack, file;
};

static struct columns make_columns(struct table_build *b)
{
	struct columns c;
	c.time = table_build_column(b, "time", SQL_TYPE_I64);
	c.provider = table_build_column(b, "provider", SQL_TYPE_TEXT);
	c.event = table_build_column(b, "event", SQL_TYPE_TEXT);
	c.process = table_build_column(b, "process", SQL_TYPE_U32);
	c.pid = table_build_column(b, "pid", SQL_TYPE_U32);
	c.name = table_build_column(b, "process_name", SQL_TYPE_TEXT);
	c.thread = table_build_column(b, "thread", SQL_TYPE_U32);
	c.tid = table_build_column(b, "tid", SQL_TYPE_U32);
	c.container = table_build_column(b, "container", SQL_TYPE_TEXT);
	c.cpu = table_build_column(b, "cpu", SQL_TYPE_U16);
	c.level = table_build_column(b, "level", SQL_TYPE_U8);
	c.id = table_build_column(b, "id", SQL_TYPE_U16);
	c.version = table_build_column(b, "version", SQL_TYPE_U8);
	c.opcode = table_build_column(b, "opcode", SQL_TYPE_U8);
	c.task = table_build_column(b, "task", SQL_TYPE_U16);
	c.keyword = table_build_column(b, "keyword", SQL_TYPE_U64);
	c.type = table_build_column(b, "type", SQL_TYPE_U32);
	c.stack = table_build_column(b, "stack", SQL_TYPE_U32);
	c.file = table_build_column(b, "file", SQL_TYPE_U16);
	return c;
}

static void put_row(struct table_maker *m, struct table_build *b, const struct columns *c, const struct index_share *x,
		    const struct store_columns *g, uint32_t row, uint32_t file)
{
	uint32_t type = store_type_at(g, row), process = store_process_at(g, row), thread = g->thread[row];
	type = type < x->store->type_count ? type : 0;
	process = process < x->store->process_count ? process : 0;
	thread = thread < x->store->thread_count ? thread : 0;
	const struct store_type *t = &x->store->types[type];
	table_build_number(b, c->time, (uint64_t)store_time(g, row) + (uint64_t)x->offset);
	table_put_string(b, c->provider, store_string(x->store, t->provider_name));
	table_put_string(b, c->event, store_string(x->store, t->name));
	table_build_number(b, c->process, x->process_base + process);
	if (process) {
		table_build_number(b, c->pid, x->store->processes[process].pid);
	}
	table_put_string(b, c->name, table_make_process_name(m, x->process_base + process));
	table_build_number(b, c->thread, x->thread_base + thread);
	if (thread) {
		table_build_number(b, c->tid, x->store->threads[thread].tid);
	}
	table_put_string(b, c->container, table_make_container(m, x->process_base + process));
	table_build_number(b, c->cpu, g->cpu[row]);
	table_build_number(b, c->level, t->level);
	table_build_number(b, c->id, t->id);
	table_build_number(b, c->version, t->version);
	table_build_number(b, c->opcode, t->opcode);
	table_build_number(b, c->task, t->task);
	table_build_number(b, c->keyword, t->keyword);
	table_build_number(b, c->type, x->type_base + type);
	if (g->stack && g->stack[row] && g->stack[row] < x->store->stack_count) {
		table_build_number(b, c->stack, x->stack_base + g->stack[row]);
	}
	table_build_number(b, c->file, file);
	table_build_row(b);
}

struct table_build *table_make_events(struct table_maker *m, char *why, size_t cap)
{
	struct table_build *b = table_build_create();
	struct index_share x;
	if (!b) {
		snprintf(why, cap, "no memory");
		return NULL;
	}
	struct columns c = make_columns(b);
	for (uint32_t f = 0; index_share_of(m->index, f, &x); f++) {
		for (uint32_t g = 0; g < x.store->group_count && x.store->type_count && !table_build_problem(b); g++) {
			struct store_columns group;
			store_columns_of(x.store, g, &group);
			for (uint32_t i = 0; i < group.rows; i++) {
				put_row(m, b, &c, &x, &group, i, f);
			}
		}
	}
	return b;
}
