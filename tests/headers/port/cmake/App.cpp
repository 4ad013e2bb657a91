/* SPDX-License-Identifier: MIT */
#include <Windows.H>
#include <EvntProv.h>
#include <iostream>
#include <string>
#include "App.h"
#if _MSC_VER < 1900 || !defined(_WIN32)
#error "OpenETW::msvc defines them"
#endif
extern "C" int part(void);

int wmain(int argc, wchar_t **argv)
{
	std::wstring text(L"sixteen");
	text += L" bits";
	EventRegisterOpenETW_Test_App();
	EventWriteSaid(text.c_str());
	EventUnregisterOpenETW_Test_App();
	std::wcout << text << std::endl;
	return argc - 1 + (argv[0] == nullptr) + part();
}
