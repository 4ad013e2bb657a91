/* SPDX-License-Identifier: MIT */
#include "tools/openetw/keyboard.h"

#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool active;

/* A program in the background would be stopped by its terminal. */
static bool in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Signals such as Ctrl-C stay what they are. */
static void set_single_keys(const struct termios *now)
{
	struct termios t = *now;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.c_cc[VMIN] = 0;
	t.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

void cli_keys_begin(void)
{
	static bool at_exit;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !in_foreground() ||
	    tcgetattr(STDIN_FILENO, &before) < 0) {
		return;
	}
	active = true;
	if (!at_exit) {
		at_exit = true;
		atexit(cli_keys_end);
	}
	set_single_keys(&before);
}

bool cli_keys_quit(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct termios now;
	char c;
	if (!active || !in_foreground()) {
		return false;
	}
	if (tcgetattr(STDIN_FILENO, &now) == 0 && (now.c_lflag & ICANON)) {
		set_single_keys(&now); /* it was stopped meanwhile, and its shell has put the terminal right */
	}
	while (poll(&p, 1, 0) == 1 && (p.revents & POLLIN) && read(STDIN_FILENO, &c, 1) == 1) {
		if (c == 'q' || c == 'Q') {
			return true;
		}
	}
	return false;
}

void cli_keys_end(void)
{
	if (active && in_foreground()) {
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	active = false;
}
