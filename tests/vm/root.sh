# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # its variables are run.sh's
#
# Sourced by run.sh: what is in a guest's root, and the disk or initramfs that it becomes.

# what of the host goes into the guest as it is; busybox stands in for the rest
tools=(bash cat ls cp mv rm ln mkdir chmod chown touch stat sort uniq head tail wc cut tr tee dd od env id true false
	sleep timeout seq expr mktemp readlink realpath basename dirname date nproc stdbuf grep sed awk gawk mawk find xargs
	diff cmp ps pgrep pkill mount umount mountpoint nsenter unshare setpriv setsid taskset prlimit su hostname ip jq
	strace)
etc=(passwd group nsswitch.conf)

# The libraries, and the loader, that these files need and the guest hasn't got, with the links that lead to them.
put_libraries() # FILE...
{
	local lib

	! foreign || return 0
	{ ldd "$@" 2>/dev/null || true; } | sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | sort -u |
		while read -r lib; do
			[[ -e $root$lib ]] || cp -L --parents "$lib" "$root"
		done
}

put_tools()
{
	local name path found=()

	for name in "${tools[@]}"; do
		path=$(type -P "$name") || continue
		path=/usr/bin/$name
		[[ -x $path ]] || path=$(type -P "$name")
		found+=("$(realpath -s "$path")")
	done
	cp -L --parents "${found[@]}" "$root"
	put_libraries "${found[@]}"
	ln -sf bash "$root/usr/bin/sh"
}

put_busybox() # FILE
{
	local name

	cp "$1" "$root/bb/.busybox"
	for name in $(busybox --list); do
		ln -s .busybox "$root/bb/$name"
	done
}

put_etc()
{
	local name

	for name in "${etc[@]}"; do
		[[ ! -e /etc/$name ]] || cp "/etc/$name" "$root/etc/"
	done
	! foreign || return 0
	[[ ! -d /usr/lib/locale/C.utf8 ]] || cp -RP --parents /usr/lib/locale/C.utf8 "$root"
	# the guest's bbtrace looks libraries up there, as the loader does
	PATH=$PATH:/sbin:/usr/sbin ldconfig -r "$root" -f /dev/null 2>/dev/null || true
}

# Folders and files of the project under /src, executables with their libraries.
put_project()
{
	local program programs

	mkdir -p "$root/src/build"
	cp -a tests docs include "$root/src/"
	for program in bbtrace relocated batches; do
		[[ -e $build/$program ]] || continue
		cp "$build/$program" "$root/src/build/"
		# a guest unpacks all that it has; another architecture's may stay as they are
		strip --strip-debug "$root/src/build/$program" 2>/dev/null || true
	done
	[[ ! -d $build/progs ]] || cp -a "$build/progs" "$root/src/build/"
	mapfile -d '' programs < <(find "$root/src" -type f -executable ! -name '*.sh' -print0)
	((${#programs[@]} == 0)) || put_libraries "${programs[@]}"
}

# With its times: what is made of it is not made again there.
put_path() # PATH
{
	(cd / && find ".$1" -print0 | cpio --null --quiet --pass-through --make-directories --preserve-modification-time \
		--unconditional "$root")
}

put_files()
{
	local file programs

	for file in ${files[@]+"${files[@]}"}; do
		[[ -e $file ]] || fail "no such file: $file"
		put_path "$file"
		[[ ! -L $file ]] || put_path "$(realpath "$file")"
		mapfile -d '' programs < <(find "$(realpath "$file")" -type f -print0)
		put_libraries "${programs[@]}"
	done
}

# These and what they need, of what is installed: each of several that would do.
with_needs() # PACKAGE...
{
	dpkg-query -W -f '${db:Status-Abbrev}|${Package}|${Provides}|${Pre-Depends}, ${Depends}\n' | awk -F'|' -v names="$*" '
		function names_of(text, list) {
			gsub(/\([^)]*\)|:[a-z0-9]+/, "", text)
			gsub(/[,|]/, " ", text)
			return split(text, list, " ")
		}
		$1 ~ /^.i/ {
			rest = $4
			for (i = 5; i <= NF; i++)
				rest = rest " " $i
			needs[$2] = rest
			gives[$2] = gives[$2] " " $2
			for (i = names_of($3, list); i; i--)
				gives[list[i]] = gives[list[i]] " " $2
		}
		END {
			for (n = split(names, todo, " "); n; ) {
				for (i = split(gives[todo[n--]], list, " "); i; i--)
					if (!(list[i] in taken)) {
						taken[list[i]]
						print list[i]
						for (k = names_of(needs[list[i]], more); k; k--)
							todo[++n] = more[k]
					}
			}
		}'
}

# As they are installed, but for what nobody reads there. /bin, /lib and so on are links to /usr; what stands there by
# update-alternatives is in no package.
put_packages()
{
	local missing

	((${#packages[@]})) || return 0
	missing=$({ dpkg -s "${packages[@]}" 2>&1 >/dev/null || true; } | sed -n "s/^dpkg-query: package '\([^']*\)'.*/\1/p" | xargs)
	[[ -z $missing ]] || fail "needs packages: apt-get install $missing"
	{
		with_needs "${packages[@]}" | xargs dpkg -L 2>/dev/null |
			sed -E 's#^/(bin|sbin|lib|lib64)/#/usr/\1/#' |
			grep -E '^/(usr|etc)/' | grep -vE '^/usr/share/(doc|man|info|locale|lintian|bug)/' || true
		find /usr/bin /usr/sbin -lname '/etc/alternatives/*'
		find /etc/alternatives -type l
	} | sort -u | while read -r path; do
		[[ -L $path || (-e $path && ! -d $path) ]] && printf '%s\0' "$path"
	done >"$work/packages" || true
	# tar replaces what is there, and goes through no link to get there
	tar -C / --null --no-recursion --ignore-failed-read -cf - -T "$work/packages" 2>/dev/null | tar -C "$root" -xf -
}

# A module and what it needs, deepest first, as modules.dep lists them. The index goes along for modprobe.
put_module() # NAME
{
	local index=$folder/lib/modules/$release line path
	local pattern="/${1//[-_]/[-_]}\.ko"

	! grep -q "$pattern\$" "$index/modules.builtin" || return 0
	line=$(grep -m 1 "$pattern:" "$index/modules.dep") || fail "no module $1 in $release"
	for path in ${line/:/}; do
		(cd "$folder" && cp --parents "lib/modules/$release/$path" "$root")
	done
	cp "$index/modules.dep" "$index/modules.builtin" "$root/lib/modules/$release/"
	echo "$1" >>"$root/vm/modules"
}

# ---- what guests of this machine's architecture have in common ----

# Hundreds of processes make it, so it is made once for many guests, in the build folder, and again when one of the files
# that it has is newer.
is_current() # STAMP
{
	local inputs=(tests docs include "$build"/{bbtrace,relocated,batches,progs} /var/lib/dpkg/status /usr/lib/locale
		/usr/local/bin "${etc[@]/#//etc/}") existing=() path

	[[ -e $1 ]] || return 1
	for path in "${inputs[@]}"; do
		[[ ! -e $path ]] || existing+=("$path")
	done
	[[ ! $(find "${existing[@]}" -cnewer "$1" -print -quit) ]]
}

make_common() # FOLDER
{
	local root=$1/root # where put_... put what they have

	rm -rf "$root" "$1/made"
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root/bb" "$root/etc"
	: >"$1/begun"
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
	put_tools
	put_busybox "$(type -P busybox)"
	put_project
	mv "$1/begun" "$1/made"
}

put_common()
{
	local common=$build/guest lock

	# without it, or in the folder of somebody else, a guest makes its own
	if ! mkdir -p "$common" 2>/dev/null || [[ ! -w $common ]]; then
		common=$work/guest
		mkdir -p "$common"
	fi
	exec {lock}>"$common/lock"
	flock "$lock"
	is_current "$common/made" || make_common "$common"
	cp -a --reflink=auto "$common/root/." "$root"
	exec {lock}>&-
}

make_root()
{
	local module

	mkdir -p "$root"
	if foreign; then
		put_foreign
		put_project
	else
		put_common
	fi
	mkdir -p "$root"/{dev,proc,sys,run,tmp,root,etc,var,mnt,vm}
	[[ ! $back ]] || put_back
	put_files
	put_packages
	: >"$root/vm/modules"
	for module in ${modules[@]+"${modules[@]}"}; do
		put_module "$module"
	done
	put_etc
	install -m 755 tests/vm/init.sh "$root/init"
	echo "$marker" >"$root/vm/marker"
	echo "$console" >"$root/vm/console"
	printf '%q ' "$@" >"$root/vm/command"
	if on_disk; then
		make_disk
		! needs_drivers || put_drivers
	else
		(cd "$root" && find . -print0 | cpio --null --quiet --create --format=newc --owner=0:0) >"$work/initramfs"
		rooted=(-initrd "$work/initramfs")
	fi
	rm -rf "$root"
}

# What the guest brings is a file in /back, or on a disk that is only for that: the console takes much longer.
put_back()
{
	if on_disk; then
		mkdir "$root/back"
		return
	fi
	truncate -s 1G "$work/back.disk"
	backing=(-drive "file=$work/back.disk,format=raw,if=none,id=back,cache=unsafe" -device "nvme,serial=back,drive=back")
	echo /dev/nvme0n1 >"$root/vm/back"
}

take_back()
{
	if ! on_disk; then
		tar -C "$back" -xf "$work/back.disk" || fail "cannot read what the guest brings"
		return
	fi
	PATH=$PATH:/sbin:/usr/sbin debugfs -R "rdump /back $work" "$work/disk" >/dev/null 2>"$work/debugfs" ||
		fail "cannot read the disk: $(<"$work/debugfs")"
	cp -R "$work/back/." "$back"
}

# NVMe and ext4 are in every kernel of kernel.sh, not in modules, but riscv64's: put_drivers().
make_disk()
{
	PATH=$PATH:/sbin:/usr/sbin mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -d "$root" "$work/disk" \
		$(($(du -sm "$root" | cut -f1) * 5 / 4 + 1024))M >/dev/null
	rooted=(-drive "file=$work/disk,format=raw,if=none,id=root,cache=unsafe" -device "nvme,serial=root,drive=root")
	append+=' root=/dev/nvme0n1 rw init=/init'
}
