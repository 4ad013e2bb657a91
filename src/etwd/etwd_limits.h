/* SPDX-License-Identifier: MIT
 *
 * Limits of etwd: what it lets others make it hold, and for how long it waits for them. Which part of it one
 * user may have: etwd_share.c. For people: docs/limits.md.
 */
#ifndef ETWD_ETWD_LIMITS_H
#define ETWD_ETWD_LIMITS_H

#define ETWD_SESSIONS_MAX         1024u
#define ETWD_CONSUMERS_MAX        16u /* per session */
#define ETWD_PROCESSES_MAX_USER   4096u
#define ETWD_PROCESSES_MAX_SYSTEM 16384u
#define ETWD_PROCESSES_MAX_UID    2048u        /* system instance, per uid */
#define ETWD_SESSIONS_MAX_UID     128u         /* the same */
#define ETWD_BUFFER_BYTES_UID     (3ull << 30) /* a third of it buffers, see etwd_session_bytes() */
#define ETWD_REGS_MAX             1024u        /* live, per process */
#define ETWD_REG_INDEX_MAX        65536u       /* an index travels in 16 bits */
#define ETWD_REGS_TOTAL_USER      65536u
#define ETWD_REGS_TOTAL_SYSTEM    262144u
#define ETWD_POOL_BYTES_PROCESS   (16ull << 20)
/* Address space, of which a process touches what it writes: every process that may attach gets its
 * first segment, and half is left for those that write much. */
#define ETWD_POOL_BYTES_TOTAL_USER (2048ull << 20)
#define ETWD_POOL_BYTES_TOTAL_SYS  (8192ull << 20)
#define ETWD_BUFFER_BYTES_USER     (8ull << 30) /* address space: touched only as needed */
#define ETWD_BUFFER_BYTES_SYSTEM   (12ull << 30)
#define ETWD_MESSAGES_PER_S        1000u
#define ETWD_MESSAGES_BURST        2000u
#define ETWD_QUEUE_BYTES_PROVIDER  (1u << 20)
#define ETWD_QUEUE_BYTES_CONTROL   (8u << 20)
#define ETWD_QUEUE_BYTES_TOTAL     (128u << 20) /* unread answers of all connections */
/* Of one user. Windows has 8 in all. Classic providers have one anyway; every session costs each of its
 * processes a row. */
#define ETWD_SESSIONS_PER_PROVIDER 64u
#define ETWD_BITS_OF_ROOT          16u /* of a process's session bits, in the instance for all */
#define ETWD_KERNEL_SESSIONS_MAX   64u
#define ETWD_KERNEL_SESSIONS_UID   4u
#define ETWD_PRIVATES_MAX          256u
#define ETWD_PRIVATES_UID          64u
#define ETWD_WAITING_MAX           262144u /* callbacks that enables wait for, and these enables */
#define ETWD_ENABLE_BYTES_MAX      (512ull << 20)
#define ETWD_IMAGE_BYTES_TOTAL     (64ull << 20) /* what processes have mapped: paths, build ids */
#define ETWD_CONFIG_BYTES_UID      (64ull << 20) /* then older generations are kept no longer */
#define ETWD_SPOOL_BYTES_UID       (1ull << 30)  /* what waits for consumers on the disk */
#define ETWD_SPOOL_FLOOR           (1ull << 30)  /* what is free there stays, or a tenth of the disk */
#define ETWD_FILTER_BYTES_MAX      4096u
#define ETWD_TRAITS_MAX            4096u
#define ETWD_PENDING_MAX           64u /* unanswered enables and the like, per connection */
#define ETWD_HISTORY_MAX           64u /* generations remembered per registration */
#define ETWD_VIOLATIONS_PER_S      10000u
#define ETWD_NAME_MAX              1024u
#define ETWD_FDS_RESERVE           64u
#define ETWD_JOBS_MAX              256u  /* threads of requests that wait for a disk */
#define ETWD_GUID_LIST_MAX         2048u /* disallowed members, periodic capture states */
#define ETWD_CAPTURE_SECONDS_MIN   1u
#define ETWD_CONTROL_CONNS_MAX     1024u          /* of one user */
#define ETWD_STRANGERS_MAX         256u           /* provider connections of one user before their HELLO */
#define ETWD_KEEP_PREFIX           "EtwRTKeep-"   /* files of real-time autologgers */
#define ETWD_HELLO_NS              10000000000ull /* time for it */

#endif
