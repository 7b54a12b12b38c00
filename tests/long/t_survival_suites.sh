#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The test suites that packages bring, run with all functions as copies: --engine inline '*', in every use of it. Each test
# has the same outcome as untraced. Those of zlib, sqlite and openssl are built from Debian's source packages.
# SUITES: only those whose name matches; USES: of file summary count last.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
[[ $(uname -m) == x86_64 ]] || skip_all 'functions are copied on x86-64 only'
declare -A use=([file]="-o $T/trace" [summary]="-F summary -o $T/shown" [count]="-c -o $T/shown" [last]="--last 100 -o $T/shown")

wanted() { [[ $1 =~ ${SUITES:-.} ]]; }

# Times and addresses differ from run to run, and so does the order of what threads print.
outcome() { sed -E '/<thread [0-9]+>|tasks are running|^Page-cache overflow|^$/d; s/0x[0-9a-f]+/0xX/g; s/[0-9.]+ ?(s|sec|seconds|ms|us)\b/TIME/g; s/^(Time|Memory|.*memory|.*Random).*//I' "$1"; }

# passes NAME OBJECTS COMMAND...: OBJECTS: files, blanks between; what COMMAND says on both outputs counts.
passes() {
	local name=$1 objects=() object how plain
	for object in $2; do objects+=("$object:*"); done
	shift 2

	# in the environment that the shell makes there, too
	# shellcheck disable=SC2016 # the shell's own
	sh -c 'exec "$@" 2>&1' sh "$@" >"$T/plain" </dev/null
	plain=$?
	is $plain 0 "$name: it passes untraced" || { diag "$(tail -n 5 "$T/plain")" && return; }
	outcome "$T/plain" >"$T/plain.outcome"
	for how in ${USES:-file summary count last}; do
		# shellcheck disable=SC2086,SC2016 # options; the shell's own
		bb user "${objects[@]}" --engine inline -f ${use[$how]} -- sh -c 'exec "$@" 2>&1' sh "$@"
		is "$status" $plain "$name, $how: it passes" || diag "$(tail -n 5 "$T/err")"
		outcome "$T/out" >"$T/outcome"
		same "$T/outcome" "$T/plain.outcome" "$name, $how: each test's outcome is as untraced"
		isnt "$(summary events)" 0 "$name, $how: it is traced"
		rm -f "$T/trace"
	done
}

# source_of PACKAGE: downloads and unpacks its source to $T/PACKAGE, by apt but without a change of the machine's sources;
# status 1, with the reason in $T/reason: it can't be had.
source_of() {
	local apt=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$T/apt" -o "Dir::State::lists=$T/lists"
		-o APT::Sandbox::User=root)

	command -v dpkg-source >/dev/null || { echo 'needs dpkg-source' >"$T/reason" && return 1; }
	if [[ ! -d $T/lists ]]; then
		mkdir -p "$T/apt" "$T/lists/partial"
		# shellcheck disable=SC1091 # not ours
		scripts/sources.pl archive "$(. /etc/os-release && echo "$VERSION_CODENAME")" |
			sed 's/^Types:.*/Types: deb-src/' >"$T/apt/source.sources"
		apt-get "${apt[@]}" -qq update >"$T/apt.log" 2>&1
	fi
	mkdir -p "$T/download" && (cd "$T/download" && apt-get "${apt[@]}" -qq --download-only source "$1") >"$T/apt.log" 2>&1 &&
		dpkg-source --no-check -x "$T/download/$1"_*.dsc "$T/$1" >"$T/apt.log" 2>&1 && return
	echo "its source package can't be had: $(tail -n 1 "$T/apt.log")" >"$T/reason"
	return 1
}

# built NAME COMMAND: in the source's folder.
built() {
	(cd "$T/$1" && eval "$2") >"$T/build.log" 2>&1 && return
	echo "it can't be built: $(grep -m 1 -i 'error\|not found' "$T/build.log")" >"$T/reason"
	return 1
}

# ---- python3 ----
for module in ${MODULES:-test_json test_dict test_list test_re test_struct test_generators test_exceptions test_zlib test_threading}; do
	wanted "python3 $module" || continue
	if ! /usr/bin/python3 -c "import test.$module" 2>/dev/null; then
		skip "python3 $module" 'Debian has it not here: it comes with python3-full'
		continue
	fi
	passes "python3 $module" "$(realpath /usr/bin/python3)" /usr/bin/python3 -m unittest -v "test.$module"
done

# ---- zlib ----
if wanted zlib; then
	if source_of zlib && built zlib './configure && make -j2 shared static examplesh minigzipsh example minigzip'; then
		cd "$T/zlib" || exit 1
		export LD_LIBRARY_PATH=$T/zlib
		library=$(realpath libz.so)
		passes 'zlib example' "$T/zlib/example" ./example "$T/foo.gz"
		passes 'zlib example, shared' "$T/zlib/examplesh $library" ./examplesh "$T/foo.gz"
		passes 'zlib minigzip, shared' "$T/zlib/minigzipsh $library" \
			sh -c './minigzipsh <deflate.c >'"$T/gz"' && ./minigzipsh -d <'"$T/gz"' | cmp - deflate.c && cksum <'"$T/gz"
		unset LD_LIBRARY_PATH
		cd "$ROOT" || exit 1
	else
		skip zlib "$(<"$T/reason")"
	fi
fi

# ---- sqlite ----
if wanted sqlite; then
	if source_of sqlite3 && built sqlite3 './configure --disable-amalgamation --disable-shared && make -j2 testfixture'; then
		mkdir "$T/run" && cd "$T/run" || exit 1
		for test in ${SQLITE_TESTS:-select1 select4 insert index where join trans expr func sort trigger1 fts3aa json101 window1 malloc5 wal}; do
			passes "sqlite $test" "$T/sqlite3/testfixture" "$T/sqlite3/testfixture" "$T/sqlite3/test/$test.test"
		done
		cd "$ROOT" || exit 1
	else
		skip sqlite "$(<"$T/reason")"
	fi
fi

# ---- openssl ----
if wanted openssl; then
	if source_of openssl && built openssl './config shared && make -j2 build_generated && make -j2 libcrypto.so libssl.so \
		test/evp_test test/sha_test test/bntest providers/legacy.so'; then
		cd "$T/openssl/test" || exit 1
		export LD_LIBRARY_PATH=$T/openssl OPENSSL_MODULES=$T/openssl/providers OPENSSL_CONF=/dev/null
		library=$T/openssl/libcrypto.so.3
		for data in evpciph_aes_common evpmd_sha evpmac_common evppkey_ecc evpkdf_hkdf evpencod; do
			passes "openssl evp_test $data" "$T/openssl/test/evp_test $library" ./evp_test recipes/30-test_evp_data/$data.txt
		done
		passes 'openssl bntest' "$library" ./bntest recipes/10-test_bn_data/bnmul.txt
		unset LD_LIBRARY_PATH OPENSSL_MODULES OPENSSL_CONF
		cd "$ROOT" || exit 1
	else
		skip openssl "$(<"$T/reason")"
	fi
fi
done_testing
