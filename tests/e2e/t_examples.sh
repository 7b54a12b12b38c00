#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The pages in docs/tasks show what their commands print. t_examples.sh PAGE...: only these, by their numbers.
# UPDATE=1 writes into the pages what is printed now, where it differs: read that change before you commit it.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
unset BBTRACE_ENGINE # as users have it
export CPATH=$ROOT/include # where make install puts it
needs root uprobes

pages=()
for number in "${@:-*}"; do
	# shellcheck disable=SC2206 # it is a pattern
	pages+=(docs/tasks/$number-*.md)
done
mkdir "$T/pages" "$T/bin"
ln -s "$BBTRACE" "$T/bin/bbtrace"
chmod 755 "$T"
relay < <(PATH=$T/bin:$PATH "$E2E/examples.pl" "$T/pages" "${pages[@]}" 2>&1)
is "$relayed" "${planned:-none}" 'all examples were run'
done_testing
