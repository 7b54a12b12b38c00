// SPDX-License-Identifier: BSD-2-Clause
/* What options mean together. */
#include "args.h"

bool args__hides_addresses(const struct args *a)
{
	return !a->addresses && rights__user();
}

bool args__begin_stopped(const struct args *a)
{
	return a->paused || a->control_app || a->start_on.len || a->delay_ns;
}

bool args__switches(const struct args *a)
{
	return a->control_app || a->start_on.len || a->stop_on.len;
}
