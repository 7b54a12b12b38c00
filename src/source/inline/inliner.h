/* SPDX-License-Identifier: BSD-2-Clause */
/* inliner: what copies that log need: the supervisor, their rings, their clock. */
#ifndef BBTRACE_SOURCE_INLINE_INLINER_H
#define BBTRACE_SOURCE_INLINE_INLINER_H

#include "source/inline/inline.h"
#include "source/inline/logs/rings.h"
#include "source/inline/merge/clock.h"

struct inliner {
	struct inline_options options;
	struct supervisor *supervisor;
	struct ticks_clock *clock;
	struct rings *rings;
	bool hidden;  /* what threads logged that the filters leave out */
	bool nothing; /* no copies could be put anywhere */
};

/* Detaches from all processes; the rings' thread receives what the supervisor reports until then.
 */
void inliner__detach(struct inliner *i);

#endif
