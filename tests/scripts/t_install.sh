#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make install puts each file in its place under DESTDIR and PREFIX; make uninstall removes all of them.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
B=${B:-build}
[[ -x $B/bbtrace ]] || skip_all "nothing is built in $B"
install_to() { make -s "$1" B="$B" DESTDIR="$T/root" PREFIX="$2" 2>&1; }
# What there is, but for the examples, which are all of docs, and the manual.
installed() { files | grep -v '^[a-z]*/share/doc/bbtrace/docs/\|^[a-z]*/share/man/'; }
files() { (cd "$T/root" && find . -type f -printf '%P %m\n' | sort); }

install_to install /usr >"$T/log"
ok $? 'make install succeeds' || diag "$(<"$T/log")"
is "$(installed)" 'usr/bin/bbtrace 755
usr/include/bbtrace.h 644
usr/share/bash-completion/completions/bbtrace 644
usr/share/doc/bbtrace/CHANGELOG.md 644
usr/share/doc/bbtrace/CONTRACT.md 644
usr/share/doc/bbtrace/LICENSE 644
usr/share/doc/bbtrace/README.md 644
usr/share/doc/bbtrace/SECURITY.md 644
usr/share/fish/vendor_completions.d/bbtrace.fish 644
usr/share/zsh/site-functions/_bbtrace 644' 'make install puts each file where it belongs'
is "$(cd "$T/root/usr/share/doc/bbtrace" && find docs -type f | sort)" "$(find docs -path docs/internals -prune -o -type f ! -name 'howto-*' -print | sort)" 'make install puts the docs for users beside them'
is "$(files | sed -n 's/^usr\/share\/man\///p')" "$({ for page in man/*.[0-9]; do echo "man${page##*.}/${page##*/}"; done
	for verb in man/verbs/*.mdoc; do echo "man8/bbtrace-$(basename "$verb" .mdoc).8"; done; } | sort | sed 's/$/ 644/')" \
	'make install puts each page of the manual where it belongs, and one of each verb'
is "$("$T/root/usr/bin/bbtrace" --version)" "$("$B/bbtrace" --version)" 'the installed bbtrace runs'
install_to uninstall /usr >"$T/log"
is "$(files)" '' 'make uninstall leaves no file'
[[ ! -e $T/root/usr/share/doc/bbtrace ]]
ok $? 'make uninstall leaves no folder of its own'
install_to install /opt >"$T/log"
is "$(files | grep -vc '^opt/')" 0 'make install puts all files under PREFIX'
done_testing
