#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs the two commands of README.md on a bare Debian: a minbase root by debootstrap with only make and sudo added, and
# the commit that is checked out here.
#
#   sudo tests/bare/run.sh 12|13 [COMMAND]     default command: sudo make try && sudo make check
#
# Everything is under build/bare (BARE=DIR: elsewhere). The bootstrapped root and the packages are kept for the next
# run; the copy that the commands run in is removed (KEEP=1: kept, but nothing stays mounted). What a command leaves in
# /opt/out is in build/bare/out-RELEASE, and the next one finds it there.
set -eu
cd "$(dirname "$0")/../.."

die() {
	echo "bare: $*" >&2
	exit 1
}

case ${1:-} in
12) suite=bookworm ;;
13) suite=trixie ;;
*) die "usage: tests/bare/run.sh 12|13 [COMMAND]" ;;
esac
release=$1
shift
command=${*:-sudo make try && sudo make check}
[[ $(id -u) == 0 ]] || die "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || die "needs debootstrap: apt-get install debootstrap"

bare=$(realpath -m "${BARE:-build/bare}")
base=$bare/base-$release
root=$bare/root-$release.$$
debs=$bare/debs-$release
out=$bare/out-$release
# shellcheck disable=SC1091 # not ours
here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
stanza=$(NEW=$suite scripts/sources.pl archive "$here") ||
	die "no Debian entry in the apt sources of this machine to take the mirror from"

# The same root each time, as it came from debootstrap.
bootstrap() {
	[[ -d $base ]] && return
	local mirror

	mirror=$(sed -n 's/^URIs: \([^ ]*\).*/\1/p' <<<"$stanza")
	echo "bare: debootstrap $suite" >&2
	rm -rf --one-file-system "$base.new"
	mkdir -p "$debs"
	debootstrap --variant=minbase --cache-dir="$debs" "$suite" "$base.new" "$mirror" >"$bare/debootstrap-$release.log" ||
		die "debootstrap failed: see $bare/debootstrap-$release.log"
	rm -rf "$base.new"/var/cache/apt/archives/*.deb
	mv "$base.new" "$base"
}

# The machine's own mirror, its way there, and a checkout of HEAD: what a user would have.
furnish() {
	cp -a "$base" "$root"
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
	apt-config dump --format '%F "%v";%n' Acquire::http::Proxy Acquire::https::Proxy \
		Acquire::Check-Valid-Until 2>/dev/null |
		grep -v '""' >"$root/etc/apt/apt.conf.d/99machine" || true
	rm -f "$root/etc/apt/sources.list"
	echo "$stanza" >"$root/etc/apt/sources.list.d/debian.sources"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod +x "$root/usr/sbin/policy-rc.d"
	git clone -q --no-local . "$root/opt/bbtrace"
	chroot "$root" sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends make sudo' \
		>"$bare/furnish-$release.log" 2>&1 || die "see $bare/furnish-$release.log"
}

# In a mount namespace of its own, whose root it becomes: in a chroot some tests couldn't make namespaces. When its
# last process ends, nothing is mounted any more.
inside() {
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mkdir -p "$root/run" && mount -t tmpfs tmpfs "$root/run"
	mount --bind "$debs" "$root/var/cache/apt/archives"
	mkdir -p "$root/opt/out" && mount --bind "$out" "$root/opt/out"
	mkdir -p "$root/run/outside"
	cd "$root"
	pivot_root . run/outside
	umount -l run/outside
	exec chroot . /usr/bin/env -i HOME=/root TERM="${TERM:-dumb}" CI="${CI:-}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		bash -c "cd /opt/bbtrace && $command"
}

# shellcheck disable=SC2317 # the trap calls it
clean() {
	[[ -n ${KEEP:-} ]] && echo "bare: kept $root" >&2 && return
	rm -rf --one-file-system "$root"
}

if [[ ${BARE_INSIDE:-} ]]; then
	root=$BARE_INSIDE
	inside
fi
mkdir -p "$bare" "$debs/partial" "$out"
bootstrap
trap clean EXIT
trap 'exit 130' INT TERM
furnish
echo "bare: Debian $release: $command" >&2
start=$SECONDS
status=0
BARE_INSIDE=$root unshare --mount --propagation private "$0" "$release" "$command" || status=$?
echo "bare: Debian $release: status $status after $((SECONDS - start)) s, $(du -sxm "$root" | cut -f1) MB" >&2
exit $status
