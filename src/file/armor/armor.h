/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armor: the format of an armored line: "@bb"; the line's number from 0 (6 hex digits, modulo
 * 2^24); the number of bytes in it (2 hex digits); these bytes in base64 (RFC 4648, section 4);
 * CRC-32 of the text between "@bb" and here and of the number's higher bits (8 hex digits). At most
 * 75 columns.
 *
 * Redundant armor has parity lines, of 77 columns: "@bp"; the number of the first line of a group;
 * how many lines it has, which are ARMOR_APART numbers apart, and the exclusive or of their numbers
 * of bytes (2 hex digits each); that of their bytes, as if all had 42; CRC-32 as above. Readers
 * that don't know them skip them. One of 0 lines comes first. Private to src/file.
 */
#ifndef BBTRACE_FILE_ARMOR_ARMOR_H
#define BBTRACE_FILE_ARMOR_ARMOR_H

#include "file/file.h"

#define ARMOR_MARK	  "@bb"
#define ARMOR_PARITY	  "@bp"
#define ARMOR_MARK_LEN	  3
#define ARMOR_HEAD_LEN	  (ARMOR_MARK_LEN + 6 + 2)
#define ARMOR_BYTES	  42 /* bytes in a line */
#define ARMOR_TEXT	  (ARMOR_BYTES / 3 * 4)
#define ARMOR_LINE_MAX	  (ARMOR_HEAD_LEN + 2 + ARMOR_TEXT + 8)
#define ARMOR_NUMBER_MASK 0xffffff

#define ARMOR_APART 32 /* groups, so that a burst of as many lines hits each of them once */
#define ARMOR_GROUP 16 /* lines in each */

/* Takes the line's text between the mark and the checksum. */
uint32_t armor__checksum(const char *text, size_t len, uint64_t number);

/* A line, or what a group of them adds up to. */
struct armor_bytes {
	uint8_t len, data[ARMOR_BYTES]; /* those after len are 0 */
};
void armor_bytes__add(struct armor_bytes *sum, const struct armor_bytes *b);

/* ---- lines in order (armor_order.c) ---- */

/* Takes lines as they come, and gives their bytes in the order of their numbers. report is called
 * for lines that are missing or were repaired. */
struct armor_order;
struct armor_order *armor_order__new(void (*report)(void *ctx, const char *text), void *ctx);
void armor_order__free(struct armor_order *o);
void armor_order__line(struct armor_order *o, uint64_t number, const struct armor_bytes *b);
void armor_order__parity(struct armor_order *o, uint64_t first, unsigned lines,
			 const struct armor_bytes *sum);
/* No more lines come. */
void armor_order__end(struct armor_order *o);
/* The number near which others are. */
uint64_t armor_order__expected(const struct armor_order *o);
/* A trace_read_fn, but 0 only says that there is nothing yet. */
ssize_t armor_order__read(struct armor_order *o, void *data, size_t len);
uint64_t armor_order__bad(const struct armor_order *o);

#endif
