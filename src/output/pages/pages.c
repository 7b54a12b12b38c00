// SPDX-License-Identifier: BSD-2-Clause
/* The bytes that make writes: a list of numbers for each file of src/output/pages/html. */
#include "pages.h"

const char page_html[] = {
#include "output/pages/html/page.html.inc"
};

const char page_css[] = {
#include "output/pages/html/page.css.inc"
};

const char page_js[] = {
#include "output/pages/html/page.js.inc"
};

const char timeline_css[] = {
#include "output/pages/html/timeline.css.inc"
};

const char timeline_js[] = {
#include "output/pages/html/timeline.js.inc"
};

const char flame_css[] = {
#include "output/pages/html/flame.css.inc"
};

const char flame_svg[] = {
#include "output/pages/html/flame.svg.inc"
};

const char flame_js[] = {
#include "output/pages/html/flame.js.inc"
};

const char diff_html[] = {
#include "output/pages/html/diff.html.inc"
};

const char diff_css[] = {
#include "output/pages/html/diff.css.inc"
};

const char diff_js[] = {
#include "output/pages/html/diff.js.inc"
};

const char *page__copy(struct str *s, const char *page, struct page_hole *hole)
{
	const char *open = strstr(page, "{{"), *end = open ? strstr(open, "}}") : NULL;

	if (!end) {
		str__puts(s, page);
		return NULL;
	}
	str__put(s, page, open - page);
	*hole = (struct page_hole){open + 2, end - open - 2};
	return end + 2;
}

bool page_hole__is(const struct page_hole *hole, const char *name)
{
	return strlen(name) == hole->len && !strncmp(name, hole->name, hole->len);
}
