/* SPDX-License-Identifier: MIT */
#include "tools/export/stacks.h"

#include "base/vec.h"

#include <stdlib.h>

#define DEPTH_MAX 1024u

void stacks_free(struct stacks *s)
{
	intern_free(&s->frames);
	free(s->node);
	map_free(&s->node_of);
	*s = (struct stacks){0};
}

static bool begun(struct stacks *s)
{
	if (s->nodes == 0 && VEC_ROOM(s->node, s->nodes, s->node_cap)) {
		s->node[s->nodes++] = (struct stacks_node){0};
	}
	s->failed = s->failed || s->nodes == 0;
	return !s->failed;
}

uint32_t stacks_frame(struct stacks *s, const char *name, size_t n)
{
	uint32_t i = intern_text(&s->frames, name, n, NULL);
	s->failed = s->failed || i == INTERN_NONE;
	return i == INTERN_NONE ? 0 : i;
}

uint32_t stacks_node(struct stacks *s, uint32_t parent, uint32_t frame)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	if (!begun(s)) {
		return STACKS_ROOT;
	}
	size_t at = map_find(&s->node_of, key);
	if (at != MAP_NONE) {
		return (uint32_t)map_value(&s->node_of, at);
	}
	if (!VEC_ROOM(s->node, s->nodes, s->node_cap) || map_add(&s->node_of, key, s->nodes) < 0) {
		s->failed = true;
		return STACKS_ROOT;
	}
	s->node[s->nodes] = (struct stacks_node){parent, frame, 0};
	return s->nodes++;
}

uint32_t stacks_line(struct stacks *s, uint32_t parent, const char *line, size_t n)
{
	for (size_t i = 0; i <= n && n > 0;) {
		const char *end = memchr(line + i, ';', n - i);
		size_t part = end ? (size_t)(end - line) - i : n - i;
		parent = stacks_node(s, parent, stacks_frame(s, line + i, part));
		i += part + 1;
	}
	return parent;
}

void stacks_weigh(struct stacks *s, uint32_t node, uint64_t weight)
{
	if (begun(s)) {
		s->node[node].weight += weight;
	}
}

/* The numbers of the stack's frames, the outermost first; those beyond DEPTH_MAX are left out. */
static uint32_t frames_of(const struct stacks *s, uint32_t node, uint32_t frame[DEPTH_MAX])
{
	uint32_t n = 0;
	for (; node != STACKS_ROOT && n < DEPTH_MAX; node = s->node[node].parent) {
		frame[n++] = s->node[node].frame;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t other = frame[i];
		frame[i] = frame[n - 1 - i];
		frame[n - 1 - i] = other;
	}
	return n;
}

bool stacks_write_folded(const struct stacks *s, FILE *f)
{
	uint32_t frame[DEPTH_MAX];
	for (uint32_t i = 0; i < s->nodes; i++) {
		uint32_t n = s->node[i].weight ? frames_of(s, i, frame) : 0;
		for (uint32_t k = 0; k < n; k++) {
			fputs(k ? ";" : "", f);
			fputs(s->frames.text[frame[k]], f);
		}
		if (n) {
			fprintf(f, " %llu\n", (unsigned long long)s->node[i].weight);
		}
	}
	return !ferror(f);
}

bool stacks_write_speedscope(const struct stacks *s, FILE *f, const char *name, const char *unit)
{
	uint32_t frame[DEPTH_MAX];
	struct strbuf text = {0};
	uint64_t total = 0;
	bool any = false;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[", f);
	for (uint32_t i = 0; i < s->frames.count; i++) {
		strbuf_clear(&text);
		strbuf_add_json(&text, s->frames.text[i], strlen(s->frames.text[i]));
		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		fputs(text.failed ? "\"?\"" : text.s, f);
		fputs("}", f);
	}
	strbuf_clear(&text);
	strbuf_add_json(&text, name, strlen(name));
	fputs("]},\"profiles\":[{\"type\":\"sampled\",\"name\":", f);
	fputs(text.failed ? "\"?\"" : text.s, f);
	fputs(",\"unit\":\"", f);
	fputs(unit, f);
	fputs("\",\"startValue\":0,\"samples\":[", f);
	for (uint32_t i = 0; i < s->nodes; i++) {
		uint32_t n = s->node[i].weight ? frames_of(s, i, frame) : 0;
		for (uint32_t k = 0; k < n; k++) {
			fprintf(f, "%s%u", k ? "," : any ? ",[" : "[", frame[k]);
		}
		any = any || n;
		fputs(n ? "]" : "", f);
	}
	fputs("],\"weights\":[", f);
	any = false;
	for (uint32_t i = 0; i < s->nodes; i++) {
		if (s->node[i].weight && i != STACKS_ROOT) {
			fprintf(f, "%s%llu", any ? "," : "", (unsigned long long)s->node[i].weight);
			total += s->node[i].weight;
			any = true;
		}
	}
	fprintf(f, "],\"endValue\":%llu}]}\n", (unsigned long long)total);
	bool ok = !text.failed;
	strbuf_finish(&text);
	return ok && !ferror(f);
}
