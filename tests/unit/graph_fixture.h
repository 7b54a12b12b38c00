/* SPDX-License-Identifier: BSD-2-Clause */
/* Random control-flow graphs, as the plan of a function. */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#include <elf.h>
#include "plan/plan.h"

#define MOST 12 /* blocks */

static uint32_t seed = 1;

static inline uint32_t any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static struct plan_block blocks[MOST];
static struct plan_site sites[MOST];
static uint32_t table[MOST * 3];
static struct plan_function functions[2]; /* one is in the plan */
static struct plan p;

/* Each block ends in a branch, so that a block is known by its site. */
static inline void make(uint32_t n)
{
	uint32_t ntable = 0;

	memset(sites, 0, sizeof(sites));
	for (uint32_t i = 0; i < n; i++) {
		struct plan_block *b = &blocks[i];

		*b = (struct plan_block){.start = i * 4,
					 .end = i * 4 + 4,
					 .site = i,
					 .next = NO_BLOCK,
					 .taken = NO_BLOCK};
		sites[i] = (struct plan_site){
			.vaddr = i * 4, .len = 4, .block = i, .role = ROLE_BRANCH};
		switch (any(9)) {
		case 0:
			sites[i].kind = BRANCH_RET;
			break;
		case 1:
			sites[i].kind = BRANCH_CALL;
			b->noreturn = true;
			break;
		case 2:
			sites[i].kind = BRANCH_JMP;
			b->taken = any(n);
			break;
		case 3:
			sites[i].kind = BRANCH_IJMP;
			b->table = ntable;
			b->ntable = 1 + any(3);
			b->unresolved = !any(6);
			for (uint32_t k = 0; k < b->ntable; k++)
				table[ntable++] = any(n);
			break;
		case 4:
			sites[i].kind = BRANCH_CALL;
			b->next = any(n);
			break;
		default:
			sites[i].kind = BRANCH_JCC;
			b->taken = any(8) ? any(n) : NO_BLOCK;
			b->next = any(n);
		}
	}
	functions[0] = (struct plan_function){.name = "f"};
	p = (struct plan){.arch = arch__by_machine(EM_X86_64),
			  .functions = {.data = functions, .len = 1},
			  .blocks = {.data = blocks, .len = n},
			  .sites = {.data = sites, .len = n},
			  .table = {.data = table, .len = ntable}};
}

#endif
