// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every instruction that a plan of a whole library reaches is an instruction by objdump, too.
 * Exceptions: the code branches past a lock prefix; or objdump lost track in bytes that control
 * flow doesn't reach, and recovers a few bytes later. Code that the plan doesn't reach is little,
 * and known.
 */
#include "code_fixture.h"

struct starts {
	uint8_t *at;	  /* by address */
	uint8_t *reached; /* in a block of the plan */
	uint64_t size;
};

static void read_starts(const char *path, struct starts *s)
{
	char cmd[256], line[512];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "objdump -d --no-show-raw-insn %s 2>/dev/null", path);
	f = popen(cmd, "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t addr = strtoull(line, &end, 16);

		if (line[0] == ' ' && *end == ':' && addr < s->size)
			s->at[addr] = 1;
	}
	if (f)
		pclose(f);
}

struct tally {
	unsigned long instructions, inside, lost, strange;
};

#define LOST_FOR 15 /* bytes: one instruction of objdump's, the longest there are */

static void check_block(const struct object *o, const struct plan_block *b, const struct starts *s,
			const struct arch *arch, struct tally *t)
{
	uint64_t addr = b->start;
	struct insn insn;
	size_t avail;

	while (addr < b->end) {
		const uint8_t *bytes = object__bytes(o, addr, &avail);

		if (!bytes || arch->decode(bytes, avail, addr, false, &insn)) {
			t->strange++;
			return;
		}
		t->instructions++;
		if (addr >= s->size || !s->at[addr]) {
			bool lock = addr > b->start - 1 && s->at[addr - 1] &&
				    (bytes[-1] == 0xf0 || bytes[-1] == 0x9b);

			bool lost =
				!lock && !s->reached[b->start - 1] && addr - b->start < LOST_FOR;

			t->inside += lock;
			t->lost += lost;
			t->strange += !lock && !lost;
			if (!lock && !lost && t->strange < 10)
				printf("# 0x%llx is no instruction to objdump\n",
				       (unsigned long long)addr);
		}
		addr += insn.len;
	}
}

static unsigned unresolved(const struct plan *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->functions.len; i++)
		n += p->functions.data[i].unresolved;
	return n;
}

static unsigned tables(const struct plan *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->blocks.len; i++)
		n += p->blocks.data[i].ntable && !p->blocks.data[i].unresolved;
	return n;
}

static void test_library(const char *path)
{
	static const char *const all[] = {"*", NULL};
	struct starts s = {0};
	struct tally t = {0};
	const struct plan_block *b;
	struct object *o;
	struct plan *p;
	uint64_t unreached = 0, size = 0;

	if (access(path, R_OK) || object__open(path, &o)) {
		ok(1, "%s # SKIP isn't here", path);
		return;
	}
	p = plan_of(o, all, ALL);
	if (ok(p != NULL, "%s is planned", path)) {
		s.size = vec__last(&o->segments)->vaddr + vec__last(&o->segments)->size;
		s.at = xcalloc(s.size, 1);
		s.reached = xcalloc(s.size, 1);
		vec__each (b, &p->blocks)
			memset(s.reached + b->start, 1, b->end - b->start);
		read_starts(path, &s);
		vec__each (b, &p->blocks)
			check_block(o, b, &s, p->arch, &t);
		is(t.strange, 0,
		   "%s: %lu instructions, %lu of them behind a prefix or fwait, are instructions to objdump",
		   path, t.instructions, t.inside);
		ok(t.lost * 10000 < t.instructions,
		   "%s: objdump loses its way for only %lu instructions", path, t.lost);
		for (size_t i = 0; i < p->functions.len; i++) {
			unreached += p->functions.data[i].unreached;
			for (size_t r = 0; r < p->functions.data[i].nranges; r++)
				size += p->functions.data[i].ranges[r].size;
		}
		ok(unreached * 100 < size, "%s: only %llu of %llu bytes are not reached", path,
		   (unsigned long long)unreached, (unsigned long long)size);
		ok(unresolved(p) * 20 < p->functions.len,
		   "%s: %u jump tables are proved, and only %u switches are not", path, tables(p),
		   unresolved(p));
		free(s.at);
		free(s.reached);
	}
	plan__free(p);
	object__free(o);
}

int main(void)
{
	test_library("/lib/x86_64-linux-gnu/libc.so.6");
	test_library("/lib/x86_64-linux-gnu/libm.so.6");
	test_library("/usr/bin/bash");
	return tap__done();
}
