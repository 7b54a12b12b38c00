/* bbtrace.h for what can call a C library. */
#include <bbtrace.h>

void start(void)
{
	BBTRACE_START();
}

void stop(void)
{
	BBTRACE_STOP();
}

void mark(const char *name, long value)
{
	BBTRACE_MARK(name, value);
}
