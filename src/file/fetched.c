// SPDX-License-Identifier: BSD-2-Clause
/* What was loaded for plan->values: it follows a block of events, in their order. */
#include "file/format.h"

/* What is absent has its address. */
static int32_t size_of(int32_t len)
{
	return len == FETCHED_ABSENT ? 8 : max_of(len, 0);
}

/* A record may have less than its site announces: nothing, if nothing was loaded. */
void fetched__put(struct str *out, const struct event *w)
{
	put_number(out, w->fetched ? w->nfetched : 0);
	for (unsigned i = 0; w->fetched && i < w->nfetched; i++) {
		const struct fetched *f = &w->fetched[i];
		int32_t len = min_of(f->len, (int32_t)FETCHED_ROOM);

		put_delta(out, len, 0);
		if (size_of(len))
			str__put(out, (const char *)f->bytes, size_of(len));
	}
}

static void get_one(struct reader *r, struct fetched *f)
{
	int64_t len = get_delta(r, 0);

	*f = (struct fetched){.len = len};
	if (len > FETCHED_ROOM || len < INT32_MIN || r->end - r->at < size_of(len)) {
		r->bad = true;
		f->len = -1;
	} else if (size_of(len)) {
		memcpy(f->bytes, r->at, size_of(len));
		r->at += size_of(len);
	}
}

unsigned fetched__get(struct reader *r, struct fetched *to)
{
	uint64_t n = get_number(r);

	if (n > VALUES_FETCHED) {
		r->bad = true;
		return 0;
	}
	for (uint64_t i = 0; i < n; i++)
		get_one(r, &to[i]);
	return n;
}
