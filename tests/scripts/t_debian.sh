#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# debian/: the version stands in the changelog alone; the package is built with what the Makefile needs.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}

version=$(sed -n '1s/^bbtrace (\([^)]*\)) .*/\1/p' debian/changelog)
[[ $version =~ ^[0-9] ]]
ok $? "the changelog begins with a version: $version"
if [[ -x $B/bbtrace ]]; then
	is "$("$B/bbtrace" --version)" "bbtrace $version" 'bbtrace --version says the version of the changelog'
else
	skip 'bbtrace --version' "nothing is built in $B"
fi
mkdir "$T/debian"
echo 'bbtrace (12.34~rc5) unstable; urgency=medium' >"$T/debian/changelog"
is "$(make -C "$T" -f "$PWD/Makefile" -pn 2>/dev/null | sed -n 's/^VERSION := //p')" '12.34~rc5' 'make takes it from there'
if command -v dpkg-parsechangelog >/dev/null; then
	is "$(dpkg-parsechangelog -S Version 2>&1)" "$version" 'dpkg reads the changelog'
else
	skip 'dpkg reads the changelog' 'no dpkg-dev'
fi

# build-essential has the compiler and make; lintian and dpkg-dev build nothing.
wanted() {
	scripts/deps.sh list build package |
		awk '$1 !~ /^(gcc|libc6-dev|make|build-essential|dpkg-dev|lintian)$/ {
			print $1 == "debhelper" ? "debhelper-compat (= 13)" : $3 ? $1 " (>= " $3 ")" : $1 }' | sort
}
declared() { sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \(.*\),$/\1/p' debian/control | sort; }
is "$(declared)" "$(wanted)" 'its build dependencies are those of scripts/deps.sh'

is "$(sed -n '/purge/,/fi/s/.*rm -rf //p' debian/postrm)" "$(sed -n 's/^#define SYSTEM_FOLDER *"\(.*\)"/\1/p' src/select/costs.c src/cache/store.c | xargs)" \
	'purging removes what bbtrace keeps'

tests=$(sed -n 's/^Tests: //p' debian/tests/control | sort)
is "$tests" "$(cd debian/tests && find . -type f -perm -u+x -printf '%P\n' | sort)" 'debian/tests/control names each of its tests'
done_testing
