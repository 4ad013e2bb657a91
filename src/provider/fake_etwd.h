/* SPDX-License-Identifier: MIT
 *
 * For tests: a daemon small enough to believe. A thread with a descriptor table of its own that listens in
 * a temporary runtime directory, hands out memory, records what it hears, and drains with src/pool. What
 * it does not do: sessions, files, access control.
 */
#ifndef PROVIDER_FAKE_ETWD_H
#define PROVIDER_FAKE_ETWD_H

#include <pthread.h>

#include "base/order.h"
#include "pool/pool.h"
#include "proto/proto.h"

#define FAKE_PEERS   8
#define FAKE_REGS    1024
#define FAKE_EVENTS  4096
#define FAKE_PAYLOAD 70000

struct fake_reg {
	bool used;
	struct guid guid;
	uint32_t offset; /* of the entry */
	uint32_t flags;
	uint32_t generation;
	uint8_t traits[512];
	size_t traits_bytes;
};
struct fake_peer {
	int fd; /* in the daemon's table; -1 closed */
	char exe[64];
	uint8_t *ctl;
	uint8_t *seg;
	uint64_t seg_bytes;
	struct pool_view *view;
	uint32_t ctl_next;
	struct fake_reg reg[FAKE_REGS];
};
/* What a GUID is enabled with: answers to later registrations carry it too. */
struct fake_enable {
	struct guid guid;
	struct filter_row row[8];
	uint32_t rows; /* 0 = off */
	uint64_t classic_handle;
};
struct fake_event {
	struct pool_rec rec;
	int peer;
	bool has_activity;
	uint8_t activity[16];
	uint8_t *items;
	uint32_t items_bytes;
	uint8_t *payload;
	uint32_t payload_bytes;
};

struct fake_etwd {
	char dir[64];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int listener, wake[2];
	uint32_t *wait_page;
	bool stop;
	bool silent;	   /* accept and say nothing */
	uint32_t chunk_size;
	uint32_t ctl_flags;
	uint32_t peers;	   /* ever accepted */
	struct fake_peer *peer[FAKE_PEERS];
	struct fake_enable enable[16];
	uint32_t enables;
	uint32_t next_notify;
	uint32_t notified, bells, registers, unregisters, binary_tracks;
	char binary_path[512];
	struct fake_event *event;
	uint32_t events;
};

/* Start one (in a fresh directory when `dir` is NULL) and point OPENETW_RUNTIME_DIR at it. */
struct fake_etwd *fake_start(const char *dir);
/* As a killed daemon: sockets close, memory goes. Frees it. The directory stays. */
void fake_kill(struct fake_etwd *f);
/* Publish rows for a GUID in every registration, now and later, and NOTIFY those with a callback. */
void fake_set(struct fake_etwd *f, const struct guid *g, const struct filter_row *rows, uint32_t count,
	      uint64_t classic_handle);
void fake_notify(struct fake_etwd *f, const struct guid *g, uint32_t code, const void *filter,
		 size_t filter_bytes);
/* Copy what was published into f->event; total so far. */
uint32_t fake_drain(struct fake_etwd *f);
void fake_forget_events(struct fake_etwd *f);
/* Drain and drop, for benches. */
uint64_t fake_drain_drop(struct fake_etwd *f);
void fake_grow(struct fake_etwd *f, uint32_t peer, uint32_t chunk_size);
/* Wait at most 5 s until *word >= want. */
bool fake_wait(struct fake_etwd *f, const uint32_t *word, uint32_t want);
bool fake_wait_registered(struct fake_etwd *f, const struct guid *g, uint32_t peer);
/* A row that lets everything pass to session `bit`. */
struct filter_row fake_row_all(uint8_t bit);

#endif
