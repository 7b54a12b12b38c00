/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets: writes a Perfetto trace (perfetto.proto), gzipped, packet by packet. What makes packets
 * small is of a sequence: a string is written once, and has a number from then on; a time is that
 * since the previous packet. Private to src/output.
 */
#ifndef BBTRACE_OUTPUT_TIMELINE_PACKETS_H
#define BBTRACE_OUTPUT_TIMELINE_PACKETS_H

#include "output/base/gzip.h"
#include "output/timeline/perfetto.pb-c.h"
#include "slices.h"

/* protoc-c's name of a message, and one without any field. */
#define PB(message) Perfetto__Protos__##message
#define PB_MESSAGE(descriptor)                                                                     \
	{                                                                                          \
		PROTOBUF_C_MESSAGE_INIT(&perfetto__protos__##descriptor##__descriptor)             \
	}

/* Strings of one kind, by number. */
struct interned {
	struct map64 numbers; /* hash, or a free key after it -> index + 1 */
	VEC(char *) texts;
};

/* Packets that rely on earlier ones. Zeroed, but for id, track and absolute: not begun. */
struct sequence {
	uint32_t id;	/* not 0 */
	uint64_t track; /* of its events: a UUID */
	bool absolute;	/* its times are not relative, and may go back */
	bool begun;
	uint64_t now;
	struct interned categories, names, keys, values;
};
/* Forgets strings: the next event begins it again. */
void sequence__clear(struct sequence *s);

struct argument {
	PB(DebugAnnotation) note;
	PB(DebugAnnotationName) key; /* new strings */
	PB(InternedString) value;
};

struct packets {
	struct output *o;
	struct gzip gzip;
	struct str packed; /* and not yet compressed */
	uint64_t last;	   /* the latest time */
	/* those of one packet */
	VEC(struct argument) arguments;
	VEC(PB(DebugAnnotation) *) notes;
	VEC(PB(DebugAnnotationName) *) keys;
	VEC(PB(InternedString) *) values;
	VEC(char *) strings;
};

int packets__begin(struct packets *p, struct output *o);
void packets__event(struct packets *p, struct sequence *s, const struct slice_event *e);
void packets__track(struct packets *p, struct sequence *s, PB(TrackDescriptor) * track);
/* What a message is to show for this text, valid until the next packet is written. */
char *packets__string(struct packets *p, const char *text);
/* Appends all packets to the output's buffer so that a reader of that can have them. */
void packets__flush(struct packets *p);
/* As packets__flush(), and ends the file. */
void packets__end(struct packets *p);
void packets__free(struct packets *p);

#endif
