// SPDX-License-Identifier: BSD-2-Clause
/* Conditions: what is understood of them, that they compare as C does, and which functions they
 * judge. */
#include "arch/arch.h"
#include "event/event.h"
#include "plan/plan.h"
#include "tap.h"
#include "types/types.h"

/* ---- the parser ---- */

static void test_parsing(void)
{
	static const char *const bad[] = {
		"",
		"a",
		"a ==",
		"a = 1",
		"a < \"x\"",
		"a == \"x",
		"a == 1 2",
		"1 == a",
		"a == \"\\q\"",
		"a == 'x",
		"a == ''",
		"a == 1 &&",
		"a == 1 || b == 1",
		"a == 18446744073709551616",
		"a == -9223372036854775809",
		"a == 1x",
		"a == \"\\0\"",
		"&& a == 1",
		"a == --1",
		"a == 'xy'",
		"a == \"0123456789012345678901234567890123456789012345678901234567890"
		"12345\""};
	value_condition_vec v = {0};
	struct str again = {0};

	ok(!conditions__parse("size > 0x1000 && ret<-1&&d -> name == \"a\\\"\\n\\x41\"", &v) &&
		   v.len == 3,
	   "several are understood: %s", err__text());
	ok(v.data[0].how == COMPARE_GT && v.data[0].constant.number == 0x1000 &&
		   v.data[0].kind == CONSTANT_NUMBER,
	   "a comparison with a number");
	ok(v.data[1].how == COMPARE_LT && (int64_t)v.data[1].constant.number == -1,
	   "a number may be negative");
	is_str(v.data[2].left.text, "d->name", "an expression is called as C has it");
	is_str(v.data[2].text, "a\"\nA", "a string has escapes");
	conditions__put(&v, &again);
	conditions__free(&v);
	ok(!conditions__parse(again.data, &v) && v.len == 3, "what is put is understood: %s",
	   again.data);
	conditions__free(&v);
	str__free(&again);
	ok(!conditions__parse("**p . q[ -2 ] != -ENOENT && c >= '\\n'", &v) && v.len == 2 &&
		   v.data[0].kind == CONSTANT_NAME && v.data[0].minus &&
		   v.data[1].constant.number == '\n',
	   "names and characters: %s", err__text());
	is_str(v.data[0].left.text, "**p.q[-2]", "stars, members and indexes");
	is_str(v.data[0].text, "ENOENT", "a name is kept");
	conditions__free(&v);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ok(conditions__parse(bad[i], &v) < 0 && *err__text(), "'%s' is refused: %s", bad[i],
		   err__text());
		conditions__free(&v);
		err__clear();
	}
}

/* ---- as C compares ---- */

static uint64_t numbers[] = {0,
			     1,
			     2,
			     0x7f,
			     0x80,
			     0xff,
			     0x100,
			     0x7fff,
			     0x8000,
			     0xffff,
			     0x7fffffff,
			     0x80000000,
			     0xffffffff,
			     0x100000000,
			     0x7fffffffffffffff,
			     0x8000000000000000,
			     0xffffffffffffff80,
			     0xffffffff80000000,
			     0xfffffffffffffffe,
			     0xffffffffffffffff};

static unsigned compared_n, wrong;

#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"

static struct constant constant_of(const char *text)
{
	autofree char *whole = xasprintf("x == %s", text);
	value_condition_vec v = {0};
	struct constant c = {0};

	if (conditions__parse(whole, &v))
		wrong++;
	else
		c = v.data[0].constant;
	conditions__free(&v);
	return c;
}

static void check(enum compare_how how, bool is, uint64_t x, struct compare_type type,
		  const char *constant)
{
	compared_n++;
	if (comparison__holds(how, x, type, constant_of(constant)) == is)
		return;
	if (!wrong++)
		note("x = %#llx, %s%s, comparison %d with %s: C says %d", (unsigned long long)x,
		     type.is_unsigned ? "unsigned" : "signed", type.wide ? " wide" : "", how,
		     constant, is);
}

/* The type is promoted as the value of a plan is. */
#define CHECK_TYPE(type, constant)                                                                 \
	for (size_t i_ = 0; i_ < ARRAY_SIZE(numbers); i_++) {                                      \
		type x_ = (type)numbers[i_];                                                       \
		uint64_t n_ = (uint64_t)x_;                                                        \
		const bool minus_ = (type)-1 < (type)1;                                            \
		struct compare_type t_ = {.wide = sizeof(type) > 4,                                \
					  .is_unsigned = sizeof(type) >= 4 && !minus_};            \
                                                                                                   \
		check(COMPARE_EQ, x_ == constant, n_, t_, #constant);                              \
		check(COMPARE_NE, x_ != constant, n_, t_, #constant);                              \
		check(COMPARE_LT, x_ < constant, n_, t_, #constant);                               \
		check(COMPARE_LE, x_ <= constant, n_, t_, #constant);                              \
		check(COMPARE_GT, x_ > constant, n_, t_, #constant);                               \
		check(COMPARE_GE, x_ >= constant, n_, t_, #constant);                              \
	}

#define CHECK_CONSTANT(constant)                                                                   \
	CHECK_TYPE(signed char, constant)                                                          \
	CHECK_TYPE(unsigned char, constant)                                                        \
	CHECK_TYPE(short, constant)                                                                \
	CHECK_TYPE(unsigned short, constant)                                                       \
	CHECK_TYPE(int, constant)                                                                  \
	CHECK_TYPE(unsigned int, constant)                                                         \
	CHECK_TYPE(long long, constant)                                                            \
	CHECK_TYPE(unsigned long long, constant)                                                   \
	CHECK_TYPE(bool, constant)

static void test_small(void)
{
	CHECK_CONSTANT(0)
	CHECK_CONSTANT(1)
	CHECK_CONSTANT(-1)
	CHECK_CONSTANT(127)
	CHECK_CONSTANT(-128)
	CHECK_CONSTANT(255)
	CHECK_CONSTANT(0x80)
	CHECK_CONSTANT(0177)
	CHECK_CONSTANT(32768)
	CHECK_CONSTANT(-32768)
	CHECK_CONSTANT(0xffff)
}

static void test_large(void)
{
	CHECK_CONSTANT(2147483647)
	CHECK_CONSTANT(-2147483647)
	CHECK_CONSTANT(0x7fffffff)
	CHECK_CONSTANT(0x80000000)
	CHECK_CONSTANT(0xffffffff)
	CHECK_CONSTANT(-0xffffffff)
	CHECK_CONSTANT(2147483648)
	CHECK_CONSTANT(-2147483648)
	CHECK_CONSTANT(4294967295)
	CHECK_CONSTANT(4294967296)
	CHECK_CONSTANT(-4294967296)
	CHECK_CONSTANT(0x100000000)
	CHECK_CONSTANT(9223372036854775807)
	CHECK_CONSTANT(-9223372036854775807)
	CHECK_CONSTANT(0x7fffffffffffffff)
	CHECK_CONSTANT(0x8000000000000000)
	CHECK_CONSTANT(0xffffffffffffffff)
	CHECK_CONSTANT(-0xffffffffffffffff)
}

static void test_comparing(void)
{
	test_small();
	test_large();
	ok(!wrong && compared_n > 30000, "%u comparisons of all types are as in C: %u are not",
	   compared_n, wrong);
}

/* ---- of functions ---- */

static void add(struct plan *p, uint32_t function, const char *name, enum value_kind kind,
		enum value_from from, unsigned reg, unsigned size)
{
	plan__add_value(p,
			&(struct plan_value){.name = name,
					     .function = function,
					     .enumeration = kind == KIND_ENUM ? 0 : UINT32_MAX,
					     .of_return = from == FROM_RESULT || kind == KIND_VOID,
					     .kind = kind,
					     .from = from,
					     .reg = reg,
					     .second = REG_NONE,
					     .size = size});
}

static void name_function(struct plan *p, const char *name)
{
	struct plan_function f = {.name = name};

	vec__push(&p->functions, f);
}

/* read(fd, size, name, how) -> long; close(fd) -> int; stop() -> void. */
static struct plan *make_plan(void)
{
	struct plan *p = plan__empty(arch__by_machine(62));

	name_function(p, "read");
	name_function(p, "close");
	name_function(p, "stop");
	add(p, 0, "fd", KIND_SIGNED, FROM_REGISTER, 0, 4);
	add(p, 0, "size", KIND_UNSIGNED, FROM_REGISTER, 1, 8);
	add(p, 0, "name", KIND_TEXT, FROM_REGISTER, 2, VALUE_TEXT_MAX);
	p->values.data[2].fetched = 1;
	add(p, 0, "how", KIND_ENUM, FROM_REGISTER, 3, 4);
	add(p, 0, "bits", KIND_SIGNED, FROM_REGISTER, 4, 4);
	p->values.data[4].bit_at = 3;
	p->values.data[4].bits = 5;
	add(p, 0, "letter", KIND_CHAR, FROM_REGISTER, 5, 1);
	add(p, 0, "weight", KIND_FLOAT, FROM_NOWHERE, 0, 8);
	add(p, 0, "ret", KIND_SIGNED, FROM_RESULT, 0, 8);
	add(p, 1, "fd", KIND_SIGNED, FROM_REGISTER, 0, 4);
	add(p, 1, "ret", KIND_SIGNED, FROM_RESULT, 0, 4);
	add(p, 2, "ret", KIND_VOID, FROM_NOWHERE, 0, 0);
	vec__push(&p->enumerators, (struct plan_enumerator){xstrdup("SLOW"), 7, 0});
	return p;
}

static int judged_by(struct plan *p, const char *text)
{
	value_condition_vec v = {0};
	int err = conditions__parse(text, &v);

	if (!err)
		err = plan__add_conditions(p, &v);
	conditions__free(&v);
	return err;
}

static void test_functions(struct plan *p)
{
	static const char *const bad[] = {
		"nothing == 1",	   "fd == \"x\"",
		"name == 3",	   "name < NULL",
		"letter < -1",	   "weight > 1",
		"how == QUICK",	   "size == 1 && ret == 1 && nothing == 1",
		"how == \"SLOW\"", "fd == SLOW"};
	size_t n;

	ok(!judged_by(p, "fd >= 0") && plan__conditions(p, 0, &n) && n == 1 &&
		   plan__conditions(p, 1, &n) && !plan__conditions(p, 2, &n),
	   "all that have the name are judged: %s", err__text());
	ok(plan__judges(p, false) && !plan__judges(p, true), "at their entries");
	ok(!judged_by(p, "size > 1 && ret < 0 && fd != 1") && plan__conditions(p, 0, &n) &&
		   n == 3 && !plan__conditions(p, 1, &n),
	   "those that have all names");
	ok(plan__judges_function(p, 0, true) && plan__judges_function(p, 0, false) &&
		   !plan__judges_function(p, 1, true),
	   "at their entries and returns");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ok(judged_by(p, bad[i]) < 0 && *err__text(), "'%s' is refused: %s", bad[i],
		   err__text());
		err__clear();
	}
	ok(judged_by(p, "nothing == 1") < 0 && strstr(err__text(), "fd, size, name"),
	   "the names that exist are told");
	err__clear();
}

static void test_judging(struct plan *p)
{
	static const struct {
		const char *condition;
		enum judgement judged;
	} rows[] = {
		{"fd == -1", JUDGED_HOLDS},
		{"fd == 0xffffffff", JUDGED_HOLDS},
		{"size > 4096", JUDGED_FAILS},
		{"size == 4096", JUDGED_HOLDS},
		{"how == SLOW", JUDGED_HOLDS},
		{"how != SLOW", JUDGED_FAILS},
		{"bits == -2", JUDGED_HOLDS},
		{"letter == 'x'", JUDGED_HOLDS},
		{"letter > '\\xf0'", JUDGED_FAILS},
		{"name == \"abc\"", JUDGED_HOLDS},
		{"name == \"ab\"", JUDGED_FAILS},
		{"name == \"abcd\"", JUDGED_FAILS},
		{"name != \"abc\"", JUDGED_FAILS},
		{"name == NULL", JUDGED_FAILS},
		{"name != 0", JUDGED_HOLDS},
		{"size == 4096 && name == \"x\" && fd == 0", JUDGED_FAILS},
	};
	uint64_t regs[EVENT_REGS] = {0xdead0000ffffffff, 4096, 0x1000, 7, 0xf0, 0x178};
	struct fetched f = {.len = 4, .bytes = "abc"};
	struct value_source s = {.regs = regs, .fetched = &f, .nfetched = 1};
	struct value_source result = {.has_result = true, .result = -2};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ok(!judged_by(p, rows[i].condition) &&
			   plan__judge(p, 0, false, &s) == rows[i].judged,
		   "%s: %s", rows[i].condition, err__text());
	f = (struct fetched){.len = FETCHED_ABSENT, .bytes = {1}};
	judged_by(p, "name != \"abc\"");
	ok(plan__judge(p, 0, false, &s) == JUDGED_UNKNOWN, "what isn't readable is not known");
	judged_by(p, "name != \"abc\" && fd == 5");
	ok(plan__judge(p, 0, false, &s) == JUDGED_FAILS, "unless another one fails");
	judged_by(p, "name == NULL");
	ok(plan__judge(p, 0, false, &s) == JUDGED_FAILS, "it is somewhere");
	f.bytes[0] = 0;
	ok(plan__judge(p, 0, false, &s) == JUDGED_HOLDS, "the null pointer is known");
	judged_by(p, "ret == -ENOENT && fd == 3");
	ok(plan__judge(p, 0, true, &result) == JUDGED_HOLDS, "an error by its name");
	ok(plan__judge(p, 0, false, &s) == JUDGED_FAILS, "and the entry apart from that");
	judged_by(p, "ret >= 0");
	ok(plan__judge(p, 0, true, &result) == JUDGED_FAILS, "a result has a sign");
	ok(plan__judge(p, 1, true, &result) == JUDGED_FAILS, "of its own width");
	result.has_result = false;
	ok(plan__judge(p, 0, true, &result) == JUDGED_UNKNOWN, "none is not known");
	ok(plan__judge(p, 2, true, &result) == JUDGED_HOLDS, "a function without one isn't judged");
}

int main(void)
{
	struct plan *p = make_plan();

	test_parsing();
	test_comparing();
	test_functions(p);
	test_judging(p);
	plan__free(p);
	return tap__done();
}
