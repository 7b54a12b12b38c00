// SPDX-License-Identifier: BSD-2-Clause
/* The markers of include/bbtrace.h are those that readelf shows, whatever compiles them: half of
 * the rows; MATRIX=whole: all. */
#include <fcntl.h>
#include "object/tables/tables.h"
#include "target_fixture.h"
#include "arch/arch.h"

static const char source[] = "#include \"bbtrace.h\"\n"
			     "extern int take(const char *);\n"
			     "int data; const char *names[9];\n"
			     "int f(int a, const char *name)\n{\n"
			     "	BBTRACE_START();\n"
			     "	BBTRACE_MARK(\"five\", 5);\n"
			     "	BBTRACE_MARK(name, a);\n"
			     "	BBTRACE_MARK(names[a], data);\n"
			     "	BBTRACE_MARK(\"low\", -0x7000000000000000L);\n"
			     "	if (a)\n		BBTRACE_MARK(\"a\", a + 1L);\n"
			     "	else\n		BBTRACE_STOP();\n"
			     "	return a;\n}\n"
			     "int main(int c, char **v) { return f(c, v[0]); }\n";

static const char *const flags[] = {"-O0",
				    "-O2",
				    "-O3 -fPIC -shared",
				    "-O2 -flto",
				    "-O1 -masm=intel",
				    "-Os -no-pie",
				    "-O2 -s -Wl,-z,now"};

static unsigned kind_of(const char *name)
{
	return !strcmp(name, "start")  ? MARKER_START
	       : !strcmp(name, "stop") ? MARKER_STOP
				       : MARKER_MARK;
}

static void compare(const struct object *o, const marker_vec *found, const char *what)
{
	FILE *f = tool(
		"readelf --notes --wide object | grep -A1 -E 'Name: (start|stop|mark)' | "
		"sed -E 's/, Base.*//' | paste -sd ' ' | sed 's/--/\\n/g' | tr -s ' \\n' ' \\n'; "
		"echo");
	char line[4096], *p, name[16];
	unsigned long long at;
	size_t n = 0, wrong = 0;

	while (next(f, line)) {
		p = strstr(line, "Name: ");
		for (; p; p = strstr(p + 1, "Name: "), n++) {
			char *location = strstr(p, "Location: ");

			if (!location || sscanf(p, "Name: %15s", name) != 1 ||
			    sscanf(location, "Location: %llx", &at) != 1 || n >= found->len ||
			    found->data[n].vaddr != at || found->data[n].kind != kind_of(name))
				wrong++;
		}
	}
	is(n, found->len, "%s: readelf shows as many", what);
	ok(n >= 7, "%s: there are markers", what);
	is(wrong, 0, "%s: each is where readelf shows it", what);
	for (size_t i = 0; i < found->len; i++) {
		size_t avail;
		const uint8_t *bytes = object__bytes(o, found->data[i].vaddr, &avail);

		wrong += !bytes || *bytes != 0x90;
	}
	is(wrong, 0, "%s: each is a nop of one byte", what);
}

static void check_operands(const marker_vec *found, const char *what)
{
	size_t wrong = 0, fives = 0, lows = 0;
	struct marker_operands m;
	const struct marker *k;

	vec__each (k, found) {
		if (k->kind != MARKER_MARK)
			continue;
		if (!marker__operands(k, arch__native(), &m)) {
			wrong++;
			printf("# %s\n", k->args);
			continue;
		}
		fives += m.value == MARKER_CONSTANT && m.constant == 5;
		lows += m.value == MARKER_CONSTANT && m.constant == -0x7000000000000000;
	}
	is(wrong, 0, "%s: the operands of all marks are understood", what);
	if (!strstr(what, "-O0"))
		ok(fives >= 1 && lows <= fives, "%s: constants are constants", what);
}

static void test(const char *compiler, const char *options)
{
	autofree char *what = xasprintf("%s %s", compiler, options);
	marker_vec found = {0};
	struct object *o;
	int fd;

	run("%s %s -Wall -Wextra -pedantic -Werror -I'%s/include' -o object p.c", compiler, options,
	    getenv("BBTRACE_ROOT"));
	o = open_or_die("object");
	object__markers(o, &found);
	compare(o, &found, what);
	check_operands(&found, what);
	fd = open("object", O_RDONLY);
	ok(markers__in_file(fd, false) && markers__in_file(fd, true), "%s: a quick look finds some",
	   what);
	close(fd);
	vec__free(&found);
	object__free(o);
}

int main(void)
{
	static const char *const compilers[] = {"gcc -std=c89", "clang -std=c89",
						"g++ -std=c++98 -x c++",
						"clang++ -std=c++98 -x c++"};
	struct marker_operands m;
	struct marker odd = {.kind = MARKER_MARK};
	int fd = open("/proc/self/exe", O_RDONLY);
	char root[4096];

	setenv("BBTRACE_ROOT", getcwd(root, sizeof(root)), 1);
	ok(!markers__in_file(fd, false), "a program without them has none");
	close(fd);
	enter();
	write_file("p.c", source);
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++)
		for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
			if ((!strchr(compilers[i], '+') || k < 2) && in_part(i + k, 2))
				test(compilers[i], flags[k]);
	for (size_t i = 0; i < 4; i++) {
		odd.args =
			(const char *const[]){"", "8@%rax", "8@8(%rax) -8@$1", "8@%rax -4@%eax"}[i];
		ok(!marker__operands(&odd, arch__native(), &m), "not understood: '%s'", odd.args);
	}
	return tap__done();
}
