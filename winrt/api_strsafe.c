/* SPDX-License-Identifier: MIT
 *
 * StringCch…, StringCb…, wsprintf.
 */
#include "winrt/win.h"

#include "win/strsafe.h"

#define LIMIT STRSAFE_MAX_CCH

/* `size` is 1 or 2 bytes a unit; `d + at` receives at most n units of s and a terminator. */
static HRESULT copy(void *d, size_t cch, size_t at, const void *s, size_t n, size_t size)
{
	if (!d || cch == 0 || cch > LIMIT || at >= cch) {
		return STRSAFE_E_INVALID_PARAMETER;
	}
	size_t k = 0;
	while (s && k < n && (size == 2 ? ((const uint16_t *)s)[k] != 0 : ((const char *)s)[k] != 0)) {
		k++;
	}
	bool cut = k >= cch - at;
	if (cut) {
		k = cch - at - 1;
	}
	if (k) {
		memmove((char *)d + at * size, s, k * size);
	}
	memset((char *)d + (at + k) * size, 0, size);
	return cut ? STRSAFE_E_INSUFFICIENT_BUFFER : S_OK;
}

static HRESULT length(const void *s, size_t cch, size_t size, size_t *ret)
{
	size_t k = 0;
	if (ret) {
		*ret = 0;
	}
	if (!s || cch > LIMIT) {
		return STRSAFE_E_INVALID_PARAMETER;
	}
	while (k < cch && (size == 2 ? ((const uint16_t *)s)[k] != 0 : ((const char *)s)[k] != 0)) {
		k++;
	}
	if (k == cch) {
		return STRSAFE_E_INVALID_PARAMETER;
	}
	if (ret) {
		*ret = k;
	}
	return S_OK;
}

static HRESULT print(void *d, size_t cch, size_t size, const void *format, va_list ap, size_t *ret_end)
{
	if (!d || cch == 0 || cch > LIMIT) {
		return STRSAFE_E_INVALID_PARAMETER;
	}
	struct win_sink s = {.wide = size == 2, .buf = d, .cap = cch - 1};
	win_format(&s, format, size == 2, ap);
	size_t end = BASE_MIN(s.count, cch - 1);
	memset((char *)d + end * size, 0, size);
	*ret_end = end;
	return s.count >= cch ? STRSAFE_E_INSUFFICIENT_BUFFER : S_OK;
}

#define PRINT(d, cch, chr)                                        \
	va_list ap;                                               \
	size_t at = 0;                                            \
	va_start(ap, format);                                     \
	HRESULT hr = print(d, cch, sizeof(chr), format, ap, &at); \
	va_end(ap)

#define FAMILY(X, chr)                                                                                                 \
	HRESULT StringCchCopy##X(chr *d, size_t cch, const chr *s)                                                     \
	{                                                                                                              \
		return copy(d, cch, 0, s, LIMIT, sizeof(chr));                                                         \
	}                                                                                                              \
	HRESULT StringCchCopyN##X(chr *d, size_t cch, const chr *s, size_t n)                                          \
	{                                                                                                              \
		return copy(d, cch, 0, s, n, sizeof(chr));                                                             \
	}                                                                                                              \
	HRESULT StringCchCatN##X(chr *d, size_t cch, const chr *s, size_t n)                                           \
	{                                                                                                              \
		size_t at = cch;                                                                                       \
		HRESULT hr = length(d, cch, sizeof(chr), &at);                                                         \
		return FAILED(hr) ? hr : copy(d, cch, at, s, n, sizeof(chr));                                          \
	}                                                                                                              \
	HRESULT StringCchCat##X(chr *d, size_t cch, const chr *s)                                                      \
	{                                                                                                              \
		return StringCchCatN##X(d, cch, s, LIMIT);                                                             \
	}                                                                                                              \
	HRESULT StringCchLength##X(const chr *s, size_t cch, size_t *ret)                                              \
	{                                                                                                              \
		return length(s, cch, sizeof(chr), ret);                                                               \
	}                                                                                                              \
	HRESULT StringCchVPrintf##X(chr *d, size_t cch, const chr *format, va_list ap)                                 \
	{                                                                                                              \
		size_t at = 0;                                                                                         \
		return print(d, cch, sizeof(chr), format, ap, &at);                                                    \
	}                                                                                                              \
	HRESULT StringCchPrintf##X(chr *d, size_t cch, const chr *format, ...)                                         \
	{                                                                                                              \
		PRINT(d, cch, chr);                                                                                    \
		return hr;                                                                                             \
	}                                                                                                              \
	HRESULT StringCchPrintfEx##X(chr *d, size_t cch, chr **end, size_t *left, DWORD flags, const chr *format, ...) \
	{                                                                                                              \
		PRINT(d, cch, chr);                                                                                    \
		if (hr != STRSAFE_E_INVALID_PARAMETER) {                                                               \
			if (end) {                                                                                     \
				*end = d + at;                                                                         \
			}                                                                                              \
			if (left) {                                                                                    \
				*left = cch - at;                                                                      \
			}                                                                                              \
		}                                                                                                      \
		return hr;                                                                                             \
	}                                                                                                              \
	HRESULT StringCbCopy##X(chr *d, size_t cb, const chr *s)                                                       \
	{                                                                                                              \
		return copy(d, cb / sizeof(chr), 0, s, LIMIT, sizeof(chr));                                            \
	}                                                                                                              \
	HRESULT StringCbCat##X(chr *d, size_t cb, const chr *s)                                                        \
	{                                                                                                              \
		return StringCchCatN##X(d, cb / sizeof(chr), s, LIMIT);                                                \
	}                                                                                                              \
	HRESULT StringCbLength##X(const chr *s, size_t cb, size_t *ret)                                                \
	{                                                                                                              \
		size_t n = 0;                                                                                          \
		HRESULT hr = length(s, cb / sizeof(chr), sizeof(chr), &n);                                             \
		if (ret) {                                                                                             \
			*ret = n * sizeof(chr);                                                                        \
		}                                                                                                      \
		return hr;                                                                                             \
	}                                                                                                              \
	HRESULT StringCbVPrintf##X(chr *d, size_t cb, const chr *format, va_list ap)                                   \
	{                                                                                                              \
		size_t at = 0;                                                                                         \
		return print(d, cb / sizeof(chr), sizeof(chr), format, ap, &at);                                       \
	}                                                                                                              \
	HRESULT StringCbPrintf##X(chr *d, size_t cb, const chr *format, ...)                                           \
	{                                                                                                              \
		PRINT(d, cb / sizeof(chr), chr);                                                                       \
		return hr;                                                                                             \
	}                                                                                                              \
	HRESULT StringCbPrintfEx##X(chr *d, size_t cb, chr **end, size_t *left, DWORD flags, const chr *format, ...)   \
	{                                                                                                              \
		PRINT(d, cb / sizeof(chr), chr);                                                                       \
		if (hr != STRSAFE_E_INVALID_PARAMETER) {                                                               \
			if (end) {                                                                                     \
				*end = d + at;                                                                         \
			}                                                                                              \
			if (left) {                                                                                    \
				*left = cb - at * sizeof(chr);                                                         \
			}                                                                                              \
		}                                                                                                      \
		return hr;                                                                                             \
	}

FAMILY(A, CHAR)
FAMILY(W, WCHAR)

int WINAPIV wsprintfW(LPWSTR d, LPCWSTR format, ...)
{
	PRINT(d, 1025, WCHAR);
	return FAILED(hr) && at == 0 ? 0 : (int)at;
}
int WINAPIV wsprintfA(LPSTR d, LPCSTR format, ...)
{
	PRINT(d, 1025, CHAR);
	return FAILED(hr) && at == 0 ? 0 : (int)at;
}
