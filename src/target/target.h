/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target: what the user named, resolved. Front door of src/target.
 *
 * An object is an ELF file, the running kernel or a kernel module, read into plain data: its bytes
 * at their link-time addresses, its symbols and its frames. A function is what one FUNC of the
 * command line resolved to. Everything after this folder works on that data alone and asks neither
 * the kernel nor a file again.
 *
 * Addresses (vaddr) are link-time virtual addresses: p_vaddr of ELF; for the kernel and its modules
 * the running address. All strings and arrays hanging off an object belong to it and live until
 * object__free().
 */
#ifndef BBTRACE_TARGET_H
#define BBTRACE_TARGET_H

#include "util/util.h"

/* ---- the door to files that are not bbtrace's own (door.c) ---- */

/*
 * Objects, their debug files and sources, the loader's cache of a container: all that a traced
 * program, its container or a file of theirs could have chosen is opened by door__open() and in no
 * other way, and kept as a descriptor.
 */

/* Where paths are looked up: a process's root folder in its mount namespace. {0}: our own. */
struct root {
	pid_t pid; /* whose; 0: our own */
	int fd;	   /* of that folder, O_PATH; none of our own */
};
/* {0} where that is the same as our own. -ESRCH: no such process, -EACCES: not ours to look into.
 */
int root__open(struct root *r, pid_t pid);
void root__close(struct root *r);

struct stat;
/*
 * Opens what path leads to beneath r, for reading: a descriptor, the caller's to close. Links never
 * lead out of another root; a relative path is one of our own working directory. *st, unless NULL:
 * the file's. -ENODEV: not a regular file (nothing was opened), -EFBIG: larger than limit bytes;
 * -ENOENT, -EACCES, … A message is set.
 */
int door__open(const struct root *r, const char *path, uint64_t limit, struct stat *st);
/* Does path, in our own root, lead to the very file that is open as fd? */
bool door__leads_to(const char *path, int fd);
/* The real path of an open file, malloc()ed: as seen within r, and as it is to be shown: ours where
 * we have one, else that of r. NULL: not known. */
char *door__inside(const struct root *r, int fd);
char *door__shown(const struct root *r, int fd);

#define OBJECT_LIMIT (8ull << 30) /* bytes of an object, or of its debug file */

/* ---- objects ---- */

enum object_kind { OBJECT_ELF, OBJECT_KERNEL, OBJECT_MODULE };

/* Bytes that are mapped when the object runs. ELF: one PT_LOAD's file-backed part. */
struct segment {
	uint64_t vaddr;	      /* first address */
	uint64_t size;	      /* bytes held in bytes[] */
	uint64_t offset;      /* file offset of the first byte; 0 for the kernel */
	const uint8_t *bytes; /* the code as it stands in the file; for the kernel the live text */
	bool exec;	      /* PF_X */
	bool write;	      /* PF_W */
};

enum symbol_type { SYMBOL_FUNC, SYMBOL_IFUNC, SYMBOL_PLT };

/* Where a function takes its arguments from. */
enum symbol_args {
	ARGS_SYSTEM, /* the registers of the system's convention */
	ARGS_GO,     /* those of Go's own (ABIInternal) */
	ARGS_STACK,  /* its stack (Go's ABI0), or it isn't known */
};

struct symbol {
	uint64_t vaddr;
	uint64_t size;	      /* as the table says, 0: unknown. object__extent() bounds it */
	const char *name;     /* raw (mangled), without version; PLT stubs: "puts@plt" */
	const char *version;  /* "GLIBC_2.2.5" or NULL */
	const char *shown;    /* demangled; the same pointer as name where nothing was mangled */
	const char *module;   /* kernel: the module's name, NULL for the kernel itself */
	uint8_t type;	      /* enum symbol_type */
	uint8_t args;	      /* enum symbol_args */
	bool global;	      /* STB_GLOBAL or STB_WEAK */
	bool default_version; /* name@@version rather than name@version */
};

/* One FDE of .eh_frame: a stretch of code with one set of unwinding rules. */
struct frame {
	uint64_t vaddr, size;
	bool part; /* its first row's CFA is not that of a function's entry (x86-64: rsp+8): a
		      split-off part */
	const uint64_t *pads; /* landing pads of its LSDA (.gcc_except_table), ascending */
	size_t npads;
	uint64_t fde; /* where it stands in .eh_frame, behind its length */
	bool signal;  /* a signal's trampoline: it may begin a byte early, within no instruction */
};

/* A slot of the GOT that the dynamic loader fills with the address of a function. */
struct got_slot {
	uint64_t vaddr;
	const char *name; /* of the function, as its PLT stub's symbol has it: "puts@plt" */
	uint64_t target;  /* name NULL: the function's address in the same object */
};

/* Code where no probe may sit, and why: kernel blacklist, notrace, … */
struct noprobe {
	uint64_t vaddr, size;
	const char *reason;
};

/* A part split off a function, "foo.cold": indices of its symbol and of its function's. */
struct split {
	uint32_t part, owner;
};

struct object {
	enum object_kind kind;
	char *path;	   /* real path; "kernel"; a module's name */
	struct root root;  /* in which it was found */
	char *attach_path; /* leads to the very file that was read, whatever becomes of its name;
			      NULL: not a file */
	uint16_t machine;  /* e_machine of elf(5) */
	bool pie;	   /* ET_DYN */
	bool go;	   /* a program of Go (golang.c) */
	int32_t go_g;	   /* where a thread has its goroutine's g, from its base; 0: not known */
	uint32_t go_goid;  /* where g has the goroutine's number; 0: not known */
	uint64_t dev, ino; /* of the file, st_dev and st_ino; 0 for the kernel */
	uint32_t listed;   /* a module: its symbols of any kind that the kernel knows */
	uint8_t build_id[20];
	size_t build_id_len;	      /* 0: none */
	uint64_t relro, relro_size;   /* PT_GNU_RELRO: read-only once the object is relocated */
	VEC(struct segment) segments; /* ascending, not overlapping */
	VEC(struct symbol)
	symbols; /* functions and PLT stubs only; ascending by vaddr, aliases kept */
	VEC(struct frame) frames;    /* ascending */
	VEC(struct got_slot) slots;  /* ascending */
	VEC(struct noprobe) noprobe; /* ascending */
	void *priv; /* of the reader that filled it in (libdwfl session, pools); freed by
		       object__free() */
	void (*free_priv)(void *priv); /* NULL: free(priv) */
	VEC(struct segment)
	kept; /* of an object out of a trace file: the bytes that are there; its segments have none
	       */
	VEC(struct split) splits; /* by owner; filled in by parts.c when first asked */
	struct map64 split_of;	  /* part -> 1 + its index in splits */
	bool splits_known;
};

/* An object's file that was found and opened. */
struct found {
	int fd;
	char *path;	  /* the real one, to show */
	struct root root; /* where it was looked up */
};
/*
 * Finds what OBJECT names: a path, a command in PATH, a soname found as the dynamic loader finds it
 * (the maps of pid and its mount namespace if pid > 0, LD_LIBRARY_PATH, /etc/ld.so.cache, default
 * folders). What it found is the caller's: for object__read(), or found__close(). -ENOENT with a
 * message that names what was tried.
 */
int object__find(const char *name, pid_t pid, struct found *out);
void found__close(struct found *f);
/*
 * Reads an ELF file; *f is taken over. -ENOEXEC (not an ELF file, or one that is damaged or of an
 * architecture that bbtrace doesn't know), … with the message set, which quotes nothing of the
 * file.
 */
int object__read(struct found *f, struct object **out);
/* The ELF file at path in our own root, no search. As object__read(), and -ENOENT, -EACCES, … */
int object__open(const char *path, struct object **out);
void object__free(struct object *o);
/* symbol.shown is the raw name until a look-up returns the symbol. Who walks o->symbols calls this
 * first. */
void object__demangle(struct object *o);

/* Pure look-ups. NULL, 0 or false: none. */
const struct segment *object__segment_at(const struct object *o, uint64_t vaddr);
/* Bytes at vaddr and, in *avail, how many follow within the segment. */
const uint8_t *object__bytes(const struct object *o, uint64_t vaddr, size_t *avail);
/* Do these bytes stay as they are as long as the object runs (relocations aside)? */
bool object__is_constant(const struct object *o, uint64_t vaddr, uint64_t len);
const struct frame *object__frame_at(const struct object *o, uint64_t vaddr);
/* What .eh_frame says of the frame pointer while the instruction at vaddr runs (unwind.c). */
enum frame_link {
	FRAME_UNTOLD,	  /* nothing: no row, or none that is understood */
	FRAME_NO_POINTER, /* it is not the frame's, or not yet or no more */
	FRAME_POINTER, /* there are the caller's frame pointer and, behind it, the return address */
	FRAME_OUTERMOST, /* it was called by nobody */
};
enum frame_link object__frame_link(const struct object *o, uint64_t vaddr);
const struct noprobe *object__noprobe_at(const struct object *o, uint64_t vaddr);
const struct got_slot *object__slot_at(const struct object *o, uint64_t vaddr);
/* The symbol that covers vaddr (object__extent() bounds one without size): of several the one whose
 * start is nearest, then a global one, then the one with the default version, then the first by
 * name. */
const struct symbol *object__symbol_at(const struct object *o, uint64_t vaddr);
/* Index of the first symbol with this very vaddr, or o->symbols.len. */
size_t object__symbols_from(const struct object *o, uint64_t vaddr);
/* Size of the function at s: its st_size; without one, up to the next symbol, the end of its FDE or
 * its segment. */
uint64_t object__extent(const struct object *o, const struct symbol *s);
bool object__offset_to_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr);
bool object__vaddr_to_offset(const struct object *o, uint64_t vaddr, uint64_t *offset);

/* A row of the line table: the line of the code from vaddr on. line 0, file NULL: of none that is
 * known. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* as debug information has it; lives as long as the object */
	unsigned line;
};
struct range;
/*
 * The rows of each range, in their order: ascending, the first at its start; then one of line 0 at
 * its end. fn gets each. None where there is no debug information, or it can't be read, which is
 * noted (line_rows.c). All ranges of an object are best asked for at once: its debug information is
 * read anew each time.
 */
void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/*
 * The sonames that the object needs (DT_NEEDED), in order: fn is called with each, until it returns
 * non-zero, which is returned.
 */
int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx);

/* ---- the kernel (x86-64 today) ---- */

/*
 * The running kernel: kallsyms, live text (of /proc/kcore, else through read_text), blacklist.
 * Modules are objects of their own, *modules an array of *nmodules pointers. read_text is given by
 * src/probe (a BPF program that reads kernel memory): returns 0 when it filled buf. So is layout,
 * which is asked when there are other tracers' kprobes in the code. Either may be NULL.
 */
typedef int (*kernel_read_fn)(void *ctx, uint64_t vaddr, void *buf, size_t len);
/* Sizes of the kernel's struct kprobe and optimized_kprobe (0: there is none), and what is where in
 * them. */
struct kprobe_layout {
	uint32_t size, hlist, addr, opcode, flags;
	uint32_t optimized_size, covered, detour;
};
typedef int (*kprobe_layout_fn)(struct kprobe_layout *out);
int kernel__open(kernel_read_fn read_text, void *ctx, kprobe_layout_fn layout,
		 struct object **kernel, struct object ***modules, size_t *nmodules);

/* Variables of the kernel that are looked at. */
enum kernel_variable {
	KERNEL_PER_CPU_OFFSET, /* an array: where each CPU has its own, from the addresses below */
	KERNEL_PREEMPT_COUNT,  /* of each CPU */
	KERNEL_PCPU_HOT,       /* of each CPU: has the count from Linux 6.2 to 6.14 */
	KERNEL_KPROBE_TABLE,
	KERNEL_VARIABLES
};
/* Its address; 0: kallsyms doesn't have it. */
uint64_t kernel__variable(const struct object *kernel, enum kernel_variable which);

/* ---- the file systems that it tells about itself in ---- */

enum kernel_fs { KERNEL_TRACEFS, KERNEL_DEBUGFS };

/* lockdown=confidentiality: then tracefs is not opened, nor mounted. */
bool kernel__is_locked_down(void);
/* A descriptor of its root (O_PATH) where it is mounted in its usual place. -errno with the message
 * set: -ENOENT where it isn't, -EPERM for tracefs in a kernel that is locked down. Mounts
 * nothing. */
int kernel_fs__find(enum kernel_fs fs);
/* That place; NULL: it isn't mounted. */
const char *kernel_fs__place(enum kernel_fs fs);
/* The same as kernel_fs__find(), but where it isn't mounted it gets mounted: tracefs in its usual
 * place, where it stays; what can't be, and debugfs, for as long as the descriptor is open. */
int kernel_fs__open(enum kernel_fs fs);
/* 0: that could be done. */
int kernel_fs__can_mount(enum kernel_fs fs);

/* ---- what the user named ---- */

enum spec_kind {
	SPEC_NAME,   /* name, name@VERSION, name@@VERSION; kernel: module:name */
	SPEC_GLOB,   /* fnmatch(3) pattern: has one of * ? [ */
	SPEC_OFFSET, /* 0xOFF or 0xOFF:NAME */
	SPEC_RANGE,  /* 0xOFF+0xLEN */
	SPEC_LINE,   /* FILE:LINE */
	SPEC_POINTS, /* @POINTS */
};

struct spec {
	enum spec_kind kind;
	char *text;   /* as given */
	char *name;   /* NAME, GLOB: the name or pattern; OFFSET: the alias or NULL; LINE: FILE;
			 POINTS: the path */
	char *module; /* kernel NAME and GLOB: before the colon, or NULL */
	uint64_t start, len; /* OFFSET, RANGE: file offset (user) or address (kernel) and length;
				LINE: start = LINE */
};

/* -EINVAL with a message. spec__free() clears what it filled in. */
int spec__parse(const char *text, bool kernel, struct spec *out);
void spec__free(struct spec *s);

/* ---- functions to trace ---- */

struct range {
	uint64_t vaddr, size;
	char *name; /* shown: the function's, or the split-off part's own ("foo.cold"); NULL: none
		       known */
	uint64_t offset; /* of vaddr from the start of what has that name: not 0 where a range
			    begins in the middle of it */
};

enum function_flags {
	FUNCTION_RANGE = 1, /* only the branches in its ranges: no entry, no return (0xOFF+0xLEN,
			       FILE:LINE, @POINTS, foo.cold alone) */
	FUNCTION_IFUNC =
		2, /* entry is an IFUNC resolver: code/ replaces it by what it can return */
	FUNCTION_SYSCALL = 4,  /* kernel: its first argument is the caller's struct pt_regs * */
	FUNCTION_SILENT = 8,   /* not asked for: probed at its rets only, to see a tail call return
				  (set by code/) */
	FUNCTION_GO_ARGS = 16, /* its arguments are in the registers that Go uses */
	FUNCTION_NO_ARGS = 32, /* they and its results are on its stack, or it isn't known where */
	FUNCTION_IA32 = 64,    /* with FUNCTION_SYSCALL: and they are those of the 32-bit kind */
};

struct function {
	const struct object *object;
	char *name;	/* as asked for, or the symbol's shown name for a glob */
	char *raw;	/* the symbol's own (mangled) name, NULL without symbol */
	uint64_t entry; /* ranges[0].vaddr; of a selection the start of the function it is in */
	unsigned flags;
	uint8_t arguments;	  /* of a system call: 1 + how many; 0: not known */
	VEC(struct range) ranges; /* [0] holds the entry; then split-off parts */
};

typedef VEC(struct function) function_vec;
void functions__free(function_vec *v);
/*
 * What was selected in one function becomes one member, its ranges ascending and apart; what lies
 * in a function that is there as a whole goes. To be called when all is resolved (selection.c).
 */
void functions__join(function_vec *v);

/*
 * Appends what spec names in object: a function once, whatever its aliases (one already in *v with
 * the same object and entry is left as it is). exclude: specs whose functions are left out. -ENOENT
 * with close names suggested, -EINVAL (a file offset outside the code, ...). Kernel: a name that
 * several symbols have is -ENOTUNIQ, and the message lists them all with address and module.
 * A range, a point or a line selects within the functions that hold it: FUNCTION_RANGE members
 * under their names, one for each stretch until functions__join().
 */
int object__resolve(struct object *o, const struct spec *spec, function_vec *v);
/*
 * What spec names in the kernel and its modules, as object__resolve() does for one object. name:
 * foo, with its cold parts as further ranges and foo.part.N as functions of their own; where no foo
 * is left, foo.isra.N and its like. module:name, kernel:name. 0xADDR: the function there; inside
 * one: from there to its end. 0xADDR+0xLEN. -ENOTUNIQ lists the candidates, -ENOENT suggests close
 * names, -EINVAL: on the kernel's blacklist, no such address.
 */
int kernel__resolve(struct object *kernel, struct object **modules, size_t nmodules,
		    const struct spec *spec, function_vec *v);
/* Fills in the arguments of the system calls among them; notes which are not known. */
void kernel_syscalls__count(function_vec *v);
/* The function that covers vaddr, for what was reached rather than named (tail-call targets).
 * False: none known. */
bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out);
/* Does spec name this function? For --exclude. False of FILE:LINE and points, which have to be
 * resolved. */
bool spec__matches(const struct spec *spec, const struct function *f);
/* FILE:LINE: is it this line of the file that debug information calls path? */
bool spec__is_line(const struct spec *spec, const char *path, unsigned line);

/* A points file: "# objname=PATH" lines, each followed by "0xADDR+0xLEN" lines (link-time
 * addresses). */
struct points_object {
	char *path;
	VEC(struct range) ranges; /* name NULL */
};
typedef VEC(struct points_object) points_vec;
int points__read(const char *path, points_vec *out);
void points__free(points_vec *v);
/* Appends what they select in o. -EINVAL: one is not in its code; path: of the points file. */
int object__select_points(const struct object *o, const struct points_object *p, const char *path,
			  function_vec *v);

/* ---- processes (processes.c) ---- */

typedef VEC(uint32_t) pid_vec;
/* Append the threads of a process, all processes, the children of those in *pids and theirs. */
void process__threads(uint32_t pid, pid_vec *out);
void processes__all(pid_vec *out);
void processes__descendants(pid_vec *pids);
/* The process of a thread; 0: there is no such thread. */
uint32_t process__of_thread(uint32_t tid);

/* ---- process maps ---- */

struct map {
	uint64_t start, end, offset; /* running addresses; file offset of start */
	uint64_t dev, ino;
	bool exec;
	char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
};
typedef VEC(struct map) map_vec;
/* ---- address spaces: what lies where in running processes ---- */

/*
 * Fed with mappings as they happen; a file is opened when it is mapped, so that it can be read
 * after the process and the file's name are gone, and read when an address in it is asked for.
 */
struct spaces;
struct spaces *spaces__new(void);
void spaces__free(struct spaces *s);
/* An object that is open already: borrowed, used for every mapping of its file. */
void spaces__use(struct spaces *s, const struct object *o);
/* Takes over /proc/PID/maps: for processes that ran before the feeding began. Errors are no error:
 * it may be gone. */
void spaces__read(struct spaces *s, uint32_t pid);
void spaces__map(struct spaces *s, uint32_t pid, const struct map *m);
void spaces__fork(struct spaces *s, uint32_t pid, uint32_t parent);
void spaces__exec(struct spaces *s, uint32_t pid);
void spaces__exit(struct spaces *s, uint32_t pid);

/* All processes that have mappings. */
void spaces__each_process(const struct spaces *s, void (*fn)(void *ctx, uint32_t pid), void *ctx);
/* All mappings of a process, the oldest first: mapped again in this order, they are the same. */
void spaces__each(const struct spaces *s, uint32_t pid, void (*fn)(void *ctx, const struct map *m),
		  void *ctx);

/* For a trace out of a file: nothing is opened; which object a mapped file is, is told by
 * spaces__know(). */
struct spaces *spaces__recorded(void);
void spaces__know(struct spaces *s, uint64_t dev, uint64_t ino, const char *path,
		  const struct object *o);

/* Where a running address lies. */
struct mapped_place {
	const char *path;  /* NULL: anonymous memory, or not known. One pointer for one file */
	uint64_t dev, ino; /* of that file, as mappings show them */
	const struct object *object; /* NULL: its file could not be read */
	uint64_t vaddr;		     /* link-time address; without object the file offset */
};
void spaces__find(struct spaces *s, uint32_t pid, uint64_t addr, struct mapped_place *out);

/* ---- what happens to processes, beside the probes ---- */

enum side_type {
	SIDE_FORK,
	SIDE_EXEC,
	SIDE_COMM,
	SIDE_EXIT,
	SIDE_MAP,
	SIDE_LOST,  /* so many side events were lost */
	SIDE_GAP,   /* of this process some events were not seen, nobody knows how many */
	SIDE_INNER, /* in a PID namespace of its own the process is number count */
};

struct side_event {
	enum side_type type;
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, offset; /* MAP */
	uint32_t major, minor;	     /* MAP */
	uint64_t ino;		     /* MAP */
	uint64_t count;		     /* LOST, INNER */
	const char *text; /* COMM, EXEC: the name; MAP: the path. Valid during the call */
};

/* Parses the text of /proc/PID/maps. Hostile text: an error or a clean result. */
int maps__parse(const char *text, map_vec *out);
void maps__free(map_vec *v);
/* A path as the kernel shows it, without the " (deleted)" behind the name of a file that has none
 * any more. */
char *path__undeleted(const char *path);

#endif
