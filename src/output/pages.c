// SPDX-License-Identifier: BSD-2-Clause
/* The bytes that make writes: a list of numbers for each file of src/output/html. */
#include "output/pages.h"

const char page_html[] = {
#include "output/html/page.html.inc"
};

const char page_css[] = {
#include "output/html/page.css.inc"
};

const char page_js[] = {
#include "output/html/page.js.inc"
};

const char timeline_css[] = {
#include "output/html/timeline.css.inc"
};

const char timeline_js[] = {
#include "output/html/timeline.js.inc"
};

const char flame_css[] = {
#include "output/html/flame.css.inc"
};

const char flame_svg[] = {
#include "output/html/flame.svg.inc"
};

const char flame_js[] = {
#include "output/html/flame.js.inc"
};
