/* SPDX-License-Identifier: BSD-2-Clause */
/* What the BPF program knows of the sites: the maps sites and operands, with room for added ones.
 */
#ifndef BBTRACE_SOURCE_PROBES_SITE_TABLE_H
#define BBTRACE_SOURCE_PROBES_SITE_TABLE_H

#include "session.h"

/* Before the BPF object is loaded. */
void site_table__size(struct probe *p);
/* After that: enters all sites that may be hit. 0, or -errno with a message. */
int site_table__fill(struct probe *p);
/* Enters more sites, and what was amended of others. Returns -ENOSPC if there is no room. */
int site_table__add(struct probe *p, const uint32_t *sites, size_t n);
/* The hits of a site are ignored, or no longer. 0, or -errno with a message. */
int site_table__ignore(struct probe *p, uint32_t site, bool ignored);
bool site_table__is_ignored(const struct probe *p, uint32_t site);
/* Which signals the plan needs: the BPF program's signals. */
uint32_t site_table__signals(const struct plan *plan);

#endif
