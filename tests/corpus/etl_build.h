/* SPDX-License-Identifier: MIT
 *
 * Trace files made by hand from the description of the format, for kinds of records that no real
 * file at hand contains. Does not share a line with the writer, so that both cannot be wrong alike.
 * For tests.
 */
#ifndef TESTS_CORPUS_ETL_BUILD_H
#define TESTS_CORPUS_ETL_BUILD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct etl_build {
	uint8_t *mem;
	uint32_t buffer_size;
	uint32_t buffers; /* complete ones */
	uint32_t at;      /* in the buffer being built */
};

static inline uint8_t *etl_build_here(struct etl_build *b)
{
	return b->mem + (size_t)b->buffers * b->buffer_size;
}
static inline void etl_build_u16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}
static inline void etl_build_u32(uint8_t *p, uint32_t v)
{
	etl_build_u16(p, v & 0xFFFF);
	etl_build_u16(p + 2, v >> 16);
}
static inline void etl_build_u64(uint8_t *p, uint64_t v)
{
	etl_build_u32(p, (uint32_t)v);
	etl_build_u32(p + 4, (uint32_t)(v >> 32));
}

static inline void etl_build_begin(struct etl_build *b, unsigned cpu, uint64_t sequence)
{
	b->mem = realloc(b->mem, (size_t)(b->buffers + 1) * b->buffer_size);
	uint8_t *p = etl_build_here(b);
	memset(p, 0xFF, b->buffer_size);
	memset(p, 0, 0x48);
	etl_build_u32(p + 0x00, b->buffer_size);
	etl_build_u64(p + 0x18, sequence);
	etl_build_u16(p + 0x28, cpu);
	etl_build_u16(p + 0x2A, 7);
	etl_build_u32(p + 0x2C, 3);
	etl_build_u16(p + 0x34, 0x20);
	b->at = 0x48;
}
/* Room for a record of n bytes, zeroed. */
static inline uint8_t *etl_build_record(struct etl_build *b, uint32_t n)
{
	uint8_t *p = etl_build_here(b) + b->at;
	memset(p, 0, (n + 7) & ~7u);
	b->at += (n + 7) & ~7u;
	return p;
}
static inline void etl_build_end(struct etl_build *b, uint64_t flush_raw)
{
	uint8_t *p = etl_build_here(b);
	etl_build_u32(p + 0x04, b->at);
	etl_build_u32(p + 0x08, b->buffer_size + b->at);
	etl_build_u64(p + 0x10, flush_raw);
	etl_build_u32(p + 0x30, b->at);
	b->buffers++;
}

struct etl_build_header {
	uint32_t clock_type;
	uint64_t perf_freq;
	uint32_t cpu_mhz;
	uint64_t start_raw, start_filetime;
	uint32_t mode;
};
/* Buffer 0 with names "S" and "f.etl". */
static inline void etl_build_start(struct etl_build *b, uint32_t buffer_size, const struct etl_build_header *h)
{
	static const uint8_t names[] = {'S', 0, 0, 0, 'f', 0, '.', 0, 'e', 0, 't', 0, 'l', 0, 0, 0};
	memset(b, 0, sizeof *b);
	b->buffer_size = buffer_size;
	etl_build_begin(b, 0, 0);
	uint32_t n = 0x20 + 0x118 + sizeof names;
	uint8_t *r = etl_build_record(b, n);
	etl_build_u32(r, 0xC0020002u);
	etl_build_u16(r + 4, n);
	etl_build_u32(r + 8, 11);
	etl_build_u32(r + 12, 10);
	etl_build_u64(r + 0x10, h->start_raw);
	uint8_t *p = r + 0x20;
	etl_build_u32(p + 0x00, buffer_size);
	etl_build_u32(p + 0x04, 0x0501000A);
	etl_build_u32(p + 0x08, 19045);
	etl_build_u32(p + 0x0C, 4);
	etl_build_u64(p + 0x10, h->start_filetime + 1000);
	etl_build_u32(p + 0x18, 156250);
	etl_build_u32(p + 0x20, h->mode);
	etl_build_u32(p + 0x28, 1);
	etl_build_u32(p + 0x2C, 8);
	etl_build_u32(p + 0x34, h->cpu_mhz);
	etl_build_u64(p + 0x100, h->perf_freq);
	etl_build_u64(p + 0x108, h->start_filetime);
	etl_build_u32(p + 0x110, h->clock_type);
	memcpy(p + 0x118, names, sizeof names);
	etl_build_end(b, 0);
	etl_build_u16(b->mem + 0x36, 4);
}

/* A plain 64-bit manifest event with a payload of one u32. */
static inline uint8_t *etl_build_event(struct etl_build *b, uint64_t time_raw, unsigned id, uint32_t payload)
{
	uint8_t *r = etl_build_record(b, 0x54);
	etl_build_u16(r, 0x54);
	etl_build_u16(r + 2, 0xC013);
	etl_build_u32(r + 8, 21);
	etl_build_u32(r + 12, 20);
	etl_build_u64(r + 0x10, time_raw);
	memset(r + 0x18, 0xAB, 16);
	etl_build_u16(r + 0x28, id);
	etl_build_u32(r + 0x50, payload);
	return r;
}

#endif
