// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory that a process and its tracer share for logs: a file without a name (memfd_create(2))
 * that the process is made to create, since what it creates it may write to. The tracer takes the
 * descriptor, not a name that the process could lead elsewhere, checks what it got, and seals its
 * size. Whatever the process maps, or opens, in its place meanwhile: the tracer maps this file
 * only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "space.h"

/* Newer than the C library's headers may be. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static bool __attribute__((format(printf, 2, 3))) refuse(struct thread *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->tracer->no_log, sizeof(t->tracer->no_log), format, args);
	va_end(args);
	return false;
}

/* ---- how much it may be ---- */

/* The share, of what the program's limits leave, that the logs may use, so that the program's own
 * memory does not run out. */
#define SHARE 32

static void refuse_room(struct thread *t, const char *what, uint64_t left, uint64_t slot_size)
{
	refuse(t,
	       "it has too little room for a log: %s leaves %llu of at least %llu MB; use "
	       "--engine probe",
	       what, (unsigned long long)(left >> 20),
	       (unsigned long long)(SHARE * slot_size >> 20));
}

/* charged: the control groups of the program can't bear it, those of this process can. */
uint32_t thread__log_slots(struct thread *t, uint32_t want, uint64_t slot_size, bool *charged)
{
	uint64_t address = process__address_room((uint32_t)t->tid);
	uint64_t memory = process__memory_room((uint32_t)t->tid), ours;
	uint64_t fits = min_of(address / SHARE / slot_size, (uint64_t)want), some;

	*charged = false;
	if (!fits) {
		refuse_room(t, "RLIMIT_AS (ulimit -v)", address, slot_size);
		return 0;
	}
	some = min_of(memory / SHARE / slot_size, fits);
	if (some == fits)
		return (uint32_t)fits;
	ours = process__memory_room((uint32_t)getpid());
	if (ours / SHARE / slot_size >= fits) {
		*charged = true;
		return (uint32_t)fits;
	}
	if (!some)
		refuse_room(t, "its control group (memory.max)", memory, slot_size);
	return (uint32_t)some;
}

/* ---- the file ---- */

/* Of the kernel's own mount, which has all files that memfd_create(2) makes, and no file that has,
 * or had, a name. */
static bool memfd_device(dev_t *out)
{
	autoclose int fd = memfd_create("", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	*out = st.st_dev;
	return true;
}

/* Returns true for a file that nobody else has written to yet, and that it may write to. */
static bool is_new_memfd(int fd, dev_t device, struct stat *st)
{
	int flags = fcntl(fd, F_GETFL), seals = fcntl(fd, F_GET_SEALS);

	return !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_dev == device && !st->st_nlink &&
	       !st->st_size && flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !(flags & O_PATH) &&
	       seals >= 0 && !(seals & (SIZE_SEALS | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
}

/* From then on, nobody can make it shorter than what is mapped of it. */
static bool seal(int fd, uint64_t size)
{
	struct stat st;

	return !ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, SIZE_SEALS) &&
	       (fcntl(fd, F_GET_SEALS) & SIZE_SEALS) == SIZE_SEALS && !fstat(fd, &st) &&
	       (uint64_t)st.st_size == size;
}

/* ---- the process's side ---- */

/* Returns the address of an empty name for the file: of a zero, which any stack has. 0 if none was
 * found. */
static uint64_t empty_name(struct thread *t)
{
	uint64_t at = thread__get(t, TRACEE_SP);
	uint8_t bytes[64], *zero = NULL;

	for (uint64_t end = at + 16 * LOG_PAGE; !zero && at < end; at += sizeof(bytes)) {
		if (!space__read(t->process->space, at, bytes, sizeof(bytes)))
			return 0;
		zero = memchr(bytes, 0, sizeof(bytes));
	}
	return zero ? at - sizeof(bytes) + (uint64_t)(zero - bytes) : 0;
}

static int64_t create_there(struct thread *t)
{
	uint64_t name = empty_name(t), flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int64_t got;

	if (!name)
		return -EFAULT;
	got = thread__call(t, SYS_memfd_create, name, flags | MFD_NOEXEC_SEAL, 0, 0, 0, 0);
	if (got == -EINVAL) /* before Linux 6.3 */
		got = thread__call(t, SYS_memfd_create, name, flags, 0, 0, 0, 0);
	return got;
}

/* Returns 0 if it was refused. */
static uint64_t map_there(struct thread *t, int number, uint64_t size)
{
	int64_t got = -ENOMEM;

	for (uint64_t at = LOG_AREAS; at < LOG_AREAS_END; at += LOG_AREA_STEP) {
		got = thread__call(t, SYS_mmap, at, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				   (uint64_t)number, 0);
		if (got == (int64_t)at) {
			thread__call(t, SYS_madvise, at, size, MADV_DONTDUMP, 0, 0, 0);
			return at;
		}
		if (got != -EEXIST)
			break;
	}
	refuse(t, "it may not map memory for its log: %s; use --engine probe",
	       got < 0 && got > -4096 ? strerror((int)-got) : "another place");
	return 0;
}

static bool is_mapped(const struct thread *t, const struct log_memory *l)
{
	CLEANUP(maps__free) map_vec maps = {0};
	const struct map *m;

	if (maps__read((uint32_t)t->tid, &maps))
		return false;
	vec__each (m, &maps)
		if (m->start == l->at)
			return m->end == l->at + l->size && !m->offset && m->dev == l->file.dev &&
			       m->ino == l->file.ino;
	return false;
}

/* ---- the whole ---- */

static bool refuse_file(struct thread *t, int64_t err)
{
	if (err == -EPERM)
		return refuse(t, "it may not map memory for its log (seccomp); use --engine probe");
	if (err == -EMFILE)
		return refuse(t, "it has no file descriptor left for its log (RLIMIT_NOFILE); use "
				 "--engine probe");
	return refuse(t,
		      "it may not make memory for its log (memfd_create): %s; use --engine probe",
		      err < 0 && err > -4096 ? strerror((int)-err) : "no descriptor");
}

static bool map_both(struct thread *t, struct log_memory *m)
{
	m->at = map_there(t, m->file.number, m->size);
	if (!m->at)
		return false;
	if (!is_mapped(t, m)) {
		thread__call(t, SYS_munmap, m->at, m->size, 0, 0, 0, 0);
		return refuse(t, "it has mapped something else in place of its log");
	}
	m->mem = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->fd, 0);
	if (m->mem != MAP_FAILED)
		return true;
	thread__call(t, SYS_munmap, m->at, m->size, 0, 0, 0, 0);
	return refuse(t, "bbtrace has no memory for its log: %s", strerror(errno));
}

/* The process has closed it, or there is no such call. */
static bool refuse_fetch(struct thread *t, const struct fetched *f, int err)
{
	thread__close_fetched(t, f);
	return refuse(t, "the memory for its log can't be had (pidfd_getfd, Linux 5.6): %s",
		      strerror(err));
}

static bool make(struct thread *t, int number, dev_t device, struct log_memory *m)
{
	struct stat st;
	bool done;

	m->fd = thread__fetch(t, number, &m->file);
	if (m->fd < 0)
		return refuse_fetch(t, &m->file, errno);
	if (!is_new_memfd(m->fd, device, &st))
		return refuse(t, "it has put another file in place of its log");
	done = seal(m->fd, m->size)
		       ? map_both(t, m)
		       : refuse(t, "the memory for its log can't be sealed: %s", strerror(errno));
	thread__close_fetched(t, &m->file);
	return done;
}

bool thread__make_log(struct thread *t, uint64_t size, struct log_memory *out)
{
	int64_t number;
	dev_t device;

	*out = (struct log_memory){.fd = -1, .size = size};
	if (!memfd_device(&device))
		return refuse(t, "bbtrace can't make memory for its log: %s", strerror(errno));
	number = create_there(t);
	if (number < 0 || number > INT32_MAX)
		return refuse_file(t, number);
	if (make(t, (int)number, device, out))
		return true;
	if (out->fd >= 0)
		close(out->fd);
	return false;
}
