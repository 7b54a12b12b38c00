// SPDX-License-Identifier: BSD-2-Clause
/* Graphs and plans of compiled code: cold parts, landing pads, functions that return from handlers.
 */
#include "code_graph_fixture.h"

static const char cold_c[] =
	"#include <stdio.h>\nint sink;\n__attribute__((cold,noinline)) int rare(int n) { return puts(\"x\") + n; }\n"
	"__attribute__((noinline)) int hot(int n, int *p) { int r = *p; if (n > 1000) { for (int i = 0; i < n; i++)"
	" { sink += rare(p[i] ^ i); } sink += rare(*p); r++; }\n return n + r; }\n"
	"int main(int c, char **v) { int a[4] = {0}; return hot(c, a); }\n";
static const char pads_cc[] =
	"#include <string>\nint leaf(int);\n__attribute__((noinline)) int mid(int n) { std::string a(n, 'x'), b(n, 'y');"
	" try { return leaf(n) + (int)(a + b).size(); } catch (int i) { return i; } }\n"
	"__attribute__((noinline)) int leaf(int n) { if (n == 3) throw n; return n; }\n"
	"int main(int c, char **v) { return mid(c); }\n";

static const char handled_cc[] =
	"int sink;\n__attribute__((noinline,noclone)) int caught() { try { throw; } catch (int i) { return i; } }\n"
	"__attribute__((noinline,noclone)) int passed() { try { throw; } catch (int i) { throw 'c'; } }\n"
	"__attribute__((noinline)) int asks(int n) { int r = caught(); if (r > n) sink += r; return r + n; }\n"
	"__attribute__((noinline)) int asks2(int n) { int r = passed(); return r + n; }\n"
	"int main(int c, char **v) { return asks(c) + asks2(c); }\n";

static bool compile(const char *name, const char *text, const char *compiler)
{
	plan__free(plan);
	plan = NULL;
	object__free(object);
	object = NULL;
	scratch__write(name, text);
	return run("%s -o %s/compiled %s/%s 2>/dev/null", compiler, scratch, scratch, name) &&
	       !object__open(scratch__path("compiled"), &object);
}

static void test_cold(bool stripped)
{
	const struct plan_function *f;

	if (!compile("cold.c", cold_c, "gcc -O2 -freorder-blocks-and-partition -rdynamic")) {
		ok(1, "a function with a cold part has a plan # SKIP can't be compiled here");
		return;
	}
	if (stripped) {
		plan__free(plan);
		plan = NULL;
		object__free(object);
		object = NULL;
		if (!run("strip %s/compiled", scratch) ||
		    object__open(scratch__path("compiled"), &object))
			return;
	}
	ok(PLAN(ALL, "hot"), "a function with a cold part has a plan%s",
	   stripped ? ", stripped" : "");
	f = function("hot");
	if (!is(f->nranges, 2, "a function with a cold part has two ranges"))
		return;
	is(f->unreached, 0, "both ranges of a function with a cold part are reached");
	is_str(f->ranges[1].name, "hot.cold", "a cold part has a name of its own");
	is(plan->functions.len, 1, "a cold part is no function of its own");
	for (size_t i = 0; i < plan->blocks.len; i++)
		if (plan->blocks.data[i].leaves)
			ok(0, "a jump to a cold part leaves its function");
}

static void test_pads(void)
{
	unsigned pads = 0, known = 0;

	if (!compile("pads.cc", pads_cc, "g++ -O2")) {
		ok(1, "a function with landing pads has a plan # SKIP can't be compiled here");
		return;
	}
	ok(PLAN(ALL, "mid(int)") || PLAN(ALL, "_Z3midi"),
	   "a function with landing pads has a plan");
	for (size_t i = 0; plan && i < plan->blocks.len; i++)
		pads += plan->blocks.data[i].abnormal;
	ok(pads >= 2, "a function with landing pads has %u of them", pads);
	for (size_t i = 0; plan && i < plan->sites.len; i++)
		known += plan->sites.data[i].sp_delta != SP_UNKNOWN;
	is(known, plan ? plan->sites.len : 1,
	   "in a function with landing pads each depth of the stack is known");
	is(plan ? plan->functions.data[0].unreached : 1, 0,
	   "all of a function with landing pads is reached");
}

/* The last call in a function of compiled code that has this function as its target. */
static const struct plan_block *call_of(const char *callee)
{
	static const struct plan_block none = {.noreturn = 2};
	const struct plan_block *found = &none;
	const struct plan_site *s;

	vec__each (s, &plan->sites)
		if (s->kind == BRANCH_CALL && s->target == address(callee))
			found = &plan->blocks.data[s->block];
	return found;
}

static void test_handlers(void)
{
	static const char *const compilers[] = {"g++ -O0", "g++ -O1", "g++ -O2", "clang++ -O0",
						"clang++ -O2"};

	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (!compile("handled.cc", handled_cc, compilers[i])) {
			ok(1,
			   "a function that calls handlers has a plan, %s # SKIP can't be compiled here",
			   compilers[i]);
			continue;
		}
		if (!ok(PLAN(ALL, "_Z4asksi", "_Z5asks2i"),
			"a function that calls handlers has a plan, %s", compilers[i]))
			continue;
		is(call_of("_Z6caughtv")->noreturn, 0,
		   "a call of code that returns out of a handler only comes back");
		is(plan->functions.data[0].unreached, 0,
		   "all of a function that calls a handler is reached");
		is(call_of("_Z6passedv")->noreturn, 1,
		   "a call of code that only throws out of its handler doesn't come back");
	}
}

int main(void)
{
	test_cold(false);
	test_cold(true);
	test_pads();
	test_handlers();
	plan__free(plan);
	object__free(object);
	return tap__done();
}
