// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/request.h"
#include "copy_fitness.h"

#define SCRIPTS	    4	/* most interpreters in a row; the kernel's limit is 5 */
#define SCRIPT_LINE 256 /* BINPRM_BUF_SIZE */

const char *const fitness_text[] = {
	[UNFIT_PTRACE] = "the command uses ptrace(2), and a process has one tracer only",
	[UNFIT_CHECKER] = "the command has a leak checker, which needs ptrace(2)",
	[UNFIT_LOG] = "the command may use the register that locates the log",
};

/* ---- a program ---- */

#define TEXT(s) s, sizeof(s) - 1
static const struct mark {
	const char *bytes;
	size_t len;
	enum fitness means;
} marks[] = {
	/* names in .dynstr or .strtab */
	{TEXT("\0libasan.so"), UNFIT_CHECKER},
	{TEXT("\0liblsan.so"), UNFIT_CHECKER},
	{TEXT("\0libclang_rt.asan"), UNFIT_CHECKER},
	{TEXT("\0libclang_rt.lsan"), UNFIT_CHECKER},
	/* linked statically, as clang does */
	{TEXT("LeakSanitizer does not work under ptrace"), UNFIT_CHECKER},
	{TEXT("\0ptrace\0"), UNFIT_PTRACE},
	{TEXT("\0arch_prctl\0"), UNFIT_LOG},
};

static enum fitness judge_bytes(const uint8_t *bytes, size_t n, const struct arch *arch)
{
	const struct arch_tracee *t = arch->tracee;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (memmem(bytes, n, marks[i].bytes, marks[i].len))
			return marks[i].means;
	return t && (t->sets_log(bytes, n) || t->calls_to_set_log(bytes, n)) ? UNFIT_LOG : FIT;
}

#define CHUNK (1u << 20)
#define JOINT TRACEE_CALL_MAX /* overlap of two chunks: longer than each text that is searched */

/* What makes the command fail takes precedence over what only may. */
static enum fitness judge_program(int fd, uint8_t *chunk, const struct arch *arch)
{
	enum fitness all = FIT;
	off_t at = 0;
	ssize_t n;

	while (all != UNFIT_CHECKER && (n = pread(fd, chunk, CHUNK, at)) > 0) {
		enum fitness this = judge_bytes(chunk, n, arch);

		all = !all || this == UNFIT_CHECKER ? this : all;
		if (n < CHUNK)
			break;
		at += CHUNK - JOINT;
	}
	return all;
}

/* ---- a script ---- */

/* Copies the next word of a script's first line. Returns false if there is none. */
static bool next_word(const char **at, const char *end, char *out, size_t size)
{
	size_t n = 0;

	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	for (; *at < end && !isspace((unsigned char)**at); (*at)++)
		if (n < size - 1)
			out[n++] = **at;
	out[n] = 0;
	return n;
}

/* Copies the name of a script's interpreter, after env(1) if the line has that. Returns false if
 * the file is no script. */
static bool interpreter_of(const uint8_t *file, size_t n, char *out, size_t size)
{
	const char *at = (const char *)file + 2, *end;

	if (n < 2 || memcmp(file, "#!", 2) != 0)
		return false;
	end = memchr(at, '\n', n - 2);
	end = end ? end : (const char *)file + n;
	if (!next_word(&at, end, out, size))
		return false;
	if (!strcmp(strrchr(out, '/') ? strrchr(out, '/') + 1 : out, "env"))
		while (next_word(&at, end, out, size) && (*out == '-' || strchr(out, '=')))
			;
	return *out;
}

/* ---- both ---- */

/* Sets *next to the interpreter of a script, or to "". */
static enum fitness judge(const char *name, const struct arch *arch, char *next, size_t size)
{
	static const struct root ours;
	autofree uint8_t *chunk = xmalloc(CHUNK);
	autofree char *path = command__path(name);
	autoclose int fd = path ? root__open_file(&ours, path, OBJECT_LIMIT, NULL) : -1;
	ssize_t n;

	*next = 0;
	if (fd < 0) { /* executing it will report the error */
		err__clear();
		return FIT;
	}
	n = pread(fd, chunk, SCRIPT_LINE, 0);
	return n > 0 && !interpreter_of(chunk, n, next, size) ? judge_program(fd, chunk, arch)
							      : FIT;
}

enum fitness copy_fitness__of(const char *name, const struct arch *arch)
{
	char words[2][256];
	enum fitness found = FIT;

	snprintf(words[0], sizeof(words[0]), "%s", name);
	for (int i = 0; i < SCRIPTS && !found; i++) {
		char *next = words[1 - i % 2];

		found = judge(words[i % 2], arch, next, sizeof(words[0]));
		if (!*next)
			break;
	}
	return found;
}

/* ---- a process ---- */

/* What is known of a file. */
struct judged {
	dev_t dev;
	ino_t ino;
	struct timespec changed;
	const char *why;
};
static VEC(struct judged) judged;

static bool is_same(const struct judged *j, const struct stat *st)
{
	return j->dev == st->st_dev && j->ino == st->st_ino &&
	       j->changed.tv_sec == st->st_ctim.tv_sec && j->changed.tv_nsec == st->st_ctim.tv_nsec;
}

const char *copy_fitness__unfit(pid_t pid)
{
	static const char *const words[] = {
		[FIT] = NULL,
		[UNFIT_PTRACE] = "its program uses ptrace(2), as a debugger; --engine probe covers "
				 "what it runs",
		[UNFIT_CHECKER] = "its leak checker needs ptrace(2); use --engine probe",
		[UNFIT_LOG] = NULL, /* what it does about gs is seen when it does it */
	};
	static const struct root ours;
	autofree char *path = xasprintf("/proc/%d/exe", pid);
	autofree uint8_t *chunk = NULL;
	const struct judged *j;
	struct stat st;
	autoclose int fd = root__open_file(&ours, path, OBJECT_LIMIT, &st);

	if (fd < 0) {
		err__clear();
		return NULL;
	}
	vec__each (j, &judged)
		if (is_same(j, &st))
			return j->why;
	chunk = xmalloc(CHUNK);
	vec__push(&judged, (struct judged){st.st_dev, st.st_ino, st.st_ctim,
					   words[judge_program(fd, chunk, arch__native())]});
	return judged.data[judged.len - 1].why;
}
