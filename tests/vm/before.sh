#!/bb/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The guest's first process where drivers of the disk are modules (/init of the initramfs that foreign.sh makes): loads
# them and continues with init.sh, which is on the disk.

bb=/bb/busybox
$bb mount -t devtmpfs devtmpfs /dev
while read -r module; do
	$bb insmod "/drivers/$module" || echo "$module: not loaded"
done </drivers/list
while [ ! -b /dev/nvme0n1 ]; do
	$bb sleep 0.1
done
$bb mount -t ext4 /dev/nvme0n1 /new || echo 'no disk'
exec $bb switch_root /new /init
