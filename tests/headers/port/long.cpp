/* SPDX-License-Identifier: MIT
 *
 * Where long is 32 bits: overloads, templates and literals as Windows' compiler has them.
 */
#include <windows.h>

#include <string>
#include <vector>

template <class T> struct name_of;
template <> struct name_of<int> {
	static const int value = 1;
};
template <> struct name_of<unsigned long> {
	static const int value = 2;
};
template <> struct name_of<long long> {
	static const int value = 3;
};
template <> struct name_of<unsigned long long> {
	static const int value = 4;
};
template <class T> static int name(T)
{
	return name_of<T>::value;
}

static_assert(sizeof(long) == 4 && sizeof(unsigned long int) == 4 && sizeof(long signed) == 4, "");
static_assert(sizeof(long long) == 8 && sizeof(long double) == 16, "");
static_assert(sizeof(1L) == 4 && sizeof(0xFFFFFFFFUL) == 4 && sizeof(0x100000000L) == 8, "");
static const char *raw = R"x(unsigned long "in" text 5L)x";

int main()
{
	std::vector<long> v(3, 7L);
	std::wstring s(L"a long 5L");
	bool good = name(0x1234567812345678) == 3 && name(0xFFFFFFFFFFFFFFFF) == 4 && name((DWORD)1) == 2 &&
		    name(1L) == 1 && v[2] * 1'000L == 7000 && sizeof v[0] == 4;
	good = good && s.size() == 9 && std::string(raw).find("unsigned long") == 0;
	good = good && ULONG_MAX == (ULONG)-1 && LONG_MAX == 0x7FFFFFFF && 1e+2L == 100;
	return !good;
}
