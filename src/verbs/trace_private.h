/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_private: a live trace, from its plan to its last event; shared by trace.c and
 * trace_output.c. */
#ifndef BBTRACE_VERBS_TRACE_PRIVATE_H
#define BBTRACE_VERBS_TRACE_PRIVATE_H

#include "cli/request.h"
#include "control/control.h"
#include "select/engine.h"
#include "select/planning.h"
#include "pipeline/pager.h"
#include "pipeline/write/file_keeper.h"
#include "session/process/child.h"
#include "session/growth.h"
#include "session/overhead_limit.h"
#include "session/process/process_ends.h"
#include "session/screen.h"
#include "session/switching.h"

struct session {
	/* As it was given, but with the engine that was chosen, and with CMD as the process to
	 * trace. */
	struct request request;
	struct explaining *explaining; /* instead of events; NULL if none */
	struct planning planning;
	struct child child;
	struct process_ends ends;
	struct plan *plan;
	VEC(bool) source_read; /* by object: output_wants.late_source */
	struct engine_state engine;
	struct source *source;
	struct probe_options options; /* options of the probes */
	struct live live;
	struct overhead_limit overhead;
	struct trace_meta meta;
	struct recorder *recorder; /* of a trace file */
	struct counting counting;  /* used if probes count */
	struct render render;	   /* else used */
	struct recording recording;
	struct control control;
	struct keeper files;
	struct growth growth;
	struct switching switching;
	struct screen screen;
	struct progress progress; /* of making the plan, or of reading the rest of the log */
	bool under;		  /* less code ran than --fail-under requires */
	bool blind;		  /* nothing that was requested could be traced */
	bool is_over, leaves;	  /* the trace's time is over; CMD still runs */
	int btf;		  /* from --btf; -1 if none */
	char btf_path[32];
};

/* True if the probes count instead of recording events. */
bool session__counts(const struct session *s);

/* ---- its output (trace_output.c): functions return 0, or -errno with a message ---- */

/* Opens the files that are written. */
int session__open_output(struct session *s);
/* Makes the output, by the plan: what is shown, and what it needs of source code. */
int session__make_output(struct session *s);
/* Starts the output, whose time is the start of the trace. */
int session__begin_output(struct session *s);
/* Writes what is buffered. Called many times a second. */
int session__write_out(struct session *s, uint64_t now);
/* True if nobody reads the output any more. */
bool session__reader_gone(const struct session *s);
int session__end_output(struct session *s);

#endif
