/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state: what the supervisor knows of the processes that it traces: their threads, their memory,
 * and the copies and logs in it. Only data, for all rooms of the supervisor's process.
 */
#ifndef BBTRACE_SOURCE_INLINE_TARGET_STATE_H
#define BBTRACE_SOURCE_INLINE_TARGET_STATE_H

#include <signal.h>
#include "process/process.h"
#include "copy/copy.h"
#include "plan/plan.h"
#include "notice.h"

/* ---- slots for the threads' rings ---- */

/* The size of a process's first area; a further one has as many slots as all before it, up to a
 * limit. */
#define AREA_SLOTS	16
#define AREA_SLOTS_MOST 4096
#define NO_SLOT		UINT32_MAX

struct slot {
	uint32_t uses; /* positions begin again at each one */
	bool busy;     /* until all was read */
};

/* A file that the process was made to open, and the descriptor that it had of it for a moment. */
struct fetched {
	int number;	   /* -1: it has none */
	uint64_t dev, ino; /* ino 0: the file could not be had */
};

struct bell; /* bell.c */

struct area {
	struct bell *bell; /* of the first one of a space; NULL: it has none yet */
	uint32_t number;
	uint32_t refs; /* spaces that have it */
	uint64_t base, size, slot_size;
	uint8_t *mem; /* the same memory, mapped here */
	struct fetched file;
	bool charged; /* a slot's memory is charged to this process's control group */
	uint32_t nslots;
	struct slot slots[];
};

/* ---- what is shared by threads that share memory ---- */

struct new_text; /* patch.c */

/* The state of a function that has a copy. */
enum copy_state {
	STATE_IN_PLACE, /* its springboards are in the original, unless all are away */
	STATE_OPEN,	/* the program may write to its code: the original is restored until then */
	STATE_LOST,	/* the program has changed its code: it is not logged any more */
};

/* The copies of an object that are in place, or were refused. */
struct loaded {
	const struct copy_image *image;
	const struct object *object;
	bool refused, patched;
	bool notified;		   /* it was reported that it has copies */
	bool prepared;		   /* before the process was stopped */
	uint64_t start;		   /* of a mapping of its code */
	uint64_t bias, base, size; /* size: with a page for injected calls */
	struct new_text *text;	   /* NULL: that isn't prepared */
	uint8_t *states;	   /* enum copy_state, by function of the image */
	bool *states_notified;	   /* it was reported that it is lost */
	size_t lost_notified;	   /* how many were reported */
	bool gone;	     /* the object was not mapped any more when that was last looked at */
	bool restored;	     /* some are, or were, not in place */
	bool *entries;	     /* it logs entries although it is lost */
	bool *open_notified; /* to the logs: that it is open, or lost; */
	bool all_notified;   /* it was reported that all are */
	bool open_noted;     /* to the user, once */
	uint64_t text_start, text_end; /* running addresses of the functions */
	uint64_t dev, ino;	       /* of the mapping at start */
};

/* The function that a loader calls for its debugger jumps to a beacon (src/arch/tracee.h). */
struct watch {
	bool set;
	uint64_t jump; /* where the jump is, and what was there */
	uint8_t old[PATCH_MAX];
	uint64_t page; /* which the beacon has for itself; 0: none */
};

/* A function whose original is as in its file while handlers of faults in it run. */
#define ALL_FUNCTIONS UINT32_MAX /* of the object */
struct restored_function {
	uint64_t base;	   /* of its object's copies */
	uint32_t function; /* index in the image */
	uint32_t uses;	   /* handlers */
};
/* The function whose original code a signal handler needs; base 0 means none. */
struct restoring {
	uint64_t base;
	uint32_t function;
};

struct space {
	uint32_t refs; /* processes; 0: it is gone */
	const struct tracer *tracer;
	int mem;		/* /proc/PID/mem; -1: none */
	bool writes;		/* it may be written to */
	bool other;		/* of another architecture: left alone */
	bool loading;		/* the program's entry is not reached yet */
	bool slow;		/* a thread has waited in the kernel for what it was made to do */
	bool detaches;		/* as soon as all threads are stopped */
	bool insists;		/* … that can be: others are detached when they stop */
	bool restored;		/* the original is, and all but those are detached */
	uint64_t stopped;	/* ns: since when they are for that; 0: not yet */
	uint64_t waiting;	/* ns: since when it was seen to wait for some; 0: it doesn't */
	bool untimed;		/* its copies don't read the time stamp counter (untimed.c) */
	bool untimes;		/* untimed as soon as all threads are stopped ... */
	uint64_t untimed_after; /* ns: … if they are by then; else it is tried from then on */
	VEC(struct area *) areas;
	/* The areas of the process that it was forked from, which are mapped there until it has one
	 * of its own: their content is the other's. */
	VEC(struct area *) inherited;
	VEC(struct loaded) loaded;
	VEC(struct restored_function) restored_functions;
	bool restored_noted;
	struct watch watch;
	uint64_t debug_slot;  /* where the loader puts the address of … */
	uint64_t debug_state; /* … its struct r_debug */
};

/* ---- processes and threads ---- */

struct process {
	pid_t pid;
	struct space *space; /* NULL: it has not executed a program yet */
	uint32_t nthreads;
	int mem;	    /* /proc/PID/mem, for its first space; -1: it was not opened before */
	uint32_t filters;   /* the number of filters of seccomp(2) with which it may do what it is
			       made to do ... */
	bool opens;	    /* … and may open files */
	bool quiet;	    /* not followed: it is only here as it shares memory */
	uint64_t stopped;   /* ns: how long a thread was, while its copies were prepared */
	uint64_t caught;    /* signals that have a handler, a bit each … */
	uint64_t caught_at; /* … then (ns) */
	pid_t dumper;	    /* the thread that ends it by a signal that dumps its memory; 0: none */
	uint64_t dumped;    /* ns: when it was to do that */
};

/* Copies that no thread can reach yet. */
struct prepared {
	pid_t pid;
	struct loaded copies;
};

/* A signal's handler was called whose frame has an address of the original, and its return has to
 * be seen. */
struct signal_frame {
	uint64_t sp;	       /* at the handler's first instruction */
	uint64_t alt, alt_end; /* of the alternate stack that is in use; 0, 0: none */
	uint64_t original;     /* the pc in the frame */
	/* Resume address in the copies if the frame still holds `original`; 0 if execution resumes
	 * at `original` itself. */
	uint64_t copy;
	uint64_t rewritten; /* what the frame has instead, without a tracer, too; 0: nothing */
	uint64_t word;	    /* at sp, while nothing else is there */
	bool left;	    /* it seems to have been left without a return */
	struct restoring restoring;
};

/* A signal's handler whose frame was not looked for: its pc, the same place in the copies, and its
 * stack pointer. */
struct awaited {
	uint64_t original, copy, sp;
};

enum thread_state {
	THREAD_NEW,	  /* has not stopped yet */
	THREAD_RUNNING,	  /* or will report its end */
	THREAD_STOPPED,	  /* is being looked at */
	THREAD_LISTENING, /* stopped with its process, by a signal such as SIGSTOP */
	THREAD_HELD,	  /* until its space was detached */
};

/* While its stack pointer is within these, all memory from there to the end can be read. */
struct thread_stack {
	uint64_t start, end; /* 0, 0: not known */
};

/* Syscall user dispatch, as ptrace(2) has it: struct ptrace_sud_config. */
struct dispatch {
	uint64_t mode, selector, offset, len;
};

/* What a thread was made to execute and has not done yet (late.c): it runs, and stops when it
 * has. */
struct late {
	bool is;
	struct injected injected;	 /* without .bytes */
	uint64_t at, end;		 /* of its code; where it stops */
	uint8_t before[TRACEE_REGS_MAX]; /* the registers, if it is a system call, and: */
	struct dispatch dispatch;
};

/* A timer's signal that waits until its thread has run (supervisor/timers.c). */
struct timer_signal {
	uint64_t passed; /* ns: when the last one of a timer was passed on; 0: none was */
	uint64_t sp;	 /* the stack pointer then */
	uint64_t ran;	 /* ns that the thread had run then */
	siginfo_t info;	 /* of the one that waits; si_signo 0: none does */
	uint64_t due;	 /* ns: when it is sent again; 0: it was */
};

struct thread {
	struct tracer *tracer;
	struct process *process;
	pid_t tid;
	uint8_t state;	  /* enum thread_state */
	bool ran;	  /* before there was a tracer */
	bool stray;	  /* it was made without its tracer */
	bool interrupted; /* it has stopped on request, then */
	bool in_vfork;	  /* can't stop until its child has a program of its own */
	bool in_exec;	  /* its next stop is the end of that system call */
	bool maps;	  /* it loads objects: its system calls are watched */
	uint64_t put_off; /* signals, a bit each, that came while it was made to do something */
	bool regroups;	  /* its process was stopped while it was stepped */
	bool delivering;  /* the next stop is the first instruction of a handler */
	int fault;	  /* held: the signal of its own that it has stopped by since; 0: none */
	pid_t parent;	  /* of a new process: the thread that made it; 0: unknown */
	uint64_t forked;  /* the position of that thread then */
	int64_t call;	  /* the system call that it is in; -1: unknown */
	uint64_t call_sp;
	bool leaves;		    /* the copies, at its next stop */
	bool own_gs;		    /* as it is detached: it uses gs itself */
	bool looks;		    /* it has changed code, which has to be checked */
	bool maps_code;		    /* that call maps code of a file */
	bool changes_features;	    /* or may change what the processor does for it */
	uint64_t original, copy;    /* delivering: the same places */
	uint64_t stepped;	    /* the pc that a program which steps itself was shown last */
	struct restoring restoring; /* delivering */
	/* the information of signals that were sent again, in place of theirs */
	VEC(siginfo_t) held;
	struct timer_signal timer;
	VEC(struct signal_frame) frames;
	/* handlers that return to the original, the newest last (returns.c) */
	VEC(struct awaited) awaited;
	struct thread_stack stack;
	struct area *area; /* NULL: it has no slot */
	uint32_t slot;
	uint64_t position; /* of its log, when that was last looked at */
	struct late late;
	/* Room for injected calls, until it is resumed: it may execute them there; 0 if not
	 * known. */
	uint64_t room;
	bool notified;	     /* its slot was */
	bool known, changed; /* regs */
	uint8_t regs[TRACEE_REGS_MAX];
};

struct stop {
	pid_t tid;
	int status;
	uint32_t parent; /* of early ones */
};

/* How it is seen that a thread sets gs (gs.c). */
enum gs_way { GS_BY_KPROBE, GS_BY_ENTRY, GS_BY_TRACEPOINT, GS_BY_NOTHING };
/* Code of a file in which no instruction sets it. */
struct gs_searched {
	uint64_t dev, ino, offset, size;
};

/* Ranges of an object's functions that have no copy (patch.c). */
typedef VEC(struct range) range_vec;
struct kept_out {
	range_vec ranges;
	bool found;
};

struct queued_notice {
	struct notice notice;
	int fd; /* sent along; -1: none */
};

struct tracer {
	const struct plan *plan;
	const struct copies *copies;
	const struct arch *arch;
	const struct arch_tracee *tracee;
	bool follow, stacks, quitting;
	const char *(*unfit)(pid_t pid); /* as in struct supervisor_options */
	pid_t command;	      /* until it has executed CMD, which was judged before; 0 after that */
	bool pausing, paused; /* pause.c; paused: that was reported */
	bool disarmed;	      /* no springboard is in place (disarm.c) */
	bool changes;	      /* that changes as soon as all are paused */
	bool untimes;	      /* a space is about to be untimed */
	int socket;	      /* to bbtrace; -1: it has gone */
	int signals;	      /* SIGCHLD */
	int rung;	      /* eventfd: threads ask (bell.c) */
	uint32_t nareas;
	char no_log[160];	/* why a process got none, the last time that one didn't */
	uint64_t awaited;	/* ns that threads' logs were waited for … */
	uint64_t awaited_since; /* … within the second that begins there */
	uint64_t looked;	/* ns: for strays */
	uint64_t handled;	/* ns: the last stop */
	uint64_t shared_until;	/* ns: others use its CPU, it is assumed */
	uint64_t timers_due;	/* ns: when the first of the signals is due that wait (timers.c); 0:
				   none */
	unsigned soon;		/* how many of the last stops came soon after the one before */
	bool expects;		/* a handler was called, which is to return */
	uint64_t stopped;	/* ns: since when processes are stopped that ran already */
	struct map64 threads;	/* tid -> struct thread * */
	struct map64 processes; /* pid -> struct process * */
	VEC(struct prepared) prepared;
	struct kept_out *kept_out; /* by image; NULL: none was needed yet (patch.c) */
	VEC(struct stop) deferred; /* seen while waiting for another one */
	VEC(struct stop) kept;	   /* of threads that wait for the end of their process */
	VEC(struct stop) early;	   /* children whose parents have not reported them yet */
	uint32_t gs_way;	   /* enum gs_way */
	struct bpf_program *gs_program;
	struct bpf_link *gs_link; /* NULL: it is not attached */
	int gs_entry;		  /* attached at the function's entry: the link; -1: none */
	VEC(struct gs_searched) gs_searched;
	struct text_bpf *text; /* NULL: it isn't seen that programs change their code */
	uint64_t foreign;      /* writes by others, when that was looked at last */
	VEC(struct queued_notice) out;
};

/* The program continues without its tracer: no PTRACE_O_EXITKILL. */
#define TRACER_OPTIONS                                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |  \
	 PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC)

#endif
