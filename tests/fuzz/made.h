/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * made: an object, functions in it and the plan for them, out of bytes. Whatever the bytes, they
 * keep to what target.h says of an object and of functions, as object__open() and object__resolve()
 * do.
 *
 *   flags      1      1 kernel, 2 patchable_unsafe, 4 branch, 8 return, 16 entry (none of these
 * three: all) counts     4      symbols (mod 16), frames (mod 16), functions (mod 4, + 1), silent
 * stubs (mod 4) data       2      bytes of the data segment, the last of the input symbol     5
 * offset 2, size 2, name and type 1 frame      5 + 2n offset 2, size 2, part and n = number of pads
 * 1; pads function   7 …    offset 2, size 2, flags 1, ranges more (mod 3) 1, name 1; each offset
 * 2, size 2 stub       2      offset code       …      at CODE; the data a page behind its end
 */
#ifndef MADE_H
#define MADE_H

#include <elf.h>
#include "plan/plan.h"
#include "fuzz.h"

#define CODE 0x401000u
#define PADS 3

struct made {
	struct object o;
	uint8_t *code, *data;
	uint64_t pads[16][PADS];
	struct plan_stub stubs[4];
	function_vec functions;
	struct plan_options options;
	struct plan *plan; /* NULL: refused */
};

static const char *const made_names[] = {"f",
					 "g",
					 "f.cold",
					 "f.part.0",
					 "abort",
					 "main",
					 "exit@plt",
					 "longjmp",
					 "_ZN1a1fEv",
					 "\x1b[31mred",
					 "__x86_return_thunk",
					 "__x86_indirect_thunk_rax"};

static inline const char *made__name(unsigned n)
{
	return made_names[n % ARRAY_SIZE(made_names)];
}

static inline int made__by_vaddr(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* A stretch of the code, of one byte at least. */
static inline void made__range(struct input *in, uint64_t len, uint64_t *vaddr, uint64_t *size)
{
	uint64_t at = input__number(in, 2) % len, n = input__number(in, 2);

	*vaddr = CODE + at;
	*size = n ? min_of(n, len - at) : len - at;
}

static inline void made__symbols(struct made *m, struct input *in, unsigned n, uint64_t len)
{
	while (n--) {
		struct symbol s = {0};
		uint8_t b;

		made__range(in, len, &s.vaddr, &s.size);
		b = input__number(in, 1);
		s.name = s.shown = made__name(b & 15);
		s.type = strchr(s.name, '@') ? SYMBOL_PLT : b & 64 ? SYMBOL_IFUNC : SYMBOL_FUNC;
		s.global = b & 32;
		s.size = b & 128 ? 0 : s.size;
		vec__push(&m->o.symbols, s);
	}
	vec__sort(&m->o.symbols, made__by_vaddr);
}

static inline int made__value(const void *a, const void *b)
{
	return made__by_vaddr(a, b);
}

static inline void made__frames(struct made *m, struct input *in, unsigned n, uint64_t len)
{
	struct frame *f;

	for (unsigned i = 0; i < n; i++) {
		struct frame new = {.pads = m->pads[i]};
		uint8_t b;

		made__range(in, len, &new.vaddr, &new.size);
		b = input__number(in, 1);
		new.part = b & 128;
		new.npads = (b & 127) % (PADS + 1);
		for (size_t k = 0; k < new.npads; k++)
			m->pads[i][k] = CODE + input__number(in, 2) % len;
		qsort(m->pads[i], new.npads, sizeof(uint64_t), made__value);
		vec__push(&m->o.frames, new);
	}
	vec__sort(&m->o.frames, made__by_vaddr);
	vec__each (f, &m->o.frames)
		if (f + 1 < vec__end(&m->o.frames) && f->size > f[1].vaddr - f->vaddr)
			f->size = f[1].vaddr - f->vaddr;
}

static inline void made__functions(struct made *m, struct input *in, unsigned n, uint64_t len)
{
	while (n--) {
		struct function f = {.object = &m->o};
		struct range r = {0};
		unsigned more;

		made__range(in, len, &r.vaddr, &r.size);
		f.flags =
			input__number(in, 1) & (FUNCTION_RANGE | FUNCTION_IFUNC | FUNCTION_SYSCALL);
		more = input__number(in, 1) % 3;
		f.name = xstrdup(made__name(input__number(in, 1)));
		f.raw = more & 1 ? xstrdup(f.name) : NULL;
		f.entry = r.vaddr;
		r.name = xstrdup(f.name);
		vec__push(&f.ranges, r);
		while (more--) {
			made__range(in, len, &r.vaddr, &r.size);
			r.name = xstrdup(made__name(r.size));
			vec__push(&f.ranges, r);
		}
		vec__push(&m->functions, f);
	}
}

/* What is left of the input: code, then data. */
static inline void made__segments(struct made *m, struct input *in, uint64_t ndata)
{
	uint64_t have = input__left(in), len;

	ndata = min_of(ndata, have / 2);
	len = have - ndata;
	m->code = xmalloc(len);
	m->data = xmalloc(ndata);
	input__bytes(in, m->code, len);
	input__bytes(in, m->data, ndata);
	vec__push(&m->o.segments, (struct segment){.vaddr = CODE,
						   .size = len,
						   .offset = 0x1000,
						   .bytes = m->code,
						   .exec = true});
	if (ndata)
		vec__push(&m->o.segments,
			  (struct segment){.vaddr = CODE + 0x1000 + (len & ~0xfffull),
					   .size = ndata,
					   .offset = 0x1000 + len,
					   .bytes = m->data});
}

static inline bool made__build(struct made *m, struct input *in)
{
	uint8_t flags = input__number(in, 1), count[4];
	uint64_t ndata, len;
	const uint8_t *tables;

	*m = (struct made){.options.stubs = m->stubs};
	input__bytes(in, count, sizeof(count));
	ndata = input__number(in, 2);
	/* the tables come first, but need to know how long the code is */
	tables = in->p;
	in->p += min_of(input__left(in), (size_t)count[0] % 16 * 5 + count[1] % 16 * 11 +
						 (count[2] % 4 + 1) * 15 + count[3] % 4 * 2);
	if (!input__left(in))
		return false;
	made__segments(m, in, ndata);
	*in = (struct input){tables, in->end};
	len = m->o.segments.data[0].size;
	m->o.kind = flags & 1 ? OBJECT_KERNEL : OBJECT_ELF;
	m->o.path = (char *)"/made";
	m->o.machine = EM_X86_64;
	made__symbols(m, in, count[0] % 16, len);
	made__frames(m, in, count[1] % 16, len);
	made__functions(m, in, count[2] % 4 + 1, len);
	m->options.kernel_object = flags & 1 ? &m->o : NULL;
	m->options.patchable_unsafe = flags & 2;
	m->options.tests = flags & 2;
	m->options.events =
		flags >> 2 & 7 ? flags >> 2 & 7u : PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN;
	m->options.nstubs = count[3] % 4;
	for (size_t i = 0; i < m->options.nstubs; i++)
		m->stubs[i] = (struct plan_stub){&m->o, CODE + input__number(in, 2) % len};
	err__clear();
	CHECK(!plan__build(&m->functions, &m->options, &m->plan) || *err__text());
	return true;
}

static inline void made__free(struct made *m)
{
	plan__free(m->plan);
	functions__free(&m->functions);
	vec__free(&m->o.symbols);
	vec__free(&m->o.frames);
	vec__free(&m->o.segments);
	vec__free(&m->o.cold_parts);
	map64__free(&m->o.cold_part_of);
	free(m->code);
	free(m->data);
}

#endif
