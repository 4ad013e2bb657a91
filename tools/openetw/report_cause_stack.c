/* SPDX-License-Identifier: MIT
 * report's first lines: what a thread does, by the names of the functions on its stack.
 */
#include "tools/openetw/report_cause.h"

#define IN_LOCK_BY_SIGNAL (1u << 30) /* a lock that is made of condition variables, which are further in */

#define DECIDES (CAUSE_IN_LOCK | CAUSE_IN_SIGNAL | CAUSE_IN_SEMAPHORE)

struct word {
	const char *name; /* "*" at one end: whatever stands there */
	uint32_t in;
};

/* Without underscores in front. */
static const struct word user_words[] = {
	{"pthread_mutex_lock", CAUSE_IN_LOCK},
	{"pthread_mutex_lock_full", CAUSE_IN_LOCK},
	{"pthread_mutex_timedlock", CAUSE_IN_LOCK},
	{"pthread_mutex_clocklock", CAUSE_IN_LOCK},
	{"pthread_mutex_cond_lock", CAUSE_IN_LOCK},
	{"pthread_rwlock_*", CAUSE_IN_LOCK},
	{"lll_lock_wait*", CAUSE_IN_LOCK},
	{"lll_mutex_lock*", CAUSE_IN_LOCK},
	{"futex_lock_pi*", CAUSE_IN_LOCK},
	{"mtx_lock", CAUSE_IN_LOCK},
	{"mtx_timedlock", CAUSE_IN_LOCK},
	{"flock", CAUSE_IN_LOCK},
	{"lockf", CAUSE_IN_LOCK},
	{"runtime.lock2", CAUSE_IN_LOCK},
	{"*lock_contended", CAUSE_IN_LOCK}, /* Rust */
	{"RtlpWaitOnCriticalSection", CAUSE_IN_LOCK},
	{"RtlpEnterCriticalSectionContended", CAUSE_IN_LOCK},
	{"RtlEnterCriticalSection", CAUSE_IN_LOCK},
	{"RtlAcquireSRWLock*", CAUSE_IN_LOCK},
	{"*RawMutex::lock_slow", IN_LOCK_BY_SIGNAL}, /* Rust's parking_lot */
	{"absl::*Mutex::Lock", IN_LOCK_BY_SIGNAL},
	{"AwareLock::Enter*", IN_LOCK_BY_SIGNAL}, /* .NET */
	{"CrstBase::Enter", IN_LOCK_BY_SIGNAL},
	{"System.Threading.Monitor.Enter*", IN_LOCK_BY_SIGNAL},
	{"ObjectMonitor::enter*", IN_LOCK_BY_SIGNAL}, /* Java */
	{"take_gil", IN_LOCK_BY_SIGNAL},              /* Python */
	{"PyEval_RestoreThread", IN_LOCK_BY_SIGNAL},
	{"PyEval_AcquireThread", IN_LOCK_BY_SIGNAL},
	{"PyGILState_Ensure", IN_LOCK_BY_SIGNAL},
	{"pthread_cond_*", CAUSE_IN_SIGNAL},
	{"cnd_*", CAUSE_IN_SIGNAL},
	{"pthread_join", CAUSE_IN_SIGNAL},
	{"pthread_clockjoin*", CAUSE_IN_SIGNAL},
	{"pthread_timedjoin*", CAUSE_IN_SIGNAL},
	{"pthread_barrier_wait", CAUSE_IN_SIGNAL},
	{"sem_wait", CAUSE_IN_SEMAPHORE},
	{"sem_timedwait", CAUSE_IN_SEMAPHORE},
	{"sem_clockwait", CAUSE_IN_SEMAPHORE},
	{"new_sem_wait*", CAUSE_IN_SEMAPHORE},
	{"PyThread_acquire_lock*", CAUSE_IN_SEMAPHORE},
	{"SleepConditionVariable*", CAUSE_IN_SIGNAL},
	{"std::sync::condvar::*", CAUSE_IN_SIGNAL}, /* Rust */
	{"std::sync::poison::condvar::*", CAUSE_IN_SIGNAL},
	{"std::sys::sync::condvar::*", CAUSE_IN_SIGNAL},
	{"std::sys::sync::thread_parking::*", CAUSE_IN_SIGNAL},
	{"std::sys::sync::once::*", CAUSE_IN_SIGNAL},
	{"std::thread::park*", CAUSE_IN_SIGNAL},
	{"std::sync::barrier::*", CAUSE_IN_SIGNAL},
	{"parking_lot::condvar::*", CAUSE_IN_SIGNAL},
	{"runtime.notesleep*", CAUSE_IN_SIGNAL}, /* Go */
	{"runtime.notetsleep*", CAUSE_IN_SIGNAL},
	{"runtime.mPark*", CAUSE_IN_SIGNAL},
	{"std::__detail::__platform_wait*", CAUSE_IN_SIGNAL},
	{"RtlSleepConditionVariable*", CAUSE_IN_SIGNAL},
	{"fsync", CAUSE_IN_FLUSH},
	{"fdatasync", CAUSE_IN_FLUSH},
	{"msync", CAUSE_IN_FLUSH},
	{"syncfs", CAUSE_IN_FLUSH},
	{"sync_file_range", CAUSE_IN_FLUSH},
	{"FlushFileBuffers", CAUSE_IN_FLUSH},
	{"FlushViewOfFile", CAUSE_IN_FLUSH},
	{"nanosleep", CAUSE_IN_SLEEP},
	{"clock_nanosleep*", CAUSE_IN_SLEEP},
	{"SleepEx", CAUSE_IN_SLEEP},
	{"gc_collect_main", CAUSE_IN_GC}, /* Python */
	{"gc_collect_with_callback", CAUSE_IN_GC},
	{"gc_collect_generations", CAUSE_IN_GC},
	{"PyGC_Collect*", CAUSE_IN_GC},
	{"runtime.gcBgMarkWorker*", CAUSE_IN_GC}, /* Go */
	{"runtime.gcDrain*", CAUSE_IN_GC},
	{"runtime.gcAssist*", CAUSE_IN_GC},
	{"runtime.gcStart*", CAUSE_IN_GC},
	{"runtime.bgsweep*", CAUSE_IN_GC},
	{"WKS::gc_heap::*", CAUSE_IN_GC}, /* .NET */
	{"SVR::gc_heap::*", CAUSE_IN_GC},
	{"WKS::GCHeap::GarbageCollect*", CAUSE_IN_GC},
	{"SVR::GCHeap::GarbageCollect*", CAUSE_IN_GC},
	{"v8::internal::Heap::CollectGarbage*", CAUSE_IN_GC},
	{"v8::internal::MarkCompactCollector::*", CAUSE_IN_GC},
	{"v8::internal::Scavenger*", CAUSE_IN_GC},
	{"G1ParTask*", CAUSE_IN_GC}, /* Java */
	{"G1CollectedHeap::do_collection*", CAUSE_IN_GC},
	{"PSParallelCompact::*", CAUSE_IN_GC},
	{"PSScavenge::*", CAUSE_IN_GC},
	{"GC_try_to_collect*", CAUSE_IN_GC}, /* Boehm's */
	{"GC_stopped_mark", CAUSE_IN_GC},
	{"GC_mark_from", CAUSE_IN_GC},
	{"GC_mark_some", CAUSE_IN_GC},
	{"sgen_perform_collection*", CAUSE_IN_GC}, /* Mono */
	{"gc_start", CAUSE_IN_GC},                 /* Ruby */
	{"garbage_collect", CAUSE_IN_GC},
};
static const struct word kernel_words[] = {
	{"flock_lock_inode_wait", CAUSE_IN_LOCK},
	{"posix_lock_inode_wait", CAUSE_IN_LOCK},
	{"locks_lock_inode_wait", CAUSE_IN_LOCK},
	{"fcntl_setlk*", CAUSE_IN_LOCK},
	{"futex_lock_pi*", CAUSE_IN_LOCK},
	{"futex_wait*", CAUSE_IN_FUTEX},
	{"unix_accept", CAUSE_IN_ACCEPT},
	{"unix_stream_read_generic", CAUSE_IN_LOCAL},
	{"unix_stream_recvmsg", CAUSE_IN_LOCAL},
	{"do_fsync", CAUSE_IN_FLUSH},
	{"vfs_fsync*", CAUSE_IN_FLUSH},
	{"generic_write_sync", CAUSE_IN_FLUSH},
	{"ksys_sync*", CAUSE_IN_FLUSH},
	{"do_sys_msync", CAUSE_IN_FLUSH},
	{"*_sys_msync", CAUSE_IN_FLUSH},
	{"*_sys_fsync", CAUSE_IN_FLUSH},
	{"*_sys_fdatasync", CAUSE_IN_FLUSH},
	{"*_sys_syncfs", CAUSE_IN_FLUSH},
	{"*_sync_file", CAUSE_IN_FLUSH},
	{"NtFlushBuffersFile*", CAUSE_IN_FLUSH},
	{"asm_exc_page_fault", CAUSE_IN_FAULT},
	{"exc_page_fault", CAUSE_IN_FAULT},
	{"do_user_addr_fault", CAUSE_IN_FAULT},
	{"handle_mm_fault", CAUSE_IN_FAULT},
	{"do_page_fault", CAUSE_IN_FAULT},
	{"do_mem_abort", CAUSE_IN_FAULT},
	{"KiPageFault*", CAUSE_IN_FAULT},
	{"MmAccessFault", CAUSE_IN_FAULT},
	{"*_sys_mmap", CAUSE_IN_MEMORY},
	{"*_sys_munmap", CAUSE_IN_MEMORY},
	{"*_sys_mremap", CAUSE_IN_MEMORY},
	{"*_sys_mprotect", CAUSE_IN_MEMORY},
	{"*_sys_madvise", CAUSE_IN_MEMORY},
	{"*_sys_brk", CAUSE_IN_MEMORY},
	{"vm_munmap", CAUSE_IN_MEMORY},
	{"do_madvise", CAUSE_IN_MEMORY},
	{"NtAllocateVirtualMemory", CAUSE_IN_MEMORY},
	{"NtFreeVirtualMemory", CAUSE_IN_MEMORY},
	{"hrtimer_nanosleep", CAUSE_IN_SLEEP},
	{"KeDelayExecutionThread", CAUSE_IN_SLEEP},
};

static bool fits(const char *pattern, const char *name, size_t n)
{
	const char *star = strchr(pattern, '*');
	size_t before = star ? (size_t)(star - pattern) : strlen(pattern);
	size_t after = star ? strlen(star + 1) : 0;
	return (star ? n >= before + after : n == before) && memcmp(pattern, name, before) == 0 &&
	       (after == 0 || memcmp(star + 1, name + n - after, after) == 0);
}

/* "libc.so.6!__GI___lll_lock_wait", "kernel!rwsem_down_read.constprop.0", "m!exported+0x12" */
static uint32_t class_of_name(const char *name, bool in_kernel)
{
	const struct word *words = in_kernel ? kernel_words : user_words;
	size_t count = in_kernel ? BASE_ARRAY_LEN(kernel_words) : BASE_ARRAY_LEN(user_words);
	const char *bang = strchr(name, '!');
	name = bang ? bang + 1 : name;
	name += strspn(name, "_");
	name += strncmp(name, "GI_", 3) == 0 ? 3 : 0;
	name += strspn(name, "_");
	size_t n = strcspn(name, in_kernel ? ".+@" : "+@");
	if (!in_kernel && memchr(name, '(', n) && !memchr(name, '*', n)) { /* C++'s parameters; Go has (*Mutex) */
		n = strcspn(name, "(");
	}
	for (size_t i = 0; i < count; i++) {
		if (fits(words[i].name, name, n)) {
			return words[i].in;
		}
	}
	return 0;
}

uint32_t cause_class(struct causes *c, uint32_t pid, uint64_t address, uint64_t time)
{
	char name[1024];
	bool in_kernel = address >= NAMES_KERNEL_SPACE;
	const uint64_t where[2] = {address, in_kernel ? 0u : pid};
	uint64_t key = map_hash(&c->class_of, where, sizeof where); /* with a secret: nobody can choose two that meet */
	size_t at = map_find(&c->class_of, key);
	if (at != MAP_NONE) {
		return (uint32_t)map_value(&c->class_of, at);
	}
	names_of(c->names, pid, address, time, name, sizeof name);
	uint32_t in = class_of_name(name, in_kernel);
	if (c->class_of.count >= CAUSE_MOST) { /* code that is made over and over: begin again */
		map_clear(&c->class_of);
	}
	c->failed = map_add(&c->class_of, key, in) < 0 || c->failed;
	return in;
}

/* Is it a function of the program, and which? Where nothing has a name, all that waits by a futex looks alike. */
static bool is_named(struct causes *c, uint32_t pid, uint64_t address, uint64_t time)
{
	char name[1024];
	names_of(c->names, pid, address, time, name, sizeof name);
	const char *bang = strchr(name, '!'), *plus = strrchr(name, '+');
	return bang && bang[1] && plus != bang + 1 && strncmp(name, "?!", 2) != 0 && strcmp(bang, "!syscall") != 0;
}

uint32_t cause_stack(struct causes *c, const EVENT_RECORD *e, uint32_t pid, uint64_t time, uint64_t *ret_site)
{
	struct openetw_stack s = {.size = sizeof s};
	uint32_t all = 0;
	uint64_t site = 0;
	if (openetw_state_stack(c->state, e, &s) != ERROR_SUCCESS || s.count == 0) {
		return 0;
	}
	c->stacks++;
	for (uint32_t i = 0; i < BASE_MIN(s.count, (uint32_t)NAMES_FRAMES_MAX); i++) {
		uint32_t in = cause_class(c, pid, names_frame(s.addresses, i, true), time);
		uint32_t decided = all & DECIDES;
		if (in & IN_LOCK_BY_SIGNAL) {
			all = (all & ~DECIDES) | CAUSE_IN_LOCK;
		} else if (in & DECIDES) {
			all |= decided ? 0 : in; /* the innermost one */
		} else {
			all |= in;
		}
		if (in & (CAUSE_IN_LOCK | CAUSE_IN_SEMAPHORE | IN_LOCK_BY_SIGNAL) && i + 1 < s.count) {
			site = names_frame(s.addresses, i + 1, true);
		}
	}
	/* A futex, and no library says what it is for. */
	if ((all & CAUSE_IN_FUTEX) && !(all & (DECIDES | CAUSE_IN_SLEEP | CAUSE_IN_GC))) {
		for (uint32_t i = 0; i < BASE_MIN(s.count, (uint32_t)NAMES_FRAMES_MAX) && !site; i++) {
			uint64_t address = names_frame(s.addresses, i, true);
			site = address < NAMES_KERNEL_SPACE && is_named(c, pid, address, time) ? address : 0;
		}
		all = site ? all | CAUSE_IN_SEMAPHORE : all & ~CAUSE_IN_FUTEX;
	} else {
		all &= ~CAUSE_IN_FUTEX;
	}
	if (ret_site) {
		*ret_site = site;
	}
	return all;
}
