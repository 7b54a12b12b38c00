#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A short run: its end is noticed at once, and it loads and allocates no more than it needs. Nothing is timed: what would
# take time can't happen, or is counted.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes

# In bbtrace, waiting ends by what is waited for only, however long it takes.
"${CC:-cc}" -O2 -shared -fPIC -o "$T/patient.so" -x c - <<'END' || exit 2
#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return ppoll(fds, n, timeout_ms ? (void *)0 : &(struct timespec){0}, (void *)0);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
	return epoll_pwait(fd, events, n, timeout_ms ? -1 : 0, (void *)0);
}
END

# patient ARG...: as bb.
patient() {
	LD_PRELOAD=$T/patient.so BB_TIMEOUT=60 bb "$@"
}

program loops
patient user "$T/loops" nested -F json -o "$T/json" -- "$T/loops"
exits 0 'the end of CMD is waited for, not looked for now and then'
is "$(entries nested) $(returns nested)" '3 3' 'all that CMD did is shown'
patient user "$T/loops" nested -- sh -c 'exit 3'
exits 3 'so it is if CMD has no event'

# ---- what libbpf reads, and what the kernel is asked for ----

"${CC:-cc}" -O2 -shared -fPIC -o "$T/counted.so" -x c - -ldl <<'END' || exit 2
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void said(const char *fmt, ...)
{
	FILE *(*open)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen64");
	FILE *f = open(getenv("COUNTED"), "a");
	va_list ap;

	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

/* libbpf's types of the kernel */
FILE *fopen64(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen64");
	struct stat st;

	if ((strstr(path, "btf") || strstr(path, "vmlinux") || strstr(path, "/self/fd/")) && !stat(path, &st))
		said("types %ld\n", (long)st.st_size);
	return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fopen64(path, mode);
}

long syscall(long number, ...)
{
	long (*next)(long, ...) = dlsym(RTLD_NEXT, "syscall");
	const union bpf_attr *attr;
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	attr = (const union bpf_attr *)a[1];
	/* probes of features have no name, or libbpf's */
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD && *attr->prog_name)
		said("program %s\n", attr->prog_name);
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE &&
	    (attr->map_type == BPF_MAP_TYPE_HASH || attr->map_type == BPF_MAP_TYPE_LRU_HASH) &&
	    !(attr->map_flags & BPF_F_NO_PREALLOC))
		said("entries %u %s\n", attr->max_entries, attr->map_name);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
END

counted() {
	rm -f "$T/counted"
	COUNTED=$T/counted LD_PRELOAD=$T/counted.so bb "$@"
}
counts() { awk -v what="$1" '$1 == what { n += $2 } END { print n + 0 }' "$T/counted"; }

counted user "$T/loops" nested -l 1 -- "$T/loops"
exits 0 'a short run'
types=$(counts types)
whole=$(stat -c %s /sys/kernel/btf/vmlinux 2>/dev/null || echo 0)
if ((whole)); then
	((types > 0 && types < whole / 20))
	ok $? "libbpf gets the types that the programs name, not all" || diag "$types of $whole bytes"
else
	skip 'libbpf gets the types that the programs name' 'this kernel has none'
fi
probes() { awk '$1 == "program" && $2 ~ /^(hit_|hooked)/ { print $2 }' "$T/counted" | sort -u | xargs; }
is "$(probes | sed "s/hit_mark //; s/hit_switch //")" "hit_multi$("$BBTRACE" doctor | grep -q "^uprobe_event  *yes" && echo " hit_uprobe")" \
	'programs for the probes: that of the mechanism, the one for functions that are added later, and those of markers'
entries=$(counts entries)
((entries > 0 && entries < 70000))
ok $? 'tables have room for what the filters name' || diag "$(sort -u "$T/counted")"
counted user "$T/loops" nested -f -l 1 -- "$T/loops"
(($(counts entries) > entries + 65536))
ok $? '-f: they have room for children as well' || diag "$(sort -u "$T/counted")"
counted user "$T/loops" nested -t 0.1 --uid "$(seq -s, 200000 200099)" --comm "$(seq -s, 100)"
exits 0 'as many filters as are given'

"$BUILD/relocated" all | sort >"$T/all"
"$BUILD/relocated" some | sort >"$T/some"
cmp "$T/all" "$T/some" && (($(wc -l <"$T/all") > 100))
ok $? 'all programs are relocated as by all of the types' || diag "$(diff "$T/all" "$T/some" | head -20)"

# ---- what bbtrace doesn't wait for at its end: the kernel closes the event of a program on the root file system later ----

for opcode in jz jnz; do
	source_program $opcode c -O1 <<-END
		int main(int argc, char **argv)
		{
			int said = 0;

			__asm__ volatile("test %1, %1; $opcode 1f; mov \$1, %0; 1: nop" : "+r"(said) : "r"(argc - 1));
			return said;
		}
	END
done
cp "$T/jz" "$T/rewritten"
wrong=
for _ in {1..6}; do
	for opcode in jz jnz; do
		cat "$T/$opcode" >"$T/rewritten"
		bb user "$T/rewritten" main --attach uprobe_event -- "$T/rewritten"
		[[ $status == $([[ $opcode == jz ]] && echo 0 || echo 1) ]] || wrong+=" $opcode: $status"
	done
done
is "$wrong" '' "a program that is rewritten in place: each run executes the instruction that is there" || diag "$(tail -3 "$T/err")"

mkdir "$T/mounted"
if own_namespaces && mount -t tmpfs none "$T/mounted"; then
	cp "$T/loops" "$T/mounted/"
	bb user "$T/mounted/loops" nested --attach uprobe_event -- "$T/mounted/loops"
	umount "$T/mounted"
	ok $? "a file system of the program's own can be unmounted at once"
else
	skip "a file system of the program's own can be unmounted at once" 'nothing can be mounted here'
fi

# ---- libraries ----

! readelf -d "$BBTRACE" | grep -qi capstone
ok $? 'Capstone, which few runs need, is not loaded at the start'
done_testing
