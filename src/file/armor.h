/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armor: the form of a line. "@bb", its number from 0 (6 hex digits, modulo 2^24), how many bytes
 * it holds (2 hex digits), these in base64 (RFC 4648, section 4), CRC-32 of the text between "@bb"
 * and here and of the number's higher bits (8 hex digits). At most 75 columns. Private to
 * src/file.
 */
#ifndef BBTRACE_FILE_ARMOR_H
#define BBTRACE_FILE_ARMOR_H

#include "file/file.h"

#define ARMOR_MARK	  "@bb"
#define ARMOR_MARK_LEN	  3
#define ARMOR_HEAD_LEN	  (ARMOR_MARK_LEN + 6 + 2)
#define ARMOR_BYTES	  42 /* in a line */
#define ARMOR_TEXT	  (ARMOR_BYTES / 3 * 4)
#define ARMOR_LINE_MAX	  (ARMOR_HEAD_LEN + ARMOR_TEXT + 8)
#define ARMOR_NUMBER_MASK 0xffffff

extern const char armor_digits[64 + 1];
/* Of a line's text behind the mark and before the checksum. */
uint32_t armor__checksum(const char *text, size_t len, uint64_t number);

#endif
