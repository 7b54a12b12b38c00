#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs what bbtrace needs and is not there. Debian 12 and 13; a derivative with new enough packages works
# too; elsewhere it looks for the tools and headers themselves and names what is missing.
#
#   deps.sh [build]   to build and to run `make try`
#   deps.sh test      also what `make check` runs. What can't be had here is named; its tests skip
#   deps.sh arch      also what `make check-arch` emulates with
#   deps.sh long      what `make check-long` traces, emulates and compiles with besides
#   deps.sh bench     what `make bench` builds and measures. Peers that can't be had are named and left out
#   deps.sh formats   also what `make check-formats` opens the heavier formats with
#   deps.sh fuzz      what `make fuzz` builds with
#   deps.sh package   what `dpkg-buildpackage -b` needs, and the check of the package
#   deps.sh list [KIND...]  prints the table, or the rows of these kinds
set -u
cd "$(dirname "$0")/.." || exit 1

# For what | Debian package | what it brings: a command, a header with <>, a flag of clang | oldest version that will do.
table='
build | gcc             | gcc
build | libc6-dev       | <stdio.h>
build | make            | make
build | clang           | clang
build | bpftool         | bpftool
build | libbpf-dev      | <bpf/libbpf.h>          | 1:1.3
build | libelf-dev      | <gelf.h>
build | libdw-dev       | <elfutils/libdwfl.h>
build | zlib1g-dev      | <zlib.h>
build | libzstd-dev     | <zstd.h>
build | liblzma-dev     | <lzma.h>
build | liblz4-dev      | <lz4frame.h>
build | libsodium-dev   | <sodium.h>
build | libncurses-dev  | <ncurses.h>
build | libzydis-dev    | <Zydis/Zydis.h>
build | libiberty-dev   | <libiberty/demangle.h>
build | libjson-c-dev   | <json-c/json.h>
build | libprotobuf-c-dev | <protobuf-c/protobuf-c.h>
build | protobuf-c-compiler | protoc-c
test  | perl            | prove
test  | libjson-xs-perl | json_xs
test  | g++             | g++
test  | rustc           | rustc
test  | golang-go       | go
test  | fzf             | fzf
test  | gdb             | gdb
test  | binutils        | objdump
test  | strace          | strace
test  | python3         | python3
test  | python3-pyte    | /usr/lib/python3/dist-packages/pyte/__init__.py
test  | procps          | ps
test  | qemu-system-x86 | qemu-system-x86_64      | 1:8.1
test  | busybox-static  | busybox
test  | cpio            | cpio
test  | kmod            | depmod
test  | e2fsprogs       | mke2fs
test  | jq              | jq
test  | xfsprogs        | mkfs.xfs
test  | xz-utils        | xz
test  | shellcheck      | shellcheck
test  | clang-format    | clang-format
test  | graphviz        | dot
test  | zsh             | zsh
test  | fish            | fish
test  | valgrind        | callgrind_annotate
test  | libxml2-utils   | xmllint
test  | protobuf-compiler | protoc
test  | lcov            | genhtml
test  | musl-tools      | musl-gcc
test  | lld             | ld.lld
test  | binutils-gold   | ld.gold
test  | llvm            | llvm-cov
test  | libclang-rt-dev | -fsanitize=fuzzer
test  | curl            | curl
test  | gcc-aarch64-linux-gnu | aarch64-linux-gnu-gcc
test  | g++-aarch64-linux-gnu | aarch64-linux-gnu-g++
test  | gcc-riscv64-linux-gnu | riscv64-linux-gnu-gcc
test  | g++-riscv64-linux-gnu | riscv64-linux-gnu-g++
test  | qemu-system-arm | qemu-system-aarch64     | 1:8.1
test  | qemu-system-riscv | qemu-system-riscv64   | 1:8.1
test  | binutils-aarch64-linux-gnu | aarch64-linux-gnu-objdump
test  | libc6-arm64-cross | /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1
test  | libstdc++6-arm64-cross | /usr/aarch64-linux-gnu/lib/libstdc++.so.6
test  | binutils-riscv64-linux-gnu | riscv64-linux-gnu-objdump
test  | gcc-i686-linux-gnu | i686-linux-gnu-gcc
test  | g++-i686-linux-gnu | i686-linux-gnu-g++
test  | libc6-i386-cross | /usr/i686-linux-gnu/lib/libc.so.6
test  | libstdc++6-i386-cross | /usr/i686-linux-gnu/lib/libstdc++.so.6
test  | libc6-riscv64-cross | /usr/riscv64-linux-gnu/lib/libc.so.6
test  | libstdc++6-riscv64-cross | /usr/riscv64-linux-gnu/lib/libstdc++.so.6
test  | gcc-arm-linux-gnueabihf | arm-linux-gnueabihf-gcc
test  | binutils-arm-linux-gnueabihf | arm-linux-gnueabihf-objdump
test  | libc6-armhf-cross | /usr/arm-linux-gnueabihf/lib/libc.so.6
test  | libstdc++6-armhf-cross | /usr/arm-linux-gnueabihf/lib/libstdc++.so.6
test  | pkgconf         | pkg-config
test  | libcapstone-dev | <capstone/capstone.h>
test  | headache        | headache
test  | libcap2-bin     | setcap
test  | dwz             | dwz
test  | less            | less
test  | openssl         | openssl
test  | sqlite3         | sqlite3
arch  | qemu-user       | qemu-aarch64            | 1:8.1
long  | qemu-user       | qemu-x86_64             | 1:8.1
long  | valgrind        | valgrind
long  | lz4             | lz4
long  | gzip            | gzip
long  | dash            | dash
long  | bc              | bc
long  | lua5.1          | lua5.1
long  | git             | git
long  | sqlite3         | sqlite3
long  | ninja-build     | ninja
long  | debootstrap     | debootstrap
long  | python3-full    | /usr/bin/idle
long  | dpkg-dev        | dpkg-source
long  | rustc           | rustc
long  | tcl-dev         | <tcl.h>
long  | zsh             | zsh
test  | zstd            | zstd
test  | lz4             | lz4
long  | bzip2           | bzip2
long  | openssl         | openssl
long  | gpg             | gpg
long  | openssh-client  | ssh
long  | x264            | x264
long  | gfortran        | gfortran
long  | ghc             | ghc
long  | ocaml           | ocamlopt
long  | chicken-bin     | csc
long  | guile-3.0       | guile
long  | sbcl            | sbcl
long  | clisp           | clisp
long  | tcl             | tclsh
long  | php-cli         | php
long  | ruby            | ruby
long  | lua5.4          | lua5.4
long  | luajit          | luajit
long  | gawk            | gawk
long  | erlang-base     | erl
long  | swi-prolog-nox  | swipl
long  | redis-server    | redis-server
long  | redis-tools     | redis-benchmark
long  | nginx-light     | nginx
long  | memcached       | memcached
long  | nodejs          | node
long  | libxml2-utils   | xmllint
long  | apache2-utils   | ab
long  | postgresql      | psql
long  | default-jdk-headless | java
long  | vim             | vim
long  | curl            | curl
long  | groff           | groff
long  | patch           | patch
long  | m4              | m4
long  | zip             | zip
long  | file            | file
long  | ed              | ed
long  | linux-perf      | perf
long  | unzip           | unzip
long  | bsdextrautils   | column
long  | universal-ctags | ctags
long  | brotli          | brotli
long  | dc              | dc
long  | units           | units
long  | gperf           | gperf
long  | re2c            | re2c
long  | nasm            | nasm
long  | yasm            | yasm
long  | tidy            | tidy
long  | xmlstarlet      | xmlstarlet
long  | mawk            | mawk
long  | clang-14        | clang-14
long  | clang-16        | clang-16
long  | clang-17        | clang-17
long  | clang-18        | clang-18
long  | clang-19        | clang-19
formats | python3       | python3
formats | binutils      | objdump
formats | graphviz      | dot
formats | chromium      | chromium
formats | bolt-19       | /usr/lib/llvm-19/bin/llvm-bolt
formats | valgrind      | callgrind_annotate
formats | libxml2-utils | xmllint
formats | protobuf-compiler | protoc
formats | nodejs        | node
formats | npm           | npm
formats | clickhouse-server | clickhouse-server
formats | clickhouse-client | clickhouse-client
formats | liblua5.3-dev | <lua5.3/lua.h>
formats | liblua5.4-dev | <lua5.4/lua.h>
bench | python3         | python3
bench | binutils        | objcopy
bench | bpftrace        | bpftrace
bench | gdb             | gdb
bench | valgrind        | valgrind
bench | uftrace         | uftrace
bench | linux-perf      | perf
bench | gzip            | gzip
bench | redis-server    | redis-server
bench | redis-tools     | redis-benchmark
bench | qemu-system-x86 | qemu-system-x86_64      | 1:8.1
bench | busybox-static  | busybox
bench | cpio            | cpio
bench | jq              | jq
bench | time            | /usr/bin/time
bench | bc              | bc
fuzz  | libclang-rt-dev | -fsanitize=fuzzer
test  | cmark-gfm       | cmark-gfm
test  | mandoc          | mandoc
package | cmark-gfm     | cmark-gfm
package | mandoc        | mandoc
package | debhelper     | dh
package | dpkg-dev      | dpkg-buildpackage
package | build-essential | g++
package | pkgconf       | pkg-config
package | libcapstone-dev | <capstone/capstone.h>
package | lintian       | lintian
'
backports_file=/etc/apt/sources.list.d/bbtrace-backports.sources

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt=(apt-get -y -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0
	-o Dpkg::Options::=--force-confold --no-install-recommends --no-remove)

say() { printf 'deps: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# apt-get, silent unless it fails.
apt() {
	local log status

	log=$("${apt[@]}" "$@" 2>&1 </dev/null)
	status=$?
	[[ $status == 0 ]] || tail -n 20 <<<"$log" >&2
	return $status
}

# The rows of the kinds given: "package provides [oldest]" a line.
rows() {
	awk -F'[ \t]*[|][ \t]*' -v want=" $* " 'index(want, " " $1 " ") { print $2, $3, $4 }' <<<"$table"
}

# A header is looked for with the compiler that is going to be used.
provided() {
	if [[ $1 == '<'*'>' ]]; then
		echo "#include $1" | "${CC:-cc}" -E -x c - >/dev/null 2>&1
	elif [[ $1 == -* ]]; then
		echo 'int LLVMFuzzerTestOneInput(void *p, long n) { return 0; }' |
			"${CLANG:-clang}" "$1" -x c -o /dev/null - >/dev/null 2>&1
	else
		PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null
	fi
}

# On Debian the package database says what is there: one call for all.
declare -A version
read_versions() {
	local name status found arch native

	native=$(dpkg --print-architecture 2>/dev/null)
	while read -r name arch status found; do
		[[ $status == installed && ($arch == "$native" || $arch == all) ]] && version[$name]=$found
	done < <(dpkg-query -W -f '${Package} ${Architecture} ${db:Status-Status} ${Version}\n' "$@" 2>/dev/null)
}

have_dpkg() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# A package is there when dpkg says so, in a version that will do. Without dpkg, or when it was installed by
# hand (a newer clang, a libbpf of one's own), what it brings counts.
missing() {
	local package provides oldest

	have_dpkg && mapfile -t names < <(rows "$@" | awk '{ print $1 }') && read_versions "${names[@]}"
	while read -r package provides oldest; do
		if [[ -n ${version[$package]:-} ]]; then
			[[ -z $oldest ]] && continue
			dpkg --compare-versions "${version[$package]}" ge "$oldest" 2>/dev/null && continue
		elif provided "$provides" && { [[ -z $oldest ]] || by_hand "$package"; }; then
			continue
		fi
		echo "$package"
	done < <(rows "$@")
}

# Those that have an oldest version are asked themselves. QEMU before 8.1 runs patched code of another CPU's
# halfway (accel/tcg: "Always lock pages before translation"): guests panic now and then.
new_enough() { "$1" --version | grep -qE 'version (8\.[1-9]|9|[1-9][0-9])'; }
by_hand() {
	case $1 in
	libbpf-dev)
		printf '%s\n' '#include <bpf/libbpf_version.h>' \
			'#if LIBBPF_MAJOR_VERSION < 1 || (LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 3)' \
			'#error' '#endif' | "${CC:-cc}" -E -x c - >/dev/null 2>&1
		;;
	qemu-system-x86) new_enough qemu-system-x86_64 ;;
	qemu-system-arm) new_enough qemu-system-aarch64 ;;
	qemu-system-riscv) new_enough qemu-system-riscv64 ;;
	qemu-user) new_enough qemu-x86_64 ;;
	*) return 1 ;;
	esac
}

# shellcheck disable=SC1091 # not ours
os() { (. /etc/os-release 2>/dev/null && eval "echo \"\${$1:-}\""); }

on_bookworm() { [[ $(os ID)-$(os VERSION_CODENAME) == debian-bookworm ]]; }

# Debian 12 only: an entry for its backports, from the machine's own entry, unless there is one.
enable_backports() {
	local stanza status

	on_bookworm || return 0
	stanza=$(scripts/sources.pl backports bookworm)
	status=$?
	[[ $status == 3 ]] && return 0
	[[ $status == 0 ]] || die "no entry for Debian 12 itself in /etc/apt, so none for its backports can be" \
		"derived: add bookworm-backports to the apt sources, then run this again"
	say "adding bookworm-backports (libbpf 1.4, QEMU 10) as $backports_file"
	mkdir -p "${backports_file%/*}"
	printf '# Added by scripts/deps.sh of bbtrace for libbpf-dev 1.3 and QEMU 8.1 or newer.\n%s\n' "$stanza" \
		>"$backports_file.new" && mv "$backports_file.new" "$backports_file"
	backports_added=1
}

# An entry that can't be fetched would break the machine's next apt-get update: take ours back.
update() {
	apt update && return
	[[ -n ${backports_added:-} ]] || return
	if ! apt-get indextargets 'Created-By: Packages' 'Codename: bookworm-backports' 2>/dev/null | grep -q .; then
		rm -f "$backports_file"
		say "bookworm-backports could not be fetched from the machine's mirror: entry removed"
	fi
	return 1
}

# What the stable release of Debian 12 has too old: PACKAGE with all that must then come from its backports, since each
# needs the very version of the others, with what is installed of the same sources (gdb's libdebuginfod1, qemu-utils …).
# ALL: what is being installed. Nothing: it is as wanted.
from_backports() { # PACKAGE ALL...
	local sources

	case $1 in
	libbpf-dev | libelf-dev | libdw-dev | gdb)
		sources='libbpf elfutils'
		printf '%s\n' libbpf-dev libbpf1 libelf-dev libelf1 libdw-dev libdw1
		[[ " $* " == *' gdb '* ]] && printf '%s\n' libdebuginfod1 libdebuginfod-common
		;;
	qemu-system-x86 | qemu-system-arm)
		sources='qemu seabios'
		printf '%s\n' "$1" qemu-system-common qemu-system-data
		[[ $1 != *x86 ]] || echo seabios
		;;
	qemu-system-riscv) # in Debian 12 a part of qemu-system-misc; its firmware apart
		sources='qemu seabios'
		printf '%s\n' qemu-system-riscv qemu-system-common qemu-system-data opensbi
		;;
	qemu-user) # needs no other of its source
		echo qemu-user
		return
		;;
	*) return ;;
	esac
	dpkg-query -W -f '${source:Package} ${db:Status-Status} ${Package}\n' |
		awk -v sources=" $sources " '$2 == "installed" && index(sources, " " $1 " ") { print $3 }'
}

# Those that apt can find; the rest is named.
choose() {
	local package old

	for package; do
		old=()
		on_bookworm && mapfile -t old < <(from_backports "$package" "$@")
		((${#old[@]} == 0)) || printf '%s/bookworm-backports\n' "${old[@]}"
		if [[ " ${old[*]} " == *" $package "* ]]; then
			continue
		elif apt-cache show --no-all-versions "$package" 2>/dev/null | grep -q '^Version:'; then
			echo "$package"
		else
			say "no package $package on this system"
		fi
	done | sort -u
}

# Dies only for what the build can't do without.
give_up() {
	local still

	mapfile -t still < <(missing build)
	((${#still[@]} == 0)) || die "$1; still missing: ${still[*]}"
	[[ $kind == build ]] && return
	mapfile -t still < <(missing "$kind")
	((${#still[@]} == 0)) || say "$1; what needs these is left out: ${still[*]}"
}

install_these() {
	local chosen

	mapfile -t chosen < <(choose "$@")
	((${#chosen[@]} == 0)) || apt install "${chosen[@]}"
}

# What the build needs first and all at once. Of the rest one by one if all at once fails, so that what can be
# had is there.
install_missing() {
	local lacking package status=0

	mapfile -t lacking < <(missing "${kinds[@]}")
	say "installing: ${lacking[*]}"
	[[ " ${lacking[*]} " =~ \ (libbpf-dev|libelf-dev|libdw-dev|qemu-system-[a-z0-9]+|qemu-user)\  ]] && enable_backports
	update || say "apt-get update failed: going on with the lists that are there"
	mapfile -t lacking < <(missing build)
	install_these "${lacking[@]}" || return
	[[ $kind == build ]] && return
	mapfile -t lacking < <(missing "$kind")
	install_these "${lacking[@]}" && return
	for package in "${lacking[@]}"; do
		install_these "$package" || status=1
	done
	return $status
}

kind=${1:-build}
case $kind in
build) kinds=(build) ;;
test | arch | long | formats | bench | fuzz | package) kinds=(build "$kind") ;;
list)
	shift
	rows "${@:-build test arch long formats bench fuzz package}"
	exit
	;;
*) die "usage: scripts/deps.sh [build|test|arch|long|formats|bench|fuzz|package|list]" ;;
esac

mapfile -t lacking < <(missing "${kinds[@]}")
((${#lacking[@]} == 0)) && exit 0
if ! have_dpkg; then
	say "this is not Debian: by their Debian names, these are to be installed by hand: ${lacking[*]}"
	give_up "not installed"
elif [[ $(id -u) != 0 ]]; then
	say "missing: ${lacking[*]}. To install them: sudo scripts/deps.sh $kind"
	give_up "not installed"
else
	install_missing || say "apt-get could not install everything"
	give_up "not installed"
fi
