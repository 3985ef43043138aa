# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2164 # scripts/test sets -e and the variables
# Steps of scripts/test that check the kernel's sources.

# Fragments of a kernel with debug information, ORC, the test points, and tracers.
test_fragments='slub debuginfo orc test'

# kernel_options KERNEL: print the options of vm/build for a kernel in the name of a
# step.
kernel_options()
{
	case $1 in
	# The steps stacks and nested share this kernel, so that one build serves all.
	6-12) echo "--linux 6.12 $test_fragments" ;;
	7-3) echo "--linux 7.3 slub" ;;
	newest) echo "--linux newest slub" ;;
	arm64|s390x|arm) echo "--linux newest --arch $1 slub" ;;
	6-1-*) echo "--linux 6.1 --arch ${1##*-} slub" ;;
	6-12-*) echo "--linux 6.12 --arch ${1##*-} slub" ;;
	*) echo "$1" ;;
	esac
}

# kernel OPTION of vm/build...: build a kernel with the tests' modules and print its
# folder. Guests of other architectures only run the storm and the counting test.
kernel()
{
	local modules=() name

	for name in storm gap; do
		modules+=(--module "$kmt_top/vm/$name")
	done
	if [[ $* != *--arch* ]]; then
		for name in witness faulty count snapshot relay nested; do
			modules+=(--module "$kmt_top/vm/$name")
		done
		modules+=(--module "$kmt_top/kernel-patches/core/samples/kmemtrace")
	fi
	"$kmt_top/vm/build" -q "${modules[@]}" "$@"
}

# series: write the patches for the mailing list to $work/series.
series()
{
	(
		flock 9
		[ -d "$work/series" ] ||
			GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.org \
				"$kmt_top/kernel-patches/apply" --series "$work/series" 6.1
	) 9>"$work/series.lock"
}

# acyclic BUILD: check that the object files of the core form layers without a
# cycle.
acyclic()
{
	python3 "$kmt_top/tests/tools/object-graph.py" --layers \
		"kernel=$1/mm/kmemtrace"
}

step_kernel_slub()
{
	local built

	built=$(kernel slub)
	acyclic "$built"
}

# kernel_step KERNEL: build a kernel for the steps of that name.
kernel_step()
{
	# shellcheck disable=SC2046 # several words
	kernel $(kernel_options "$1")
}

step_kernel_slab() { kernel_step slab; }
step_kernel_slob() { kernel_step slob; }
step_kernel_6_12() { kernel_step 6-12; }
step_kernel_7_3() { kernel_step 7-3; }
step_kernel_newest() { kernel_step newest; }
step_kernel_arm64() { kernel_step arm64; }
step_kernel_s390x() { kernel_step s390x; }
step_kernel_arm() { kernel_step arm; }
step_kernel_6_1_arm64() { kernel_step 6-1-arm64; }
step_kernel_6_1_s390x() { kernel_step 6-1-s390x; }
step_kernel_6_12_arm64() { kernel_step 6-12-arm64; }
step_kernel_6_12_s390x() { kernel_step 6-12-s390x; }
step_kernel_debug() { kernel slub debug; }
step_kernel_debug_newest() { kernel --linux newest slub debug; }

# Check that a kernel tree has the same header and files as this tree.
step_abi_copy()
{
	local tree

	tree=$("$kmt_top/vm/build" -q --tree)
	"$kmt_top/kernel-patches/apply" --check "$tree"
	# The check must detect a copy that was changed.
	mkdir -p "$work/drift"
	cp -r --parents "$tree"/{Makefile,mm,include,init,Documentation,MAINTAINERS} \
		"$work/drift"
	echo >>"$work/drift/$tree/include/uapi/linux/kmemtrace_abi.h"
	if "$kmt_top/kernel-patches/apply" --check "$work/drift/$tree"; then
		echo "a changed copy of the header was not noticed"
		return 1
	fi
}

# kernel-patches/apply on the sources of each version that --ci builds.
step_apply() { "$kmt_top/tests/vm/apply.sh" newest; }
step_apply_others() { "$kmt_top/tests/vm/apply.sh" 6.1 6.12 7.3; }

step_config_errors() { "$kmt_top/tests/vm/config-errors.sh"; }

step_checkpatch()
{
	local tree

	tree=$("$kmt_top/vm/build" -q --tree)
	series
	cd "$tree"
	# MAINTAINERS already names the folder of the files that later patches add.
	# The files of compat/ test the version of the kernel.
	perl scripts/checkpatch.pl -q --no-signoff --ignore \
		FILE_PATH_CHANGES,LINUX_VERSION_CODE,CONSTANT_COMPARISON \
		"$work"/series/*.patch
	# Stay in the kernel tree: in a git checkout checkpatch requires more Python
	# modules.
	find "$kmt_top/kernel-patches/core" -name '*.[ch]' -print0 |
		xargs -0 perl scripts/checkpatch.pl -q -f
	# Check the modules. The gap test breaks some rules on purpose.
	find "$kmt_top/vm" -name 'kmt_*.[ch]' -print0 |
		xargs -0 perl scripts/checkpatch.pl -q -f --ignore \
			INCLUDE_LINUX,KREALLOC_ARG_REUSE,UNNECESSARY_CASTS,LINUX_VERSION_CODE,CONSTANT_COMPARISON
}

step_sparse()
{
	local messages=$work/sparse objects file

	objects=$(cd "$kmt_top/kernel-patches/core" &&
		find mm -name '*.c' ! -name tags.c ! -name 'kunit_*.c' |
		sed 's/c$/o/' | sort | tr '\n' ' ')
	# Only the kernel with the test points compiles all of these files. The configuration
	# has neither allocation tags nor KUnit.
	# shellcheck disable=SC2046 # several words
	"$kmt_top/vm/build" -q --make "C=2 $objects" $(kernel_options 6-12) \
		>"$messages" 2>&1
	cat "$messages"
	for file in $objects; do
		grep -q "CHECK .*${file%.o}.c" "$messages"
	done
	! grep -E 'kmemtrace[^ ]*:[0-9]+:[0-9]+: (warning|error)' "$messages"
}

# Build kernels that no guest boots, with additional warnings: a 32-bit kernel with
# one processor and without modules, and the hooked files without kmemtrace. In the
# 32-bit kernel no object may refer to the functions of atomic64_t: other 32-bit
# architectures implement them with a spinlock, which the writer must not acquire.
step_small()
{
	local messages=$work/small ours hooked built file

	# This configuration includes neither tests nor allocation tags.
	ours=$(cd "$kmt_top/kernel-patches/core" &&
		find mm -name '*.c' ! -name test.c ! -name tags.c ! -name 'kunit_*.c' |
		sed 's/c$/o/' | sort | tr '\n' ' ')
	# Without the fragment cgroups this configuration would lack two of these files, and
	# a hooked one.
	# This configuration has neither NUMA, nor the other slab allocators, nor the RCU of
	# several processors, nor ORC, and without kmemtrace no relay.
	hooked=$(sed "/^#/d;/^\$/d;s,^,$kmt_top/kernel-patches/hooks/," \
		"$kmt_top/kernel-patches/hooks/series-6.1" |
		xargs sed -n 's:^+++ b/\([^ \t]*\)\.c\s*$:\1.o:p' | sort -u |
		grep -vE '^(mm/(slab|slob|mempolicy)|kernel/(relay|rcu/tree|module/.*)|.*/unwind_orc)\.o$' | tr '\n' ' ')
	built=$("$kmt_top/vm/build" -q --only "W=1 $ours lib/stackdepot.o kernel/relay.o" \
		slub small cgroups 2>"$messages")
	# Both unwinders use struct module, which a kernel without modules lacks.
	{
		"$kmt_top/vm/build" -q --only "$hooked" slub small off cgroups &&
		"$kmt_top/vm/build" -q --only "W=1 mm/kmemtrace/unwind.o" \
			slub nomodules &&
		"$kmt_top/vm/build" -q --only \
			"W=1 mm/kmemtrace/unwind.o arch/x86/kernel/unwind_orc.o" \
			slub orc nomodules
	} >>"$messages" 2>&1 || { tail -n 50 "$messages"; return 1; }
	cat "$messages"
	! grep -E ': (warning|error): ' "$messages"
	for file in $ours; do
		if nm -u "$built/$file" | grep atomic64; then
			echo "$file uses atomic64_t"
			return 1
		fi
	done
}

# Check that the kernel builds after each patch of the series.
step_series()
{
	local tree patch built

	series
	tree=$("$kmt_top/vm/build" -q --tree)
	# Copy the tree without other builds' objects. The objects of this build stay in
	# the cache.
	mkdir "$work/linux"
	(cd "$tree" && find . -mindepth 1 -maxdepth 1 ! -name 'kmt-*' -print0 |
		xargs -0 cp -r -t "$work/linux")
	"$kmt_top/kernel-patches/apply" --reverse "$work/linux"
	for patch in "$work"/series/*.patch; do
		# Work outside of any git repository, where git apply would resolve paths
		# differently.
		patch -p1 -s -F0 -d "$work/linux" -i "$patch"
		# The patches before the one that adds mm/kmemtrace depend on its option.
		if [ ! -e "$work/linux/mm/kmemtrace" ]; then
			echo "${patch##*/} builds with the next"
			continue
		fi
		built=$("$kmt_top/vm/build" -q --in "$work/linux" slub)
		echo "${patch##*/} builds: $(stat -c %s "$built/vmlinux") bytes"
	done
	"$kmt_top/kernel-patches/apply" --check "$work/linux"
}
