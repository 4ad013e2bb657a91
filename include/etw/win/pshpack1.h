/* SPDX-License-Identifier: MIT: until the matching <poppack.h>. */
#pragma pack(push, 1)
