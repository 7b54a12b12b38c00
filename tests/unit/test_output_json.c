// SPDX-License-Identifier: BSD-2-Clause
/* The json format: each field byte by byte, and every line is strict JSON, whatever the names are.
 */
#include <unistd.h>
#include "output_fixture.h"
#include "json_check.h"

static struct output_options options;

#define shows(want, what, ...)                                                                     \
	do {                                                                                       \
		const struct step steps_[] = {__VA_ARGS__};                                        \
		autofree char *got_ =                                                              \
			fixture_render("json", &options, steps_, ARRAY_SIZE(steps_));              \
		is_str(got_, want, what);                                                          \
		ok(json_check__lines_ok(got_), "%s, in strict JSON", what);                        \
	} while (0)

#define TASK	    "\"pid\":7,\"tid\":7,\"comm\":\"ls\""
#define HEAD(event) "{\"ts\":1000012345," TASK ",\"cpu\":1,\"event\":\"" event "\""
#define HEAD_IN(context, event)                                                                    \
	"{\"ts\":1000012345," TASK ",\"cpu\":1,\"context\":\"" context "\",\"event\":\"" event "\""
#define LATE(event) "{" TASK ",\"event\":\"" event "\""
#define PLACE(off, vaddr)                                                                          \
	"\"object\":\"" LIBC "\",\"symbol\":\"malloc\",\"offset\":" off ",\"vaddr\":\"" vaddr "\""
#define MAIN "{\"object\":\"" LS "\",\"symbol\":\"main\",\"offset\":36,\"vaddr\":\"0x4444\"}"

static void test_entry(void)
{
	const struct location frames[] = {fixture_main(), {.addr = 0x1234}};
	const uint64_t args[6] = {1, 2, 3, 4, 5, UINT64_MAX};
	struct step e = fixture_entry();

	shows(HEAD("entry") "," PLACE("0", "0x98580") ",\"depth\":0,\"regs\":{\"rdi\":\"0x18\","
						      "\"rsi\":\"0x0\"}}\n",
	      "an entry has its place, depth and argument registers", e);
	e.has_since = true;
	e.since_entry = 1250;
	e.syscall_args = args;
	e.nsyscall_args = 6;
	e.stack = frames;
	e.nstack = 2;
	e.depth = 3;
	shows(HEAD("entry") "," PLACE("0", "0x98580") ",\"depth\":3,\"regs\":{\"rdi\":\"0x18\","
						      "\"rsi\":\"0x0\"},\"syscall_args\":[\"0x1\","
						      "\"0x2\",\"0x3\",\"0x4\",\"0x5\","
						      "\"0xffffffffffffffff\"],\"since_entry_ns\":"
						      "1250,\"stack\":[" MAIN
						      ",{\"object\":null,\"vaddr\":\"0x1234\"}]}\n",
	      "an entry may have syscall arguments, the time since the last one, and a stack", e);
	e.interrupt = IN_HARDIRQ | IN_SOFTIRQ;
	e.nstack = 0;
	e.has_since = false;
	e.stack_end = STACK_NO_POINTER;
	options.show_regs = false;
	shows(HEAD_IN("hardirq",
		      "entry") "," PLACE("0", "0x98580") ",\"depth\":3,\"stack\":[],"
							 "\"stack_end\":\"no_frame_pointer\"}\n",
	      "an entry has no registers with -r none, and an empty stack if that could not be read",
	      e);
	options = fixture_options;
}

/* b: a jne that is taken. */
static void test_why(struct step b)
{
#define WHY(members)                                                                                   \
	HEAD("branch")                                                                                 \
	"," PLACE("37", "0x985a5") ",\"kind\":\"jcc\",\"insn\":\"jne\",\"taken\":true,\"to\":{" PLACE( \
		"80", "0x985d0") "}," members "\"depth\":0}\n"
	fixture_sites[SITE_JNE].compare = "cmp eax, dword ptr [rdi]";
	b.tested = (struct tested){TESTED | TESTED_TWO | TESTED_AGAIN | 2 << TESTED_SIZE_SHIFT,
				   {0xffffffff, 0}};
	shows(WHY("\"why\":{\"compare\":\"cmp eax, dword ptr [rdi]\",\"values\":[\"0xffffffff\","
		  "\"0x0\"],\"bits\":32,\"read_again\":true},"),
	      "what was compared is told", b);
	fixture_sites[SITE_JNE].compare = "and al, 0x01";
	b.tested = (struct tested){TESTED | TESTED_RESULT, {1}};
	shows(WHY("\"why\":{\"compare\":\"and al, 0x01\",\"values\":[\"0x1\"],\"result\":true,"
		  "\"bits\":8},"),
	      "a result is called so", b);
	fixture_sites[SITE_JNE].compare = NULL;
	shows(WHY(""), "without the comparison there is nothing to tell", b);
#undef WHY
}

static void test_branch(void)
{
	struct step b = fixture_branch(SITE_JNE, true, fixture_at(80));

	shows(HEAD("branch") "," PLACE(
		      "37", "0x985a5") ",\"kind\":\"jcc\",\"insn\":\"jne\",\"taken\":"
				       "true,\"to\":{" PLACE("80", "0x985d0") "},\"depth\":0}\n",
	      "a taken branch is as in the example of CONTRACT.md", b);
	test_why(b);
	b = fixture_branch(SITE_LOOP, false, fixture_at(41));
	shows(HEAD("branch") "," PLACE(
		      "39", "0x985a7") ",\"kind\":\"loop\",\"insn\":\"jrcxz\",\"taken\":"
				       "false,\"to\":{" PLACE("41", "0x985a9") "},\"depth\":0}\n",
	      "a branch that was not taken says so", b);
	b = fixture_branch(SITE_RET, true, fixture_main());
	b.timed = false;
	b.implied = true;
	shows(LATE("branch") "," PLACE("64",
				       "0x985c0") ",\"kind\":\"ret\",\"insn\":\"ret\",\"to\":" MAIN
						  ",\"implied\":true,\"depth\":0}\n",
	      "an implied ret has no time and no CPU, and is neither taken nor not", b);
}

static void test_targets(void)
{
	struct step b = fixture_branch(SITE_ICALL, false, fixture_main());

#define ICALL HEAD("branch") "," PLACE("56", "0x985b8") ",\"kind\":\"icall\",\"insn\":\"call\""
	b.to.symbol = NULL;
	shows(ICALL ",\"to\":{\"object\":\"" LS "\",\"vaddr\":\"0x4444\"},\"depth\":0}\n",
	      "a target without symbol has its object and address", b);
	b.to = (struct location){.addr = 0x7fff1000};
	shows(ICALL ",\"to\":{\"object\":null,\"vaddr\":\"0x7fff1000\"},\"depth\":0}\n",
	      "a target in anonymous memory has its running address", b);
	b.to_known = false;
	shows(ICALL ",\"depth\":0}\n", "an unknown target is absent", b);
	b.at.symbol = NULL;
	shows(HEAD("branch") ",\"object\":\"" LIBC "\",\"vaddr\":\"0x985b8\",\"kind\":\"icall\","
			     "\"insn\":\"call\",\"depth\":0}\n",
	      "a site that no symbol covers has its object and address", b);
	b.site = NO_SITE;
	b.at = fixture_at(0);
	shows(HEAD("branch") "," PLACE("0", "0x98580") ",\"depth\":0}\n",
	      "a site that the plan doesn't have has no kind", b);
}

static void test_kinds(void)
{
	static const struct {
		enum fixture_site site;
		const char *kind;
	} rows[] = {
		{SITE_JNE, "jcc"},   {SITE_LOOP, "loop"},   {SITE_JMP, "jmp"}, {SITE_CALL, "call"},
		{SITE_IJMP, "ijmp"}, {SITE_ICALL, "icall"}, {SITE_RET, "ret"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct step b = fixture_branch(rows[i].site, true, fixture_main());
		autofree char *got = fixture_render("json", &options, &b, 1);
		autofree char *kind = xasprintf("\"kind\":\"%s\",", rows[i].kind);
		bool conditional = i < 2;

		ok(strstr(got, kind) && !strstr(got, "\"taken\"") == !conditional,
		   "a branch of kind %s says so, and whether it was taken if it is conditional",
		   rows[i].kind);
	}
}

static void test_return(void)
{
	struct step r = fixture_return();

	shows(HEAD("return") "," PLACE("0", "0x98580") ",\"depth\":0,\"value\":\"0x5581a2c0\","
						       "\"duration_ns\":1299}\n",
	      "a return has its value and duration", r);
	r.has_tracing = true;
	r.tracing = 1000;
	r.noise = 149;
	shows(HEAD("return") "," PLACE("0", "0x98580") ",\"depth\":0,\"value\":\"0x5581a2c0\","
						       "\"duration_ns\":1299,\"net_ns\":299}\n",
	      "a return has its duration without tracing", r);
	r.noise = 150;
	shows(HEAD("return") "," PLACE("0",
				       "0x98580") ",\"depth\":0,\"value\":\"0x5581a2c0\","
						  "\"duration_ns\":1299,\"below_noise\":true}\n",
	      "or says that it is below the noise", r);
	r.noise = 0;
	r.tracing = 1299;
	shows(HEAD("return") "," PLACE("0",
				       "0x98580") ",\"depth\":0,\"value\":\"0x5581a2c0\","
						  "\"duration_ns\":1299,\"below_noise\":true}\n",
	      "which is never a net time of 0", r);
	r.has_duration = false;
	shows(HEAD("return") "," PLACE("0", "0x98580") ",\"depth\":0,\"value\":\"0x5581a2c0\"}\n",
	      "a return of a call whose entry was not seen has no duration", r);
	r.has_value = false;
	r.timed = false;
	r.implied = true;
	shows(LATE("return") "," PLACE("0", "0x98580") ",\"implied\":true,\"depth\":0}\n",
	      "a return that was neither read nor timed has no value and no duration", r);
}

static void test_others(void)
{
	static const struct {
		enum step_type type;
		const char *want;
	} rows[] = {
		{STEP_LOST, LATE("lost") ",\"count\":17}\n"},
		{STEP_UNKNOWN, LATE("unknown") "}\n"},
		{STEP_FORK, LATE("fork") "}\n"},
		{STEP_EXEC, LATE("exec") "}\n"},
		{STEP_EXIT, LATE("exit") "}\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct step s = fixture_step(rows[i].type, SITE_JNE);

		s.count = 17;
		s.timed = false;
		shows(rows[i].want, "an event without place has its thread and name only", s);
	}
}

static void test_global(void)
{
	struct step s = {.type = STEP_STOP, .timed = true, .time = 5, .site = NO_SITE, .comm = ""},
		    m = s, b = s;

	s.function = m.function = b.function = NO_FUNCTION;
	b.type = STEP_START;
	m.type = STEP_MARK;
	m.text = "a \"b\"\n\033[1m\xff";
	shows("{\"ts\":5,\"event\":\"stop\"}\n{\"ts\":5,\"event\":\"start\"}\n"
	      "{\"ts\":5,\"event\":\"mark\",\"text\":\"a \\\"b\\\"\\u000a\\u001b[1m\xef\xbf\xbd\"}\n",
	      "what is of no thread has its time alone, and a mark its text", s, b, m);
	s.text = b.text = "f \"of\" 7";
	b.count = 1500;
	shows("{\"ts\":5,\"event\":\"stop\",\"by\":\"f \\\"of\\\" 7\"}\n"
	      "{\"ts\":5,\"event\":\"start\",\"by\":\"f \\\"of\\\" 7\",\"since_asked_ns\":1500}\n",
	      "what asked for a stop or a start, and how long ago", s, b);
	m = fixture_step(STEP_MARK, SITE_JNE);
	m.text = "x";
	m.count = -3;
	shows("{\"ts\":1000012345," TASK ",\"event\":\"mark\",\"text\":\"x\",\"number\":-3}\n",
	      "a thread's mark has the thread and its number, but no CPU", m);
}

static void test_task(void)
{
	struct step s = fixture_step(STEP_EXIT, SITE_ENTRY);

	s.ns_pid = 7;
	s.tid = 8;
	s.comm = "";
	shows("{\"ts\":1000012345,\"pid\":7,\"tid\":8,\"cpu\":1,\"event\":\"exit\"}\n",
	      "an unknown name of a thread is absent, and so is an ns_pid equal to pid", s);
	s.ns_pid = 1;
	shows("{\"ts\":1000012345,\"pid\":7,\"tid\":8,\"ns_pid\":1,\"cpu\":1,\"event\":\"exit\"}\n",
	      "ns_pid is the PID as the process sees it", s);
}

static const char *const hostile[] = {
	"",
	"\"",
	"\\",
	"\\u0000",
	"a\"b\\c/d",
	"line\nbreak\r\t",
	"\033[2J\033]0;title\007",
	"\177\xc2\x80\xc2\x9b",
	"\xff\xfe",
	"\xc0\x80",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"cut \xe2\x82",
	"\xe2\x82\xac \xf0\x9f\x90\x9b na\xc3\xafve",
	"</script>",
	"\xe2\x80\xa8",
};

/* Every kind of step with a hostile name in every string that comes from outside. */
static char *hostile_lines(void)
{
	struct step steps[ARRAY_SIZE(hostile) * STEP_TYPES];
	struct location frames[ARRAY_SIZE(hostile)];

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const char *name = hostile[i % ARRAY_SIZE(hostile)];
		struct location at = {0x1000, name, name, 0, 0x1000};

		frames[i % ARRAY_SIZE(hostile)] = at;
		steps[i] = fixture_step(i / ARRAY_SIZE(hostile), SITE_JNE);
		steps[i].comm = name;
		steps[i].at = steps[i].to = at;
		steps[i].to_known = true;
		steps[i].regs = fixture_regs;
		steps[i].stack = frames;
		steps[i].nstack = i % ARRAY_SIZE(hostile) + 1;
	}
	return fixture_render("json", &options, steps, ARRAY_SIZE(steps));
}

static void test_named(void)
{
	const struct location frames[] = {fixture_main()};
	struct event_named many = fixture_event;
	struct step n = fixture_step(STEP_NAMED, SITE_ENTRY);

	shows(HEAD("tracepoint") ",\"name\":\"sched:sched_switch\",\"args\":{\"comm\":\"ls\\\"\","
				 "\"prio\":-5,\"addr\":\"0x1234\",\"ids\":[7,264],\"file\":\"/etc\","
				 "\"busy\":true,\"raw\":\"ab00cd\"},\"depth\":0}\n",
	      "a named event has its fields by name", n);
	many.count = 3;
	many.len = 0;
	n.named = &many;
	n.has_at = true;
	n.stack = frames;
	n.nstack = 1;
	n.stack_end = STACK_LIMIT;
	shows(HEAD("tracepoint") ",\"name\":\"sched:sched_switch\",\"args\":{}," PLACE(
		      "0", "0x98580") ",\"depth\":0,\"stack\":[" MAIN
				      "],\"stack_end\":\"limit\",\"count\":3}\n",
	      "one that stands for several has their number, a place and a stack", n);
}

static void test_hostile(void)
{
	autofree char *text = hostile_lines();
	bool printable = true;
	size_t lines = 0;

	for (const unsigned char *p = (unsigned char *)text; *p; p++) {
		lines += *p == '\n';
		printable &= *p == '\n' || (*p >= 0x20 && *p != 0x7f);
		printable &= !(p[0] == 0xc2 && p[1] < 0xa0);
	}
	ok(json_check__lines_ok(text), "hostile names give strict JSON");
	is(lines, ARRAY_SIZE(hostile) * STEP_TYPES, "hostile names give one line a step");
	ok(printable, "no control character of a hostile name is written raw");
}

static void test_checker_is_strict(void)
{
	static const char *const bad[] = {
		"{}",
		"[]\n",
		"{\"a\":01}\n",
		"{\"a\":1,}\n",
		"{\"a\" :1}\n",
		"{\"a\":\"\x01\"}\n",
		"{\"a\":\"\xff\"}\n",
		"{\"a\":\"\\x\"}\n",
		"{a:1}\n",
		"{\"a\":tru}\n",
		"{\"a\":\"\\u12g4\"}\n",
		"{\"a\":1}{}\n",
		"{\"a\":\"\xed\xa0\x80\"}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!json_check__lines_ok(bad[i]), "the checker refuses bad text %zu", i);
}

static bool have(const char *command)
{
	autofree char *line = xasprintf("command -v %s >/dev/null 2>&1", command);

	return !system(line);
}

/* The lines with hostile names through other parsers. */
static void test_other_parsers(void)
{
	static const struct {
		const char *command, *script;
	} parsers[] = {
		{"python3", "python3 -c 'import sys, json\nfor l in open(sys.argv[1], \"rb\"): "
			    "json.loads(l.decode(\"utf-8\"))' %s"},
		{"perl", "perl -MJSON::PP -e 'open F, \"<\", shift; decode_json($_) for <F>' %s"},
		{"jq", "jq -e . %s >/dev/null"},
	};
	char path[] = "/tmp/test_output_json.XXXXXX";
	autofree char *text = hostile_lines();
	int fd = mkstemp(path);

	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	   "the lines with hostile names are in a file");
	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++) {
		autofree char *line = xasprintf("%s", parsers[i].script);
		struct str command = {0};
		char *place = strstr(line, "%s");

		str__printf(&command, "%.*s%s%s", (int)(place - line), line, path, place + 2);
		if (have(parsers[i].command))
			is(system(command.data), 0, "%s parses the lines with hostile names",
			   parsers[i].command);
		else
			ok(true, "%s parses the lines with hostile names # SKIP not here",
			   parsers[i].command);
		str__free(&command);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	options = fixture_options;
	test_entry();
	test_branch();
	test_targets();
	test_kinds();
	test_return();
	test_others();
	test_task();
	test_global();
	test_named();
	test_hostile();
	test_checker_is_strict();
	test_other_parsers();
	return tap__done();
}
