/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object: ELF files, the kernel and modules, and their functions, as plain data. Public header of
 * src/object.
 *
 * An object is an ELF file, the running kernel or a kernel module: its bytes at their link-time
 * addresses, its symbols and its frames. A function is a symbol or a range of an object that is to
 * be traced. Later stages work only on this data and read no file again.
 *
 * Addresses (vaddr) are link-time virtual addresses: p_vaddr of ELF; for the kernel and its modules
 * the running address. All strings and arrays hanging off an object belong to it and live until
 * object__free().
 */
#ifndef BBTRACE_OBJECT_H
#define BBTRACE_OBJECT_H

#include "object/core/core.h"
#include "object/lookup/names.h"
#include "object/dwarf/rules.h"
#include "types/types.h"
#include "util/util.h"

/* ---- opening files that are not bbtrace's own (root.c) ---- */

/*
 * Every file whose path a traced program, its container or one of their files could have chosen
 * (objects, their debug files and sources, a container's ld.so.cache) is opened by
 * root__open_file() only, and kept as a descriptor.
 */

/* Where paths are looked up: a process's root directory in its mount namespace. {0}: our own. */
struct root {
	pid_t pid; /* whose; 0: our own */
	int fd;	   /* of that directory, O_PATH; unused for our own */
};
/* {0} if it is the same as our own. -ESRCH: no such process, -EACCES: no permission. */
int root__open(struct root *r, pid_t pid);
void root__close(struct root *r);

struct stat;
/*
 * Opens path beneath r for reading; the caller closes the descriptor. Links can't lead out of
 * another process's root. A relative path starts at our own working directory. *st, unless NULL,
 * gets the file's status. -ENODEV: not a regular file (nothing was opened), -EFBIG: larger than
 * limit bytes; -ENOENT, -EACCES, … A message is set.
 */
int root__open_file(const struct root *r, const char *path, uint64_t limit, struct stat *st);
/* Does path, in our own root, lead to the file that is open as fd? */
bool root__path_leads_to(const char *path, int fd);
/* The real path of an open file, malloc()ed: inside: as seen in r; shown: our own path if there is
 * one, else the one in r. NULL: unknown. */
char *root__path_inside(const struct root *r, int fd);
char *root__shown_path(const struct root *r, int fd);

#define OBJECT_LIMIT (8ull << 30) /* most bytes of an object, or of its debug file */

/* Debug files that are not here are fetched from now on, from the servers that DEBUGINFOD_URLS
 * names (debuginfod.c). -EINVAL with a message: they can't be. */
int debuginfod__enable(void);

/* ---- objects ---- */

enum object_kind { OBJECT_ELF, OBJECT_KERNEL, OBJECT_MODULE };

/* Bytes that are mapped when the object runs. ELF: one PT_LOAD's file-backed part. */
struct segment {
	uint64_t vaddr;	      /* first address */
	uint64_t size;	      /* bytes held in bytes[] */
	uint64_t offset;      /* file offset of the first byte; 0 for the kernel */
	const uint8_t *bytes; /* the code as in the file; of the kernel, the live text */
	bool exec;	      /* PF_X */
	bool write;	      /* PF_W */
};

enum symbol_type { SYMBOL_FUNC, SYMBOL_IFUNC, SYMBOL_PLT };

/* Where a function takes its arguments from. */
enum symbol_args {
	ARGS_SYSTEM, /* registers, by the system's calling convention */
	ARGS_GO,     /* registers, by Go's ABIInternal */
	ARGS_STACK,  /* the stack (Go's ABI0), or unknown */
};

struct symbol {
	uint64_t vaddr;
	uint64_t size;	      /* from the symbol table, 0: unknown; see object__extent() */
	const char *name;     /* raw (mangled), without version; PLT stubs: "puts@plt" */
	const char *version;  /* "GLIBC_2.2.5" or NULL */
	const char *shown;    /* demangled; the same pointer as name if not mangled */
	const char *module;   /* kernel: the module's name, NULL for the kernel itself */
	uint8_t type;	      /* enum symbol_type */
	uint8_t args;	      /* enum symbol_args */
	bool global;	      /* STB_GLOBAL or STB_WEAK */
	bool exported;	      /* others may link to it: a visible one of .dynsym; kernel:
				 EXPORT_SYMBOL */
	bool default_version; /* name@@version rather than name@version */
	uint32_t number;      /* of a local one: which one of its name, by address, from 1 on
				 (object__number_locals()); 0: not numbered */
};

/* One FDE of .eh_frame: a range of code with one set of unwinding rules. */
struct frame {
	uint64_t vaddr, size;
	bool part; /* its first row's CFA is not that of a function's entry: a cold part */
	const uint64_t *pads; /* landing pads of its LSDA (.gcc_except_table), ascending */
	size_t npads;
	bool signal; /* a signal trampoline: it may start one byte before the code */
};

/* A slot of the GOT that the dynamic loader fills with the address of a function. */
struct got_slot {
	uint64_t vaddr;
	const char *name; /* of the function, as its PLT stub's symbol: "puts@plt" */
	uint64_t target;  /* name NULL: the function's address in the same object */
};

/* From an address on, code is in this mode (struct arch_modes), or it is data. */
enum mode_rank { MODE_BY_SECTION, MODE_BY_BRANCH, MODE_BY_PLT, MODE_BY_SYMBOL, MODE_BY_MAPPING };
struct code_mode {
	uint64_t vaddr;
	uint8_t mode, rank; /* enum mode_rank: how it is known */
};

/* Code that can't be probed, and why: kernel blacklist, notrace, … */
struct noprobe {
	uint64_t vaddr, size;
	const char *reason;
};

/* A cold part, "foo.cold": the indices of its symbol and of its function's. */
struct cold_part {
	uint32_t part, owner;
};

struct object {
	enum object_kind kind;
	char *path;	   /* real path; "kernel"; a module's name */
	struct root root;  /* the root that it was found in */
	char *attach_path; /* leads to the file that was read, even if it is renamed or replaced;
			      NULL: not a file */
	uint16_t machine;  /* e_machine of elf(5) */
	bool pie;	   /* ET_DYN */
	bool go;	   /* a Go program (golang.c) */
	bool mixed;	   /* has data among its code, and nothing tells where */
	bool stripped;	   /* read from a file, and only exported functions have names, if any */
	int32_t go_g;	   /* offset of the current g from the thread pointer; 0: unknown */
	uint32_t go_goid;  /* offset of goid in g; 0: unknown */
	uint64_t dev, ino; /* of the file, st_dev and st_ino; 0 for the kernel */
	uint32_t listed;   /* a module: number of its symbols of any kind in kallsyms */
	uint8_t build_id[20];
	size_t build_id_len;	      /* 0: none */
	uint64_t relro, relro_size;   /* PT_GNU_RELRO: read-only once the object is relocated */
	VEC(struct segment) segments; /* ascending, not overlapping */
	VEC(struct symbol)
	symbols; /* functions and PLT stubs only; ascending by vaddr, aliases kept */
	VEC(uint64_t)
	reach; /* by symbol: the highest end of it and all previous ones (object__index_symbols())
		*/
	VEC(struct frame) frames;    /* ascending */
	VEC(struct got_slot) slots;  /* ascending */
	VEC(struct noprobe) noprobe; /* ascending */
	VEC(struct code_mode) modes; /* ascending; empty: there is one mode */
	struct map64 states;	     /* address -> the state of an instruction; absent: 0 */
	void *priv; /* private data of the reader that filled it in; freed by object__free() */
	void (*free_priv)(void *priv); /* NULL: free(priv) */
	VEC(struct segment)
	kept; /* objects from a trace file: the recorded bytes; segments have none
	       */
	VEC(struct cold_part) cold_parts; /* by owner; filled in by cold_parts.c on first use */
	struct map64 cold_part_of;	  /* part -> 1 + its index in cold_parts */
	bool cold_parts_known;
	bool numbered;		  /* local symbols have their number, or get none */
	bool no_debug;		  /* its debug information turned out to be unreadable */
	struct rule_table *rules; /* rules.c; NULL: not read yet */
	struct inlined *inlined;  /* inlined.c; NULL: nothing is known */
	VEC(char *) answers;	  /* strings of its debug information */
};
/* Is it the running kernel, or a module of it? */
static inline bool object__is_kernel(const struct object *o)
{
	return o->kind != OBJECT_ELF;
}

/* An object's file that was found and opened. */
struct found {
	int fd;
	char *path;	  /* the real path, for display */
	struct root root; /* the root that it was found in */
};
void found__close(struct found *f);
/*
 * Reads an ELF file; takes ownership of *f. -ENOEXEC: not an ELF file, damaged, or of an unknown
 * architecture; … A message is set, which quotes nothing from the file.
 */
int object__read(struct found *f, struct object **out);
/* The ELF file at path in our own root, no search. As object__read(), and -ENOENT, -EACCES, … */
int object__open(const char *path, struct object **out);
void object__free(struct object *o);
/* Appends its build-id in hexadecimal; nothing if it has none. */
void object__put_build_id(const struct object *o, struct str *s);
/* "build-id 1f…", or "no build-id". */
void object__put_build(const struct object *o, struct str *s);
/* Do two objects, or an object and an ELF file, have the same build-id? */
bool object__same_build(const struct object *a, const struct object *b);
bool object__is_build(const struct object *o, int fd);
/* Fills in all symbol.shown, which is the raw name until a lookup returns the symbol. Call it
 * before iterating over o->symbols. */
void object__demangle(struct object *o);

/* Fills in the symbol.number of all local symbols of a program. */
void object__number_locals(const struct object *o);

/* Once all symbols are there: without it, lookups of an address that none covers look at all of
 * them. Not of the kernel, whose symbols have no sizes: the one in front of an address covers it.
 */
void object__index_symbols(struct object *o);

/* Objects of trace files (adopt.c). Functions may share code: sorts o->kept, and drops what the
 * previous piece of code contains. */
void object__settle_code(struct object *o);
/* Adds the code and the symbols of another object of the same build, which must live as long.
 * shift: where o is minus where that is. */
void object__adopt(struct object *o, const struct object *from, uint64_t shift);

/* Pure lookups. NULL, 0 or false: none. */
const struct segment *object__segment_at(const struct object *o, uint64_t vaddr);
/* Bytes at vaddr and, in *avail, how many follow within the segment. */
const uint8_t *object__bytes(const struct object *o, uint64_t vaddr, size_t *avail);
/* Is it in an executable section, or, without section headers, segment? */
bool object__is_code(const struct object *o, uint64_t vaddr);
/*
 * The code address of the instruction at vaddr, which struct arch's decode, detail and format take:
 * vaddr where an architecture has one instruction set (modes.c).
 */
uint64_t object__code_address(const struct object *o, uint64_t vaddr);
/* The state in which control falls through to vaddr; src/code finds it. */
uint8_t object__code_state(const struct object *o, uint64_t vaddr);
void object__set_code_state(const struct object *o, uint64_t vaddr, uint8_t state);
/* Is it data within code, by the symbols? */
bool object__is_data(const struct object *o, uint64_t vaddr);
/* Where the code is that an address in a file or a register leads to: without its mode. */
uint64_t object__code_vaddr(const struct object *o, uint64_t address);
/* Are these bytes read-only while the object runs, apart from relocations? */
bool object__is_constant(const struct object *o, uint64_t vaddr, uint64_t len);
const struct frame *object__frame_at(const struct object *o, uint64_t vaddr);
/* What .eh_frame says about the frame pointer at the instruction at vaddr (unwind.c). */
enum frame_link {
	FRAME_UNKNOWN,	  /* no row, or one that can't be interpreted */
	FRAME_NO_POINTER, /* it doesn't point to this frame here */
	FRAME_POINTER, /* it points to the caller's frame pointer, which the return address follows
			*/
	FRAME_OUTERMOST, /* the outermost frame: there is no caller */
};
/* How far the stack pointer is below the CFA at an instruction, by its rules. False: they tell it
 * by another register, or not at all. */
bool object__stack_depth(const struct object *o, uint64_t vaddr, int64_t *bytes);
enum frame_link object__frame_link(const struct object *o, uint64_t vaddr);
/*
 * The rules at the instruction at vaddr, by .eh_frame or, where that has none, .debug_frame, also
 * that of a separate debug file (rules.c). The first call for an object reads them all, and prints
 * a note if they can't be. False: there are none.
 */
bool object__rules(const struct object *o, uint64_t vaddr, struct rule_row *out);
/* Calls fn with each address that the object's data may hold: link-time addresses by relative
 * relocations, without those or position independence any word of the data (pointers.c). */
void object__pointers(const struct object *o, void (*fn)(void *ctx, uint64_t value), void *ctx);
/* Does the loader change its code? */
bool object__text_relocated(const struct object *o);
/* Has it sequences that the kernel breaks off by the pc (rseq(2), by the section that librseq and
 * tcmalloc use)? */
bool object__has_rseq(const struct object *o);
const struct noprobe *object__noprobe_at(const struct object *o, uint64_t vaddr);
const struct got_slot *object__slot_at(const struct object *o, uint64_t vaddr);
/* The symbol that covers vaddr (object__extent() bounds one without size). Of several, the one with
 * the nearest start, then a global one, then one with the default version, then the first by
 * name. */
const struct symbol *object__symbol_at(const struct object *o, uint64_t vaddr);
/* The symbol with .shown filled in. */
const struct symbol *symbol__show(const struct object *o, const struct symbol *s);
/* Index of the first symbol at exactly vaddr, or o->symbols.len. */
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

/* ---- what a program says to its tracer, by include/bbtrace.h (markers.c) ---- */

/* DUMP: none of bbtrace.h: where --dump-on shows what a thread did last. */
enum marker_kind { MARKER_START, MARKER_STOP, MARKER_MARK, MARKER_DUMP };

struct marker {
	uint64_t vaddr;
	enum marker_kind kind;
	const char *args; /* where its arguments are, in the note's words; lives as long as the
			     object */
};
typedef VEC(struct marker) marker_vec;

/* Where a mark's operands are: registers by the architecture's numbers. */
struct marker_operands {
	uint8_t when; /* of a marker that is no mark: enum wire_when of bpf/wire_named.h, with
			 constant */
	uint8_t name, value;
	int64_t constant; /* value MARKER_CONSTANT: this is the value */
};
#define MARKER_CONSTANT 0xff
struct arch;
/* False: they are somewhere else, which bbtrace.h doesn't write. */
bool marker__operands(const struct marker *m, const struct arch *arch, struct marker_operands *out);
/* Has the file notes of these markers, or of marks among them? A quick look, before it is read as
 * an object. */
bool markers__in_file(int fd, bool marks);
/* Appends those of the object in the order of its notes. */
void object__markers(const struct object *o, marker_vec *out);

/* ---- functions to trace ---- */

#define NO_FUNCTION UINT32_MAX /* in place of a function's index */

struct range {
	uint64_t vaddr, size;
	char *name;	 /* display name: the function's, or the cold part's own ("foo.cold"); NULL:
			    unknown */
	uint64_t offset; /* of vaddr from the start of what has that name: not 0 if the range starts
			    in the middle */
};

enum function_flags {
	FUNCTION_RANGE = 1, /* only the branches in its ranges: no entry, no return (0xOFF+0xLEN,
			       FILE:LINE, @POINTS, foo.cold alone) */
	FUNCTION_IFUNC =
		2, /* entry is an IFUNC resolver: code/ replaces it by what it can return */
	FUNCTION_SYSCALL = 4,  /* kernel: its first argument is the caller's struct pt_regs * */
	FUNCTION_HELPER = 8,   /* not requested: probed at its rets only, to see tail calls return
				  (set by src/code) */
	FUNCTION_GO_ARGS = 16, /* its arguments are in registers by Go's ABIInternal */
	FUNCTION_NO_ARGS =
		32, /* its arguments and results are on the stack, or their location is unknown */
	FUNCTION_SYSCALL32 = 64, /* with FUNCTION_SYSCALL: of the 32-bit ABI */
	FUNCTION_REMOVED = 128,	 /* no longer traced: in a plan it stays for what was shown of it */
};

struct function {
	const struct object *object;
	char *name;	/* as requested, or the symbol's display name for a glob */
	char *raw;	/* the symbol's own (mangled) name, NULL without symbol */
	uint64_t entry; /* ranges[0].vaddr; of a selection, the start of its function */
	unsigned flags;
	uint8_t arguments;	  /* of a system call: 1 + their number; 0: unknown */
	VEC(struct range) ranges; /* [0] contains the entry; then cold parts */
};

typedef VEC(struct function) function_vec;
void functions__free(function_vec *v);
/*
 * Joins the selections in each function to one member with ascending, disjoint ranges, and drops
 * those in a function that is traced entirely. Call it after everything is resolved (selection.c).
 */
void functions__join(function_vec *v);

/* The function that covers vaddr, for addresses that control flow reaches, such as tail-call
 * targets. False: unknown. */
bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out);

/* ---- names (match.c, cold_parts.c) ---- */

/* How a symbol relates to the requested name, in ascending order. */
enum match {
	MATCH_NONE,
	MATCH_NAME,	 /* its raw name is the requested one */
	MATCH_DEMANGLED, /* its demangled name is */
	MATCH_PART,	 /* foo.part.0 for foo: the outlined rest of a partly inlined function */
	MATCH_CLONE, /* foo.isra.0, foo.constprop.0, foo.llvm.1, …: matches if there is no foo */
};

struct name_query {
	const char *text;    /* as given: name, name@VERSION, pattern */
	char *name;	     /* without version */
	const char *version; /* NULL: any */
	bool default_only;   /* name@@VERSION */
	bool glob;
	bool exported;	 /* only exported symbols, and the parts of their functions; for resolve */
	bool mangled;	 /* the name is a mangled one, which no demangled name is */
	char needle[64]; /* every mangled name that can match contains this; "": unknown */
};

void name_query__init(struct name_query *q, const char *text, bool glob);
void name_query__free(struct name_query *q);
enum match name_query__match(const struct name_query *q, const struct symbol *s);
/* The same for a name without symbol or version (a function's display name). */
bool name_query__matches_name(const struct name_query *q, const char *name);

/* Length of "foo" in "foo.part.0", "foo.isra.0.part.1"; 0: not a part of a partly inlined function.
 */
size_t name__part_owner_len(const char *name);
/* Of two names of one function, is a the one to show? The one with fewer underscores in front. */
bool name__is_plainer(const char *a, const char *b);
/* Length of "foo" in "foo.cold", "foo.cold.1", "foo.__part.2"; 0: not a split-off part. */
size_t name__owner_len(const char *name);

/* cold_parts.c: the cold parts of the functions at vaddr: returns n for o->cold_parts[*first …
 * *first + n). */
size_t object__cold_parts(struct object *o, uint64_t vaddr, size_t *first);
/* The symbol of the function that the part at index was split from; NULL: not a part, or
 * ambiguous. */
const struct symbol *object__cold_part_owner(struct object *o, size_t index);

/* ---- variables (data.c) ---- */

struct data_symbol {
	uint64_t vaddr, size; /* tls: vaddr is within the thread's block */
	bool tls;	      /* each thread has its own */
};
typedef VEC(struct data_symbol) data_vec;
/* Appends a program's variables of that name; if it has none, those of functions, which compilers
 * call name.1. Of the kernel: none. */
void object__find_data(struct object *o, const char *name, data_vec *out);

/* ---- making functions (functions.c, selection.c) ---- */

/* All take ownership of name (malloc()ed). */
void function__from_symbol(struct function *out, struct object *o, size_t symbol, char *name);
/* A range from vaddr on; name NULL: it is named by its offset in its function, "foo+0x10". */
void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name);
void function__clear(struct function *f);

/* The entries of o's functions in v, as keys: keeps adding many functions linear. */
struct map64 functions__entries(const function_vec *v, const struct object *o);
/* Appended unless there is one of the same object with this entry. */
void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name);
void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name);
/* Does q name one of the symbols at f's entry? */
bool functions__alias_matches(const struct function *f, const struct name_query *q);

/* The function that contains vaddr, and in *range the index of the range that does. False:
 * unknown. */
bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range);
/* Appends a selection of [vaddr, vaddr + size) for each function that overlaps it. */
void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size);

/* ---- source lines (lines.c, line_rows.c) ---- */

/* A row of the line table: the line of the code from vaddr on. line 0, file NULL: unknown. */
struct line_row {
	uint64_t vaddr;
	const char *file; /* as debug information has it; lives as long as the object */
	unsigned line;
	unsigned discriminator; /* which of the line's blocks, as the compiler numbers them; 0: one
				 */
};
/*
 * Calls fn with the rows of each range in order: ascending, the first at its start, then one of
 * line 0 at its end. There are none without debug information, or if it can't be read, which prints
 * a note (line_rows.c). Pass all ranges of an object at once: each call reads its debug information
 * again.
 */
void object__lines(const struct object *o, const struct range *ranges, size_t n,
		   void (*fn)(void *ctx, const struct line_row *row), void *ctx);

/* A function of the source that has code, or a copy of one that was inlined. */
struct source_scope {
	const char *name, *raw; /* in the source; in the symbol table, NULL: the same */
	const char *file;	/* where it is declared, as in struct line_row */
	unsigned line;		/* 0: not known */
	uint32_t parent;	/* the number of the one that it was inlined in; NO_SCOPE: none */
	/* of what was inlined: the place of the call; NULL, 0: not known */
	const char *call_file;
	unsigned call_line, call_discriminator;
	uint64_t entry; /* where control enters it; 0: not known */
};
#define NO_SCOPE UINT32_MAX

/* An operand of the instruction at vaddr: a register, or memory at a register, or at no register
 * (REG_NONE), plus disp. */
struct operand_place {
	uint64_t vaddr;
	uint8_t kind; /* enum operand_kind: REG, MEM */
	uint8_t base;
	uint8_t size; /* bytes */
	int64_t disp;
};
/* In trace files: append only. */
enum variable_type {
	VARIABLE_NONE,
	VARIABLE_SIGNED,
	VARIABLE_UNSIGNED,
	VARIABLE_POINTER,
	VARIABLE_TYPES
};
/* What that is in the source, "p->count"; name NULL: not known. The name lives as long as the
 * object. */
struct variable {
	const char *name;
	uint8_t type; /* enum variable_type */
};
/* Of places, which are ascending. Without debug information none is known (variables.c). */
void object__variables(const struct object *o, const struct operand_place *places, size_t n,
		       struct variable *out);

struct scope_calls {
	/* The next one; they are numbered from 0. Strings live as long as the object. */
	void (*scope)(void *ctx, const struct source_scope *s);
	/* Code of the scope, and of those that were inlined in it. */
	void (*range)(void *ctx, uint32_t scope, uint64_t start, uint64_t end);
};
/*
 * The scopes of the code in ranges, which are ascending: a scope is behind the one that it was
 * inlined in, and its ranges are behind it. Like object__lines() without debug information, and as
 * to calls (scopes.c).
 */
void object__scopes(const struct object *o, const struct range *ranges, size_t n,
		    const struct scope_calls *calls, void *ctx);

/* The prototypes of functions by debug information; those that it doesn't have, or whose parameters
 * may be elsewhere, are absent (prototypes.c). */
void object__prototypes(const struct object *o, const struct type_query *queries, size_t n,
			const struct type_names *members, struct types *out);

/*
 * Which functions the code at vaddr was inlined from, as they are shown, innermost first, each on a
 * line; NULL: none, or it isn't known (inlined.c). Lives as long as the object.
 */
const char *object__inlined_at(const struct object *o, uint64_t vaddr);
/* Reads that, for all code; once. */
void object__read_inlined(const struct object *o);
/* For objects of trace files. names must outlive the object. */
void object__add_inlined(struct object *o, uint64_t vaddr, const char *names);
void inlined__free(struct inlined *in);

/*
 * FILE:LINE by debug information: appends the functions that start there, or selections of the
 * line's code. text: as the user gave it, for messages. -ENOENT, -EPROTO.
 */
int object__resolve_line(struct object *o, const char *text, const char *file, uint64_t line,
			 function_vec *v);
/* Does path, from debug information, end in the components of asked? */
bool path__is_file(const char *path, const char *asked);

/* ---- static probes (usdt.c) ---- */

struct usdt_probe {
	const char *provider, *name, *arguments; /* live as long as the object */
	uint64_t vaddr, semaphore;		 /* semaphore 0: none */
};
typedef VEC(struct usdt_probe) usdt_vec;
/* Appends the object's static probes: a name may be at several places. */
void object__usdt(const struct object *o, usdt_vec *out);

#endif
