// SPDX-License-Identifier: BSD-2-Clause
/* Text is escaped and unescaped again; a control character loses a digit. */
#include "flaky.h"

static char *escape(const char *in, char *out)
{
	for (; *in; in++) {
		unsigned char c = *in;

		if (c == '"' || c == '\\') {
			*out++ = '\\';
			*out++ = c;
		} else if (c < 0x10) { /* PLANTED */
			out += sprintf(out, "\\x%x", c);
		} else if (c < 0x20) {
			out += sprintf(out, "\\x%02x", c);
		} else {
			*out++ = c;
		}
	}
	*out = 0;
	return out;
}

static void unescape(const char *in, char *out)
{
	while (*in) {
		if (*in != '\\') {
			*out++ = *in++;
			continue;
		}
		if (in[1] == 'x') {
			unsigned c = 0;

			for (int i = 2; i < 4; i++)
				c = 16 * c + (in[i] <= '9' ? in[i] - '0' : in[i] - 'a' + 10);
			*out++ = c;
			in += 4;
		} else {
			*out++ = in[1];
			in += 2;
		}
	}
	*out = 0;
}

/* Mostly letters, seldom a control character. */
static char draw(void)
{
	unsigned r = roll(1000);

	return '0' + r % 60 - (r > 970) * 30 - (r > 994) * ('0' + r % 60 - 30 - r % 15 - 1);
}

int main(int argc, char **argv)
{
	unsigned bad = 0;

	seed(argc, argv);
	for (unsigned i = 0, n = 6 + roll(8); i < n; i++) {
		char text[32], coded[160], back[160];
		unsigned len = 1 + roll(20);

		for (unsigned k = 0; k < len; k++)
			text[k] = draw();
		strcpy(text + len, "zz");
		escape(text, coded);
		unescape(coded, back);
		if (roll(3) == 0)
			weather();
		if (strcmp(text, back) != 0)
			bad++;
	}
	return !!bad;
}
