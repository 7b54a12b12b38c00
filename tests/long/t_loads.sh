#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Does the kernel load every BPF program, as each clang that is installed builds it, in each mode? What a kernel's verifier
# accepts depends on the compiler, too. KERNELS="6.12": on these. CLANGS="clang-14": by these. MODES=REGEX: only these
# modes of tests/vm/guest_loads.sh.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"
needs_guest make
helper loaded
wanted=(clang-14 clang-16 clang-19)

compilers() { { printf '%s\n' "${wanted[@]}" && compgen -c clang- | grep -E '^clang-[0-9]+$'; } | sort -uV; }

# build CLANG: as $BUILD/CLANG/bbtrace, from the objects of $BUILD; only what contains BPF programs is compiled again.
build() {
	local folder=$BUILD/$1

	rm -rf "$folder"
	mkdir -p "$folder"
	(cd "$BUILD" && find . -regex '\./\(clang-.*\|vm\|progs\|san\|fuzz\|unit\|corpus\|quick\|arm64\|riscv64\|sysroot\|bare\|go\)' -prune -o \
		-type f -regex '.*\.\([odch]\|inc\|libs\)' ! -name '*.bpf.o' ! -name '*.skel.h' -print0 |
		cpio --null --quiet --pass-through --make-directories --preserve-modification-time "$folder") &&
		grep -lr --include='*.d' 'skel\.h' "$folder" | sed 's/d$/o/' | xargs rm -f &&
		make -j"$(nproc)" B="$folder" CLANG="$1" all >"$T/make" 2>&1
}

# Programs by the names that the kernel gets: their first 15 characters.
programs() { sed -n 's/^[ \t]*struct bpf_program \*\(.\{1,15\}\).*;$/\1/p' "$1/bbtrace.skel.h" | sort -u; }

builds=()
for clang in ${CLANGS:-$(compilers)}; do
	if ! command -v "$clang" >/dev/null; then
		skip "BPF programs by $clang" 'not installed'
		continue
	fi
	build "$clang"
	ok $? "$clang builds bbtrace" || diag "$(tail -n 20 "$T/make")"
	[[ ! -x $BUILD/$clang/bbtrace ]] || builds+=("$clang")
done

options=()
named=()
ran=
for clang in "${builds[@]}"; do
	options+=(-f "$BUILD/$clang/bbtrace")
	named+=("$clang=$BUILD/$clang/bbtrace")
done
for KERNEL in ${KERNELS:-6.1 6.12 newest}; do
	((${#builds[@]})) && has_kernel "$KERNEL" || continue
	rm -rf "$T/back"
	guest -t 10800 -f "$T/loaded" "${options[@]}" -- env MODES="${MODES:-}" tests/vm/guest_loads.sh "$T/loaded" "${named[@]}"
	ran+=" $KERNEL"
	for clang in "${builds[@]}"; do
		diag "$KERNEL $clang: not loaded in any mode: $(comm -23 <(programs "$BUILD/$clang") "$T/back/$clang" | xargs)"
		cat "$T/back/$clang" >>"$T/loaded-by-$clang"
	done
done
# Some are for kernels without uprobe_multi, some for those that have it.
if [[ $ran == *' 6.1'*' newest'* && ! ${MODES:-} ]]; then
	for clang in "${builds[@]}"; do
		is "$(comm -23 <(programs "$BUILD/$clang") <(sort -u "$T/loaded-by-$clang") | xargs)" '' \
			"$clang: each program is loaded in one of the modes, on one of the kernels"
	done
fi
done_testing
