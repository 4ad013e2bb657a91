/* SPDX-License-Identifier: MIT
 *
 * provider: register, enable mask, write. Lives in other people's processes, so it stays small.
 * Front door; docs/life-of-an-event.md tells the story.
 *
 *   region        memory that is wiped on fork, with what the write path needs: for each registration its
 *                 generation, a pointer to its ctl_entry, and a cached copy of its filter
 *   registration  the rest of it: GUID, callback, traits, what each daemon said. Under one lock
 *   destination   where events can go: the user's etwd, the system's etwd, the in-process logger
 *   link          one attachment to an etwd: control block (read-only), writer, segments. 8 MB-aligned, so
 *                 that a ctl_entry pointer alone leads to all of it
 *
 *   app thread     EventRegister: registration, threads if there are none, waits for the answer
 *                  (50 ms; longer when there is something to miss, provider_patience.c)
 *   listener       one a destination: private fd table, connects, receives, sends BELL and the out
 *                  queue. Sleeps on the words others change. Never runs user code
 *   sender         only where one thread cannot do that: sleeps on the writer's bell and sends
 *   callback       created by an app thread, so it has the app's fd table; runs enable callbacks
 *
 * After fork the region reads as zero, so the first call in the child misses its registration,
 * comes to provider_fork.c, and re-attaches without threads. Nothing happens at fork itself.
 *
 * Files: provider_region (lookup), provider_registry (table), provider_dest (destinations, queues),
 * provider_attach (HELLO to WELCOME), provider_patience, provider_adopt (old pools),
 * provider_listener, provider_wait
 * (wait page), provider_fds, provider_callback, provider_emit.h (inline write path),
 * provider_emit.c (all the rest of it), provider_cache (the filter copy), provider_stack,
 * provider_activity, provider_classic, provider_classic_write, provider_fork, provider_unload
 * (libraries that go), provider_scarce (threads, memory or descriptors that are short), provider_private (sessions of other processes here), provider_rights (who
 * may ask for them); api_*.c are the Windows-named functions; fake_etwd.h is the daemon the tests run against.
 *
 * Where loss happens here: pool full, nesting, too big, detached; all counted by src/pool. An event
 * written between the death of a daemon and the arrival of the next one goes into the old pool,
 * which is handed to that one (provider_adopt.c).
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include "base/base.h"

/* Registration limits of one process [doc]. */
#define PROVIDER_REGISTRATIONS_MAX 1024u
/* EventRegister waits so long for the daemon's answer and the first callback. OPENETW_WAIT_MS in
 * the environment changes it, for programs that must not miss their first event on a busy machine.
 */
#define PROVIDER_WAIT_MS 50
/* And, once in its life, so much longer when a session wants the provider and the daemon is busy,
 * not stopped: an event that is written before the answer is seen by nobody, and not counted. */
#define PROVIDER_PATIENCE_MS 5000
/* The same while the daemon could run and is not given a processor. */
#define PROVIDER_STARVED_MS  20000
#define PROVIDER_WAIT_MS_MAX 10000ul
/* Without a daemon for so long, enable words of the old one are ignored. */
#define PROVIDER_ORPHAN_MS 30000

/* The i-th module of this process that carries the description of its events, as far as registrations
 * have looked; false behind the last one. */
bool provider_described_path(uint32_t i, char *ret, size_t cap);

#endif
