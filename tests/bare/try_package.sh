#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# In a fresh root of run.sh: the package that build_package.sh left in /opt/out installs from what the release itself
# has, works, passes its autopkgtest, and leaves nothing when it is purged.
set -eu
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive
deb=$(ls /opt/out/bbtrace_*.deb)

die() {
	echo "try_package: $*" >&2
	exit 1
}

quietly() {
	"$@" >/var/tmp/log 2>&1 </dev/null || {
		tail -n 40 /var/tmp/log >&2
		die "failed: $*"
	}
}

install() { quietly apt-get -y -qq install "$deb"; }
purge() { quietly apt-get -y -qq purge bbtrace; }
# Each file of the root but those that apt, dpkg and this script write at any time.
files() {
	find / -xdev \( -path /opt -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg \
		-o -path /var/tmp -o -path /tmp -o -path /run \) -prune -o -print | sort
}

gone() {
	local file

	while read -r file; do
		[[ -d $file && ${file##*/} != bbtrace ]] || [[ ! -e $file ]] || die "purge leaves $file"
	done </var/tmp/list
	! dpkg-query -W bbtrace >/dev/null 2>&1 || die "dpkg still knows it"
}

suites=$(apt-get indextargets --format '$(CODENAME)/$(COMPONENT)' 'Created-By: Packages' | sort -u | xargs)
[[ $suites == "$(. /etc/os-release && echo "$VERSION_CODENAME")/main" ]] || die "packages come from $suites"

install
echo "try_package: installed from $suites: $(dpkg-query -W -f '${Package} ${Version}: ${Depends}' bbtrace)"
dpkg --verify bbtrace
dpkg -L bbtrace | tee /var/tmp/list
ldd /usr/bin/bbtrace | grep 'not found' && die "a library is missing"
purge
files >/var/tmp/before

install
bbtrace user libc.so.6 malloc -l 5 -- ls / 2>&1 | grep 'malloc(' >/dev/null || die "it doesn't trace"
purge
files >/var/tmp/after
diff /var/tmp/before /var/tmp/after || die "purge leaves files"
gone
echo 'try_package: installed, used and purged: no file is left'

# Status 2: a test was skipped, so nothing was shown.
quietly apt-get -y -qq --no-install-recommends install autopkgtest
quietly autopkgtest -B "$deb" . -- null
sed -n '/@@@ summary/,$p' /var/tmp/log | grep -E 'PASS|FAIL|SKIP'
install
purge
gone
