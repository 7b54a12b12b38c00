// SPDX-License-Identifier: BSD-2-Clause
/* What waits has copies of all that its source may change. */
#include "source/inline/merge/waiting.h"
#include "tap.h"

static struct str got;

static int on_event(void *ctx, const struct event *e)
{
	str__printf(&got, "%u:%llu %s %llu", e->pid, (unsigned long long)e->time, e->entry->comm,
		    (unsigned long long)e->entry->args[1]);
	return 0;
}

static int on_sideband(void *ctx, const struct sideband_event *e)
{
	str__printf(&got, "%u %s", e->pid, e->text);
	return 7;
}

static int on_lost(void *ctx, uint32_t pid, uint32_t tid, uint64_t count)
{
	str__printf(&got, "%u %u lost %llu", pid, tid, (unsigned long long)count);
	return 0;
}

static const struct source_sink sink = {NULL, on_event, on_sideband, on_lost};

static int give(struct waiting *w)
{
	int result = waiting__give(w, &sink);

	waiting__free(w);
	str__put(&got, "", 0);
	return result;
}

static void test_entry(void)
{
	char comm[8] = "made";
	uint64_t args[EVENT_ARGS] = {5, 6};
	struct event_entry entry = {.comm = comm, .args = args};
	struct waiting *w = waiting__event(
		&(struct event){.time = 3, .pid = 1, .type = EVENT_ENTRY, .entry = &entry});

	strcpy(comm, "gone");
	args[1] = 0;
	entry = (struct event_entry){0};
	is(w->time, 3, "an event waits with its time");
	is(give(w), 0, "it is passed on");
	is_str(got.data, "1:3 made 6", "an entry's name and arguments are copied");
	str__clear(&got);
}

static int on_return(void *ctx, const struct event *e)
{
	for (unsigned i = 0; i < e->nfetched; i++)
		str__printf(&got, "%s%d %s", i ? ", " : "", e->fetched[i].len,
			    (const char *)e->fetched[i].bytes);
	return 0;
}

static void test_fetched(void)
{
	const struct source_sink returns = {.event = on_return};
	struct fetched loaded[] = {{.len = 5, .bytes = "tail"}, {.len = 2, .bytes = "x"}};
	struct waiting *w = waiting__event(&(struct event){
		.type = EVENT_RETURN, .fetched = loaded, .nfetched = ARRAY_SIZE(loaded)});

	memset(loaded, 0, sizeof(loaded));
	waiting__give(w, &returns);
	waiting__free(w);
	is_str(got.data, "5 tail, 2 x", "values that were loaded from memory are copied");
	str__clear(&got);
}

static void test_above(void)
{
	uint64_t above[] = {7, 8};
	struct waiting *w = waiting__event(
		&(struct event){.type = EVENT_SIGNAL, .above = above, .nabove = ARRAY_SIZE(above)});

	above[1] = 0;
	is(w->event.above[1], 8, "the words above a signal's frame are copied");
	waiting__free(w);
}

static void test_sideband(void)
{
	char text[8] = "made";
	struct waiting *w = waiting__sideband(&(struct sideband_event){.pid = 2, .text = text});

	strcpy(text, "gone");
	is(give(w), 7, "what the sink returns is returned");
	is_str(got.data, "2 made", "a sideband event's text is copied");
	str__clear(&got);
}

static void test_lost(void)
{
	give(waiting__lost(3, 4, 5));
	is_str(got.data, "3 4 lost 5", "a loss is passed on");
	str__free(&got);
}

int main(void)
{
	test_entry();
	test_fetched();
	test_above();
	test_sideband();
	test_lost();
	return tap__done();
}
