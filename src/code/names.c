// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that are known by name not to return. Flow analysis finds most of those in the object
 * itself. Names are for imported functions, and for those whose end flow analysis can't follow
 * (longjmp, unwinding).
 */
#include "code/code.h"

enum where {
	IMPORTED, /* only for PLT stubs: the name isn't reserved, so a program may have its own
		   */
	ANYWHERE, /* names that belong to the C implementation or the language */
	KERNEL,
};

struct name {
	const char *text; /* * matches anything */
	enum where where;
};

static const struct name names[] = {
	{"abort", ANYWHERE},
	{"exit", ANYWHERE},
	{"_exit", ANYWHERE},
	{"_Exit", ANYWHERE},
	{"quick_exit", ANYWHERE},
	{"__stack_chk_fail", ANYWHERE},
	{"__stack_chk_fail_local", ANYWHERE},
	{"__assert_fail", ANYWHERE},
	{"__assert_perror_fail", ANYWHERE},
	{"__assert", ANYWHERE},
	{"__fortify_fail", ANYWHERE},
	{"__chk_fail", ANYWHERE},
	{"__libc_fatal", ANYWHERE},
	{"longjmp", ANYWHERE},
	{"_longjmp", ANYWHERE},
	{"siglongjmp", ANYWHERE},
	{"__longjmp", ANYWHERE},
	{"__longjmp_chk", ANYWHERE},
	{"__libc_siglongjmp", ANYWHERE},
	{"__libc_longjmp", ANYWHERE},
	{"_Unwind_Resume", ANYWHERE},
	{"__pthread_unwind", ANYWHERE},
	{"__pthread_unwind_next", ANYWHERE},
	{"__cxa_throw", ANYWHERE},
	{"__cxa_rethrow", ANYWHERE},
	{"__cxa_bad_cast", ANYWHERE},
	{"__cxa_bad_typeid", ANYWHERE},
	{"__cxa_throw_bad_array_new_length", ANYWHERE},
	{"__cxa_throw_bad_array_length", ANYWHERE},
	{"__cxa_call_unexpected", ANYWHERE},
	{"__cxa_call_terminate", ANYWHERE},
	{"__cxa_pure_virtual", ANYWHERE},
	{"__cxa_deleted_virtual", ANYWHERE},
	{"__clang_call_terminate", ANYWHERE},
	{"_ZSt9terminatev", ANYWHERE},
	{"_ZSt10unexpectedv", ANYWHERE},
	{"_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE", ANYWHERE},
	{"_ZSt*__throw_*", ANYWHERE},
	{"__ubsan_handle_*_abort", ANYWHERE},
	{"__ubsan_handle_builtin_unreachable", ANYWHERE},
	{"__ubsan_handle_missing_return", ANYWHERE},
	{"__asan_report_*", IMPORTED},
	{"_ZN4core9panicking*", ANYWHERE},
	{"_ZN3std9panicking20rust_panic_with_hook*", ANYWHERE},
	{"_ZN3std9panicking11begin_panic*", ANYWHERE},
	{"_ZN3std7process5abort*", ANYWHERE},
	{"_ZN3std7process4exit*", ANYWHERE},
	{"_ZN5alloc5alloc18handle_alloc_error*", ANYWHERE},
	{"caml_raise_exn", ANYWHERE},
	{"caml_raise_exception", ANYWHERE},
	{"rust_begin_unwind", ANYWHERE},
	{"rust_panic", ANYWHERE},
	{"pthread_exit", IMPORTED},
	{"thrd_exit", IMPORTED},
	{"err", IMPORTED},
	{"errx", IMPORTED},
	{"errc", IMPORTED},
	{"verr", IMPORTED},
	{"verrx", IMPORTED},
	{"verrc", IMPORTED},
	{"g_assertion_message", IMPORTED},
	{"g_assertion_message_expr", IMPORTED},
	{"g_abort", IMPORTED},
	{"Perl_croak*", IMPORTED},
	{"Perl_die*", IMPORTED},
	{"Perl_my_exit", IMPORTED},
	{"Perl_my_failure_exit", IMPORTED},
	{"panic", KERNEL},
	{"nmi_panic", KERNEL},
	{"do_exit", KERNEL},
	{"do_group_exit", KERNEL},
	{"make_task_dead", KERNEL},
	{"do_task_dead", KERNEL},
	{"kthread_exit", KERNEL},
	{"kthread_complete_and_exit", KERNEL},
	{"__kthread_exit", KERNEL},
	{"__module_put_and_kthread_exit", KERNEL},
	{"__stack_chk_fail", KERNEL},
	{"fortify_panic", KERNEL},
	{"__fortify_panic", KERNEL},
	{"__ubsan_handle_*_abort", KERNEL},
	{"__ubsan_handle_builtin_unreachable", KERNEL},
	{"rewind_stack_and_make_dead", KERNEL},
	{"rewind_stack_do_exit", KERNEL},
	{"machine_real_restart", KERNEL},
	{"stop_this_cpu", KERNEL},
	{"cpu_startup_entry", KERNEL},
	{"start_kernel", KERNEL},
	{"rest_init", KERNEL},
	{"arch_cpu_idle_dead", KERNEL},
	{"hlt_play_dead", KERNEL},
	{"snp_abort", KERNEL},
	{"sev_es_terminate", KERNEL},
	{"x86_64_start_kernel", KERNEL},
	{"x86_64_start_reservations", KERNEL},
	{"lbug_with_loc", KERNEL},
	{"usercopy_abort", KERNEL},
};

/* * matches anything; names have at most two, which keeps this fast */
static bool matches(const char *pattern, const char *text, size_t len)
{
	const char *star = strchr(pattern, '*');
	size_t head = star ? (size_t)(star - pattern) : strlen(pattern);

	if (len < head || memcmp(pattern, text, head))
		return false;
	if (!star)
		return len == head;
	if (!star[1])
		return true;
	for (size_t i = head; i <= len; i++)
		if (matches(star + 1, text + i, len - i))
			return true;
	return false;
}

static bool known(const char *text, size_t len, bool imported, bool kernel)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		enum where where = names[i].where;

		if (kernel ? where != KERNEL : where == KERNEL || (where == IMPORTED && !imported))
			continue;
		/* fast path: nearly all differ in the first letter */
		if (names[i].text[0] == text[0] && matches(names[i].text, text, len))
			return true;
	}
	return false;
}

bool names__noreturn(const struct object *o, uint64_t addr, bool kernel)
{
	for (size_t i = object__symbols_from(o, addr);
	     i < o->symbols.len && o->symbols.data[i].vaddr == addr; i++) {
		const struct symbol *s = &o->symbols.data[i];
		size_t len = strlen(s->name);
		bool stub = s->type == SYMBOL_PLT;

		if (stub && len > 4 && !strcmp(s->name + len - 4, "@plt"))
			len -= 4;
		if (known(s->name, len, stub, kernel))
			return true;
	}
	return false;
}
