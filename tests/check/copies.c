// SPDX-License-Identifier: BSD-2-Clause
/*
 * `copies FILE [FOLDER] [FUNC...]`: plans all functions of a file, or these, with all events, and
 * makes their copies. One line: functions whose bounds a symbol or an FDE has, copied ones, sites,
 * copied ones, refusals by reason, patches by form, time. VERBOSE=1: the functions that aren't
 * copied, and why. PLACEMENT=witness. POISON=1: logs change all that is dead. FOLDER (- for none):
 * the image, its patches and tables for tests/check/copies.py.
 */
#include "copy/copy.h"
#include "resolve/resolve.h"

#define BASE_BELOW (1ull << 29) /* the image's distance from the object at most */

static FILE *create(const char *folder, const char *name)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		exit(2);
	}
	return f;
}

/* ---- liveness ---- */

static const struct arch_copier *real;

/* x86-64: mov $0x5bad5bad,%reg, and flags as if two equal values were compared */
static void poison(struct code_buffer *c, const struct log_point *p,
		   const struct log_options *options)
{
	static const uint8_t flags[] = {0x48, 0x39, 0xe4}; /* cmp %rsp,%rsp */
	struct log_point all = *p;

	all.dead = 0;
	all.flags_dead = false;
	real->log(c, &all, options);
	for (unsigned reg = 0; reg < 16; reg++) {
		uint8_t mov[7] = {0x48 | (reg > 7), 0xc7, 0xc0 | (reg & 7), 0xad, 0x5b, 0xad, 0x5b};

		if (p->dead >> reg & 1)
			code_part__put(&c->hot, mov, sizeof(mov));
	}
	if (p->flags_dead)
		code_part__put(&c->hot, flags, sizeof(flags));
}

static const struct arch *poisoned(const struct arch *arch)
{
	static struct arch_copier copier;
	static struct arch a;

	real = arch->copier;
	copier = *real;
	copier.log = poison;
	a = *arch;
	a.copier = &copier;
	return &a;
}

/* ---- files ---- */

static void write_image(const struct copy_image *i, const char *folder, uint64_t base)
{
	autofree uint8_t *code = xmalloc(i->code.len);
	FILE *f = create(folder, "image");

	if (!copy_image__relocate(i, 0, base, code)) {
		fprintf(stderr, "copies: out of reach\n");
		exit(2);
	}
	fwrite(code, 1, i->code.len, f);
	fclose(f);
}

static void write_patches(const struct plan *p, const struct copy_image *i, const char *folder,
			  uint64_t base)
{
	FILE *f = create(folder, "patches");
	uint8_t bytes[PATCH_MAX];
	const uint32_t *n;

	vec__each (n, &i->order) {
		const struct copy_patch *patch = &i->patches.data[*n];

		if (!copy_image__patch(i, p->arch, patch, 0, base, bytes))
			exit(2);
		fprintf(f, "%llx %d %llx ", (unsigned long long)patch->vaddr, patch->kind,
			(unsigned long long)(patch->kind == PATCH_SHORT ? patch->to
									: patch->to + base));
		for (unsigned k = 0; k < patch->len; k++)
			fprintf(f, "%02x", bytes[k]);
		fputc('\n', f);
	}
	fclose(f);
}

static void write_tables(const struct plan *p, const struct copy_image *i, const char *folder,
			 uint64_t base)
{
	FILE *f = create(folder, "tables");
	const struct copy_function *fn;
	const struct copy_extent *x;
	const struct copy_pc *pc;
	const struct plan_site *s;
	const uint64_t *live;

	fprintf(f, "base %llx\n", (unsigned long long)base);
	vec__each (fn, &i->functions) {
		const struct plan_function *pf = &p->functions.data[fn->function];

		fprintf(f, "function %llx %llx %s", (unsigned long long)base + fn->start,
			(unsigned long long)base + fn->end, pf->raw ? pf->raw : "?");
		for (size_t k = 0; k < pf->nranges; k++)
			fprintf(f, " %llx-%llx", (unsigned long long)pf->ranges[k].vaddr,
				(unsigned long long)(pf->ranges[k].vaddr + pf->ranges[k].size));
		fputc('\n', f);
	}
	vec__each (pc, &i->pcs)
		fprintf(f, "%s %llx %llx\n", pc->near ? "near" : "pc",
			(unsigned long long)base + pc->offset, (unsigned long long)pc->vaddr);
	vec__each (live, &i->live)
		fprintf(f, "live %llx\n", (unsigned long long)*live);
	vec__each (x, &i->intact)
		fprintf(f, "intact %llx %llx\n", (unsigned long long)x->start,
			(unsigned long long)x->end);
	vec__each (s, &p->sites)
		if (s->probe == PROBE_INLINE)
			fprintf(f, "site %llx %zu %d %d\n", (unsigned long long)s->vaddr,
				s - p->sites.data, s->role, s->entry);
	fclose(f);
}

static void write_all(const struct plan *p, const struct copy_image *i, const char *folder)
{
	const struct object *o = p->objects.data[i->object].object;
	uint64_t base = (o->segments.data[0].vaddr + (1ull << 40)) & -4096;

	/* above the object, as if it were loaded at 0 */
	base = (vec__last(&o->segments)->vaddr + vec__last(&o->segments)->size + BASE_BELOW) &
	       -4096ull;
	write_image(i, folder, base);
	write_patches(p, i, folder, base);
	write_tables(p, i, folder, base);
}

/* ---- figures ---- */

static void print_refused(const struct plan *p, const struct copies *c)
{
	for (size_t i = 0; i < p->functions.len; i++)
		if (c->refusals.data[i])
			printf("%s: %s\n", p->functions.data[i].name,
			       copy_refusal_text[c->refusals.data[i]]);
}

static void print_patches(const struct copies *c)
{
	static const char *const names[] = {"jumps", "short", "calls"};
	unsigned n[3] = {0};
	size_t code = 0, functions = 0;
	const struct copy_image *i;
	const struct copy_patch *p;

	vec__each (i, &c->images) {
		code += i->code.len;
		functions += i->functions.len;
		vec__each (p, &i->patches)
			n[p->kind]++;
	}
	printf("; code %zu; patches", code);
	for (unsigned k = 0; k < 3; k++)
		printf(" %u %s", n[k], names[k]);
}

static void print_figures(const struct plan *p, const struct copies *c, double seconds)
{
	static const char *const names[COPY_REFUSALS] = {
		"",	  "range",  "gap",    "uncertain", "unresolved", "insn",
		"room",	  "return", "go",     "runs",	   "steps",	 "stack",
		"object", "site",   "values", "reserved",  "changes",	 "bounds"};
	unsigned why[COPY_REFUSALS] = {0}, sites = 0, copied = 0, known;
	const struct plan_site *s;

	for (size_t i = 0; i < p->functions.len; i++)
		why[c->refusals.data[i]]++;
	vec__each (s, &p->sites) {
		sites += plan_site__has_events(s);
		copied += s->probe == PROBE_INLINE;
	}
	known = p->functions.len - why[COPY_BOUNDS];
	printf("%u functions, %u copied, %.2f %%; %u sites, %u copied, %.2f %%; refused", known,
	       why[0], known ? 100.0 * why[0] / known : 0.0, sites, copied, 100.0 * copied / sites);
	for (unsigned k = 1; k < COPY_REFUSALS; k++)
		if (why[k])
			printf(" %u %s", why[k], names[k]);
	print_patches(c);
	printf("; %.0f ms\n", seconds * 1e3);
}

static bool add(struct object *o, const char *name, function_vec *functions)
{
	struct spec spec;
	bool good;

	if (spec__parse(name, false, &spec))
		return false;
	good = !object__resolve(o, &spec, functions);
	spec__free(&spec);
	return good;
}

static bool copy(struct object *o, char **names, const char *folder)
{
	const char *placement = getenv("PLACEMENT");
	struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN,
				       .placement = placement && !strcmp(placement, "witness")
							    ? PLACEMENT_WITNESS
							    : PLACEMENT_FULL};
	struct log_options log = {0};
	function_vec functions = {0};
	struct copies *c;
	struct plan *p;
	uint64_t start;
	bool good = *names || add(o, "*", &functions);

	for (; *names; names++)
		good &= add(o, *names, &functions);
	if (!good || plan__build(&functions, &options, &p)) {
		fprintf(stderr, "copies: %s\n", err__text());
		return false;
	}
	if (getenv("POISON"))
		p->arch = poisoned(p->arch);
	start = now_ns(CLOCK_MONOTONIC);
	copies__make(p, &log, &c);
	print_figures(p, c, (now_ns(CLOCK_MONOTONIC) - start) / 1e9);
	if (getenv("VERBOSE"))
		print_refused(p, c);
	if (folder && c->images.len)
		write_all(p, c->images.data, folder);
	copies__free(c);
	plan__free(p);
	functions__free(&functions);
	return true;
}

int main(int argc, char **argv)
{
	struct object *o;
	const char *folder = argc > 2 && strcmp(argv[2], "-") ? argv[2] : NULL;

	if (argc < 2 || object__open(argv[1], &o)) {
		fprintf(stderr, "copies FILE [FOLDER] [FUNC...]\n");
		return 2;
	}
	return !copy(o, argv + min_of(argc, 3), folder);
}
