#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# kernel.sh [-A ARCH] [VERSION] [--modules]: downloads a Debian kernel for the guests and prints its folder.
#
# ARCH: amd64 (the default), arm64 or riscv64: the cloud kernel, if there is one. VERSION is a row of the table below or
# `newest` (Debian unstable); by default it is the kernel of this machine's suite, for another ARCH 6.12. The folder
# ($BBTRACE_VM_DIR, by default build/vm, then VERSION, or ARCH-VERSION) gets `vmlinuz`, `release` (as uname -r prints it)
# and, with --modules, lib/modules/RELEASE with a modules.dep. A kernel that exists is not downloaded again: remove the
# folder to renew it.
#
# The packages are downloaded as scripts/apt.sh says and unpacked, never installed. It needs no root and doesn't change
# the machine.
set -eu

# VERSION suite: where Debian keeps that kernel
suites='
5.10   bullseye
6.1    bookworm
6.12   trixie
newest sid
'

die()
{
	echo "kernel.sh: $*" >&2
	exit 1
}

usage()
{
	die "usage: kernel.sh [-A amd64|arm64|riscv64] [$(echo "$suites" | awk 'NF { printf "%s%s", s, $1; s = "|" }')] [--modules]"
}

suite_of() # VERSION
{
	echo "$suites" | awk -v v="$1" '$1 == v { print $2 }'
}

version_of() # SUITE
{
	echo "$suites" | awk -v s="$1" '$2 == s { print $1 }'
}

# The packages that hold the kernel: the image that the metapackage names, and what newer releases split off it.
packages()
{
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances $package |
		sed -n 's/^ *\(Pre\)\{0,1\}-\{0,1\}Depends: *\(linux-\(image\|binary\|base\|modules\)-[0-9][^ ]*\)$/\2/p' |
		sort -u
}

download() # into $work/root
{
	names=$(packages)
	[ -n "$names" ] || die "$package of $suite depends on no kernel image"
	# shellcheck disable=SC2086 # a list of package names
	(cd "$work" && apt-get -qq download $names >&2) || die "cannot download" $names
	mkdir -p "$work/root"
	for deb in "$work"/*.deb; do
		dpkg-deb -x "$deb" "$work/root"
	done
	# merged /usr: newer packages ship usr/lib/modules
	if [ -d "$work/root/usr/lib/modules" ]; then
		mkdir -p "$work/root/lib"
		mv "$work/root/usr/lib/modules" "$work/root/lib/"
	fi
}

# modules.dep is made where a kernel is installed, so it isn't in the package; busybox knows no .xz.
index_modules() # RELEASE
{
	find "$work/root/lib/modules/$1" -name '*.ko.xz' -exec unxz {} +
	if [ -x /usr/sbin/depmod ]; then
		/usr/sbin/depmod -b "$work/root" "$1"
	else
		busybox depmod -b "$work/root" "$1"
	fi
}

# Older packages have it in /boot, for riscv64 as vmlinux, newer ones beside the modules.
find_vmlinuz()
{
	for file in "$work"/root/boot/vmlinu[xz]-* "$work"/root/lib/modules/*/vmlinuz; do
		[ ! -e "$file" ] || break
	done
	[ -e "$file" ] || die "no vmlinuz in the packages"
	echo "$file"
}

install_kernel() # into $folder
{
	vmlinuz=$(find_vmlinuz)
	set -- "$work"/root/lib/modules/*
	release=${1##*/}
	mkdir -p "$folder"
	cp "$vmlinuz" "$folder/vmlinuz.new"
	echo "$release" >"$folder/release"
	if $modules; then
		index_modules "$release"
		rm -rf "${folder:?}/lib"
		mkdir -p "$folder/lib/modules"
		mv "$work/root/lib/modules/$release" "$folder/lib/modules/"
	fi
	mv "$folder/vmlinuz.new" "$folder/vmlinuz"
}

cd "$(dirname "$0")/../.."
. scripts/apt.sh

arch=amd64
version=
modules=false
while [ $# -gt 0 ]; do
	case $1 in
	-A)
		[ $# -gt 1 ] || usage
		arch=$2
		shift
		;;
	--modules) modules=true ;;
	-*) usage ;;
	*) version=$1 ;;
	esac
	shift
done
package=linux-image-cloud-$arch
prefix=$arch-
case $arch in
amd64)
	prefix=
	[ -n "$version" ] || version=$(version_of "$(own_suite)")
	;;
arm64) ;;
riscv64) package=linux-image-riscv64 ;;
*) usage ;;
esac
[ -n "$version" ] || version=6.12
suite=$(suite_of "$version")
[ -n "$suite" ] || usage

mkdir -p "${BBTRACE_VM_DIR:-build/vm}"
folder=$(cd "${BBTRACE_VM_DIR:-build/vm}" && pwd)/$prefix$version
# tests that run side by side want the same one
exec 9>"$folder.lock"
flock 9
if [ ! -e "$folder/vmlinuz" ] || { $modules && [ ! -d "$folder/lib/modules" ]; }; then
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	configure_apt "$work" "$arch" "$suite"
	download
	install_kernel
fi
echo "$folder"
