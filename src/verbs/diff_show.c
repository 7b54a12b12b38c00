// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "pipeline/source_lines.h"
#include "diff_show.h"
#include "pipeline/render.h"
#include "util/fit.h"

int diff_show(const struct request *req, struct diff_view *v,
	      void (*fn)(void *ctx, enum output_form form, struct str *out), void *ctx)
{
	CLEANUP(sink__close) struct sink sink = {.fd = -1};
	autofree struct str out = {0};
	int err = sink__open(&sink, req->show.output, NULL);

	if (err)
		return err;
	sink__ignore_signals();
	v->color = strcmp(req->show.color, "auto") ? !strcmp(req->show.color, "always")
						   : sink.is_terminal;
	v->hide_addresses = request__hides_addresses(req);
	v->source = source_lines__line;
	v->source_ctx = source_lines__new(0);
	fn(ctx, output__form(req->show.format), &out);
	source_lines__free(v->source_ctx);
	if (output__form(req->show.format) == FORM_TEXT)
		fit__lines(&out, 0, sink.width);
	err = sink__begin(&sink);
	if (!err && out.len)
		err = sink__write(&sink, out.data, out.len);
	return err == -EPIPE && sink.reader_gone ? 0 : err;
}
