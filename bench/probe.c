// SPDX-License-Identifier: BSD-2-Clause
/*
 * Yardsticks. `empty`: the cost of the traps alone, uprobes with a BPF program that returns 0.
 * `records`: bbtrace's own BPF program and ring, with a reader that only counts. Both use
 * uprobe_multi and a PID filter, as bbtrace does.
 *
 *   probe link ID                                   prints the link's FILE and SITES
 *   probe empty FILE SITES -- CMD ARG...            SITES: OFFSET[=COOKIE[:WORD]],...
 *   probe records:OBJECT FILE SITES -- CMD ARG...   OBJECT: bbtrace.bpf.o; cookies, and words of
 *                                                   its map of sites, as in wire.h
 */
#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "../bpf/wire.h"

#define RING_SIZE (16u << 20)
/* include/uapi/linux/bpf.h since 6.6: enum bpf_attach_type, newer than the headers of Debian 12 */
#define TRACE_UPROBE_MULTI 48

#define LINK_TYPE_UPROBE_MULTI 12

/* The same header, since 6.8: struct bpf_link_info as far as uprobe_multi needs it. */
struct link_info {
	__u32 type, id, prog_id, pad;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 path_size, count, flags, pid;
};

struct sites {
	unsigned long *offsets;
	__u64 *cookies, *words;
	size_t n;
};

static void die(const char *what)
{
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sites parse_sites(const char *list)
{
	size_t most = strlen(list) + 1;
	struct sites s = {calloc(most, 8), calloc(most, 8), calloc(most, 8), 0};
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		s.offsets[s.n] = strtoul(list, &end, 0);
		if (*end == '=')
			s.cookies[s.n] = strtoull(end + 1, &end, 0);
		if (*end == ':')
			s.words[s.n] = strtoull(end + 1, &end, 0);
		if (*end && *end != ',') {
			errno = EINVAL;
			die(list);
		}
		s.n++;
	}
	return s;
}

/* Waits in the child until the probes are there. */
static pid_t prepare(char **command, int *go)
{
	int gate[2];
	pid_t pid;
	char byte;

	if (pipe(gate))
		die("pipe");
	pid = fork();
	if (pid) {
		close(gate[0]);
		*go = gate[1];
		return pid;
	}
	close(gate[1]);
	if (read(gate[0], &byte, 1) != 1)
		_exit(1);
	close(gate[0]);
	execvp(command[0], command);
	die(command[0]);
	return 0;
}

static int load_empty(void)
{
	/* r0 = 0; exit */
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = TRACE_UPROBE_MULTI);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "empty", "Dual BSD/GPL", insns, 2, &o);

	if (fd < 0)
		die("load");
	return fd;
}

/* The size of the map of sites, whose key is the cookie's low part. */
static __u32 site_count(const struct sites *s)
{
	__u32 n = 0;

	for (size_t i = 0; i < s->n; i++)
		if ((s->cookies[i] & WIRE_SITE_MASK) >= n)
			n = (s->cookies[i] & WIRE_SITE_MASK) + 1;
	return n;
}

static void fill_sites(struct bpf_object *object, const struct sites *s)
{
	int map = bpf_map__fd(bpf_object__find_map_by_name(object, "sites"));

	for (size_t i = 0; i < s->n; i++) {
		__u32 site = s->cookies[i] & WIRE_SITE_MASK;

		if (bpf_map_update_elem(map, &site, &s->words[i], BPF_ANY))
			die("sites");
	}
}

static void configure(struct bpf_object *object, pid_t pid, const struct sites *s)
{
	struct wire_config config = {
		.filters = FILTER_PID | FILTER_COMMAND,
		.self = getpid(),
		.command = pid,
		.pid = pid,
		.compact = 1,
		.wakeup = RING_SIZE / 4,
	};
	struct bpf_program *program;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata") &&
		    bpf_map__set_initial_value(map, &config, sizeof(config)))
			die("configuration");
	}
	bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "ring"), RING_SIZE);
	bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "sites"), site_count(s));
	bpf_object__for_each_program(program, object) bpf_program__set_autoload(
		program, !strcmp(bpf_program__name(program), "hit_multi") ||
				 !strcmp(bpf_program__name(program), "on_exec"));
}

static int load_records(const char *path, pid_t pid, const struct sites *s,
			struct bpf_object **object)
{
	struct bpf_program *hit, *on_exec;

	*object = bpf_object__open_file(path, NULL);
	if (!*object)
		die(path);
	configure(*object, pid, s);
	if (bpf_object__load(*object))
		die(path);
	fill_sites(*object, s);
	hit = bpf_object__find_program_by_name(*object, "hit_multi");
	on_exec = bpf_object__find_program_by_name(*object, "on_exec");
	if (!hit || !on_exec || !bpf_program__attach(on_exec))
		die(path);
	return bpf_program__fd(hit);
}

static void attach(int program, pid_t pid, const char *path, const struct sites *s)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .uprobe_multi.path = path,
		    .uprobe_multi.offsets = s->offsets, .uprobe_multi.cookies = s->cookies,
		    .uprobe_multi.cnt = s->n, .uprobe_multi.pid = pid);

	if (bpf_link_create(program, 0, TRACE_UPROBE_MULTI, &o) < 0)
		die("attach");
}

static __u64 records, bytes;

static int count(void *ctx, void *data, size_t size)
{
	records++;
	bytes += size;
	return 0;
}

static void read_ring(struct bpf_object *object, pid_t pid, int *status)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "ring");
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(map), count, NULL, NULL);
	bool ended;

	if (!ring)
		die("ring");
	do {
		ended = waitpid(pid, status, WNOHANG) == pid;
		ring_buffer__poll(ring, ended ? 0 : 100);
		ring_buffer__consume(ring);
	} while (!ended);
	fprintf(stderr, "probe: %llu records, %llu bytes\n", records, bytes);
}

/* The map of sites of bbtrace's program: -1, there is none. */
static int find_site_words(__u32 prog_id)
{
	int prog = bpf_prog_get_fd_by_id(prog_id);
	struct bpf_prog_info info = {0};
	__u32 ids[64], len = sizeof(info);

	info.map_ids = (__u64)ids;
	info.nr_map_ids = 64;
	if (prog < 0 || bpf_obj_get_info_by_fd(prog, &info, &len))
		return -1;
	for (__u32 i = 0; i < info.nr_map_ids && i < 64; i++) {
		struct bpf_map_info map = {0};
		int fd = bpf_map_get_fd_by_id(ids[i]);

		len = sizeof(map);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len) &&
		    !strcmp(map.name, "sites"))
			return fd;
		close(fd);
	}
	return -1;
}

static int show_link(__u32 id)
{
	int fd = bpf_link_get_fd_by_id(id);
	struct link_info info = {0};
	__u64 *offsets, *cookies, word;
	int words;
	char path[4096] = "";
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		die("bpf_obj_get_info_by_fd");
	offsets = calloc(info.count, 8);
	cookies = calloc(info.count, 8);
	if (info.type != LINK_TYPE_UPROBE_MULTI || !offsets || !cookies) {
		errno = EINVAL;
		die("link");
	}
	info.path = (__u64)path;
	info.path_size = sizeof(path);
	info.offsets = (__u64)offsets;
	info.cookies = (__u64)cookies;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		die("bpf_obj_get_info_by_fd");
	words = find_site_words(info.prog_id);
	if (words < 0)
		die("the program's map of sites");
	printf("%s\n", path);
	for (__u32 i = 0; i < info.count; i++) {
		__u32 site = cookies[i] & WIRE_SITE_MASK;

		if (bpf_map_lookup_elem(words, &site, &word))
			die("a site");
		printf("%s0x%llx=0x%llx:0x%llx", i ? "," : "", offsets[i], cookies[i], word);
	}
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = NULL;
	int program, go, status = 0;
	struct sites sites;
	pid_t pid;

	if (argc == 3 && !strcmp(argv[1], "link"))
		return show_link(strtoul(argv[2], NULL, 0));
	if (argc < 6 || strcmp(argv[4], "--")) {
		fprintf(stderr,
			"usage: probe link ID | empty|records:OBJECT FILE SITES -- CMD ARG...\n");
		return 2;
	}
	sites = parse_sites(argv[3]);
	pid = prepare(argv + 5, &go);
	program = strcmp(argv[1], "empty")
			  ? load_records(strchr(argv[1], ':') + 1, pid, &sites, &object)
			  : load_empty();
	attach(program, pid, argv[2], &sites);
	if (write(go, "", 1) != 1)
		die("start");
	if (object)
		read_ring(object, pid, &status);
	else
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
