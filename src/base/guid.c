/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <stdio.h>
#include <sys/random.h>

const struct guid GUID_ZERO;

/* Text position of each byte pair, in memory order. */
static const uint8_t text_order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int guid_parse(const char *text, struct guid *ret)
{
	struct guid g;
	bool brace = *text == '{';
	const char *s = text + brace;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) {
			if (*s++ != '-') {
				return -EINVAL;
			}
		}
		int hi = hex_digit(s[0]);
		int lo = hi < 0 ? -1 : hex_digit(s[1]);
		if (lo < 0) {
			return -EINVAL;
		}
		g.b[text_order[i]] = (uint8_t)(hi << 4 | lo);
		s += 2;
	}
	if (brace && *s++ != '}') {
		return -EINVAL;
	}
	if (*s) {
		return -EINVAL;
	}
	*ret = g;
	return 0;
}

char *guid_format(const struct guid *g, char buf[37])
{
	static const char digits[] = "0123456789abcdef";
	char *s = buf;
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) {
			*s++ = '-';
		}
		uint8_t v = g->b[text_order[i]];
		*s++ = digits[v >> 4];
		*s++ = digits[v & 15];
	}
	*s = 0;
	return buf;
}

int guid_from_provider_name(const char *name, struct guid *ret)
{
	static const uint8_t name_space[16] = {0x48, 0x2C, 0x2D, 0xB2, 0xC3, 0x90, 0x47, 0xC8,
					       0x87, 0xF8, 0x1A, 0x15, 0xBF, 0xC1, 0x30, 0xFB};
	uint16_t wide[1025];
	uint8_t data[16 + 2 * 1024];
	size_t n = strnlen(name, 1025);
	long units = n > 1024 ? -EINVAL : utf8_to_utf16(name, n, wide, BASE_ARRAY_LEN(wide));
	if (units < 0) {
		return -EINVAL;
	}
	memcpy(data, name_space, 16);
	for (long i = 0; i < units; i++) {
		/* Upper-casing beyond ASCII differs between Windows' own implementations; provider
		 * names are ASCII in practice. */
		uint16_t c = wide[i] >= 'a' && wide[i] <= 'z' ? wide[i] - 32 : wide[i];
		data[16 + 2 * i] = (uint8_t)(c >> 8);
		data[17 + 2 * i] = (uint8_t)c;
	}
	uint8_t digest[20];
	sha1(data, 16 + 2 * (size_t)units, digest);
	memcpy(ret->b, digest, 16);
	ret->b[7] = (uint8_t)((ret->b[7] & 0x0F) | 0x50);
	return 0;
}

int guid_random(struct guid *ret)
{
	if (getrandom(ret->b, 16, 0) != 16) {
		return -errno;
	}
	ret->b[7] = (uint8_t)((ret->b[7] & 0x0F) | 0x40);
	ret->b[8] = (uint8_t)((ret->b[8] & 0x3F) | 0x80);
	return 0;
}
