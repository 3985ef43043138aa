# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # vm/run sources this and has the variables
# QEMU's machine for each architecture, and the contents of its guest. vm/run has set
# the variables of kmt_set_arch.

# Set the array machine, and cmdline, the start of the kernel's command line.
set_machine()
{
	cmdline="panic=-1 oops=panic"
	case $arch in
	x86_64)
		machine=(-machine pc -cpu max)
		# no_timer_check: the kernel tests the timer over 10 ticks and panics if a
		# busy host delays the ticks.
		cmdline="console=ttyS0 earlyprintk=ttyS0 $cmdline tsc=reliable no_timer_check" ;;
	arm64)
		# The authentication of pointers, which the processor max has, is slow to
		# emulate.
		machine=(-machine "virt,gic-version=3" -cpu cortex-a57)
		cmdline="console=ttyAMA0 earlycon $cmdline" ;;
	arm)
		# Without highmem=off the devices lie above 4 GB, where a kernel without LPAE
		# cannot reach them.
		machine=(-machine "virt,highmem=off" -cpu cortex-a15)
		cmdline="console=ttyAMA0 earlycon $cmdline" ;;
	s390x)
		machine=(-machine s390-ccw-virtio -cpu max)
		cmdline="console=ttysclp0 $cmdline" ;;
	esac
}

# add_console FILE, add_disk FILE [OPTION]: append the device to the array devices.
add_console()
{
	if [ "$arch" = s390x ]; then
		devices+=(-chardev "file,id=console,path=$1" -device "sclpconsole,chardev=console")
	else
		devices+=(-serial "file:$1")
	fi
}

add_disk()
{
	local id=disk${#devices[@]} device

	case $arch in
	x86_64) devices+=(-drive "file=$1,format=raw,if=virtio,cache=unsafe${2:+,$2}")
		return ;;
	s390x) device=virtio-blk-ccw ;;
	*) device=virtio-blk-device ;;
	esac
	devices+=(-drive "file=$1,format=raw,if=none,id=$id,cache=unsafe${2:+,$2}"
		-device "$device,drive=$id")
}

# Before QEMU 8.1 a translation could begin before a write to the same code and be
# used after the write. A CPU could then execute the int3 of a code patch that was
# already complete.
default_threads()
{
	local version

	version=$("qemu-system-$qemu" --version |
		sed -n '1s/^.* version \([0-9.]*\).*/\1/p')
	if dpkg --compare-versions "$version" lt 8.1; then
		echo single
	else
		echo multi
	fi
}

# Store the arguments for CPUs and memory in the array numa. Each node is a separate
# socket, because the kernel warns about nodes whose CPUs share a cache.
divide_nodes()
{
	local i share=$((cpus / nodes))

	numa=(-smp "$cpus" -m "$memory")
	[ "$nodes" -gt 1 ] || return 0
	[ $((cpus % nodes)) = 0 ] || kmt_die "$cpus CPUs on $nodes nodes"
	numa=(-smp "$cpus,sockets=$nodes" -m "$memory")
	for ((i = 0; i < nodes; i++)); do
		numa+=(-object "memory-backend-ram,id=m$i,size=$((memory / nodes))M"
			-numa "node,nodeid=$i,memdev=m$i,cpus=$((i * share))-$(((i + 1) * share - 1))")
	done
}

# start_qemu ACCEL COMMAND-LINE: start QEMU with the array devices; set qemu_pid.
start_qemu()
{
	local accel_args=(-accel "tcg,thread=$tcg_threads")

	[ "$1" = tcg ] || accel_args=(-accel kvm -cpu host)
	# The guest must not depend on the time or randomness of the host.
	[ -z "$icount" ] || accel_args=(-accel tcg -icount "shift=0,sleep=off"
		-rtc "base=2024-01-01,clock=vm")
	[ -z "$icount" ] || [ "$arch" != x86_64 ] || accel_args+=(-cpu "max,-rdrand,-rdseed")
	# A later -cpu replaces the machine's.
	# shellcheck disable=SC2086 # several words
	"qemu-system-$qemu" "${machine[@]}" "${accel_args[@]}" $qemu_words \
		"${numa[@]}" -nodefaults -no-user-config -display none -no-reboot \
		-kernel "$image" -initrd "$work/initramfs" "${devices[@]}" \
		-append "$2" </dev/null >"$work/qemu.log" 2>&1 &
	qemu_pid=$!
}

# --- Programs of the guest ----------------------------------------------------------

# Print the libraries of a program or library of another architecture, by the paths
# that they have in the guest.
foreign_libraries()
{
	local name dir found

	readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
		while read -r name; do
			found=
			for dir in "lib/$triplet" "usr/lib/$triplet" lib; do
				[ -n "$found" ] || [ ! -e "$sysroot/$dir/$name" ] ||
					found=/$dir/$name
			done
			[ -n "$found" ] || kmt_die "$1 needs $name, which $sysroot lacks"
			echo "$found"
		done
	readelf -lW "$1" | sed -n 's/.*interpreter: \(.*\)\]$/\1/p'
}

# Copy a library into the guest, and the libraries that it needs.
add_foreign_library()
{
	local needed

	[ ! -e "$root$1" ] || return 0
	mkdir -p "$root${1%/*}"
	cp -L "$sysroot$1" "$root$1"
	foreign_libraries "$sysroot$1" | while read -r needed; do
		add_foreign_library "$needed"
	done
}

# add_program FILE: copy the program to /bin and its libraries to their usual paths.
add_program()
{
	local lib

	cp -L "$1" "$root/bin/"
	if [ -n "$cross" ]; then
		foreign_libraries "$1" | while read -r lib; do
			add_foreign_library "$lib"
		done
		return
	fi
	while read -r lib; do
		mkdir -p "$root${lib%/*}"
		[ -e "$root$lib" ] || cp -L "$lib" "$root$lib"
	done < <(ldd "$1" 2>/dev/null | grep -o '/[^ ]*')
}

# Copy busybox with the names of its commands. Another architecture's busybox cannot
# list them, so this machine's lists them.
add_busybox()
{
	local applet

	if [ -n "$cross" ]; then
		cp "$sysroot/bin/busybox" "$root/bin/busybox"
	else
		cp "$(command -v busybox)" "$root/bin/busybox"
	fi
	busybox --list | while read -r applet; do
		[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
	done
}
