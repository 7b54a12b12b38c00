// SPDX-License-Identifier: BSD-2-Clause
/* Arguments and results by their types, as text and as JSON. */
#include "output/base/fields.h"
#include "output/base/values.h"
#include "output_fixture.h"

static struct plan_value rows[1];
static struct plan_enumerator enumerators[] = {{"A", 1, 0}, {"B", 2, 0}, {"C", -1, 0}, {"D", 3, 1}};
static struct plan values_plan;

static void check(struct plan_value v, uint64_t number, const char *text, const char *json)
{
	struct output o = {.plan = &values_plan};
	uint64_t regs[EVENT_REGS] = {[7] = number, [6] = 0x1234};
	struct step step = {.type = v.of_return ? STEP_RETURN : STEP_ENTRY,
			    .plan = &values_plan,
			    .regs = regs,
			    .has_value = true,
			    .value = number};
	struct str got = {0}, object = {0};
	struct json j = {.out = &object};

	rows[0] = v;
	rows[0].name = v.of_return ? "ret" : "x";
	rows[0].from = v.of_return ? FROM_RESULT : FROM_REGISTER;
	rows[0].reg = 7;
	if (v.of_return) {
		values__put_result(&o, &step, &got);
		values__put_result_json(&o, &j, &step);
	} else {
		values__put_args(&o, &step, &got);
		values__put_json(&o, &j, &step);
	}
	is_str(got.data, text, "text %s", text);
	is_str(object.data, json, "JSON %s", json);
	str__free(&got);
	str__free(&object);
}

static void check_fetched(struct plan_value v, const char *bytes, int len, const char *text,
			  const char *json)
{
	struct output o = {.plan = &values_plan};
	struct fetched f = {.len = len};
	struct step step = {.type = STEP_ENTRY, .plan = &values_plan, .fetched = &f, .nfetched = 1};
	struct str got = {0}, object = {0};
	struct json j = {.out = &object};

	memcpy(f.bytes, bytes, len == FETCHED_ABSENT ? 8 : len > 0 ? len : 0);
	rows[0] = v;
	rows[0].name = "x";
	rows[0].from = FROM_REGISTER;
	rows[0].fetched = 1;
	values__put_args(&o, &step, &got);
	values__put_json(&o, &j, &step);
	is_str(got.data, text, "from memory: text %s", text);
	is_str(object.data, json, "from memory: JSON %s", json);
	ok(values__put_cut(&o, NULL, &step) == !!strstr(text, "..."), "it is cut, or not");
	str__free(&got);
	str__free(&object);
}

/* struct { int a; struct { char text[3]; }; float v[2]; } p, without p.v[1]; its first word is in
 * register 7, the second one in 6. */
static void check_struct(void)
{
#define PART(path, k, s, r, ...)                                                                   \
	{                                                                                          \
		.name = path, .kind = KIND_##k, .size = s, .reg = r, .second = 255, ##__VA_ARGS__  \
	}
	struct plan_value parts[] = {
		PART("p", STRUCT, 9, 255),
		PART("p.a", SIGNED, 4, 7, .from = FROM_REGISTER, .bits = 32),
		PART("p.{1}", STRUCT, 4, 255),
		PART("p.text", ARRAY, 3, 255),
		PART("p.text[0]", CHAR, 1, 7, .from = FROM_REGISTER, .bits = 8, .bit_at = 32),
		PART("p.text[1]", CHAR, 1, 7, .from = FROM_REGISTER, .bits = 8, .bit_at = 40),
		PART("p.text[2]", CHAR, 1, 7, .from = FROM_REGISTER, .bits = 8, .bit_at = 48),
		PART("p.v", ARRAY, 2, 255),
		PART("p.v[0]", FLOAT, 4, 6, .from = FROM_REGISTER, .bits = 32),
		PART("p.v[1]", FLOAT, 4, 255),
	};
	struct plan p = {.arch = &fixture_arch};
	struct output o = {.plan = &p};
	uint64_t regs[EVENT_REGS] = {[7] = 0x00006968ffffffff, [6] = 0x3fc00000};
	struct step step = {.type = STEP_ENTRY, .plan = &p, .regs = regs};
	struct str got = {0}, object = {0}, missing = {0};
	struct json j = {.out = &object}, k = {.out = &missing};

	p.values.data = parts;
	p.values.len = ARRAY_SIZE(parts);
	values__put_args(&o, &step, &got);
	values__put_json(&o, &j, &step);
	values__put_not_recorded(&o, &k, &step);
	is_str(got.data, "p={a=-1, {text=\"hi\"}, v={1.5, (not recorded)}}", "a struct's text");
	is_str(object.data, "{\"p\":{\"a\":-1,\"text\":\"hi\",\"v\":[1.5,null]}}", "its JSON");
	is_str(missing.data, "[\"p.v[1]\"]", "what isn't recorded is named");
	str__free(&got);
	str__free(&object);
	str__free(&missing);
}

#define ROW(k, s, ...)                                                                             \
	((struct plan_value){.kind = KIND_##k, .size = s, .second = 255, ##__VA_ARGS__})

int main(void)
{
	static const char longest[] =
		"0123456789012345678901234567890123456789012345678901234567890123";

	values_plan = (struct plan){.arch = &fixture_arch};
	values_plan.values.data = rows;
	values_plan.values.len = 1;
	values_plan.enumerators.data = enumerators;
	values_plan.enumerators.len = ARRAY_SIZE(enumerators);
	check(ROW(SIGNED, 4), 0xffffffff, "x=-1", "{\"x\":-1}");
	check(ROW(SIGNED, 1), 0x7f80, "x=-128", "{\"x\":-128}");
	check(ROW(UNSIGNED, 2), 0xffff1234, "x=4660", "{\"x\":4660}");
	check(ROW(UNSIGNED, 8), UINT64_MAX, "x=18446744073709551615",
	      "{\"x\":18446744073709551615}");
	check(ROW(BOOL, 1), 0x101, "x=true", "{\"x\":true}");
	check(ROW(BOOL, 1), 7, "x=7", "{\"x\":7}");
	check(ROW(POINTER, 8), 0x1000, "x=0x1000", "{\"x\":\"0x1000\"}");
	check(ROW(CHAR, 1), '\n', "x='\\n'", "{\"x\":10}");
	check(ROW(CHAR, 1), 0xfe, "x='\\xfe'", "{\"x\":254}");
	check(ROW(ENUM, 4), 2, "x=B", "{\"x\":\"B\"}");
	check(ROW(ENUM, 4), 3, "x=A|B", "{\"x\":\"A|B\"}");
	check(ROW(ENUM, 4), 0xffffffff, "x=C", "{\"x\":\"C\"}");
	check(ROW(ENUM, 4), 5, "x=5", "{\"x\":5}");
	check(ROW(ENUM, 4), 0xfffffffe, "x=-2", "{\"x\":-2}");
	check(ROW(ENUM, 4, .enumeration = 1), 0xfffffffe, "x=4294967294", "{\"x\":4294967294}");
	check(ROW(ENUM, 4, .enumeration = 1, .bits = 2), 7, "x=D", "{\"x\":\"D\"}");
	check(ROW(ENUM, 4, .bits = 2), 3, "x=C", "{\"x\":\"C\"}");
	check(ROW(ENUM, 4), 0, "x=0", "{\"x\":0}");
	check(ROW(FLOAT, 8), 0x3ff8000000000000, "x=1.5", "{\"x\":1.5}");
	check(ROW(FLOAT, 8), 0x3fb999999999999a, "x=0.10000000000000001",
	      "{\"x\":0.10000000000000001}");
	check(ROW(FLOAT, 4), 0x3dcccccd, "x=0.100000001", "{\"x\":0.100000001}");
	check(ROW(FLOAT, 4, .bit_at = 32, .bits = 32), 0x4020000000000000, "x=2.5", "{\"x\":2.5}");
	check(ROW(FLOAT, 8), 0x7ff0000000000000, "x=inf", "{\"x\":\"inf\"}");
	check((struct plan_value){.kind = KIND_SIGNED, .size = 16, .second = 6}, 5,
	      "x=85961827383486510530565", "{\"x\":85961827383486510530565}");
	check(ROW(UNSIGNED, 4, .bit_at = 3, .bits = 5), 0xff, "x=31", "{\"x\":31}");
	check(ROW(SIGNED, 4, .bit_at = 3, .bits = 5), 0xff, "x=-1", "{\"x\":-1}");
	check((struct plan_value){.kind = KIND_PAIR, .size = 16, .second = 6}, 0x10,
	      "x={0x10, 0x1234}", "{\"x\":[\"0x10\",\"0x1234\"]}");
	check((struct plan_value){.kind = KIND_PAIR, .size = 9, .second = 6}, 0x10,
	      "x={0x10, 0x34}", "{\"x\":[\"0x10\",\"0x34\"]}");
	check(ROW(SIGNED, 8, .errnos = 1, .of_return = 1), -2, "-2 ENOENT", "-2");
	check(ROW(SIGNED, 4, .errnos = 1, .of_return = 1), 0xfffffe00, "-512 ERESTARTSYS", "-512");
	check(ROW(SIGNED, 8, .of_return = 1), -2, "-2", "-2");
	check(ROW(SIGNED, 8, .errnos = 1, .of_return = 1), -5000, "-5000", "-5000");
	check(ROW(POINTER, 8, .errnos = 1, .of_return = 1), -12, "-12 ENOMEM",
	      "\"0xfffffffffffffff4\"");
	check_fetched(ROW(TEXT, 64), "a\"\n\\\x01\xff", 7, "x=\"a\\\"\\n\\\\\\x01\\xff\"",
		      "{\"x\":\"a\\\"\\u000a\\\\\\u0001\xef\xbf\xbd\"}");
	check_fetched(
		ROW(TEXT, 64), longest, 65,
		"x=\"0123456789012345678901234567890123456789012345678901234567890123\"",
		"{\"x\":\"0123456789012345678901234567890123456789012345678901234567890123\"}");
	check_fetched(
		ROW(TEXT, 64), "01234567890123456789012345678901234567890123456789012345678901234",
		66, "x=\"0123456789012345678901234567890123456789012345678901234567890123\"...",
		"{\"x\":\"0123456789012345678901234567890123456789012345678901234567890123\"}");
	check_fetched(ROW(TEXT, 4), "abcd", 4, "x=\"abcd\"", "{\"x\":\"abcd\"}");
	check_fetched(ROW(TEXT, 64), "\0\0\0\0\0\0\0\0", FETCHED_ABSENT, "x=NULL", "{\"x\":null}");
	check_fetched(ROW(TEXT, 64), "\x10\0\0\0\0\0\0\0", FETCHED_ABSENT, "x=0x10 (unreadable)",
		      "{\"x\":{\"unreadable\":\"0x10\"}}");
	check_fetched(ROW(SIGNED, 4), "", -1, "x=(unreadable)", "{\"x\":{\"unreadable\":null}}");
	check_fetched(ROW(SIGNED, 2), "\xfe\xff", 2, "x=-2", "{\"x\":-2}");
	check_struct();
	return tap__done();
}
