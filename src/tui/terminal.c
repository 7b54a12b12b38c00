// SPDX-License-Identifier: BSD-2-Clause
/*
 * ncurses is used if its header was there when bbtrace was built (HAVE_NCURSES). The library is
 * loaded when it is needed first: few runs are. It restores the terminal when a signal ends or
 * suspends the program (SIGTERM, SIGTSTP), and reports a new size as a key.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "terminal.h"

static int check_streams(void)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err__set(ENOTTY,
				"--tui needs a terminal for its keys and its screen, and %s "
				"is none; without --tui, report writes the trace as text",
				isatty(STDIN_FILENO) ? "stdout" : "stdin");
	if (!name || !*name || !strcmp(name, "dumb"))
		return err__set(ENOTTY,
				"--tui needs a terminal that can move its cursor, and TERM "
				"is %s; without --tui, report writes the trace as text",
				name && *name ? name : "not set");
	return 0;
}

#ifdef HAVE_NCURSES

#define NCURSES_NOMACROS	 1
#define NCURSES_WIDECHAR	 1
#define NCURSES_ENABLE_STDBOOL_H 1
#include <ncurses.h>

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x
#define LIBRARY	    "libncursesw.so." TEXT_OF(NCURSES_VERSION_MAJOR)

/* clang-format off */ /* one per line */
#define FUNCTIONS(f) \
	f(newterm) f(delscreen) f(endwin) f(cbreak) f(noecho) f(nonl) f(keypad) f(set_escdelay) \
	f(curs_set) f(start_color) f(use_default_colors) f(has_colors) f(init_pair) f(wget_wch) \
	f(wmove) f(wattr_set) f(waddnwstr) f(wrefresh) f(clearok) f(getmaxx) f(getmaxy) f(resizeterm) f(wtimeout)
/* clang-format on */

#define NAME(function) #function,
static const char *const names[] = {FUNCTIONS(NAME) "stdscr"};

static struct {
#define POINTER(function) typeof(&(function)) function##_;
	FUNCTIONS(POINTER)
	WINDOW **stdscr_;
} nc;

static struct {
	FILE *out;
	SCREEN *screen;
	WINDOW *window;
	bool colours;
	struct grid grid;
	struct sigaction old_interrupt;
} terminal;

static volatile sig_atomic_t interrupted;

static int load(void)
{
	void *found[ARRAY_SIZE(names)];
	size_t i = 0;

	if (!library__load(LIBRARY, names, found, ARRAY_SIZE(names)))
		return err__set(ENOENT,
				"--tui needs %s: install libncursesw6; without --tui, "
				"report writes the trace as text",
				LIBRARY);
#define FIND(function) nc.function##_ = (typeof(nc.function##_))found[i++];
	FUNCTIONS(FIND)
	nc.stdscr_ = found[i];
	return 0;
}

int terminal__check(void)
{
	int err = check_streams();

	return err ? err : load();
}

/* ---- opening and closing ---- */

static void on_interrupt(int signal)
{
	interrupted = 1;
}

/* Without SA_RESTART: it has to end the wait for a key. */
static void catch_interrupt(void)
{
	struct sigaction a = {.sa_handler = on_interrupt};

	interrupted = 0;
	sigaction(SIGINT, &a, &terminal.old_interrupt);
}

static void open_colours(bool wanted)
{
	static const short colours[LOOK_COLOURS] = {
		[LOOK_GREEN] = COLOR_GREEN,
		[LOOK_CYAN] = COLOR_CYAN,
		[LOOK_YELLOW] = COLOR_YELLOW,
		[LOOK_RED] = COLOR_RED,
	};

	terminal.colours = wanted && nc.has_colors_() && nc.start_color_() != ERR &&
			   nc.use_default_colors_() != ERR;
	for (short i = 1; terminal.colours && i < LOOK_COLOURS; i++)
		nc.init_pair_(i, colours[i], -1);
}

int terminal__open(bool colours)
{
	int err = terminal__check();

	if (err)
		return err;
	setlocale(LC_CTYPE, "");
	terminal.out = fdopen(dup(STDOUT_FILENO), "w"); /* stdout fits lines */
	terminal.screen = terminal.out ? nc.newterm_(NULL, terminal.out, stdin) : NULL;
	if (!terminal.screen)
		return err__set(ENOTTY,
				"--tui: no description of the terminal '%s' was found; "
				"TERM=xterm may do, or report without --tui",
				getenv("TERM"));
	terminal.window = *nc.stdscr_;
	nc.cbreak_();
	nc.noecho_();
	nc.nonl_();
	nc.set_escdelay_(50);
	nc.keypad_(terminal.window, true);
	nc.wtimeout_(terminal.window, 0); /* wait_for_key() waits */
	nc.curs_set_(0);
	open_colours(colours);
	catch_interrupt();
	return 0;
}

void terminal__close(void)
{
	nc.curs_set_(1);
	nc.endwin_();
	nc.delscreen_(terminal.screen);
	fclose(terminal.out);
	sigaction(SIGINT, &terminal.old_interrupt, NULL);
	grid__free(&terminal.grid);
}

/* ---- showing ---- */

static attr_t attributes_of(unsigned look)
{
	attr_t a = A_NORMAL;

	if (look & LOOK_DIM)
		a |= A_DIM;
	if (look & LOOK_BOLD)
		a |= A_BOLD;
	if (look & (LOOK_REVERSE | LOOK_FOUND))
		a |= A_REVERSE;
	if ((look & LOOK_REVERSE) && (look & LOOK_FOUND))
		a |= A_UNDERLINE | A_BOLD;
	return a;
}

/* Cells of one look at a time. */
static void show_row(const struct grid *g, unsigned row)
{
	const struct cell *cells = g->cells + (size_t)row * g->width;
	wchar_t *text = xcalloc(g->width + 1, sizeof(*text));

	nc.wmove_(terminal.window, (int)row, 0);
	for (unsigned i = 0, end; i < g->width; i = end) {
		unsigned look = cells[i].look;
		int n = 0;

		for (end = i; end < g->width && cells[end].look == look; end++)
			if (cells[end].ch)
				text[n++] = cells[end].ch;
		nc.wattr_set_(terminal.window, attributes_of(look),
			      terminal.colours ? (short)(look & LOOK_COLOUR) : 0, NULL);
		nc.waddnwstr_(terminal.window, text, n);
	}
	free(text);
}

static void show(struct browser *b)
{
	int width = nc.getmaxx_(terminal.window), height = nc.getmaxy_(terminal.window);
	struct grid *g = &terminal.grid;
	int column = browser__cursor(b);

	grid__resize(g, (unsigned)max_of(width, 1), (unsigned)max_of(height, 1));
	browser__draw(b, g);
	for (unsigned i = 0; i < g->height; i++)
		show_row(g, i);
	nc.curs_set_(column >= 0);
	nc.wmove_(terminal.window, height - 1, min_of(max_of(column, 0), width - 1));
	nc.wrefresh_(terminal.window);
}

/* ---- keys ---- */

static int key_of(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{KEY_UP, KEY_UP_ROW},	     {KEY_DOWN, KEY_DOWN_ROW}, {KEY_LEFT, KEY_BACK},
		{KEY_RIGHT, KEY_INTO},	     {KEY_PPAGE, KEY_PAGE_UP}, {KEY_NPAGE, KEY_PAGE_DOWN},
		{KEY_HOME, KEY_FIRST},	     {KEY_END, KEY_LAST},      {KEY_BACKSPACE, KEY_RUBOUT},
		{KEY_F(1), KEY_HELP_SCREEN}, {KEY_RESIZE, KEY_REDRAW}, {KEY_ENTER, '\n'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return KEY_NONE;
}

/* Returns false if the terminal has gone. */
static bool is_there(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Returns true if the terminal has another size than the screen. */
static bool has_new_size(struct winsize *size)
{
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, size) && size->ws_col && size->ws_row &&
	       (size->ws_col != nc.getmaxx_(terminal.window) ||
		size->ws_row != nc.getmaxy_(terminal.window));
}

/* Returns true if there is input. A signal that arrives between the look at what it changes and
 * the wait must end the wait. */
static bool wait_for_key(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct winsize size;
	sigset_t block, old;
	int ready = 0;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGWINCH);
	sigprocmask(SIG_BLOCK, &block, &old);
	if (!interrupted && !has_new_size(&size))
		ready = ppoll(&p, 1, NULL, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (has_new_size(&size))
		nc.resizeterm_(size.ws_row, size.ws_col);
	return ready == 1;
}

/* A key, or none after it has waited for one or for a signal. Input that is none of a key, time and
 * again, is the end of it. */
static int read_key(unsigned *failures)
{
	wint_t code = 0;
	int kind = nc.wget_wch_(terminal.window, &code);

	if (interrupted) {
		interrupted = 0;
		return CONTROL('C');
	}
	if (kind != ERR)
		*failures = 0;
	else if (wait_for_key())
		++*failures;
	return kind == ERR ? KEY_NONE : kind == KEY_CODE_YES ? key_of(code) : (int)code;
}

bool terminal__is_wanted(void *ctx)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	if (interrupted) { /* it ends what runs, not the browser */
		interrupted = 0;
		return true;
	}
	return poll(&p, 1, 0) == 1;
}

#define MOST_FAILURES 100

int terminal__run(struct browser *b)
{
	unsigned failures = 0;

	while (!b->ends && failures < MOST_FAILURES) {
		int key;

		show(b);
		key = read_key(&failures);
		if (key == KEY_NONE && !is_there())
			return 0;
		if (key == CONTROL('L'))
			nc.clearok_(terminal.window, true);
		browser__key(b, key);
	}
	return 0;
}

#else

int terminal__check(void)
{
	int err = check_streams();

	return err ? err
		   : err__set(ENOTSUP, "this bbtrace was built without ncurses, which --tui needs: "
				       "install libncurses-dev and build it again, or use report "
				       "without --tui");
}

int terminal__open(bool colours)
{
	return terminal__check();
}

void terminal__close(void)
{
}

int terminal__run(struct browser *b)
{
	return 0;
}

bool terminal__is_wanted(void *ctx)
{
	return false;
}

#endif
