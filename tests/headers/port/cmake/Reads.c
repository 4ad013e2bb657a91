/* SPDX-License-Identifier: MIT
 * A program that reads traces: of libopenetw.
 */
#include <openetw/openetw.h>
#include <openetw/reader.h>

int main(void)
{
	struct openetw_reader *r = openetw_reader_create();
	openetw_reader_destroy(r);
	return r && openetw_version() ? 0 : 1;
}
