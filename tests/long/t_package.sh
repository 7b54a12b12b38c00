#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The Debian package of each release is built in a bare root and used in another one: see tests/bare. RELEASES="12 13",
# BARE: where the roots and packages are kept. Needs the machine's Debian mirror.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}
export BARE=${BARE:-$B/bare}
[[ $(id -u) == 0 ]] || skip_all "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || skip_all "needs debootstrap"

does() { # RELEASE SCRIPT WHAT
	tests/bare/run.sh "$1" "tests/bare/$2.sh" >"$T/log" 2>&1
	ok $? "Debian $1: $3" || diag "$(tail -n 60 "$T/log")"
	diag "$(grep -E "^($2|bare): |^[a-z]+ +PASS" "$T/log")"
}

for release in ${RELEASES:-12 13}; do
	rm -f "$BARE/out-$release"/*.deb
	does "$release" build_package 'the package is built without root, twice the same, and lintian finds nothing'
	does "$release" try_package 'it installs from the release alone, passes its autopkgtest, and purge leaves nothing'
done
done_testing
