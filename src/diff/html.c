// SPDX-License-Identifier: BSD-2-Clause
#include "diff/view.h"

void diff__html(const struct diff_view *v, struct str *out)
{
}
