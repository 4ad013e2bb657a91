/* SPDX-License-Identifier: MIT
 * report's first lines: clients that wait for the answers of a peer.
 *
 * Who sends and then receives on the same connection has waited for an answer in between: as far as it waited at all,
 * and no timer ended that. A server between two requests looks the same, so only the side that asks counts.
 */
#include "tools/openetw/report_cause.h"

#include "base/vec.h"

#include <stdlib.h>

#define ANSWER_LEAST 20000u /* 2 ms: faster answers are no slow peer's */

enum side { SIDE_UNKNOWN, SIDE_CLIENT, SIDE_SERVER };
struct cause_connection {
	uint32_t pid;
	char *local, *remote;
	bool udp;
	enum side side;
	uint32_t thread; /* that got most answers */
	bool asked;
	uint32_t asker;      /* thread */
	uint64_t answerable; /* of the asker, then */
	uint64_t time;       /* when */
	struct cause_sum lost, answers;
	uint64_t seen;
};

void cause_peer_free(struct causes *c)
{
	for (size_t i = 0; i < c->connection_count; i++) {
		free(c->connection[i].local);
		free(c->connection[i].remote);
	}
	free(c->connection);
	map_free(&c->connection_of);
}

static struct cause_connection *connection_of(struct causes *c, const struct kevent *k)
{
	/* The addresses of a received datagram are its own, not the socket's. */
	bool turned = k->udp && k->op == KOP_RECEIVE;
	const char *local = turned ? k->remote : k->local, *remote = turned ? k->local : k->remote;
	uint64_t key = map_hash(&c->connection_of, local, strlen(local));
	key = map_mix(key ^ map_hash(&c->connection_of, remote, strlen(remote)), 0x9E3779B97F4A7C15ull + k->pid);
	MAP_EACH(&c->connection_of, key, at) {
		struct cause_connection *n = &c->connection[map_value(&c->connection_of, at)];
		if (n->pid == k->pid && n->udp == k->udp && strcmp(n->local, local) == 0 &&
		    strcmp(n->remote, remote) == 0) {
			return n;
		}
	}
	struct cause_connection n = {
		.pid = k->pid, .udp = k->udp, .thread = CAUSE_NOBODY, .local = strdup(local), .remote = strdup(remote)};
	if (!n.local || !n.remote ||
	    !VEC_ROOM_UP_TO(c->connection, c->connection_count, c->connection_cap, CAUSE_MOST) ||
	    map_add(&c->connection_of, key, c->connection_count) < 0) {
		free(n.local);
		free(n.remote);
		c->failed = true;
		return NULL;
	}
	c->connection[c->connection_count] = n;
	return &c->connection[c->connection_count++];
}

/* Events of the network tell the process only. */
static struct cause_thread *thread_here(struct causes *c, const EVENT_RECORD *e, const struct kevent *k)
{
	uint32_t number = GetEventProcessorIndex(e);
	const struct cause_cpu *cpu = number < CAUSE_CPUS ? &c->cpu[number] : NULL;
	if (!cpu || !cpu->known || cpu->thread == CAUSE_NOBODY || c->thread[cpu->thread].pid != k->pid) {
		return NULL;
	}
	return &c->thread[cpu->thread];
}

static void sends(struct causes *c, struct cause_connection *n, const struct cause_thread *t, uint64_t time)
{
	n->asked = true;
	n->asker = t ? cause_thread_number(c, t) : CAUSE_NOBODY;
	n->answerable = t ? t->answerable : 0;
	n->time = time;
}

static void receives(struct causes *c, struct cause_connection *n, struct cause_thread *t, uint64_t time)
{
	if (!n->asked || !t) {
		return;
	}
	uint64_t lost = 0;
	n->asked = false;
	if (cause_thread_number(c, t) == n->asker) {
		lost = t->answerable - BASE_MAX(n->answerable, t->answered);
	} else if (t->last_until > n->time && !(t->last_in & CAUSE_IN_SLEEP)) { /* it does nothing but receive */
		lost = t->last_until - BASE_MAX(t->last_from, n->time);
	}
	t->answered = t->answerable;
	cause_add(&n->lost, lost);
	cause_add(&n->answers, time - n->time);
	n->thread = cause_thread_number(c, t);
}

void cause_peer_event(struct causes *c, const EVENT_RECORD *e, const struct kevent *k)
{
	c->net_ops++;
	if (k->pid == OPENETW_UNKNOWN_ID || !k->local[0] || !k->remote[0]) {
		return;
	}
	struct cause_connection *n = connection_of(c, k);
	struct cause_thread *t = thread_here(c, e, k);
	if (!n) {
		return;
	}
	n->seen = k->time;
	switch (k->op) {
	case KOP_CONNECT: n->side = SIDE_CLIENT; break;
	case KOP_ACCEPT: n->side = SIDE_SERVER; break;
	case KOP_SEND:
		n->side = n->side ? n->side : SIDE_CLIENT; /* who speaks first asks */
		sends(c, n, t, k->time);
		break;
	case KOP_RECEIVE:
		n->side = n->side ? n->side : SIDE_SERVER;
		receives(c, n, t, k->time);
		break;
	default: break;
	}
}

/* A connection that was there before the trace may begin in it with an answer, or with the server's turn. When the
 * ports tell, they decide: servers have the lower one, clients one of those that systems hand out. */
static bool is_client(const struct cause_connection *n)
{
	const char *l = strrchr(n->local, ':'), *r = strrchr(n->remote, ':');
	unsigned local = l ? (unsigned)atoi(l + 1) : 0, remote = r ? (unsigned)atoi(r + 1) : 0;
	if (n->side == SIDE_CLIENT) {
		return local >= 32768 || remote < 32768;
	}
	return false;
}

/* The process at the other end, when it is on this machine. */
static uint32_t process_at(const struct causes *c, const struct cause_connection *n, uint64_t *ret_time)
{
	for (size_t i = 0; i < c->connection_count; i++) {
		const struct cause_connection *o = &c->connection[i];
		if (o->udp == n->udp && strcmp(o->local, n->remote) == 0 && strcmp(o->remote, n->local) == 0) {
			*ret_time = o->seen;
			return o->pid;
		}
	}
	return CAUSE_NOBODY;
}

/* By thread and peer. */
static int by_peer(const void *a, const void *b)
{
	const struct cause_connection *x = *(const struct cause_connection *const *)a;
	const struct cause_connection *y = *(const struct cause_connection *const *)b;
	return x->thread != y->thread ? (x->thread < y->thread ? -1 : 1)
	       : x->udp != y->udp     ? x->udp - y->udp
				      : strcmp(x->remote, y->remote);
}

static void find(struct causes *c, const struct cause_connection *n, const struct cause_sum *lost,
		 const struct cause_sum *answers, uint64_t of)
{
	const struct cause_thread *t = &c->thread[n->thread];
	char time[CAUSE_TIME], whole[CAUSE_TIME], each[CAUSE_TIME], longest[CAUSE_TIME], who[CAUSE_WHO],
		at[CAUSE_WHO + 8];
	uint64_t then = 0;
	struct cause_finding f = {.kind = CAUSE_PEER,
				  .lost = lost->time,
				  .of = of,
				  .pid = t->pid,
				  .tid = t->tid,
				  .other_pid = process_at(c, n, &then),
				  .other_tid = CAUSE_NOBODY,
				  .time = t->seen,
				  .count = answers->count};
	at[0] = 0;
	if (f.other_pid != CAUSE_NOBODY) {
		snprintf(at, sizeof at, " (%s)", cause_who(c, f.other_pid, CAUSE_NOBODY, then, who));
	}
	cause_found(c, &f, "waited %s of %s for answers of its peer %s%s: %llu answers, %s each, %s at most",
		    cause_time(lost->time, time), cause_time(of, whole), n->remote, at,
		    (unsigned long long)answers->count, cause_time(answers->time / answers->count, each),
		    cause_time(answers->longest, longest));
}

/* All connections of a thread to one address are one peer. */
static void find_peer(struct causes *c, const struct cause_connection **n, size_t count)
{
	struct cause_sum lost = {0}, answers = {0};
	for (size_t i = 0; i < count; i++) {
		lost.time += n[i]->lost.time;
		answers.time += n[i]->answers.time;
		answers.count += n[i]->answers.count;
		answers.longest = BASE_MAX(answers.longest, n[i]->answers.longest);
	}
	if (answers.count == 0 || answers.time / answers.count < ANSWER_LEAST) {
		return;
	}
	const struct cause_thread *t = &c->thread[n[0]->thread];
	uint64_t of = cause_presence(c, t->pid, t->tid, t->seen);
	if (cause_counts(c, lost.time, of)) {
		find(c, n[0], &lost, &answers, of);
	}
}

void cause_peer_find(struct causes *c)
{
	const struct cause_connection **clients = calloc(c->connection_count + 1, sizeof(void *));
	size_t count = 0;
	for (size_t i = 0; clients && i < c->connection_count; i++) {
		const struct cause_connection *n = &c->connection[i];
		if (n->thread != CAUSE_NOBODY && is_client(n)) {
			clients[count++] = n;
		}
	}
	if (count) {
		qsort(clients, count, sizeof(void *), by_peer);
	}
	for (size_t from = 0, i = 1; i <= count; i++) {
		if (i == count || by_peer(&clients[from], &clients[i]) != 0) {
			find_peer(c, &clients[from], i - from);
			from = i;
		}
	}
	c->failed = c->failed || !clients;
	free(clients);
}
