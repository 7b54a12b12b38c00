/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object: ELF files, the kernel and modules, and their functions, as plain data. Public header of
 * src/object.
 *
 * An object is an ELF file, the running kernel or a kernel module: its bytes at their link-time
 * addresses, its symbols and its frames. A function is a symbol or a range of an object that is to
 * be traced. Later stages only use this data and don't read the file again.
 *
 * Addresses (vaddr) are link-time virtual addresses: p_vaddr of ELF; for the kernel and its modules
 * the running address. All strings and arrays of an object belong to it and live until
 * object__free().
 */
#ifndef BBTRACE_OBJECT_OBJECT_H
#define BBTRACE_OBJECT_OBJECT_H

#include "object/root/root.h"
#include "util/util.h"

#define OBJECT_LIMIT (8ull << 30) /* the most bytes of an object, or of its debug file */

/* From now on, debug files that are not on this machine are fetched from the servers that
 * DEBUGINFOD_URLS names (debuginfod.c). Returns -EINVAL with a message if that is not possible. */
int debuginfod__enable(void);

/* ---- what debug information has about code, as plans and trace files keep it ---- */

#define NO_SCOPE UINT32_MAX /* in place of a scope's number */

/* The type of a variable. In trace files: append only. */
enum variable_type {
	VARIABLE_NONE,
	VARIABLE_SIGNED,
	VARIABLE_UNSIGNED,
	VARIABLE_POINTER,
	VARIABLE_TYPES
};

/* ---- objects ---- */

enum object_kind { OBJECT_ELF, OBJECT_KERNEL, OBJECT_MODULE };

/* Bytes that are mapped when the object runs. ELF: one PT_LOAD's file-backed part. */
struct segment {
	uint64_t vaddr;	      /* first address */
	uint64_t size;	      /* bytes held in bytes[] */
	uint64_t offset;      /* file offset of the first byte; 0 for the kernel */
	const uint8_t *bytes; /* the code as in the file; for the kernel, the live text */
	bool exec;	      /* PF_X */
	bool write;	      /* PF_W */
	/* By byte: what was found of the plain instruction that starts there (src/code/plain.c); 0:
	 * nothing yet. NULL if that isn't kept. */
	uint8_t *plain;
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
	/* From the symbol table; 0 if not known: see object__extent(). */
	uint64_t size;
	const char *name;    /* raw (mangled), without version; PLT stubs: "puts@plt" */
	const char *version; /* "GLIBC_2.2.5" or NULL */
	const char *shown;   /* demangled; the same pointer as name if not mangled */
	const char *module;  /* kernel: the module's name; NULL for the kernel itself */
	uint8_t type;	     /* enum symbol_type */
	uint8_t args;	     /* enum symbol_args */
	bool global;	     /* STB_GLOBAL or STB_WEAK */
	/* Others may link to it: a visible symbol of .dynsym; kernel: EXPORT_SYMBOL. */
	bool exported;
	bool default_version; /* name@@version rather than name@version */
	/* Of a local symbol: its number among those of its name, by address, from 1 on
	 * (object__number_locals()); 0 if not numbered. */
	uint32_t number;
};

/* One FDE of .eh_frame: a range of code with one set of unwinding rules; or a function that was
 * found without one. */
struct frame {
	uint64_t vaddr, size;
	bool part; /* its first row's CFA is not that of a function's entry: a cold part */
	const uint64_t *pads; /* landing pads of its LSDA (.gcc_except_table), ascending */
	size_t npads;
	bool signal; /* a signal trampoline: it may start one byte before the code */
	bool found;  /* no FDE: found by control flow and pointers (src/object/search) */
	/* found, but its start isn't proved to be an entry: it may be a label within a function */
	bool unproved;
};

/* A slot of the GOT that the dynamic loader fills with the address of a function. */
struct got_slot {
	uint64_t vaddr;
	const char *name; /* of the function, as its PLT stub's symbol: "puts@plt" */
	uint64_t target;  /* if name is NULL: the function's address in the same object */
};

/* From an address on, code is in this mode (struct arch_modes), or it is data. */
enum mode_rank { MODE_BY_SECTION, MODE_BY_BRANCH, MODE_BY_PLT, MODE_BY_SYMBOL, MODE_BY_MAPPING };
struct code_mode {
	uint64_t vaddr;
	uint8_t mode, rank; /* enum mode_rank: how it is known */
};

/* Code that can't be probed, and why: kernel blacklist, notrace, ... */
struct noprobe {
	uint64_t vaddr, size;
	const char *reason;
};

/* A cold part, "foo.cold": the indices of its symbol and of its function's. */
struct cold_part {
	uint32_t part, owner;
};

struct rule_table;
struct inlined;

/* A file of an object whose debug sections are compressed, and its copy in which they aren't. */
struct unpacked_file {
	dev_t dev;
	ino_t ino;
	int fd; /* of the copy; -1: there is none */
	uint64_t size;
};

struct object {
	enum object_kind kind;
	char *path;	  /* real path; "kernel"; a module's name */
	struct root root; /* the root in which it was found */
	/* Leads to the file that was read, even if that is renamed or replaced; NULL if it is no
	 * file. */
	char *attach_path;
	uint16_t machine; /* e_machine of elf(5) */
	bool pie;	  /* ET_DYN */
	bool go;	  /* a Go program (golang.c) */
	bool mixed;	  /* it has data among its code, and nothing shows where */
	bool stripped; /* it was read from a file, and only exported functions have names, if any */
	int32_t go_g;  /* the offset of the current g from the thread pointer; 0 if not known */
	uint32_t go_goid;  /* the offset of goid in g; 0 if not known */
	uint64_t dev, ino; /* of the file, st_dev and st_ino; 0 for the kernel */
	uint32_t listed;   /* a module: the number of its symbols of any kind in kallsyms */
	uint8_t build_id[20];
	size_t build_id_len;	      /* 0 if there is none */
	uint64_t relro, relro_size;   /* PT_GNU_RELRO: read-only once the object is relocated */
	VEC(struct segment) segments; /* ascending, not overlapping */
	/* Only functions and PLT stubs; ascending by vaddr, aliases are kept. */
	VEC(struct symbol) symbols;
	/* By symbol: the highest end of it and all previous ones (object__index_symbols()). */
	VEC(uint64_t) reach;
	VEC(struct frame) frames;    /* ascending */
	VEC(struct got_slot) slots;  /* ascending */
	VEC(struct noprobe) noprobe; /* ascending */
	uint64_t main;	      /* of a program: main's address, by its start code; 0 if not known */
	VEC(uint64_t) finals; /* ascending entries of functions: object__is_final() */
	VEC(struct code_mode) modes; /* ascending; empty if there is one mode */
	struct map64 states;	     /* address -> the state of an instruction; 0 if absent */
	void *priv; /* private data of the reader that filled it in; freed by object__free() */
	void (*free_priv)(void *priv); /* NULL for free(priv) */
	/* Objects from a trace file: the recorded bytes; their segments have none. */
	VEC(struct segment) kept;
	VEC(struct cold_part) cold_parts; /* by owner; filled in by cold_parts.c on first use */
	struct map64 cold_part_of;	  /* part -> 1 + its index in cold_parts */
	bool cold_parts_known;
	bool numbered;	    /* local symbols have their number, or get none */
	bool no_debug;	    /* its debug information turned out to be unreadable */
	bool debug_is_part; /* a note was printed that a file of its debug information is missing */
	struct rule_table *rules; /* rules.c; NULL until they are read */
	char *split_units; /* the answer of split_units.c, split_len bytes; NULL until it is asked
			      for */
	size_t split_len;
	struct inlined *inlined; /* inlined.c; NULL if nothing is known */
	VEC(char *) answers;	 /* strings of its debug information */
	VEC(struct unpacked_file) unpacked;
	uint8_t identity[32]; /* a digest of it as it was read; if identified is set */
	bool identified;
};
/* Returns true if the file itself has a table of source lines. */
bool object__has_line_table(const struct object *o);
/* Returns true if UPX packed the file: its code is in it compressed alone. */
bool object__is_packed(const struct object *o);
/* Returns true if it is the running kernel, or a module of it. */
static inline bool object__is_kernel(const struct object *o)
{
	return o->kind != OBJECT_ELF;
}

/* A file of an object that was found and opened. */
struct found {
	int fd;
	char *path;	  /* the real path, for display */
	struct root root; /* the root in which it was found */
};
void found__close(struct found *f);
/*
 * Reads an ELF file; takes ownership of *f. Returns -ENOEXEC if it is not an ELF file, damaged, or
 * of an unknown architecture, or another error. A message is set, which quotes nothing from the
 * file.
 */
int object__read(struct found *f, struct object **out);
/* Reads the ELF file at path in our own root, without a search. As object__read(), and -ENOENT,
 * -EACCES, ... */
int object__open(const char *path, struct object **out);
/* The same beneath another root, which stays the caller's. */
int object__open_in(const struct root *root, const char *path, struct object **out);
void object__free(struct object *o);
/* Appends its build-id in hexadecimal; nothing if it has none. */
void object__put_build_id(const struct object *o, struct str *s);
/* Appends "build-id 1f...", or "no build-id". */
void object__put_build(const struct object *o, struct str *s);
/* Return true if two objects, or an object and an ELF file, have the same build-id. */
bool object__same_build(const struct object *a, const struct object *b);
bool object__is_build(const struct object *o, int fd);
/* Calls fn with all that plans and copies of its code follow from, in an order that depends on
 * nothing else. Returns false if that can't be said (elf/identity.c). */
bool object__identity(const struct object *o, void (*fn)(void *ctx, const void *data, size_t len),
		      void *ctx);

/* Fills in all symbol.shown, which is the raw name until a lookup returns the symbol. To be called
 * before iterating over o->symbols. */
void object__demangle(struct object *o);

/* Fills in the symbol.number of all local symbols of a program. */
void object__number_locals(const struct object *o);

/*
 * To be called when all symbols are there: without it, lookups of an address that no symbol covers
 * examine all of them. Not for the kernel, whose symbols have no sizes: the one before an address
 * covers it.
 */
void object__index_symbols(struct object *o);

/* Objects of trace files (adopt.c). Functions may share code: sorts o->kept, and drops what the
 * previous piece of code contains. */
void object__settle_code(struct object *o);
/* Adds the code and the symbols of another object of the same build, which must live as long. shift
 * is the address in o minus that in from. */
void object__adopt(struct object *o, const struct object *from, uint64_t shift);

/* Pure lookups. NULL, 0 or false if there is none. */
const struct segment *object__segment_at(const struct object *o, uint64_t vaddr);
/* Returns the bytes at vaddr and, in *avail, how many follow within the segment. */
const uint8_t *object__bytes(const struct object *o, uint64_t vaddr, size_t *avail);
/* Returns true if it is in an executable section or, without section headers, segment. */
bool object__is_code(const struct object *o, uint64_t vaddr);
/* Returns true if the instruction right before vaddr is a call, so that vaddr can be where one
 * returns to. */
bool object__follows_call(const struct object *o, uint64_t vaddr);
/* Returns the code address of the instruction at vaddr, which struct arch's decode, detail and
 * format take: vaddr itself if an architecture has one instruction set (modes.c). */
uint64_t object__code_address(const struct object *o, uint64_t vaddr);
/* Returns the state in which control falls through to vaddr; src/code finds it. */
uint8_t object__code_state(const struct object *o, uint64_t vaddr);
void object__set_code_state(const struct object *o, uint64_t vaddr, uint8_t state);
/* Returns true if it is data within code, by the symbols. */
bool object__is_data(const struct object *o, uint64_t vaddr);
/* Returns where the code is that an address in a file or a register leads to: the address without
 * its mode. */
uint64_t object__code_vaddr(const struct object *o, uint64_t address);
/* Returns true if these bytes are read-only while the object runs, apart from relocations. */
bool object__is_constant(const struct object *o, uint64_t vaddr, uint64_t len);
const struct frame *object__frame_at(const struct object *o, uint64_t vaddr);
const struct noprobe *object__noprobe_at(const struct object *o, uint64_t vaddr);
const struct got_slot *object__slot_at(const struct object *o, uint64_t vaddr);
/*
 * Returns the symbol that covers vaddr (object__extent() bounds one without a size). Of several,
 * the one with the nearest start, then a global one, then one with the default version, then the
 * first by name.
 */
const struct symbol *object__symbol_at(const struct object *o, uint64_t vaddr);
/* Returns the symbol with .shown filled in. */
const struct symbol *symbol__show(const struct object *o, const struct symbol *s);
/* Returns the index of the first symbol at exactly vaddr, or o->symbols.len. */
size_t object__symbols_from(const struct object *o, uint64_t vaddr);
/* Returns the size of the function at s: its st_size; without one, up to the next symbol, the end
 * of its FDE or its segment. */
uint64_t object__extent(const struct object *o, const struct symbol *s);
bool object__offset_to_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr);
bool object__vaddr_to_offset(const struct object *o, uint64_t vaddr, uint64_t *offset);

/* ---- variables (data.c) ---- */

struct data_symbol {
	uint64_t vaddr, size; /* tls: vaddr is within the thread's block */
	bool tls;	      /* each thread has its own */
};
typedef VEC(struct data_symbol) data_vec;
/* Sets the address of the symbol of exactly this name, len bytes. Returns false if there is none,
 * if there are several with different addresses, or if each thread has its own. */
bool object__find_address(struct object *o, const char *name, size_t len, uint64_t *vaddr);
/* Appends a program's variables of that name; if there are none, those of functions, which
 * compilers call name.1. For the kernel there are none. */
void object__find_data(struct object *o, const char *name, data_vec *out);
/* Returns the name of the variable that holds vaddr, malloc()ed; NULL if none does, or its size is
 * not known. *offset: within it. */
char *object__data_at(struct object *o, uint64_t vaddr, uint64_t *offset);

#endif
