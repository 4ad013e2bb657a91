/* SPDX-License-Identifier: MIT */
int part(void);
int main(void)
{
	return part();
}
