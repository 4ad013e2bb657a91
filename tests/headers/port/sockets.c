/* SPDX-License-Identifier: MIT
 *
 * The system's socket headers after windows.h, which has the same structures.
 */
#include <windows.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <netdb.h>

static struct sockaddr_in a;

int main(void)
{
	a.sin_addr.s_addr = htonl(5);
	return sizeof a != 16 || a.sin_addr.S_un.S_un_b.s_b4 != 5;
}
