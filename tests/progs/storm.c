/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm [N [SEED]]: another process sends N signals of all numbers, at random moments, each with a
 * value, while this one calls functions, loads a library, and blocks signals for a while. Each has
 * to come once, with its value, from that process, and those of a number in their order: "right".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS 65
#define QUEUED	4 /* at most, of a number that is queued */
#define MOST_S	30

static struct shared {
	volatile int sent[SIGNALS], got[SIGNALS]; /* how many */
	volatile int values[SIGNALS][QUEUED];	  /* of the last ones */
	volatile int wrong, sig, code, value, pid;
	volatile int is_over;
} * shared;
static pid_t sender;

__attribute__((noinline)) static int step(int n)
{
	int s = 0;

	for (int i = 0; i < n % 97; i++)
		if (i % 3)
			s += i;
		else
			s ^= n;
	return s;
}

static void on_signal(int sig, siginfo_t *si, void *context)
{
	int n = shared->got[sig];

	(void)context;
	if (si->si_signo != sig || si->si_code != SI_QUEUE || si->si_pid != sender ||
	    si->si_value.sival_int != shared->values[sig][n % QUEUED]) {
		if (!shared->wrong++) {
			shared->sig = sig;
			shared->code = si->si_code;
			shared->value = si->si_value.sival_int;
			shared->pid = si->si_pid;
		}
	}
	shared->got[sig] = n + 1;
}

/* SIGCONT takes away those that stop a process, whether it has a handler or not. */
static int is_sent(int sig)
{
	return sig != SIGKILL && sig != SIGSTOP && sig != SIGCONT && (sig < 32 || sig >= SIGRTMIN);
}

static void send(pid_t to, int sig, int value)
{
	siginfo_t si = {.si_signo = sig, .si_code = SI_QUEUE};
	int most = sig >= SIGRTMIN ? QUEUED : 1;
	time_t end = time(NULL) + MOST_S;

	while (shared->sent[sig] - shared->got[sig] >= most && time(NULL) < end)
		usleep(10);
	si.si_pid = getpid();
	si.si_value.sival_int = value;
	shared->values[sig][shared->sent[sig] % QUEUED] = value;
	shared->sent[sig]++;
	/* to the process or the thread, which have a queue each */
	if (sig >= SIGRTMIN ? sig % 2 : value % 2)
		syscall(SYS_rt_sigqueueinfo, to, sig, &si);
	else
		syscall(SYS_rt_tgsigqueueinfo, to, to, sig, &si);
}

static int all_came(void)
{
	for (int sig = 1; sig < SIGNALS; sig++)
		if (shared->sent[sig] != shared->got[sig])
			return 0;
	return 1;
}

static void send_all(pid_t to, int n)
{
	time_t end;

	for (int i = 1; i <= n; i++) {
		int sig = 1 + rand() % (SIGNALS - 1);

		if (is_sent(sig))
			send(to, sig, i);
		if (rand() % 4 == 0)
			usleep(rand() % 200);
	}
	end = time(NULL) + MOST_S;
	while (!all_came() && time(NULL) < end)
		usleep(1000);
	shared->is_over = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	pid_t self = getpid();
	sigset_t all, none;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	srand(argc > 2 ? atoi(argv[2]) : 1);
	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int sig = 1; sig < SIGNALS; sig++)
		if (is_sent(sig))
			sigaction(sig, &action, NULL);
	sender = fork();
	if (!sender) {
		send_all(self, argc > 1 ? atoi(argv[1]) : 2000);
		pause();
	}
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; !shared->is_over; i++) {
		step(i);
		if (i % 1024 == 0) {
			sigprocmask(SIG_SETMASK, &all, NULL);
			step(i + 96);
			sigprocmask(SIG_SETMASK, &none, NULL);
		}
		if (i % 4096 == 0) {
			void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

			if (library)
				dlclose(library);
		}
	}
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (shared->wrong)
		printf("%d wrong, first: signal %d, code %d, value %d, from the sender %d\n",
		       shared->wrong, shared->sig, shared->code, shared->value,
		       shared->pid == sender);
	for (int sig = 1; sig < SIGNALS; sig++)
		if (shared->sent[sig] != shared->got[sig])
			printf("signal %d: %d sent, %d came\n", sig, shared->sent[sig],
			       shared->got[sig]);
	if (!shared->wrong && all_came())
		puts("right");
	kill(sender, SIGKILL);
	return 0;
}
