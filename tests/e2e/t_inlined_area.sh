#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The memory that programs write their logs to: how much it is, what it leaves in a program, and what a hostile one does
# with it.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'

cat >"$T/work.h" <<'END_OF_WORK'
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define LOGS 0x2a0000000000ul
static volatile int seen; /* so that the function has a branch and is wide, whatever the compiler */
__attribute__((noipa)) static int work(int n) { if (n > 3) seen = n; return n > 3 ? n * 2 : n - 1; }
END_OF_WORK
entries() { grep -c '"event":"entry"' "$T/json"; }

# ---- threads, processes, descriptors ----
source_program many c -O1 -pthread <<'END_OF_C'
/* many N: that many threads at a time call work(), then a child and its child; prints how many descriptors more there are,
 * how many files logs are in, and how many of these the children have too. */
#include "work.h"
static unsigned long files[64];
static int nfiles;
static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}
/* Returns how many were known; adds those that weren't. */
static int find_files(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, ino;
	char line[400];
	int known = 0;

	while (fgets(line, sizeof(line), f)) {
		int i;

		if (sscanf(line, "%lx-%*x %*s %*x %*s %lu", &start, &ino) != 2 || start >> 40 != LOGS >> 40)
			continue;
		for (i = 0; i < nfiles && files[i] != ino; i++)
			;
		known += i < nfiles;
		if (i == nfiles)
			files[nfiles++] = ino;
	}
	fclose(f);
	return known;
}
static pthread_barrier_t all;
static void *run(void *n)
{
	work((long)n);
	pthread_barrier_wait(&all);
	return NULL;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), before = descriptors(), known, status;
	pthread_t t[200];

	pthread_barrier_init(&all, NULL, n + 1);
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	pthread_barrier_wait(&all);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	find_files();
	printf("%d more descriptors, %d files, ", descriptors() - before, nfiles);
	fflush(stdout);
	if (!fork()) {
		work(1);
		known = find_files();
		if (!fork()) {
			work(2);
			_exit(known + find_files());
		}
		wait(&status);
		_exit(WEXITSTATUS(status));
	}
	wait(&status);
	printf("%d known\n", WEXITSTATUS(status));
	return 0;
}
END_OF_C
bb user "$T/many" work -f --engine inline -F json -o "$T/json" -- "$T/many" 40
exits 0 'threads that need a further area, and children'
is "$(entries)" 42 'each call is shown'
is "$(cat "$T/out")" '0 more descriptors, 3 files, 0 known' \
	'16, 16 and 32 slots; no descriptor stays; a child can not reach the logs of its parent'

# ---- no descriptor is free ----
source_program full c -O1 <<'END_OF_C'
/* full FILE: has all descriptors in use; calls work() until FILE is there. */
#include "work.h"
int main(int argc, char **argv)
{
	int n = 0;

	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	printf("%d\n", n);
	fflush(stdout);
	while (access(argv[1], F_OK)) {
		work(n);
		usleep(1000);
	}
	return 0;
}
END_OF_C
(ulimit -n 30 && exec "$T/full" "$T/until") >"$T/out.full" &
full=$!
at_end "kill $full 2>/dev/null"
wait_for "$PATIENCE" test -s "$T/out.full"
bb user "$T/full" work -p $full --engine inline -l 10 -F json -o "$T/json"
exits 0 'a process without a free descriptor is traced'
like "$T/err" "by probes instead, since .*it has no file descriptor left for its log \(RLIMIT_NOFILE\)" 'by probes, which is said'
: >"$T/until"
wait $full
is $? 0 'it ends as ever'

# ---- little address space ----
source_program little c -O1 <<'END_OF_C'
#include "work.h"
int main(void)
{
	char *p;

	for (int i = 0; i < 10; i++)
		work(i);
	p = malloc(100 << 20);
	puts(p ? "has it" : "no memory");
	return !p;
}
END_OF_C
for kib in 1000000 150000; do
	(ulimit -v $kib && exec "$T/little") >"$T/untraced"
	bb user "$T/little" work --engine inline -F json -o "$T/json" -- sh -c "ulimit -v $kib; exec $T/little"
	exits 0 "ulimit -v $kib: the program has the memory that it needs"
	same "$T/out" "$T/untraced" 'its output is as untraced'
	is "$(entries)" 10 'by copies that log all calls'
done

# ---- little memory: a control group that has hardly more than the program needs ----
source_program crowd c -O1 -pthread <<'END_OF_C'
/* 20 MB, and eight threads that are all there at once. */
#include "work.h"
static pthread_barrier_t all;
static void *run(void *unused)
{
	long sum = 0;

	pthread_barrier_wait(&all);
	for (int i = 0; i < 100000; i++)
		sum += work(i % 7);
	pthread_barrier_wait(&all);
	return (void *)sum;
}
int main(void)
{
	char *p = malloc(20 << 20);
	long sum = 0;
	pthread_t t[8];

	memset(p, 1, 20 << 20);
	pthread_barrier_init(&all, NULL, 8);
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 8; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (long)r;
	}
	printf("%ld %d\n", sum, p[12345]);
	return 3;
}
END_OF_C
# $group, with $limit and $peak: the names of its files
memory_group() {
	local v1 v2

	v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	if [[ $v1 ]]; then
		group=$v1 limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
	else
		group=$v2 limit=memory.max peak=memory.peak
		[[ $v2 ]] && echo +memory >"$v2/cgroup.subtree_control"
	fi 2>/dev/null
	[[ $group ]] && mkdir "$group/bbtrace-test.$$" 2>/dev/null || return
	group+=/bbtrace-test.$$
	at_end "rmdir '$group'"
	[[ -e $group/$limit && -e $group/$peak ]]
}
if memory_group; then
	inside="echo \$\$ >$group/cgroup.procs; exec $T/crowd"
	sh -c "$inside" >"$T/untraced"
	needed=$(<"$group/$peak")
	echo $((needed + (1 << 19))) >"$group/$limit"
	for options in -c '-F summary' '--last 50' '-F json' "-f -o $T/crowd.trace"; do
		# shellcheck disable=SC2086 # several
		bb user "$T/crowd" work --engine inline $options -- sh -c "$inside"
		exits 3 "$((needed >> 10)) KiB in a group of half a MiB more ($options): traced"
		is "$(grep -xFf "$T/untraced" "$T/out")" "$(<"$T/untraced")" 'its output is as untraced'
	done
else
	skip 'a group with little memory' 'no control group of memory may be made here'
fi

# ---- a program that writes whatever it likes to its log ----
source_program forges c -O1 -pthread <<'END_OF_C'
/* forges: random words in the heads of its logs, other mappings in their place, its descriptors replaced by one of a file
 * that it may only read, all while threads begin and end. */
#include "work.h"
static int file;
static volatile int stop;
static uint64_t seed = 88172645463325252ul;
static uint64_t word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> (seed & 63);
}
static void *forge(void *unused)
{
	while (!stop) {
		uint64_t *head = (uint64_t *)(LOGS + 0x102000 * (1 + word() % 15));
		/* all but the cursor, the limit and the base, which only harm itself */
		for (int i = 2; i < 16; i++)
			if (i != 8)
				__atomic_store_n(&head[i], word(), __ATOMIC_RELAXED);
		usleep(50);
	}
	return NULL;
}
static void *replace(void *unused)
{
	while (!stop)
		for (int fd = file + 1; fd < file + 5; fd++)
			dup2(file, fd);
	return NULL;
}
static void *begin(void *at)
{
	while (!stop)
		if (!madvise(at, 4096, MADV_NORMAL))
			mmap(at, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
	return NULL;
}
static void *idle(void *unused)
{
	while (!stop)
		usleep(10000);
	return NULL;
}
int main(int argc, char **argv)
{
	unsigned char there;
	pthread_t t;

	alarm(20);
	file = open(argv[1], O_RDONLY);
	for (int i = 0; i < 100; i++)
		work(i);
	if (mincore((void *)LOGS, 4096, &there))
		return 0; /* traced by probes */
	pthread_create(&t, NULL, forge, NULL);
	pthread_create(&t, NULL, replace, NULL);
	pthread_create(&t, NULL, begin, (void *)(LOGS + 0x1000000000ul));
	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, idle, NULL);
		usleep(1000);
	}
	sleep(1);
	stop = 1;
	_exit(0);
}
END_OF_C
head -c 2000000 /dev/zero | tr '\0' A >"$T/victim"
chmod 644 "$T/victim"
chmod 755 "$T"
sum=$(cksum <"$T/victim")
for last in '' '--last 100'; do
	# shellcheck disable=SC2086 # two words
	(ulimit -v 4000000 && bb user "$T/forges" work --engine inline -u nobody $last -F summary -o "$T/summary" -- "$T/forges" "$T/victim"
		echo $status >"$T/status")
	ok $(($(cat "$T/status") != 0 && $(cat "$T/status") <= 128)) \
		"a program that forges its log${last:+, $last}: status $(cat "$T/status") is its own"
	is "$(cksum <"$T/victim")" "$sum" 'a file that it may only read is as it was'
	unlike "$T/err" 'bbtrace-inline was killed|Sanitizer' 'nothing of bbtrace crashes'
done
done_testing
