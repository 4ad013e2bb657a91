/* SPDX-License-Identifier: MIT
 *
 * Include lines as a file system without case and with backslashes takes them.
 */
#include <WINDOWS.H>
#include <EvnTrace.H>
#include <StdIO.h>
#include "SUB\Outer.H"
#include <inner/Deep.hpp>

int main()
{
	EVENT_TRACE_PROPERTIES p = {};
	return p.BufferSize + OUTER + INNER + DEEP - 6;
}
