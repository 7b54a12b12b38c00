#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -u NAME: CMD runs as that user, bbtrace doesn't.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:setpriv

chmod 755 "$T"
program fib -O1
cat >"$T/script" <<END
id -u; id -g; id -G; echo "\$HOME \$USER \$LOGNAME"; "$T/fib"
END
# not by runuser, which asks PAM
expected() {
	setpriv --reuid "$(id -u "$1")" --regid "$(id -g "$1")" --init-groups sh -c 'id -u; id -g; id -G'
	getent passwd "$1" | awk -F: '{ print $6, $1, $1 }'
	echo 55
}

for user in nobody daemon root; do
	expected $user >"$T/expected"
	bb user "$T/fib" fib -f -u $user -F json -o "$T/json" -- sh "$T/script"
	exits 3 "-u $user: a command is traced"
	same "$T/out" "$T/expected" "-u $user: user, groups and HOME are the user's own"
	is "$(entries fib)" 177 "-u $user: what the user runs is traced"
done

bb user "$T/fib" fib -u no-such-user-here -- "$T/fib"
exits 2 '-u with an unknown user is wrong usage'
like "$T/err" "^bbtrace: --user: no such user: 'no-such-user-here'" '-u with an unknown user: the message names the user'
is "$(cat "$T/out")" '' '-u with an unknown user: nothing runs'
bb user "$T/fib" fib -u nobody -p 1
exits 2 '-u without CMD is wrong usage'
chmod 700 "$T"
bb user "$T/fib" fib -u nobody -- "$T/fib"
exits 126 '-u: the status is 126 where the user may not execute CMD'
like "$T/err" '^bbtrace: cannot run .*Permission denied' '-u: the message says that the user may not execute CMD'
done_testing
