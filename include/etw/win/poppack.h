/* SPDX-License-Identifier: MIT: ends the latest <pshpackN.h>. */
#pragma pack(pop)
