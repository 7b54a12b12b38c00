/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types: the parameters and results of functions, whatever they were read from: debug information,
 * the kernel's BTF, or a table made from headers. Expressions over them, and where a function finds
 * its parameters. Public header of src/types. Pure.
 */
#ifndef BBTRACE_TYPES_TYPES_H
#define BBTRACE_TYPES_TYPES_H

#include "util/util.h"

/* ---- types ---- */

#define NO_TYPE	  UINT32_MAX
#define TYPES_MAX (1u << 20) /* rows of a table */

enum type_kind {
	TYPE_KIND_UNKNOWN, /* one that can't be shown, of a size that may not be known; void */
	TYPE_KIND_SIGNED,
	TYPE_KIND_UNSIGNED,
	TYPE_KIND_BOOL,
	TYPE_KIND_CHAR, /* plain char: a pointer to it is a string */
	TYPE_KIND_FLOAT,
	TYPE_KIND_POINTER, /* also references, functions */
	TYPE_KIND_ENUM,
	TYPE_KIND_STRUCT, /* union, class */
	TYPE_KIND_ARRAY,
	TYPE_KIND_COMPLEX, /* a floating-point number that has parts, or a decimal one */
	TYPE_KINDS
};

#define PLAIN_MAX 64
enum type_passed {
	PASSED_BY_VALUE,
	PASSED_BY_ADDRESS,
	PASSED_SOMEHOW, /* one of these */
};

/* All tables refer to each other by numbers, and to names by offsets in .names; 0 for none. */
struct type {
	uint8_t kind;
	uint8_t plain;	/* struct: nothing but integers and pointers, each where its size has it;
			   known only of those of at most PLAIN_MAX bytes */
	uint8_t passed; /* struct: enum type_passed */
	uint8_t whole;	/* struct: parts are all that it contains */
	uint32_t name;
	uint32_t ref;	   /* pointer, array: of what; NO_TYPE: not known, or void */
	uint32_t first, n; /* struct: members, enum: enumerators */
	uint32_t first_part, nparts;
	uint64_t size; /* bytes; 0: not known */
};

/* What a struct that is passed by value contains, in the order of the source. */
enum type_part_kind {
	PART_VALUE,
	PART_STRUCT, /* the n next parts are in it; a base of a class: name "<Base>" */
	PART_ARRAY,
	PART_KINDS
};
#define TYPE_PARTS_MOST 64
struct type_part {
	uint32_t name; /* 0: an element of an array, or an unnamed struct */
	uint32_t type; /* of VALUE */
	uint32_t n;
	uint32_t offset;      /* bytes from the start of the whole */
	uint8_t bit_at, bits; /* as in struct type_member */
	uint8_t kind;	      /* enum type_part_kind */
};

/* Only the members that were asked for are there. */
struct type_member {
	uint32_t name; /* 0: its members are those of the struct */
	uint32_t type;
	uint64_t offset;      /* bytes */
	uint8_t bit_at, bits; /* a bit field: from the lowest bit at offset on; bits 0: none */
};

struct type_enumerator {
	uint32_t name;
	int64_t value;
};

/* ---- where a value is ---- */

enum value_from {
	FROM_NOWHERE, /* it isn't recorded */
	FROM_REGISTER,
	FROM_SYSCALL, /* an argument of a system call */
	FROM_RESULT,  /* the return register */
	FROM_STACK,   /* word .reg above the stack pointer of the function's entry */
	FROMS
};

struct value_place {
	uint8_t from; /* enum value_from */
	/* The registers of the first and of the second word. REG_NONE: it has none, or one whose
	 * content is not recorded. */
	uint8_t reg, second;
	bool by_address;  /* that is the address of the value */
	uint16_t missing; /* a bit for each byte that isn't there */
};

/* What debug information has about the location of a parameter when the function is entered. */
enum param_where {
	WHERE_CONVENTION, /* where calls pass it; the function moves it elsewhere later */
	WHERE_PLACE,
	WHERE_NOWHERE, /* it has none, or none that is recorded */
	WHERES
};

/* ---- prototypes ---- */

struct type_param {
	uint32_t name, type;
	uint8_t where;	/* enum param_where */
	uint8_t passed; /* 1 + enum type_passed, if its type may be passed SOMEHOW; 0: not known */
	struct value_place place; /* of PLACE */
};

struct prototype {
	uint32_t id;	 /* of the function, as the asker numbers them */
	uint8_t changed; /* the compiler may have changed how it is called */
	uint32_t result;
	uint32_t first, n; /* params */
};

struct types {
	VEC(struct type) types;
	VEC(struct type_member) members;
	VEC(struct type_part) parts;
	VEC(struct type_enumerator) enumerators;
	VEC(struct type_param) params;
	VEC(struct prototype) prototypes;
	struct str names; /* NUL-terminated; the first is "" */
};

void types__free(struct types *t);
/* Appends a name; 0 for NULL and "". */
uint32_t types__add_name(struct types *t, const char *name);
static inline const char *types__name(const struct types *t, uint32_t name)
{
	return name ? t->names.data + name : NULL;
}
static inline const struct type *types__at(const struct types *t, uint32_t type)
{
	return type == NO_TYPE ? NULL : &t->types.data[type];
}
/* No more types are taken. */
static inline bool types__are_full(const struct types *t)
{
	return t->types.len >= TYPES_MAX;
}
/* Once all prototypes are there. */
void types__sort(struct types *t);
/* Returns the prototype of the function to which the caller gave this number; NULL if not known. */
const struct prototype *types__prototype(const struct types *t, uint32_t id);
/* Puts it as in C: "const char *" without the qualifiers. */
void types__put_name(const struct types *t, uint32_t type, struct str *out);

/* Puts them as bytes, between processes; they are taken only if all numbers are right. */
void types__put(const struct types *t, struct str *out);
bool types__take(struct types *t, const void *data, size_t len);

/* ---- whose types are read ---- */

/* A function whose prototype is asked for. */
struct type_query {
	uint64_t vaddr;	  /* its entry */
	const char *name; /* of its symbol; NULL: none */
	uint32_t id;
};

/* Which members of structs are worth reading: those that expressions name. */
struct type_names {
	VEC(const char *) all; /* sorted */
};
bool type_names__has(const struct type_names *n, const char *name);

/* Returns true if the name shows that the compiler may have changed the parameters (.isra,
 * .constprop, .part). */
bool type_query__is_changed(const char *name);

/* ---- a table of prototypes, made from headers (table.c) ---- */

enum type_table { TABLE_LIBC, TABLE_SYSCALLS };
/* Adds the prototype of a function of this name. False: the table has none. */
bool types__from_table(struct types *t, enum type_table which, const char *name, uint32_t id);
/* Returns which parameters of the system call are strings, one bit each. */
uint32_t types__syscall_texts(const char *name);

/* ---- expressions (expression.c) ---- */

enum expression_step {
	WALK_MEMBER, /* .name, or -> with .deref */
	WALK_INDEX,  /* [number] */
	WALK_DEREF,  /* * */
};
#define EXPRESSION_STEPS 8
/* name, name->member, name.member, name[1], *name. */
struct expression {
	char *text;  /* as written */
	char *names; /* what follows points into it */
	const char *base;
	struct {
		enum expression_step what;
		const char *name;
		int64_t number;
		bool deref;
	} steps[EXPRESSION_STEPS];
	unsigned n;
};
typedef VEC(struct expression) expression_vec;

/* Separated by commas. -EINVAL with a message. */
int expressions__parse(const char *text, expression_vec *out);
void expressions__free(expression_vec *v);
/* The members that they name. names borrows from v. */
void expressions__names(const expression_vec *v, struct type_names *names);

/* ---- conditions (condition.c) ---- */

enum compare_how { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

/* A constant, of the type that C gives it: int, unsigned int, long or unsigned long. */
struct constant {
	uint64_t number; /* sign-extended */
	bool wide, is_unsigned;
};

enum constant_kind { CONSTANT_NUMBER, CONSTANT_CHAR, CONSTANT_NAME, CONSTANT_TEXT };

/* A comparison of an expression with a constant. */
struct value_condition {
	struct expression left;
	enum compare_how how;
	enum constant_kind kind;
	struct constant constant; /* NUMBER, CHAR */
	bool minus;		  /* NAME: of -NAME */
	char *text;		  /* NAME; TEXT: unescaped, without a 0 in it */
	char *written;		  /* all of it */
};
typedef VEC(struct value_condition) value_condition_vec;

#define CONDITIONS_MOST 8
/* Several are joined by &&; appended to out. -EINVAL with a message. */
int conditions__parse(const char *text, value_condition_vec *out);
void conditions__free(value_condition_vec *v);
/* All of them, as they are parsed again. */
void conditions__put(const value_condition_vec *v, struct str *out);

/* A value's type, as comparisons take it: promoted as C does. */
struct compare_type {
	bool wide, is_unsigned;
};
/* number is extended by its own type. */
bool comparison__holds(enum compare_how how, uint64_t number, struct compare_type type,
		       struct constant with);
/* What both are converted to; *with is converted. */
struct compare_type comparison__type(struct compare_type type, struct constant *with);

/* ---- errors (errnos.c) ---- */

#define ERRNO_MAX 4095
/* Returns "ENOENT"; NULL if it has none. And the reverse; 0 if it is the name of none. */
const char *errno__name(unsigned error);
int errno__find(const char *name);

/* ---- values (place.c, classes.c, value.c, parts.c) ---- */

/* In trace files: append only. */
enum value_kind {
	KIND_UNKNOWN, /* as bytes in hex */
	KIND_SIGNED,
	KIND_UNSIGNED,
	KIND_BOOL,
	KIND_POINTER,
	KIND_ENUM,
	KIND_TEXT, /* a string in memory */
	KIND_CHAR,
	KIND_FLOAT,
	KIND_PAIR,   /* two words, in two registers */
	KIND_VOID,   /* of a result: there is none */
	KIND_STRUCT, /* the next values, size of them, are its members */
	KIND_ARRAY,  /* likewise, its elements */
	KINDS_OF_VALUES
};

#define VALUE_STEPS    6
#define VALUE_TEXT_MAX 64 /* bytes of a string that are shown; one more shows that it continues */

/* A value that is found in a hit. */
struct value {
	struct value_place place;
	uint8_t kind;	      /* enum value_kind */
	uint8_t size;	      /* bytes */
	uint8_t bit_at, bits; /* of a part of a word; bits 0: it is none */
	uint8_t chunk;	      /* bytes that are loaded; 0: size */
	uint8_t at;	      /* its offset in them */
	uint8_t array;	      /* of TEXT: size bytes, among which may be no 0 */
	uint32_t enumeration; /* of ENUM: the type; else NO_TYPE */
	/* Loaded from memory: address = the place's value + step[0]; then for each further step,
	 * the word there + step; the value is there. 0: it is the place's value itself. */
	uint8_t nsteps;
	int64_t steps[VALUE_STEPS];
};

struct arch;
/* How the parameters of a function are passed. */
struct callee {
	const struct arch *arch;
	bool syscall; /* its arguments are those of a system call */
	bool kernel;
};
/* Sets the place of each parameter of the prototype (n of them), and whether the result is in the
 * return register. */
void callee__places(const struct callee *c, const struct types *t, const struct prototype *p,
		    struct value_place *params, struct value_place *result);
/* Calls fn with the value of each part of a struct that is at this place, after that of the whole
 * (KIND_STRUCT). path: "name.member[2]". Returns false if its parts are not known (parts.c). */
typedef void part_value_fn(void *ctx, const char *path, uint32_t type, const struct value *v);
bool value__each_part(const struct types *t, const struct callee *c, uint32_t type,
		      const struct value_place *at, const char *name, part_value_fn *fn, void *ctx);
/* Sets where a part of what is at a place is, size bytes at offset, or some of its bits: out's
 * place, bit_at, bits, chunk, at, steps. whole: the size of all of it (parts.c). */
void value__locate(const struct callee *c, const struct value_place *at, uint64_t whole,
		   const struct type_part *part, uint64_t size, struct value *out);
/* As value__locate(), of a word that is an address: out is what is there. Returns false if it is
 * nowhere. */
bool value__follow(const struct callee *c, const struct value_place *at, uint64_t offset,
		   struct value *out);
/* Sets the places of a parameter, number param, or of the result (UINT32_MAX). */
void callee__place(const struct callee *c, const struct types *t, const struct prototype *p,
		   uint32_t param, struct value_place *out);
enum value_kind value__kind_of(const struct type *type);
/* Returns true if it is a pointer to characters, or an array of them. */
bool type__is_text(const struct types *t, const struct type *type);
/* The value of a parameter, number param, or of the result (UINT32_MAX). */
void value__of_param(const struct types *t, const struct prototype *p, const struct callee *c,
		     uint32_t param, struct value *out);
/* Sets the value of an expression. Returns -ENOENT if it names no parameter (or result, "ret") of
 * the function; -EINVAL if it is not possible. With a message. */
int value__of_expression(const struct types *t, const struct prototype *p, const struct callee *c,
			 const struct expression *e, struct value *out);

#endif
