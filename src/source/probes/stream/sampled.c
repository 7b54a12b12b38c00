// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples that the kernel added up: an event each, which counts as often. Their frames are found by
 * the mappings of the process, so they are passed on before these are forgotten.
 */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/session.h"
#include "bbtrace.skel.h"

struct table {
	struct wire_sampled_key *keys;
	struct wire_sampled *values;
	uint32_t n;
};

static int read_all(const struct probe *p, struct table *t)
{
	int fd = bpf_map__fd(p->skel->maps.sampled);
	uint32_t most = bpf_map__max_entries(p->skel->maps.sampled), at;

	t->keys = xcalloc(most, sizeof(*t->keys));
	t->values = xcalloc(most, sizeof(*t->values));
	t->n = most;
	/* ENOENT: these are all */
	if (!bpf_map_lookup_batch(fd, NULL, &at, t->keys, t->values, &t->n, NULL) ||
	    errno == ENOENT)
		return 0;
	return err__set(errno, "cannot read the samples: %s", strerror(errno));
}

/* Returns the number of frames. */
static unsigned read_stack(const struct probe *p, int32_t id, uint64_t *frames)
{
	uint64_t ips[WIRE_SAMPLED_FRAMES];
	unsigned n = 0;

	if (id < 0 || bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.sampled_stacks), &id, ips))
		return 0;
	while (n < WIRE_SAMPLED_FRAMES && ips[n])
		n++;
	memcpy(frames, ips, n * sizeof(*ips));
	return n;
}

static uint8_t end_of(unsigned frames)
{
	return frames == WIRE_SAMPLED_FRAMES ? STACK_LIMIT : STACK_WHOLE;
}

static int give(const struct probe *p, const struct wire_sampled_key *key,
		const struct wire_sampled *s, uint64_t time, const struct source_sink *sink)
{
	uint64_t frames[NAMED_FRAMES], period = s->periods / s->count;
	struct event_named n = {
		.which = key->which,
		.count = s->count,
		.ip = s->ip,
		.kernel = s->kernel,
		.comm = s->comm,
		.data = (const uint8_t *)&period,
		.len = sizeof(period),
		.stack = frames,
	};
	struct event e = {
		.time = time,
		.pid = key->pid,
		.tid = key->tid,
		.cpu = key->cpu,
		.site = NO_SITE,
		.type = EVENT_NAMED,
		.named = &n,
	};

	n.nkernel = read_stack(p, key->kernel_stack, frames);
	n.nuser = read_stack(p, key->user_stack, frames + n.nkernel);
	n.kernel_end = end_of(n.nkernel);
	n.user_end = end_of(n.nuser);
	return sink->event(sink->ctx, &e);
}

/* Samples that came later are of the next program. */
int sampled__give(struct probe *p, uint32_t pid, uint64_t time, const struct source_sink *sink)
{
	struct table t = {0};
	int err = p->options->adds_up ? read_all(p, &t) : 0;

	for (uint32_t i = 0; !err && i < t.n; i++) {
		if (pid && (t.keys[i].pid != pid || t.values[i].time > time))
			continue;
		bpf_map_delete_elem(bpf_map__fd(p->skel->maps.sampled), &t.keys[i]);
		err = give(p, &t.keys[i], &t.values[i], time, sink);
	}
	free(t.keys);
	free(t.values);
	return err;
}
