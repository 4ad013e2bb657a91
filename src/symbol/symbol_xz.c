/* SPDX-License-Identifier: MIT
 *
 * .gnu_debugdata: the symbol table of a stripped file, as an ELF file of its own, compressed.
 */
#include "symbol/symbol_private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#define UNPACKED_MAX (64u << 20)
#define MEMORY_MAX   (128ull << 20) /* of the decoder */
#define XZ_BUF_ERROR 10

/* lzma_stream_buffer_decode, with its types spelled out. */
typedef int decode_fn(uint64_t *memory, uint32_t flags, const void *allocator, const uint8_t *in, size_t *in_at,
		      size_t in_size, uint8_t *out, size_t *out_at, size_t out_size);

static decode_fn *decode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Not linked: this library depends on libc alone. */
static void look_for_it(void)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	decode = (decode_fn *)(uintptr_t)(library ? dlsym(library, "lzma_stream_buffer_decode") : NULL);
}

uint8_t *symbol_unxz(const uint8_t *p, size_t n, size_t *ret_n)
{
	pthread_once(&once, look_for_it);
	size_t cap = BASE_MAX(16 * n, (size_t)65536);
	while (decode && cap <= UNPACKED_MAX) {
		uint64_t memory = MEMORY_MAX;
		size_t in_at = 0, out_at = 0;
		uint8_t *out = malloc(cap);
		int code = out ? decode(&memory, 0, NULL, p, &in_at, n, out, &out_at, cap) : -1;
		if (code == 0) {
			*ret_n = out_at;
			return out;
		}
		free(out);
		if (code != XZ_BUF_ERROR) {
			return NULL;
		}
		cap *= 4;
	}
	return NULL;
}
