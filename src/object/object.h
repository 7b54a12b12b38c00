/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object: files and their functions as plain data. Front door of src/object.
 *
 * An object is an ELF file, the running kernel or a kernel module: its bytes at their link-time
 * addresses, its symbols and its frames. A function is a symbol or a range of an object that is to
 * be traced. Everything after this folder works on that data alone and reads no file again.
 *
 * Addresses (vaddr) are link-time virtual addresses: p_vaddr of ELF; for the kernel and its modules
 * the running address. All strings and arrays hanging off an object belong to it and live until
 * object__free().
 */
#ifndef BBTRACE_OBJECT_H
#define BBTRACE_OBJECT_H

#include "object/names.h"
#include "util/util.h"

/* ---- the door to files that are not bbtrace's own (door.c) ---- */

/*
 * Objects, their debug files and sources, the loader's cache of a container: all that a traced
 * program, its container or a file of theirs could have chosen is opened by root__open_file() and
 * in no other way, and kept as a descriptor.
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
int root__open_file(const struct root *r, const char *path, uint64_t limit, struct stat *st);
/* Does path, in our own root, lead to the very file that is open as fd? */
bool root__path_leads_to(const char *path, int fd);
/* The real path of an open file, malloc()ed: as seen within r, and as it is to be shown: ours where
 * we have one, else that of r. NULL: not known. */
char *root__path_inside(const struct root *r, int fd);
char *root__shown_path(const struct root *r, int fd);

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
struct cold_part {
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
	VEC(struct cold_part) cold_parts; /* by owner; filled in by parts.c when first asked */
	struct map64 cold_part_of;	  /* part -> 1 + its index in splits */
	bool cold_parts_known;
};

/* An object's file that was found and opened. */
struct found {
	int fd;
	char *path;	  /* the real one, to show */
	struct root root; /* where it was looked up */
};
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
/* Is it in an executable section, or, without section headers, segment? */
bool object__is_code(const struct object *o, uint64_t vaddr);
/* Do these bytes stay as they are as long as the object runs (relocations aside)? */
bool object__is_constant(const struct object *o, uint64_t vaddr, uint64_t len);
const struct frame *object__frame_at(const struct object *o, uint64_t vaddr);
/* What .eh_frame says of the frame pointer while the instruction at vaddr runs (unwind.c). */
enum frame_link {
	FRAME_UNKNOWN,	  /* nothing: no row, or none that is understood */
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
/* The symbol with .shown filled in. */
const struct symbol *symbol__show(const struct object *o, const struct symbol *s);
/* Index of the first symbol with this very vaddr, or o->symbols.len. */
size_t object__symbols_from(const struct object *o, uint64_t vaddr);
/* Size of the function at s: its st_size; without one, up to the next symbol, the end of its FDE or
 * its segment. */
uint64_t object__extent(const struct object *o, const struct symbol *s);
bool object__offset_to_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr);
bool object__vaddr_to_offset(const struct object *o, uint64_t vaddr, uint64_t *offset);

/*
 * The sonames that the object needs (DT_NEEDED), in order: fn is called with each, until it returns
 * non-zero, which is returned.
 */
int object__needed(const struct object *o, int (*fn)(void *ctx, const char *soname), void *ctx);

/* ---- functions to trace ---- */

#define NO_FUNCTION UINT32_MAX /* in place of a function's index */

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
	FUNCTION_HELPER = 8,   /* not asked for: probed at its rets only, to see a tail call return
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

/* The function that covers vaddr, for what was reached rather than named (tail-call targets).
 * False: none known. */
bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out);

/* ---- names (match.c, parts.c) ---- */

/* Ascending: which of a function's bodies a symbol is, seen from the name that was asked for. */
enum match {
	MATCH_NONE,
	MATCH_NAME,	 /* this very (raw) name */
	MATCH_DEMANGLED, /* by its readable form */
	MATCH_PART,  /* foo.part.0, asked for foo: the outlined rest of a partly inlined function */
	MATCH_CLONE, /* foo.isra.0, foo.constprop.0, foo.llvm.1, …: counts where no foo exists */
};

struct name_query {
	const char *text;    /* as asked: name, name@VERSION, pattern */
	char *name;	     /* without version */
	const char *version; /* NULL: any */
	bool default_only;   /* name@@VERSION */
	bool glob;
	char needle[64]; /* every mangled name that can match holds this; "": not known */
};

void name_query__init(struct name_query *q, const char *text, bool glob);
void name_query__free(struct name_query *q);
enum match name_query__match(const struct name_query *q, const struct symbol *s);
/* The same for a name without symbol or version (the shown name of a function). */
bool name_query__matches_name(const struct name_query *q, const char *name);

/* Length of "foo" in "foo.cold", "foo.cold.1", "foo.__part.2"; 0: not a split-off part. */
size_t name__owner_len(const char *name);

/* parts.c: the split-off parts of the functions at vaddr, as o->cold_parts[*first … + n). */
size_t object__cold_parts(struct object *o, uint64_t vaddr, size_t *first);
/* The symbol of the function that the part at index was split off; NULL: not a part, or not told
 * apart. */
const struct symbol *object__cold_part_owner(struct object *o, size_t index);

/* ---- making functions (functions.c, selection.c) ---- */

/* All take name over (malloc()ed). */
void function__from_symbol(struct function *out, struct object *o, size_t symbol, char *name);
/* Begins at vaddr; name NULL: it goes by its place in the function that holds it, "foo+0x10". */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name);
void function__clear(struct function *f);

/* The entries of the functions in v that o has, as keys: adding one whole function after the other
 * stays linear. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appended unless there is one of the same object with this entry. */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name);
/* Does q name one of the symbols at f's entry? */
bool functions__alias_matches(const struct function *f, const struct name_query *q);

/* The function that holds vaddr, and in *range which of its ranges does. False: none is known. */
bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range);
/* Appends the branches of [vaddr, vaddr + size), for each function that holds some of it. */
void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size);

/* ---- source lines (lines.c, line_rows.c) ---- */

/* A row of the line table: the line of the code from vaddr on. line 0, file NULL: of none that is
 * known. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* as debug information has it; lives as long as the object */
	unsigned line;
};
/*
 * The rows of each range, in their order: ascending, the first at its start; then one of line 0 at
 * its end. fn gets each. None where there is no debug information, or it can't be read, which is
 * noted (line_rows.c). All ranges of an object are best asked for at once: its debug information is
 * read anew each time.
 */
void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/*
 * FILE:LINE by debug information: appends the functions that start there, or selects the line's
 * code within those that hold it. text: as the user gave it, for messages. -ENOENT, -EPROTO.
 */
int object__resolve_line(struct object *o, const char *text, const char *file, uint64_t line,
			 function_vec *v);
/* Is path, of debug information, the file that asked names by its last components? */
bool path__is_file(const char *path, const char *asked);

#endif
