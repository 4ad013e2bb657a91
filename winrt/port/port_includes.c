/* SPDX-License-Identifier: MIT
 *
 * Include spellings. A file system of Windows finds "Sub\File.H" where this one has sub/file.h. For
 * each such line a small header of exactly that name is written, which includes the real one; the
 * sources are not touched.
 */
#include "port.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name with ".." may climb this far and still stay in the folder that is ours. */
#define DEPTH 8
#define DEEP  "/0/0/0/0/0/0/0/0"

/* Headers of Windows that we do not have: data/win/headers.txt. */
extern const char win_headers[];

struct search {
	const char *out;
	char **folders;
	int scanned, folder_count;
	char **seen;
	size_t seen_count;
	bool any, failed;
	bool utf16;  /* one of the files is */
	bool layout; /* one of them has something for port_layout() */
	bool say_more;
	/* Names of such headers that are included, and those that are asked for with __has_include. */
	struct names {
		char **v;
		size_t count;
	} absent, probed;
};

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The entry of `folder` that is `name` in some case, into `ret` (NAME_MAX + 1). */
static bool find_entry(const char *folder, const char *name, char *ret)
{
	DIR *d = opendir(*folder ? folder : ".");
	struct dirent *e;
	bool found = false;
	while (d && !found && (e = readdir(d)) != NULL) {
		found = strcasecmp(e->d_name, name) == 0;
		if (found) {
			strcpy(ret, e->d_name);
		}
	}
	if (d) {
		closedir(d);
	}
	return found;
}

/* folder/name as a path that exists, part by part in any case; '/' separates. */
static bool find_path(const char *folder, const char *name, char *ret)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path) {
		return false;
	}
	while (*name) {
		size_t n = strcspn(name, "/");
		char part[NAME_MAX + 1], entry[NAME_MAX + 1];
		size_t len = strlen(path);
		if (n > NAME_MAX || len + n + 2 > sizeof path) {
			return false;
		}
		memcpy(part, name, n);
		part[n] = 0;
		name += n + (name[n] == '/');
		if (n == 0 || strcmp(part, ".") == 0) {
			continue;
		}
		snprintf(path + len, sizeof path - len, "/%s", part);
		if (access(path, F_OK) != 0) {
			path[len] = 0;
			if (!find_entry(path, part, entry)) {
				return false;
			}
			snprintf(path + len, sizeof path - len, "/%s", entry);
		}
	}
	return is_file(path) && realpath(path, ret) != NULL;
}

static bool make_folders(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p == '/') {
			*p = 0;
			bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
			*p = '/';
			if (!ok) {
				return false;
			}
		}
	}
	return true;
}

/* Replaced in one step: another compiler may be reading it. Left alone when it is so already. */
static void write_file(struct search *s, char *path, const char *text, size_t n)
{
	char fresh[PATH_MAX + 16];
	char *old = malloc(n + 1);
	FILE *f = fopen(path, "r");
	bool same = f && old && fread(old, 1, n + 1, f) == n && memcmp(old, text, n) == 0;
	if (f) {
		fclose(f);
	}
	free(old);
	if (same) {
		return;
	}
	snprintf(fresh, sizeof fresh, "%s.%d~", path, (int)getpid());
	f = make_folders(path) ? fopen(fresh, "w") : NULL;
	bool ok = f && fwrite(text, 1, n, f) == n;
	if ((f && fclose(f) != 0) || !ok || rename(fresh, path) != 0) {
		fprintf(stderr, "openetw-port: %s: %s\n", path, strerror(errno));
		s->failed = true;
	}
}

/* A file's text as UTF-8 that says where it comes from. NULL: no memory. */
static char *text_of(const char *path, size_t *ret_bytes)
{
	size_t n = 0, cap = 0;
	char *text = port_utf16_read(path, &n), *ret = NULL;
	FILE *f = text ? NULL : fopen(path, "r");
	for (size_t got = 1; f && got;) {
		if (n + 4096 > cap) {
			cap = 2 * cap + 8192;
			char *more = realloc(text, cap);
			if (!more) {
				break;
			}
			text = more;
		}
		got = fread(text + n, 1, cap - n, f);
		n += got;
	}
	if (f) {
		fclose(f);
	}
	FILE *out = open_memstream(&ret, ret_bytes);
	if (out) {
		size_t mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
		fprintf(out, "#line 1 \"%s\"\n", path);
		fwrite(text + mark, 1, n - mark, out);
		fclose(out);
	}
	free(text);
	return ret;
}

/* The header called `name`: one that includes `target`, or its text when the compiler cannot read
 * it. */
static void write_forward(struct search *s, const char *name, const char *target)
{
	char path[PATH_MAX], text[PATH_MAX + 64];
	int climbs = 0;
	for (const char *p = name; (p = strstr(p, "../")) != NULL; p += 3) {
		climbs++;
	}
	if (climbs > DEPTH || *name == '/' ||
	    snprintf(path, sizeof path, "%s" DEEP "/%s", s->out, name) >= (int)sizeof path || !make_folders(path)) {
		fprintf(stderr, "openetw-port: no header can stand for #include \"%s\"\n", name);
		s->failed = true;
		return;
	}
	size_t n = 0;
	char *utf8 = port_utf16_read(target, &n);
	if (utf8) {
		free(utf8);
		utf8 = text_of(target, &n);
	}
	snprintf(text, sizeof text, "#include \"%s\"\n", target);
	write_file(s, path, utf8 ? utf8 : text, utf8 ? n : strlen(text));
	free(utf8);
	s->any = true;
}

static void scan_file(struct search *s, const char *path);

static bool is_utf16(const char *path)
{
	size_t n;
	char *text = port_utf16_read(path, &n);
	free(text);
	return text != NULL;
}

static bool add_name(struct names *n, const char *name)
{
	char **v = realloc(n->v, (n->count + 1) * sizeof *v);
	if (!v) {
		return false;
	}
	n->v = v;
	v[n->count] = strdup(name);
	n->count += v[n->count] != NULL;
	return true;
}

static bool has_name(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcasecmp(n->v[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static void free_names(struct names *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->v[i]);
	}
	free(n->v);
}

static bool is_absent_header(const char *name)
{
	size_t n = strlen(name);
	bool comment = false, word_starts = true;
	for (const char *p = win_headers; *p; p++) {
		if (!comment && word_starts && strncasecmp(p, name, n) == 0 && isspace((unsigned char)p[n])) {
			return true;
		}
		word_starts = isspace((unsigned char)*p);
		comment = *p == '#' || (comment && *p != '\n');
	}
	return false;
}

/* Headers that say what they would be. Not those that the program asks for first. */
static void write_absent(struct search *s)
{
	bool any = false;
	for (size_t i = 0; i < s->absent.count; i++) {
		char path[PATH_MAX], text[PATH_MAX + 128];
		const char *name = s->absent.v[i];
		if (has_name(&s->probed, name) ||
		    snprintf(path, sizeof path, "%s/absent/%s", s->out, name) >= (int)sizeof path) {
			continue;
		}
		int n = snprintf(text, sizeof text,
				 "#error \"<%s> is a header of Windows that OpenETW does not have (docs/porting.md "
				 "lists those it has)\"\n",
				 name);
		write_file(s, path, text, (size_t)n);
		any = true;
	}
	if (any) {
		printf("@absent %s/absent\n", s->out);
	}
}

/* One line's `name`, in <> or "" (then the folder of the file that includes comes first). */
static void look_up(struct search *s, const char *name, bool quoted, const char *folder)
{
	char plain[PATH_MAX], found[PATH_MAX];
	bool backslash = strchr(name, '\\') != NULL;
	snprintf(plain, sizeof plain, "%s", name);
	for (char *p = plain; *p; p++) {
		*p = *p == '\\' ? '/' : *p;
	}
	for (int i = quoted ? -1 : 0; i < s->folder_count; i++) {
		const char *in = i < 0 ? folder : s->folders[i];
		if (!find_path(in, plain, found)) {
			continue;
		}
		char exact[2 * PATH_MAX];
		snprintf(exact, sizeof exact, "%s/%s", *in ? in : ".", plain);
		/* gcc looks for the name with the backslashes in it, clang turns them. */
		if (backslash) {
			write_forward(s, name, found);
		}
		bool utf16 = is_utf16(found);
		s->utf16 |= utf16;
		if (utf16 || !is_file(exact)) {
			write_forward(s, plain, found);
		}
		if (i < s->scanned) {
			scan_file(s, found);
		}
		return;
	}
	/* The system's own headers have small letters only, nearly all of them. */
	char lower[PATH_MAX], in_system[PATH_MAX + 32];
	for (size_t i = 0; i <= strlen(plain); i++) {
		lower[i] = (char)tolower((unsigned char)plain[i]);
	}
	snprintf(in_system, sizeof in_system, "/usr/include/%s", plain);
	if (!is_file(in_system)) {
		snprintf(in_system, sizeof in_system, "/usr/include/%s", lower);
		if (is_file(in_system)) {
			write_forward(s, name, in_system);
		} else if (is_absent_header(plain) && !strstr(plain, "..") && !has_name(&s->absent, plain) &&
			   !add_name(&s->absent, plain)) {
			s->failed = true;
		}
	}
}

/* __has_include(<name.h>), several of them in one line. */
static void look_for_probe(struct search *s, char *line)
{
	for (char *p = line; (p = strstr(p, "__has_include")) != NULL;) {
		p += strcspn(p, "<\"\n");
		size_t n = *p ? strcspn(p + 1, ">\"\n") : 0;
		if (n && p[1 + n] != '\n' && p[1 + n]) {
			char name[NAME_MAX + 1];
			snprintf(name, sizeof name, "%.*s", (int)n, p + 1);
			s->failed |= !add_name(&s->probed, name);
			p += n + 2;
		}
	}
}

static bool is_word_char(int c)
{
	return isalnum(c) || c == '_';
}

/* "ULONG name : 3," or "ULONG : 3;", and nothing else on the line. Lines that only look like one cost a
 * little time, so a "case 1: x;" is enough to be told apart. */
static bool has_bit_field(const char *line)
{
	const char *colon = strchr(line, ':'), *p = line;
	int words = 0;
	if (!colon || colon[1] == ':') {
		return false;
	}
	while (p < colon && (is_word_char((unsigned char)*p) || isspace((unsigned char)*p))) {
		words += is_word_char((unsigned char)*p) && (p == line || isspace((unsigned char)p[-1]));
		p++;
	}
	const char *first = line + strspn(line, " \t"), *width = colon + 1 + strspn(colon + 1, " \t");
	if (p < colon || words == 0 || strncmp(first, "case ", 5) == 0 ||
	    (words == 1 && !isdigit((unsigned char)*width))) {
		return false;
	}
	return width[strcspn(width, ",;{")] != '{' && strpbrk(width, ",;") != NULL;
}

/* "pack(WIDTH", "pack(push, WIDTH", "pack(pop, 4". */
static bool has_odd_pack(const char *line)
{
	const char *p = strstr(line, "pack");
	const char *open = p && strstr(line, "pragma") ? strchr(p, '(') : NULL;
	if (!open) {
		return false;
	}
	open += 1 + strspn(open + 1, " \t");
	if (strncmp(open, "push", 4) != 0 && strncmp(open, "pop", 3) != 0) {
		return is_word_char((unsigned char)*open) && !isdigit((unsigned char)*open) &&
		       strncmp(open, "show", 4) != 0;
	}
	const char *comma = strchr(open, ',');
	return comma &&
	       (*open == 'p' && open[1] == 'o' ? true : !isdigit((unsigned char)comma[1 + strspn(comma + 1, " \t")]));
}

/* #pragma comment(lib, "name.lib"), __pragma(comment(lib, "name")). */
static void look_for_library(const struct search *s, const char *line, const char *file, unsigned number)
{
	static const char *const parts[] = {"pragma", "comment", "(", "lib", ",", "\""};
	const char *p = line;
	for (size_t i = 0; p && i < sizeof parts / sizeof parts[0]; i++) {
		p = strstr(p, parts[i]);
		p = p ? p + strlen(parts[i]) : NULL;
	}
	size_t n = p ? strcspn(p, "\"\n") : 0;
	const char *slash = strstr(line, "//");
	if (n && p[n] == '"' && !(slash && slash < strstr(line, "pragma"))) {
		printf("@library %.*s %s:%u\n", (int)n, p, file, number);
	}
}

static void look_for_layout(struct search *s, const char *line)
{
	s->layout = s->layout || strstr(line, "DECLSPEC_ALIGN") || strstr(line, "DECLSPEC_CACHEALIGN") ||
		    (strstr(line, "declspec") && strstr(line, "align")) || has_bit_field(line) || has_odd_pack(line);
}

/* An #include of a comment does no harm: it finds what it finds. */
static void scan_file(struct search *s, const char *path)
{
	char real[PATH_MAX], line[4096], folder[PATH_MAX];
	if (!realpath(path, real)) {
		return; /* the compiler says so */
	}
	for (size_t i = 0; i < s->seen_count; i++) {
		if (strcmp(s->seen[i], real) == 0) {
			return;
		}
	}
	char **seen = realloc(s->seen, (s->seen_count + 1) * sizeof *seen);
	if (!seen) {
		s->failed = true;
		return;
	}
	s->seen = seen;
	seen[s->seen_count] = strdup(real);
	if (!seen[s->seen_count]) {
		s->failed = true;
		return;
	}
	s->seen_count++;
	snprintf(folder, sizeof folder, "%s", real);
	*strrchr(folder, '/') = 0;
	size_t bytes = 0;
	char *utf8 = port_utf16_read(real, &bytes);
	s->utf16 |= utf8 != NULL;
	FILE *f = utf8 && bytes ? fmemopen(utf8, bytes, "r") : fopen(real, "r");
	for (unsigned number = 1; f && fgets(line, sizeof line, f); number++) {
		char *p = line;
		look_for_layout(s, line);
		if (s->say_more) {
			look_for_library(s, line, path, number);
			look_for_probe(s, line);
		}
		p += strspn(p, "\xef\xbb\xbf \t");
		if (*p++ != '#') {
			continue;
		}
		p += strspn(p, " \t");
		if (strncmp(p, "include", 7) != 0) {
			continue;
		}
		p += 7;
		p += strncmp(p, "_next", 5) == 0 ? 5 : 0;
		p += strspn(p, " \t");
		char close = *p == '<' ? '>' : '"';
		char *end = *p == '<' || *p == '"' ? strchr(p + 1, close) : NULL;
		if (end) {
			*end = 0;
			look_up(s, p + 1, close == '"', folder);
		}
	}
	if (f) {
		fclose(f);
	}
	free(utf8);
}

/* The sources beside the headers: from there these are found first. */
static void copy_sources(struct search *s, char **files, int count)
{
	for (int i = 0; i < count && !s->failed; i++) {
		char path[PATH_MAX], real[PATH_MAX];
		const char *slash = strrchr(files[i], '/');
		size_t n = 0;
		if (!realpath(files[i], real) || snprintf(path, sizeof path, "%s/utf8/%d/%s", s->out, i,
							  slash ? slash + 1 : files[i]) >= (int)sizeof path) {
			continue; /* the compiler says what is wrong */
		}
		char *text = text_of(real, &n);
		if (!text) {
			s->failed = true;
			return;
		}
		write_file(s, path, text, n);
		free(text);
		printf("%s\t%s\n", files[i], path);
	}
}

int port_includes(const char *out, bool say_more, char **folders, int scanned, int folder_count, char **files,
		  int file_count)
{
	char absolute[PATH_MAX];
	struct search s = {
		.out = out, .folders = folders, .scanned = scanned, .folder_count = folder_count, .say_more = say_more};
	if (*out != '/') {
		char here[PATH_MAX / 2];
		if (!getcwd(here, sizeof here) ||
		    snprintf(absolute, sizeof absolute, "%s/%s", here, out) >= (int)sizeof absolute) {
			fputs("openetw-port: the path of the folder is too long\n", stderr);
			return 1;
		}
		s.out = absolute;
	}
	for (int i = 0; i < file_count; i++) {
		scan_file(&s, files[i]);
	}
	if (say_more && s.layout) {
		puts("@layout");
	}
	if (say_more) {
		write_absent(&s);
	}
	if (s.any || s.utf16) {
		printf("%s" DEEP "\n", s.out);
	}
	if (s.utf16) {
		copy_sources(&s, files, file_count);
	}
	for (size_t i = 0; i < s.seen_count; i++) {
		free(s.seen[i]);
	}
	free(s.seen);
	free_names(&s.absent);
	free_names(&s.probed);
	return s.failed;
}
