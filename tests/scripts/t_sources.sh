#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/sources.pl derives the backports entry from different apt sources.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

apt=$T/apt

# file NAME: its text on stdin. Every case starts with start.
start() { rm -rf "$apt" && mkdir -p "$apt/sources.list.d"; }
file() { cat >"$apt/$1"; }

derive() {
	stanza=$(scripts/sources.pl backports bookworm "$apt")
	status=$?
}

# derives NAME WANTED: that stanza, status 0.
derives() {
	derive
	is "$stanza" "$2" "a stanza is derived: $1"
}

# gives NAME STATUS: no stanza, that status.
gives() {
	derive
	is "$status '$stanza'" "$2 ''" "no stanza is derived: $1"
}

plain='Types: deb
URIs: http://example.org/debian
Suites: bookworm-backports
Components: main'

start
file sources.list <<'END'
deb http://example.org/debian bookworm main
END
derives 'one line in sources.list' "$plain"

start
file sources.list.d/here.list <<'END'
deb http://example.org/debian bookworm main contrib non-free-firmware # as installed
END
derives 'a .list file, more components, a comment behind' "$plain"

start
file sources.list <<'END'
# deb http://old.example.org/debian bookworm main
#deb cdrom:[Debian 12]/ bookworm main
deb cdrom:[Debian_12]/ bookworm main
deb-src http://src.example.org/debian bookworm main
  deb   http://example.org/debian	bookworm   main
END
derives 'comments, a CD and sources of source packages are passed over' "$plain"

start
file sources.list <<'END'
deb [arch=amd64,arm64 signed-by=/k/a.gpg] http://example.org/a/path/debian/ bookworm main
END
derives 'options in brackets, a mirror at some path' 'Types: deb
URIs: http://example.org/a/path/debian/
Suites: bookworm-backports
Components: main
Architectures: amd64 arm64
Signed-By: /k/a.gpg'

start
file sources.list <<'END'
deb [ trusted=yes arch-=i386 ] file:/srv/debian bookworm main
END
derives 'blanks in the brackets, arch-=, a mirror on disk' 'Types: deb
URIs: file:/srv/debian
Suites: bookworm-backports
Components: main
Architectures-Remove: i386
Trusted: yes'

start
file sources.list.d/debian.sources <<'END'
Types: deb
# a comment inside
URIs: http://example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k/debian-archive-keyring.gpg

Types: deb
URIs: http://example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /k/debian-archive-keyring.gpg
END
derives 'deb822 with several suites; security apart' "$plain
Signed-By: /k/debian-archive-keyring.gpg"

start
file sources.list.d/debian.sources <<'END'
types: deb deb-src
uris: mirror+https://example.org/list http://example.org/debian
SUITES: bookworm
Components: main
 contrib
X-Repolib-Name: Debian
END
derives 'several types and URIs, field names in any case, a continuation line' 'Types: deb
URIs: mirror+https://example.org/list http://example.org/debian
Suites: bookworm-backports
Components: main'

start
file sources.list.d/debian.sources <<'END'
Types: deb
URIs: http://example.org/debian
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 AAAA
 -----END PGP PUBLIC KEY BLOCK-----
END
derives 'a key inside the entry' "$plain
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 AAAA
 -----END PGP PUBLIC KEY BLOCK-----"

start
file sources.list.d/a.sources <<'END'
Enabled: no
Types: deb
URIs: http://off.example.org/debian
Suites: bookworm
Components: main

Enabled: yes
Types: deb
URIs: http://example.org/debian
Suites: bookworm
Components: main
END
derives 'an entry with Enabled: no is passed over' "$plain"

start
file sources.list.d/a-vendor.list <<'END'
deb [signed-by=/k/vendor.gpg] http://vendor.example.org/debian bookworm main
END
file sources.list.d/debian.list <<'END'
deb http://example.org/debian bookworm main
deb http://example.org/debian bookworm-updates main
END
derives "another vendor's packages for bookworm are not Debian's archive" "$plain"

start
file sources.list <<'END'
deb http://example.org/debian stable main
deb http://example.org/debian stable-updates main
END
derives 'the suite by its role' "$plain"

start
file sources.list.d/windows.list <<<$'deb http://example.org/debian bookworm main\r'
derives 'line ends of DOS' "$plain"

start
file sources.list.d/a.list.save <<<'deb http://example.org/debian bookworm main'
file 'sources.list.d/b c.list' <<<'deb http://example.org/debian bookworm main'
gives 'files have names that apt ignores' 1

start
file sources.list <<'END'
deb http://example.org/debian-security bookworm-security main
deb http://example.org/debian-security bookworm/updates main
deb http://example.org/debian bookworm-updates main
deb http://example.org/docker bookworm stable
deb http://example.org/flat ./
END
gives 'security, updates, no main, flat: nothing to derive from' 1

start
gives 'there are no sources' 1

start
file sources.list <<'END'
deb http://example.org/debian bookworm main
END
file sources.list.d/backports.list <<'END'
deb [trusted=yes] http://example.org/debian bookworm-backports main contrib
END
gives 'there is an entry of backports already, on one line' 3

start
file sources.list.d/debian.sources <<'END'
Types: deb
URIs: http://example.org/debian
Suites: bookworm bookworm-backports
Components: main
END
gives 'there is an entry of backports already, in deb822' 3

start
file sources.list <<'END'
deb http://example.org/debian bookworm main
# deb http://example.org/debian bookworm-backports main
deb-src http://example.org/debian bookworm-backports main
END
derives 'an entry of backports that is commented out, or for sources only, does not count' "$plain"

start
file sources.list <<'END'
deb http://example.org/debian bookworm main
END
is "$(NEW=trixie scripts/sources.pl archive bookworm "$apt")" "${plain/bookworm-backports/trixie}" \
	'archive derives the entry of another suite'

done_testing
