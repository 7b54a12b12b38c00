# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
#
# Sourced: packages of any Debian release and architecture, without root and without a change of the machine. The
# mirror is that of the machine's own Debian sources (.list or .sources, read by apt); what is downloaded is checked
# against Debian's keyring. die() is the caller's.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

own_suite()
{
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "${VERSION_CODENAME-}")
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
source_line() # ARCHITECTURE URI SUITE
{
	options=arch=$1
	[ ! -e $keyring ] || options="$options signed-by=$keyring"
	echo "deb [$options] $2 $3 main"
}

# From here on apt works for that suite and architecture, as if nothing were installed: all that it writes is below
# the folder.
configure_apt() # FOLDER ARCHITECTURE SUITE
{
	own=$(own_suite)
	uri=$(mirror "$own")
	[ -n "$uri" ] || die "no source of Debian '$own' main among this machine's apt sources"
	security=$(mirror "$own-security")
	mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	source_line "$2" "$uri" "$3" >"$1/sources.list"
	if [ -n "$security" ] && [ "$3" != sid ]; then
		source_line "$2" "$security" "$3-security" >>"$1/sources.list"
	fi
	cat >"$1/apt.conf" <<-END
		Dir::Etc::sourcelist "$1/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$1/state";
		Dir::State::status "$1/status";
		Dir::Cache "$1/cache";
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "3";
	END
	export APT_CONFIG="$1/apt.conf"
	apt-get -qq update >&2 && return
	# a mirror in the middle of its update: one of the two is enough for what is only unpacked
	grep -q -- "-security main" "$1/sources.list" || die "apt-get update failed for $3"
	sed -i '/-security main$/d' "$1/sources.list"
	apt-get -qq update >&2 || die "apt-get update failed for $3"
}
