/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe set from the inside, shared by the files of src/probe. */
#ifndef BBTRACE_PROBE_SESSION_H
#define BBTRACE_PROBE_SESSION_H

#include <linux/types.h>
#include "source/source.h"
#include "scope.h"
#include "event/event.h"
#include "../bpf/wire.h"

struct bbtrace_bpf;
struct bpf_link;
struct bpf_program;
struct drain;
struct sideband;
struct probe;

/* How a probe finds its site. */
enum probe_lookup {
	LOOKUP_COOKIE, /* bpf_get_attach_cookie() */
	LOOKUP_KERNEL, /* hash of the address */
	LOOKUP_UPROBE, /* one tracefs event with many uprobes: hash of (inode, offset) */
};

/* One way to attach; ranked: the first one that the kernel has is used. */
struct mechanism {
	const char *name; /* --attach, doctor */
	const char *what;
	bool kernel;	     /* for kernel functions, else for user space */
	const char *program; /* BPF, that its probes run */
	uint8_t lookup;	     /* enum probe_lookup: how its probes find their site */
	uint8_t loss;	     /* enum target_loss: how an exec may take a process away from it */
	uint32_t most;	     /* sites for which it is quick to attach; 0: any number */
	int (*check)(void);
	int (*suits)(const struct probe *p); /* -errno: what it can't do is asked; NULL: any */
	int (*attach)(struct probe *p);
	void (*detach)(struct probe *p);
	/* Process pid was lost to it: it is to be traced again, from now on. */
	int (*attach_again)(struct probe *p, uint32_t pid);
	enum probe_spares (*spares)(enum scope_kind kind); /* NULL: nobody */
	const char *remedy; /* where the kernel was built without it */
};
extern const struct mechanism mechanisms[]; /* ends with name NULL */
/* Sets the mechanisms that p's plan needs, by plan, options and reach. -ENOTSUP, ...: there is
 * none.
 */
int mechanisms__choose(struct probe *p);
/* How an exec may take processes away from p's. */
enum target_loss mechanism__loss(const struct probe *p);

struct attached {
	struct bpf_link *link;
	uint32_t pid; /* the one process that it is for; 0: all that it is meant for */
};

/* How the probes of programs, or those of the kernel, are attached. */
struct attachment {
	const struct mechanism *mechanism; /* NULL: the plan has none of these */
	VEC(struct attached) links;
	int tracefs;	 /* -1: not in use */
	int event_fd;	 /* the perf event that the program came with; a link's */
	int event_id;	 /* of the one tracefs event */
	VEC(int) events; /* perf events, beside that which a link holds */
};

struct probe {
	struct source source;
	struct plan *plan;
	const struct probe_options *options;
	struct attachment programs, kernel;
	char *unspared; /* probe__unspared() */
	struct bbtrace_bpf *skel;
	struct drain *drain;
	struct decoder *decoder;
	struct sideband *sideband;
	struct scope scope;
	struct bpf_link *tasks[5];	 /* tracepoints: fork, exec, exit, signal, trap */
	uint32_t found_again;		 /* of the processes that were lost to the mechanism */
	VEC(struct sideband_event) gaps; /* what they did meanwhile, to be told */
	uint64_t settled;		 /* probe__settled() */
};

/* The mechanisms' functions (multi.c, event.c). */
int uprobe_multi__attach(struct probe *p);
int uprobe_multi__attach_again(struct probe *p, uint32_t pid);
enum probe_spares uprobe_multi__spares(enum scope_kind kind);
void uprobe_multi__detach(struct probe *p);
int uprobe_event__attach(struct probe *p);
int uprobe_event__attach_again(struct probe *p, uint32_t pid);
/* Does the kernel let who asks now open the event for a process? */
bool uprobe_event__may_open(const struct probe *p);
enum probe_spares uprobe_event__spares(enum scope_kind kind);
void uprobe_event__detach(struct probe *p);
int kprobe_event__attach(struct probe *p);
void kprobe_event__detach(struct probe *p);
int kprobe_multi__suits(const struct probe *p);
int kprobe_multi__attach(struct probe *p);
void kprobe_multi__detach(struct probe *p);
/* Hits that ftrace kept from it, as far as the kernel tells. */
uint64_t kprobe_multi__missed(const struct probe *p);

/* The kernel accepts no probe on this site of its own: who says so, and why. */
void kprobe__refuse(struct probe *p, uint32_t site, const char *who, const char *why);
/* Notes the functions whose calls are not seen for that. */
void kprobe__tell_unseen(const struct plan *plan);

/* Return probes beside the kprobes (kernel_returns.c): are there any to attach, and how many were
 * defined. */
bool kernel_returns__needed(const struct probe *p);
uint32_t kernel_returns__define(struct probe *p, int fd);

/* Operations of the source (stream.c). From the first take on a thread takes records out of the
 * ring, with the caller's capabilities. */
int probe__take(struct source *s, int timeout_ms, const struct source_sink *sink);
uint64_t probe__settled(const struct source *s);
int probe__losses(struct source *s, const struct source_sink *sink);

/* The BPF program that the attachment's probes run; NULL: it has none. */
struct bpf_program *probe__program(const struct probe *p, const struct attachment *a);
/* Children of traced processes that were born before the tracepoints were there; they are traced
 * from here on. True: there are more than the last time. */
bool probe__find_children(struct probe *p);
void attachment__add_link(struct attachment *a, struct bpf_link *link, uint32_t pid);
/* Closes the links of one process; 0: all. */
void attachment__drop_links(struct attachment *a, uint32_t pid);
void attachment__free(struct attachment *a);
/* Hits that never reached the program: BPF was already running on that CPU. Of whichever process:
 * the filters were not asked. */
uint64_t attachment__recursion_misses(const struct probe *p, const struct attachment *a);

/* Notes the processes that ran into breakpoints of p's in copies of the code (copies.c). */
void copies__tell(struct probe *p);

/* Tells who waits that so many more sites are done. */
void probe__attached(const struct probe *p, size_t sites, uint64_t work);
/* Is what attaches to end now? */
bool probe__is_interrupted(const struct probe *p);

/* Do traced tasks inherit perf events? */
bool probe__inherits(const struct probe *p);
/* May perf events have to be opened for processes once it is attached? */
bool probe__reopens(const struct probe *p);
/* Does the kernel refuse, to who asks now, what p still has to do once it is attached? */
bool probe__is_refused(struct probe *p);

/* Runs fn in a process that SIGKILL sent to bbtrace doesn't reach: what fn returns. */
int shield__run(int (*fn)(struct probe *p), struct probe *p);
/* bbtrace's own number, from within fn as well. */
pid_t shield__pid(void);
/* Within fn: bbtrace has been killed meanwhile. */
bool shield__is_orphan(void);

/* Does this kernel have uprobe_multi; does it filter by process (early ones took the thread for the
 * process)? */
int feature__uprobe_multi(void);
/* What the kernel says to a link of this program to no file; -EBADF: it knows such links. */
int feature__multi_answer(int prog, pid_t pid);
bool feature__uprobe_multi_by_process(void);
/* Can a thread's perf events be inherited, each to stay with the task that it was made for? From
 * Linux 6.13 on. */
bool feature__inherited_events(void);
/* A kernel that is locked down has no tracefs either. */
int feature__lockdown(void);
int feature__kprobe_multi(void);
int feature__tracefs_uprobes(void);
int feature__tracefs_kprobes(void);

/* What a site's probe has to do (wire.h); operand: its index in the operand table where it has one;
 * events: enum plan_events. */
uint64_t action__of_site(const struct plan *plan, uint32_t site, uint32_t operand, unsigned events);
/* The program of Go whose goroutines the probes tell apart; NULL: none. */
const struct object *action__go(const struct plan *plan);
/* Is it that one, or like it? */
bool action__is_go(const struct plan *plan, const struct object *o);
bool action__needs_operand(const struct plan_site *site);
struct wire_operand action__operand(const struct plan_site *site);

#endif
