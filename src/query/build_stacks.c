/* SPDX-License-Identifier: MIT */
#include "query/build_stacks.h"

#include "base/vec.h"

#include <stdlib.h>

_Static_assert(offsetof(struct store_node, frame) == 4 && offsetof(struct store_stack, user) == 4, "as pairs");

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

int build_stacks_create(struct build_stacks *x, const char *directory)
{
	*x = (struct build_stacks){.key_count = 0};
	x->nodes.items.fd = x->nodes.slots.fd = x->pairs.items.fd = x->pairs.slots.fd = -1;
	x->lists.items.fd = x->lists.slots.fd = x->list_nodes.fd = -1;
	int err = build_set_create(&x->frames, directory);
	if (err == 0) {
		err = build_set_create(&x->nodes, directory);
	}
	if (err == 0) {
		err = build_set_create(&x->pairs, directory);
	}
	return err == 0 ? build_set_create(&x->lists, directory) : err;
}

void build_stacks_free(struct build_stacks *x)
{
	build_set_free(&x->frames);
	build_set_free(&x->nodes);
	build_set_free(&x->pairs);
	build_set_free(&x->lists);
	build_space_free(&x->list_nodes);
	free(x->keys);
	map_free(&x->keys_by_key);
	free(x->promises);
}

static int path_node(struct build_stacks *x, const uint64_t *addresses, uint32_t count, uint32_t *ret)
{
	uint32_t node = 0, depth = 0, alike = 0;
	while (alike < x->last_count && alike < count && x->last_address[alike] == addresses[count - 1 - alike]) {
		node = x->last_node[alike++];
	}
	for (depth = alike; depth < count; depth++) {
		uint64_t address = addresses[count - 1 - depth];
		uint32_t frame;
		int err = build_set_number(&x->frames, ~address, &frame);
		if (err == 0) {
			err = build_set_number(&x->nodes, pair(node, frame), &node);
		}
		if (err < 0) {
			x->last_count = BASE_MIN(depth, BUILD_LAST);
			return err;
		}
		if (depth < BUILD_LAST) {
			x->last_address[depth] = address;
			x->last_node[depth] = node;
		}
	}
	x->last_count = BASE_MIN(count, BUILD_LAST);
	*ret = node;
	return 0;
}

int build_stacks_node(struct build_stacks *x, const uint64_t *addresses, uint32_t count, uint32_t *ret)
{
	uint32_t known = x->lists.count, list;
	uint64_t hash = map_hash(&x->keys_by_key, addresses, count * sizeof *addresses);
	int err = build_set_number(&x->lists, hash | 1, &list);
	if (err == 0) {
		err = build_space_grow(&x->list_nodes, x->lists.directory, x->lists.items.bytes / 2);
	}
	uint32_t *nodes = x->list_nodes.p;
	if (err == 0 && list < known) {
		*ret = nodes[list];
		return 0;
	}
	if (err == 0) {
		err = path_node(x, addresses, count, ret);
	}
	if (err == 0) {
		nodes[list] = *ret;
	}
	return err;
}

static struct build_key *key_of(struct build_stacks *x, uint64_t key)
{
	size_t at = map_find(&x->keys_by_key, key);
	if (at != MAP_NONE) {
		return &x->keys[map_value(&x->keys_by_key, at)];
	}
	if ((x->nodes.most && x->key_count >= x->nodes.most) || !VEC_ROOM(x->keys, x->key_count, x->key_cap) ||
	    map_add(&x->keys_by_key, key, x->key_count) < 0) {
		return NULL;
	}
	x->keys[x->key_count] = (struct build_key){.key = key};
	return &x->keys[x->key_count++];
}

int build_stacks_key(struct build_stacks *x, uint64_t key, uint32_t *ret)
{
	struct build_key *k = key_of(x, key);
	if (!k) {
		return -ENOMEM;
	}
	if (k->now) {
		*ret = k->now;
		return 0;
	}
	if (!k->waiting) {
		if (x->promise_count == BUILD_PROMISE || !VEC_ROOM(x->promises, x->promise_count, x->promise_cap)) {
			return -ENOMEM;
		}
		x->promises[x->promise_count++] = 0;
		k->waiting = (uint32_t)x->promise_count;
	}
	*ret = BUILD_PROMISE | (k->waiting - 1);
	return 0;
}

int build_stacks_explain(struct build_stacks *x, uint64_t key, uint32_t node, bool over)
{
	struct build_key *k = key_of(x, key);
	if (!k) {
		return -ENOMEM;
	}
	if (k->waiting) {
		x->promises[k->waiting - 1] = node;
		k->waiting = 0;
	}
	k->now = over ? 0 : node;
	return 0;
}

int build_stacks_join(struct build_stacks *x, uint32_t stack, uint32_t part, bool user, uint32_t *ret)
{
	uint64_t old = build_set_items(&x->pairs)[stack];
	uint32_t kernel = (uint32_t)old, outer = (uint32_t)(old >> 32);
	user = user || kernel;
	if (part == 0 || (user && outer)) {
		*ret = stack;
		return 0;
	}
	return build_set_number(&x->pairs, user ? pair(kernel, part) : pair(part, outer), ret);
}

static uint32_t kept(const struct build_stacks *x, uint32_t part)
{
	return part & BUILD_PROMISE ? x->promises[part & ~BUILD_PROMISE] : part;
}

uint32_t build_stacks_part(const struct build_stacks *x, uint32_t part)
{
	return kept(x, part);
}

void build_stacks_settle(struct build_stacks *x)
{
	/* A view of the index may read them meanwhile: a promise is no node to it, so it sees the frames or none. */
	uint64_t *pairs = build_set_items(&x->pairs);
	for (uint32_t i = 1; i < x->pairs.count; i++) {
		pairs[i] = pair(kept(x, (uint32_t)pairs[i]), kept(x, (uint32_t)(pairs[i] >> 32)));
	}
}

static int find_first(const struct build_stacks *x, struct build_set *seen, struct build_space *numbers,
		      struct build_space *ret, bool *ret_any)
{
	const uint64_t *pairs = build_set_items(&x->pairs);
	const char *directory = x->pairs.directory;
	int err = build_space_grow(ret, directory, x->pairs.count * sizeof(uint32_t));
	err = err < 0 ? err : build_space_grow(numbers, directory, x->pairs.count * sizeof(uint32_t));
	uint32_t *first = ret->p, *number = numbers->p; /* of each different pair: the stack that had it first */
	for (uint32_t i = 1; i < x->pairs.count && err == 0; i++) {
		uint32_t known = seen->count, at;
		err = build_set_number(seen, pairs[i], &at);
		if (err == 0 && at == known) {
			number[at] = i;
		}
		if (err == 0) {
			first[i] = number[at];
			*ret_any = *ret_any || first[i] != i;
		}
	}
	return err;
}

int build_stacks_first(const struct build_stacks *x, struct build_space *ret)
{
	struct build_space numbers = {.fd = -1};
	struct build_set seen;
	bool any = false;
	*ret = (struct build_space){.fd = -1};
	if (x->promise_count == 0) {
		return 0; /* the set has each pair once */
	}
	int err = build_set_create(&seen, x->pairs.directory);
	err = err < 0 ? err : find_first(x, &seen, &numbers, ret, &any);
	build_set_free(&seen);
	build_space_free(&numbers);
	if (err < 0 || !any) {
		build_space_free(ret);
	}
	return err;
}
