// SPDX-License-Identifier: BSD-2-Clause
/* What the formats of protobuf share: packing, texts. */
#include "message.h"

void message__append(struct str *out, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);

	protobuf_c_message_pack(m, (uint8_t *)str__extend(out, len));
}

char *message__text(const struct output *o, const char *text)
{
	struct str s = {0};

	str__utf8(&s, text);
	if (o->hides_addresses)
		address__hide(&s, false);
	return s.data ? s.data : xstrdup("");
}
