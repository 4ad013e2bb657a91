/* SPDX-License-Identifier: MIT
 *
 * base: what libc lacks. Front door.
 *
 *   errors     0 or a negative errno everywhere; win32_from_errno() at the API border (base/win32_error.h)
 *   diag       where and why a parser refused, in words for the user
 *   bytes      bounded little-endian cursor, the only way to read bytes from elsewhere
 *   guid, utf, sha1, strbuf, clock
 *   printable  foreign text for terminals and logs (base/printable.h)
 *   and vec.h, map.h, quiet_thread.h, file.h, parse.h, level.h, provider_guid.h, runtime_dir.h, datadir.h …
 * Nothing here keeps global state apart from the clock's once-detected kind.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include "base/win32_error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BASE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define BASE_ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))
#define BASE_UNLIKELY(x)       __builtin_expect(!!(x), 0)
/* The thread sanitizer keeps one descriptor table for all threads and fails where there are more. */
#define BASE_THREAD_SANITIZER 0
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#undef BASE_THREAD_SANITIZER
#define BASE_THREAD_SANITIZER 1
#endif
#endif

#define BASE_LIKELY(x) __builtin_expect(!!(x), 1)
#define BASE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define BASE_MAX(a, b) ((a) > (b) ? (a) : (b))
#define BASE_ALIGN8(n) (((n) + 7) & ~(__typeof__(n))7)

/* Of a function that libopenetw and the openetw command take from libetw.so, because what it knows has to be there
 * once in a process (the node LIBETW_PRIVATE_… of libetw.map). It is not part of any public interface. */
#define BASE_SHARED __attribute__((visibility("default")))

/* ---- errors -------------------------------------------------------------------------------- */

/* This thread's sentence about its last failed call, which openetw_last_error_text() hands out. Never
 * NULL; cut at 500 bytes. */
BASE_SHARED void err_text_set(const char *fmt, ...) BASE_PRINTF(1, 2);
BASE_SHARED void err_text_clear(void);
BASE_SHARED const char *err_text_get(void);

/* ---- diag ---------------------------------------------------------------------------------- */

struct diag {
	uint64_t offset; /* bytes from the start of the input; UINT64_MAX when meaningless */
	uint32_t line;   /* 1-based; 0 when meaningless */
	uint32_t column;
	char text[240];
};

/* `d` may be NULL. Keeps the first report: later ones are usually consequences. */
void diag_at(struct diag *d, uint64_t offset, const char *fmt, ...) BASE_PRINTF(3, 4);
void diag_clear(struct diag *d);

/* ---- bytes --------------------------------------------------------------------------------- */

static inline uint16_t le16_get(const void *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}
static inline uint32_t le32_get(const void *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return v;
}
static inline uint64_t le64_get(const void *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return v;
}
static inline void le16_put(void *p, uint16_t v)
{
	memcpy(p, &v, 2);
}
static inline void le32_put(void *p, uint32_t v)
{
	memcpy(p, &v, 4);
}
static inline void le64_put(void *p, uint64_t v)
{
	memcpy(p, &v, 8);
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts");

/* A cursor over untrusted bytes. After one short read `bad` stays set and reads give 0/NULL. */
struct bytes {
	const uint8_t *p;
	const uint8_t *end;
	bool bad;
};

static inline struct bytes bytes_of(const void *p, size_t n)
{
	const uint8_t *b = p;
	return (struct bytes){b, n ? b + n : b, false}; /* nothing may be at NULL */
}
/* From an offset to the end of n bytes; nothing when the offset lies outside. */
static inline struct bytes bytes_at(const void *p, size_t n, size_t offset)
{
	return offset < n ? bytes_of((const uint8_t *)p + offset, n - offset) : bytes_of(p, 0);
}
static inline size_t bytes_left(const struct bytes *b)
{
	return b->bad ? 0 : (size_t)(b->end - b->p);
}
/* The next n bytes, or NULL (and bad) when fewer are left. */
static inline const uint8_t *bytes_take(struct bytes *b, size_t n)
{
	if (bytes_left(b) < n || b->bad) {
		b->bad = true;
		return NULL;
	}
	const uint8_t *p = b->p;
	b->p += n;
	return p;
}
static inline uint8_t bytes_u8(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 1);
	return p ? *p : 0;
}
static inline uint16_t bytes_u16(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 2);
	return p ? le16_get(p) : 0;
}
static inline uint32_t bytes_u32(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 4);
	return p ? le32_get(p) : 0;
}
static inline uint64_t bytes_u64(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 8);
	return p ? le64_get(p) : 0;
}
/* A NUL-terminated 8-bit string inside the cursor; NULL and bad when there is no NUL. */
const char *bytes_asz(struct bytes *b, size_t *ret_len);
/* A NUL-terminated UTF-16LE string, possibly unaligned; the length is in 16-bit units. */
const uint8_t *bytes_wsz(struct bytes *b, size_t *ret_units);

/* ---- guid ---------------------------------------------------------------------------------- */

/* Windows memory order: u32, u16, u16 little-endian, then 8 bytes. Layout-equal to GUID. */
struct guid {
	uint8_t b[16];
};
extern const struct guid GUID_ZERO;
/* GUID_INIT(ETW_GUID_...): an initialiser of struct guid from one of etw/values/guids.h. */
#define GUID_INIT(...) GUID_INIT_PARTS(__VA_ARGS__)
#define GUID_INIT_PARTS(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7)                                          \
	{                                                                                                 \
		{                                                                                         \
			(uint8_t)((a)&0xFF), (uint8_t)((a) >> 8 & 0xFF), (uint8_t)((a) >> 16 & 0xFF),     \
				(uint8_t)((uint32_t)(a) >> 24), (uint8_t)((b)&0xFF), (uint8_t)((b) >> 8), \
				(uint8_t)((c)&0xFF), (uint8_t)((c) >> 8), d0, d1, d2, d3, d4, d5, d6, d7  \
		}                                                                                         \
	}
/* The same for the GUID of Windows' headers. */
#define GUID_INIT_WINDOWS(...) GUID_INIT_WINDOWS_PARTS(__VA_ARGS__)
#define GUID_INIT_WINDOWS_PARTS(a, b, c, ...) \
	{                                     \
		a, b, c,                      \
		{                             \
			__VA_ARGS__           \
		}                             \
	}
/* Its first number: enough to tell most GUIDs from one quickly. */
#define GUID_FIRST(...)             GUID_FIRST_PART(__VA_ARGS__)
#define GUID_FIRST_PART(first, ...) (first)

static inline bool guid_equal(const struct guid *a, const struct guid *b)
{
	return le64_get(a->b) == le64_get(b->b) && le64_get(a->b + 8) == le64_get(b->b + 8);
}
static inline bool guid_is_zero(const struct guid *a)
{
	return (le64_get(a->b) | le64_get(a->b + 8)) == 0;
}
/* Accepts with and without braces, any case. -EINVAL otherwise. */
int guid_parse(const char *text, struct guid *ret);
/* 36 lower-case characters and NUL, no braces. Returns buf. */
char *guid_format(const struct guid *g, char buf[37]);
/* The TraceLogging/EventSource name hash. `name` is UTF-8. -EINVAL on bad UTF-8 or > 1024 bytes. */
int guid_from_provider_name(const char *name, struct guid *ret);
/* Random version-4 GUID from getrandom(). */
int guid_random(struct guid *ret);

/* ---- utf ----------------------------------------------------------------------------------- */

/* All lengths in units of the encoding, without terminator. Output is always terminated when
 * cap > 0. Returns the units needed (like snprintf), or -EILSEQ. Lone surrogates and invalid
 * bytes are -EILSEQ in the strict form and U+FFFD in the lossy one. */
/* One code point of s[0..n), n > 0: the bytes it takes, or 0 when they are not valid UTF-8. */
size_t utf8_decode(const void *s, size_t n, uint32_t *ret);
/* The bytes of a code point, at most 4; returns how many. */
size_t utf8_encode(uint32_t c, char out[4]);
long utf8_to_utf16(const char *s, size_t n, uint16_t *out, size_t cap);
long utf16_to_utf8(const void *s, size_t n_units, char *out, size_t cap); /* s may be unaligned */
long utf16_to_utf8_lossy(const void *s, size_t n_units, char *out, size_t cap);
size_t utf16_len(const uint16_t *s);
/* ASCII-and-Latin case folding good enough for session names and executable names. */
bool utf16_equal_nocase(const uint16_t *a, const uint16_t *b);
uint16_t *utf16_dup(const uint16_t *s, size_t n_units); /* malloc, terminated; NULL on ENOMEM */

/* ---- sha1 ---------------------------------------------------------------------------------- */

void sha1(const void *data, size_t n, uint8_t ret[20]);

/* ---- strbuf: growable text ----------------------------------------------------------------- */

struct strbuf {
	char *s; /* terminated once anything was added; may be NULL before */
	size_t len;
	size_t cap;
	bool failed; /* an allocation failed; content is a prefix */
};
bool strbuf_room(struct strbuf *b, size_t n); /* for n more bytes and a NUL; else failed */
static inline void strbuf_add(struct strbuf *b, const void *p, size_t n)
{
	if (BASE_LIKELY(b->cap - b->len > n && !b->failed) || strbuf_room(b, n)) {
		if (n != 0) { /* of nothing, p may be NULL, which memcpy may not be given */
			memcpy(b->s + b->len, p, n);
		}
		b->len += n;
		b->s[b->len] = 0;
	}
}
static inline void strbuf_addc(struct strbuf *b, char c)
{
	strbuf_add(b, &c, 1);
}
/* A literal's length is known to the compiler. */
static inline void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}
void strbuf_addf(struct strbuf *b, const char *fmt, ...) BASE_PRINTF(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap) BASE_PRINTF(2, 0);
void strbuf_add_u64(struct strbuf *b, uint64_t v);
/* Quoted and escaped: valid JSON of any bytes, in which only printable characters (base/printable.h) are
 * written as they are. */
void strbuf_add_json(struct strbuf *b, const char *s, size_t n);
void strbuf_clear(struct strbuf *b);  /* keeps memory */
void strbuf_finish(struct strbuf *b); /* frees memory */

/* ---- clock --------------------------------------------------------------------------------- */

enum clock_kind {
	CLOCK_KIND_TSC = 0,    /* x86-64 rdtsc, arm64 CNTVCT_EL0: constant and synchronised */
	CLOCK_KIND_SYSTEM = 2, /* clock_gettime(CLOCK_MONOTONIC), nanoseconds */
};

/* Decided once per process from what the kernel itself trusts (its clocksource); every process
 * of a machine decides alike. */
enum clock_kind clock_kind(void);
/* Ticks per second of clock_now(). First call on a TSC machine may take about 20 ms (calibration),
 * so callers on hot paths take it from where it was published. */
uint64_t clock_frequency(void);

static inline uint64_t clock_read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
#error "only x86-64 and arm64"
#endif
}
uint64_t clock_read_system_ns(void); /* CLOCK_MONOTONIC, vDSO */

static inline uint64_t clock_now_of(enum clock_kind k)
{
	return BASE_LIKELY(k == CLOCK_KIND_TSC) ? clock_read_counter() : clock_read_system_ns();
}
static inline uint64_t clock_now(void)
{
	return clock_now_of(clock_kind());
}

/* 100 ns units since 1601-01-01 UTC. */
uint64_t clock_filetime(void);
/* A raw tick and the FILETIME of the same instant, read as one pair (best of several tries). */
void clock_pair(uint64_t *ret_raw, uint64_t *ret_filetime);
uint64_t clock_boot_filetime(void);
/* The same moment as a raw tick of that clock and as CLOCK_MONOTONIC in nanoseconds. */
void clock_pair_system(enum clock_kind k, uint64_t *ret_raw, uint64_t *ret_ns);
/* a*b/c without overflow (c != 0). */
static inline uint64_t clock_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* ---- memory, fds --------------------------------------------------------------------------- */

static inline void base_close(int *fd);
#include <unistd.h>
static inline void base_close(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
	*fd = -1;
}
/* memfd_create with MFD_CLOEXEC | MFD_ALLOW_SEALING, sized; fd or -errno. */
int base_memfd(const char *name, uint64_t size);
/* All of it, at that place of the file; 0 or -errno. -EIO: the file ends before. */
int base_pread_all(int fd, void *p, size_t n, uint64_t at);
int base_pwrite_all(int fd, const void *p, size_t n, uint64_t at);

#endif
