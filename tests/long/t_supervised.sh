#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Commands under the supervisor do what they do without it: without copies, and with all functions of libc copied, also if
# they are detached while they run.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=$(realpath -m "${B:-build}")
[[ $(id -u) == 0 ]] || skip_all 'needs root'
[[ -x $B/supervised ]] || skip_all "no $B/supervised"
libc=$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
[[ $libc ]] || skip_all 'no libc.so.6'

cat >"$T/threads.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *wait(void *p) { pause(); return p; }
static void *run(void *p) { execl("/bin/echo", "echo", "by a thread", NULL); return p; }
int main(void)
{
	pthread_t t;

	for (int i = 0; i < 5; i++)
		pthread_create(&t, NULL, wait, NULL);
	pthread_create(&t, NULL, run, NULL);
	pause();
}
END
cat >"$T/shares.c" <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static char stack[1 << 16];
static int n;
static int count(void *p) { (void)p; for (int i = 0; i < 100000; i++) n += i & 1; return 3; }
static int run(void *p) { (void)p; execl("/bin/echo", "echo", "child", NULL); return 4; }
int main(void)
{
	static const int flags[] = {CLONE_VM | SIGCHLD, CLONE_VM, SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};
	int status;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < 8; i++) {
		int flag = flags[i % 4];

		waitpid(clone(flag & CLONE_VFORK ? run : count, stack + sizeof(stack), flag, NULL), &status, __WALL);
		printf("%d %d\n", WEXITSTATUS(status), n);
	}
	return 0;
}
END
for name in threads shares; do
	${CC:-cc} -O2 -w -pthread -o "$T/$name" "$T/$name.c" || exit 2
done

commands=(
	"seq 1 3000 | sort -r | tail -2; (exit 5)"
	"sleep 0.2 & sleep 0.1 & wait; kill -9 \$\$"
	"trap 'echo got' USR1; kill -USR1 \$\$; kill -USR1 \$\$; echo end; kill -TERM \$\$"
	"sleep 5 & p=\$!; kill -STOP \$p; sleep 0.1; kill -CONT \$p; kill \$p; wait \$p; echo \$?"
	"exec sh -c 'exec sh -c \"echo last\"'"
	"$T/threads"
	"$T/shares"
	"perl -e 'for (1..9) { my \$p = fork; exit \$_ unless \$p; waitpid \$p, 0; print \$? >> 8 }'"
	"perl -e '\$SIG{ALRM} = sub { print \"alarm\" }; alarm 1; sleep 3; print 1 + 1'"
)
for command in "${commands[@]}"; do
	bash -c "$command" >"$T/plain" 2>/dev/null </dev/null
	wanted="$? $(<"$T/plain")"
	for options in '-f' "-f -t $libc" "-t $libc" "-f -q 100 -t $libc"; do
		# shellcheck disable=SC2086 # several words
		timeout 100 "$B/supervised" $options -- bash -c "$command" >"$T/out" 2>/dev/null </dev/null
		is "$? $(<"$T/out")" "$wanted" "${options/$libc/libc}: ${command:0:40}"
	done
done

# ---- it is killed at any moment, a thousand times each (KILLS) ----
cat >"$T/loads.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static char *library;
static void *opens(void *n)
{
	long sum = 0;

	for (long i = 0; i < (long)n; i++) {
		void *h = dlopen(library, RTLD_NOW);

		sum += ((int (*)(int))dlsym(h, "loaded"))(i);
		dlclose(h);
	}
	return (void *)sum;
}
int main(int argc, char **argv)
{
	void *sum, *n = (void *)atol(argv[2]);
	pthread_t t;

	library = argv[1];
	pthread_create(&t, NULL, opens, n);
	printf("%ld ", (long)opens(n));
	pthread_join(t, &sum);
	printf("%ld\n", (long)sum);
	return 0;
}
END
echo 'int loaded(int n) { int sum = 0; for (int i = 0; i < n % 50; i++) sum += i % 3 ? i : -n; return sum; }' >"$T/loaded.c"
${CC:-cc} -O2 -w -pthread -o "$T/loads" "$T/loads.c" && ${CC:-cc} -O2 -shared -fPIC -o "$T/loaded.so" "$T/loaded.c" &&
	${CC:-cc} -O2 -w -pthread -Itests/progs -o "$T/inlined" tests/progs/inlined.c || exit 2
for command in "inlined mix 8" "loads $T/loaded.so 300"; do
	for options in '-k 100000' '-a 30000 -k 5000' '-a 30000 -k 60000' '-a 30000 -q 20' '-a 30000 -q 20 -k 30000'; do
		"$T"/$command >"$T/plain"
		# shellcheck disable=SC2086 # several words
		timeout 3000 "$B/supervised" -n "${KILLS:-1000}" $options -f -t "$T/${command%% *}" -t "$T/loaded.so" -- \
			"$T"/$command >"$T/out" 2>/dev/null </dev/null
		is "$(sort "$T/out" | uniq -c | awk '{ $1 = $1 } 1')" \
			"$(printf '%s\n' "${KILLS:-1000} $(<"$T/plain")" "${KILLS:-1000} status 0" | sort -k2)" \
			"$options: ${command%% *}"
	done
done
done_testing
