// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what a hit costs on this machine: bbtrace probes its own functions (struct sample) with
 * the usual plan, mechanism and BPF program, and a forked child runs them. Results are medians of
 * rounds; each round runs all sites in turn, so that other load affects all of them.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calibrate.h"

/* The copies of a site, by what its probe does; a fourth figure is for a stopped one. */
enum { RECORD_BRANCH, RECORD_VALUE, RECORD_ENTRY, RECORD_STOPPED, RECORD_RETURN };
#define COPIES 3
static const char *const record_names[] = {"branch", "value", "entry", "stopped", "return"};

/* ---- the child: runs a site repeatedly and reports the time ---- */

struct order {
	uint32_t site, hits;
};

static void run_syscall(void)
{
	syscall(SYS_getppid);
}

/* Returns NULL if there are none on this architecture. */
static const struct sample *sample_at(uint32_t site)
{
	const struct arch *arch = arch__native();

	return arch && arch->samples && arch->samples[site].name ? &arch->samples[site] : NULL;
}

static void __attribute__((noreturn)) run_orders(int in, int out)
{
	struct order o;
	uint64_t took;

	while (read(in, &o, sizeof(o)) == sizeof(o)) {
		void (*volatile run)(void) =
			o.site == RUN_SYSCALL ? run_syscall : sample_at(o.site)->run;

		took = now_ns(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < o.hits; i++)
			run();
		took = now_ns(CLOCK_MONOTONIC) - took;
		if (write(out, &took, sizeof(took)) != sizeof(took))
			break;
	}
	_exit(0);
}

int runner__start(struct runner *r)
{
	int there[2], back[2];

	if (pipe(there))
		return err__set(errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe(back)) {
		close(there[0]);
		close(there[1]);
		return err__set(errno, "cannot make a pipe: %s", strerror(errno));
	}
	fflush(NULL);
	r->pid = fork();
	if (!r->pid) {
		close(there[1]);
		close(back[0]);
		run_orders(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	r->to = there[1];
	r->from = back[0];
	return r->pid > 0 ? 0 : err__set(errno, "cannot fork: %s", strerror(errno));
}

void runner__stop(struct runner *r)
{
	close(r->to);
	close(r->from);
	if (r->pid > 0)
		waitpid(r->pid, NULL, 0);
}

int runner__time(struct runner *r, uint32_t site, uint32_t hits, double *ns)
{
	struct order o = {site, hits};
	uint64_t took;

	if (write(r->to, &o, sizeof(o)) != sizeof(o) ||
	    read(r->from, &took, sizeof(took)) != sizeof(took))
		return err__set(EIO, "the measured process has ended");
	*ns = (double)took / hits;
	return 0;
}

/* ---- the plan: each site is a function and a block of its own ---- */

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the first one is the program */
}

static struct plan_site site_of(uint32_t i, uint64_t bias, const struct insn *insn)
{
	static const uint8_t kinds[COPIES] = {
		[RECORD_BRANCH] = BRANCH_JCC, [RECORD_VALUE] = BRANCH_RET, [RECORD_ENTRY] = 0};

	return (struct plan_site){
		.vaddr = (uintptr_t)sample_at(i)->at - bias,
		.mnemonic = insn->mnemonic,
		.function = i,
		.block = i,
		.len = insn->len,
		.kind = kinds[i % COPIES],
		.entry = i % COPIES == RECORD_ENTRY,
		.probe = PROBE_TRAP,
	};
}

static struct plan *make_plan(const struct object *o, const struct mechanism *by, bool returns)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	const struct sample *sample;
	struct insn insn;
	uint64_t bias = 0;

	dl_iterate_phdr(find_bias, &bias);
	p->arch = arch__by_machine(o->machine);
	p->return_probes = returns;
	p->executes = by->executes;
	vec__push(&p->objects, (struct plan_object){.object = o, .path = o->path});
	for (uint32_t i = 0; (sample = sample_at(i)); i++) {
		if (p->arch->decode(sample->at, p->arch->longest, 0, false, &insn))
			continue;
		vec__push(&p->sites, site_of(i, bias, &insn));
		vec__push(&p->functions,
			  (struct plan_function){.name = sample->name,
						 .entry_site = i,
						 .return_refusal = i < COPIES ? RETURN_OK
									      : RETURN_REENTERED});
		vec__push(&p->blocks, (struct plan_block){.site = i, .function = i});
		p->probes++;
	}
	return p;
}

/* ---- measuring ---- */

struct measurement {
	struct runner runner;
	uint32_t nsites;
	struct figures *of; /* by site, then those silenced */
};

static int count_event(void *ctx, const struct event *e)
{
	++*(uint64_t *)ctx;
	return 0;
}

static int no_sideband(void *ctx, const struct sideband_event *e)
{
	return 0;
}

static int no_loss(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	return 0;
}

static void no_misses(void *ctx, const struct missed *m)
{
}

void calibrate__close(struct source **p)
{
	if (*p)
		(*p)->ops->close(*p);
}

int calibrate__hit(struct runner *r, struct source *p, uint32_t site, bool stopped, double *ns,
		   uint64_t *records)
{
	const struct source_sink sink = {records, count_event, no_sideband, no_loss, no_misses};
	int err;

	*records = 0;
	if (stopped)
		p->ops->stop(p);
	else
		p->ops->start(p);
	err = runner__time(r, site, CALIBRATE_HITS, ns);
	p->ops->stop(p);
	return err ? err : p->ops->losses(p, &sink);
}

/* Each hit must have a record. */
static int measure(struct measurement *m, struct source *p, uint32_t site, bool stopped, double *ns)
{
	uint64_t records;
	int err = calibrate__hit(&m->runner, p, site, stopped, ns, &records);

	if (!err && !stopped && records < CALIBRATE_HITS)
		return err__set(EIO, "%s: %llu of %u hits were recorded", sample_at(site)->name,
				(unsigned long long)records, CALIBRATE_HITS);
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double figures__median(const struct figures *f)
{
	struct figures sorted = *f;

	qsort(sorted.ns, CALIBRATE_ROUNDS, sizeof(*sorted.ns), by_value);
	return sorted.ns[CALIBRATE_ROUNDS / 2];
}

static int measure_all(struct measurement *m, struct source *p, const struct plan *plan)
{
	int err = 0;

	for (int round = 0; !err && round < CALIBRATE_ROUNDS; round++)
		for (uint32_t i = 0; !err && i < m->nsites; i++) {
			if (plan->sites.data[i].probe == PROBE_NONE)
				continue;
			err = measure(m, p, i, false, &m->of[i].ns[round]);
			if (!err && i % COPIES == RECORD_BRANCH)
				err = measure(m, p, i, true, &m->of[m->nsites + i].ns[round]);
		}
	return err;
}

static int with_probes(struct measurement *m, struct plan *plan, const char *mechanism)
{
	uint32_t pid = m->runner.pid;
	const struct probe_options o = {.filters.pids = {.data = &pid, .len = 1},
					.attach = mechanism,
					.events = PLAN_BRANCH};
	CLEANUP(calibrate__close) struct source *p = NULL;
	int err = probes__open(plan, &o, &p);

	if (err)
		return err;
	err = p->ops->attach(p);
	return err ? err : measure_all(m, p, plan);
}

/* ---- results ---- */

static void add_row(calibration_vec *out, const struct plan *plan, const char *mechanism,
		    uint32_t site, int record, double ns)
{
	const struct plan_site *s = &plan->sites.data[site];
	struct calibration *c = vec__add(out);
	struct execution done;
	struct insn insn;

	plan->arch->decode(sample_at(site)->at, plan->arch->longest, 0, false, &insn);
	*c = (struct calibration){
		.mechanism = mechanism,
		.record = record_names[record],
		.class = insn.emulated || plan__execution(plan, 0, s->function, s->vaddr, &done)
				 ? COST_EMULATED
				 : COST_STEPPED,
		.ns = ns};
	snprintf(c->insn, sizeof(c->insn), "%s", sample_at(site)->name);
}

/* Subtracts the time of the loop itself. */
static void add_rows(const struct measurement *m, const struct plan *plan, const char *mechanism,
		     const double *loop, calibration_vec *out)
{
	for (uint32_t i = 0; i < m->nsites; i++) {
		if (plan->sites.data[i].probe == PROBE_NONE)
			continue;
		if (i % COPIES == RECORD_BRANCH)
			add_row(out, plan, mechanism, i, RECORD_STOPPED,
				figures__median(&m->of[m->nsites + i]) - loop[i]);
		add_row(out, plan, mechanism, i, i % COPIES, figures__median(&m->of[i]) - loop[i]);
	}
}

/* What a return probe adds to the probe at the entry. */
static void add_return(const struct measurement *m, const struct plan *plan, const char *mechanism,
		       double entry, calibration_vec *out)
{
	add_row(out, plan, mechanism, RECORD_ENTRY, RECORD_RETURN,
		figures__median(&m->of[RECORD_ENTRY]) - entry);
}

static int calibrate_returns(struct measurement *m, const struct object *o,
			     const struct mechanism *by, calibration_vec *out)
{
	double entry = figures__median(&m->of[RECORD_ENTRY]);
	struct plan *plan = make_plan(o, by, true);
	int err;

	for (uint32_t i = 0; i < plan->sites.len; i++)
		plan->sites.data[i].probe = i == RECORD_ENTRY ? PROBE_TRAP : PROBE_NONE;
	plan->probes = 1;
	err = with_probes(m, plan, by->name);
	if (!err)
		add_return(m, plan, by->name, entry, out);
	plan__free(plan);
	return err;
}

static int calibrate_one(struct measurement *m, const struct object *o, const struct mechanism *by,
			 const double *loop, calibration_vec *out)
{
	struct plan *plan = make_plan(o, by, false);
	int err = with_probes(m, plan, by->name);

	if (!err)
		add_rows(m, plan, by->name, loop, out);
	plan__free(plan);
	return err || by->lookup != LOOKUP_COOKIE ? err : calibrate_returns(m, o, by, out);
}

static int time_loops(struct measurement *m, double *loop)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < m->nsites; i++)
		err = runner__time(&m->runner, i, 100 * CALIBRATE_HITS, &loop[i]);
	return err;
}

static int calibrate_all(struct measurement *m, const struct object *o, calibration_vec *out)
{
	autofree double *loop = xcalloc(m->nsites, sizeof(*loop));
	const struct mechanism *by;
	int err = runner__start(&m->runner);

	if (err)
		return err;
	err = time_loops(m, loop);
	for (by = mechanisms; !err && by->name; by++)
		if (!by->kernel && !by->check())
			err = calibrate_one(m, o, by, loop, out);
	return err;
}

static int calibrate_object(const struct object *o, calibration_vec *out)
{
	struct measurement m = {.runner = {.to = -1, .from = -1}};
	autofree struct figures *figures = NULL;
	int err;

	while (sample_at(m.nsites))
		m.nsites++;
	if (!m.nsites)
		return err__set(ENOTSUP, "there is nothing to measure on this architecture");
	m.of = figures = xcalloc(2 * m.nsites, sizeof(*m.of));
	err = calibrate_all(&m, o, out);
	runner__stop(&m.runner);
	if (!err && !out->len) /* no mechanism is available: checks the best one for its message */
		err = err__prefix(mechanisms[0].check(), "nothing can be measured");
	return err;
}

int calibrate__run(calibration_vec *out)
{
	struct object *o = NULL;
	int err = object__open("/proc/self/exe", &o);

	signal(SIGPIPE, SIG_IGN);
	if (err)
		return err;
	err = calibrate_object(o, out);
	object__free(o);
	return err;
}
