// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which instruction set the flags that a conditional branch tests, and what its outcome
 * proves. Rows of code, as bytes: the last instruction is the branch. The comments are what GNU as
 * made the bytes from, with Intel's syntax.
 */
#include <elf.h>
#include "arch/arch.h"
#include "tap.h"

#define CODE_MOST 16 /* instructions of a row */
#define AT	  0x1000
#define BYTES(s)  (const uint8_t *)(s), sizeof(s) - 1

struct row {
	const char *text;
	const uint8_t *bytes;
	size_t len;
	const char *compare, *taken, *not_taken; /* "-": none */
};
static const struct row rows[] = {
	{"cmp rdi, 0x40; jb 1f", BYTES("\x48\x83\xff\x40\x72\x00"), "cmp rdi, 0x40",
	 "rdi < 0x40 (unsigned)", "rdi >= 0x40 (unsigned)"},
	{"cmp rdi, 0x40; jae 1f", BYTES("\x48\x83\xff\x40\x73\x00"), "cmp rdi, 0x40",
	 "rdi >= 0x40 (unsigned)", "rdi < 0x40 (unsigned)"},
	{"cmp edi, esi; je 1f", BYTES("\x39\xf7\x74\x00"), "cmp edi, esi", "edi == esi",
	 "edi != esi"},
	{"cmp edi, esi; jne 1f", BYTES("\x39\xf7\x75\x00"), "cmp edi, esi", "edi != esi",
	 "edi == esi"},
	{"cmp edi, esi; jbe 1f", BYTES("\x39\xf7\x76\x00"), "cmp edi, esi", "edi <= esi (unsigned)",
	 "edi > esi (unsigned)"},
	{"cmp edi, esi; ja 1f", BYTES("\x39\xf7\x77\x00"), "cmp edi, esi", "edi > esi (unsigned)",
	 "edi <= esi (unsigned)"},
	{"cmp edi, esi; jl 1f", BYTES("\x39\xf7\x7c\x00"), "cmp edi, esi", "edi < esi",
	 "edi >= esi"},
	{"cmp edi, esi; jge 1f", BYTES("\x39\xf7\x7d\x00"), "cmp edi, esi", "edi >= esi",
	 "edi < esi"},
	{"cmp edi, esi; jle 1f", BYTES("\x39\xf7\x7e\x00"), "cmp edi, esi", "edi <= esi",
	 "edi > esi"},
	{"cmp edi, esi; jg 1f", BYTES("\x39\xf7\x7f\x00"), "cmp edi, esi", "edi > esi",
	 "edi <= esi"},
	{"cmp edi, esi; js 1f", BYTES("\x39\xf7\x78\x00"), "cmp edi, esi", "-", "-"},
	{"cmp edi, esi; jns 1f", BYTES("\x39\xf7\x79\x00"), "cmp edi, esi", "-", "-"},
	{"cmp edi, esi; jp 1f", BYTES("\x39\xf7\x7a\x00"), "cmp edi, esi", "-", "-"},
	{"cmp edi, esi; jo 1f", BYTES("\x39\xf7\x70\x00"), "cmp edi, esi", "edi - esi overflows",
	 "edi - esi doesn't overflow"},
	{"cmp edi, esi; jno 1f", BYTES("\x39\xf7\x71\x00"), "cmp edi, esi",
	 "edi - esi doesn't overflow", "edi - esi overflows"},
	{"cmp edi, 0; js 1f", BYTES("\x83\xff\x00\x78\x00"), "cmp edi, 0x00", "edi < 0",
	 "edi >= 0"},
	{"cmp edi, 5; js 1f", BYTES("\x83\xff\x05\x78\x00"), "cmp edi, 0x05", "-", "-"},
	{"cmp al, 0x80; jb 1f", BYTES("\x3c\x80\x72\x00"), "cmp al, 0x80", "al < 0x80 (unsigned)",
	 "al >= 0x80 (unsigned)"},
	{"cmp al, 0x80; jl 1f", BYTES("\x3c\x80\x7c\x00"), "cmp al, 0x80", "al < -0x80",
	 "al >= -0x80"},
	{"cmp ax, 0x1234; ja 1f", BYTES("\x66\x3d\x34\x12\x77\x00"), "cmp ax, 0x1234",
	 "ax > 0x1234 (unsigned)", "ax <= 0x1234 (unsigned)"},
	{"cmp r8d, -1; ja 1f", BYTES("\x41\x83\xf8\xff\x77\x00"), "cmp r8d, 0xffffffff",
	 "r8d > 0xffffffff (unsigned)", "r8d <= 0xffffffff (unsigned)"},
	{"cmp rax, -0x1000; ja 1f", BYTES("\x48\x3d\x00\xf0\xff\xff\x77\x00"),
	 "cmp rax, 0xfffffffffffff000", "rax > 0xfffffffffffff000 (unsigned)",
	 "rax <= 0xfffffffffffff000 (unsigned)"},
	{"cmp r9b, 0xfe; ja 1f", BYTES("\x41\x80\xf9\xfe\x77\x00"), "cmp r9b, 0xfe",
	 "r9b > 0xfe (unsigned)", "r9b <= 0xfe (unsigned)"},
	{"cmp r10w, -3; ja 1f", BYTES("\x66\x41\x83\xfa\xfd\x77\x00"), "cmp r10w, 0xfffd",
	 "r10w > 0xfffd (unsigned)", "r10w <= 0xfffd (unsigned)"},
	{"cmp ah, 0x7f; jg 1f", BYTES("\x80\xfc\x7f\x7f\x00"), "cmp ah, 0x7f", "ah > 0x7f",
	 "ah <= 0x7f"},
	{"cmp byte ptr [rdi+rcx*2-8], 0xff; jae 1f", BYTES("\x80\x7c\x4f\xf8\xff\x73\x00"),
	 "cmp byte ptr [rdi+rcx*2-0x08], 0xff", "byte ptr [rdi+rcx*2-0x08] >= 0xff (unsigned)",
	 "byte ptr [rdi+rcx*2-0x08] < 0xff (unsigned)"},
	{"cmp word ptr [rdi], -2; jb 1f", BYTES("\x66\x83\x3f\xfe\x72\x00"),
	 "cmp word ptr [rdi], 0xfffe", "word ptr [rdi] < 0xfffe (unsigned)",
	 "word ptr [rdi] >= 0xfffe (unsigned)"},
	{"cmp qword ptr fs:[0x28], rax; jne 1f",
	 BYTES("\x64\x48\x39\x04\x25\x28\x00\x00\x00\x75\x00"), "cmp fs:[0x28], rax",
	 "fs:[0x28] != rax", "fs:[0x28] == rax"},
	{"cmp dword ptr [rip+0x100], 3; jg 1f", BYTES("\x83\x3d\x00\x01\x00\x00\x03\x7f\x00"),
	 "cmp dword ptr [0x1107], 0x03", "dword ptr [0x1107] > 3", "dword ptr [0x1107] <= 3"},
	{"cmp rbp, qword ptr [rip-0x10]; je 1f", BYTES("\x48\x3b\x2d\xf0\xff\xff\xff\x74\x00"),
	 "cmp rbp, [0xff7]", "rbp == [0xff7]", "rbp != [0xff7]"},
	{"cmp eax, -1; je 1f", BYTES("\x83\xf8\xff\x74\x00"), "cmp eax, 0xffffffff", "eax == -1",
	 "eax != -1"},
	{"cmp rax, -38; jne 1f", BYTES("\x48\x83\xf8\xda\x75\x00"), "cmp rax, 0xffffffffffffffda",
	 "rax != -0x26", "rax == -0x26"},
	{"cmp eax, -4096; jne 1f", BYTES("\x3d\x00\xf0\xff\xff\x75\x00"), "cmp eax, 0xfffff000",
	 "eax != 0xfffff000", "eax == 0xfffff000"},
	{"cmp al, 0xff; je 1f", BYTES("\x3c\xff\x74\x00"), "cmp al, 0xff", "al == 0xff",
	 "al != 0xff"},
	{"cmp dword ptr [rdi], 9; jle 1f", BYTES("\x83\x3f\x09\x7e\x00"),
	 "cmp dword ptr [rdi], 0x09", "dword ptr [rdi] <= 9", "dword ptr [rdi] > 9"},
	{"test eax, eax; je 1f", BYTES("\x85\xc0\x74\x00"), "test eax, eax", "eax == 0",
	 "eax != 0"},
	{"test al, al; jns 1f", BYTES("\x84\xc0\x79\x00"), "test al, al", "al >= 0", "al < 0"},
	{"test rax, rax; js 1f", BYTES("\x48\x85\xc0\x78\x00"), "test rax, rax", "rax < 0",
	 "rax >= 0"},
	{"test cx, cx; jle 1f", BYTES("\x66\x85\xc9\x7e\x00"), "test cx, cx", "cx <= 0", "cx > 0"},
	{"test edx, edx; jg 1f", BYTES("\x85\xd2\x7f\x00"), "test edx, edx", "edx > 0", "edx <= 0"},
	{"test edx, edx; jl 1f", BYTES("\x85\xd2\x7c\x00"), "test edx, edx", "edx < 0", "edx >= 0"},
	{"test edx, edx; jbe 1f", BYTES("\x85\xd2\x76\x00"), "test edx, edx", "edx == 0",
	 "edx != 0"},
	{"test edx, edx; jb 1f", BYTES("\x85\xd2\x72\x00"), "test edx, edx", "-", "-"},
	{"test edx, edx; jo 1f", BYTES("\x85\xd2\x70\x00"), "test edx, edx", "-", "-"},
	{"test eax, edx; jne 1f", BYTES("\x85\xd0\x75\x00"), "test eax, edx", "(eax & edx) != 0",
	 "(eax & edx) == 0"},
	{"test byte ptr [rdi+0x10], 0x80; je 1f", BYTES("\xf6\x47\x10\x80\x74\x00"),
	 "test byte ptr [rdi+0x10], 0x80", "(byte ptr [rdi+0x10] & 0x80) == 0",
	 "(byte ptr [rdi+0x10] & 0x80) != 0"},
	{"test eax, -16; js 1f", BYTES("\xa9\xf0\xff\xff\xff\x78\x00"), "test eax, 0xfffffff0",
	 "(eax & 0xfffffff0) < 0", "(eax & 0xfffffff0) >= 0"},
	{"sub eax, ebx; je 1f", BYTES("\x29\xd8\x74\x00"), "sub eax, ebx", "eax == 0", "eax != 0"},
	{"sub eax, ebx; js 1f", BYTES("\x29\xd8\x78\x00"), "sub eax, ebx", "eax < 0", "eax >= 0"},
	{"sub eax, ebx; jb 1f", BYTES("\x29\xd8\x72\x00"), "sub eax, ebx",
	 "eax < ebx (unsigned, before)", "eax >= ebx (unsigned, before)"},
	{"sub eax, ebx; jl 1f", BYTES("\x29\xd8\x7c\x00"), "sub eax, ebx", "eax < ebx (before)",
	 "eax >= ebx (before)"},
	{"sub eax, ebx; jo 1f", BYTES("\x29\xd8\x70\x00"), "sub eax, ebx",
	 "eax - ebx overflows (before)", "eax - ebx doesn't overflow (before)"},
	{"sub rdx, -0x80; ja 1f", BYTES("\x48\x83\xea\x80\x77\x00"), "sub rdx, 0xffffffffffffff80",
	 "rdx > 0xffffffffffffff80 (unsigned, before)",
	 "rdx <= 0xffffffffffffff80 (unsigned, before)"},
	{"add eax, 1; je 1f", BYTES("\x83\xc0\x01\x74\x00"), "add eax, 0x01", "eax == 0",
	 "eax != 0"},
	{"add eax, -5; jg 1f", BYTES("\x83\xc0\xfb\x7f\x00"), "add eax, 0xfffffffb",
	 "eax + -5 > 0 (before)", "eax + -5 <= 0 (before)"},
	{"add eax, -5; jae 1f", BYTES("\x83\xc0\xfb\x73\x00"), "add eax, 0xfffffffb",
	 "eax + 0xfffffffb doesn't overflow (unsigned, before)",
	 "eax + 0xfffffffb overflows (unsigned, before)"},
	{"add rax, rbx; jo 1f", BYTES("\x48\x01\xd8\x70\x00"), "add rax, rbx",
	 "rax + rbx overflows (before)", "rax + rbx doesn't overflow (before)"},
	{"add rax, rbx; ja 1f", BYTES("\x48\x01\xd8\x77\x00"), "add rax, rbx", "-", "-"},
	{"and ecx, 7; je 1f", BYTES("\x83\xe1\x07\x74\x00"), "and ecx, 0x07", "ecx == 0",
	 "ecx != 0"},
	{"and ecx, esi; jle 1f", BYTES("\x21\xf1\x7e\x00"), "and ecx, esi", "ecx <= 0", "ecx > 0"},
	{"and ecx, esi; jb 1f", BYTES("\x21\xf1\x72\x00"), "and ecx, esi", "-", "-"},
	{"or cl, dl; jne 1f", BYTES("\x08\xd1\x75\x00"), "or cl, dl", "cl != 0", "cl == 0"},
	{"or eax, edx; js 1f", BYTES("\x09\xd0\x78\x00"), "or eax, edx", "eax < 0", "eax >= 0"},
	{"xor eax, eax; je 1f", BYTES("\x31\xc0\x74\x00"), "xor eax, eax", "eax == 0", "eax != 0"},
	{"inc rax; jne 1f", BYTES("\x48\xff\xc0\x75\x00"), "inc rax", "rax != 0", "rax == 0"},
	{"inc rax; jle 1f", BYTES("\x48\xff\xc0\x7e\x00"), "inc rax", "rax <= -1 (before)",
	 "rax > -1 (before)"},
	{"dec ecx; jns 1f", BYTES("\xff\xc9\x79\x00"), "dec ecx", "ecx >= 0", "ecx < 0"},
	{"dec ecx; jg 1f", BYTES("\xff\xc9\x7f\x00"), "dec ecx", "ecx > 1 (before)",
	 "ecx <= 1 (before)"},
	{"lock dec dword ptr [rdi]; je 1f", BYTES("\xf0\xff\x0f\x74\x00"),
	 "lock dec dword ptr [rdi]", "dword ptr [rdi] == 0", "dword ptr [rdi] != 0"},
	{"lock cmpxchg [rdi], edx; jne 1f", BYTES("\xf0\x0f\xb1\x17\x75\x00"),
	 "lock cmpxchg [rdi], edx", "eax != [rdi] (before)", "eax == [rdi] (before)"},
	{"cmpxchg rcx, rdx; je 1f", BYTES("\x48\x0f\xb1\xd1\x74\x00"), "cmpxchg rcx, rdx",
	 "rax == rcx (before)", "rax != rcx (before)"},
	{"cmpxchg cl, dl; je 1f", BYTES("\x0f\xb0\xd1\x74\x00"), "cmpxchg cl, dl",
	 "al == cl (before)", "al != cl (before)"},
	{"cmpxchg rcx, rdx; jb 1f", BYTES("\x48\x0f\xb1\xd1\x72\x00"), "cmpxchg rcx, rdx", "-",
	 "-"},
	{"lock cmpxchg16b [rdi]; je 1f", BYTES("\xf0\x48\x0f\xc7\x0f\x74\x00"),
	 "lock cmpxchg16b xmmword ptr [rdi]", "-", "-"},
	{"lock cmpxchg16b [rdi]; ja 1f", BYTES("\xf0\x48\x0f\xc7\x0f\x77\x00"), "-", "-", "-"},
	{"lock xadd [rdi], eax; js 1f", BYTES("\xf0\x0f\xc1\x07\x78\x00"), "lock xadd [rdi], eax",
	 "[rdi] < 0", "[rdi] >= 0"},
	{"neg eax; js 1f", BYTES("\xf7\xd8\x78\x00"), "neg eax", "eax < 0", "eax >= 0"},
	{"neg eax; jb 1f", BYTES("\xf7\xd8\x72\x00"), "neg eax", "-", "-"},
	{"adc eax, 0; je 1f", BYTES("\x83\xd0\x00\x74\x00"), "adc eax, 0x00", "eax == 0",
	 "eax != 0"},
	{"sbb eax, eax; jne 1f", BYTES("\x19\xc0\x75\x00"), "sbb eax, eax", "eax != 0", "eax == 0"},
	{"sbb eax, edx; jl 1f", BYTES("\x19\xd0\x7c\x00"), "sbb eax, edx", "-", "-"},
	{"adc eax, 0; jb 1f", BYTES("\x83\xd0\x00\x72\x00"), "adc eax, 0x00", "-", "-"},
	{"bt eax, 3; jb 1f", BYTES("\x0f\xba\xe0\x03\x72\x00"), "bt eax, 0x03",
	 "bit 3 of eax is set", "bit 3 of eax is clear"},
	{"bt eax, 35; jb 1f", BYTES("\x0f\xba\xe0\x23\x72\x00"), "bt eax, 0x23",
	 "bit 3 of eax is set", "bit 3 of eax is clear"},
	{"bt rax, rcx; jae 1f", BYTES("\x48\x0f\xa3\xc8\x73\x00"), "bt rax, rcx",
	 "bit rcx % 64 of rax is clear", "bit rcx % 64 of rax is set"},
	{"bt ax, cx; jae 1f", BYTES("\x66\x0f\xa3\xc8\x73\x00"), "bt ax, cx",
	 "bit cx % 16 of ax is clear", "bit cx % 16 of ax is set"},
	{"bt [rdi], ecx; jb 1f", BYTES("\x0f\xa3\x0f\x72\x00"), "bt [rdi], ecx",
	 "bit ecx of [rdi] is set", "bit ecx of [rdi] is clear"},
	{"bt dword ptr [rdi], 33; jb 1f", BYTES("\x0f\xba\x27\x21\x72\x00"),
	 "bt dword ptr [rdi], 0x21", "bit 1 of dword ptr [rdi] is set",
	 "bit 1 of dword ptr [rdi] is clear"},
	{"bt eax, 3; je 1f", BYTES("\x0f\xba\xe0\x03\x74\x00"), "-", "-", "-"},
	{"lock bts dword ptr [rdi], 0; jb 1f", BYTES("\xf0\x0f\xba\x2f\x00\x72\x00"),
	 "lock bts dword ptr [rdi], 0x00", "bit 0 of dword ptr [rdi] is set (before)",
	 "bit 0 of dword ptr [rdi] is clear (before)"},
	{"bsf eax, ecx; je 1f", BYTES("\x0f\xbc\xc1\x74\x00"), "bsf eax, ecx", "ecx == 0 (before)",
	 "ecx != 0 (before)"},
	{"bsf eax, ecx; jb 1f", BYTES("\x0f\xbc\xc1\x72\x00"), "-", "-", "-"},
	{"tzcnt eax, ecx; jb 1f", BYTES("\xf3\x0f\xbc\xc1\x72\x00"), "tzcnt eax, ecx", "-", "-"},
	{"shr rdi, 6; jne 1f", BYTES("\x48\xc1\xef\x06\x75\x00"), "shr rdi, 0x06", "rdi != 0",
	 "rdi == 0"},
	{"shl eax, 1; js 1f", BYTES("\xd1\xe0\x78\x00"), "shl eax, 0x01", "eax < 0", "eax >= 0"},
	{"sar eax, 31; js 1f", BYTES("\xc1\xf8\x1f\x78\x00"), "sar eax, 0x1f", "eax < 0",
	 "eax >= 0"},
	{"shr eax, cl; je 1f", BYTES("\xd3\xe8\x74\x00"), "-", "-", "-"},
	{"test eax, eax; shr edx, cl; je 1f", BYTES("\x85\xc0\xd3\xea\x74\x00"), "-", "-", "-"},
	{"shr eax, 1; jb 1f", BYTES("\xd1\xe8\x72\x00"), "shr eax, 0x01", "-", "-"},
	{".byte 0xc1, 0xe8, 0x20; je 1f", BYTES("\xc1\xe8\x20\x74\x00"), "-", "-", "-"},
	{"test eax, eax; .byte 0xc1, 0xe8, 0x20; je 1f", BYTES("\x85\xc0\xc1\xe8\x20\x74\x00"), "-",
	 "-", "-"},
	{"rol eax, 3; jb 1f", BYTES("\xc1\xc0\x03\x72\x00"), "rol eax, 0x03", "-", "-"},
	{"test edx, edx; rol eax, 3; je 1f", BYTES("\x85\xd2\xc1\xc0\x03\x74\x00"), "test edx, edx",
	 "edx == 0", "edx != 0"},
	{"mul edx; jo 1f", BYTES("\xf7\xe2\x70\x00"), "mul edx", "-", "-"},
	{"mul edx; je 1f", BYTES("\xf7\xe2\x74\x00"), "-", "-", "-"},
	{"test edx, edx; imul eax, edx; je 1f", BYTES("\x85\xd2\x0f\xaf\xc2\x74\x00"), "-", "-",
	 "-"},
	{"cmp edi, esi; inc eax; jb 1f", BYTES("\x39\xf7\xff\xc0\x72\x00"), "cmp edi, esi",
	 "edi < esi (unsigned)", "edi >= esi (unsigned)"},
	{"cmp edi, esi; inc eax; je 1f", BYTES("\x39\xf7\xff\xc0\x74\x00"), "inc eax", "eax == 0",
	 "eax != 0"},
	{"cmp edi, esi; inc eax; jbe 1f", BYTES("\x39\xf7\xff\xc0\x76\x00"), "-", "-", "-"},
	{"cmp edi, esi; dec eax; ja 1f", BYTES("\x39\xf7\xff\xc8\x77\x00"), "-", "-", "-"},
	{"cmp edi, esi; clc; je 1f", BYTES("\x39\xf7\xf8\x74\x00"), "cmp edi, esi", "edi == esi",
	 "edi != esi"},
	{"cmp edi, esi; clc; jbe 1f", BYTES("\x39\xf7\xf8\x76\x00"), "-", "-", "-"},
	{"cmp edi, esi; stc; jb 1f", BYTES("\x39\xf7\xf9\x72\x00"), "stc", "-", "-"},
	{"cmp edi, esi; cmc; jb 1f", BYTES("\x39\xf7\xf5\x72\x00"), "cmc", "-", "-"},
	{"cmp edi, esi; bt eax, 1; jbe 1f", BYTES("\x39\xf7\x0f\xba\xe0\x01\x76\x00"), "-", "-",
	 "-"},
	{"cmp edi, esi; sete al; cmovl ecx, edx; adc ecx, edx; jne 1f",
	 BYTES("\x39\xf7\x0f\x94\xc0\x0f\x4c\xca\x11\xd1\x75\x00"), "adc ecx, edx", "ecx != 0",
	 "ecx == 0"},
	{"cmp edi, esi; sete al; cmovl ecx, edx; mov rdi, rsi; lea rax, [rdi+1]; push rax; pop rcx; xchg eax, edx; movzx eax, al; not eax; jl 1f",
	 BYTES("\x39\xf7\x0f\x94\xc0\x0f\x4c\xca\x48\x89\xf7\x48\x8d\x47\x01\x50\x59\x92\x0f\xb6\xc0\xf7\xd0\x7c\x00"),
	 "cmp edi, esi", "edi < esi", "edi >= esi"},
	{"cmp edi, esi; nop; endbr64; movaps xmm0, xmm1; jae 1f",
	 BYTES("\x39\xf7\x90\xf3\x0f\x1e\xfa\x0f\x28\xc1\x73\x00"), "cmp edi, esi",
	 "edi >= esi (unsigned)", "edi < esi (unsigned)"},
	{"cmp edi, esi; syscall; je 1f", BYTES("\x39\xf7\x0f\x05\x74\x00"), "-", "-", "-"},
	{"cmp edi, esi; int3; je 1f", BYTES("\x39\xf7\xcc\x74\x00"), "-", "-", "-"},
	{"cmp edi, esi; popf; je 1f", BYTES("\x39\xf7\x9d\x74\x00"), "popfq", "-", "-"},
	{"cmp edi, esi; sahf; je 1f", BYTES("\x39\xf7\x9e\x74\x00"), "sahf", "-", "-"},
	{"cmp edi, esi; sahf; jo 1f", BYTES("\x39\xf7\x9e\x70\x00"), "cmp edi, esi",
	 "edi - esi overflows", "edi - esi doesn't overflow"},
	{"cmp edi, esi; sahf; jl 1f", BYTES("\x39\xf7\x9e\x7c\x00"), "-", "-", "-"},
	{"cmp edi, esi; cld; je 1f", BYTES("\x39\xf7\xfc\x74\x00"), "cmp edi, esi", "edi == esi",
	 "edi != esi"},
	{"cmp edi, esi; rdrand eax; je 1f", BYTES("\x39\xf7\x0f\xc7\xf0\x74\x00"), "-", "-", "-"},
	{"cmp edi, esi; cpuid; je 1f", BYTES("\x39\xf7\x0f\xa2\x74\x00"), "cmp edi, esi",
	 "edi == esi", "edi != esi"},
	{"repe cmpsb; je 1f", BYTES("\xf3\xa6\x74\x00"), "-", "-", "-"},
	{"test ecx, ecx; repe cmpsb; je 1f", BYTES("\x85\xc9\xf3\xa6\x74\x00"), "-", "-", "-"},
	{"cmpsb; je 1f", BYTES("\xa6\x74\x00"), "cmpsb", "-", "-"},
	{"rep movsb; je 1f", BYTES("\xf3\xa4\x74\x00"), "-", "-", "-"},
	{"test ecx, ecx; rep movsb; je 1f", BYTES("\x85\xc9\xf3\xa4\x74\x00"), "test ecx, ecx",
	 "ecx == 0", "ecx != 0"},
	{"ucomisd xmm0, xmm1; ja 1f", BYTES("\x66\x0f\x2e\xc1\x77\x00"), "ucomisd xmm0, xmm1",
	 "xmm0 > xmm1", "xmm0 <= xmm1 or unordered"},
	{"ucomisd xmm0, xmm1; jae 1f", BYTES("\x66\x0f\x2e\xc1\x73\x00"), "ucomisd xmm0, xmm1",
	 "xmm0 >= xmm1", "xmm0 < xmm1 or unordered"},
	{"ucomisd xmm0, xmm1; jb 1f", BYTES("\x66\x0f\x2e\xc1\x72\x00"), "ucomisd xmm0, xmm1",
	 "xmm0 < xmm1 or unordered", "xmm0 >= xmm1"},
	{"comiss xmm0, dword ptr [rdi]; jbe 1f", BYTES("\x0f\x2f\x07\x76\x00"),
	 "comiss xmm0, [rdi]", "xmm0 <= [rdi] or unordered", "xmm0 > [rdi]"},
	{"vucomisd xmm0, xmm1; je 1f", BYTES("\xc5\xf9\x2e\xc1\x74\x00"), "vucomisd xmm0, xmm1",
	 "xmm0 == xmm1 or unordered", "xmm0 < or > xmm1"},
	{"ucomiss xmm0, xmm1; jne 1f", BYTES("\x0f\x2e\xc1\x75\x00"), "ucomiss xmm0, xmm1",
	 "xmm0 < or > xmm1", "xmm0 == xmm1 or unordered"},
	{"ucomisd xmm0, xmm1; jp 1f", BYTES("\x66\x0f\x2e\xc1\x7a\x00"), "ucomisd xmm0, xmm1",
	 "xmm0 and xmm1 unordered", "xmm0 and xmm1 ordered"},
	{"ucomisd xmm2, xmm2; jnp 1f", BYTES("\x66\x0f\x2e\xd2\x7b\x00"), "ucomisd xmm2, xmm2",
	 "xmm2 is not NaN", "xmm2 is NaN"},
	{"ucomisd xmm0, xmm1; js 1f", BYTES("\x66\x0f\x2e\xc1\x78\x00"), "ucomisd xmm0, xmm1", "-",
	 "-"},
	{"ucomisd xmm0, xmm1; jl 1f", BYTES("\x66\x0f\x2e\xc1\x7c\x00"), "ucomisd xmm0, xmm1", "-",
	 "-"},
	{"fucomip st, st(1); ja 1f", BYTES("\xdf\xe9\x77\x00"), "fucomip st0, st1",
	 "st0 > st1 (before)", "st0 <= st1 or unordered (before)"},
	{"fcomi st, st(2); jb 1f", BYTES("\xdb\xf2\x72\x00"), "fcomi st0, st2",
	 "st0 < st2 or unordered", "st0 >= st2"},
	{"ptest xmm0, xmm0; je 1f", BYTES("\x66\x0f\x38\x17\xc0\x74\x00"), "ptest xmm0, xmm0",
	 "xmm0 == 0", "xmm0 != 0"},
	{"vptest ymm0, ymm1; jne 1f", BYTES("\xc4\xe2\x7d\x17\xc1\x75\x00"), "vptest ymm0, ymm1",
	 "(ymm0 & ymm1) != 0", "(ymm0 & ymm1) == 0"},
	{"ptest xmm0, xmm1; jb 1f", BYTES("\x66\x0f\x38\x17\xc1\x72\x00"), "ptest xmm0, xmm1", "-",
	 "-"},
	{"kortestd k0, k1; je 1f", BYTES("\xc4\xe1\xf9\x98\xc1\x74\x00"), "kortestd k0, k1", "-",
	 "-"},
	{"pcmpistri xmm0, xmm1, 0x1a; jbe 1f", BYTES("\x66\x0f\x3a\x63\xc1\x1a\x76\x00"),
	 "pcmpistri xmm0, xmm1, 0x1a", "-", "-"},
	{"jrcxz 1f", BYTES("\xe3\x00"), "-", "rcx == 0", "rcx != 0"},
	{"jecxz 1f", BYTES("\x67\xe3\x00"), "-", "ecx == 0", "ecx != 0"},
	{"loop 1f", BYTES("\xe2\x00"), "-", "rcx != 0", "rcx == 0"},
	{"addr32 loop 1f", BYTES("\x67\xe2\x00"), "-", "ecx != 0", "ecx == 0"},
	{"cmp al, dl; loope 1f", BYTES("\x38\xd0\xe1\x00"), "cmp al, dl", "rcx != 0 and al == dl",
	 "rcx == 0 or al != dl"},
	{"cmp al, dl; loopne 1f", BYTES("\x38\xd0\xe0\x00"), "cmp al, dl", "rcx != 0 and al != dl",
	 "rcx == 0 or al == dl"},
	{"cmp al, dl; jrcxz 1f", BYTES("\x38\xd0\xe3\x00"), "-", "rcx == 0", "rcx != 0"},
	{"loope 1f", BYTES("\xe1\x00"), "-", "-", "-"},
	{"je 1f", BYTES("\x74\x00"), "-", "-", "-"},
	{"mov eax, edx; je 1f", BYTES("\x89\xd0\x74\x00"), "-", "-", "-"},
};

static const struct arch *x86;

/* The text of the instruction that set the flags; NULL: none. The instructions are those of one
 * block. *branch: the last one. */
static const char *find_setter(const struct row *r, struct insn *branch, char *text, size_t size)
{
	size_t starts[CODE_MOST], n = 0;
	enum flags_effect effect = FLAGS_KEPT;

	for (size_t at = 0; at < r->len && n < CODE_MOST; at += branch->len) {
		starts[n++] = at;
		if (x86->decode(r->bytes + at, r->len - at, AT + at, false, branch))
			return "not decoded";
	}
	while (effect == FLAGS_KEPT && --n)
		effect = x86->flags_effect(r->bytes + starts[n - 1], r->len - starts[n - 1],
					   branch->kind, branch->cond);
	if (effect != FLAGS_SET || !n ||
	    !x86->format(r->bytes + starts[n - 1], r->len - starts[n - 1], AT + starts[n - 1], text,
			 size))
		return NULL;
	return text;
}

static void check_row(const struct row *r)
{
	struct str taken = {0}, not_taken = {0};
	struct insn branch = {0};
	char text[128];
	const char *compare = find_setter(r, &branch, text, sizeof(text));
	bool proves = x86->proves(branch.kind, branch.cond, true, compare, &taken);
	bool proved = proves;

	is_str(compare ? compare : "-", r->compare, "%s: what set the flags", r->text);
	is_str(proves ? taken.data : "-", r->taken, "%s: what it proves that it is taken", r->text);
	proves = x86->proves(branch.kind, branch.cond, false, compare, &not_taken);
	is_str(proves ? not_taken.data : "-", r->not_taken,
	       "%s: what it proves that it is not taken", r->text);
	ok(taken.len == (proved ? strlen(r->taken) : 0), "%s: else nothing is appended", r->text);
	str__free(&taken);
	str__free(&not_taken);
}

/* ---- texts that no disassembler wrote ---- */

static bool says(const char *text, uint16_t cond, const char *want)
{
	struct str s = {0};
	bool proves = x86->proves(BRANCH_JCC, cond, true, text, &s), good;

	good = want ? proves && !strcmp(s.data, want) : !proves && !s.len;
	if (!good)
		printf("# '%s': '%s'\n", text, s.data ? s.data : "");
	str__free(&s);
	return good;
}

static void test_texts(void)
{
	static const char *const bad[] = {
		"",	  " ",	  ", ",	    "cmp",	 "cmp ",
		"cmp , ", "lock", "lock ",  "cmpx a, b", "lock lock cmp a, b",
		"test",	  "bt a", "cmp eax"};
	static const char letters[] = "cmptesbu lock,, []0x-19afr";
	unsigned good = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(says(bad[i], 2, NULL) && says(bad[i], 4, NULL), "'%s' proves nothing", bad[i]);
	ok(says("cmp eax, 0x", 2, "eax < 0x (unsigned)"), "a number without digits is a text");
	ok(says("cmp eax, 0x11112222333344445", 2, "eax < 0x11112222333344445 (unsigned)"),
	   "a number of more than 64 bits is a text");
	ok(says("cmp z, -0x05", 2, "z < 0xfffffffffffffffb (unsigned)"),
	   "what has no known size has 64 bits");
	for (unsigned cond = 0; cond < 16; cond++)
		ok(says(NULL, cond, NULL), "without a text condition %u proves nothing", cond);
	ok(says("cmp eax, ebx", 16, NULL), "a condition that there isn't proves nothing");
	srand(1);
	for (unsigned i = 0; i < 200000; i++) {
		size_t n = rand() % 24;
		char *text = xmalloc(n + 1);
		struct str s = {0};

		for (size_t k = 0; k < n; k++)
			text[k] = letters[rand() % (sizeof(letters) - 1)];
		text[n] = 0;
		good += x86->proves(i & 1 ? BRANCH_JCC : BRANCH_LOOP, rand() & 0xff, rand() & 1,
				    text, &s) == (s.len != 0);
		str__free(&s);
		free(text);
	}
	is(good, 200000, "of any text something is appended, or nothing");
}

/* ---- bytes that are no instruction ---- */

static void test_bytes(void)
{
	unsigned good = 0;

	srand(2);
	for (unsigned i = 0; i < 200000; i++) {
		size_t n = rand() % 16;
		uint8_t *bytes = xmalloc(n + 1);

		for (size_t k = 0; k < n; k++)
			bytes[k] = rand() >> 7;
		good += x86->flags_effect(bytes, n, BRANCH_JCC, rand() & 15) <= FLAGS_SET;
		free(bytes);
	}
	is(good, 200000, "any bytes have an effect, or an unknown one");
	is(x86->flags_effect((const uint8_t *)"\x0f", 1, BRANCH_JCC, 4), FLAGS_UNKNOWN,
	   "half an instruction has an unknown effect");
}

int main(void)
{
	x86 = arch__by_machine(EM_X86_64);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
	test_texts();
	test_bytes();
	return tap__done();
}
