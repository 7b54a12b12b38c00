// SPDX-License-Identifier: BSD-2-Clause
/* The commands add and remove. */
#include "control.h"
#include "session/growth.h"
#include "util/json.h"

static void put_text(const struct growth_change *g, const struct plan *p, struct str *out)
{
	str__printf(out, "%zu function%s, %zu probe%s attached, %zu detached", g->functions,
		    g->functions == 1 ? "" : "s", g->attached, g->attached == 1 ? "" : "s",
		    g->detached);
	if (g->refused)
		str__printf(out, ", %zu refused by the kernel", g->refused);
	str__printf(out, "; %u probes, %u skipped\n", p->probes, p->skipped);
}

static void put_json(const struct growth_change *g, const struct plan *p, struct str *out)
{
	struct json j = {.out = out};

	json__open_object(&j);
	json__member(&j, unsigned, "functions", g->functions);
	json__member(&j, unsigned, "attached", g->attached);
	json__member(&j, unsigned, "detached", g->detached);
	json__member(&j, unsigned, "refused", g->refused);
	json__member(&j, unsigned, "probes", p->probes);
	json__member(&j, unsigned, "skipped", p->skipped);
	json__close_object(&j);
	str__putc(out, '\n');
}

static int change(struct control *c, const char *text, struct str *answer,
		  int (*fn)(struct growth *g, const char *text, struct growth_change *out))
{
	struct growth_change changed;
	int err = fn(c->growth, text, &changed);

	c->recording->failed = c->growth->failed;
	if (err)
		return err;
	(c->json ? put_json : put_text)(&changed, c->plan, answer);
	return 0;
}

int control__add(struct control *c, const char *text, struct str *answer)
{
	return change(c, text, answer, growth__add);
}

int control__remove(struct control *c, const char *text, struct str *answer)
{
	return change(c, text, answer, growth__remove);
}
