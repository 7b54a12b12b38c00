// SPDX-License-Identifier: BSD-2-Clause
/* Why functions aren't copied. */
#include "copy/copy.h"

const char *const copy_refusal_text[COPY_REFUSALS] = {
	[COPY_RANGE] = "only a part of it is traced",
	[COPY_GAP] = "some of its bytes are not decoded",
	[COPY_DOUBTFUL] = "some of its instructions are doubtful",
	[COPY_UNRESOLVED] = "the targets of an indirect jump are not all known",
	[COPY_INSN] = "an instruction can't be executed elsewhere",
	[COPY_ROOM] = "no room for a jump to the copy",
	[COPY_RETURN] = "what it calls uses its return address",
	[COPY_GO] = "it is a Go program's",
	[COPY_OBJECT] = "its object can't be patched",
	[COPY_SITE] = "a branch in it can't be logged",
};
