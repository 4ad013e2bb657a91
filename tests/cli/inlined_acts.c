/* SPDX-License-Identifier: MIT
 * Writes an event from below two functions that the compiler puts into a third.
 */
#include <windows.h>
#include <evntprov.h>
#include <unistd.h>

static const GUID provider = {0x5c5f5a11, 0x1f6b, 0x4b7c, {0x9a, 0x21, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16}};
static REGHANDLE handle;

/* Something to do behind each call, so that none becomes a jump. */
#define STAYS() __asm__ volatile("")

__attribute__((noinline)) void say(USHORT id);
__attribute__((noinline)) void holds_them(USHORT id);

void say(USHORT id)
{
	EVENT_DESCRIPTOR d = {.Id = id, .Level = 4};
	EventWrite(handle, &d, 0, NULL);
	STAYS();
}

static inline __attribute__((always_inline)) void put_in_last(USHORT id)
{
	say(id);
	STAYS();
}

static inline __attribute__((always_inline)) void put_in_first(USHORT id)
{
	put_in_last(id);
	STAYS();
}

void holds_them(USHORT id)
{
	put_in_first(id);
	STAYS();
}

int main(void)
{
	if (EventRegister(&provider, NULL, NULL, &handle) != 0) {
		return 1;
	}
	holds_them(1);
	usleep(300000); /* a process that is gone at once is not told by its path */
	EventUnregister(handle);
	return 0;
}
