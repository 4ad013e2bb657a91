/* SPDX-License-Identifier: MIT */
#include "winsock2.h"
