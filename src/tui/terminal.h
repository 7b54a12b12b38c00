/* SPDX-License-Identifier: BSD-2-Clause */
/* terminal: the terminal that shows a browser and has its keys, by ncurses. */
#ifndef BBTRACE_TUI_TERMINAL_H
#define BBTRACE_TUI_TERMINAL_H

#include "browser.h"

int terminal__check(void);
/* Takes the terminal over; terminal__close() gives it back as it was. Returns 0, or -errno with a
 * message. */
int terminal__open(bool colours);
void terminal__close(void);
/* Passes keys to the browser, and shows it, until it ends. */
int terminal__run(struct browser *b);
/* True if a key was pressed, or ^C. ctx is not used. */
bool terminal__is_wanted(void *ctx);

#endif
