/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of a probe set, shared by the files of this folder. */
#ifndef BBTRACE_SOURCE_PROBES_SESSION_H
#define BBTRACE_SOURCE_PROBES_SESSION_H

#include <linux/types.h>
#include <stdarg.h>
#include "source/source.h"
#include "source/probes/maps/scope.h"
#include "util/keeper.h"
#include "event/event.h"
#include "../bpf/wire_named.h"

struct bbtrace_bpf;
struct bpf_link;
struct bpf_program;
struct drain;
struct counters;
struct own_rings;
struct sideband;
struct probe;

/* How a probe finds its site. */
enum probe_lookup {
	LOOKUP_COOKIE, /* bpf_get_attach_cookie() */
	LOOKUP_KERNEL, /* hash of the address */
	LOOKUP_UPROBE, /* one tracefs event with many uprobes: hash of (inode, offset) */
};

/* An attach mechanism, a row of the ranked table. */
struct mechanism {
	const char *name; /* --attach, doctor */
	const char *what;
	bool kernel;	     /* for kernel functions, else for user space */
	const char *program; /* BPF, that its probes run */
	uint8_t lookup;	     /* enum probe_lookup: how its probes find their site */
	uint8_t loss;	     /* enum target_loss: how an exec may remove a process's probes */
	uint32_t most;	     /* most sites for which attaching is quick; 0: any number */
	int (*check)(void);
	int (*suits)(const struct probe
			     *p); /* -errno: it can't do what is requested; NULL: always suitable */
	int (*attach)(struct probe *p);
	void (*detach)(struct probe *p);
	/* Attaches again to process pid, which has lost its probes. */
	int (*attach_again)(struct probe *p, uint32_t pid);
	/* Attaches the sites as the plan has them now, and detaches the others; each hit counts
	 * once. NULL if it can't. */
	int (*change)(struct probe *p);
	/* Attaches the sites in p->asked, which have no probe; on an error none. */
	int (*add)(struct probe *p);
	/* Detaches them and leaves in p->asked those that stay attached. NULL: all do. */
	int (*remove)(struct probe *p);
	/* Takes the probes away, and puts them back. What the plan has of them stays, such as
	 * refusals. */
	int (*park)(struct probe *p);
	int (*unpark)(struct probe *p);
	bool executes; /* the program does instructions that would be single-stepped */
	bool quick;    /* they come and go in milliseconds */
	enum probe_spares (*spares)(enum scope_kind kind); /* NULL: no process */
	const char *remedy; /* for kernels that were built without it */
};
extern const struct mechanism mechanisms[]; /* ends with name NULL */
/* Sets the mechanisms that p's plan needs, by plan, options and reach. -ENOTSUP, ...: there is
 * none.
 */
int mechanisms__choose(struct probe *p);
/* Which other processes m spares in p's scope (spares.c). */
enum probe_spares mechanism__spares(const struct probe *p, const struct mechanism *m);
/* How an exec may take processes away from p's. */
enum target_loss mechanism__loss(const struct probe *p);

struct attached {
	struct bpf_link *link;
	uint32_t pid;  /* its only process; 0: all in the scope */
	uint32_t part; /* of the sites that are attached together; of a link of kprobe_multi: its
			  site, NO_SITE: several */
};

/* How the probes of programs, or those of the kernel, are attached. */
struct attachment {
	const struct mechanism *mechanism; /* NULL: the plan has none of these */
	VEC(struct attached) links;
	int tracefs;	 /* -1: not in use */
	int event_fd;	 /* the perf event that the program is attached to; owned by a link */
	int event_id;	 /* of the one tracefs event */
	VEC(int) events; /* other perf events */
};

/* What the BPF program knows of the sites (site_table.c). */
struct site_table {
	uint32_t room, operand_room; /* entries of the maps */
	uint32_t noperands;	     /* the operands in use */
	uint64_t *actions;	     /* by site, of room: what is in the map */
};

/* The links of uprobe_multi (multi.c, multi_change.c): all of its own, or for the sites that were
 * added to those of another mechanism. */
struct multi {
	struct attachment links;
	uint32_t *part; /* by site: the part that it is attached with */
	bool *attached; /* by site: it has a probe of these now */
	size_t len;	/* of both */
	uint32_t nparts;
	int order; /* whether links can be replaced: 0 not tried yet, 1 yes, -1 no */
};

/* A watchpoint's perf event. counted: its hits are those of the BPF program (watch.c). */
struct watch_event {
	int fd;
	bool counted;
};

/* Hits that ran no program (misses.c). */
struct miss {
	struct missed missed; /* hits: those not reported yet */
	uint64_t seen;	      /* the kernel's count, when it was looked at last */
	uint64_t reported;
};
struct misses {
	VEC(struct miss) all;
	struct map64 by_key; /* -> index + 1 */
};

/* What samples cost, if the kernel reports it. */
struct sampling {
	int stats;	/* BPF programs' times are measured as long as it is open; negative: not */
	uint64_t since; /* ns, CLOCK_MONOTONIC */
	unsigned cpus;	/* 0: there are no samples */
};

struct probe {
	struct source source;
	struct plan *plan;
	const struct probe_options *options;
	struct attachment programs, kernel;
	/* Why not more processes are spared, if the filters name processes; NULL if no better
	 * mechanism was skipped. */
	char *unspared;
	struct bbtrace_bpf *skel;
	struct drain *drain;
	struct counters *counters; /* NULL: its probes don't count */
	struct own_rings *own;	   /* NULL: the threads have none (own_rings.h) */
	struct decoder *decoder;
	struct sideband *sideband;
	struct scope scope;
	struct bpf_link *tasks[10];	  /* tracepoints: of attach_tasks() */
	struct bpf_link *sigreturn;	  /* NULL: it is not seen when handlers return */
	uint32_t found_again;		  /* number of processes that were attached to again */
	VEC(struct sideband_event) gaps;  /* gaps of these processes to report */
	VEC(struct sideband_event) exits; /* those that wait, in order of time */
	uint64_t settled;		  /* probe__settled() */
	uint64_t generation;		  /* of the links that were attached last */
	struct multi multi;
	bool *armed;	     /* by site: has a kprobe; NULL: they don't change */
	bool kernel_returns; /* the event of return probes in the kernel is open */
	bool adds_links; /* uprobe_multi may attach further sites, whatever attached the first */
	struct site_table table;
	struct keeper keeper; /* the process that may open trace events (event_keeper.c) */
	struct attachment switches, marks; /* links, each of the process that it says */
	bool parked, reported_staying;	   /* park.c */
	bool can_mark;			   /* markers may be attached */
	size_t markers_from;		   /* the markers that were found last */
	id_vec asked;			   /* the sites to add or to remove */
	id_vec unseen;			   /* entries in the kernel that it refused */
	struct misses misses;
	VEC(struct bpf_link *) named; /* of named events */
	struct sampling sampling;
	VEC(struct watch_event) watches;
	unsigned nwatched; /* addresses of programs */
};

/* ---- a set of probes ---- */

/* As probes__open(), which adds the operations. */
int probe__open(struct plan *plan, const struct probe_options *options, struct probe **out);
/* Valid after probe__open(). */
enum probe_spares probe__spares(const struct probe *p);
/* Returns true if its probes are definitions in tracefs, which are deleted at the end. */
bool probe__by_definitions(const struct probe *p);
/* Verified instructions of the BPF programs in use. */
unsigned probe__verified_insns(const struct probe *p);

/* Its operations, as source.h has them (operations.c). After attaching they need no capability but
 * those that drop_privileges() keeps. */
int probe__attach(struct source *s);
void probe__start(struct source *s);
void probe__stop(struct source *s);
void probe__close(struct source *s);
int probe__park(struct source *s);
int probe__unpark(struct source *s);
void probe__facts(const struct source *s, struct source_facts *f);
void probe__mechanisms(const struct source *s, struct str *out);
uint64_t probe__lost_switches(const struct source *s, size_t *last);
/* They live as long as the source. */
struct thread_filters probe__thread_filters(struct source *s);
int probe__change(struct source *s);
int probe__attach_sites(struct source *s, const uint32_t *sites, size_t n);
int probe__detach_sites(struct source *s, const uint32_t *sites, size_t n);
int probe__attach_markers(struct source *s, size_t from);
int probe__watch(struct source *s, const struct probe_watch *w);
int probe__drop_privileges(struct source *s, uint64_t keep, unsigned forbidden);
void probe__note_value(struct source *s, const struct probe_watch *w);
void probe__exclude(struct source *s, uint32_t pid, bool excluded);
void probe__forget_sideband(struct source *s);
/* From the first take on, a thread takes records out of the ring, with the caller's
 * capabilities. */
int probe__take(struct source *s, struct source_wait wait, const struct source_sink *sink);
int probe__catch_up(struct source *s, const struct source_sink *sink);
int probe__count(struct source *s, const struct source_sink *sink);
uint64_t probe__settled(const struct source *s);
/* Hits that ran no program (misses.c). They are those of any process, since the filters didn't
 * run. */
void probe__misses(struct source *s, const struct source_sink *sink);
int probe__losses(struct source *s, const struct source_sink *sink);

/* The mechanisms' functions (multi.c, event.c, kprobe_event.c, event_close.c, entries.c). */
int uprobe_multi__attach(struct probe *p);
int uprobe_multi__attach_again(struct probe *p, uint32_t pid);
enum probe_spares uprobe_multi__spares(enum scope_kind kind);
void uprobe_multi__detach(struct probe *p);
int uprobe_multi__change(struct probe *p);
int uprobe_multi__add(struct probe *p);
int uprobe_multi__remove(struct probe *p);
/* -ENOTSUP: a hit doesn't run the program for the link that was attached last first (order.c). */
int uprobe_multi__check_order(struct probe *p);
int uprobe_event__attach(struct probe *p);
int uprobe_event__add(struct probe *p);
int uprobe_event__attach_again(struct probe *p, uint32_t pid);
int uprobe_event__park(struct probe *p);
int uprobe_event__unpark(struct probe *p);
/* The trace event for a thread; -1: errno says why. */
int uprobe_event__open(const struct probe *p, pid_t tid);
/* Returns true if the caller, with its current privileges, may open the event for a process. */
bool uprobe_event__may_open(const struct probe *p);
enum probe_spares uprobe_event__spares(enum scope_kind kind);
void uprobe_event__detach(struct probe *p);
int kprobe_event__attach(struct probe *p);
int kprobe_event__add(struct probe *p);
int kprobe_event__remove(struct probe *p);
int kprobe_event__change(struct probe *p);
void kprobe_event__detach(struct probe *p);
int kprobe_event__park(struct probe *p);
int kprobe_event__unpark(struct probe *p);
int kprobe_multi__suits(const struct probe *p);
int kprobe_multi__attach(struct probe *p);
int kprobe_multi__add(struct probe *p);
void kprobe_multi__detach(struct probe *p);
int kprobe_multi__park(struct probe *p);
int kprobe_multi__unpark(struct probe *p);

/* (park.c) */
int uprobe_multi__park(struct probe *p);
int uprobe_multi__unpark(struct probe *p);

/* The markers' probes (markers.c), before all others: a hit then runs their programs last. Those of
 * marks are parked as well. */
int markers__attach(struct probe *p);
int markers__attach_again(struct probe *p, uint32_t pid);
int markers__park(struct probe *p);
int markers__unpark(struct probe *p);
void markers__choose_programs(struct probe *p);
/* The text of a mark that the BPF program could not read; in room if it is found. */
#define MARK_TEXT    63
#define MARKERS_MOST 4096
const char *mark__text(const struct probe *p, const struct event *e, char room[MARK_TEXT + 1]);

/* A probe on this site was refused: records by whom and why. */
void kprobe__refuse(struct probe *p, uint32_t site, const char *who, const char *why);
/* Prints notes on functions whose calls are not seen for that reason. */
void kprobe__report_unseen(const struct probe *p);

/* Return probes beside the kprobes (kernel_returns.c): whether there are any to attach, and how
 * many were defined. */
bool kernel_returns__needed(const struct probe *p);
uint32_t kernel_returns__define(struct probe *p, int fd);
/* One more, of a function that has been added. Returns the kernel's -errno. */
int kernel_returns__add(struct probe *p, int fd, uint32_t function);

/* Once the skeleton is open: sets what the BPF object is to know. nprobes: hooked sites
 * (configure.c). */
void probe__configure(struct probe *p, uint32_t nprobes);
size_t probe__ring_size(const struct probe *p);

/* Returns how many bytes of the processor's state a signal saves on a thread's stack; 0 if it is
 * not known where that is (signal_state.c). */
uint32_t signal_state__size(void);
/* For libbpf_set_print(): with -v the last lines of each message (print.c). */
int probe__print(int level, const char *fmt, va_list ap);

/* Named events (named.c). */
void named__choose_programs(struct probe *p);
void named__size(struct probe *p);
int named__fill(struct probe *p);
int named__attach(struct probe *p);
void named__detach(struct probe *p);
/* Watchpoints (watch.c): are there any, the size of their maps, hits that ran no program. */
bool watches__are_planned(const struct probe *p);
void watches__size(struct probe *p);
uint64_t watches__missed(const struct probe *p);
void watches__detach(struct probe *p);
/* Static probes of programs (usdt.c). */
struct bpf_program *usdt__program(const struct probe *p);
int usdt__attach(struct probe *p);
/* By the CPUs' clocks (sample.c). */
int sample__attach(struct probe *p, uint32_t which);
void sample__report(const struct probe *p);
void sample__end(struct probe *p);
/* Passes what was added up, as events of this time (sampled.c): of a process that ends or executes
 * another program; pid 0: of all. */
int sampled__give(struct probe *p, uint32_t pid, uint64_t time, const struct source_sink *sink);
/* Appends the fields that a tracepoint's format has to the plan's last named event. */
void tracepoint__parse(const char *format, struct plan *p);

/* Returns the BPF program that the attachment's probes run; NULL if it has none. */
struct bpf_program *probe__program(const struct probe *p, const struct attachment *a);
/* Adds children of traced processes that were forked before the tracepoints were attached. True:
 * there were new ones. */
bool probe__find_children(struct probe *p);
void attachment__add_link(struct attachment *a, struct bpf_link *link, uint32_t pid, uint32_t part);
/* Closes the links of one process; 0 for all. */
void attachment__drop_links(struct attachment *a, uint32_t pid);
void attachment__free(struct attachment *a);

/* Hits that ran no program (misses.c). */
uint64_t program__misses(const struct bpf_program *program);
/* Notes at the end, on what probe__misses() reported. */
void probe__report_misses(struct probe *p);
/* Before kprobes are removed; after that, for each of them. */
void probe__keep_misses(struct probe *p);
void probe__forget_misses(struct probe *p, uint32_t site);
void probe__free_misses(struct probe *p);

/* A kprobe that reports when a signal's handler returns (sigreturn.c): whether it is of use, and
 * this kernel can have it. It is attached if the kernel allows it. */
bool sigreturn__needed(const struct probe *p);
void sigreturn__attach(struct probe *p);

/* Prints notes on processes that hit p's breakpoints in copies of their code (copies.c). */
void copies__report(struct probe *p);

/* Reports progress: the number of sites done and their work. */
void probe__attached(const struct probe *p, size_t sites, uint64_t work);
/* Returns true if attaching was interrupted. */
bool probe__is_interrupted(const struct probe *p);

/* Returns true if traced tasks inherit perf events. */
bool probe__inherits(const struct probe *p);
/* Returns true if perf events may have to be opened after attaching. */
bool probe__reopens(const struct probe *p);
/* Level 3 of perf_event_paranoid, of Debian's kernels: CAP_PERFMON is not enough. */
bool privileges__perf_needs_admin(void);
/* The caller's sets; empty if they can't be read. */
void privileges__read_sets(uint64_t *effective, uint64_t *permitted);
/* Clears the inheritable set. 0 or -errno. */
int privileges__write_sets(uint64_t effective, uint64_t permitted);
/* The capability, or the older one that it was split from, whichever is permitted. */
uint64_t privileges__one_of(uint64_t permitted, uint64_t wanted);
/* With -v: shows which process has which capabilities. */
void privileges__note(const char *who, uint64_t kept);
/* -EBUSY, with a message: a process that would have breakpoints at these sites runs copies of their
 * functions, which another bbtrace made. */
int probe__check_code(const struct probe *p, const id_vec *sites);
/* After attaching. -ESTALE, with a message: the processes of the trace have mapped other files than
 * those that their paths name now; a note if only some have. */
int probe__check_mapped(const struct probe *p, const id_vec *sites);

/* Returns true if its probes count, instead of making records. */
static inline bool probe__counts(const struct probe *p)
{
	return p->plan->placement == PLACEMENT_COUNT;
}

/* Runs fn in a process that SIGKILL to bbtrace doesn't kill; returns fn's result. */
int shield__run(int (*fn)(struct probe *p), struct probe *p);
/* bbtrace's own PID, also within fn. */
pid_t shield__pid(void);
/* Within fn: returns true if bbtrace was killed meanwhile. */
bool shield__is_orphan(void);

/* Whether this kernel has uprobe_multi, and whether that filters by process (early ones took the
 * thread for the process). */
int feature__uprobe_multi(void);
/* Returns the kernel's answer to a link of this program without a file; -EBADF: it knows such
 * links. */
int feature__multi_answer(int prog, pid_t pid);
bool feature__uprobe_multi_by_process(void);
/* Returns true if a thread's perf events can be inherited without moving between tasks: from Linux
 * 6.13 on. */
bool feature__inherited_events(void);
/* Whether a uprobe's program may execute the instruction (execution.c). By each of the
 * mechanisms: */
int feature__execution(void);
int feature__executed_multi(void);
int feature__executed_event(void);
void execution__configure(const struct probe *p, struct wire_config *c);
/* Enters what the site's instruction does, if the program does it. */
int execution__fill(struct probe *p, uint32_t site);
/* The program of uprobe_multi links. */
struct bpf_program *multi__program(const struct probe *p);
/* A descriptor of a program of this type that does nothing. -errno with a message. */
int feature__load_program(int type, int attach);
/* A kernel that is locked down has no tracefs either. */
int feature__lockdown(void);
int feature__kprobe_multi(void);
int feature__tracefs_uprobes(void);
int feature__tracefs_kprobes(void);

/* Whether the processor can watch memory of programs, or of the kernel (watch.c). */
int feature__watchpoints(void);
int feature__kernel_watchpoints(void);

/* The action of a site (wire.h); operand: its index in the operand table, if any; events: enum
 * plan_events. */
uint64_t action__of_site(const struct plan *plan, uint32_t site, uint32_t operand, unsigned events);
/* Returns the Go program whose goroutines the probes distinguish; NULL if there is none. */
const struct object *action__go(const struct plan *plan);
/* Returns true if it is that program, or one with the same offsets. */
bool action__is_go(const struct plan *plan, const struct object *o);
bool action__needs_operand(const struct plan_site *site);
struct wire_operand action__operand(const struct plan_site *site);
/* Returns where the values are that a conditional with .test tests. */
struct wire_test action__test(const struct plan_site *site);

#endif
