#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ranges.sh OBJECT FUNC...: the ranges of these functions and their cold parts, for stepref --ranges. Lines `NAME
# 0xSTART 0xSIZE OWN-NAME`. FUNC as the symbol table writes it; one without size, or that is missing there, is an
# error.
set -eu
object=$1
shift
[ $# -gt 0 ] || { echo "usage: ranges.sh OBJECT FUNC..." >&2; exit 2; }
{ readelf -sW "$object"; readelf -sW --dyn-syms "$object"; } 2>/dev/null | awk -v want="$*" '
	BEGIN { n = split(want, name, " ") }
	NF >= 8 && $7 != "UND" && $3 != 0 && ($4 == "FUNC" || $4 == "NOTYPE" || $4 == "IFUNC") {
		sym = $8
		sub(/@.*/, "", sym)
		if (!(($2, sym) in seen)) {
			seen[$2, sym] = 1
			start[sym] = $2
			size[sym] = $3
		}
	}
	function show(as, sym) {
		printf "%s 0x%s %s %s\n", as, start[sym], size[sym] ~ /^0x/ ? size[sym] : sprintf("0x%x", size[sym]), sym
	}
	END {
		for (i = 1; i <= n; i++) {
			if (!(name[i] in start)) {
				print "ranges.sh: no function " name[i] " with a size" > "/dev/stderr"
				exit 1
			}
			show(name[i], name[i])
			if ((name[i] ".cold") in start)
				show(name[i], name[i] ".cold")
		}
	}'
