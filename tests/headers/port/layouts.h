/* A header of the program, for layouts.c. */
#pragma once
#define HEADER_ALIGN __declspec(align(32))
#include <windows.h>

HEADER_ALIGN struct of_header {
	UCHAR a;
};

struct header_bits {
	UCHAR a : 1;
	ULONG b : 1;
};
