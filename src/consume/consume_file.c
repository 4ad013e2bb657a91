/* SPDX-License-Identifier: MIT */
#include "consume/consume.h"

#include <stdlib.h>

struct file_source {
	struct consume_source s;
	struct etl_reader *reader;
	bool started;
};

static bool file_buffer_done(void *ctx, const uint8_t *buf, uint32_t bytes)
{
	struct consume_source *s = ctx;
	return s->on_buffer && s->on_buffer(s->on_buffer_ctx, buf, bytes);
}

static int file_next(struct consume_source *s, struct etl_record *ret)
{
	struct file_source *f = (struct file_source *)s;
	if (BASE_UNLIKELY(!f->started)) {
		f->started = true;
		if (!s->whole_buffers) {
			etl_reader_use_windows(f->reader);
		}
	}
	return etl_reader_next(f->reader, ret);
}

static bool file_next_problem(struct consume_source *s, struct etl_problem *ret)
{
	return etl_reader_next_problem(((struct file_source *)s)->reader, ret);
}

static int file_next_loss(struct consume_source *s, struct etl_loss_range *ret)
{
	return etl_reader_next_loss(((struct file_source *)s)->reader, ret);
}

static void file_close(struct consume_source *s)
{
	etl_reader_close(((struct file_source *)s)->reader);
	free(s);
}

static const struct consume_ops file_ops = {
	.next = file_next, .next_problem = file_next_problem, .next_loss = file_next_loss, .close = file_close};

void consume_source_set_info(struct consume_source *s, const struct etl_file_info *info)
{
	s->info = *info;
	s->clock = (struct etl_clock){
		.clock_type = info->clock_type,
		.perf_freq = info->perf_freq,
		.cpu_mhz = info->cpu_mhz,
		.start_raw = info->start_raw,
		.start_filetime = info->start_filetime,
	};
	s->events_lost = info->events_lost;
}

int consume_file_open(const char *path, struct consume_source **ret, struct diag *d)
{
	struct file_source *f = calloc(1, sizeof *f);
	if (!f) {
		return -ENOMEM;
	}
	int r = etl_reader_open(path, 0, &f->reader, d);
	if (r < 0) {
		free(f);
		return r;
	}
	f->s.ops = &file_ops;
	consume_source_set_info(&f->s, etl_reader_info(f->reader));
	etl_reader_on_buffer(f->reader, file_buffer_done, &f->s);
	*ret = &f->s;
	return 0;
}
