#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Which tests there are, by the files of tests/, and what make builds for them. Prints one a line.
#
#   tests.sh all             those of `make check`, in the order in which prove starts them
#   tests.sh quick           those of `make check-quick`
#   tests.sh match PATTERN   those whose path has the pattern (an extended regular expression), tests/long and tests/arch too
#   tests.sh targets TEST... what make builds before these run
#   tests.sh programs TEST...  prints yes if one of them needs tests/progs
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}

# Some guests are in check-long alone: tests/long/t_guests.sh.
long=' t_calibrate t_detach t_diff t_e2e t_execution t_growing t_kernel_coverage t_lockdown t_net t_paths '
# Unit tests of five seconds and more.
slow=' code_step copier_use file_endless inline_rings output_fold target_elf target_hostile target_sandbox trace_damage '

unit_tests() {
	local file

	for file in tests/unit/test_*.c; do
		file=${file##*/}
		echo "$B/unit/${file%.c}"
	done
}

# The longest first: what is long and starts last leaves a core idle. Unit tests come before guests, since they fail first.
all() {
	local file

	{
		printf '%s\n' scripts/lint.sh "$B"/unit/test_{target_elf,output_fold,inline_rings,code_step}
		unit_tests
		printf '%s\n' tests/vm/t_{programs,accounts,trace}.sh tests/arch/t_short.sh \
			tests/e2e/t_reference.sh tests/vm/t_*.sh tests/check/t_{whole,exported}.sh \
			tests/e2e/t_{diff,trace_file,inlined_waits,if,crash,inlined_kill,inlined_traps,go}.sh
		printf '%s\n' tests/{check,e2e,formats,scripts,fuzz}/t_*.sh
	} | awk '!seen[$0]++' | while read -r file; do
		[[ $file == tests/vm/* && $long == *" $(basename "$file" .sh) "* ]] || echo "$file"
	done
}

quick() {
	local file

	echo scripts/lint.sh
	unit_tests | while read -r file; do
		[[ $slow == *" ${file##*/test_} "* ]] || echo "$file"
	done
	printf '%s\n' tests/fuzz/t_corpus.sh tests/scripts/t_{build,docs,prototypes,sources}.sh \
		tests/check/t_flow.sh tests/formats/t_{annotate,dot,fold,sampled,svg}.sh \
		tests/e2e/t_{documented,report,output,diff_formats,armor,names,lines,count,status,calls,returns}.sh \
		tests/e2e/t_{user,stacks,inlined_options}.sh
}

match() {
	{
		all
		printf '%s\n' tests/{vm,long,arch}/t_*.sh tests/formats/{browser,databases,gcc,llvm}_*.sh
	} | awk '!seen[$0]++' | grep -E -- "$1"
}

# The files in which a test's needs are seen: guests run guest_NAME.sh, tests/long calls others.
files_of() { # TEST
	local guest=tests/vm/guest_${1##*/t_}

	echo "$1"
	[[ $1 != tests/vm/* || ! -e $guest ]] || echo "$guest"
	[[ $1 != tests/long/* ]] || grep -oE 'tests/[a-z0-9]*/t_[a-z0-9_]*\.sh|(check|e2e|vm)/t_[a-z0-9_]+' "$1" |
		sed -E 's|^tests/||; s|\.sh$||; s|.*|tests/&.sh|' | sort -u | while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}

targets() {
	local test name

	for test; do
		case $test in
		*/unit/test_*) echo "$test" && continue ;;
		scripts/* | tests/scripts/*) continue ;;
		tests/fuzz/t_corpus.sh) echo corpus && continue ;;
		tests/arch/t_short.sh) echo quick ;;
		tests/arch/*) printf '%s\n' quick foreign ;;
		tests/long/t_units.sh) echo units ;;
		esac
		echo all
		# shellcheck disable=SC2046 # names of files have no blanks
		for name in sites batches counting copies supervised growing relocated san/bbtrace; do
			! grep -qE "(\\\$\{?B(UILD)?|build)[}\"]*/$name\b" $(files_of "$test") || echo "$B/$name"
		done
	done | awk '!seen[$0]++'
}

# Every guest has build/progs.
programs() {
	local test

	for test; do
		# shellcheck disable=SC2046 # as above
		if [[ $test == tests/vm/* ]] || { [[ $test == tests/* ]] && grep -qE '\$\{?B(UILD)?[}"]*/(progs|stepref)' $(files_of "$test"); }; then
			echo yes
			return
		fi
	done
}

case ${1:-} in
all | quick) "$1" ;;
match | targets | programs) "$@" ;;
*) sed -n '/^#   tests.sh/s/^# *//p' "$0" >&2 && exit 2 ;;
esac
