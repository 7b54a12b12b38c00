/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer: what the supervisor's process does, file by file; state.h has what it knows. Private to
 * the supervisor's files.
 *
 * It waits for any stop, and does what that stop asks for. It waits for one thread only where that
 * is sent to execute an instruction, or a system call (an errand, src/arch/tracee.h): mostly for
 * microseconds, and never for longer than STOP_NS (tracee.c) if the thread waits in the kernel. A
 * thread may be killed at any time: then each request fails with -ESRCH, which is ignored, since
 * its end is reported, too.
 */
#ifndef BBTRACE_TRACER_H
#define BBTRACE_TRACER_H

#include "source/inline/target/state.h"

/* The C library names it where the kernel has it. Where it hasn't, there are no copies either. */
#ifndef PT_SYSEMU
#define PTRACE_SYSEMU 31
#endif

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
/*
 * The same, waits for its next stop and returns that status; 0: it is gone. STATUS_LATE: it waits
 * in the kernel for longer than others can. If it is THREAD_STOPPED then, it has given that up, and
 * has stopped, where the instruction begins for which it has waited; else it runs.
 */
#define STATUS_LATE (-1)
int thread__resume_wait(struct thread *t, int request, int sig);
/* Goes on as it has to: with stops at system calls if those are watched. */
void thread__go_on(struct thread *t, int sig);
/* The mask of its signals. False: it is gone. */
bool thread__mask(struct thread *t, uint64_t *out);
bool thread__set_mask(struct thread *t, uint64_t mask);
/* Sends a signal that comes later than it did. What it said is held here (t->held); if nobody is
 * here any more when it comes, it says that it was SENT_ANEW. */
#define SENT_ANEW (-1000)
void thread__send_anew(struct thread *t, int sig);
/* What it is to say, if it was sent anew: *si, and what the thread's stop says. */
void thread__take_held(struct thread *t, siginfo_t *si);
/* This stop, by what can't be blocked, is for later. */
void thread__put_off(struct thread *t, int status);
void thread__send_put_off(struct thread *t);
/* Has it a shadow stack, which has to change with what a stepped call or ret does? */
bool thread__has_shadow_stack(pid_t tid);
/* The stop that it is in is not to be reported once more, though it doesn't go on. */
void thread__take_stop(struct thread *t);
/* Is there a stop or an end of any thread? */
bool tracer__next(struct tracer *s, struct stop *out);

/* ---- memory.c ---- */
/* -1: errno. */
int process__open_memory(pid_t pid, int flags);
void space__open_memory(struct space *s, struct process *p);
/* Stopped as for thread__call(): for writing, if that can be. */
void thread__open_memory(struct thread *t);
bool space__read(const struct space *s, uint64_t addr, void *out, size_t n);
/*
 * What is in one page is written at once, if its memory is open for writing; else words are, by a
 * thread of it that is stopped. There may be none: false.
 */
bool space__write(const struct space *s, uint64_t addr, const void *bytes, size_t n);

/* ---- fetch.c ---- */
/* A copy of the process's descriptor of that number. -1: errno; *out is to be closed all the same.
 */
int thread__fetch(const struct thread *t, int number, struct fetched *out);
/* Closes the process's, if it is still that of this file, or its file could not be had. */
void thread__close_fetched(struct thread *t, const struct fetched *f);

/* ---- late.c ---- */
/* The thread is late with that: from now on nothing is done to it before it has stopped. */
void thread__is_late(struct thread *t, const struct errand *e, uint64_t at, uint64_t end);
/* It has stopped. True: it is not done yet, and runs again. */
bool thread__goes_on_late(struct thread *t, int status);

/* ---- inject.c ---- */
/* Sends it to this code, which is written to addr: its registers are stored. False: it is gone. */
bool thread__send(struct thread *t, uint64_t addr, const struct errand_code *code);
/* The thread is stopped, not within a system call; it is as before then. The system call's result;
 * -EPERM: a filter may end it for that. */
int64_t thread__call(struct thread *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		     uint64_t e, uint64_t f);
/* It opens this file, by a path shorter than OPEN_PATH. opened: is called while it is still where
 * it has done that, with its descriptor's number and the address of OPEN_ROOM bytes that nothing
 * uses. */
#define OPEN_PATH 32
#define OPEN_ROOM 8
typedef void thread_opened_fn(struct thread *t, int number, uint64_t room, struct fetched *file);
void thread__open(struct thread *t, const char *path, int flags, thread_opened_fn *opened,
		  struct fetched *file);

/* ---- dispatch.c ---- */
/* While it is made to call something, a program does not answer its system calls itself. */
void thread__stop_dispatch(struct thread *t, struct dispatch *was);
void thread__resume_dispatch(struct thread *t, struct dispatch *was);
/* A system call that the program is to answer was not executed. */
bool siginfo__is_dispatch(const siginfo_t *si);
/* The same of a stop. */
bool thread__is_dispatched(const struct thread *t, int status);

/* ---- seccomp.c ---- */
/* How many filters a thread has; UINT32_MAX: it may hardly do anything. */
uint32_t thread__filters(pid_t tid);
/* Of a stopped thread: do they allow what it is made to do? This needs CAP_SYS_ADMIN. *opens: is it
 * allowed to open files, too? */
bool thread__filters_allow(struct thread *t, uint32_t *filters, bool *opens);
/* Has its process no more than were known to allow it? */
bool thread__may_call(const struct thread *t);

/* ---- log_memory.c ---- */
/* Memory for logs that a process and this one have mapped; fd: it, to be passed on. Nobody can make
 * it shorter. */
struct log_memory {
	uint64_t at, size;
	uint8_t *mem;
	int fd;
	struct fetched file;
};
/* How many slots, of those that are wanted, may be mapped without taking from the program what its
 * limits leave it. 0: none, tracer.no_log says why. *charged: as struct area. */
uint32_t thread__log_slots(struct thread *t, uint32_t want, uint64_t slot_size, bool *charged);
/* By a stopped thread. False: tracer.no_log says why. */
bool thread__make_log(struct thread *t, uint64_t size, struct log_memory *out);

/* ---- area.c ---- */
/* Has the program another use of the register that finds the ring? */
bool thread__lost_slot(struct thread *t);
/* A stopped thread tries; nothing stays mapped. False, here and below: tracer.no_log says why. */
bool thread__may_map_area(struct thread *t);
bool thread__get_slot(struct thread *t, pid_t parent, uint64_t forked);
void thread__drop_slot(struct thread *t);
uint64_t thread__position(struct thread *t);
/* While this is so, a full ring is not waited for. */
void thread__hurry(struct thread *t);
/* While its log waits for the reader a stopped thread that is stepped has to wait, too: for some
 * milliseconds, then it hurries. */
void thread__await_reader(struct thread *t);
/* Does it wait for an answer (bell.c)? That may be wrong at any time. */
bool thread__asks(const struct thread *t);
void thread__take_question(struct thread *t);
void tracer__slot_done(struct tracer *s, uint32_t area, uint32_t slot);
void area__drop(struct tracer *s, struct area *a);

/* ---- bell.c ---- */
/* page: the first one of an area's mapping here; rung: an eventfd. NULL: there can't be more. */
struct bell *bell__new(int rung, void *page);
void bell__free(struct bell *b);

/* ---- tables.c ---- */
struct thread *tracer__thread(const struct tracer *s, pid_t tid);
struct thread *tracer__add_thread(struct tracer *s, pid_t tid, struct process *p);
struct process *tracer__process(const struct tracer *s, pid_t pid);
struct process *tracer__add_process(struct tracer *s, pid_t pid);
void thread__remove(struct thread *t);
struct space *space__new(const struct tracer *s, struct process *p);
struct space *space__fork(const struct space *s, struct process *p);
void space__drop(struct tracer *tracer, struct space *s);
/* Its stops that were not looked at yet. */
void tracer__forget_stops(struct tracer *s, pid_t tid);
/* NULL at the end. */
struct thread *tracer__each(const struct tracer *s, size_t *i);
/* Of those that share this memory. */
struct thread *tracer__each_in(const struct tracer *s, const struct space *space, size_t *i);
struct process *tracer__each_process(const struct tracer *s, size_t *i);

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
/* Its copies, as they are to be written to its base, untimed or not; NULL: that is out of reach. */
uint8_t *loaded__code(const struct loaded *l, const struct arch *arch, bool untimed);
/* Maps memory for code in reach of start. 0: it may not, or there is no room. */
uint64_t thread__map_near(struct thread *t, const map_vec *maps, uint64_t start, bool pie,
			  uint64_t size);
/* Those that were mapped and got no copies get none any more, and why is said. */
void thread__refuse_new(struct thread *t, const char *why);
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
int loaded__check(struct space *s, const struct tracer *tracer, const struct loaded *l);
/* Has the program changed the code of functions whose copies are in place? lose: they are lost. */
bool loaded__compare(struct space *s, const struct tracer *tracer, const struct loaded *l,
		     bool lose);
/*
 * What all that write text of the program go through, but where a patch is among many
 * (loaded__write()): over what is expected there, or nothing. True: it is so now. All threads that
 * could execute it, or write there, are stopped.
 */
bool space__swap(const struct space *s, uint64_t addr, const uint8_t *expected,
		 const uint8_t *becomes, size_t n);
/* While threads run: the code as it will be, if it is then as it is now. */
void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l);
void loaded__drop_text(struct loaded *l);
int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l);
/* Of one function of the image, or ALL_FUNCTIONS: the patches, or what was there before. Between
 * any two writes the code is right. What is neither stays as it is, and its function is lost. */
void loaded__take_back(struct space *s, struct tracer *tracer, const struct loaded *l);
void loaded__write(struct space *s, struct tracer *tracer, const struct loaded *l,
		   uint32_t function, bool patched);
void space__restore(struct space *s, struct tracer *tracer);

/* ---- lost.c ---- */
/* What the plan has of one of its functions. */
const struct plan_function *loaded__planned(const struct tracer *s, const struct loaded *l,
					    uint32_t function);
uint32_t loaded__function_of(const struct loaded *l, const struct copy_patch *p);
static inline enum copy_state loaded__state(const struct loaded *l, const struct copy_patch *p)
{
	return (enum copy_state)l->states[loaded__function_of(l, p)];
}
/* The function's, and that of all whose patches are among its bytes, unless it is more already. */
void loaded__set_state(const struct tracer *s, const struct loaded *l, uint32_t function,
		       enum copy_state state);
size_t loaded__count(const struct loaded *l, enum copy_state state);
/* May a thread go on in the copy of the function at vaddr? */
bool loaded__may_enter(const struct tracer *s, const struct loaded *l, uint64_t vaddr);
void loaded__init_states(struct loaded *l);
void loaded__copy_states(struct loaded *l); /* of a fork: its own */
void loaded__free_states(struct loaded *l);
/* Which were lost since that was said last. */
void loaded__say_lost(struct tracer *s, const struct process *p, struct loaded *l);

/* ---- entries.c ---- */
/* All threads are stopped: those that are lost go on to log their entries, where that can be. */
void loaded__log_entries(struct tracer *s, const struct space *space, const struct loaded *l);

/* ---- copied.c ---- */
/* It has stopped by this signal. Is it a fault because the program executes a springboard that it
 * has copied? Then it is mended, and the thread is where it has come from. */
bool copied__mend(struct thread *t, const siginfo_t *si);

/* ---- text.c ---- */
/* From now on a thread that this process traces stops before it returns from a system call by which
 * it changes code that has copies. */
void text__watch(struct tracer *s);
/* Was this thread sent this signal by that? Asked once. Did others write, since this was asked? */
bool text__took_call(const struct tracer *s, pid_t tid, int sig);
bool text__foreigners_wrote(struct tracer *s);
/* Its objects have changed, or another process has its memory now. */
void space__watch_text(const struct tracer *s, const struct space *space);
void text__forget_process(const struct tracer *s, pid_t pid);
/* Has it stopped for that? Then it is done. put_off: it isn't, text__see() will do that. */
bool text__stopped(struct thread *t, int status);
bool text__put_off(const struct thread *t, int status);
void text__see(struct thread *t);
/* Once a second: what others have written. */
void text__look(struct tracer *s);
/* A thread that has to leave the copies does so. True: it goes on already. */
bool text__leave(struct thread *t);
/* A thread that has got a log now. */
void text__say(struct thread *t);
/* Where its functions are. Those that the program may write to are open. */
void loaded__find_text(const struct tracer *s, const map_vec *maps, struct loaded *l);
/* Is any of the functions' code still there? Then its copies may be in use. */
bool loaded__is_mapped(const struct tracer *s, const struct loaded *l, const map_vec *maps);
/* What was said of its functions before, and what is so now. */
void loaded__say_states(struct tracer *s, const struct space *space, const struct process *p,
			struct loaded *l);

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
/* A bell was rung: makes the threads stop that ask. */
void tracer__answer(struct tracer *s);
/* It has stopped, not at a system call. If it asks from its beacon, what was loaded gets copies,
 * and it returns from there: true. */
bool loader__stopped(struct thread *t);
/* A thread of the space that asks is heard: what it calls for that may be in place. */
bool space__has_bell(struct space *s, const struct tracer *tracer);
/* A thread that is in the beacon returns from it. */
void loader__leave(struct thread *t);
void loader__unwatch(struct space *s, const struct tracer *tracer);
void loader__system_call(struct thread *t, bool entry, uint64_t number, const uint64_t args[6]);

/* ---- step.c ---- */
enum step_out { OUT_DONE, OUT_FAULT, OUT_WAITS, OUT_LATER, OUT_GONE };
/*
 * Takes a stopped thread out of the copies to the original, to where it may go on if that can be:
 * its pc is set. sent: the signal that it has stopped by, and has stopped by then, too; NULL: none.
 * *copy: the same place in the copies; 0: it was in the original. OUT_FAULT: it has stopped by a
 * fault of its own. OUT_LATER: it goes on, and that signal comes once more, as with OUT_FAULT.
 * OUT_WAITS isn't returned.
 */
enum step_out thread__step_out(struct thread *t, const siginfo_t *sent, uint64_t *copy);
/* It has stopped by this signal. Is that a fault in a load of the log? Then the log is to say that
 * the pointer can't be read: its pc is set. Or where it reads the time? That is done then. */
bool thread__resume_log(struct thread *t, int sig);

/* ---- signals.c ---- */
/* A handler is running that returns to the original: its frame is there, and copy is the same
 * place. */
void signals__track(struct thread *t, uint64_t frame, uint64_t original, uint64_t copy);
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

/* ---- frames.c: of a thread's tracked handlers ---- */
/* This frame, whose ucontext_t is at context. */
void signals__push_frame(struct thread *t, struct signal_frame f, uint64_t context);
/* The n-th: its handler has returned; all from n on: their handlers were left. */
void signals__drop_frame(struct thread *t, size_t n);
void signals__leave_frames_from(struct thread *t, size_t n);
/* Those whose handlers seem to have been left, by the stack pointer. */
void signals__drop_left_frames(struct thread *t, uint64_t sp);

/* ---- returns.c ---- */
/* A signal is passed on with these registers, where the original can be executed: the thread is to
 * go on in its copy when the handler has returned. */
void thread__await_return(struct thread *t, uint64_t copy);
/* At a system call's entry, of a thread that has some. */
void thread__see_awaited(struct thread *t);
/* A handler is about to return by this frame: to the copy, if that is still the place to be. */
bool thread__return_to_copy(struct thread *t, uint64_t frame, uint64_t original, uint64_t copy);

/* ---- cores.c ---- */
/* The thread is about to end its process by a signal that dumps its memory: stops all others of its
 * space and takes them out of the copies, those that stop within a second. They wait for the end.
 */
void thread__clear_others(struct thread *t);
/* Is it one of those that wait? Then the stop is kept. */
bool tracer__keeps(struct tracer *s, struct thread *t, const struct stop *stop);
/* The process has not ended after all, or should have: they go on. */
void tracer__release(struct tracer *s);

/* ---- uncover.c ---- */
/* Stops all other threads of its space, and waits for that until then (ns); 0: for seconds, on a
 * machine that is busy. Their stops are reported later, as any. False: one runs on. */
bool thread__stop_others(const struct thread *than, uint64_t until);
/* Has it stopped or ended, and is that still to be reported? */
bool thread__has_stopped(pid_t tid);
/* A handler of a fault at pc, of the original, is about to run: restores that function, if patches
 * are in its way. False: they aren't. */
bool uncover__begin(struct thread *t, uint64_t pc, struct uncovering *out);
/* It has returned or was left. */
void uncover__end(struct thread *t, const struct uncovering *which);
/* Stops all others of its space, whose stops are reported later, as any. than: NULL: all. */
bool space__stop_others(const struct tracer *s, const struct space *space,
			const struct thread *than, uint64_t until);
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
/* Can it be told whether two processes share their memory (kcmp(2))? */
bool processes__can_be_compared(void);
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
/* Of spaces that have waited for long enough for threads that don't stop; true: there are more that
 * wait. */
bool tracer__insist(struct tracer *s);
/* A thread has stopped whose space was let go without it: sig, or 0, is what it has stopped by. */
void thread__follow(struct thread *t, int sig);
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

/* ---- untimed.c ---- */
/* It has stopped by SIGSEGV. Is that because a log may not read the time stamp counter? Then it was
 * read for it. */
bool thread__give_time(struct thread *t);
/* Changes the copies of spaces where all threads are stopped for that. */
void tracer__see_untimed(struct tracer *s);

/* ---- stacks.c ---- */
/* Before it gets a slot. */
void thread__find_stack(struct thread *t);

/* ---- serve.c ---- */
void __attribute__((noreturn)) tracer__serve(const struct supervisor_options *o, int socket);

#endif
