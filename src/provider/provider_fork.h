/* SPDX-License-Identifier: MIT
 * The first call of a forked child that misses its registration comes here.
 */
#ifndef PROVIDER_PROVIDER_FORK_H
#define PROVIDER_PROVIDER_FORK_H

/* Give the child its registrations back and attach without threads: socket, connect, sendmsg,
 * recvmsg, mmap and poll, bounded. context: async-signal-safe. */
void provider_fork_recover(void);
/* What the callbacks were told last is kept for provider_fork_tell_locked(), unless something is kept there already. */
void provider_fork_remember(void);
/* Wait, bounded, for another thread that is giving the registrations back. */
void provider_fork_settle(void);
/* The lock was possibly held by a thread that does not exist here. Called before any lock. */
void provider_fork_check(void);
/* From now on fork() leaves a thread in children that have callbacks to call. */
void provider_fork_watch(void);
/* Tell the callbacks what changed between the fork and now. The lock is held. */
void provider_fork_tell_locked(void);

#endif
