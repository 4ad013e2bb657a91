/* SPDX-License-Identifier: MIT
 *
 * The wide half of the C++ library with 16 bits: what is written is compared with wide.expected.
 */
#include <windows.h>

#include <fstream>
#if __cplusplus >= 201703L
#include <filesystem>
#endif
#include <iomanip>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdio.h>
#include <string>

static void files()
{
	{
		std::wofstream f("wide.txt");
		f << L"Zeile \x20ac \xD83D\xDE00\n" << 7 << std::endl;
	}
	std::wifstream f("wide.txt");
	std::wstring line;
	int n = 0;
	std::getline(f, line);
	f >> n;
	std::wcout << line << L' ' << line.size() << L' ' << n << L"\n";
	std::ifstream bytes("wide.txt");
	std::string narrow;
	std::getline(bytes, narrow);
	std::cout << narrow.size() << " bytes\n";
}

static void strings()
{
	std::wstringstream s;
	std::wstring word;
	int n = 0;
	double d = 0;
	s << L"word " << 12 << L" " << 2.25 << L" " << std::boolalpha << true;
	s >> word >> n >> d;
	std::wcout << word << n << d << std::endl;
	std::wcout << std::to_wstring(-5) << L' ' << std::stoi(std::wstring(L"17")) << L' ' << std::to_wstring(1.5)
		   << std::endl;
	std::wsmatch m;
	std::wstring text(L"abc-123");
	bool fits = std::regex_match(text, m, std::wregex(L"(\\w+)-(\\d+)"));
	std::wcout << fits << L' ' << m[2].str() << std::endl;
	wchar_t line[8];
	std::wistringstream in(L"ab\ncdefghijk");
	in.getline(line, 8);
	std::wcout << line << in.gcount();
	in.ignore(3).getline(line, 4);
	std::wcout << line << in.fail() << std::endl;
}

/* A path is narrow here, and takes and gives wide strings. */
static void paths()
{
#if __cplusplus >= 201703L
	std::filesystem::path p(L"z\x00e4hler-\xD83D\xDE00");
	p /= std::wstring(L"one.txt");
	if (p.string() != "z\303\244hler-\360\237\230\200/one.txt" ||
	    p.parent_path().wstring() != L"z\x00e4hler-\xD83D\xDE00" || p.filename() != L"one.txt" ||
	    p.extension().wstring() != L".txt") {
		std::wcout << L"not this path: " << p.wstring() << std::endl;
	}
#endif
}

int main()
{
	paths();
	std::wcout << L"h\x00e9llo \x20ac \xD83D\xDE00 " << 42 << L' ' << 1.5 << L' ' << std::hex << std::setw(8)
		   << std::setfill(L'0') << 255 << std::dec << " narrow " << std::boolalpha << true << std::noboolalpha
		   << std::endl;
	printf("%s %lu %I64u\n", "printf", (ULONG)1, 2ull);
	wprintf(L"%s %hs %c\n", L"wprintf", "narrow", L'\x00fc');
	std::cout << "cout\n";
	std::wcerr << L"wcerr\n";
	files();
	strings();
	std::wcout.imbue(std::locale(""));
	std::wstring line;
	while (std::getline(std::wcin, line)) {
		std::wcout << L'[' << line << L"] " << line.size() << L' ' << 1234567 << std::endl;
	}
	return 0;
}
