#!/bb/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The guest's first process (/init of the root that run.sh builds): sets the machine up, loads the modules of
# /vm/modules, runs /vm/command and prints its status on the serial line, between the lines that the host expects
# (/vm/marker). With vm.shell on the kernel's command line it runs a shell instead. It never mounts tracefs or
# debugfs: bbtrace must work without.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/bb HOME=/root TERM=linux LC_ALL=C.UTF-8

mount_all()
{
	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mount -t devtmpfs devtmpfs /dev 2>/dev/null
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	mount -t tmpfs tmpfs /dev/shm
	mount -t tmpfs tmpfs /run
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	ln -sf /proc/self/fd /dev/fd
}

load_modules()
{
	while read -r module; do
		modprobe "$module" || return
	done </vm/modules
}

set_up()
{
	mount_all
	hostname vm
	ip link set lo up
	chmod 1777 /tmp /dev/shm
	# a disk's files are whose they were on the host
	[ "$(stat -c %u /init)" = 0 ] || chown -hR 0:0 /etc /root /src /usr /vm
	# of another architecture than the host's
	[ -e /etc/ld.so.cache ] || ldconfig
}

run_command()
{
	stty raw -echo
	printf "\n%s begin\n" "$(cat /vm/marker)"
	if load_modules; then
		bash /vm/command </dev/null
		status=$?
	else
		status=125
	fi
	printf '\n%s end %d\n' "$(cat /vm/marker)" "$status"
}

set_up >/dev/null 2>&1
cd /src || poweroff -f
if grep -qw vm.shell /proc/cmdline; then
	load_modules
	setsid cttyhack bash -i
else
	console=/dev/$(cat /vm/console)
	exec <"$console" >"$console" 2>&1
	run_command
fi
# what was written must have left the serial port
sleep 0.1
poweroff -f
