// SPDX-License-Identifier: BSD-2-Clause
/* The tables of a trace file and their columns. Columns are numbered: append new ones, and describe
 * them in man/bbtrace-trace.5. */
#include "file/format.h"

/* The names of bbtrace-trace(5). */
#define TYPE_NAME(member)                                                                          \
	_Generic(member, uint8_t: "u8", uint16_t: "u16", uint32_t: "u32", uint64_t: "u64",         \
		 int32_t: "i32", int64_t: "i64", bool: "bool", const char *: "string",             \
		 struct bytes: "bytes")
#define COLUMN(kind, type, member)                                                                 \
	{                                                                                          \
		kind, sizeof(((type *)0)->member), offsetof(type, member), #member,                \
			TYPE_NAME(((type *)0)->member)                                             \
	}
#define NUMBER(type, member) COLUMN(COLUMN_NUMBER, type, member)
#define BOOL(type, member)   COLUMN(COLUMN_BOOL, type, member)
#define STRING(type, member) COLUMN(COLUMN_STRING, type, member)
#define BYTES(type, member)  COLUMN(COLUMN_BYTES, type, member)

static const struct column meta[] = {
	NUMBER(struct trace_meta, start_time),	NUMBER(struct trace_meta, realtime_offset),
	NUMBER(struct trace_meta, utc_offset),	NUMBER(struct trace_meta, events),
	NUMBER(struct trace_meta, max_depth),	NUMBER(struct trace_meta, min_duration),
	NUMBER(struct trace_meta, limit),	NUMBER(struct trace_meta, regs),
	BOOL(struct trace_meta, show_regs),	NUMBER(struct trace_meta, time_style),
	NUMBER(struct trace_meta, cpus),	NUMBER(struct trace_meta, part),
	STRING(struct trace_meta, version),	STRING(struct trace_meta, command),
	STRING(struct trace_meta, system),	BOOL(struct trace_meta, no_fold),
	BOOL(struct trace_meta, counts),	STRING(struct trace_meta, tag),
	STRING(struct trace_meta, host),	STRING(struct trace_meta, conditions),
	NUMBER(struct trace_meta, logged_regs),
};

static const struct column object[] = {
	NUMBER(struct file_object, kind),    STRING(struct file_object, path),
	NUMBER(struct file_object, machine), BOOL(struct file_object, pie),
	BOOL(struct file_object, planned),   NUMBER(struct file_object, dev),
	NUMBER(struct file_object, ino),     BYTES(struct file_object, build_id),
};

static const struct column segment[] = {
	NUMBER(struct file_segment, object), BOOL(struct file_segment, exec),
	NUMBER(struct file_segment, vaddr),  NUMBER(struct file_segment, size),
	NUMBER(struct file_segment, offset),
};

static const struct column code[] = {
	NUMBER(struct file_code, object),
	NUMBER(struct file_code, vaddr),
	BYTES(struct file_code, bytes),
};

static const struct column function[] = {
	STRING(struct plan_function, name),	   STRING(struct plan_function, raw),
	NUMBER(struct plan_function, object),	   NUMBER(struct plan_function, entry_site),
	NUMBER(struct plan_function, entry_block), NUMBER(struct plan_function, flags),
	NUMBER(struct plan_function, branches),	   NUMBER(struct plan_function, skipped),
	NUMBER(struct plan_function, unprobed),	   NUMBER(struct plan_function, unresolved),
	NUMBER(struct plan_function, unreached),   NUMBER(struct plan_function, return_refusal),
	NUMBER(struct plan_function, arguments),
};

static const struct column range[] = {
	NUMBER(struct file_range, function), NUMBER(struct file_range, vaddr),
	NUMBER(struct file_range, size),     STRING(struct file_range, name),
	NUMBER(struct file_range, offset),
};

static const struct column site[] = {
	NUMBER(struct plan_site, vaddr),
	NUMBER(struct plan_site, target),
	STRING(struct plan_site, mnemonic),
	NUMBER(struct plan_site, operand.kind),
	NUMBER(struct plan_site, operand.base),
	NUMBER(struct plan_site, operand.index),
	NUMBER(struct plan_site, operand.scale),
	NUMBER(struct plan_site, operand.seg),
	NUMBER(struct plan_site, operand.addr32),
	NUMBER(struct plan_site, operand.size),
	NUMBER(struct plan_site, operand.disp),
	NUMBER(struct plan_site, object),
	NUMBER(struct plan_site, function),
	NUMBER(struct plan_site, block),
	NUMBER(struct plan_site, len),
	NUMBER(struct plan_site, kind),
	NUMBER(struct plan_site, cond),
	NUMBER(struct plan_site, entry),
	NUMBER(struct plan_site, refusal),
	NUMBER(struct plan_site, probe),
	NUMBER(struct plan_site, probe_at),
	NUMBER(struct plan_site, repeats),
	NUMBER(struct plan_site, thunk),
	NUMBER(struct plan_site, sp_delta),
	NUMBER(struct plan_site, switched),
	NUMBER(struct plan_site, role),
	NUMBER(struct plan_site, traps),
	STRING(struct plan_site, compare),
	STRING(struct plan_site, variable_a),
	STRING(struct plan_site, variable_b),
	NUMBER(struct plan_site, variable_types),
};

static const struct column block[] = {
	NUMBER(struct plan_block, start),      NUMBER(struct plan_block, end),
	NUMBER(struct plan_block, object),     NUMBER(struct plan_block, function),
	NUMBER(struct plan_block, site),       NUMBER(struct plan_block, next),
	NUMBER(struct plan_block, taken),      NUMBER(struct plan_block, table),
	NUMBER(struct plan_block, ntable),     NUMBER(struct plan_block, noreturn),
	NUMBER(struct plan_block, unresolved), NUMBER(struct plan_block, leaves),
	NUMBER(struct plan_block, abnormal),   NUMBER(struct plan_block, quick),
};

static const struct column jump[] = {{COLUMN_NUMBER, sizeof(uint32_t), 0, "block", "u32"}};

static const struct column stub[] = {
	NUMBER(struct file_stub, object),
	NUMBER(struct file_stub, vaddr),
};

static const struct column extent[] = {
	NUMBER(struct plan_extent, start),
	NUMBER(struct plan_extent, end),
	NUMBER(struct plan_extent, object),
	NUMBER(struct plan_extent, function),
};

static const struct column gap[] = {
	NUMBER(struct plan_gap, start),
	NUMBER(struct plan_gap, end),
	NUMBER(struct plan_gap, object),
	NUMBER(struct plan_gap, function),
};

static const struct column line_file[] = {STRING(struct file_line_file, path)};

static const struct column line[] = {
	NUMBER(struct plan_line, vaddr),	 NUMBER(struct plan_line, object),
	NUMBER(struct plan_line, file),		 NUMBER(struct plan_line, line),
	NUMBER(struct plan_line, discriminator),
};

static const struct column scope[] = {
	STRING(struct plan_scope, name),      STRING(struct plan_scope, raw),
	NUMBER(struct plan_scope, object),    NUMBER(struct plan_scope, parent),
	NUMBER(struct plan_scope, file),      NUMBER(struct plan_scope, line),
	NUMBER(struct plan_scope, call_line), NUMBER(struct plan_scope, call_discriminator),
	NUMBER(struct plan_scope, entry),     NUMBER(struct plan_scope, call_file),
	STRING(struct plan_scope, folded),
};

static const struct column scope_range[] = {
	NUMBER(struct plan_scope_range, start),
	NUMBER(struct plan_scope_range, end),
	NUMBER(struct plan_scope_range, object),
	NUMBER(struct plan_scope_range, scope),
};

static const struct column named[] = {
	STRING(struct plan_named, name),
	NUMBER(struct plan_named, kind),
};

static const struct column field[] = {
	NUMBER(struct plan_field, named),  STRING(struct plan_field, name),
	STRING(struct plan_field, type),   NUMBER(struct plan_field, kind),
	NUMBER(struct plan_field, offset), NUMBER(struct plan_field, size),
	NUMBER(struct plan_field, count),  NUMBER(struct plan_field, known),
};

static const struct column value[] = {
	NUMBER(struct plan_value, function), NUMBER(struct plan_value, of_return),
	STRING(struct plan_value, name),     STRING(struct plan_value, type),
	NUMBER(struct plan_value, kind),     NUMBER(struct plan_value, from),
	NUMBER(struct plan_value, reg),	     NUMBER(struct plan_value, second),
	NUMBER(struct plan_value, size),     NUMBER(struct plan_value, bit_at),
	NUMBER(struct plan_value, bits),     NUMBER(struct plan_value, errnos),
	NUMBER(struct plan_value, fetched),  NUMBER(struct plan_value, enumeration),
	NUMBER(struct plan_value, at),
};

static const struct column enumerator[] = {
	NUMBER(struct plan_enumerator, enumeration),
	STRING(struct plan_enumerator, name),
	NUMBER(struct plan_enumerator, value),
};

static const struct column plan[] = {
	NUMBER(struct file_plan, machine),     BOOL(struct file_plan, kernel),
	NUMBER(struct file_plan, placement),   NUMBER(struct file_plan, probes),
	NUMBER(struct file_plan, skipped),     NUMBER(struct file_plan, ifunc_unknown),
	BOOL(struct file_plan, unprobed_rets), BOOL(struct file_plan, return_probes),
	BOOL(struct file_plan, entries_only),  BOOL(struct file_plan, counts_all),
};

static const struct column planned[] = {NUMBER(struct file_planned, object)};

static const struct column amended[] = {
	NUMBER(struct file_amended, table),
	NUMBER(struct file_amended, row),
};

static const struct column symbol[] = {
	NUMBER(struct file_symbol, object),	   NUMBER(struct file_symbol, symbol.vaddr),
	NUMBER(struct file_symbol, symbol.size),   STRING(struct file_symbol, symbol.name),
	STRING(struct file_symbol, symbol.shown),  STRING(struct file_symbol, symbol.version),
	STRING(struct file_symbol, symbol.module), NUMBER(struct file_symbol, symbol.type),
	BOOL(struct file_symbol, symbol.global),   BOOL(struct file_symbol, symbol.default_version),
	NUMBER(struct file_symbol, symbol.number),
};

static const struct column inlined[] = {
	NUMBER(struct file_inlined, object),
	NUMBER(struct file_inlined, vaddr),
	STRING(struct file_inlined, names),
};

static const struct column mapped[] = {
	NUMBER(struct file_mapped, object),
	NUMBER(struct file_mapped, dev),
	NUMBER(struct file_mapped, ino),
	STRING(struct file_mapped, path),
};

static const struct column site_count[] = {
	NUMBER(struct file_site_count, site),
	NUMBER(struct file_site_count, count.taken),
	NUMBER(struct file_site_count, count.not_taken),
	NUMBER(struct file_site_count, low),
};

static const struct column block_count[] = {
	NUMBER(struct file_row_count, row),
	NUMBER(struct file_row_count, count),
};

static const struct column table_count[] = {
	NUMBER(struct file_row_count, row),
	NUMBER(struct file_row_count, count),
};

static const struct column target_count[] = {
	NUMBER(struct counted_target, site),	  NUMBER(struct counted_target, count),
	NUMBER(struct counted_target, object),	  NUMBER(struct counted_target, to.addr),
	STRING(struct counted_target, to.object), STRING(struct counted_target, to.symbol),
	NUMBER(struct counted_target, to.offset), NUMBER(struct counted_target, to.vaddr),
};

static const struct column counted[] = {
	STRING(struct file_counted, tag),
	NUMBER(struct file_counted, traces),
	NUMBER(struct file_counted, residue),
};

static const struct column untraced[] = {
	NUMBER(struct file_untraced, pid),
	NUMBER(struct file_untraced, object),
	NUMBER(struct file_untraced, function),
	STRING(struct file_untraced, reason),
};

static const struct column end[] = {
	NUMBER(struct trace_end, reason),
	NUMBER(struct trace_end, sideband_lost),
	NUMBER(struct trace_end, totals.functions),
	NUMBER(struct trace_end, totals.probes),
	NUMBER(struct trace_end, totals.skipped),
	NUMBER(struct trace_end, totals.events),
	NUMBER(struct trace_end, totals.lost),
	NUMBER(struct trace_end, totals.unmatched_returns),
	NUMBER(struct trace_end, totals.unknown),
	NUMBER(struct trace_end, totals.unseen_tail_returns),
	NUMBER(struct trace_end, totals.undecoded),
	NUMBER(struct trace_end, totals.code),
	NUMBER(struct trace_end, totals.at_least),
	NUMBER(struct trace_end, totals.missed),
	NUMBER(struct trace_end, totals.open_calls),
	NUMBER(struct trace_end, totals.residue),
	NUMBER(struct trace_end, totals.cut),
	NUMBER(struct trace_end, totals.named),
	NUMBER(struct trace_end, totals.muted),
	NUMBER(struct trace_end, totals.muted_hits),
	NUMBER(struct trace_end, totals.unmet),
	NUMBER(struct trace_end, totals.unjudged),
	NUMBER(struct trace_end, totals.undecided),
	NUMBER(struct trace_end, totals.untraced),
	NUMBER(struct trace_end, totals.unknown_code),
	NUMBER(struct trace_end, totals.all_code),
	NUMBER(struct trace_end, totals.ended_calls),
};

#define ROWS(columns, member)                                                                      \
	{                                                                                          \
		{#columns, columns, ARRAY_SIZE(columns),                                           \
		 sizeof(*((struct file_rows *)0)->member.data)},                                   \
			offsetof(struct file_rows, member)                                         \
	}

const struct file_table file_tables[BLOCK_TYPES] = {
	[BLOCK_META] = ROWS(meta, meta),
	[BLOCK_OBJECT] = ROWS(object, objects),
	[BLOCK_SEGMENT] = ROWS(segment, segments),
	[BLOCK_CODE] = ROWS(code, code),
	[BLOCK_FUNCTION] = ROWS(function, functions),
	[BLOCK_RANGE] = ROWS(range, ranges),
	[BLOCK_SITE] = ROWS(site, sites),
	[BLOCK_BLOCK] = ROWS(block, blocks),
	[BLOCK_JUMP] = ROWS(jump, jumps),
	[BLOCK_STUB] = ROWS(stub, stubs),
	[BLOCK_EXTENT] = ROWS(extent, extents),
	[BLOCK_LINE_FILE] = ROWS(line_file, line_files),
	[BLOCK_LINE] = ROWS(line, lines),
	[BLOCK_PLAN] = ROWS(plan, plan),
	[BLOCK_SYMBOL] = ROWS(symbol, symbols),
	[BLOCK_MAPPED] = ROWS(mapped, mapped),
	[BLOCK_END] = ROWS(end, end),
	[BLOCK_GAP] = ROWS(gap, gaps),
	[BLOCK_PLANNED] = ROWS(planned, planned),
	[BLOCK_AMENDED] = ROWS(amended, amended),
	[BLOCK_SCOPE] = ROWS(scope, scopes),
	[BLOCK_SCOPE_RANGE] = ROWS(scope_range, scope_ranges),
	[BLOCK_SITE_COUNT] = ROWS(site_count, site_counts),
	[BLOCK_BLOCK_COUNT] = ROWS(block_count, block_counts),
	[BLOCK_TABLE_COUNT] = ROWS(table_count, table_counts),
	[BLOCK_TARGET_COUNT] = ROWS(target_count, target_counts),
	[BLOCK_COUNTED] = ROWS(counted, counted),
	[BLOCK_NAMED] = ROWS(named, named),
	[BLOCK_FIELD] = ROWS(field, fields),
	[BLOCK_INLINED] = ROWS(inlined, inlined),
	[BLOCK_VALUE] = ROWS(value, values),
	[BLOCK_ENUMERATOR] = ROWS(enumerator, enumerators),
	[BLOCK_UNTRACED] = ROWS(untraced, untraced),
};
