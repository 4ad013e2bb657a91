/* SPDX-License-Identifier: MIT */
#define INNER 2
#include "..\inner\..\Inner\DEEP.HPP"
