#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: what a library has decided, which --again traces; a message that is written piece by piece, or through a
# logger of the program's; what isn't a reason.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2
export LD_LIBRARY_PATH=$T

# why OPTION... -- COMMAND...
why() { bb why "$@" -o "$T/said" -- "${command[@]}"; }
# line FILE TEXT: the number of the line that has it
line() { grep -n "$2" "$T/$1" | head -1 | cut -d: -f1; }

# ---- libraries ----
cat >checks.c <<'END'
#include <errno.h>
#include <stdio.h>
static __attribute__((noipa)) int inner(int n)
{
	if (n > 7) /* too large */
		return -E2BIG;
	return n;
}
int measure(int n)
{
	return inner(n) < 0 ? -E2BIG : n * 2;
}
int complain(int n)
{
	if (n & 1) { /* odd */
		fprintf(stderr, "checks: this number is not even\n");
		return 1;
	}
	return 0;
}
__asm__(".skip 2200000, 0xcc"); /* too large to be traced at once */
END
cc -g -O1 -shared -fPIC -Wl,-z,now -o libchecks.so checks.c
cat >uses.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int measure(int n), complain(int n);
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	if (complain(n))
		return 1;
	if (measure(n) < 0) { /* measured */
		fprintf(stderr, "uses: cannot measure\n");
		return 2;
	}
	return 0;
}
END
cc -g -O1 -o uses uses.c -L. -lchecks

command=(./uses 3)
why
exits 1 'a library writes the message: the status'
like "$T/said" '^  its text is in complain\+0x[0-9a-f]+ of libchecks\.so: .*, which --again traces$' 'its code is named, and what traces it'
unlike "$T/said" '^  because main' 'no branch of the program is its reason'
bb why -F json -o "$T/json" -- "${command[@]}"
is "$(json_lines "$T/json" '$e->{event} eq "ending" && join " ", map { "$_->{function} $_->{traced} $_->{text}" } @{$e->{messages}[0]{text_in}}')" \
	'complain 0 checks: this number is not even' 'JSON has the same'
why --again
exits 1 '--again: the status'
like "$T/said" "^  because complain\\+0x[0-9a-f]+ .* checks\\.c:$(line checks.c odd)\$" "--again: the library's branch"
unlike "$T/said" 'which --again traces' 'nothing more to trace is named'
like "$T/err" 'run 2 of ./uses, which traces .*libchecks\.so:complain' 'the second run says what it traces'

command=(./uses 8)
why
like "$T/said" "^  because main\\+0x[0-9a-f]+ .* uses\\.c:$(line uses.c measured)\$" "a library's result: the branch that tested it"
unlike "$T/said" 'inner' 'what the library did is not known'
why --again
exits 2 "--again, a library's result: the status"
like "$T/said" "which is the result of measure = -7, decided by .* checks\\.c:" '--again: why the library returned it'
like "$T/err" 'libchecks\.so:measure' 'it traced that function'
like "$T/said" "inner = -7|checks\\.c:$(line checks.c 'too large')" 'and, in the run after that, what that one called'

# ---- the program's own libraries, which are traced at once ----
mkdir own
cat >limits.cc <<'END'
#include <stdexcept>
#include <string>
#include <cerrno>
#include <cstdlib>
int allowed(int rate); /* of a library that this one needs */
int check_rate(const char *text)
{
	long rate = strtol(text, nullptr, 10);

	if (rate > 9600) /* too high */
		throw std::runtime_error(std::string("rate too high: ") + text);
	return allowed(rate);
}
END
cat >inner.c <<'END'
#include <errno.h>
int allowed(int rate)
{
	if (rate < 3) /* too low */
		return -EINVAL;
	return rate * 2;
}
END
cat >rate.cc <<'END'
#include <cstdio>
#include <cstring>
#include <exception>
int check_rate(const char *text);
int main(int argc, char **argv)
{
	try {
		int rate = check_rate(argv[1]);

		if (rate < 0) {
			fprintf(stderr, "rate: %s\n", strerror(-rate));
			return 2;
		}
	} catch (const std::exception &e) {
		fprintf(stderr, "rate: %s\n", e.what());
		return 3;
	}
	return 0;
}
END
sed -i 's/^int allowed/extern "C" &/' limits.cc
own() { # HOW FLAGS...: builds it, which finds its libraries by FLAGS
	local how=$1
	shift

	cc -g -O1 -shared -fPIC -o own/libinner.so inner.c && c++ -g -O1 -shared -fPIC -o own/liblimits.so limits.cc -Lown -linner "$@" &&
		c++ -g -O1 -o rate rate.cc -Lown -llimits -Wl,-rpath-link,own "$@" || exit 2
	command=(./rate 19200)
	why
	exits 3 "own libraries, $how: the status"
	like "$T/said" "after __cxa_throw, reached by check_rate.* limits\\.cc:$(line limits.cc 'too high')\$" "$how: the branch that led to the throw"
	command=(./rate 2)
	why
	exits 2 "own libraries, $how: the status of a result"
	like "$T/said" "= -22, decided by allowed.* inner\\.c:$(line inner.c 'too low')\$" "$how: one that another one needs"
}
unset LD_LIBRARY_PATH
own 'RUNPATH with $ORIGIN' -Wl,--enable-new-dtags,-rpath,'$ORIGIN/own:$ORIGIN'
own 'RPATH' -Wl,--disable-new-dtags,-rpath,"$T/own"
export LD_LIBRARY_PATH=$T/own
own 'LD_LIBRARY_PATH'

# ---- a logger of the program's, which writes a line at its end ----
source_program logs c -O1 <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char line[256];
static __attribute__((noipa)) void flush(void)
{
	size_t n = strlen(line);

	if (n && line[n - 1] == '\n') { /* whole lines */
		if (write(2, line, n) < 0)
			abort();
		line[0] = 0;
	}
}
static __attribute__((noipa)) void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line + strlen(line), sizeof(line) - strlen(line), format, args);
	va_end(args);
	flush();
}
static __attribute__((noipa)) int closes(FILE *f) { return f && fclose(f); }
int main(int argc, char **argv)
{
	int wrong = 0;

	isatty(0);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "good"))
			wrong++;
	if (closes(fopen("/dev/null", "r")) == 0) { /* closed */
		if (wrong) { /* counted */
			say("%s: ", argv[0]);
			say("%d words are wrong", wrong);
			say("\n");
			return 1;
		}
	}
	return 0;
}
END
command=(./logs good bad)
why
exits 1 'a logger: the status'
like "$T/said" "^  because main\\+0x[0-9a-f]+ .* logs\\.c:$(line logs.c counted)\$" 'the nearest test, not one of a call that succeeded'
unlike "$T/said" '(because|way) (flush|say)' "nor one of the logger's"
unlike "$T/said" 'ENOTTY' 'whether it is a terminal is a question, not a failure'

# ---- a search along PATH ----
cat >seek.sh <<'END'
false
exit 3
END
mkdir -p none
command=(env "PATH=$T/none:/usr/bin" env false)
why
exits 1 'a file that is found later along PATH: the status'
unlike "$T/said" "execve\\(\"$T/none/false" 'the search for it is no failure'
done_testing
