// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <linux/types.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "../bpf/wire_named.h"
#include "outcomes.h"
#include "pipeline/syscall_names.h"
#include "types/types.h"

static void add_field(struct plan *p, const char *name, size_t offset, uint32_t size,
		      enum named_type kind, uint8_t known)
{
	plan__add_field(p, &(struct plan_field){.name = name,
						.type = kind == TYPE_BYTES ? "char[]" : "long",
						.offset = offset,
						.size = size,
						.kind = kind,
						.known = known});
}

void outcomes__plan(struct plan *p)
{
	static const char *const args[WIRE_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	static const char *const texts[OUTCOME_TEXTS] = {"text0", "text1"};

	plan__add_named(p, NAMED_OUTCOME, "outcome");
	add_field(p, "number", offsetof(struct wire_outcome, number), 8, TYPE_UNSIGNED, 0);
	add_field(p, "result", offsetof(struct wire_outcome, result), 8, TYPE_SIGNED, 0);
	for (unsigned i = 0; i < WIRE_ARGS; i++)
		add_field(p, args[i], offsetof(struct wire_outcome, args) + 8 * i, 8, TYPE_HEX, 0);
	for (unsigned i = 0; i < OUTCOME_TEXTS; i++)
		add_field(p, texts[i], offsetof(struct wire_outcome, text) + OUTCOME_TEXT * i,
			  OUTCOME_TEXT, TYPE_BYTES, 1 + i);
}

static const struct {
	const char *name;
	uint32_t texts;
} others[] = {
	{"write", OUTCOME_OUTPUT}, {"writev", OUTCOME_VECTOR}, {"connect", OUTCOME_ADDRESS},
	{"bind", OUTCOME_ADDRESS}, {"wait4", OUTCOME_WAIT},    {"getsockopt", OUTCOME_SOCKET},
};

const uint32_t *outcomes__texts(void)
{
	static uint32_t texts[OUTCOME_CALLS];
	static bool made;

	for (uint32_t i = 0; !made && i < OUTCOME_CALLS; i++) {
		const char *name = syscall__name(i);

		texts[i] = name ? types__syscall_texts(name) & (OUTCOME_OUTPUT - 1) : 0;
		for (size_t k = 0; name && k < ARRAY_SIZE(others); k++)
			if (!strcmp(name, others[k].name))
				texts[i] = others[k].texts;
	}
	made = true;
	return texts;
}

uint32_t outcomes__texts_of(uint64_t number)
{
	const char *name = syscall__name(number);

	return name ? types__syscall_texts(name) : 0;
}

uint64_t outcomes__outputs_most(void)
{
	return OUTPUTS_MOST;
}

bool outcomes__is_own_signal(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP || signal == SIGSYS || signal == SIGABRT;
}

bool outcomes__is_wait(uint64_t number)
{
	return number < OUTCOME_CALLS && outcomes__texts()[number] == OUTCOME_WAIT;
}

bool outcomes__put_address(const void *bytes, size_t len, struct str *out)
{
	const struct sockaddr_un *un = bytes;
	const struct sockaddr_in *in = bytes;
	const struct sockaddr_in6 *in6 = bytes;
	char text[INET6_ADDRSTRLEN];

	if (len < sizeof(un->sun_family))
		return false;
	if (un->sun_family == AF_UNIX) {
		autofree char *path = xstrndup(un->sun_path, len - sizeof(un->sun_family));

		str__putc(out, '"');
		str__shown(out, path);
		str__putc(out, '"');
	} else if (un->sun_family == AF_INET && len >= sizeof(*in)) {
		str__printf(out, "%s:%u", inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)),
			    ntohs(in->sin_port));
	} else if (un->sun_family == AF_INET6 && len >= sizeof(*in6)) {
		str__printf(out, "[%s]:%u",
			    inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)),
			    ntohs(in6->sin6_port));
	} else {
		return false;
	}
	return true;
}

bool outcomes__put_arguments(uint64_t number, const uint64_t *args, struct str *out)
{
	if (number >= OUTCOME_CALLS || outcomes__texts()[number] != OUTCOME_SOCKET ||
	    args[1] != OUTCOME_SOL_SOCKET || args[2] != OUTCOME_SO_ERROR)
		return false;
	str__printf(out, "%d, SO_ERROR", (int)args[0]);
	return true;
}
