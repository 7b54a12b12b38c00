// SPDX-License-Identifier: BSD-2-Clause
/* What holds the probes of programs, or those of the kernel: links and perf events. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "source/probes/maps/filters.h"
#include "source/probes/session.h"
#include "bbtrace.skel.h"

struct bpf_program *probe__program(const struct probe *p, const struct attachment *a)
{
	return a->mechanism ? bpf_object__find_program_by_name(p->skel->obj, a->mechanism->program)
			    : NULL;
}

void attachment__add_link(struct attachment *a, struct bpf_link *link, uint32_t pid, uint32_t part)
{
	vec__push(&a->links, (struct attached){link, pid, part});
}

void attachment__drop_links(struct attachment *a, uint32_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->links.len; i++)
		if (pid && a->links.data[i].pid != pid)
			a->links.data[kept++] = a->links.data[i];
		else
			bpf_link__destroy(a->links.data[i].link);
	a->links.len = kept;
}

void attachment__free(struct attachment *a)
{
	vec__free(&a->links);
	vec__free(&a->events);
}

/* The kernel's information on a BPF program; zeros if there is none. */
static struct bpf_prog_info info_of_program(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (!program || bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &len))
		return (struct bpf_prog_info){0};
	return info;
}

static struct bpf_prog_info info_of(const struct probe *p, const struct attachment *a)
{
	return info_of_program(probe__program(p, a));
}

unsigned probe__verified_insns(const struct probe *p)
{
	return info_of(p, &p->programs).verified_insns + info_of(p, &p->kernel).verified_insns;
}

void probe__mechanisms(const struct source *s, struct str *out)
{
	const struct probe *p = (const struct probe *)s;
	const struct mechanism *programs = p->programs.mechanism, *kernel = p->kernel.mechanism;

	str__printf(out, "%s%s%s", programs ? programs->name : "",
		    programs && kernel ? " and " : "", kernel ? kernel->name : "");
}

bool probe__by_definitions(const struct probe *p)
{
	return p->programs.tracefs >= 0 || p->kernel.tracefs >= 0;
}

struct bpf_program *multi__program(const struct probe *p)
{
	return p->plan->executes ? p->skel->progs.hit_multi_executing : p->skel->progs.hit_multi;
}

/* ---- while probes are attached ---- */

bool probe__find_children(struct probe *p)
{
	bool grown = scope__grow(&p->scope);
	size_t named = p->options->filters.pids.len;

	if (p->scope.kind == SCOPE_DESCENDANTS && p->scope.pids.len > named)
		filters__add_children(p, p->scope.pids.data + named, p->scope.pids.len - named);
	return grown;
}

void probe__attached(const struct probe *p, size_t sites, uint64_t work)
{
	if (p->options->attached)
		p->options->attached(p->options->attached_ctx, sites, work);
}

/* Attaching thousands of definitions takes long. */
bool probe__is_interrupted(const struct probe *p)
{
	return (p->options->interrupted && *p->options->interrupted) || shield__is_orphan();
}
