/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event: what happened to a thread, decoded and independent of the machine and of the mechanism
 * that recorded it. Public header of src/event.
 */
#ifndef BBTRACE_EVENT_EVENT_H
#define BBTRACE_EVENT_EVENT_H

#include "object/dwarf/dwarf.h"
#include "object/object.h"

/* ---- what a probe recorded ---- */

enum event_type {
	EVENT_BRANCH, /* a branch or a witness was hit; the plan's site says which */
	EVENT_ENTRY,
	EVENT_RETURN, /* recorded by a return probe: site and sp are those of the entry */
	EVENT_LOST,   /* events of this thread are missing since its last one */
	/*
	 * a signal's handler is about to run in this thread, or (unhandled) it ends or stops the
	 * thread; target, if known: the address of its next instruction, value: the top of its
	 * stack, above: what follows there; where calls link, value: the link register
	 */
	EVENT_SIGNAL,
	EVENT_GOROUTINE, /* the goroutine that this thread runs from here on */
	EVENT_END,	 /* this thread ended; target: the address of its next instruction; count:
			    its exit code, as wait(2) has it */
	EVENT_RESUME,	 /* a signal's handler returns; target and sp: where to */
	EVENT_NAMED,	 /* one of the plan's named events (plan/named.h) */
	EVENT_TYPES,
	/* The following are no events of the trace, nor in a file. A source never passes the first
	 * one on. */
	/*
	 * Of the thread with a log. count: filters for which it is reported whether the thread
	 * passes them (bits, as in bpf/wire.h); value: those that it passes; process: so do all of
	 * its threads.
	 */
	EVENT_PASSES = EVENT_TYPES,
	EVENT_SWITCH, /* recording is to be switched; count: the index of the marker, value: the
			 return register */
	EVENT_MARK,   /* a mark; count: likewise; value: its number; text, or if that could not be
			 read: target, its address, and sp, that of the instruction */
};

/* The kernel ran this in an interrupt. */
enum event_interrupt {
	IN_SOFTIRQ = 1,
	IN_HARDIRQ = 2,
	IN_NMI = 4,
};

/* The most registers that an entry of any architecture has, by the architecture's numbers. */
#define EVENT_REGS 36
#define EVENT_ARGS 6 /* of a system call */

/* A goroutine is identified by its goid or, if that is unknown, by the address of its g with this
 * bit set. */
#define GOROUTINE_AT (1ull << 63)

/* What was loaded from memory for plan->values, in the order of their indices. */
#define FETCHED_ROOM   72
#define FETCHED_ABSENT (-14)
#define FETCHED_NONE   INT32_MIN
struct fetched {
	int32_t len; /* bytes; of a string with the 0 that ends it; negative: it couldn't be read;
			FETCHED_ABSENT: bytes are its address; FETCHED_NONE: it wasn't loaded */
	uint32_t pad;
	uint8_t bytes[FETCHED_ROOM];
};

/* Why a call stack has no more frames. */
enum stack_end {
	STACK_WHOLE,	  /* the outermost one is there */
	STACK_NO_POINTER, /* the caller is unknown: the function doesn't provably keep a frame
			     pointer */
	STACK_UNREADABLE, /* its frame could not be read */
	STACK_LIMIT,	  /* STACK_FRAMES were recorded */
	STACK_CUT,	  /* its frame is not in what was copied of the stack */
	STACK_NO_RULES,	  /* the caller is unknown: no unwind table has the code, or what it says
			     isn't known */
	STACK_ENDS
};
#define STACK_FRAMES 64 /* at most */

/* A part of a thread's stack that was copied, from its stack pointer, or some bytes below it,
 * on. */
struct stack_copy {
	uint64_t start; /* its address */
	const uint8_t *bytes;
	uint64_t len;
	bool cut; /* the stack may continue: what follows was not copied, rather than unreadable */
	/* Likewise, of the stack that a signal's handler interrupted, if that runs on another one:
	 * its address, and where it is in bytes. len 0: there is none. */
	struct {
		uint64_t start, at, len;
	} other;
};
/* Returns the length of bytes. */
static inline uint64_t stack_copy__size(const struct stack_copy *c)
{
	return c->other.len ? c->other.at + c->other.len : c->len;
}

/* The extra data of an entry. The pointers are valid as long as the event is. */
struct event_entry {
	uint64_t ip;	 /* running address of the probe */
	uint64_t caller; /* the return address; 0: not known */
	/* of a kernel function: the registers of the thread's program. ip: of the next instruction
	 * to run, or of the system call; 0: a kernel thread, or not recorded */
	uint64_t user_ip, user_sp;
	bool pending;	  /* a return probe had replaced it: the call that it was set for has not
			     returned */
	const char *comm; /* at most 15 bytes */
	const uint64_t *regs; /* nregs of them, by number; NULL: not recorded */
	unsigned nregs;
	const uint64_t *args;  /* EVENT_ARGS of a system call; NULL: not a system call */
	const uint64_t *stack; /* running addresses, innermost first; NULL: not requested */
	unsigned nstack;
	uint8_t stack_end; /* enum stack_end */
	/* a bit for each frame, from the lowest on: it was interrupted at its instruction. The
	 * others, but the innermost, are where a call returns to */
	uint64_t exact;
	/* The call stack is still to be made from this (unwind__stack()); bytes is NULL if there is
	 * none. Not in trace files. */
	struct stack_copy copy;
};

/* The most frames of a named event's stack: the kernel's and the program's. */
#define NAMED_KERNEL_FRAMES 128
#define NAMED_USER_FRAMES   128
#define NAMED_FRAMES	    (NAMED_KERNEL_FRAMES + NAMED_USER_FRAMES)

/* The data of a named event. The pointers are valid as long as the event is. */
struct event_named {
	uint32_t which;	  /* index into plan->named */
	uint64_t count;	  /* events that this one stands for: samples that were added up; else 1 */
	uint64_t ip;	  /* running address of the thread's next instruction; 0: not recorded */
	bool kernel;	  /* ip is the kernel's */
	const char *comm; /* at most 15 bytes; "": not recorded */
	const uint8_t *data; /* len bytes, at most NAMED_DATA, as plan__fields() describes them */
	size_t len;
	/* running addresses, innermost first: nkernel of the kernel's, then nuser of the program's;
	 * NULL: not recorded */
	const uint64_t *stack;
	unsigned nkernel, nuser;
	uint8_t kernel_end, user_end; /* enum stack_end */
	uint64_t exact;		      /* of the program's frames, as in struct event_entry */
	/* The program's frames are still to be made from this and its registers, by number; bytes
	 * is NULL if there is none. Not in trace files. */
	struct stack_copy copy;
	const uint64_t *regs;
};

/* What a conditional tested. In trace files: only flags may be added. */
enum tested_flags {
	TESTED = 1,	   /* known, and the branch went as it says */
	TESTED_TWO = 2,	   /* two operands; else A alone */
	TESTED_RESULT = 4, /* A is the instruction's result */
	TESTED_AGAIN = 8,  /* one was in memory, and was read again when the branch was executed */
	TESTED_SIZE_SHIFT = 4, /* of each operand: 1 << n bytes, n two bits */
	TESTED_BITS = 6
};
struct tested {
	uint8_t flags;	   /* enum tested_flags; 0: not known */
	uint64_t value[2]; /* as they were in front of the instruction; zero-extended */
};

struct event {
	uint64_t time;	   /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid; /* in bbtrace's PID namespace; kernel: tid 0 is a CPU's idle task */
	uint64_t sp;   /* stack pointer before the instruction; for a goroutine, whose stack moves,
			  relative to the stack's upper end */
	uint32_t site; /* in the plan; BRANCH, ENTRY, RETURN */
	uint16_t cpu;  /* EVENT_NO_CPU: not known */
	uint8_t type;  /* enum event_type */
	uint8_t interrupt; /* enum event_interrupt */
	bool taken;	   /* of a conditional branch */
	bool untimed;	   /* time is that of the thread's last event that had one, or later */
	bool last;	   /* END: it was the process's last thread */
	bool process;	   /* PASSES: of all threads of the process */
	bool unhandled;	   /* SIGNAL: no handler runs */
	bool fault;	   /* SIGNAL: the next instruction itself caused it */
	bool has_target, has_value;
	uint64_t target;      /* of an indirect branch, a ret or a return, if known */
	uint64_t value;	      /* ret, RETURN: the return register, if known */
	struct tested tested; /* BRANCH, ENTRY: of a conditional */
	uint64_t count;	      /* LOST: lower bound of the missing events */
	bool hits; /* LOST: also missing are hits that make no event of their own, or only a
		      signal's */
	uint64_t goroutine; /* GOROUTINE; decoded from a log: whose it is. 0: none, or the thread's
			       own stack */
	const struct event_entry *entry; /* ENTRY */
	const struct event_named *named; /* NAMED */
	const struct fetched *fetched;	 /* nfetched, of ENTRY, RETURN and a ret; NULL: none */
	unsigned nfetched;
	const char *text;      /* MARK; NULL: not known. Valid as long as the event */
	const uint64_t *above; /* SIGNAL: nabove words, 0: not known. Valid as long as the event.
				* Not in trace files */
	unsigned nabove;
	/* 1 + the position of the thread's log at this event (log_ring__position() of arch/log.h);
	 * 0 if it has none, or if it is not known. Not in trace files. */
	uint64_t logged;
	/* What it was decoded from, of one record of a site; NULL: of nothing that was logged.
	 * Valid as long as the event. Not in trace files. */
	const struct logged_words *record;
};
#define EVENT_NO_CPU UINT16_MAX

/* ---- what probes counted ---- */

/* How often a site was executed since the last report: either all of it, or (has_target) how often
 * it led to this address, which is part of the former. */
struct count {
	uint32_t site;
	uint64_t taken;	    /* of a branch that isn't conditional, and of other sites: executed */
	uint64_t not_taken; /* of a conditional branch */
	bool has_target;
	uint32_t pid;	 /* whose address it is; 0: the kernel's */
	uint64_t target; /* running address */
	bool unread;	 /* the program could not read the pointer: target is its address minus the
			    site's */
};

/* ---- what ran no program ---- */

/* Hits of any process, traced or not, that ran no BPF program, since the last report. */
struct missed {
	uint32_t site;	  /* the probe's site; UINT32_MAX if the kernel doesn't report it */
	const char *what; /* then: the mechanism or the tracepoint, a constant; NULL: not known */
	uint64_t hits;
};
typedef VEC(struct missed) missed_vec;

/* ---- what could not be traced ---- */

/* Functions that may have run in a process without being reported. */
struct untraced {
	uint32_t pid;
	uint32_t object;   /* of the plan; UNTRACED_ALL: each one whose functions run as copies */
	uint32_t function; /* of the plan; UNTRACED_ALL: each one of the object */
	char *reason;
};
typedef VEC(struct untraced) untraced_vec;
#define UNTRACED_ALL UINT32_MAX

/* ---- sideband events: what happens to processes ---- */

enum sideband_type {
	SIDEBAND_FORK,
	SIDEBAND_EXEC,
	SIDEBAND_COMM,
	SIDEBAND_EXIT,
	SIDEBAND_MAP,
	SIDEBAND_LOST,	/* count sideband events were lost */
	SIDEBAND_GAP,	/* an unknown number of this process's events is missing */
	SIDEBAND_INNER, /* the process's PID in its own PID namespace is count */
	/* pid 0. text: what asked for it; NULL: bbtrace ctl */
	SIDEBAND_STOP,	/* nothing is recorded from here on */
	SIDEBAND_START, /* recording starts again; count: the ns since the request, with a text */
	SIDEBAND_MARK, /* a note with text; pid 0: not of a thread; else it also has a number, count
			*/
	SIDEBAND_TYPES,
	/* Not in the event blocks of a file, which has a table of them: functions of the process
	 * may run without being reported; text says why. */
	SIDEBAND_UNTRACED
};

struct sideband_event {
	enum sideband_type type;
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, offset; /* MAP */
	uint32_t major, minor;	     /* MAP */
	uint64_t ino;		     /* MAP */
	uint64_t count;		     /* LOST, INNER, START, MARK */
	uint32_t object, function;   /* UNTRACED: as in struct untraced */
	const char *text;	     /* COMM, EXEC: the name; MAP: the path; MARK, STOP, START,
					UNTRACED. Valid during the call */
};

/* ---- from records of the BPF program (bpf/wire.h) to events (decode.c) ---- */

struct plan;
struct decoder;
/* plan must outlive it. */
struct decoder *decoder__new(const struct plan *plan);
void decoder__free(struct decoder *d);
/*
 * Decodes one record of the ring buffer: size bytes, 8-byte aligned. Every record must be passed,
 * in order. settled is a CLOCK_MONOTONIC time in ns: all records made before it have been passed.
 * The event is valid until the next call. NULL: the record doesn't belong to this plan (a message
 * is set).
 */
const struct event *decoder__event(struct decoder *d, const void *record, size_t size,
				   uint64_t settled);

/* ---- what a conditional tests (tested.c) ---- */

struct plan_site;
/*
 * For a site with .test: place has what was in its operands' places when the branch was executed,
 * known a bit for each that could be read. Nothing is known if the branch doesn't follow from
 * these.
 */
void tested__take(struct tested *out, const struct plan *plan, const struct plan_site *s,
		  bool taken, const uint64_t place[2], unsigned known);

/* ---- from a copied stack to its frames (unwind.c) ---- */

/* How the caller of an instruction is found. */
struct unwind_rules {
	bool known; /* by row */
	struct rule_row row;
	enum frame_link link; /* without: by the frame pointer, or not at all */
	bool entry;	      /* a function's first instruction: its caller is known without any */
	bool no_code; /* nothing is mapped there that could be executed: a call has led there */
};
struct unwind_lookup {
	/* addr: the running address of the instruction; *out is zeroed, and FRAME_UNKNOWN */
	void (*find)(void *ctx, uint64_t addr, struct unwind_rules *out);
	/* Returns true if the instruction right before addr is a call. */
	bool (*follows_call)(void *ctx, uint64_t addr);
	void *ctx;
};
struct arch;
/* As in struct event_entry; there is at least one frame. */
struct unwound {
	uint64_t stack[STACK_FRAMES], exact;
	unsigned n;
	enum stack_end end;
};
/* regs: arch->nregs of them, by number. */
void unwind__stack(const struct arch *arch, const uint64_t *regs, const struct stack_copy *copy,
		   const struct unwind_lookup *lookup, struct unwound *out);
/* Returns where the code of the frame at index i is: a return address may be after its function's
 * end. The code of an interrupted frame begins where the handler returns. */
static inline uint64_t frame__code(const uint64_t *stack, uint64_t exact, unsigned i)
{
	return stack[i] - (i && (i >= 64 || !((exact | exact >> 1) >> i & 1)));
}
static inline uint64_t entry__frame_code(const struct event_entry *e, unsigned i)
{
	return frame__code(e->stack, e->exact, i);
}
/* For frames of the program: at index i, counted from the innermost of them. */
static inline uint64_t named__frame_code(const struct event_named *e, unsigned i)
{
	return frame__code(e->stack + e->nkernel, e->exact, i);
}

/* ---- from the log of copied functions (arch/log.h) to events (log.c) ---- */

struct log_options;
/* Turns time stamp counts into ns, CLOCK_MONOTONIC. */
struct log_clock {
	uint64_t (*ns)(void *ctx, uint64_t ticks);
	void *ctx;
};
#define LOG_STACKS 4
/* A thread whose log is decoded. */
struct log_thread {
	uint32_t pid, tid;
	/* The last stack pointers that are known, far from each other, from which the upper half of
	 * the next one follows; the newest first. 0: none. */
	uint64_t stacks[LOG_STACKS];
	uint64_t time; /* the last one that is known */
	/* The goroutine that it runs while its stack pointer is within these bounds; 0 for none. */
	uint64_t goroutine, stack_low, stack_high;
	bool goroutine_known; /* it was reported since the log began, or since something was missing
			       */
	bool nobodys;	      /* it was not, and the last record is of a Go program */
	uint64_t until; /* what is decoded was read from the ring then: no record is younger */
	uint64_t after; /* and what was read before that was read then: none is older */
	char comm[16];
};

/* Its stack pointer is known to be this one. */
void log_thread__at(struct log_thread *t, uint64_t sp);
/* Returns true if it is the goroutine's stack. */
static inline bool log_thread__is_goroutine(const struct log_thread *t, uint64_t sp)
{
	return t->goroutine && sp >= t->stack_low && sp <= t->stack_high;
}

struct log_decoder;
/* What a thread has logged next, not decoded yet. */
struct event_run {
	uint32_t pid, tid;
	const char *comm; /* the thread's name */
	struct log_decoder *decoder;
	struct log_thread *thread; /* is advanced past what was taken */
	uint64_t before;	   /* records of that time, ns, and of later ones aren't taken */
	const uint64_t *words;
	size_t n;
};

/* Words of a run, to be kept as they are. */
struct logged_time {
	uint64_t at; /* the word at this index is a time: this one, ns */
	uint64_t ns;
};
struct logged_words {
	struct log_thread thread; /* before the first one */
	uint32_t regs;		  /* log_options.regs */
	const uint64_t *words;
	size_t n;
	uint64_t events;		 /* in these */
	const struct logged_time *times; /* ntimes, of all words that are times */
	size_t ntimes;
};

/* plan, options and what clock refers to must outlive it. */
struct log_decoder *log_decoder__new(const struct plan *plan, const struct log_options *options,
				     struct log_clock clock);
void log_decoder__free(struct log_decoder *d);
/*
 * Decodes the record at words, of which there are n. Returns the number of words that it takes; 0
 * if the segment has no more records; -EBADMSG if it is none of this plan. *out is valid until the
 * next call; NULL: no event.
 */
int log_decoder__event(struct log_decoder *d, struct log_thread *t, const uint64_t *words, size_t n,
		       const struct event **out);

/* Returns the words of the record, and sets when it was written, ns; *time is 0 if it has no time.
 * Returns 0 if there are no more in the segment, or if it is none of this plan. */
size_t log_decoder__look(const struct log_decoder *d, const uint64_t *words, size_t n,
			 uint64_t *time);

/* Returns the hits in these words, for which events would be missing. What is no record counts as
 * one, and so does all of it where witnesses stand for several branches. */
uint64_t log_decoder__hits(const struct log_decoder *d, const uint64_t *words, size_t n);

/* What follows from the low half of a record's first word. */
struct logged {
	uint32_t site;
	uint8_t kind; /* enum log_kind */
	bool taken;
	uint16_t lowered; /* bytes */
	uint16_t words;	  /* its size */
};
/* Returns false if it is no record of a site of this plan. */
bool log_decoder__id(const struct log_decoder *d, uint32_t id, struct logged *out);
/* Returns its log_options.regs. */
uint32_t log_decoder__regs(const struct log_decoder *d);
/* Returns the time of a record of this thread with this many ticks; 0: that of an untimed event. */
uint64_t log_decoder__time(const struct log_decoder *d, const struct log_thread *t, uint64_t ticks);
/* The record of an entry. */
struct logged_entry {
	uint64_t time, sp, caller, ip;
};
void log_decoder__entry(const struct log_decoder *d, const struct log_thread *t,
			const uint64_t *words, const struct logged *r, struct logged_entry *out);

/* ---- as they are found in a hit (read.c) ---- */

/* What a hit has. */
struct value_source {
	const uint64_t *regs, *syscall_args; /* EVENT_REGS, EVENT_ARGS of them; or NULL */
	const struct fetched *fetched;	     /* nfetched of them */
	unsigned nfetched;
	bool has_result;
	uint64_t result;
};
struct plan;
struct plan_value;
enum value_known { VALUE_KNOWN, VALUE_NOT_RECORDED, VALUE_NOT_READABLE };
struct value_read {
	enum value_known known;
	uint64_t number, upper; /* sign-extended by its type; upper: of a pair */
	const uint8_t *text;	/* len bytes */
	size_t len;
	bool cut;
	bool has_address; /* NOT_READABLE: number is where it is */
};
struct value_read value__read(const struct plan *p, const struct plan_value *v,
			      const struct value_source *s);

enum judgement {
	JUDGED_HOLDS,
	JUDGED_FAILS,
	JUDGED_UNKNOWN, /* a value isn't known */
};
/* Judges by the conditions of its arguments, or of its return. */
enum judgement plan__judge(const struct plan *p, uint32_t function, bool of_return,
			   const struct value_source *s);

#endif
