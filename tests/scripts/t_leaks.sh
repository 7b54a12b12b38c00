#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/leaks.pl finds lines that name a file of the checkout by its absolute path, wherever the checkout lies.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
leaks=$PWD/scripts/leaks.pl
mkdir "$T/tree" && cd "$T/tree" || exit 1
mkdir src build scripts

said() { "$leaks" "$1" file | cut -d: -f2 | xargs; } # CHECKOUT: the numbers of the lines
at=/src # in a checkout there these lines would be leaks themselves
cat >file <<END
cp $at/scripts/lint.sh .
x = "$at/build/bbtrace"
at=$at/src
is "$at/a.c"
cp "\$root$at/build/x" \${root}$at/build/x \$(pwd)$at/build/x /usr$at/build/x ..$at/build/x
tests$at/build/x
END
is "$(said /src)" '1 2 3' 'in a checkout in /src its own files are found, and no path that ends so'
is "$(said /usr/src)" 5 'in a checkout in /usr/src its own files are found'
is "$(said /s.c)" '' "the checkout's path is no pattern"
echo "/opt/bbtrace$at/x" >file
is "$(said /opt/bbtrace) $(said /bbtrace)" '1 ' 'a path that stands behind another one is found by its whole name only'
done_testing
