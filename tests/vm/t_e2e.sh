#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/e2e on other kernels: the same files, with this machine's compiler, perl, gdb and so on. By default a few,
# on the newest; ALL=some: those whose subject differs between kernels, on 6.1, too; ALL=1: all that make sense there.
# KERNELS="6.1 6.12": where.
# E2E="e2e/t_pid formats/t_fold e2e/t_forms,1": only these, the last one with the argument 1.

. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin needs_guest mke2fs dpkg-query

# Where what the tests use comes from; what is only good for a few of their lines may be missing: these skip.
packages=(coreutils diffutils findutils mount gcc g++ libc6-dev libc-bin binutils perl procps util-linux libpam-modules
	libpam-runtime)
missing=$(dpkg -s "${packages[@]}" 2>&1 >/dev/null | sed -n "s/^dpkg-query: package '\([^']*\)'.*/\1/p" | xargs)
[[ -z $missing ]] || skip_all "needs packages: $missing"
for package in bsdutils gdb gzip libcap2-bin libzydis-dev openssl python3; do
	! dpkg -s "$package" >/dev/null 2>&1 || packages+=("$package")
done
options=(-t 10800 -M 2048 -f /etc/pam.d)
for package in "${packages[@]}"; do
	options+=(-p "$package")
done

few=(e2e/t_{pid,handlers})
some=(e2e/t_{filters,follow,pid,dlopen,handlers,parked})
old=(e2e/t_{pid,handlers,mechanisms,signals}) # on the kernel that has one mechanism only
# t_go and t_documented: the guest has neither go nor the man page, and they ask the kernel nothing of its own;
# t_trace_file: nor does that, and it reads some hundred MB of JSON; t_reference: that is t_programs.sh.
left_out=' t_go t_documented t_trace_file t_reference '
which=few
if [[ ${E2E:-} ]]; then
	which=named
	read -ra tests <<<"$E2E"
	tests=("${tests[@]//,/ }")
elif [[ ${ALL:-} == some ]]; then
	which=some
	tests=("${some[@]}")
elif [[ ${ALL:-} ]]; then
	which=all
	for file in tests/e2e/t_*.sh; do
		name=$(basename "$file" .sh)
		[[ $left_out == *" $name "* ]] || tests+=("e2e/$name")
	done
	tests+=(long/t_kill)
else
	tests=("${few[@]}")
fi
# these NAME...: sets there to those of them that make sense on $KERNEL, and skips the others.
these() {
	local name

	there=()
	for name; do
		if [[ $name == e2e/t_survival && $KERNEL == 6.1 ]]; then
			skip "$KERNEL $name" 'all functions of libcrypto and python3, by uprobe_event alone: hours'
		elif [[ $name == e2e/t_forms* ]] && ! qemu_10; then
			skip "$KERNEL $name" "$("$QEMU" --version | head -n 1) steps some of them wrongly"
		else
			there+=("$name")
		fi
	done
}

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	these "${tests[@]}"
	case $which,$KERNEL in
	few,6.1 | some,6.1) there=("${old[@]}") ;;
	few,newest | some,newest) there+=('e2e/t_examples 9') ;; # of the documented examples, the kernel's
	esac
	# what perf events are inherited differs with 6.13
	[[ $which != some || $KERNEL == 6.12 ]] || there+=(e2e/t_bystanders)
	# tracepoints of the scheduler come and go while another CPU runs them: QEMU 10 may execute one's int3 that is gone
	guest --turns "${options[@]}" -- tests/vm/guest_e2e.sh "${there[@]}"
done
done_testing
