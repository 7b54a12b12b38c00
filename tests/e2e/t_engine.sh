#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without --engine: a command is traced by copies where that can't harm it, everything else by probes; what is shown is the
# same. -v says which and why.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:setpriv
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
unset BBTRACE_ENGINE
libc=$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')

program ladder -O1 -g
copied='^bbtrace: [1-9][0-9]* function(s are| is) copied$'

# ---- copies, for a command ----
bb user "$T/ladder" classify -v -F json -o "$T/auto" -- "$T/ladder"
exits 0 'a command is traced'
like "$T/err" "$copied" 'by copies'
is "$(json "$T/auto" '$e->{event} =~ /^(entry|branch|return)$/ && !defined $e->{ts}')" 0 'each of its events has a time'
bb user "$T/ladder" classify -v -F json -o "$T/probe" --engine probe -- "$T/ladder"
unlike "$T/err" "$copied" '--engine probe: by probes'
ok "$(diff <(steps "$T/auto") <(steps "$T/probe") >"$T/diff"; echo $?)" 'both show the same' || diag "$(head -n 6 "$T/diff")"
bb user "$T/ladder" classify -v -o "$T/trace" -- "$T/ladder"
like "$T/err" "$copied" 'a trace file is made by copies'
bb report "$T/trace" -F json
ok "$(diff <(steps "$T/out" | grep -v '"summary"') <(steps "$T/probe" | grep -v '"summary"') >"$T/diff"; echo $?)" \
	'it has the same in it' || diag "$(head -n 6 "$T/diff")"

# ---- probes, and why ----
# by_probes WHY NAME ARG...
by_probes() {
	bb "${@:3}"
	exits "${wanted:-0}" "$2 is traced"
	like "$T/err" "^bbtrace: --engine auto: by probes, since .*$1" "$2: by probes"
}
by_probes 'all children of a command' 'a command with its children' user "$T/ladder" classify -v -f -- "$T/ladder"
by_probes 'copies aren.t for --attach' '--attach' user "$T/ladder" classify -v --attach uprobe_event -- "$T/ladder"
by_probes 'copies aren.t for --returns probe' '--returns probe' user "$T/ladder" classify -v --returns probe -- "$T/ladder"
background sleep 600
by_probes 'processes that run already' 'a process that runs' user libc.so.6 clock_nanosleep -v -p "$background" -t 0.1
setpriv --bounding-set -checkpoint_restore,-sys_admin "$BBTRACE" user "$T/ladder" classify -v --engine inline -- "$T/ladder" \
	>"$T/out" 2>"$T/err"
like "$T/err" '^bbtrace: --engine inline: tracing by probes instead, since copying functions needs CAP_CHECKPOINT_RESTORE$' \
	'without the capability for copies it is traced by probes, which is said'
like "$T/err" ', 0 lost' 'and it is traced'
[[ $(summary events) != 0 ]]
ok $? 'without the capability for copies events are seen'

# ---- programs that a tracer would harm ----
source_program traces c <<'END'
/* traces its child, as a debugger does */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(9);
		raise(SIGSTOP);
		_exit(7);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_CONT, child, 0, 0);
	waitpid(child, &status, 0);
	free(malloc(10));
	return WEXITSTATUS(status);
}
END
wanted=7 by_probes 'uses ptrace' 'a debugger' user "$libc" malloc -v -- "$T/traces"
source_program sets c <<'END'
#include <sys/syscall.h>
#include <stdlib.h>
#include <unistd.h>
static long own[8];
int main(void)
{
	free(malloc(10));
	return syscall(SYS_arch_prctl, 0x1001, own) != 0;
}
END
by_probes 'the register that locates the log' 'a program that sets gs' user "$libc" malloc -v -- "$T/sets"
unlike "$T/err" 'not traced any more' 'and to its end'
cat >"$T/leaks.c" <<'END'
#include <stdlib.h>
void *volatile p;
int main(void)
{
	p = malloc(10);
	free(p);
	return 0;
}
END
for build in "cc -fsanitize=address" "cc -fsanitize=leak" "clang -fsanitize=address"; do
	if ! $build -o "$T/leaks" "$T/leaks.c" 2>/dev/null || ! "$T/leaks"; then
		skip "$build" 'cannot be built here'
		continue
	fi
	by_probes 'leak checker' "$build" user "$libc" calloc -v -- "$T/leaks"
	bb user "$libc" calloc --engine inline -- "$T/leaks"
	exits 0 "$build, --engine inline: its leak checker works"
	like "$T/err" 'tracing by probes instead, since the command has a leak checker' "$build, --engine inline: by probes, which is said"
done

# ---- scripts are judged by their interpreters ----
printf '#!%s\n' "$T/traces" >"$T/script"
printf '#!/usr/bin/env -S NAME=1 %s\n' "$T/traces" >"$T/by_env"
printf '#!%s\n' "$T/script" >"$T/twice"
printf '#!/bin/sh\necho a script\n' >"$T/plain"
chmod +x "$T"/{script,by_env,twice,plain}
for script in script by_env twice; do
	wanted=7 by_probes 'uses ptrace' "$script" user "$libc" malloc -v -- "$T/$script"
done
bb user "$libc" malloc -v -- "$T/plain"
like "$T/err" "$copied" 'a script of the shell is traced by copies'
like "$T/out" '^a script$' 'it does what it does'
printf '#!%s\n' "$T/itself" >"$T/itself"
printf '#!' >"$T/nothing"
: >"$T/empty"
head -c 300 /dev/zero | tr '\0' '#' | sed 's/^##/#!/' >"$T/long"
chmod +x "$T"/{itself,nothing,empty,long}
for script in itself nothing empty long; do
	bb user "$libc" malloc -v -t 60 -- "$T/$script"
	ok $((status > 127)) "$script: an end, whatever it is: $status"
	"$T/$script" >/dev/null 2>&1
done

# ---- BBTRACE_ENGINE ----
BBTRACE_ENGINE=probe bb user "$T/ladder" classify -v -- "$T/ladder"
unlike "$T/err" "$copied" 'BBTRACE_ENGINE=probe: by probes'
BBTRACE_ENGINE=probe bb user "$T/ladder" classify -v --engine inline -- "$T/ladder"
like "$T/err" "$copied" '--engine goes before it'
BBTRACE_ENGINE=inline bb user "$T/ladder" classify -v -f -- "$T/ladder"
like "$T/err" "$copied" 'BBTRACE_ENGINE=inline: by copies'
BBTRACE_ENGINE=inline bb user "$T/ladder" classify --comm nosuch -t 0.1
exits 0 'BBTRACE_ENGINE=inline: what copies are not for is traced'
BBTRACE_ENGINE=fast bb user "$T/ladder" classify -- "$T/ladder"
exits 2 'an unknown engine is wrong usage'
like "$T/err" "^bbtrace: BBTRACE_ENGINE: unknown value 'fast': use probe, inline or auto" 'and the message says whose'
done_testing
