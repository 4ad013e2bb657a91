/* SPDX-License-Identifier: MIT
 *
 * For programs compiled with -fshort-wchar: force it in front of every source with -include.
 * libstdc++.so and libc++.so contain std::wstring for 32-bit characters; this keeps the compiler from
 * using those ready-made pieces, so that the program gets its own, made for 16 bits.
 */
#ifdef __clang__
/* <pshpack1.h> is there to change the packing of who includes it. */
#pragma clang diagnostic ignored "-Wpragma-pack"
#endif
#ifdef __cplusplus
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
/* Files by wide names: the members that libstdc++ has for Windows. See <fstream>. */
#define _GLIBCXX_HAVE__WFOPEN 1
#elif __has_include(<__config>) && !defined(ETW_CRT_LIBCXX)
#define ETW_CRT_LIBCXX
/* libc++ writes "extern template class ATTRIBUTE name<wchar_t>;": that says something else now. */
#include <__config>
_LIBCPP_BEGIN_NAMESPACE_STD
template <class> struct etw_none {
};
_LIBCPP_END_NAMESPACE_STD
/* clang's own would call the C library's, of 32 bits. */
namespace etw_wide
{
template <class C> inline _LIBCPP_CONSTEXPR_SINCE_CXX14 decltype(sizeof(0)) length(const C *s)
{
	decltype(sizeof(0)) n = 0;
	while (s[n]) {
		n++;
	}
	return n;
}
template <class C> inline _LIBCPP_CONSTEXPR_SINCE_CXX14 int compare(const C *a, const C *b, decltype(sizeof(0)) n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b) {
			return *a < *b ? -1 : 1;
		}
	}
	return 0;
}
template <class C> inline _LIBCPP_CONSTEXPR_SINCE_CXX14 C *find(C *s, wchar_t c, decltype(sizeof(0)) n)
{
	for (; n; n--, s++) {
		if (*s == c) {
			return s;
		}
	}
	return nullptr;
}
} // namespace etw_wide
#define __builtin_wcslen(...)  etw_wide::length(__VA_ARGS__)
#define __builtin_wmemcmp(...) etw_wide::compare(__VA_ARGS__)
#define __builtin_wmemchr(...) etw_wide::find(__VA_ARGS__)
#undef _LIBCPP_EXTERN_TEMPLATE_TYPE_VIS
#define _LIBCPP_EXTERN_TEMPLATE_TYPE_VIS etw_none<int>;
#endif
#endif
