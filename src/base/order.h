/* SPDX-License-Identifier: MIT
 *
 * The only spelling of atomics in the tree. A reader who looks for a memory-ordering decision
 * greps for "order_"; nothing else in the tree is allowed to say __atomic.
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define order_load_relaxed(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define order_load_acquire(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define order_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define order_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define order_add_relaxed(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define order_add_full(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define order_or_release(p, v)    __atomic_fetch_or((p), (v), __ATOMIC_RELEASE)
#define order_or_relaxed(p, v)    __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define order_exchange_full(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define order_fence_full()        __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define order_fence_acquire()     __atomic_thread_fence(__ATOMIC_ACQUIRE)
/* Keeps the compiler, not the CPU, from moving accesses across: signal handlers, kill points. */
#define order_fence_compiler() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Tells the thread sanitizer of a hand-over that another process completes: what was done before
 * "gives" comes before what is done after an acquire of *p. Nothing in other builds. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define ORDER_SANITIZED
void __tsan_release(void *p);
#define order_note_gives(p) __tsan_release(p)
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define ORDER_SANITIZED
#endif
#ifndef order_note_gives
#define order_note_gives(p) ((void)0)
#endif

/* order_load_relaxed(p) != v for a 32 or 64-bit *p, in one instruction: compilers load atomics into
 * a register first, always. */
#if defined(__x86_64__) && !defined(ORDER_SANITIZED)
#define order_differs(p, v)                                                                                     \
	__extension__({                                                                                         \
		bool differs_;                                                                                  \
		if (sizeof(*(p)) == 8) {                                                                        \
			__asm__ volatile("cmpq %q2, %1" : "=@ccne"(differs_) : "m"(*(p)), "re"((uint64_t)(v))); \
		} else {                                                                                        \
			__asm__ volatile("cmpl %2, %1"                                                          \
					 : "=@ccne"(differs_)                                                   \
					 : "m"(*(p)), "ri"((uint32_t)(uint64_t)(v)));                           \
		}                                                                                               \
		differs_;                                                                                       \
	})
/* (order_load_relaxed(p) & bits) != 0 for a 32-bit *p and bits below 128, likewise. */
#define order_has(p, bits)                                                                           \
	__extension__({                                                                              \
		bool has_;                                                                           \
		__asm__ volatile("testb %2, %1" : "=@ccnz"(has_) : "m"(*(p)), "i"((uint8_t)(bits))); \
		has_;                                                                                \
	})
#else
#define order_differs(p, v) (order_load_relaxed(p) != (v))
#define order_has(p, bits)  ((order_load_relaxed(p) & (bits)) != 0)
#endif

/* 16 bytes at once, where that can be: for what is checked afterwards by other means, since the two halves
 * may be of different times. */
typedef uint64_t order_pair __attribute__((vector_size(16)));
#if defined(__x86_64__) && !defined(ORDER_SANITIZED)
#define order_load_pair(p)                                                   \
	__extension__({                                                      \
		order_pair pair_;                                            \
		__asm__ volatile("movups %1, %0" : "=x"(pair_) : "m"(*(p))); \
		pair_;                                                       \
	})
#else
#define order_load_pair(p) ((order_pair){order_load_relaxed(&(*(p))[0]), order_load_relaxed(&(*(p))[1])})
#endif

/* True when *p was `want` and now is `set`; on false, *(&want) holds what was seen. */
#define order_cas_acquire(p, want, set) \
	__atomic_compare_exchange_n((p), (want), (set), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define order_cas_full(p, want, set) \
	__atomic_compare_exchange_n((p), (want), (set), 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
