/* SPDX-License-Identifier: MIT
 *
 * Wide streams of 16 bits on libstdc++. The library's own facets for wchar_t were compiled for 32 bits;
 * the ones here take their place in the global locale before anything of the program runs. Files and
 * the console carry UTF-8. Read by <ios>, for programs compiled with -fshort-wchar only.
 */
#ifndef ETW_CRT_ETW_WIDE_LOCALE_H
#define ETW_CRT_ETW_WIDE_LOCALE_H
#pragma GCC system_header
#ifdef __cplusplus

#include <ios>

#ifdef _LIBCPP_VERSION
#include <locale>
#else
#include <bits/codecvt.h>
#include <bits/locale_facets_nonio.h>
#endif
#include <string>
#include <time.h>
#include <wctype.h>

namespace etw_wide
{

/* A definition below is made in every program that reads this, never found in libstdc++. */
class ctype16 : public std::ctype<wchar_t>
{
      public:
	explicit ctype16(size_t refs = 0) : std::ctype<wchar_t>(refs)
	{
	}

      protected:
	static bool is_one(mask m, wchar_t c)
	{
		return ((m & space) && iswspace(c)) || ((m & print) && iswprint(c)) || ((m & cntrl) && iswcntrl(c)) ||
		       ((m & upper) && iswupper(c)) || ((m & lower) && iswlower(c)) || ((m & alpha) && iswalpha(c)) ||
		       ((m & digit) && iswdigit(c)) || ((m & punct) && iswpunct(c)) || ((m & xdigit) && iswxdigit(c)) ||
		       ((m & blank) && (c == ' ' || c == '\t'));
	}
	virtual bool do_is(mask m, wchar_t c) const override
	{
		return is_one(m, c);
	}
	virtual const wchar_t *do_is(const wchar_t *lo, const wchar_t *hi, mask *v) const override
	{
		static const mask bits[] = {space, print, cntrl, upper, lower, alpha, digit, punct, xdigit, blank};
		for (; lo < hi; lo++, v++) {
			*v = 0;
			for (mask m : bits) {
				*v |= is_one(m, *lo) ? m : 0;
			}
		}
		return hi;
	}
	virtual const wchar_t *do_scan_is(mask m, const wchar_t *lo, const wchar_t *hi) const override
	{
		while (lo < hi && !is_one(m, *lo)) {
			lo++;
		}
		return lo;
	}
	virtual const wchar_t *do_scan_not(mask m, const wchar_t *lo, const wchar_t *hi) const override
	{
		while (lo < hi && is_one(m, *lo)) {
			lo++;
		}
		return lo;
	}
	virtual wchar_t do_toupper(wchar_t c) const override
	{
		return (wchar_t)towupper(c);
	}
	virtual const wchar_t *do_toupper(wchar_t *lo, const wchar_t *hi) const override
	{
		for (; lo < hi; lo++) {
			*lo = (wchar_t)towupper(*lo);
		}
		return hi;
	}
	virtual wchar_t do_tolower(wchar_t c) const override
	{
		return (wchar_t)towlower(c);
	}
	virtual const wchar_t *do_tolower(wchar_t *lo, const wchar_t *hi) const override
	{
		for (; lo < hi; lo++) {
			*lo = (wchar_t)towlower(*lo);
		}
		return hi;
	}
	virtual wchar_t do_widen(char c) const override
	{
		return (wchar_t)(unsigned char)c;
	}
	virtual const char *do_widen(const char *lo, const char *hi, wchar_t *to) const override
	{
		for (; lo < hi; lo++) {
			*to++ = (wchar_t)(unsigned char)*lo;
		}
		return hi;
	}
	virtual char do_narrow(wchar_t c, char otherwise) const override
	{
		return c < 128 ? (char)c : otherwise;
	}
	virtual const wchar_t *do_narrow(const wchar_t *lo, const wchar_t *hi, char otherwise, char *to) const override
	{
		for (; lo < hi; lo++) {
			*to++ = *lo < 128 ? (char)*lo : otherwise;
		}
		return hi;
	}
};

class numpunct16 : public std::numpunct<wchar_t>
{
      public:
	explicit numpunct16(size_t refs = 0) : std::numpunct<wchar_t>(refs)
	{
	}

      protected:
	virtual wchar_t do_decimal_point() const override
	{
		return L'.';
	}
	virtual wchar_t do_thousands_sep() const override
	{
		return L',';
	}
	virtual std::string do_grouping() const override
	{
		return std::string();
	}
	virtual std::wstring do_truename() const override
	{
		return std::wstring(L"true");
	}
	virtual std::wstring do_falsename() const override
	{
		return std::wstring(L"false");
	}
};

/* Deriving is what makes the compiler write these two out for 16 bits. */
class num_put16 : public std::num_put<wchar_t>
{
      public:
	explicit num_put16(size_t refs = 0) : std::num_put<wchar_t>(refs)
	{
	}
};
class num_get16 : public std::num_get<wchar_t>
{
      public:
	explicit num_get16(size_t refs = 0) : std::num_get<wchar_t>(refs)
	{
	}
};

/* UTF-16 in the program, UTF-8 outside. What is wrong on one side becomes U+FFFD on the other. */
class codecvt16 : public std::codecvt<wchar_t, char, mbstate_t>
{
      public:
	explicit codecvt16(size_t refs = 0) : std::codecvt<wchar_t, char, mbstate_t>(refs)
	{
	}

	/* Bytes of `cp` into `to` (4 are enough). */
	static int encode(unsigned cp, char *to)
	{
		if (cp < 0x80) {
			to[0] = (char)cp;
			return 1;
		}
		int n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
		for (int i = n - 1; i > 0; i--, cp >>= 6) {
			to[i] = (char)(0x80 | (cp & 0x3F));
		}
		to[0] = (char)((0xF00 >> n & 0xFF) | cp);
		return n;
	}
	/* Length of the character at `p` and its value; 0 when it goes on after `end`. */
	static int decode(const char *p, const char *end, unsigned *cp)
	{
		unsigned char c = (unsigned char)*p;
		int n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
		*cp = n == 1 ? c : 0xFFFD;
		if (n < 2) {
			return 1;
		}
		unsigned v = c & (0x7F >> n);
		for (int i = 1; i < n; i++) {
			if (p + i == end) {
				return 0;
			}
			if (((unsigned char)p[i] & 0xC0) != 0x80) {
				return i;
			}
			v = v << 6 | ((unsigned char)p[i] & 0x3F);
		}
		bool good = v >= (n == 4   ? 0x10000u
				  : n == 3 ? 0x800u
					   : 0x80u) &&
			    v < 0x110000 && (v & ~0x7FFu) != 0xD800;
		*cp = good ? v : 0xFFFD;
		return n;
	}

      protected:
	virtual result do_out(mbstate_t &, const wchar_t *from, const wchar_t *end, const wchar_t *&from_next, char *to,
			      char *to_end, char *&to_next) const override
	{
		result r = ok;
		while (from < end) {
			unsigned cp = *from;
			int units = 1;
			if ((cp & 0xFC00) == 0xD800) {
				if (from + 1 == end) {
					r = partial;
					break;
				}
				if ((from[1] & 0xFC00) == 0xDC00) {
					cp = 0x10000 + ((cp & 0x3FF) << 10) + (from[1] & 0x3FFu);
					units = 2;
				}
			}
			char bytes[4];
			int n = encode((cp & ~0x7FFu) == 0xD800 ? 0xFFFD : cp, bytes);
			if (to_end - to < n) {
				r = partial;
				break;
			}
			for (int i = 0; i < n; i++) {
				*to++ = bytes[i];
			}
			from += units;
		}
		from_next = from;
		to_next = to;
		return r;
	}
	virtual result do_in(mbstate_t &, const char *from, const char *end, const char *&from_next, wchar_t *to,
			     wchar_t *to_end, wchar_t *&to_next) const override
	{
		result r = ok;
		while (from < end) {
			unsigned cp;
			int n = decode(from, end, &cp);
			if (n == 0 || to_end - to < (cp >= 0x10000 ? 2 : 1)) {
				r = partial;
				break;
			}
			if (cp >= 0x10000) {
				*to++ = (wchar_t)(0xD7C0 + (cp >> 10));
				cp = 0xDC00 | (cp & 0x3FF);
			}
			*to++ = (wchar_t)cp;
			from += n;
		}
		from_next = from;
		to_next = to;
		return r;
	}
	virtual result do_unshift(mbstate_t &, char *to, char *, char *&to_next) const override
	{
		to_next = to;
		return noconv;
	}
	virtual int do_encoding() const noexcept override
	{
		return 0;
	}
	virtual bool do_always_noconv() const noexcept override
	{
		return false;
	}
	virtual int do_length(mbstate_t &, const char *from, const char *end, size_t max) const override
	{
		const char *p = from;
		unsigned cp;
		for (int n; p < end && (n = decode(p, end, &cp)) > 0; p += n) {
			size_t units = cp >= 0x10000 ? 2 : 1;
			if (units > max) {
				break;
			}
			max -= units;
		}
		return (int)(p - from);
	}
	virtual int do_max_length() const noexcept override
	{
		return 4;
	}
};

/* By the numbers of the units. */
class collate16 : public std::collate<wchar_t>
{
      public:
	explicit collate16(size_t refs = 0) : std::collate<wchar_t>(refs)
	{
	}

      protected:
	virtual int do_compare(const wchar_t *a, const wchar_t *a_end, const wchar_t *b,
			       const wchar_t *b_end) const override
	{
		for (; a < a_end && b < b_end; a++, b++) {
			if (*a != *b) {
				return *a < *b ? -1 : 1;
			}
		}
		return a < a_end ? 1 : b < b_end ? -1 : 0;
	}
	virtual std::wstring do_transform(const wchar_t *lo, const wchar_t *hi) const override
	{
		return std::wstring(lo, hi);
	}
	virtual long do_hash(const wchar_t *lo, const wchar_t *hi) const override
	{
		unsigned long h = 0;
		for (; lo < hi; lo++) {
			h = *lo + (h << 7 | h >> (8 * sizeof h - 7));
		}
		return (long)h;
	}
};

/* Dates as the C runtime writes them. */
class time_put16 : public std::time_put<wchar_t>
{
      public:
	explicit time_put16(size_t refs = 0) : std::time_put<wchar_t>(refs)
	{
	}

      protected:
	virtual iter_type do_put(iter_type to, std::ios_base &, wchar_t, const tm *t, char format,
				 char modifier) const override
	{
		char text[256], how[4] = {'%', format, 0, 0};
		if (modifier) {
			how[1] = modifier;
			how[2] = format;
		}
		size_t n = strftime(text, sizeof text, how, t);
		for (size_t i = 0; i < n; i++) {
			*to++ = (wchar_t)(unsigned char)text[i];
		}
		return to;
	}
};

inline std::locale add_facets(const std::locale &to)
{
	std::locale l(to, new ctype16);
	l = std::locale(l, new numpunct16);
	l = std::locale(l, new num_put16);
	l = std::locale(l, new num_get16);
	l = std::locale(l, new codecvt16);
	l = std::locale(l, new time_put16);
	return std::locale(l, new collate16);
}

/* Before the objects of every file that has this header. */
struct install {
	install()
	{
		static const bool once = (std::locale::global(add_facets(std::locale())), true);
		(void)once;
	}
};
static const install installed;
} // namespace etw_wide
#endif
#endif
