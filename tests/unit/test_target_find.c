// SPDX-License-Identifier: BSD-2-Clause
/* OBJECT on the command line is found as the dynamic loader finds it. The loader's cache and
 * process maps are parsed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "target_fixture.h"
#include "arch/arch.h"
#include "resolve/ldcache.h"
#include "resolve/near.h"

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void found(const char *name, pid_t pid, const char *want, const char *what)
{
	struct found f;
	int err = object__find(name, pid, &f);

	ok(!err && root__path_leads_to(want, f.fd), "%s: %s is %s", what, name,
	   err ? err__text() : f.path);
	found__close(&f);
}

static void missing(const char *name, pid_t pid, const char *words)
{
	struct found f;

	is(object__find(name, pid, &f), pid == 999999999 ? -ESRCH : -ENOENT, "'%s' is not found",
	   name);
	ok(strstr(err__text(), words), "the message about '%s': %s", name, err__text());
}

/* ---- without a process ---- */

static void test_unversioned(void)
{
	struct found f;
	int err = object__find("libc", 0, &f);

	ok(!err && strstr(f.path, "libc.so.6"), "libc is libc.so.6");
	found__close(&f);
}

static void test_own(void)
{
	char line[4096], name[1024], path[1024];
	size_t n = 0, wrong = 0;
	FILE *f = tool("ldconfig -p 2>/dev/null || /sbin/ldconfig -p");

	/* every library that ldconfig lists, but the variants for certain CPUs */
	while (next(f, line)) {
		struct found lib;

		if (sscanf(line, " %1023s (libc6,x86-64) => %1023s", name, path) != 2 ||
		    access(path, R_OK))
			continue;
		n++;
		if (object__find(name, 0, &lib) || !root__path_leads_to(path, lib.fd)) {
			wrong++;
			printf("# %s: %s, not %s\n", name, lib.path ? lib.path : err__text(), path);
		}
		found__close(&lib);
	}
	ok(n && !wrong, "%zu libraries of ldconfig -p are found", n);
	found("libc.so.6", 0, "/lib/x86_64-linux-gnu/libc.so.6", "a soname");
	found("sh", 0, "/bin/sh", "a command");
	found("/bin/sh", 0, "/bin/sh", "a path");
	found("../../bin/sh", 0, "/bin/sh", "a relative path"); /* the folder is /tmp/... */
}

static void test_places(void)
{
	mkdir("libs", 0700);
	mkdir("bin", 0700);
	mkdir("bin/folder", 0700);
	mkdir("folder", 0700);
	run("cp /bin/true bin/tool && cp /bin/true bin/folder.so.1 && echo text > libs/libx.so.1");
	run("cp /bin/true here");
	setenv("PATH", "nowhere::bin", 1);
	setenv("LD_LIBRARY_PATH", "nowhere:libs;bin", 1);
	found("tool", 0, "bin/tool", "a command of PATH");
	found("here", 0, "here", "a file of the current folder");
	found("folder.so.1", 0, "bin/folder.so.1", "a library of LD_LIBRARY_PATH");
	missing("libx.so.1", 0, "LD_LIBRARY_PATH");
	missing("folder", 0, "PATH");
	missing("./absent", 0, "no file ./absent");
	missing("libpthrea", 0, "no object libpthrea");
	test_unversioned();
	missing("./folder", 0, "not a regular file");
	missing("libc.so.6", 999999999, "no process");
	unsetenv("LD_LIBRARY_PATH");
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
}

/* ---- in a process ---- */

static bool has_mapped(pid_t pid, const char *name)
{
	autofree char *path = xasprintf("/proc/%d/maps", pid), *maps = NULL;

	return !file__read(path, 1 << 20, &maps, NULL) && strstr(maps, name);
}

/* Waits until the path of the process's executable ends in name; false: the process ended. */
static bool became(pid_t pid, const char *name)
{
	autofree char *link = xasprintf("/proc/%d/exe", pid);
	char exe[4096];
	ssize_t n;

	while (!waitpid(pid, NULL, WNOHANG)) {
		n = readlink(link, exe, sizeof(exe) - 1);
		exe[max_of(n, (ssize_t)0)] = 0;
		if (n >= (ssize_t)strlen(name) && !strcmp(exe + n - strlen(name), name))
			return true;
		usleep(1000);
	}
	return false;
}

static pid_t start(const char *path)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe2(ends, O_CLOEXEC))
		exit(2);
	pid = fork();
	if (!pid) {
		execl(path, path, "60", NULL);
		_exit(127);
	}
	close(ends[1]);
	(void)!read(ends[0], &c, 1); /* closed by exec */
	close(ends[0]);
	while (!has_mapped(pid, "/libc.so.6") && !waitpid(pid, NULL, WNOHANG))
		usleep(1000);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_process(void)
{
	autofree char *here = realpath(".", NULL), *exe = NULL;
	struct object *o = NULL;
	char program[256];
	struct found f;
	pid_t pid;

	run("cp /bin/sleep dormant_call");
	sprintf(program, "%s/dormant_call", here);
	pid = start(program);
	found(program, pid, program, "the path of a process's executable");
	found("dormant_call", pid, program, "the name of a process's executable");
	found("libc.so.6", pid, "/lib/x86_64-linux-gnu/libc.so.6", "a library of a process");
	found("sh", pid, "/bin/sh", "a command that the process hasn't mapped");
	exe = xasprintf("/proc/%d/exe", pid);
	run("rm dormant_call");
	ok(!object__find(program, pid, &f) && root__path_leads_to(exe, f.fd),
	   "a process's deleted executable is found");
	is_str(f.path, program, "a deleted executable is shown under its old name");
	found("./dormant_call", pid, exe, "the relative path of a deleted executable");
	found("../../proc/self/cwd/dormant_call", pid, exe,
	      "a path through a link of a deleted executable");
	missing("./dormant_call", 0, exe);
	missing("dormant_call", 0, exe);
	ok(f.fd >= 0 && !object__read(&f, &o), "a deleted executable can be read");
	if (o)
		is_str(o->path, program, "a deleted executable's object has the old name");
	object__free(o);
	run("cp /bin/true dormant_call");
	ok(!object__find(program, pid, &f) && root__path_leads_to(exe, f.fd),
	   "a replaced executable is the one that runs");
	found__close(&f);
	stop(pid);
}

/* In a chroot the path that the kernel shows for another process's root may not lead there. */
static bool path_leads_to_root_of(pid_t pid)
{
	autofree char *link = xasprintf("/proc/%d/root", pid), *path = realpath(link, NULL);

	return path && same_file(path, link);
}

/* A process in a root of its own: absolute links lead into that root. */
static void test_root(void)
{
	autofree char *here = realpath(".", NULL), *want = NULL;
	struct object *o = NULL;
	struct found f;
	pid_t pid;

	if (geteuid()) {
		ok(true, "a path in another root is found # SKIP needs root");
		return;
	}
	run("mkdir -p root/real root/etc && gcc -static -O1 -o root/real/prog -xc - <<'EOF'\n"
	    "#include <unistd.h>\nint main(void) { sleep(60); }\nEOF\nln -s /real/prog root/link");
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || chroot("root") || chdir("/"))
			_exit(1);
		execl("/real/prog", "prog", NULL);
		_exit(127);
	}
	if (!became(pid, "/prog")) {
		ok(true, "a path in another root is found # SKIP not allowed here");
		return;
	}
	want = xasprintf("%s/root/real/prog", here);
	ok(!object__find("/link", pid, &f) && root__path_leads_to(want, f.fd),
	   "a path in another root is found");
	if (!path_leads_to_root_of(pid)) {
		ok(true,
		   "a file in another root is shown by its path from here # SKIP the kernel does not show the way (a chroot?)");
		stop(pid);
		return;
	}
	is_str(f.path, want, "a file in another root is shown by its path from here");
	ok(f.fd >= 0 && !object__read(&f, &o) && !strcmp(o->path, want),
	   "the object of a file in another root has its path from here");
	object__free(o);
	missing("/bin/sh", pid, "mount namespace");
	stop(pid);
}

/* A mount that only the process has: its files have no path here. */
static void test_namespace(void)
{
	autofree char *exe = NULL;
	struct object *o = NULL;
	struct found f;
	pid_t pid;

	if (geteuid())
		return;
	run("mkdir -p inner");
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("", "/", "", MS_REC | MS_PRIVATE, "") ||
		    mount("tmpfs", "inner", "tmpfs", 0, "") ||
		    system("cp root/real/prog inner/prog && ln -s /prog inner/link") ||
		    chroot("inner") || chdir("/"))
			_exit(1);
		execl("/prog", "prog", NULL);
		_exit(127);
	}
	if (!became(pid, "/prog")) {
		ok(true, "a path in another mount namespace is found # SKIP not allowed here");
		return;
	}
	exe = xasprintf("/proc/%d/exe", pid);
	ok(!object__find("/link", pid, &f) && root__path_leads_to(exe, f.fd),
	   "a path in another mount namespace is found");
	is_str(f.path, "/prog",
	       "a file in another mount namespace is shown as the process sees it");
	ok(f.fd >= 0 && !object__read(&f, &o) && !strcmp(o->path, "/prog"),
	   "the object of a file in another mount namespace has the process's path");
	object__free(o);
	stop(pid);
}

/* ---- the parsers ---- */

static void test_maps(void)
{
	static const char *const bad[] = {
		"x",
		"1-2",
		"1-2 r-xp",
		"2-1 r-xp 0 0:0 0\n",
		"1-2 r-xp 0 0:0\n",
		"-2 r-xp 0 0:0 0\n",
		"1-2 r-xp 0 0:0 x\n",
		"11111111111111111-2 r-xp 0 0:0 0\n",
		"\n",
	};
	map_vec v = {0};
	autofree char *text = NULL;
	size_t len, i;
	struct stat st;
	bool self = false;
	const struct map *m;

	is(maps__parse("7f00-7f10 r-xp 00001000 fe:01 42                 /a b\\012c (deleted)\n"
		       "7f10-7f20 rw-p 00000000 00:00 0 \n"
		       "7f20-7f30 rw-p 00000000 00:00 0                  [heap]",
		       &v),
	   0, "a process's maps are parsed");
	ok(v.len == 3 && v.data[0].start == 0x7f00 && v.data[0].end == 0x7f10 && v.data[0].exec &&
		   v.data[0].offset == 0x1000 && v.data[0].ino == 42 && !v.data[1].exec,
	   "a mapping has its addresses, permission, offset and inode");
	is_str(v.data[0].path, "/a b\nc",
	       "a deleted file's path with a blank and a newline is unescaped");
	is_str(v.data[1].path, "", "anonymous memory has no path");
	is_str(v.data[2].path, "[heap]", "the heap has its name as path");
	maps__free(&v);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ok(maps__parse(bad[i], &v) == -EINVAL && !v.len && *err__text(),
		   "damaged maps %zu are refused", i);
	is(maps__parse("", &v), 0, "a process without maps is parsed");
	file__read("/proc/self/maps", 1 << 24, &text, &len);
	is(maps__parse(text, &v), 0, "the test's own maps are parsed");
	stat("/proc/self/exe", &st);
	vec__each (m, &v)
		self |= m->exec && m->ino == st.st_ino;
	ok(self, "the test's own maps have its code");
	for (i = 0; i < len; i += 1 + len / 300) {
		text[i] ^= 0x15;
		maps__free(&v);
		maps__parse(text, &v);
		text[i] ^= 0x15;
	}
	ok(true, "the test's own maps with a damaged byte do no harm");
	maps__free(&v);
}

static void test_near(void)
{
	static const char *const sonames[] = {
		"libc.so.6",	  "libssl.so.3",	  "libssl.so.3",   "libcrypt.so.1",
		"libcrypto.so",	  "libcrypto.so.3",	  "libLLVM-15.so", "libLLVM-14.so.1",
		"libstdc++.so.6", "libpython3.11.so.1.0", "libm.so.6",	   "libmvec.so.1",
		"libz.so.1",	  "libsocket.so.2",	  "ld-linux.so.2", "libLLVM-9.so.1"};
	static const struct {
		const char *name, *meant;
	} rows[] = {
		{"libc", "; did you mean libc.so.6?"},
		{"libc.so", "; did you mean libc.so.6?"},
		{"libc.so.5", "; did you mean libc.so.6?"},
		{"c", "; did you mean libc.so.6?"},
		{"m", "; did you mean libm.so.6?"},
		{"ssl", "; did you mean libssl.so.3?"},
		{"crypto", "; did you mean libcrypto.so, libcrypto.so.3?"},
		{"libcrypt", "; did you mean libcrypt.so.1?"},
		{"libstdc++", "; did you mean libstdc++.so.6?"},
		{"LLVM", "; did you mean libLLVM-15.so, libLLVM-9.so.1, libLLVM-14.so.1?"},
		{"libpython", "; did you mean libpython3.11.so.1.0?"},
		{"libsocket.so", "; did you mean libsocket.so.2?"},
		{"lib", ""},
		{"py", ""},
		{"", ""},
		{".so", ""},
		{"ibc", ""},
		{"libcc", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct near near = {.name = rows[i].name};
		struct str meant = {0};

		for (size_t j = 0; j < ARRAY_SIZE(sonames); j++)
			near__soname(&near, sonames[j]);
		near__put(&near, &meant);
		is_str(meant.data ? meant.data : "", rows[i].meant, "what '%s' may have meant",
		       rows[i].name);
		near__free(&near);
		str__free(&meant);
	}
}

static void test_cache(void)
{
	autofree char *bytes = NULL, *copy = NULL;
	size_t len, i;
	const char *path;

	if (file__read("/etc/ld.so.cache", 1 << 24, &bytes, &len)) {
		ok(true, "the loader's cache has libc.so.6 # SKIP no cache here");
		return;
	}
	path = ldcache__find(arch__native(), bytes, len, "libc.so.6");
	ok(path && same_file(path, "/lib/x86_64-linux-gnu/libc.so.6"),
	   "the loader's cache has libc.so.6");
	ok(!ldcache__find(arch__native(), bytes, len, "no.so"),
	   "the loader's cache does not have no.so");
	for (i = 0; i < len; i += 1 + len / 500) {
		copy = xmalloc(i); /* no longer, so that the sanitizer sees a read behind the end */
		memcpy(copy, bytes, i);
		ldcache__find(arch__native(), copy, i, "libc.so.6");
		free(copy);
	}
	for (i = 0; i < len; i += i < 200 ? 1 : 1 + len / 300) {
		bytes[i] ^= 0xff;
		ldcache__find(arch__native(), bytes, len, "libc.so.6");
		bytes[i] ^= 0xff;
	}
	copy = NULL;
	ok(true, "a damaged cache of the loader does no harm");
}

int main(void)
{
	enter();
	test_own();
	test_places();
	test_process();
	test_root();
	test_namespace();
	test_maps();
	test_near();
	test_cache();
	return tap__done();
}
