# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # apply shares variables
# Functions of apply that find out which series fits a tree or is in it. They apply
# the patches to copies, because a patch may need an earlier patch of its series.

# Print the kernel versions that have a series, oldest first.
supported()
{
	find "$hooks" -name 'series-*' -printf '%f\n' | sed 's/^series-//' | sort -V
}

# Print the versions that have a series: the tree's first, then by distance from it.
# The newest comes first for a tree without a version. Linux counts about 20 minor
# versions before the next major version.
by_distance()
{
	supported | awk -F. -v of="$version" '
		function place(v, n) { split(v, n, "."); return n[1] * 20 + n[2] }
		{ d = place($0) - place(of); print (d < 0 ? -d : d), place($0), $0 }' |
		sort -k1,1n -k2,2rn | cut -d' ' -f3
}

# patches VERSION: print the paths of a version's patches, in their order.
patches()
{
	sed "s/ *#.*//;/^\$/d;s,^,$hooks/," "$hooks/series-$1"
}

# read_series VERSION: set $series to the patches for a version.
read_series()
{
	local p

	[ -f "$hooks/series-$1" ] ||
		die "no hooks for Linux $1; there are hooks for: $(supported | xargs)"
	mapfile -t series < <(patches "$1")
	for p in "${series[@]}"; do
		[ -r "$p" ] || die "cannot read the patch $p, which $hooks/series-$1 names"
	done
}

# A patch may consist of core files alone.
has_diff()
{
	grep -q '^diff ' "$1"
}

# files_of PATCH...: print the files that the patches change.
files_of()
{
	sed -nE 's,^(---|\+\+\+) [ab]/([^\t]*).*,\2,p' "$@" | sort -u
}

# Copy the files that any series changes to $work/base.
copy_affected()
{
	local v

	for v in $(supported); do
		read_series "$v"
		files_of "${series[@]}"
	done | sort -u >"$work/affected"
	copy_files "$work/affected" "$work/base"
}

# missing_files PATCH FOLDER: print a failure for each file that FOLDER lacks, as
# run_patch does. A file that the patch creates may be absent.
missing_files()
{
	awk -v name="${1##*/}" -v folder="$2" -v OFS='\t' '
		/^--- / { exists = $2 != "/dev/null" }
		/^\+\+\+ / { file = $2; sub(/^b\//, "", file); n = 0
			path = folder "/" file
			absent = exists && (getline line <path) < 0
			close(path) }
		/^@@ / && absent { print "missing", name, file, ++n, 0, 0 }' "$1"
}

# run_patch PATCH FOLDER [OPTION]...: apply a patch to the files in FOLDER, and print
# a line for each hunk that did not fit or was shifted: the kind (fail, missing,
# offset), the patch, the file, the number of the hunk, the line, the offset.
run_patch()
{
	local p=$1 folder=$2 messages status=0
	shift 2

	has_diff "$p" || return 0
	missing_files "$p" "$folder"
	messages=$(patch -p1 -f -F0 -r - --no-backup-if-mismatch "$@" \
		-d "$folder" -i "$p" 2>&1) || status=$?
	if [ "$status" -gt 1 ]; then
		printf '%s\n' "$messages" >&2
		die "patch cannot apply $p"
	fi
	printf '%s\n' "$messages" | awk -v name="${p##*/}" -v OFS='\t' '
		/^(patching|checking) file / { file = $3 }
		/^Hunk #[0-9]+ FAILED at / {
			print "fail", name, file, substr($2, 2), $5 + 0, 0 }
		/^Hunk #[0-9]+ succeeded at [0-9]+ \(offset / {
			print "offset", name, file, substr($2, 2), $5 + 0, $7 + 0 }'
}

# try_series VERSION FROM TO: apply a series to a copy of the folder FROM, the folder
# TO. Write the lines of run_patch to TO.result. Succeed if all hunks fit.
try_series()
{
	local p

	rm -rf "$3"
	cp -a "$2" "$3"
	read_series "$1"
	for p in "${series[@]}"; do
		run_patch "$p" "$3" || exit
	done >"$3.result"
	[ "$(count_failed "$3.result")" = 0 ]
}

count_failed()
{
	grep -cE '^(fail|missing)' "$1" || true
}

# count_hunks VERSION: print the number of hunks of a series.
count_hunks()
{
	read_series "$1"
	cat "${series[@]}" | grep -c '^@@ '
}

# choose_series FOLDER: set $chosen to the nearest series that fits the files in
# FOLDER; the patched files are in $work/fit-VERSION. If none fits, set $chosen to the
# series with the fewest failing hunks and fail.
choose_series()
{
	local v n least=

	for v in $(by_distance); do
		if try_series "$v" "$1" "$work/fit-$v"; then
			chosen=$v
			return 0
		fi
		n=$(count_failed "$work/fit-$v.result")
		if [ -z "$least" ] || [ "$n" -lt "$least" ]; then
			least=$n
			chosen=$v
		fi
	done
	return 1
}

# show_offsets RESULT: print a line for each hunk that was shifted.
show_offsets()
{
	awk -F'\t' '$1 == "offset" {
		printf "offset: %s: hunk %d of %s fits at line %d, shifted by %d line%s\n",
			$3, $4, $2, $5, $6, $6 == 1 || $6 == -1 ? "" : "s" }' "$1"
}

# show_failures RESULT: print a line for each hunk that does not fit.
show_failures()
{
	awk -F'\t' '
		$1 == "missing" && $4 == 1 { printf "%s: there is no file %s\n", $2, $3 }
		$1 == "fail" { printf "%s: hunk %d does not fit %s at line %d\n",
			$2, $4, $3, $5 }' "$1"
}

first_failure()
{
	show_failures "$1" | sed -n 1p
}

# undo_series VERSION: undo the patches of a series in a copy of the tree's files,
# $work/undo-VERSION, from the last to the first. Write the names of the patches
# that could be undone to $work/undo-VERSION.applied, and others to .absent.
undo_series()
{
	local to=$work/undo-$1 i p

	rm -rf "$to"
	cp -a "$work/base" "$to"
	: >"$to.applied"
	: >"$to.absent"
	read_series "$1"
	for ((i = ${#series[@]} - 1; i >= 0; i--)); do
		p=${series[i]}
		has_diff "$p" || continue
		run_patch "$p" "$to" -R --dry-run >"$work/messages"
		if [ "$(count_failed "$work/messages")" = 0 ]; then
			run_patch "$p" "$to" -R >/dev/null
			echo "${p##*/}" >>"$to.applied"
		else
			echo "${p##*/}" >>"$to.absent"
		fi
	done
}

# find_applied: set $chosen to the series of which the tree has the most patches, and
# $n_applied and $n_absent to how many it has and lacks.
find_applied()
{
	local v n

	n_applied=-1
	for v in $(by_distance); do
		undo_series "$v"
		n=$(wc -l <"$work/undo-$v.applied")
		[ "$n" -gt "$n_applied" ] || continue
		chosen=$v
		n_applied=$n
		n_absent=$(wc -l <"$work/undo-$v.absent")
		[ "$n_absent" -gt 0 ] || break
	done
}
