/* SPDX-License-Identifier: MIT
 *
 * Message tables: u32 blocks; { u32 low, u32 high, u32 offset }; entries { u16 length, u16 flags
 * (1: UTF-16), text }. A block is a chain: its entries are walked, within the budget of steps.
 */
#include "manifest/manifest_messages.h"

static bool message_in(struct manifest_messages *m, const uint8_t *p, size_t n, uint32_t id)
{
	uint32_t blocks = n >= 4 ? le32_get(p) : 0;
	if (blocks > (n - BASE_MIN(n, (size_t)4)) / 12) {
		return false;
	}
	for (uint32_t i = 0; i < blocks; i++) {
		const uint8_t *b = p + 4 + 12 * (size_t)i;
		uint32_t low = le32_get(b), high = le32_get(b + 4);
		if (id < low || id > high) {
			continue;
		}
		size_t at = le32_get(b + 8);
		for (uint32_t k = low;; k++) {
			if (at > n || n - at < 4 || m->steps == 0) {
				return false;
			}
			m->steps--;
			size_t length = le16_get(p + at);
			if (length < 4 || n - at < length) {
				return false;
			}
			if (k < id) {
				at += length;
				continue;
			}
			const uint8_t *s = p + at + 4;
			size_t bytes = length - 4;
			strbuf_clear(&m->text);
			if (le16_get(p + at + 2) & 1) {
				size_t units = 0;
				while (units < bytes / 2 && le16_get(s + 2 * units)) {
					units++;
				}
				char *out = NULL;
				long need = utf16_to_utf8_lossy(s, units, NULL, 0);
				for (long z = 0; z <= need; z++) {
					strbuf_addc(&m->text, 0);
				}
				out = m->text.failed ? NULL : m->text.s;
				if (out) {
					utf16_to_utf8_lossy(s, units, out, (size_t)need + 1);
				}
			} else {
				const uint8_t *nul = memchr(s, 0, bytes);
				strbuf_add(&m->text, s, nul ? (size_t)(nul - s) : bytes);
			}
			return !m->text.failed && m->text.s;
		}
	}
	return false;
}

const char *manifest_messages_find(void *ctx, uint32_t id)
{
	struct manifest_messages *m = ctx;
	for (unsigned i = 0; i < m->count; i++) {
		if (message_in(m, m->tables[i], m->bytes[i], id)) {
			return m->text.s;
		}
	}
	return NULL;
}
