/* SPDX-License-Identifier: BSD-2-Clause */
/* message: protobuf's messages as protobuf-c packs them, and their texts. Private to src/output. */
#ifndef BBTRACE_OUTPUT_BASE_MESSAGE_H
#define BBTRACE_OUTPUT_BASE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include "output/output.h"

/* Appends the message, packed. Concatenated messages of one type are one, with all members. */
void message__append(struct str *out, const ProtobufCMessage *m);
/* What a message of this output shows for text: UTF-8, without hidden addresses. The caller frees
 * it. */
char *message__text(const struct output *o, const char *text);

#endif
