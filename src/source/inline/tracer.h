/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer: the state of the supervisor's process. Private to the supervisor's files.
 *
 * It never waits for one thread while others may need it: it waits for any stop, and does what that
 * stop asks for. The exceptions take microseconds: errands (src/arch/tracee.h), on which a thread
 * is sent to execute an instruction, or a system call. A thread may be killed at any time: then
 * each request fails with -ESRCH, which is ignored, since its end is reported, too.
 */
#ifndef BBTRACE_TRACER_H
#define BBTRACE_TRACER_H

#include <signal.h>
#include "process/process.h"
#include "source/inline/supervisor.h"

/* ---- slots for the threads' rings ---- */

#define AREA_SLOTS 1024
#define NO_SLOT	   UINT32_MAX

struct area {
	uint32_t number;
	uint32_t refs; /* spaces that have it */
	uint64_t base, size, slot_size;
	uint8_t *mem; /* the same memory, here */
	struct {
		uint32_t uses; /* positions start anew at each one */
		bool busy;     /* until all was read */
	} slots[AREA_SLOTS];
};

/* ---- what is shared by threads that share memory ---- */

struct new_text; /* patch.c */

/* The copies of an object that are in place, or were refused. */
struct loaded {
	const struct copy_image *image;
	const struct object *object;
	bool refused, patched;
	bool said;		   /* that it has copies */
	bool prepared;		   /* before the process was stopped */
	uint64_t start;		   /* of a mapping of its code */
	uint64_t bias, base, size; /* size: with a page for errands */
	struct new_text *text;	   /* NULL: that isn't prepared */
};

/* The function that a loader calls for its debugger jumps to a beacon (src/arch/tracee.h). */
struct watch {
	bool set;
	uint64_t jump; /* where the jump is, and what was there */
	uint8_t old[PATCH_MAX];
	uint64_t page; /* which the beacon has for itself; 0: none */
	uint64_t stop; /* the pc of a thread that has stopped there */
};

/* A function whose original is as in its file while handlers of faults in it run. */
#define ALL_FUNCTIONS UINT32_MAX /* of the object */
struct uncovered {
	uint64_t base;	   /* of its object's copies */
	uint32_t function; /* index in the image */
	uint32_t uses;	   /* handlers */
};
/* What a handler needs so: base 0: nothing. */
struct uncovering {
	uint64_t base;
	uint32_t function;
};

struct space {
	uint32_t refs;	  /* processes; 0: it is gone */
	int mem;	  /* /proc/PID/mem; -1: none */
	bool other;	  /* of another architecture: left alone */
	bool loading;	  /* the program's entry is not reached yet */
	bool lets_go;	  /* as soon as all threads are stopped */
	uint64_t stopped; /* ns: since when they are for that; 0: not yet */
	VEC(struct area *) areas;
	VEC(struct loaded) loaded;
	VEC(struct uncovered) uncovered;
	bool uncovered_said;
	struct watch watch;
	uint64_t debug_slot;  /* where the loader puts the address of … */
	uint64_t debug_state; /* … its struct r_debug */
};

/* ---- processes and threads ---- */

struct process {
	pid_t pid;
	struct space *space; /* NULL: it has not executed a program yet */
	uint32_t nthreads;
	uint32_t filters; /* of seccomp(2): with so many it may do what it is made to do */
	bool quiet;	  /* not followed: it is only here as it shares memory */
	uint64_t stopped; /* ns: how long a thread was, while its copies were prepared */
};

/* Copies that no thread can come to yet. */
struct prepared {
	pid_t pid;
	struct loaded copies;
};

/* A signal's handler was called whose frame has an address of the original. */
struct signal_frame {
	uint64_t sp;	       /* at the handler's first instruction */
	uint64_t alt, alt_end; /* of the alternate stack that is in use; 0, 0: none */
	uint64_t original;     /* the pc in the frame */
	uint64_t copy;	       /* where to go on if it is still that; 0: there */
	uint64_t rewritten;    /* what the frame has instead, without a tracer, too; 0: nothing */
	struct uncovering uncovering;
};

enum thread_state {
	THREAD_NEW,	  /* has not stopped yet */
	THREAD_RUNNING,	  /* or will report its end */
	THREAD_STOPPED,	  /* is being looked at */
	THREAD_LISTENING, /* with its process, by a signal such as SIGSTOP */
	THREAD_HELD,	  /* until its space was let go */
};

/* While its stack pointer is in there, all from that to the end can be read. */
struct thread_stack {
	uint64_t start, end; /* 0, 0: not known */
};

struct thread {
	struct tracer *tracer;
	struct process *process;
	pid_t tid;
	uint8_t state;	  /* enum thread_state */
	bool ran;	  /* before there was a tracer */
	bool stray;	  /* it was made without its tracer */
	bool interrupted; /* it has stopped because it was asked to, then */
	bool in_vfork;	  /* can't stop until its child has a program of its own */
	bool in_exec;	  /* its next stop is the end of that system call */
	bool maps;	  /* it loads objects: its system calls are watched */
	uint64_t put_off; /* signals, a bit each, that came while it was made to do something */
	bool regroups;	  /* its process was stopped while it was stepped */
	bool delivering;  /* the next stop is the first instruction of a handler */
	int fault;	  /* held: the signal of its own that it has stopped by since; 0: none */
	pid_t parent;	  /* of a new process: the thread that made it; 0: unknown */
	uint64_t forked;  /* that thread's position then */
	int64_t call;	  /* the system call that it is in; -1: unknown */
	uint64_t call_sp;
	bool maps_code;		      /* that call maps code of a file */
	bool changes_features;	      /* or may change what the processor does for it */
	uint64_t original, copy;      /* delivering: the same places */
	uint64_t stepped;	      /* where a program that steps itself was told of one last */
	struct uncovering uncovering; /* delivering */
	VEC(siginfo_t) held; /* of signals that were sent anew, in place of what these say */
	VEC(struct signal_frame) frames;
	struct thread_stack stack;
	struct area *area; /* NULL: it has no slot */
	uint32_t slot;
	bool said;	     /* its slot was */
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

struct message {
	struct say say;
	int fd; /* sent along; -1: none */
};

struct tracer {
	const struct plan *plan;
	const struct copies *copies;
	const struct arch *arch;
	const struct arch_tracee *tracee;
	bool follow, stacks, quitting;
	bool pausing, paused; /* pause.c; paused: that was said */
	bool away;	      /* no springboard is in place (away.c) */
	bool changes;	      /* that is about to change, as soon as all are paused */
	int socket;	      /* to bbtrace; -1: it has gone */
	int signals;	      /* SIGCHLD */
	uint32_t nareas;
	uint64_t looked;	/* ns: for strays */
	uint64_t stopped;	/* ns: since when processes are stopped that ran already */
	struct map64 threads;	/* tid -> struct thread * */
	struct map64 processes; /* pid -> struct process * */
	VEC(struct prepared) prepared;
	struct kept_out *kept_out; /* by image; NULL: none was needed yet (patch.c) */
	VEC(struct stop) deferred; /* seen while waiting for another one */
	VEC(struct stop) early;	   /* children whose parents have not reported them yet */
	uint32_t gs_way;	   /* enum gs_way */
	struct bpf_program *gs_program;
	struct bpf_link *gs_link; /* NULL: it is not attached */
	VEC(struct gs_searched) gs_searched;
	VEC(struct message) out;
};

/* The program goes on without its tracer: no PTRACE_O_EXITKILL. */
#define TRACER_OPTIONS                                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |  \
	 PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC)

/* ---- say.c ---- */
void tracer__say(struct tracer *s, const struct say *say, int fd); /* takes fd */
void tracer__say_text(struct tracer *s, uint32_t type, const struct process *p, uint32_t object,
		      const char *text);
void tracer__flush(struct tracer *s);
/* -EPIPE: there is nobody any more. */
int tracer__hear(struct tracer *s);

/* ---- tracee.c: one stopped thread; 0 or -errno, mostly -ESRCH ---- */
uint64_t thread__get(struct thread *t, enum tracee_reg reg);
void thread__set(struct thread *t, enum tracee_reg reg, uint64_t value);
int thread__load_regs(struct thread *t);
int thread__store_regs(struct thread *t);
/* Lets it run, by this request, with this signal. */
int thread__resume(struct thread *t, int request, int sig);
/* The same, waits for its next stop and returns that status; 0: it is gone. */
int thread__resume_wait(struct thread *t, int request, int sig);
/* Goes on as it has to: with stops at system calls if those are watched. */
void thread__go_on(struct thread *t, int sig);
/* The mask of its signals. False: it is gone. */
bool thread__mask(struct thread *t, uint64_t *out);
bool thread__set_mask(struct thread *t, uint64_t mask);
/* This stop, by what can't be blocked, is for later. */
void thread__put_off(struct thread *t, int status);
void thread__send_put_off(struct thread *t);
int thread__open_memory(pid_t pid);
/* Has it a shadow stack, which has to change with what a stepped call or ret does? */
bool thread__has_shadow_stack(pid_t tid);
bool space__read(const struct space *s, uint64_t addr, void *out, size_t n);
bool space__write(const struct space *s, uint64_t addr, const void *bytes, size_t n);
/* The stop that it is in is not to be reported once more, though it doesn't go on. */
void thread__take_stop(struct thread *t);
/* Is there a stop or an end of any thread? */
bool tracer__next(struct tracer *s, struct stop *out);

/* ---- inject.c ---- */
/* Sends it to this code, which is written to addr: its registers are stored. False: it is gone. */
bool thread__send(struct thread *t, uint64_t addr, const struct errand_code *code);
/* The thread is stopped, not within a system call; it is as before then. The system call's result;
 * -EPERM: a filter may end it for that. */
int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f);

/* ---- seccomp.c ---- */
/* How many filters a thread has; UINT32_MAX: it may hardly do anything. */
uint32_t thread__filters(pid_t tid);
/* Of a stopped thread: do they allow what it is made to do? This needs CAP_SYS_ADMIN. */
bool thread__filters_allow(struct thread *t, uint32_t *filters);
/* Has its process no more than were known to allow it? */
bool thread__may_call(const struct thread *t);

/* ---- area.c ---- */
/* Has the program another use of the register that finds the ring? */
bool thread__lost_slot(struct thread *t);
/* A stopped thread tries; nothing stays mapped. */
bool thread__may_map_area(struct thread *t);
bool thread__get_slot(struct thread *t, pid_t parent, uint64_t forked);
void thread__drop_slot(struct thread *t);
uint64_t thread__position(const struct thread *t);
/* While this is so, a full ring is not waited for. */
void thread__hurry(struct thread *t);
/* While its log waits for the reader: a stopped thread that is stepped has to wait, too. */
void thread__await_reader(struct thread *t);
void tracer__slot_done(struct tracer *s, uint32_t area, uint32_t slot);
void area__drop(struct tracer *s, struct area *a);

/* ---- tables.c ---- */
struct thread *tracer__thread(const struct tracer *s, pid_t tid);
struct thread *tracer__add_thread(struct tracer *s, pid_t tid, struct process *p);
struct process *tracer__process(const struct tracer *s, pid_t pid);
struct process *tracer__add_process(struct tracer *s, pid_t pid, struct space *space);
void thread__remove(struct thread *t);
struct space *space__new(pid_t pid);
struct space *space__fork(const struct space *s, pid_t pid);
void space__drop(struct tracer *tracer, struct space *s);
/* Its stops that were not looked at yet. */
void tracer__forget_stops(struct tracer *s, pid_t tid);
/* NULL at the end. */
struct thread *tracer__each(const struct tracer *s, size_t *i);
/* Of those that share this memory. */
struct thread *tracer__each_in(const struct tracer *s, const struct space *space, size_t *i);

/* ---- objects.c ---- */
/* Puts the copies of all planned objects that are mapped, and haven't any yet, in place; forgets
 * those that are mapped no more. */
void thread__put_copies(struct thread *t);
/* The same in two steps: between them threads may be taken to the copies. */
void thread__map_copies(struct thread *t);
void thread__patch(struct thread *t);
/* The next planned object that is mapped, and isn't in its space's list; false: there is none.
 * *image: where to begin. */
bool thread__find_object(const struct thread *t, const map_vec *maps,
			 const struct copy_image **image, struct loaded *out);
/* Its copies, as they are to be written to its base; NULL: that is out of reach. */
uint8_t *loaded__code(const struct loaded *l);
/* Maps memory for code in reach of start. 0: it may not, or there is no room. */
uint64_t thread__map_near(struct thread *t, const map_vec *maps, uint64_t start, bool pie,
			  uint64_t size);
/* The copies that addr is in, or the object of which it is code. */
const struct loaded *space__copies_at(const struct space *s, uint64_t addr);
const struct loaded *space__object_at(const struct space *s, uint64_t addr);
/* The copies that addr is in, or on the way to, where the original has another instruction or
 * none. */
const struct loaded *space__detour_at(const struct space *s, uint64_t addr);

/* With its springboards, can't the original be executed from there on? */
bool space__is_changed(const struct space *s, uint64_t addr);

/* ---- patch.c ---- */
/* The file's bytes that a patch replaces; NULL: it hasn't so many. */
const uint8_t *loaded__original(const struct loaded *l, const struct copy_patch *p);
int loaded__check(struct space *s, const struct loaded *l);
/* While threads run: the code as it will be, if it is then as it is now. */
void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l);
void loaded__drop_text(struct loaded *l);
int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l);
/* Of one function of the image, or ALL_FUNCTIONS: the patches, or what was there before. Between
 * any two writes the code is right. */
void loaded__write(struct space *s, struct tracer *tracer, const struct loaded *l,
		   uint32_t function, bool patched);
void space__restore(struct space *s, struct tracer *tracer);

/* ---- check.c: 0, or -errno and why not ---- */
int __attribute__((format(printf, 3, 4)))
say_answer__refuse(struct say_answer *a, int err, const char *format, ...);
/* Stopped; with what it executes for its process. */
int thread__check(struct thread *t, struct say_answer *a);
/* Has the process code that sets gs? */
int process__check_code(struct tracer *s, pid_t pid, struct say_answer *a);
/* All that is stopped, and what shares its memory. */
int tracer__check(struct tracer *s, struct say_answer *a);

/* ---- prepare.c ---- */
/* Before a process that runs is stopped: makes its copies. 0, also if none could be made; or -errno
 * and why it can't be traced. */
int process__prepare(struct tracer *s, struct process *p, struct say_answer *a);
/* Those of this object, at this place: they are the space's now. */
bool thread__take_prepared(struct thread *t, const map_vec *maps, struct loaded *l);
/* What was not taken. */
void thread__unmap_prepared(struct thread *t);
void tracer__unprepare(struct tracer *s);

/* ---- running.c ---- */
/* Seizes a thread, and makes it stop. 1; 0: it has ended, or is traced already; -errno and why not.
 */
int process__seize(struct tracer *s, struct process *p, uint32_t tid, struct say_answer *a);
/* Makes those of its threads stop that run. */
void process__interrupt(const struct tracer *s, const struct process *p);
/* Stops that are there: of threads that were asked to stop. Others go on. */
void tracer__collect(struct tracer *s);
/* Until all are stopped that run, or those of p. */
int tracer__await_stops(struct tracer *s, const struct process *p, struct say_answer *a);
/* Stops all threads of these processes; nothing is changed yet. 0, or -errno and why. */
int tracer__stop_running(struct tracer *s, const uint32_t *pids, size_t n, struct say_answer *a);
/* Puts the copies in place, takes threads into them, and lets them go on. */
void tracer__begin_running(struct tracer *s);
/* Is it in a system call that will be executed again? The kernel sees to that, unless the thread is
 * made to do something else before: then its registers have to be set. */
bool thread__is_in_call(struct thread *t);
void thread__restart_call(struct thread *t);

/* ---- gs.c ---- */
/* From now on a thread that this process traces stops before it returns from a system call that
 * sets gs, if gs_way says so. */
void gs__watch(struct tracer *s);
/* From now on none does. */
void gs__unwatch(struct tracer *s);
/* Has code that is mapped an instruction that sets it? If it may set it by the system call, and
 * that is not watched for yet, it is. */
bool process__sets_gs(struct tracer *s, pid_t pid, const map_vec *maps);

/* ---- loader.c ---- */
/* A program that runs is stopped: finds its loader. */
void loader__find(struct thread *t);
/* A program was executed, and not one of its instructions. */
void loader__begin(struct thread *t);
/* Is this signal that of the beacon? Then it is done. */
bool loader__hit(struct thread *t, const siginfo_t *si);
/* A thread that is in the beacon returns from it. */
void loader__leave(struct thread *t);
void loader__unwatch(struct space *s, const struct tracer *tracer);
void loader__system_call(struct thread *t, bool entry, uint64_t number, const uint64_t args[6]);

/* ---- step.c ---- */
enum step_out { OUT_DONE, OUT_FAULT, OUT_LATER, OUT_GONE };
/*
 * Takes a stopped thread out of the copies to the original, to where it may go on if that can be:
 * its pc is set. sent: the signal that it has stopped by, and has stopped by then, too; NULL: none.
 * *copy: the same place in the copies; 0: it was in the original. OUT_FAULT: it has stopped by a
 * fault of its own. OUT_LATER: it goes on, and that signal comes once more, as with OUT_FAULT.
 */
enum step_out thread__step_out(struct thread *t, const siginfo_t *sent, uint64_t *copy);
/* A signal that was sent anew: what it is to say. */
void thread__take_held(struct thread *t, siginfo_t *si);
/* It has stopped by this signal. Is that a fault in a load of the log? Then the log is to say that
 * the pointer can't be read: its pc is set. */
bool thread__resume_log(struct thread *t, int sig);

/* ---- signals.c ---- */
/* The thread has stopped by a signal. */
void signals__stopped(struct thread *t, int status);
/* The first stop after a signal was passed on. True: it was only for this. */
bool signals__delivered(struct thread *t, int status);
/* A handler is running, or was, that returns to code that will be changed: it is to return to the
 * copies. */
void signals__found(struct thread *t, uint64_t sp, uint64_t pc);
/* The original is as in its file: no handler is to return to the copies. */
void signals__restore_frames(struct thread *t);
/* It was held after it had stopped by this fault of its own. */
void signals__deliver_fault(struct thread *t);
/* All handlers of the thread were left: it executes another program, or has ended. */
void signals__leave_frames(struct thread *t);
/* Between the two jumps of a springboard, or within one that calls, is no place of the original:
 * the thread goes to where it leads, or back to its begin. */
void signals__leave_patch(struct thread *t);
/* Where the original is not what it was, or would not log, the thread goes on in the copies. */
void signals__to_copy(struct thread *t);
/* At a stop before and after a system call. */
void signals__system_call(struct thread *t, bool entry);
/* Sets the pc to that of the instruction that is being copied, even where the registers aren't
 * those of the original. Returns the one in the copies, 0: it was in none. */
uint64_t signals__leave_at_once(struct thread *t);
bool siginfo__is_fault(const siginfo_t *si);
/* By the step flag. */
bool siginfo__is_step(const siginfo_t *si);

/* ---- uncover.c ---- */
/* A handler of a fault at pc, of the original, is about to run: restores that function, if patches
 * are in its way. False: they aren't. */
bool uncover__begin(struct thread *t, uint64_t pc, struct uncovering *out);
/* It has returned or was left. */
void uncover__end(struct thread *t, const struct uncovering *which);
bool uncover__is_at(struct space *s, const struct tracer *tracer, uint64_t pc);
/* A process whose first thread this is begins, with the handlers that have called fork(2). */
void uncover__forked(struct thread *child);
/* Springboards are about to be put back: uncovers what handlers return to that would be in the way
 * of. */
void uncover__for_frames(struct space *s, struct tracer *tracer);
/* They were put back, all of them. */
void uncover__restore(struct space *s, struct tracer *tracer);
/* A thread that has got a log now: what it does of this will not be in it. */
void uncover__say(struct thread *t);

/* ---- stops.c ---- */
/* Its process is let go, and why is said: it has another use of gs, or will have … */
void thread__refuse(struct thread *t, const char *why);
void thread__refuse_gs(struct thread *t);
/* Does it use gs for something else than its log? */
bool thread__has_own_gs(struct thread *t);
/* It has set gs, and this is why it has stopped (gs.c): the program is not to get that signal.
 * uses: it is known to use gs; else SIGURG may be that of a socket. */
bool siginfo__is_for_gs(const siginfo_t *si, bool uses);
bool thread__stopped_for_gs(const struct thread *t, int status, bool uses);
void tracer__stopped(struct tracer *s, const struct stop *stop);
/* Of a child whose parent has not told of it. */
void tracer__early(struct tracer *s, const struct stop *stop);
/* What was done to the thread is done: it goes on, or is held. */
void thread__done(struct thread *t);
/* Is it to be held as soon as it is not within a system call, and has no signal to take? */
bool thread__stops_soon(const struct thread *t);

/* ---- children.c ---- */
void thread__made_child(struct thread *t, int event, pid_t child);
void thread__start(struct thread *t);
void thread__executed(struct thread *t);
void tracer__adopt(struct tracer *s, pid_t parent);
/* Another process that has its memory; s: one that isn't traced. 0: none. */
uint32_t process__sharer(const struct tracer *s, pid_t pid);
/* Has it threads, or do other processes have its memory, that aren't traced? */
bool process__has_strays(const struct tracer *s, const struct process *p);
/* Looks for threads and children that were made without a tracer (CLONE_UNTRACED). */
void tracer__find_strays(struct tracer *s);

/* ---- let_go.c ---- */
void tracer__let_go(struct tracer *s);
void space__let_go(struct tracer *s, struct space *space);
/* Makes the threads stop that have to; NULL: those that have not executed a program yet. */
void space__stop(struct tracer *s, struct space *space);
/* Once more, after something has changed. */
void space__try_let_go(struct tracer *s, struct space *space);
/* A thread isn't in it any more, for which others may have been held. Takes a reference; NULL:
 * nothing is done. */
void space__was_left(struct tracer *s, struct space *space);
/* Of a process with a memory of its own, whose only thread this is, stopped. */
void thread__let_go_alone(struct thread *t);
/* Stopped: takes it out of copies and springboards. If it stops by a fault of its own on the way,
 * that is t->fault. */
void thread__to_original(struct thread *t);
/* Stopped; it is free then. */
void thread__detach(struct thread *t, int sig);

/* ---- pause.c ---- */
void tracer__pause(struct tracer *s);
/* Says so, if all threads are stopped now. */
void tracer__see_paused(struct tracer *s);
void tracer__go_on(struct tracer *s);

/* ---- away.c ---- */
/* Stops all threads, takes the springboards away or puts them back, says so, and lets all go on. */
void tracer__set_away(struct tracer *s, bool away);
/* All threads are stopped. */
void tracer__change_away(struct tracer *s);

/* ---- stacks.c ---- */
/* Before it gets a slot. */
void thread__find_stack(struct thread *t);

/* ---- serve.c ---- */
void __attribute__((noreturn)) tracer__serve(const struct supervisor_options *o, int socket);

#endif
