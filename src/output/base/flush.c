// SPDX-License-Identifier: BSD-2-Clause
/* Writes what is rendered, without kernel addresses if they are hidden, and no wider than the
 * terminal. */
#include "output/output.h"
#include "util/fit.h"

int output__flush(struct output *o)
{
	if (o->hides_addresses && !o->format->binary)
		address__hide(&o->buffer, false);
	if (o->format->cuts)
		fit__lines(&o->buffer, 0, o->options.width);
	if (o->format->wraps)
		fit__wrap_lines(&o->buffer, o->options.width);
	if (!o->error && o->buffer.len)
		o->error = o->write(o->write_ctx, o->buffer.data, o->buffer.len);
	str__clear(&o->buffer);
	return o->error;
}
