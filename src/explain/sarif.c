// SPDX-License-Identifier: BSD-2-Clause
/* Failures as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"): each is a result,
 * with the branch as its location and those on the way as related ones. */
#include <stdlib.h>
#include "explain/message.h"
#include "explain/show.h"

static void put_text(struct json *j, const char *text)
{
	json__key(j, "message");
	json__open_object(j);
	json__member(j, string, "text", text);
	json__close_object(j);
}

/* An absolute path becomes a file URI (RFC 8089); another one a relative reference. */
static void put_uri(struct json *j, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~/";
	autofree struct str uri = {0};

	str__puts(&uri, *path == '/' ? "file://" : "");
	for (; *path; path++)
		str__printf(&uri, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
	json__key(j, "artifactLocation");
	json__open_object(j);
	json__member(j, string, "uri", uri.data ? uri.data : "");
	json__close_object(j);
}

/* With a source the line, else the address in the file. */
static void put_location(struct json *j, const struct output *o, uint32_t function, uint64_t vaddr,
			 const char *text)
{
	uint32_t object = o->plan->functions.data[function].object;
	autofree struct str name = {0};
	struct plan_frame f;
	uint64_t offset = 0;
	const char *own = plan__name_at(o->plan, function, vaddr, &offset);

	show__read_source(o, object);
	str__printf(&name, "%s+0x%llx", own ? own : "?", (unsigned long long)offset);
	json__open_object(j);
	json__key(j, "physicalLocation");
	json__open_object(j);
	if (plan__source(o->plan, object, vaddr, &f) && f.file && f.line) {
		put_uri(j, f.file);
		json__key(j, "region");
		json__open_object(j);
		json__member(j, unsigned, "startLine", f.line);
		json__close_object(j);
	} else {
		put_uri(j, o->plan->objects.data[object].path);
		json__key(j, "address");
		json__open_object(j);
		json__member(j, unsigned, "absoluteAddress", address__shown(o, object, vaddr));
		json__member(j, string, "fullyQualifiedName", name.data);
		json__close_object(j);
	}
	json__close_object(j);
	json__key(j, "logicalLocations");
	json__open_array(j);
	json__open_object(j);
	json__member(j, string, "fullyQualifiedName", name.data);
	json__member(j, string, "kind", "function");
	json__close_object(j);
	json__close_array(j);
	put_text(j, text);
	json__close_object(j);
}

static void put_branch(struct json *j, const struct output *o, const struct verdict *v)
{
	const struct plan_site *s = v->decided ? &o->plan->sites.data[v->branch.site] : NULL;
	autofree struct str text = {0};
	struct step step;

	if (!s) {
		put_location(j, o, v->function, v->choice, "an instruction that chooses");
		return;
	}
	step = show__step_of(o, v);
	str__printf(&text, "%s%s", s->mnemonic ? s->mnemonic : "jmp",
		    !plan_site__is_conditional(s) ? ""
		    : v->branch.taken		  ? " taken"
						  : " not taken");
	if (v->branch.tested.flags & TESTED) {
		str__puts(&text, ": ");
		why__put_text(o, &text, &step);
	} else if (s->compare) {
		str__printf(&text, ": %s", s->compare);
	}
	put_location(j, o, v->function, s->vaddr, text.data);
}

static void begin_result(struct json *j, const char *rule, const char *text)
{
	json__open_object(j);
	json__member(j, string, "ruleId", rule);
	json__member(j, string, "level", "error");
	put_text(j, text);
	json__key(j, "locations");
	json__open_array(j);
}

static void put_other(struct json *j, const struct output *o, const struct verdict *v,
		      const struct item *branch)
{
	struct verdict other;

	if (!branch || branch->site == NO_SITE)
		return;
	other = verdict__of_branch(v, branch);
	put_branch(j, o, &other);
}

/* The branches that decided about what a branch tested. */
#define CAUSES_MOST 10
static void put_causes(struct json *j, const struct output *o, const struct verdict *v)
{
	for (unsigned n = 0; v && n < CAUSES_MOST; n++) {
		put_other(j, o, v, verdict__last_test(v));
		put_other(j, o, v, &v->loop_exit);
		if (v->set)
			put_branch(j, o, v->set);
		if (v->part && verdict__deciding(v->part))
			put_branch(j, o, verdict__deciding(v->part));
		v = v->cause ? verdict__deciding(v->cause) : NULL;
		if (v)
			put_branch(j, o, v);
	}
}

static void related(struct json *j)
{
	json__close_array(j);
	json__key(j, "relatedLocations");
	json__open_array(j);
}

/* v: NULL if nothing decided, as far as is known. */
static void put_deciding(struct json *j, const struct output *o, const struct verdict *v)
{
	const struct verdict *first = verdict__first(v);

	if (first)
		put_branch(j, o, first);
	related(j);
	put_causes(j, o, first);
	if (first == v)
		return;
	put_branch(j, o, v);
	put_causes(j, o, v);
}

static void end_result(struct json *j)
{
	json__close_array(j);
	json__close_object(j);
}

/* Returns true if there was a result before. */
static bool is_next(struct output *o)
{
	return ((struct explain_state *)o->state)->results++;
}

static void put_failure(struct output *o, const struct explained *f)
{
	struct json j = {.out = &o->buffer, .comma = is_next(o)};
	const struct verdict *deciding = verdict__deciding(f->verdict);
	const char *name = show__syscall_of(o->plan, f->verdict->function);
	const char *error = show__errno_name(-(int64_t)(int32_t)f->verdict->value);
	autofree struct str text = {0};

	str__printf(&text, "%s failed with %s",
		    name ? name : o->plan->functions.data[f->verdict->function].name,
		    error ? error : "an error");
	begin_result(&j, "failed-call", text.data);
	put_deciding(&j, o, deciding);
	end_result(&j);
}

static void put_message(struct json *j, struct output *o, const struct message *m)
{
	const struct reached *because = message__because(m), *r;

	if (because)
		put_branch(j, o, because->verdict);
	related(j);
	put_causes(j, o, because ? because->verdict : NULL);
	vec__each (r, &m->reached)
		if (r != because && r->frame >= m->printing.len)
			put_branch(j, o, r->verdict);
}

static void put_status(struct json *j, struct output *o, const struct ending_found *f)
{
	const struct verdict *last = f->chain.len ? *vec__last(&f->chain) : NULL;
	const struct verdict *deciding = last ? verdict__deciding(last) : NULL;

	put_deciding(j, o, deciding);
}

static void put_ending(struct output *o, const struct ending_found *f)
{
	const struct outcomes *all = &((struct explain_state *)o->state)->outcomes;
	const struct explaining *e = o->options.explaining;
	const struct message *m = all->first.text ? &all->first : NULL;
	struct json j = {.out = &o->buffer, .comma = is_next(o)};
	autofree struct str text = {0};

	str__puts(&text, e->command ? e->command : "the command");
	if (e->signal)
		str__printf(&text, " was killed by SIG%s", sigabbrev_np(e->signal) ?: "?");
	else
		str__printf(&text, " exited with %d", e->status);
	if (m) {
		str__puts(&text, ": ");
		str__put(&text, m->text, m->len - (m->len && m->text[m->len - 1] == '\n'));
	}
	begin_result(&j, "ending", text.data);
	if (m && message__because(m))
		put_message(&j, o, m);
	else
		put_status(&j, o, f);
	end_result(&j);
}

/* They have no results of their own: the run says how many there are (sarif__end()). */
static void put_hidden(struct output *o, uint64_t failures)
{
}

const struct shown_as shown_as_sarif = {put_failure, put_ending, put_hidden};

static void put_rule(struct json *j, const char *id, const char *text)
{
	json__open_object(j);
	json__member(j, string, "id", id);
	json__key(j, "shortDescription");
	json__open_object(j);
	json__member(j, string, "text", text);
	json__close_object(j);
	json__close_object(j);
}

void sarif__begin(struct output *o)
{
	struct json j = {.out = &o->buffer};

	json__open_object(&j);
	json__member(&j, string, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json__member(&j, string, "version", "2.1.0");
	json__key(&j, "runs");
	json__open_array(&j);
	json__open_object(&j);
	json__key(&j, "tool");
	json__open_object(&j);
	json__key(&j, "driver");
	json__open_object(&j);
	json__member(&j, string, "name", "bbtrace");
	json__member(&j, string, "version", BBTRACE_VERSION);
	json__key(&j, "rules");
	json__open_array(&j);
	put_rule(&j, "ending", "The branch by which a command ended badly.");
	put_rule(&j, "failed-call", "The branch by which a system call failed.");
	json__close_array(&j);
	json__close_object(&j);
	json__close_object(&j);
	json__key(&j, "results");
	json__open_array(&j);
}

void sarif__end(struct output *o)
{
	const struct explain_state *s = o->state;

	str__printf(&o->buffer, "],\"properties\":{\"hiddenFailures\":%llu}}]}\n",
		    (unsigned long long)s->hidden);
}
