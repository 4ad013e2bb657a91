/* SPDX-License-Identifier: MIT
 *
 * Files of modules are looked for in folders that somebody gives, and taken only when they are of the same build.
 */
#include "machine/machine_symbol.h"
#include "symbol/symbol.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_folder_has_the_file_of_a_module_that_is_gone(void **state)
{
	char folder[] = "/tmp/openetw-symbols-XXXXXX", path[PATH_MAX], self[PATH_MAX] = "";
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct symbol_elf *f;
	const char *why = NULL;
	struct machine_symbols x = {0};
	struct machine_memory m = {0};
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_int_equal(symbol_elf_open(self, &f), 0);
	if (symbol_elf_build_id(f, id) < 16) {
		print_message("this program has no build id\n");
		skip();
	}
	struct machine_image i = {.path = "/gone/module", .size = symbol_elf_span(f)};
	struct machine_debug_id d = {.guid = id};
	symbol_elf_close(f);
	assert_null(machine_symbols_file(&x, &m, &i, &d, &why));
	assert_non_null(strstr(why, "on this machine"));
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/module", folder);
	assert_int_equal(symlink(self, path), 0);
	assert_true(machine_symbols_folder(&x, &m, folder));
	assert_string_equal(machine_symbols_file(&x, &m, &i, &d, &why), path);
	/* Another build of that name is not taken. */
	id[0] ^= 0xFF;
	assert_null(machine_symbols_file(&x, &m, &i, &d, &why));
	assert_non_null(strstr(why, "another build"));
	/* By build id, whatever the name is. */
	id[0] ^= 0xFF;
	unlink(path);
	i.path = "/gone/other";
	snprintf(path, sizeof path, "%s/.build-id", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/.build-id/%02x", folder, id[0]);
	assert_int_equal(mkdir(path, 0700), 0);
	char *p = path + strlen(path);
	p += sprintf(p, "/");
	for (int k = 1; k < 16; k++) {
		p += sprintf(p, "%02x", id[k]);
	}
	strcpy(p, "aabbccdd.debug");
	assert_int_equal(symlink(self, path), 0);
	assert_string_equal(machine_symbols_file(&x, &m, &i, &d, &why), path);
	/* A trace does not lead out of the folder. */
	i.path = "/../../etc/passwd";
	d.guid = (const uint8_t *)"0123456789abcdef";
	assert_null(machine_symbols_file(&x, &m, &i, &d, &why));
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(folder);
	machine_symbols_free(&x);
	machine_memory_free(&m);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_folder_has_the_file_of_a_module_that_is_gone)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
