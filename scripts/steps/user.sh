# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2164 # scripts/test sets -e and the variables
# Steps of scripts/test that need no guest. $work is a folder of this run.

step_check()
{
	kmt_build_programs "$builddir"
	make -s -C "$builddir" check VERBOSE=1	# print the log of a test that fails
}

# complete_tarball BUILD: check that the tarball has each file of the repository.
complete_tarball()
{
	if ! git -C "$kmt_top" rev-parse -q --verify HEAD >/dev/null 2>&1; then
		return 0
	fi
	echo "Files that the tarball lacks:"
	! git -C "$kmt_top" ls-files | grep -vxE '\.clang-format|\.gitignore' |
		grep -vxFf <(tar -tf "$1"/kmemtrace-*.tar.xz | sed 's,^[^/]*/,,')
}

# Build the programs from the tarball without clang and npm, install them, and run the
# installed report.
step_tarball()
{
	local dir=$work/tarball source

	kmt_configure "$dir"
	make -s -C "$dir" dist
	complete_tarball "$dir"
	tar -C "$dir" -xf "$dir"/kmemtrace-*.tar.xz
	source=$(find "$dir" -maxdepth 1 -type d -name 'kmemtrace-*')
	mkdir "$dir/build"
	(cd "$dir/build" && "$source/configure" -q --enable-werror BPF_CLANG=false NPM=false \
		--prefix="$dir/installed")
	make -s -C "$dir/build" -j"$(nproc)" install
	python3 "$source/tests/lib/mkcapture.py" \
		"$source/tests/report/fixtures/report-continued.txt" "$dir/capture"
	"$dir/installed/bin/kmemtrace-report" "$dir/capture" | grep '^CALL SITES'
	# Without npm, the tarball has no HTML report either.
	if [ -e "$dir/report/html/template.html" ]; then
		cmp "$dir/report/html/template.html" \
			"$dir/installed/share/kmemtrace/template.html"
		test -s "$source/report/html/libraries/uPlot.iife.js"
	fi
	if [ "$(uname -m)" = x86_64 ]; then
		grep -q '^#define HAVE_BPF' "$dir/build/config.h"
		strings "$dir/installed/sbin/kmemtraced" | grep mm_page_alloc_first
	fi
}

# lintian must find nothing, and the packaged programs must record from BPF programs.
step_package()
{
	local out=$work/package messages=$work/package-lintian

	"$kmt_top/scripts/install-deps" lintian
	"$kmt_top/scripts/package" --check --out "$out"
	lintian --allow-root --fail-on warning,error "$out"/*.deb 2>&1 |
		tee "$messages"
	! grep -E '^[EW]:' "$messages"
	dpkg -x "$out"/kmemtrace_*.deb "$work/package-files"
	"$work/package-files/usr/sbin/kmemtraced" --version |
		grep -x "kmemtraced $(dpkg-parsechangelog -l "$kmt_top/debian/changelog" -S Version)"
	if [ "$(uname -m)" = x86_64 ]; then
		strings "$work/package-files/usr/sbin/kmemtraced" |
			grep mm_page_alloc_first
	fi
	dpkg -x "$out"/kmemtrace-source_*.deb "$work/package-files"
	"$work/package-files/usr/src/kmemtrace/kernel-patches/apply" --help >/dev/null
}

# debian RELEASE KERNEL: install the package on a fresh system with its own kernel,
# record ten minutes of load, and remove the package.
debian()
{
	local out=$work/debian-$1

	"$kmt_top/scripts/install-deps" debian
	rm -rf "$out" "$out-package"
	"$kmt_top/scripts/package" --out "$out-package"
	"$kmt_top/vm/debian" "$1" "$out.img" "$out-package"/kmemtrace_*.deb
	"$kmt_top/vm/run" --kernel "$("$kmt_top/vm/stock" "$2")" --system "$out.img" \
		--builddir "$builddir" --out "$out" --memory 2048 --disk-size 8192 \
		--timeout 2400 --append seconds=600 \
		--file "$(echo "$out-package"/kmemtrace_*.deb)" \
		"$kmt_top/vm/scenarios/package.sh"
	rm "$out.img"
	sed -n '/^# apt-get/,$p' "$out/console.log"
	kmemtrace-check "$out/kmem"
}
step_debian_12() { debian 12 6.1; }
step_debian_13() { debian 13 6.12; }

# boot_stock TOOL [OPTION of tests/vm/boot.py]: install the package on a Debian 13 with its
# own kernel and this tool for the initramfs, record one boot, and boot again.
boot_stock()
{
	local out=$work/boot-$1 n=0 scenario kernel initrd=() package

	"$kmt_top/scripts/install-deps" debian
	kmt_build_programs "$builddir"
	rm -rf "$out" "$out".*
	"$kmt_top/scripts/package" --out "$out.package"
	package=$(echo "$out.package"/kmemtrace_*.deb)
	"$kmt_top/vm/debian" --with "linux-image-amd64,$1,zstd" 13 "$out.img" "$package"
	kernel=$("$kmt_top/vm/stock" 6.12)
	for scenario in enable recorded unrecorded; do
		n=$((n + 1))
		"$kmt_top/vm/run" --kernel "$kernel" --system "$out.img" --write \
			"${initrd[@]}" --builddir "$builddir" --out "$out.$n" \
			--memory 4096 --disk-size 4096 --timeout 1800 \
			--file "$package" --file "$kmt_top/vm/guest/boot.sh" \
			"$kmt_top/vm/scenarios/boot-$scenario.sh"
		sed -n '/^# apt-get/,$p' "$out.$n/console.log"
		# The system boots with its own kernel from now on.
		if [ $n = 1 ]; then
			kernel=$out.kernel
			mkdir -p "$kernel/arch/x86/boot"
			mv "$out.1/vmlinuz" "$kernel/arch/x86/boot/bzImage"
			echo x86_64 >"$kernel/.arch"
		fi
		initrd=(--initrd "$out.$n/initrd")
	done
	rm "$out.img"
	kmemtrace-check "$out.2/capture"
	python3 "$kmt_top/tests/vm/boot.py" "$out.2" "${@:2}"
}
step_boot_stock() { boot_stock initramfs-tools; }
step_boot_dracut() { boot_stock dracut --initrd-systemd; }

step_distcheck()
{
	# Use a separate build folder, because other steps build in $builddir.
	kmt_configure "$work/distcheck"
	make -s -C "$work/distcheck" distcheck \
		AM_DISTCHECK_CONFIGURE_FLAGS=--enable-werror
	complete_tarball "$work/distcheck"
}

# Build at each optimization level: some warnings appear only with optimization,
# others only without.
step_warnings()
{
	local cc level dir

	"$kmt_top/scripts/install-deps" fuzz || true
	command -v clang >/dev/null || { echo "clang is missing"; return 77; }
	for cc in gcc clang; do
		for level in 0 1 2 3; do
			dir=$work/warnings/$cc-$level
			kmt_configure "$dir" --enable-werror CC="$cc" \
				CFLAGS="-O$level -g0"
			echo "$cc -O$level"
			# Compile the programs of the tests, too, and run no test.
			make -s -C "$dir" -j"$(nproc)" check TESTS= >/dev/null
			rm -rf "$dir"
		done
	done
}

step_figures()
{
	kmt_build_programs "$builddir"
	top_builddir=$builddir python3 "$kmt_top/tests/report/figures-large.py"
}

# sanitizers STEP [GROUP=TESTS]...: make check with the sanitizers, but only these
# tests of a group.
sanitizers()
{
	local dir=$work/$1

	kmt_configure "$dir" --enable-werror --enable-sanitizers
	make -s -C "$dir" -j"$(nproc)"
	# Ignore leaks: memory that lives until exit is freed by the operating system.
	# The tests of kernel-patches/apply and of the tests' tools run no program.
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		make -s -C "$dir" check VERBOSE=1 KMT_KERNEL_PATCHES_TESTS= \
		KMT_TOOLS_TESTS= "${@:2}"
}

# Of two groups the tests that reach most of the code that reads captures and
# recordings in the shortest time; the others repeat the code with other figures, or
# record.
step_sanitizers()
{
	sanitizers sanitizers \
		KMT_REPORT_TESTS="$(printf 'tests/report/%s.py ' golden marks \
			random-captures)" \
		KMEMTRACED_TESTS="$(printf 'tests/kmemtraced/%s.py ' filter \
			ftrace-pairs snapshot)"
}

step_sanitizers_all() { sanitizers sanitizers-all; }

# Run the programs on every fixture under valgrind.
memcheck=(valgrind -q --error-exitcode=99 --leak-check=full
	--errors-for-leak-kinds=definite)

# valgrind_fixtures FIXTURE...: run check and report on each fixture; text and JSON
# alternate.
valgrind_fixtures()
{
	local programs=(check/kmemtrace-check "report/kmemtrace-report --json")
	local others=("check/kmemtrace-check --json" report/kmemtrace-report)
	local fixture name dir program rc swap

	for fixture; do
		name=$(basename "$fixture" .txt)
		dir=$work/valgrind/$name
		python3 "$kmt_top/tests/lib/mkcapture.py" "$fixture" "$dir"
		swap=("${programs[@]}")
		programs=("${others[@]}")
		others=("${swap[@]}")
		for program in "${programs[@]}"; do
			rc=0
			# shellcheck disable=SC2086 # the option is a word of its own
			G_SLICE=always-malloc "${memcheck[@]}" \
				"$builddir"/$program "$dir" >/dev/null || rc=$?
			[ $rc -ne 99 ] || {
				echo "valgrind complains of $program on $name"
				return 1
			}
		done
	done
}

step_valgrind()
{
	local rc=0

	kmt_build_programs "$builddir"
	mkdir -p "$work/valgrind"
	valgrind_fixtures "$kmt_top"/tests/*/fixtures/*.txt
	"${memcheck[@]}" "$builddir/kmemtraced/kmemtraced" --debugfs \
		"$work/nothing" -D "$work/valgrind" >/dev/null 2>&1 || rc=$?
	[ $rc -ne 99 ] || { echo "valgrind complains of kmemtraced"; return 1; }
}

# check_emulated ARCH: make check with the programs for ARCH, which QEMU runs.
check_emulated()
{
	# shellcheck source-path=SCRIPTDIR source=../../vm/arch.sh
	if [ "$(. "$kmt_top/vm/arch.sh" && kmt_host_arch)" = "$1" ]; then
		echo "this machine is $1: see step check"
		return 77
	fi
	"$kmt_top/vm/cross" -q --check "$1"
}

step_check_s390x()
{
	check_emulated s390x
}

step_check_arm64()
{
	check_emulated arm64
}

step_check_arm()
{
	check_emulated arm
}

# The report's page needs npm at build time, which an earlier build may have lacked.
step_html()
{
	local build=$builddir

	"$kmt_top/scripts/install-deps" html browser
	kmt_build_programs "$build"
	if [ ! -e "$build/report/html/template.html" ]; then
		build=$work/html-build
		kmt_configure "$build" --enable-werror --enable-html
		make -s -C "$build" -j"$(nproc)"
	fi
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/web/html-pages.py" "$build" \
		"$work/html"
}

step_fuzz()
{
	# If tools are missing, fuzz/run reports them and the step is skipped.
	"$kmt_top/scripts/install-deps" fuzz || true
	"$kmt_top/fuzz/run" --seconds 30 --build "$work/fuzz"
}

# npm installs the readers, which the lock of the test pins by hash, in the work folder.
step_folded()
{
	"$kmt_top/scripts/install-deps" html browser
	kmt_build_programs "$builddir"
	PYTHONDONTWRITEBYTECODE=1 python3 \
		"$kmt_top/tests/web/folded/folded-readers.py" "$builddir" \
		"$work/folded"
}

# The build folder may be older than the libraries of --pprof.
step_pprof()
{
	local build=$builddir

	"$kmt_top/scripts/install-deps" pprof
	kmt_build_programs "$build"
	if ! grep -q '^#define HAVE_PPROF' "$build/config.h"; then
		build=$work/pprof-build
		kmt_configure "$build" --enable-werror --with-protobuf-c
		make -s -C "$build" report/kmemtrace-report bench/generate
	fi
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/report/pprof-go.py" \
		"$build" "$work/pprof"
}

# Print the files of the tree, also outside of a git checkout.
tree_files()
{
	if git -c safe.directory="$kmt_top" -C "$kmt_top" rev-parse \
		--git-dir >/dev/null 2>&1; then
		git -c safe.directory="$kmt_top" -C "$kmt_top" ls-files
	else
		(cd "$kmt_top" && find . -path ./b -prune -o -type f -printf '%P\n')
	fi
}

step_include_graph()
{
	python3 "$kmt_top/tests/tools/include-graph.py"
}

step_completions()
{
	kmt_build_programs "$builddir"
	"$kmt_top/scripts/install-deps" shells
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/cli/completion-shells.py" \
		"$builddir/completions"
}

step_clang_format()
{
	cd "$kmt_top"
	tree_files | grep -E '^(bench|check|fuzz|gate|import|kmemtraced|lib|report|tests|top)/.*\.[ch]$' |
		xargs clang-format --dry-run -Werror
}

step_shellcheck()
{
	cd "$kmt_top"
	tree_files | while read -r file; do
		if head -n 1 "$file" |
			grep -qE '^#!.*\b(ba|da|busybox )?sh\b'; then
			printf '%s\0' "$file"
		fi
	done | xargs -0 shellcheck -x
	shellcheck -x scripts/lib.sh scripts/steps/*.sh vm/*.sh vm/guest/lib.sh vm/guest/boot.sh \
		kernel-patches/lib/*.sh
}

step_codespell()
{
	cd "$kmt_top"
	# Nd is a macro of the manual pages; filp is the kernel's name of an open file.
	# Lines of the kernel that the patches quote have the others.
	tree_files | grep -vE '^(LICENSES|fuzz/corpus|report/html/libraries)/|report/html/template.html$|\.(out|expected)$' |
		xargs codespell --ignore-words-list nd,filp,damon,aling
}

step_mandoc()
{
	cd "$kmt_top"
	# Exclude pages that only refer to another page.
	tree_files | grep -E '^man/.*\.[0-9]$' | xargs grep -L '^\.so ' |
		xargs mandoc -Tlint -W warning
}

# Check that one of the first four lines of each file contains its license.
step_spdx()
{
	local bad

	cd "$kmt_top"
	bad=$(tree_files | grep -vE '\.(out|expected|json|png)$|/ABI/testing/|^(LICENSES|report/html/libraries)/|^debian/(changelog|copyright|source/format)$' |
		while read -r file; do
			head -n 4 "$file" | grep -q SPDX-License-Identifier ||
				echo "$file"
		done)
	[ -z "$bad" ] || { printf 'no SPDX line in:\n%s\n' "$bad"; return 1; }
}

# Kill kmemtraced, limit its files, and let a file system become full, a hundred times
# each.
step_compress()
{
	local test=$kmt_top/tests/kmemtraced/compress-random.py

	make -s -C "$builddir" tests/kmemtraced/shim.so tests/kmemtraced/zstd-dump
	export top_builddir=$builddir PYTHONPATH=$kmt_top/tests/lib KMEMTRACE_RUNS=100
	python3 -B "$test"
	KMEMTRACE_TMPFS=1 unshare -rm python3 -B "$test" Random.test_full_disk
}

# The test mounts tracefs if it is not mounted. The test is skipped if the kernel
# has no tracefs or if the user is not root.
step_ftrace()
{
	kmt_build_programs "$builddir"
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/kmemtraced/ftrace-live.py" \
		"$builddir" "$work/ftrace"
}

step_bpf()
{
	kmt_build_programs "$builddir"
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/kmemtraced/bpf-live.py" \
		"$work/bpf"
}

# bench/top counts instructions and bytes, which do not depend on the load.
step_top()
{
	local test

	"$kmt_top/scripts/install-deps" lint screen
	kmt_build_programs "$builddir"
	make -s -C "$builddir" bench/generate
	for test in figures streams screen terminal; do
		top_builddir=$builddir top_srcdir=$kmt_top \
			PYTHONPATH=$kmt_top/tests/lib PYTHONDONTWRITEBYTECODE=1 \
			python3 "$kmt_top/tests/top/$test.py"
	done
	"$kmt_top/bench/top" --strict --builddir "$builddir" --events 300k
}

# bench/diff counts instructions, which do not depend on the load.
step_diff_cost()
{
	"$kmt_top/scripts/install-deps" lint
	kmt_build_programs "$builddir"
	make -s -C "$builddir" bench/generate bench/measure
	"$kmt_top/bench/diff" --strict --builddir "$builddir" --sizes 1M
}

# bench/analysis fails if a figure exceeds the recorded one by more than 5 %.
step_analysis_cost()
{
	"$kmt_top/scripts/install-deps" lint
	kmt_build_programs "$builddir"
	make -s -C "$builddir" bench/generate bench/load bench/measure bench/readall
	"$kmt_top/bench/analysis" --instructions --builddir "$builddir"
}

step_top_live()
{
	kmt_build_programs "$builddir"
	top_builddir=$builddir PYTHONDONTWRITEBYTECODE=1 \
		python3 "$kmt_top/tests/top/top-live.py" "$work/top-live"
}

# The test mounts tracefs as in step ftrace. trace-cmd uses the tracing of the
# machine itself, so no other test may trace at the same time.
step_import()
{
	kmt_build_programs "$builddir"
	# If tools are missing, the test reports them and is skipped.
	"$kmt_top/scripts/install-deps" bench || true
	PYTHONDONTWRITEBYTECODE=1 python3 "$kmt_top/tests/import/tools-live.py" \
		"$builddir" "$work/import"
}
