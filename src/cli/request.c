// SPDX-License-Identifier: BSD-2-Clause
/* What several options mean together. */
#include "request.h"

bool request__hides_addresses(const struct request *req)
{
	return !req->show.addresses && rights__user();
}

bool request__begin_stopped(const struct request *req)
{
	return req->when.paused || req->when.control_app || req->when.start_on.len ||
	       req->when.delay_ns;
}

bool request__switches(const struct request *req)
{
	return req->when.control_app || req->when.start_on.len || req->when.stop_on.len;
}
