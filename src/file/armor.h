/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * armor: the format of an armored line: "@bb"; the line's number from 0 (6 hex digits, modulo
 * 2^24); the number of bytes in it (2 hex digits); these bytes in base64 (RFC 4648, section 4);
 * CRC-32 of the text between "@bb" and here and of the number's higher bits (8 hex digits). At most
 * 75 columns. Private to src/file.
 */
#ifndef BBTRACE_FILE_ARMOR_H
#define BBTRACE_FILE_ARMOR_H

#include "file/file.h"

#define ARMOR_MARK	  "@bb"
#define ARMOR_MARK_LEN	  3
#define ARMOR_HEAD_LEN	  (ARMOR_MARK_LEN + 6 + 2)
#define ARMOR_BYTES	  42 /* bytes in a line */
#define ARMOR_TEXT	  (ARMOR_BYTES / 3 * 4)
#define ARMOR_LINE_MAX	  (ARMOR_HEAD_LEN + ARMOR_TEXT + 8)
#define ARMOR_NUMBER_MASK 0xffffff

extern const char armor_digits[64 + 1];
/* Takes the line's text between the mark and the checksum. */
uint32_t armor__checksum(const char *text, size_t len, uint64_t number);

#endif
