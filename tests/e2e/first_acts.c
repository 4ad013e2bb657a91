/* SPDX-License-Identifier: MIT
 * Does what is known at once, and ends, for tests of what a recording has of a program's beginning:
 *
 *   50 times getppid; 20 opens, reads and closes of FILE; 10 datagrams to a port of 127.0.0.1 that nobody has;
 *   40 times malloc and free; 5 sleeps of a microsecond; a child that calls getppid 3 times
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

int main(int argc, char **argv)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char byte;
	bool good = argc > 1;
	for (int i = 0; i < 50; i++) {
		syscall(SYS_getppid);
	}
	for (int i = 0; i < 20 && good; i++) {
		int f = open(argv[1], O_RDONLY);
		good = read(f, &byte, 1) == 1 && close(f) == 0;
	}
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < 10; i++) {
		(void)sendto(s, "x", 1, 0, (const struct sockaddr *)&to, sizeof to);
	}
	for (int i = 0; i < 40; i++) {
		kept = malloc(12345);
		free(kept);
	}
	for (int i = 0; i < 5; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
	}
	pid_t child = fork();
	for (int i = 0; child == 0 && i < 3; i++) {
		syscall(SYS_getppid);
	}
	if (child == 0) {
		_exit(0);
	}
	return !good || waitpid(child, NULL, 0) != child;
}
