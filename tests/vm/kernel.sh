#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# kernel.sh [VERSION] [--modules]: downloads a Debian cloud kernel for the guests and prints its folder.
#
# VERSION is a row of the table below or `newest` (Debian unstable); by default it is the kernel of this machine's suite.
# The folder ($BBTRACE_VM_DIR, by default build/vm, then VERSION) gets `vmlinuz`, `release` (as uname -r prints it) and,
# with --modules, lib/modules/RELEASE with a modules.dep. A kernel that exists is not downloaded again: remove the folder
# to renew it.
#
# The packages are downloaded by apt, checked against Debian's keyring, and unpacked, never installed. apt works in
# a private configuration: the mirror is that of the machine's own Debian sources (.list or .sources, read by apt), the
# suite is VERSION's, and lists and cache are under the folder. It needs no root and doesn't change the machine.
set -eu

# VERSION suite: where Debian keeps that kernel
suites='
5.10   bullseye
6.1    bookworm
6.12   trixie
newest sid
'
package=linux-image-cloud-amd64
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

die()
{
	echo "kernel.sh: $*" >&2
	exit 1
}

usage()
{
	die "usage: kernel.sh [$(echo "$suites" | awk 'NF { printf "%s%s", s, $1; s = "|" }')] [--modules]"
}

own_suite()
{
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "${VERSION_CODENAME-}")
}

suite_of() # VERSION
{
	echo "$suites" | awk -v v="$1" '$1 == v { print $2 }'
}

version_of() # SUITE
{
	echo "$suites" | awk -v s="$1" '$2 == s { print $1 }'
}

# The repository that the machine's sources give for a suite of its own, Debian's mirror before anyone else's.
mirror() # SUITE
{
	apt-get indextargets --no-release-info --format "\$(RELEASE) \$(COMPONENT) \$(REPO_URI)" \
		'Identifier: Packages' |
		awk -v suite="$1" '
			$1 == suite && $2 == "main" {
				rank = $3 ~ /\/\/(deb|security)\.debian\.org\// ? 3 : $3 ~ /\/debian(-security)?\// ? 2 : 1
				if (rank > best) {
					best = rank
					uri = $3
				}
			}
			END { print uri }'
}

# One deb line of the private configuration.
source_line() # URI SUITE
{
	options=arch=amd64
	[ ! -e $keyring ] || options="$options signed-by=$keyring"
	echo "deb [$options] $1 $2 main"
}

# The private apt: everything it would write is below $work.
configure_apt() # SUITE
{
	own=$(own_suite)
	uri=$(mirror "$own")
	[ -n "$uri" ] || die "no source of Debian '$own' main among this machine's apt sources"
	security=$(mirror "$own-security")
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	source_line "$uri" "$1" >"$work/sources.list"
	if [ -n "$security" ] && [ "$1" != sid ]; then
		source_line "$security" "$1-security" >>"$work/sources.list"
	fi
	cat >"$work/apt.conf" <<-END
		Dir::Etc::sourcelist "$work/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$work/state";
		Dir::State::status "$work/status";
		Dir::Cache "$work/cache";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
	export APT_CONFIG="$work/apt.conf"
	apt-get -qq update >&2 || die "apt-get update failed for $1"
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

# Older packages have it in /boot, newer ones beside the modules.
find_vmlinuz()
{
	for file in "$work"/root/boot/vmlinuz-* "$work"/root/lib/modules/*/vmlinuz; do
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

version=
modules=false
for arg; do
	case $arg in
	--modules) modules=true ;;
	-*) usage ;;
	*) version=$arg ;;
	esac
done
[ -n "$version" ] || version=$(version_of "$(own_suite)")
[ -n "$version" ] || version=6.12
suite=$(suite_of "$version")
[ -n "$suite" ] || usage

cd "$(dirname "$0")/../.."
mkdir -p "${BBTRACE_VM_DIR:-build/vm}"
folder=$(cd "${BBTRACE_VM_DIR:-build/vm}" && pwd)/$version
# tests that run side by side want the same one
exec 9>"$folder.lock"
flock 9
if [ ! -e "$folder/vmlinuz" ] || { $modules && [ ! -d "$folder/lib/modules" ]; }; then
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	configure_apt "$suite"
	download
	install_kernel
fi
echo "$folder"
