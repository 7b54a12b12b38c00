// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decoding compared with objdump: every form of a branch that the assembler writes, all
 * instructions of libc and of a program. And the kernel's uprobe rules for single byte strings.
 */
#include <ctype.h>
#include <elf.h>
#include "code_fixture.h"

static const struct arch *x86;

/* ---- a line of objdump -d ---- */

struct line {
	uint64_t addr;
	unsigned len;
	uint8_t bytes[16];
	char text[128]; /* mnemonic and operands, prefixes stripped */
};

static char *strip_prefixes(char *text)
{
	static const char *const prefixes[] = {
		"bnd ",	   "notrack ", "rep ",	    "repz ",	 "repnz ", "data16 ", "cs ",
		"ds ",	   "es ",      "ss ",	    "lock ",	 "rex ",   "rex.W ",  "rex.B ",
		"addr32 ", "rex.WB ",  "xacquire ", "xrelease ", "fs ",	   "gs "};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		while (*text == ' ')
			text++;
		if (strncmp(text, prefixes[i], strlen(prefixes[i])))
			continue;
		text += strlen(prefixes[i]);
		i = -1;
	}
	return text;
}

/* Long instructions go on, bytes only, in the next line: more then only adds to *out. */
static bool parse_line(char *text, struct line *out, bool *more)
{
	char *p = text, *end;
	uint64_t addr = strtoull(p, &end, 16);
	struct line l = {.addr = addr};
	unsigned byte;

	*more = false;
	if (end == p || *end != ':' || end[1] != '\t')
		return false;
	p = end + 2;
	while (l.len < 15 && isxdigit(*p) && sscanf(p, "%2x", &byte) == 1 && p[2] == ' ') {
		l.bytes[l.len++] = byte;
		p += 3;
	}
	p = strchr(p, '\t');
	if (!p) {
		*more = true;
		for (unsigned i = 0; i < l.len && out->len < 15; i++)
			out->bytes[out->len++] = l.bytes[i];
		return true;
	}
	p[strcspn(p, "#\n")] = 0;
	snprintf(l.text, sizeof(l.text), "%s", strip_prefixes(p + 1));
	*out = l;
	return true;
}

/* ---- objdump's lines compared with the decoder's instructions ---- */

static void put_operand(const struct operand *op, char *out, size_t size)
{
	static const char *const r32[] = {"eax",  "ecx",  "edx",  "ebx", "esp",	 "ebp",
					  "esi",  "edi",  "r8d",  "r9d", "r10d", "r11d",
					  "r12d", "r13d", "r14d", "r15d"};
	const char *const *names = op->addr32 ? r32 : x86->reg_names;
	struct str s = {0};

	if (op->kind == OPERAND_REG) {
		snprintf(out, size, "*%%%s", x86->reg_names[op->base]);
		return;
	}
	str__printf(&s, "*%s", op->seg == SEG_FS ? "%fs:" : op->seg == SEG_GS ? "%gs:" : "");
	if (op->base == REG_NONE && op->index == REG_NONE)
		str__printf(
			&s, "0x%llx",
			(unsigned long long)(op->addr32 ? (uint32_t)op->disp : (uint64_t)op->disp));
	else if (op->disp)
		str__printf(&s, "%s0x%x", op->disp < 0 ? "-" : "",
			    op->disp < 0 ? -(unsigned)op->disp : (unsigned)op->disp);
	if (op->base != REG_NONE || op->index != REG_NONE) {
		str__puts(&s, "(");
		if (op->base == REG_IP)
			str__puts(&s, op->addr32 ? "%eip" : "%rip");
		else if (op->base != REG_NONE)
			str__printf(&s, "%%%s", names[op->base]);
		if (op->index != REG_NONE)
			str__printf(&s, ",%%%s,%d", names[op->index], op->scale);
		str__puts(&s, ")");
	}
	snprintf(out, size, "%s", s.data);
	str__free(&s);
}

/* objdump's 0x0(%rip), 0x0(%rbp) and (%rax,%riz,1) as put_operand() writes them. */
static void normalise(char *text)
{
	char *p = strstr(text, ",%riz,1"), *q;

	if (!p)
		p = strstr(text, ",%eiz,1");
	if (p)
		memmove(p, p + 7, strlen(p + 7) + 1);
	q = strstr(text, "0x0(");
	if (q && (q == text || q[-1] == '*' || q[-1] == ':'))
		memmove(q, q + 3, strlen(q + 3) + 1);
	p = text + strlen(text);
	while (p > text && p[-1] == ' ')
		*--p = 0;
}

/* Is the mnemonic that binutils writes the same as the decoder's? */
static bool same_mnemonic(const char *theirs, const char *ours)
{
	size_t n = strcspn(theirs, " ,");
	static const char *const pairs[][2] = {
		{"jmpq", "jmp"},       {"callq", "call"},	{"retq", "ret"},
		{"lretq", "lret"},     {"iretq", "iret"},	{"sysretq", "sysret"},
		{"sysretl", "sysret"}, {"iretl", "iret"},	{"jmpw", "jmp"},
		{"callw", "call"},     {"sysexitq", "sysexit"}, {"sysexitl", "sysexit"},
		{"loopl", "loop"},     {"loopel", "loope"},	{"loopnel", "loopne"},
	};

	if (strlen(ours) == n && !strncmp(theirs, ours, n))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (strlen(pairs[i][0]) == n && !strncmp(theirs, pairs[i][0], n))
			return !strcmp(pairs[i][1], ours);
	return false;
}

static bool is_branch_text(const char *t)
{
	return t[0] == 'j' || !strncmp(t, "call", 4) || !strncmp(t, "ret", 3) ||
	       !strncmp(t, "loop", 4) || !strncmp(t, "lcall", 5) || !strncmp(t, "ljmp", 4) ||
	       !strncmp(t, "lret", 4) || !strncmp(t, "iret", 4) || !strncmp(t, "sysret", 6) ||
	       !strncmp(t, "sysexit", 7) || !strncmp(t, "sysenter", 8) ||
	       !strncmp(t, "xbegin", 6) || !strncmp(t, "xabort", 6) || !strncmp(t, "uiret", 5);
}

/* NULL: the decoder agrees with objdump's line. */
static const char *disagreement(const struct line *l, struct insn *i)
{
	char ours[64], *theirs;

	if (x86->decode(l->bytes, l->len, l->addr, false, i))
		return strstr(l->text, "(bad)") ? NULL : "not decoded";
	if (strstr(l->text, "(bad)"))
		return "decoded";
	if (i->len != l->len)
		return "length";
	if (is_branch_text(l->text) != (i->flow == FLOW_BRANCH || i->flow == FLOW_UNSUPPORTED))
		return "is it a branch?";
	if (!i->mnemonic)
		return NULL;
	if (!same_mnemonic(l->text, i->mnemonic))
		return "mnemonic";
	theirs = (char *)l->text + strcspn(l->text, " ");
	theirs += strspn(theirs, " ");
	if (i->target && i->flow == FLOW_BRANCH && strtoull(theirs, NULL, 16) != i->target)
		return "target";
	if (i->kind == BRANCH_IJMP || i->kind == BRANCH_ICALL) {
		normalise(theirs);
		put_operand(&i->operand, ours, sizeof(ours));
		if (strcmp(theirs, ours))
			return "operand";
	}
	return NULL;
}

struct tally {
	unsigned lines, branches, kinds[BRANCH_KINDS], unsupported, wrong;
};

static void judge(const struct line *l, struct tally *t)
{
	struct insn i = {0};
	const char *why = l->len ? disagreement(l, &i) : NULL;

	if (!l->len)
		return;
	t->lines++;
	t->kinds[i.kind]++;
	t->unsupported += i.flow == FLOW_UNSUPPORTED;
	if (why && t->wrong++ < 20)
		printf("# 0x%llx %s: %s (we: %s to 0x%llx, %u bytes)\n",
		       (unsigned long long)l->addr, l->text, why, i.mnemonic ? i.mnemonic : "-",
		       (unsigned long long)i.target, i.len);
}

/* Every line that command prints. */
static void compare(const char *command, struct tally *t)
{
	FILE *f = popen(command, "r");
	struct line l = {0};
	char text[512];

	memset(t, 0, sizeof(*t));
	while (f && fgets(text, sizeof(text), f)) {
		struct line next = l;
		bool more;

		if (!parse_line(text, &next, &more))
			continue;
		if (more) {
			l = next;
			continue;
		}
		judge(&l, t);
		l = next;
	}
	judge(&l, t);
	if (f)
		pclose(f);
}

/* ---- all that the assembler can write ---- */

static const char *const jcc[] = {"jo", "jno", "jb", "jae", "je", "jne", "jbe", "ja",
				  "js", "jns", "jp", "jnp", "jl", "jge", "jle", "jg"};

static void write_direct(FILE *f)
{
	fputs("back:\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(jcc); i++)
		fprintf(f,
			"%s 1f\n%s 2b\n1:\n%s far\n%s,pt far\n%s,pn 1b\n.byte 0xf2; %s far\n2:\n",
			jcc[i], i ? jcc[i] : "nop\n2: jo", jcc[i], jcc[i], jcc[i], jcc[i]);
	fputs("3: loop 3b\nloope 3b\nloopne 3b\njrcxz 3b\njecxz 3b\naddr32 loop 3b\naddr32 loope 4f\n"
	      "addr32 loopne 4f\n4: jmp 4b\njmp far\njmp back\n{disp32} jmp 4b\ncall far\ncall back\n"
	      ".byte 0xf2; call far\n.byte 0xf2; jmp far\n.byte 0xf2; jmp 4b\n.byte 0xf2; ret\nrep ret\nret\nret $16\n.byte 0xf2; ret $8\n"
	      "data16 rex.W call far\n",
	      f);
}

static void write_indirect(FILE *f, const char *mnemonic)
{
	static const char *const segs[] = {"", "%fs:", "%gs:"};
	static const char *const disps[] = {"", "0x10", "-0x80", "0x12345678"};

	for (unsigned b = 0; b < 16; b++) {
		fprintf(f, "%s *%%%s\nnotrack %s *%%%s\n.byte 0xf2; %s *%%%s\n", mnemonic,
			x86->reg_names[b], mnemonic, x86->reg_names[b], mnemonic,
			x86->reg_names[b]);
		for (unsigned d = 0; d < 4; d++)
			fprintf(f, "%s *%s%s(%%%s)\n", mnemonic, segs[d % 3], disps[d],
				x86->reg_names[b]);
		for (unsigned i = 0; i < 16; i++)
			if (i != 4)
				fprintf(f, "%s *%s%s(%%%s,%%%s,%d)\n", mnemonic, segs[(b + i) % 3],
					disps[(b + i) % 4], x86->reg_names[b], x86->reg_names[i],
					1 << (b + i) % 4);
		if (b != 4)
			fprintf(f, "%s *0x20(,%%%s,8)\n", mnemonic, x86->reg_names[b]);
	}
	fprintf(f,
		"%s *0x1234(%%rip)\n%s *-0x1234(%%rip)\n%s *%%fs:0x28\n%s *0x1000\n%s *%%gs:(%%rax)\n"
		"%s *(%%eax)\n%s *0x8(%%esp)\n%s *0x8(%%r13d,%%r12d,4)\n%s *0x10(%%eip)\nnotrack %s *0x0(%%rip)\n",
		mnemonic, mnemonic, mnemonic, mnemonic, mnemonic, mnemonic, mnemonic, mnemonic,
		mnemonic, mnemonic);
}

static void test_forms(void)
{
	FILE *f = fopen(scratch__path("forms.s"), "w");
	struct tally t;
	char cmd[256];

	write_direct(f);
	write_indirect(f, "jmp");
	write_indirect(f, "call");
	fputs("lcall *(%rax)\nljmp *0x8(%rsp)\nlret\nlret $4\niretq\niret\nsysretq\nsysenter\nxbegin 1f\n1: xabort "
	      "$1\nxend\nsyscall\nint $0x80\nint3\nhlt\nud2\nendbr64\nnop\npause\nlock cmpxchg %rdx,(%rdi)\n"
	      ".space 300, 0x90\nfar: nop\n",
	      f);
	fclose(f);
	ok(run("as -o %s/forms.o %s/forms.s && ld -Ttext=0x400000 -e 0 -o %s/forms %s/forms.o",
	       scratch, scratch, scratch, scratch),
	   "the assembler takes all forms of branches");
	snprintf(cmd, sizeof(cmd), "objdump -d %s", scratch__path("forms"));
	compare(cmd, &t);
	is(t.wrong, 0, "%u forms decode as objdump shows them", t.lines);
	ok(t.kinds[BRANCH_JCC] >= 96, "%u forms are conditional jumps", t.kinds[BRANCH_JCC]);
	is(t.kinds[BRANCH_LOOP], 8, "eight forms are loops");
	ok(t.kinds[BRANCH_IJMP] > 350 && t.kinds[BRANCH_ICALL] == t.kinds[BRANCH_IJMP],
	   "%u forms are indirect jumps, and as many are indirect calls", t.kinds[BRANCH_IJMP]);
	is(t.unsupported, 10, "ten forms are far and transactional branches");
}

static void test_file(const char *path)
{
	struct tally t;
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "objdump -d -j .text %s 2>/dev/null", path);
	compare(cmd, &t);
	ok(t.lines > 1000, "%s has %u instructions", path, t.lines);
	is(t.wrong, 0, "%s: its instructions decode as objdump shows them", path);
}

/* ---- flow, and what the kernel does with a uprobe ---- */

struct row {
	const char *bytes;
	uint8_t len, flow, kind, refusal;
	bool emulated, kernel;
	const char *what;
};

#define ROW(b, flow, kind, refusal, emulated, what)                                                \
	{                                                                                          \
		b, sizeof(b) - 1, flow, kind, refusal, emulated, false, what                       \
	}
#define KROW(b, flow, kind, refusal, emulated, what)                                               \
	{                                                                                          \
		b, sizeof(b) - 1, flow, kind, refusal, emulated, true, what                        \
	}

static const struct row rows[] = {
	ROW("\x75\x10", FLOW_BRANCH, BRANCH_JCC, PROBE_OK, true, "jne rel8"),
	ROW("\x0f\x85\x10\0\0\0", FLOW_BRANCH, BRANCH_JCC, PROBE_OK, true, "jne rel32"),
	ROW("\x2e\x75\x10", FLOW_BRANCH, BRANCH_JCC, PROBE_PREFIX, false, "jne,pn"),
	ROW("\x3e\x75\x10", FLOW_BRANCH, BRANCH_JCC, PROBE_PREFIX, false, "jne,pt"),
	ROW("\x66\x75\x10", FLOW_BRANCH, BRANCH_JCC, PROBE_PREFIX, false, "data16 jne"),
	ROW("\xf2\x75\x10", FLOW_BRANCH, BRANCH_JCC, PROBE_OK, true, "bnd jne"),
	ROW("\xe8\0\0\0\0", FLOW_BRANCH, BRANCH_CALL, PROBE_OK, true, "call"),
	ROW("\x66\x66\x48\xe8\0\0\0\0", FLOW_BRANCH, BRANCH_CALL, PROBE_PREFIX, false,
	    "call of a TLS access"),
	ROW("\xeb\xfe", FLOW_BRANCH, BRANCH_JMP, PROBE_OK, true, "jmp rel8"),
	ROW("\x3e\xff\xe0", FLOW_BRANCH, BRANCH_IJMP, PROBE_PREFIX, false, "notrack jmp *%rax"),
	ROW("\xff\xe0", FLOW_BRANCH, BRANCH_IJMP, PROBE_OK, false, "jmp *%rax"),
	ROW("\xff\xd0", FLOW_BRANCH, BRANCH_ICALL, PROBE_OK, false, "call *%rax"),
	ROW("\x66\xff\xd0", FLOW_BRANCH, BRANCH_ICALL, PROBE_STEPPED, false, "data16 call *%rax"),
	ROW("\xc3", FLOW_BRANCH, BRANCH_RET, PROBE_OK, false, "ret"),
	ROW("\xf3\xc3", FLOW_BRANCH, BRANCH_RET, PROBE_OK, false, "rep ret"),
	ROW("\xe2\xfe", FLOW_BRANCH, BRANCH_LOOP, PROBE_OK, false, "loop"),
	ROW("\x66\xe3\xfe", FLOW_BRANCH, BRANCH_LOOP, PROBE_STEPPED, false, "data16 jrcxz"),
	ROW("\xf0\x48\x0f\xb1\x17", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "lock cmpxchg"),
	ROW("\x55", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "push %rbp"),
	ROW("\x41\x57", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "push %r15"),
	ROW("\x48\x57", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "rex.W push %rdi"),
	ROW("\x66\x55", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "push %bp"),
	ROW("\x90", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "nop"),
	ROW("\x66\x90", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "nop of 2"),
	ROW("\xf3\x90", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "pause"),
	ROW("\x49\x90", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "xchg %r8,%rax"),
	ROW("\x0f\x1f\x44\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "nop of 5"),
	ROW("\x0f\x1f\x84\0\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, true, "nop of 8"),
	ROW("\x66\x0f\x1f\x84\0\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "nop of 9"),
	ROW("\x66\x2e\x0f\x1f\x84\0\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false,
	    "cs nopw"),
	ROW("\xf3\x0f\x1e\xfa", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "endbr64"),
	ROW("\x48\x83\xec\x08", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "sub $8,%rsp"),
	ROW("\xc5\xfe\x6f\x06", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false,
	    "vmovdqu: its opcode is that of outs"),
	ROW("\xc5\xf8\x77", FLOW_NEXT, BRANCH_NONE, PROBE_VECTOR, false, "vzeroupper"),
	ROW("\xc5\xf8\x57\xc0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false,
	    "vxorps: its opcode is that of push, not its length"),
	ROW("\xc5\xf9\x61\xc0", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false,
	    "vpunpcklwd: its opcode is none"),
	ROW("\xc4\xe2\x69\x8e\x10", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false,
	    "vpmaskmovd: taken for mov to %ss"),
	ROW("\xc4\xe2\xf1\x9d\xc2", FLOW_NEXT, BRANCH_NONE, PROBE_VECTOR, false,
	    "vfnmadd132sd: taken for popf"),
	ROW("\x8f\xe9\x78\x81\xc0", FLOW_NEXT, BRANCH_NONE, PROBE_VECTOR, false, "vfrczpd: XOP"),
	ROW("\xcc", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "int3"),
	ROW("\xf4", FLOW_STOP, BRANCH_NONE, PROBE_PREFIX, false, "hlt"),
	ROW("\x0f\x0b", FLOW_STOP, BRANCH_NONE, PROBE_OK, false, "ud2"),
	ROW("\x0f\xb9\xc0", FLOW_STOP, BRANCH_NONE, PROBE_OK, false, "ud1"),
	KROW("\x0f\x0b", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false,
	     "ud2 in the kernel: WARN resumes"),
	KROW("\x0f\xb9\x40\x05", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "ud1 in the kernel"),
	KROW("\xf4", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false,
	     "hlt in the kernel: an interrupt ends it"),
	KROW("\xcc", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "int3 in the kernel"),
	ROW("\xcd\x80", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "int $0x80"),
	ROW("\x0f\x05", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "syscall"),
	ROW("\x9c", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "pushf"),
	ROW("\x66\x9c", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "pushfw"),
	ROW("\x9d", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "popf"),
	ROW("\x0f\x01\xe1", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "smsw %ecx"),
	ROW("\x0f\x01\xc1", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "vmcall"),
	ROW("\x0f\x01\xd9", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "vmmcall"),
	ROW("\x0f\x00\xc8", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false, "str %eax"),
	ROW("\x0f\x01\xd0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "xgetbv"),
	ROW("\x8e\xd0", FLOW_NEXT, BRANCH_NONE, PROBE_PREFIX, false, "mov %eax,%ss"),
	ROW("\x8e\xd8", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "mov %eax,%ds"),
	ROW("\xf2\x0f\x44\x05\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_STEPPED, false,
	    "f2 cmove 0(%rip),%eax"),
	ROW("\xf2\x0f\x44\xc1", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false, "f2 cmove %ecx,%eax"),
	ROW("\x66\x0f\x44\x05\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false,
	    "cmove 0(%rip),%ax"),
	ROW("\xf2\x0f\x10\x05\0\0\0\0", FLOW_NEXT, BRANCH_NONE, PROBE_OK, false,
	    "movsd 0(%rip),%xmm0"),
	ROW("\x48\xcf", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "iretq"),
	ROW("\x48\x0f\x07", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "sysretq"),
	ROW("\xc7\xf8\0\0\0\0", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "xbegin"),
	ROW("\xc6\xf8\0", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "xabort"),
	ROW("\xff\x18", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "lcall *(%rax)"),
	ROW("\xff\x68\x08", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false,
	    "ljmp *8(%rax)"),
	ROW("\xcb", FLOW_UNSUPPORTED, BRANCH_NONE, PROBE_UNSUPPORTED, false, "lret"),
};

static void test_rows(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		const struct row *r = &rows[k];
		struct insn i;

		if (!ok(!x86->decode((const uint8_t *)r->bytes, r->len, 0x1000, r->kernel, &i) &&
				i.len == r->len,
			"%s is an instruction", r->what))
			continue;
		ok(i.flow == r->flow && i.kind == r->kind,
		   "%s: its flow and kind of branch are decoded", r->what);
		ok(i.user_refusal == r->refusal && i.emulated == r->emulated,
		   "%s: how the kernel takes it under a uprobe is decoded", r->what);
	}
}

/* ---- the stack pointer ---- */

struct sp_row {
	const char *bytes;
	uint8_t len, effect;
	int value;
	const char *what;
};
#define SP(b, effect, value, what)                                                                 \
	{                                                                                          \
		b, sizeof(b) - 1, effect, value, what                                              \
	}

static const struct sp_row sp_rows[] = {
	SP("\x55", SP_ADD, -8, "push %rbp"),
	SP("\x66\x50", SP_ADD, -2, "push %ax"),
	SP("\x6a\x01", SP_ADD, -8, "push $1"),
	SP("\xff\x30", SP_ADD, -8, "push (%rax)"),
	SP("\x58", SP_ADD, 8, "pop %rax"),
	SP("\x5d", SP_FP_LOST, 8, "pop %rbp"),
	SP("\x5c", SP_LOST, 8, "pop %rsp"),
	SP("\x41\x5c", SP_ADD, 8, "pop %r12"),
	SP("\x8f\x00", SP_ADD, 8, "pop (%rax)"),
	SP("\x9c", SP_ADD, -8, "pushf"),
	SP("\x48\x83\xec\x28", SP_ADD, -40, "sub $40,%rsp"),
	SP("\x48\x81\xc4\x00\x01\x00\x00", SP_ADD, 256, "add $256,%rsp"),
	SP("\x48\x83\xec\x80", SP_ADD, 128, "sub $-128,%rsp"),
	SP("\x48\x83\xe4\xf0", SP_LOST, 0, "and $-16,%rsp"),
	SP("\x48\x83\xfc\x08", SP_SAME, 0, "cmp $8,%rsp"),
	SP("\x83\xec\x08", SP_LOST, 0, "sub $8,%esp"),
	SP("\x48\x29\xc4", SP_LOST, 0, "sub %rax,%rsp"),
	SP("\x48\x2b\x24\x24", SP_LOST, 0, "sub (%rsp),%rsp"),
	SP("\x48\x89\xe5", SP_FP_FROM_SP, 0, "mov %rsp,%rbp"),
	SP("\x48\x8b\xec", SP_FP_FROM_SP, 0, "mov %rsp,%rbp, the other way"),
	SP("\x48\x89\xec", SP_FROM_FP, 0, "mov %rbp,%rsp"),
	SP("\x48\x89\xc4", SP_LOST, 0, "mov %rax,%rsp"),
	SP("\x48\x89\xe0", SP_SAME, 0, "mov %rsp,%rax"),
	SP("\x48\x89\x24\x24", SP_SAME, 0, "mov %rsp,(%rsp)"),
	SP("\x48\x8d\x65\xf0", SP_FROM_FP, -16, "lea -16(%rbp),%rsp"),
	SP("\x48\x8d\x64\x24\x18", SP_ADD, 24, "lea 24(%rsp),%rsp"),
	SP("\x48\x8d\x6c\x24\x10", SP_FP_FROM_SP, 16, "lea 16(%rsp),%rbp"),
	SP("\x48\x8d\x64\x04\x18", SP_LOST, 0, "lea 24(%rsp,%rax),%rsp"),
	SP("\xc9", SP_LEAVE, 8, "leave"),
	SP("\xc8\x10\x00\x00", SP_LOST, 0, "enter"),
	SP("\xbd\x01\x00\x00\x00", SP_FP_LOST, 0, "mov $1,%ebp"),
	SP("\x31\xed", SP_FP_LOST, 0, "xor %ebp,%ebp"),
	SP("\x40\x88\xc5", SP_FP_LOST, 0, "mov %al,%bpl"),
	SP("\x88\xc5", SP_SAME, 0, "mov %al,%ch"),
	SP("\x80\xc5\x01", SP_SAME, 0, "add $1,%ch"),
	SP("\x48\x94", SP_LOST, 0, "xchg %rax,%rsp"),
	SP("\x48\x87\xe5", SP_LOST, 0, "xchg %rsp,%rbp"),
	SP("\x0f\x44\xe0", SP_LOST, 0, "cmove %eax,%esp"),
	SP("\x48\x0f\xc1\xec", SP_LOST, 0, "xadd %rbp,%rsp"),
	SP("\xc4\xe2\xd8\xf3\xd8", SP_LOST, 0, "blsi %rax,%rsp"),
	SP("\x0f\x6f\xe5", SP_SAME, 0, "movq %mm5,%mm4"),
	SP("\x66\x48\x0f\x7e\xc4", SP_LOST, 0, "movq %xmm0,%rsp"),
	SP("\xc5\xf8\x28\xe5", SP_SAME, 0, "vmovaps %xmm5,%xmm4"),
	SP("\x0f\xa8", SP_ADD, -8, "push %gs"),
};

static void test_sp(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(sp_rows); k++) {
		const struct sp_row *r = &sp_rows[k];
		struct insn i;

		if (ok(!x86->decode((const uint8_t *)r->bytes, r->len, 0, false, &i) &&
			       i.len == r->len,
		       "%s is an instruction", r->what))
			ok(i.sp_effect == r->effect &&
				   (r->effect == SP_LOST || i.sp_value == r->value),
			   "%s: its effect on the stack pointer is decoded as %d %d", r->what,
			   i.sp_effect, i.sp_value);
	}
}

/* ---- hostile bytes ---- */

static void test_short(void)
{
	static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
	struct insn_detail d;
	struct insn i;
	unsigned good = 0;

	for (size_t n = 1; n < sizeof(call); n++) {
		uint8_t *copy = xmalloc(n);

		memcpy(copy, call, n);
		good += !x86->decode(copy, n, 0, false, &i);
		free(copy);
	}
	is(good, 0, "a cut instruction is none");
	srand(1);
	for (unsigned k = 0; k < 200000; k++) {
		size_t n = 1 + rand() % 16;
		uint8_t *copy = xmalloc(n);

		for (size_t b = 0; b < n; b++)
			copy[b] = rand() >> 7;
		if (!x86->decode(copy, n, 0x7fffffffff0, k & 1, &i) && i.len > n)
			good++;
		x86->detail(copy, n, 0, &d);
		free(copy);
	}
	is(good, 0, "random bytes decode to no instruction that is longer");
}

static void test_format(void)
{
	char text[64];

	ok(x86->format((const uint8_t *)"\x75\x0e", 2, 0x1000, text, sizeof(text)),
	   "jne is formatted");
	is_str(text, "jne 0x1010", "jne is formatted as disassemblers do");
	ok(x86->format((const uint8_t *)"\xff\x24\xc5\x00\x10\x40\x00", 7, 0x1000, text,
		       sizeof(text)),
	   "jmp is formatted");
	ok(strstr(text, "jmp") == text && strstr(text, "rax*8"),
	   "jmp is formatted with its operand: %s", text);
	ok(!x86->format((const uint8_t *)"\x0f", 1, 0, text, sizeof(text)),
	   "half an instruction is not formatted");
}

int main(void)
{
	x86 = arch__by_machine(EM_X86_64);
	if (!ok(x86 != NULL, "x86-64 is known"))
		return tap__done();
	ok(!arch__by_machine(EM_68K), "68k is unknown");
	test_forms();
	test_rows();
	test_sp();
	test_short();
	test_format();
	test_file("/proc/self/exe");
	test_file("/lib/x86_64-linux-gnu/libc.so.6");
	return tap__done();
}
