/* SPDX-License-Identifier: MIT */
#include "tools/view/view_guard.h"

#include <stdio.h>
#include <strings.h>
#include <sys/random.h>

static int secret(char out[VIEW_SECRET_TEXT])
{
	uint8_t bytes[16];
	size_t have = 0;
	while (have < sizeof bytes) {
		ssize_t n = getrandom(bytes + have, sizeof bytes - have, 0);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		have += n > 0 ? (size_t)n : 0;
	}
	for (size_t i = 0; i < sizeof bytes; i++) {
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	}
	return 0;
}

int view_guard_begin(struct view_guard *g, unsigned port, uint64_t code_until_ns)
{
	*g = (struct view_guard){.code_until_ns = code_until_ns};
	snprintf(g->cookie_name, sizeof g->cookie_name, "openetw_%u", port);
	int err = secret(g->code);
	err = err < 0 ? err : secret(g->nonce);
	return err < 0 ? err : secret(g->cookie);
}

int view_guard_new_code(struct view_guard *g, uint64_t code_until_ns)
{
	char code[VIEW_SECRET_TEXT];
	int err = secret(code);
	if (err == 0) {
		memcpy(g->code, code, sizeof code);
		g->code_until_ns = code_until_ns;
	}
	return err;
}

/* Takes as long whatever differs, so that time tells nothing. */
static bool same(const char secret_text[VIEW_SECRET_TEXT], const char *s, size_t n)
{
	uint8_t differs = n != VIEW_SECRET_TEXT - 1;
	for (size_t i = 0; i < VIEW_SECRET_TEXT - 1; i++) {
		differs |= (uint8_t)(secret_text[i] ^ (i < n ? s[i] : 0));
	}
	return differs == 0;
}

static bool is_port(const char *s)
{
	size_t n = strspn(s, "0123456789");
	return n > 0 && n <= 5 && s[n] == 0;
}

static bool is_name(const char *host, const char *name)
{
	size_t n = strlen(name);
	return strncasecmp(host, name, n) == 0 && (host[n] == 0 || (host[n] == ':' && is_port(host + n + 1)));
}

bool view_guard_host(const struct view_guard *g, const char *host)
{
	static const char *const ours[] = {"localhost", "127.0.0.1", "[::1]"};
	for (size_t i = 0; host && i < BASE_ARRAY_LEN(ours); i++) {
		if (is_name(host, ours[i])) {
			return true;
		}
	}
	for (int i = 0; host && i < g->host_count; i++) {
		if (is_name(host, g->hosts[i])) {
			return true;
		}
	}
	return false;
}

bool view_guard_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";
	if (!origin) {
		return true;
	}
	return host && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
	       strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

bool view_guard_cookie(const struct view_guard *g, const char *header)
{
	size_t name = strlen(g->cookie_name);
	bool found = false;
	for (const char *s = header; s && *s; s = strchr(s, ';') ? strchr(s, ';') + 1 : NULL) {
		s += strspn(s, " \t");
		size_t n = strcspn(s, ";");
		if (n > name && strncmp(s, g->cookie_name, name) == 0 && s[name] == '=') {
			found |= same(g->cookie, s + name + 1, n - name - 1);
		}
	}
	return found;
}

bool view_guard_code(struct view_guard *g, const char *code, uint64_t now_ns)
{
	if (!g->code[0] || !code || now_ns > g->code_until_ns || !same(g->code, code, strlen(code))) {
		return false;
	}
	g->code[0] = 0;
	return true;
}
