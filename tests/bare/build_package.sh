#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# In a root of run.sh: builds the Debian package without root, twice: in another folder, time zone, language, umask and
# number of jobs the same bytes come out. lintian finds nothing. The packages go to /opt/out.
set -eu
cd "$(dirname "$0")/../.."

die() {
	echo "build_package: $*" >&2
	exit 1
}

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"; }

# build FOLDER JOBS [VARIABLE=VALUE...]
build() {
	local folder=$1 jobs=$2
	shift 2

	mkdir -p "$folder"
	cp -a . "$folder/bbtrace"
	chown -R 65534:65534 "$folder"
	echo "build_package: in $folder" >&2
	(cd "$folder/bbtrace" && as_nobody env DEB_BUILD_OPTIONS="parallel=$jobs" "$@" dpkg-buildpackage -b -us -uc) \
		>"$folder.log" 2>&1 || {
		tail -n 40 "$folder.log" >&2
		die "dpkg-buildpackage failed"
	}
}

scripts/deps.sh package
first=/opt/one second=/var/tmp/another-folder
build "$first" 2
(umask 027 && build "$second" 1 TZ=Pacific/Kiritimati LC_ALL=C.UTF-8)
for deb in "$first"/*.deb; do
	cmp "$deb" "$second/${deb##*/}" || die "${deb##*/} is not reproducible"
done
echo "build_package: reproducible: $(cd "$first" && sha256sum -- *.deb)"

# In machine code, compilers keep pieces of strings as constants, " mor" of "more".
unknown=(--suppress-tags spelling-error-in-binary)
# The lintian of Debian 12 is older than this field, the dpkg isn't.
grep -q '^VERSION_ID="12"' /etc/os-release && unknown+=(--suppress-tags unknown-field)
as_nobody lintian --fail-on error,warning,info --display-info --pedantic "${unknown[@]}" "$first"/*.changes ||
	die "lintian: see above"
# What is loaded when it is needed.
for library in 'libcapstone[0-9]*' libncursesw6; do
	dpkg-deb --field "$first"/bbtrace_*.deb Recommends | tr -d ' ' | tr ',' '\n' | grep -qx "$library" ||
		die "it doesn't recommend $library"
done
dpkg-deb --info "$first"/bbtrace_*.deb
dpkg-deb --contents "$first"/bbtrace_*.deb
rm -f /opt/out/*.deb
cp "$first"/*.deb /opt/out/
