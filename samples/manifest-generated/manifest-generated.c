/* SPDX-License-Identifier: MIT
 *
 * A provider whose code is generated: kitchen.h is made from kitchen.man by "openetw mc".
 *
 *   manifest-generated [rounds, default 3]
 *
 * Record it:  openetw run -p OpenETW-Sample-Kitchen -o kitchen.etl -- ./manifest-generated
 * (or by {f3c1a5a0-6a0e-4b2c-9d0b-2f6f4a7c1e11}), decode with --manifest kitchen.man.
 */
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kitchen.h"

static void Serve(UINT32 number)
{
	static const WCHAR guest[] = {'A', 'd', 'a', 0};
	static const unsigned char bytes[] = {0xCA, 0xFE};
	static const signed short degrees[] = {90, -90};
	static const unsigned char shelves[3] = {1, 2, 3};
	/* Structs are passed as their bytes, without padding. */
	unsigned char plate[6];
	UINT16 width = 24;
	INT32 temperature = -3;

	EventWriteOrderTaken(number, guest, KITCHEN_DISH_PIE, KITCHEN_EXTRA_SALT | KITCHEN_EXTRA_PEPPER);
	EventWriteNoteAdded("no onions", sizeof(bytes), bytes, 4, "warm");

	/* Work that only tracing needs is done only when somebody listens. */
	if (EventEnabledPieTurned()) {
		EventWritePieTurned_AssumeEnabled(2, degrees, shelves, TRUE, &KITCHEN, 1.5);
	}
	memcpy(plate, &width, sizeof(width));
	memcpy(plate + sizeof(width), &temperature, sizeof(temperature));
	EventWriteServed(number, sizeof(plate), plate);
}

int main(int argc, char **argv)
{
	UINT32 rounds = argc > 1 ? (UINT32)strtoul(argv[1], NULL, 10) : 3, i;
	ULONG status = EventRegisterOpenETW_Sample_Kitchen();

	if (status != ERROR_SUCCESS) {
		printf("EventRegister failed with %u\n", (unsigned)status);
		return 1;
	}
	for (i = 1; i <= rounds; i++) {
		Serve(i);
	}
	EventWriteKitchenCloses();
	EventUnregisterOpenETW_Sample_Kitchen();
	return 0;
}
