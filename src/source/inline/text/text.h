/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text: copies of functions in the traced programs, what is written over the original code, and
 * where threads are in both. It uses target/ and space/. All threads that could execute what is
 * written are stopped by then.
 *
 * First to read: thread__map_copies(), loaded__write(), thread__step_out().
 */
#ifndef BBTRACE_SOURCE_INLINE_TEXT_TEXT_H
#define BBTRACE_SOURCE_INLINE_TEXT_TEXT_H

#include "source/inline/space/space.h"

/* ---- gs.c ---- */
/* From now on, a thread that this process traces stops before it returns from a system call that
 * sets gs, if gs_way says so. */
void gs__watch(struct tracer *s);
/* From now on none does. */
void gs__unwatch(struct tracer *s);
/* Returns true if mapped code has an instruction that sets gs. If it may set it by the system call,
 * and that is not watched yet, it is from now on. */
bool process__sets_gs(struct tracer *s, pid_t pid, const map_vec *maps);

/* ---- states.c ---- */
/* What the plan has of one of its functions. */
const struct plan_function *loaded__planned(const struct tracer *s, const struct loaded *l,
					    uint32_t function);
uint32_t loaded__function_of(const struct loaded *l, const struct copy_patch *p);
static inline enum copy_state loaded__state(const struct loaded *l, const struct copy_patch *p)
{
	return (enum copy_state)l->states[loaded__function_of(l, p)];
}
/* Sets the state of the function, and of all whose patches are among its bytes, unless their state
 * is higher already. */
void loaded__set_state(const struct tracer *s, const struct loaded *l, uint32_t function,
		       enum copy_state state);
size_t loaded__count(const struct loaded *l, enum copy_state state);
/* Returns true if a thread may continue in the copy of the function at vaddr. */
bool loaded__may_enter(const struct tracer *s, const struct loaded *l, uint64_t vaddr);
/* Which were lost since that was reported last. */
void loaded__notify_lost(struct tracer *s, const struct process *p, struct loaded *l);

/* ---- patch.c ---- */
/* Returns the file's bytes that a patch replaces; NULL if it hasn't as many. */
const uint8_t *loaded__original(const struct loaded *l, const struct copy_patch *p);
int loaded__check(struct space *s, const struct tracer *tracer, const struct loaded *l);
/* Returns true if the program has changed the code of functions whose copies are in place. lose:
 * they are lost. */
bool loaded__compare(struct space *s, const struct tracer *tracer, const struct loaded *l,
		     bool lose);
/* While threads run: prepares the code as it will be, if it has not changed by then. */
void loaded__prepare_text(struct space *s, const struct tracer *tracer, struct loaded *l);
void loaded__drop_text(struct loaded *l);
int loaded__patch(struct space *s, struct tracer *tracer, const struct loaded *l);
/*
 * For one function of the image, or ALL_FUNCTIONS: writes the patches, or what was there before.
 * Between any two writes the code is correct. What is neither stays as it is, and its function is
 * lost.
 */
void loaded__take_back(struct space *s, struct tracer *tracer, const struct loaded *l);
void loaded__write(struct space *s, struct tracer *tracer, const struct loaded *l,
		   uint32_t function, bool patched);
void space__restore(struct space *s, struct tracer *tracer);

/* ---- prepared.c ---- */
/* The copies of this object, at this place, which are the space's now. */
bool thread__take_prepared(struct thread *t, const map_vec *maps, struct loaded *l);
/* Unmaps what was not taken. */
void thread__unmap_prepared(struct thread *t);

/* ---- objects.c ---- */
/* Puts the copies of all planned objects that are mapped, and haven't any yet, in place, and
 * forgets those that are mapped no more, in two steps: between them threads may be taken to the
 * copies. False: the process has code that sets gs, and is to be refused. */
bool thread__map_copies(struct thread *t);
void thread__patch(struct thread *t);
/* Finds the next planned object that is mapped, and isn't in its space's list. Returns false if
 * there is none. *image: where to begin. */
bool thread__find_object(const struct thread *t, const map_vec *maps,
			 const struct copy_image **image, struct loaded *out);
/* Returns its copies, as they have to be written to its base, untimed or not; NULL if a target is
 * out of reach. */
uint8_t *loaded__code(const struct loaded *l, const struct arch *arch, bool untimed);
/* Objects that were mapped and got no copies get none any more, and why is reported. */
void thread__refuse_new(struct thread *t, const char *why);

/* ---- place.c ---- */
/* Returns the patch whose bytes the thread is within; NULL if none. */
const struct copy_patch *thread__find_patch(struct thread *t, const struct loaded **l);
/* f is the handler's frame by which it has returned; NULL if none. */
void thread__back_to_copy(struct thread *t, const struct signal_frame *f);
/* Between the two jumps of a springboard, or within one that calls, is no place of the original:
 * the thread is moved to where it leads, or back to its start. */
void signals__leave_patch(struct thread *t);
/* Where the original has changed, or would not log, the thread continues in the copies. */
void signals__to_copy(struct thread *t);
/* Sets the pc to that of the instruction that is being copied, even if the registers aren't those
 * of the original. Returns the pc in the copies; 0 if it was in none. */
uint64_t signals__leave_at_once(struct thread *t);

/* ---- give_time.c ---- */
/* The thread has stopped by SIGSEGV. Returns true if that is because a log may not read the time
 * stamp counter; then it was read for it. */
bool thread__give_time(struct thread *t);

/* ---- step.c ---- */
enum step_out { OUT_DONE, OUT_FAULT, OUT_WAITS, OUT_LATER, OUT_GONE };
/*
 * Moves a stopped thread out of the copies to the original, to a place where it may be resumed, if
 * possible: its pc is set. sent is the signal by which it has stopped, and by which it has stopped
 * afterwards, too; NULL if none. *copy is the same place in the copies; 0 if it was in the
 * original. OUT_FAULT: it has stopped by a fault of its own. OUT_LATER: it is resumed, and that
 * signal comes again, as with OUT_FAULT. OUT_WAITS isn't returned.
 */
enum step_out thread__step_out(struct thread *t, const siginfo_t *sent, uint64_t *copy);
/*
 * The thread has stopped by this signal. Returns true if that is a fault in a load of the log, so
 * that the log has to record that the pointer can't be read: its pc is set; or where it reads the
 * time, which is done then.
 */
bool thread__resume_log(struct thread *t, int sig);

/* ---- original.c ---- */
/* or on the way to them */
bool thread__is_in_copies(struct thread *t);
/* Moves a stopped thread out of copies and springboards. If it stops by a fault of its own on the
 * way, that is t->fault. */
void thread__to_original(struct thread *t);

/* ---- restore.c ---- */
/* A handler of a fault at pc, of the original, is about to run: restores that function, if patches
 * are in its way. Returns false if they aren't. */
bool restore__begin(struct thread *t, uint64_t pc, struct restoring *out);
/* The handler has returned or was left. */
void restore__end(struct thread *t, const struct restoring *which);
bool restore__is_at(struct space *s, const struct tracer *tracer, uint64_t pc);
/* A process whose first thread this is begins, with the handlers that have called fork(2). */
void restore__forked(struct thread *child);
/* Springboards are about to be put back: restores the functions that handlers return to, if these
 * would be in their way. */
void restore__for_frames(struct space *s, struct tracer *tracer);
/* All of them were put back. */
void restore__again(struct space *s, struct tracer *tracer);
/* A thread that has got a log now: what it does of this will not be in it. */
void restore__notify(struct thread *t);

/* ---- frames.c ---- */
/* A handler is running that returns to the original: its frame is there, and copy is the same
 * place. */
void signals__track(struct thread *t, uint64_t frame, uint64_t original, uint64_t copy);
/* A handler is running, or was, that returns to code that will be changed: it has to return to the
 * copies. */
void signals__found(struct thread *t, uint64_t sp, uint64_t pc);
/* The original is as in its file: no handler is to return to the copies. */
void signals__restore_frames(struct thread *t);
/* All handlers of the thread were left: it executes another program, or has ended. */
void signals__leave_frames(struct thread *t);
/* This frame, whose ucontext_t is at context. */
void signals__push_frame(struct thread *t, struct signal_frame f, uint64_t context);
/* The n-th: its handler has returned; all from n on: their handlers were left. */
void signals__drop_frame(struct thread *t, size_t n);
void signals__leave_frames_from(struct thread *t, size_t n);
/* Drops the frames whose handlers seem to have been left, by the stack pointer. */
void signals__drop_left_frames(struct thread *t, uint64_t sp);

/* ---- returns.c ---- */
/* A signal is passed on with these registers, where the original can be executed: the thread has to
 * continue in its copy when the handler has returned. */
void thread__await_return(struct thread *t, uint64_t copy);
/* At a system call's entry, for a thread that has some. */
void thread__see_awaited(struct thread *t);

/* ---- entries.c ---- */
/* All threads are stopped: functions that are lost continue to log their entries, where
 * possible. */
void loaded__log_entries(struct tracer *s, const struct space *space, const struct loaded *l);

/* ---- copied.c ---- */
/* The thread has stopped by this signal. Returns true if it is a fault because the program executes
 * a springboard that it has copied. Then that is mended, and the thread is where it came from. */
bool copied__mend(struct thread *t, const siginfo_t *si);

/* ---- text.c ---- */
/* Returns true if it has stopped for that; then text__stopped() has done what is needed. */
bool text__stopped(struct thread *t, int status);
/* Once a second: what others have written. */
void text__look(struct tracer *s);
/* The same after thread__send_put_off(), if one of those stops was for that. */
void text__see_put_off(struct thread *t);
/* A thread that has got a log now. */
void text__notify(struct thread *t);
/* Finds where its functions are. Those that the program may write to are open. */
void loaded__find_text(const struct tracer *s, const map_vec *maps, struct loaded *l);
/* Returns true if any of the functions' code is still there. Then its copies may be in use. */
bool loaded__is_mapped(const struct tracer *s, const struct loaded *l, const map_vec *maps);
/* Reports the states of its functions that have changed. */
void loaded__notify_states(struct tracer *s, const struct space *space, const struct process *p,
			   struct loaded *l);

#endif
