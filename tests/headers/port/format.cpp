/* SPDX-License-Identifier: MIT
 *
 * <format> with characters of 16 bits, narrow and wide.
 */
#include <windows.h>

#include <format>
#include <iostream>
#include <string>

static int failed;
static void check(const std::wstring &got, const std::wstring &expected)
{
	if (got != expected) {
		failed++;
		std::wcout << got << L" is not " << expected << std::endl;
	}
}

struct point {
	int x, y;
};
template <class C> struct std::formatter<point, C> : std::formatter<int, C> {
	template <class Context> auto format(const point &p, Context &c) const
	{
		auto at = std::formatter<int, C>::format(p.x, c);
		*at++ = C(';');
		c.advance_to(at);
		return std::formatter<int, C>::format(p.y, c);
	}
};

int main()
{
	std::string narrow = std::format("{} {:#x} {:>5}|{:.2f}", 1, 255, "ab", 1.5);
	check(std::wstring(narrow.begin(), narrow.end()), L"1 0xff    ab|1.50");
	check(std::format(L"{} {:#x} {:>5}|{:.2f} {}", 1, 255, L"ab", 1.5, true), L"1 0xff    ab|1.50 true");
	check(std::format(L"{0}{1}{0} {2:*^9}", L"z\x00e4", L'\x20ac', std::wstring(L"mid")),
	      L"z\x00e4\x20acz\x00e4 ***mid***");
	check(std::format(L"{:L} {:e} {:p}", 1234567, 0.5, nullptr), L"1234567 5.000000e-01 0x0");
	check(std::format(L"{:03}", point{4, -5}), L"004;-05");
	wchar_t buffer[8] = {};
	std::format_to_n(buffer, 4, L"{}", 123456);
	check(buffer, L"1234");
	check(std::to_wstring(-17) + std::to_wstring(std::stoi(std::wstring(L"0x1f"), nullptr, 16)), L"-1731");
	return failed;
}
