// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decompresses a stream by libzstd, liblzma, liblz4 or zlib. Runs in the sandbox, and writes what
 * it has decompressed at once. A file may consist of several streams, one after the other.
 */
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif
#include "core_packed.h"
#include "object/debug/sandbox.h"

#define WINDOW_LOG 29		/* the most that zstd --long needs, of the sandbox's 1 GiB */
#define XZ_MEMORY  (768u << 20) /* bytes */

struct buffers {
	const uint8_t *in;
	size_t nin;
	uint8_t *out;
	size_t nout; /* before: the room; after: what was written */
	bool last;   /* no input follows */
};

/* What one step has done. */
enum step {
	STEP_GOES_ON,
	STEP_ENDS, /* of a stream: another may follow */
	STEP_BAD,
	STEP_LARGE,
};

struct decoder {
	void *(*open)(void);
	/* Takes from in, and fills out. */
	enum step (*step)(void *state, struct buffers *b);
};

/* ---- the libraries ---- */

#ifdef HAVE_ZSTD
static void *open_zstd(void)
{
	ZSTD_DStream *s = ZSTD_createDStream();

	if (s)
		ZSTD_DCtx_setParameter(s, ZSTD_d_windowLogMax, WINDOW_LOG);
	return s;
}

static enum step step_zstd(void *state, struct buffers *b)
{
	ZSTD_inBuffer in = {b->in, b->nin, 0};
	ZSTD_outBuffer out = {b->out, b->nout, 0};
	size_t n = ZSTD_decompressStream(state, &out, &in);

	b->in += in.pos;
	b->nin -= in.pos;
	b->nout = out.pos;
	if (ZSTD_isError(n))
		return strstr(ZSTD_getErrorName(n), "memory") ? STEP_LARGE : STEP_BAD;
	return n ? STEP_GOES_ON : STEP_ENDS;
}
#endif

#ifdef HAVE_LZMA
static void *open_lzma(void)
{
	static lzma_stream s = LZMA_STREAM_INIT;

	return lzma_stream_decoder(&s, XZ_MEMORY, 0) == LZMA_OK ? &s : NULL;
}

/* A stream may be padded by zeros, four at a time. */
static void pass_padding(struct buffers *b)
{
	for (; b->nin && !*b->in; b->in++)
		b->nin--;
}

static enum step step_lzma(void *state, struct buffers *b)
{
	lzma_stream *s = state;
	lzma_ret ret;

	s->next_in = b->in;
	s->avail_in = b->nin;
	s->next_out = b->out;
	s->avail_out = b->nout;
	ret = lzma_code(s, LZMA_RUN);
	b->in = s->next_in;
	b->nin = s->avail_in;
	b->nout -= s->avail_out;
	if (ret == LZMA_MEMLIMIT_ERROR || ret == LZMA_MEM_ERROR)
		return STEP_LARGE;
	if (ret == LZMA_STREAM_END) {
		pass_padding(b);
		return lzma_stream_decoder(s, XZ_MEMORY, 0) == LZMA_OK ? STEP_ENDS : STEP_LARGE;
	}
	return ret == LZMA_OK || ret == LZMA_BUF_ERROR ? STEP_GOES_ON : STEP_BAD;
}
#endif

#ifdef HAVE_LZ4
static void *open_lz4(void)
{
	LZ4F_dctx *s;

	return LZ4F_isError(LZ4F_createDecompressionContext(&s, LZ4F_VERSION)) ? NULL : s;
}

static enum step step_lz4(void *state, struct buffers *b)
{
	size_t took = b->nin, n = LZ4F_decompress(state, b->out, &b->nout, b->in, &took, NULL);

	b->in += took;
	b->nin -= took;
	return LZ4F_isError(n) ? STEP_BAD : n ? STEP_GOES_ON : STEP_ENDS;
}
#endif

static void *open_gzip(void)
{
	static z_stream s;

	return inflateInit2(&s, 16 + MAX_WBITS) == Z_OK ? &s : NULL;
}

static enum step step_gzip(void *state, struct buffers *b)
{
	z_stream *s = state;
	int ret;

	s->next_in = (Bytef *)b->in;
	s->avail_in = b->nin;
	s->next_out = b->out;
	s->avail_out = b->nout;
	ret = inflate(s, Z_NO_FLUSH);
	b->in = s->next_in;
	b->nin = s->avail_in;
	b->nout -= s->avail_out;
	if (ret == Z_STREAM_END)
		return inflateReset(s) == Z_OK ? STEP_ENDS : STEP_BAD;
	return ret == Z_OK || ret == Z_BUF_ERROR ? STEP_GOES_ON : STEP_BAD;
}

static const struct decoder decoders[] = {
#ifdef HAVE_ZSTD
	[CORE_ZSTD] = {open_zstd, step_zstd},
#endif
#ifdef HAVE_LZMA
	[CORE_XZ] = {open_lzma, step_lzma},
#endif
#ifdef HAVE_LZ4
	[CORE_LZ4] = {open_lz4, step_lz4},
#endif
	[CORE_GZIP] = {open_gzip, step_gzip},
};

/* ---- the whole ---- */

static enum core_stream_end decode(int fd, const struct decoder *d)
{
	static uint8_t in[1 << 17], out[1 << 18];
	void *state = d->open();
	struct buffers b = {.nin = 0};
	bool within = false; /* a stream has begun, and not ended */
	enum step step;

	if (!state)
		return CORE_STREAM_LARGE;
	for (;;) {
		size_t before;

		if (!b.nin && !b.last) {
			ssize_t n = read(fd, in, sizeof(in));

			b.last = n <= 0;
			b.in = in;
			b.nin = max_of(n, 0);
		}
		before = b.nin;
		b.out = out;
		b.nout = sizeof(out);
		step = before || within ? d->step(state, &b) : STEP_ENDS;
		if (step == STEP_BAD || step == STEP_LARGE)
			return step == STEP_BAD ? CORE_STREAM_BAD : CORE_STREAM_LARGE;
		if (before || within)
			sandbox__write(out, b.nout);
		within = step != STEP_ENDS;
		if (b.last && !b.nin && (!within || !b.nout))
			return within ? CORE_STREAM_CUT : CORE_STREAM_WHOLE;
	}
}

void core_stream__decode(void *ctx, struct str *answer)
{
	const struct core_stream *s = ctx;
	const struct decoder *d = &decoders[s->packing];

	str__putc(answer, s->packing >= ARRAY_SIZE(decoders) || !d->open ? CORE_STREAM_ABSENT
									 : decode(s->fd, d));
}
