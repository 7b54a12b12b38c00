/* SPDX-License-Identifier: BSD-2-Clause */
/* Unzips and unpacks what the perfetto format has written. */
#ifndef PERFETTO_CHECK_H
#define PERFETTO_CHECK_H

#include <zlib.h>
#include "output/timeline/perfetto.pb-c.h"
#include "util/util.h"

#define PB(name) Perfetto__Protos__##name

/* As much as there is. */
static inline void perfetto_check__unzip(const struct str *from, struct str *to)
{
	z_stream z = {.next_in = (Bytef *)from->data, .avail_in = from->len};
	int state;

	inflateInit2(&z, MAX_WBITS + 16);
	do {
		str__reserve(to, 1 << 16);
		z.next_out = (Bytef *)to->data + to->len;
		z.avail_out = 1 << 16;
		state = inflate(&z, Z_NO_FLUSH);
		to->len += (1 << 16) - z.avail_out;
	} while (state == Z_OK && !z.avail_out);
	inflateEnd(&z);
}

/* NULL: it is no trace. The caller frees by perfetto__protos__trace__free_unpacked(). */
static inline PB(Trace) * perfetto_check__unpack(const struct str *file)
{
	struct str plain = {0};
	PB(Trace) * trace;

	perfetto_check__unzip(file, &plain);
	trace = perfetto__protos__trace__unpack(NULL, plain.len, (uint8_t *)plain.data);
	str__free(&plain);
	return trace;
}

/* Is it one, each of whose packets is of a sequence? */
static inline bool perfetto_check__is_trace(const struct str *file)
{
	PB(Trace) *trace = perfetto_check__unpack(file);
	bool good = trace && trace->n_packet;

	for (size_t i = 0; good && i < trace->n_packet; i++)
		good = trace->packet[i]->trusted_packet_sequence_id &&
		       trace->packet[i]->sequence_flags;
	if (trace)
		perfetto__protos__trace__free_unpacked(trace, NULL);
	return good;
}

#endif
