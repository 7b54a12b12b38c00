#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# sysroot.sh arm64|riscv64 [small|guest|full]: makes a folder of that architecture's Debian 13 and prints its name.
#
#   (nothing)  what bbtrace is built with: libraries and headers
#   small      what bbtrace and tests/arch/guest_short.sh run: a shell, its tools, jq, perl without its modules
#   guest      what a guest of tests/vm runs: a shell, its tools, python3, perl
#   full       as guest, with the compilers, gdb and so on that tests/e2e use
#
# The folder is $BBTRACE_SYSROOT_DIR (by default build/sysroot), then the architecture, then -small, -guest or -full. One
# that is there and was made of the same packages is kept: remove it to renew it. The packages are downloaded as
# scripts/apt.sh says, with all that they depend on, and unpacked, never installed: nothing of theirs is run.
set -eu

suite=trixie
build='libc6-dev libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev liblzma-dev liblz4-dev libsodium-dev libzydis-dev libiberty-dev libjson-c-dev libprotobuf-c-dev
	libcapstone-dev libgcc-s1 libstdc++6'
run='libstdc++6 libgcc-s1 libelf1t64 libdw1t64 zlib1g libzstd1 liblzma5 liblz4-1 libsodium23 libzydis4.1 libjson-c5 libprotobuf-c1 libcapstone5 libbpf1'
small="$run bash coreutils grep sed mawk findutils diffutils procps util-linux mount jq perl-base busybox-static libc-bin kmod hostname"
guest="$run bash coreutils grep sed gawk mawk findutils diffutils procps util-linux mount jq strace perl dash gzip
	busybox-static python3 libc-bin libcap2-bin kmod iproute2 hostname binutils file time bsdutils passwd libatomic1"
full="$guest gcc g++ libc6-dev gdb libzydis-dev openssl make libpam-modules libpam-runtime"

die()
{
	echo "sysroot.sh: $*" >&2
	exit 1
}

usage()
{
	die 'usage: sysroot.sh arm64|riscv64 [small|guest|full]'
}

# Links to absolute paths lead to the same file in the folder; those to what no file of Debian has lead nowhere.
relative_links() # ROOT
{
	find "$1" -type l -lname '/*' | while read -r link; do
		below=${link#"$1"/}
		ln -snf "$(echo "${below%/*}" | sed -E 's,[^/]+,..,g')$(readlink "$link")" "$link"
	done
}

# As update-alternatives would set them where a package is installed.
alternatives() # ROOT
{
	for pair in awk:gawk awk:mawk cc:gcc c++:g++; do
		[ ! -e "$1/usr/bin/${pair#*:}" ] || [ -e "$1/usr/bin/${pair%:*}" ] || ln -s "${pair#*:}" "$1/usr/bin/${pair%:*}"
	done
}

unpack() # ROOT
{
	mkdir -p "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" "$1/usr/lib64"
	(cd "$1" && ln -s usr/bin usr/sbin usr/lib usr/lib64 .)
	for deb in "$work"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$1" -xf - --keep-directory-symlink --no-same-owner \
				--exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
				--exclude='./usr/share/info/*' --exclude='./usr/share/lintian/*' --exclude='./dev/*'
		rm "$deb"
	done
	relative_links "$1"
	alternatives "$1"
	chmod -R u+w "$1"
}

[ $# -ge 1 ] && [ $# -le 2 ] || usage
arch=$1
kind=${2-build}
case $arch in arm64 | riscv64) ;; *) usage ;; esac
case $kind in
build) packages=$build name=$arch ;;
small) packages=$small name=$arch-small ;;
guest) packages=$guest name=$arch-guest ;;
full) packages=$full name=$arch-full ;;
*) usage ;;
esac
# shellcheck disable=SC2086 # a list of package names
packages=$(echo $packages)

cd "$(dirname "$0")/.."
. scripts/apt.sh
mkdir -p "${BBTRACE_SYSROOT_DIR:-build/sysroot}"
folder=$(cd "${BBTRACE_SYSROOT_DIR:-build/sysroot}" && pwd)/$name
# builds and tests that run side by side want the same one
exec 9>"$folder.lock"
flock 9
if [ "$(cat "$folder/packages" 2>/dev/null)" != "$packages" ]; then
	echo "sysroot.sh: making $folder of Debian's packages" >&2
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	configure_apt "$work" "$arch" "$suite"
	# shellcheck disable=SC2086
	apt-get -qq -y --no-install-recommends --download-only install $packages >&2 || die "cannot download $packages"
	unpack "$work/root"
	echo "$packages" >"$work/root/packages"
	rm -rf "$folder"
	mv "$work/root" "$folder"
fi
echo "$folder"
