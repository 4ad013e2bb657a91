/* SPDX-License-Identifier: MIT */
#include "tools/scrub/scrub.h"

#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

#define WORD_MAX  512u /* characters of a word that are told apart; what follows is a word of its own */
#define TRIES_MAX 64u

/* Words that are the same on every machine. In lower case, and in their order. */
static const char *const common[] = {
	"a",        "bat",     "bin",         "boot",     "c",          "cmd",      "com",      "conf",      "config",
	"data",     "dev",     "device",      "dll",      "dos",        "drivers",  "etc",      "etl",       "etw",
	"exe",      "files",   "home",        "html",     "http",       "https",    "ini",      "json",      "kernel",
	"kernel32", "lib",     "lib32",       "lib64",    "libc",       "linux",    "local",    "localhost", "log",
	"logs",     "man",     "microsoft",   "mui",      "net",        "ntdll",    "ntoskrnl", "opt",       "pdb",
	"proc",     "program", "programdata", "root",     "run",        "s",        "sbin",     "share",     "so",
	"srv",      "sys",     "system",      "system32", "systemroot", "syswow64", "temp",     "tmp",       "txt",
	"users",    "usr",     "var",         "windows",  "winsxs",     "x64",      "x86",      "x86_64",    "xml",
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

static bool is_common(const char *word)
{
	return bsearch(word, common, BASE_ARRAY_LEN(common), sizeof common[0], compare) != NULL;
}

bool scrub_names_init(struct scrub_names *n, const char *key)
{
	if (key) {
		sha1(key, strlen(key), n->secret);
		return true;
	}
	return getrandom(n->secret, sizeof n->secret, 0) == (ssize_t)sizeof n->secret;
}

void scrub_names_finish(struct scrub_names *n)
{
	intern_free(&n->words);
	intern_free(&n->issued);
	free(n->salt);
	memset(n->secret, 0, sizeof n->secret);
}

/* Bytes that follow from the secret and these, as many as are asked for. */
static void stream(const struct scrub_names *n, const char *what, uint32_t salt, const void *p, size_t bytes,
		   uint8_t *out, size_t out_bytes)
{
	uint8_t digest[20];
	for (uint32_t block = 0; out_bytes > 0; block++) {
		struct strbuf b = {0};
		strbuf_add(&b, n->secret, sizeof n->secret);
		strbuf_adds(&b, what);
		strbuf_addc(&b, 0);
		strbuf_add(&b, &salt, sizeof salt);
		strbuf_add(&b, &block, sizeof block);
		strbuf_add(&b, p, bytes);
		/* Of what fits when memory runs out: never the text itself. */
		sha1(b.failed ? (const char *)n->secret : b.s, b.failed ? sizeof n->secret : b.len, digest);
		strbuf_finish(&b);
		size_t take = BASE_MIN(out_bytes, sizeof digest);
		memcpy(out, digest, take);
		out += take;
		out_bytes -= take;
	}
}

void scrub_bytes(const struct scrub_names *n, const char *what, const uint8_t *p, size_t bytes, uint8_t *ret,
		 size_t ret_bytes)
{
	stream(n, what, 0, p, bytes, ret, ret_bytes);
}

static char other(char c, uint8_t random)
{
	return c >= '0' && c <= '9' ? (char)('0' + random % 10) : c == '_' ? '_' : (char)('a' + random % 26);
}

/* The shape of a word: lower-case letters, digits, underscores; all else counts as a letter. `word` is its key. */
static void pseudonym(struct scrub_names *n, const char *word, size_t word_bytes, const char *shape, size_t length,
		      char out[WORD_MAX + 1])
{
	uint8_t random[WORD_MAX];
	bool is_new;
	uint32_t i = intern_text(&n->words, word, word_bytes, &is_new);
	uint32_t first = i != INTERN_NONE && !is_new ? n->salt[i] : 0;
	if (i != INTERN_NONE && is_new) {
		if (!VEC_ROOM(n->salt, n->salts, n->salt_cap)) {
			n->failed = true;
			i = INTERN_NONE;
		} else {
			n->salt[n->salts++] = 0;
		}
	}
	n->failed = n->failed || n->words.failed || n->issued.failed;
	if (i == INTERN_NONE || n->failed) {
		memset(out, 'x', length);
		out[length] = 0;
		return;
	}
	for (uint32_t salt = first;; salt++) {
		bool unused;
		stream(n, "word", salt, word, word_bytes, random, length);
		for (size_t k = 0; k < length; k++) {
			out[k] = other(shape[k], random[k]);
		}
		out[length] = 0;
		if (is_common(out) && salt < first + TRIES_MAX) {
			continue; /* it would look as if it had been kept */
		}
		intern_text(&n->issued, out, length, &unused);
		if (!is_new || unused || salt == TRIES_MAX) {
			n->shared += is_new && !unused;
			n->salt[i] = salt;
			return;
		}
	}
}

static bool in_word(uint32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* ---- texts of both widths ---------------------------------------------------------------------- */

struct text {
	uint8_t *p;
	size_t units;
	bool wide;
};

static uint32_t unit(const struct text *t, size_t i)
{
	return t->wide ? le16_get(t->p + 2 * i) : t->p[i];
}

static void set_unit(const struct text *t, size_t i, char c)
{
	if (t->wide) {
		le16_put(t->p + 2 * i, (uint16_t)(uint8_t)c);
	} else {
		t->p[i] = (uint8_t)c;
	}
}

/* The next word from *inout on: its first unit, and how many. Its key in UTF-8 and lower case, and its shape. */
static bool next_word(const struct text *t, size_t *inout, size_t *ret_length, char shape[WORD_MAX + 1],
		      char key[4 * WORD_MAX + 1], size_t *ret_key)
{
	size_t i = *inout, n = 0;
	while (i < t->units && !in_word(unit(t, i))) {
		i++;
	}
	*inout = i;
	for (; i + n < t->units && n < WORD_MAX && in_word(unit(t, i + n)); n++) {
		uint32_t c = unit(t, i + n);
		shape[n] = c < 0x80 ? (char)tolower((int)c) : 'x';
	}
	shape[n] = 0;
	if (t->wide) {
		int length = utf16_to_utf8_lossy(t->p + 2 * i, n, key, 4 * WORD_MAX + 1);
		*ret_key = length < 0 ? 0 : strlen(key);
	} else {
		memcpy(key, t->p + i, n);
		*ret_key = n;
	}
	for (size_t k = 0; k < *ret_key; k++) {
		key[k] = (uint8_t)key[k] < 0x80 ? (char)tolower((uint8_t)key[k]) : key[k];
	}
	*ret_length = n;
	return n > 0;
}

static void change(struct scrub_names *n, const struct text *t)
{
	char shape[WORD_MAX + 1], key[4 * WORD_MAX + 1], out[WORD_MAX + 1];
	size_t length, key_bytes;
	for (size_t i = 0; next_word(t, &i, &length, shape, key, &key_bytes); i += length) {
		if (is_common(shape)) {
			continue;
		}
		pseudonym(n, key, key_bytes, shape, length, out);
		for (size_t k = 0; k < length; k++) {
			uint32_t c = unit(t, i + k);
			set_unit(t, i + k, c >= 'A' && c <= 'Z' ? (char)toupper((uint8_t)out[k]) : out[k]);
		}
	}
}

static bool is_clean(const struct scrub_names *n, const struct text *t)
{
	char shape[WORD_MAX + 1], key[4 * WORD_MAX + 1];
	size_t length, key_bytes;
	for (size_t i = 0; next_word(t, &i, &length, shape, key, &key_bytes); i += length) {
		if (!is_common(shape) && strspn(shape, "x") != length &&
		    (key_bytes != length || memcmp(key, shape, length) != 0 ||
		     !intern_has(&n->issued, shape, length))) {
			return false;
		}
	}
	return true;
}

void scrub_text16(struct scrub_names *n, uint8_t *p, size_t units)
{
	change(n, &(struct text){p, units, true});
}

void scrub_text8(struct scrub_names *n, uint8_t *p, size_t bytes)
{
	change(n, &(struct text){p, bytes, false});
}

bool scrub_is_clean16(const struct scrub_names *n, const uint8_t *p, size_t units)
{
	return is_clean(n, &(struct text){(uint8_t *)(uintptr_t)p, units, true});
}

bool scrub_is_clean8(const struct scrub_names *n, const uint8_t *p, size_t bytes)
{
	return is_clean(n, &(struct text){(uint8_t *)(uintptr_t)p, bytes, false});
}
