# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # apply shares variables
# Functions of apply that divide kmemtrace into the patches of a series, as files for
# 'git am' (--series) or as commits (--commit).
#
# A core file is stored once, complete. In the series it belongs to the patch whose
# line 'Core-files:' names the file or a folder above it. A list of files belongs to
# the first patch, and grows with the files that it names.
#
# $work/whole has all files of kmemtrace, $work/b those of the patches so far, and
# $work/a those before the last patch.
lists="mm/kmemtrace/Makefile mm/kmemtrace/feature_list.h"

# stage PATCH: add the files of a patch from $work/whole to $work/b.
stage()
{
	local p=$1 path paths

	read -ra paths < <(sed -n 's/^Core-files: //p;/^diff /q' "$p" | xargs)
	for path in "${paths[@]}"; do
		[ -e "$work/whole/$path" ] ||
			die "$(basename "$p") names $path, which does not exist"
		(cd "$work/whole" && cp -r --parents "$path" "$work/b")
	done
}

# cut_lists: leave out the lines about files that are not in $work/b yet: NAME.o and
# FEATURE(NAME) stand for NAME.c.
cut_lists()
{
	local list dir

	for list in $lists; do
		[ -e "$work/b/$list" ] || continue
		dir=$(dirname "$work/b/$list")
		find "$dir" -name '*.c' -printf '%f\n' |
			awk 'NR == FNR { sub(/\.c$/, ""); present[$0]; next }
			{
				keep = 1
				rest = $0
				while (match(rest, /[a-z][a-z_]*\.o|FEATURE\([a-z][a-z_]*\);/)) {
					name = substr(rest, RSTART, RLENGTH)
					gsub(/\.o$|^FEATURE\(|\);$/, "", name)
					if (!(name in present))
						keep = 0
					rest = substr(rest, RSTART + RLENGTH)
				}
				if (keep)
					print
			}' - "$work/whole/$list" > "$work/b/$list"
	done
}

# add_core_files PATCH: move on to the next patch of the series.
add_core_files()
{
	mkdir -p "$work/b"
	rm -rf "$work/a"
	cp -r "$work/b" "$work/a"
	stage "$1"
	cut_lists
}

# Fail unless the patches together have added all files.
check_all_added()
{
	diff -r "$work/whole" "$work/b" >&2 ||
		die "the patches for Linux $1 leave out or repeat the files above"
}

patch_subject()
{
	sed -n 's/^Subject: //p;/^---$/q' "$1"
}

# patch_body PATCH IDENT: print the message of a patch without its subject.
patch_body()
{
	sed '1,/^$/d;/^Core-files: /d;/^---$/,$d' "$1"
	echo "Signed-off-by: $2"
}

# sign_off FOLDER: set $ident to the name for the sign-off that git uses in FOLDER.
sign_off()
{
	ident=$(git -C "$1" var GIT_AUTHOR_IDENT 2>/dev/null | sed 's/>.*/>/') || ident=
	[ -n "$ident" ] ||
		die "git has no name for the sign-off: set user.name and user.email"
}

need_git()
{
	command -v git >/dev/null || die "git is missing: install the package git"
}

# --- Files ---------------------------------------------------------------------

# series_diff PATCH: print all that a patch of the series changes.
series_diff()
{
	sed -n '/^diff /,$p' "$1"
	add_core_files "$1"
	# git diff --no-index ends with 1 when it has found a difference.
	(cd "$work" && git diff --no-index --no-color --no-prefix --no-renames \
		a b) || [ $? -eq 1 ]
}

write_series()
{
	local out=$1 wanted=$2 n=0 p

	need_git
	read_series "$wanted"
	sign_off .
	mkdir -p "$out" || die "cannot make the folder $out"
	[ -z "$(find "$out" -mindepth 1 -print -quit)" ] ||
		die "$out is not empty: name a new folder"
	for p in "${series[@]}"; do
		n=$((n + 1))
		series_diff "$p" > "$work/diff"
		{
			echo "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001"
			echo "From: $ident"
			echo "Date: $(date -R)"
			echo "Subject: [PATCH $n/${#series[@]}] $(patch_subject "$p")"
			echo
			patch_body "$p" "$ident"
			echo "---"
			# In /, because git ignores other folders if it runs in a repository.
			(cd / && git apply --stat "$work/diff")
			echo
			cat "$work/diff"
			echo "-- "
			echo "kmemtrace"
		} > "$out/$(printf %04d "$n")-$(basename "$p")"
	done
	check_all_added "$wanted"
	echo "${#series[@]} patches for Linux $wanted in $out"
}

# --- Commits -------------------------------------------------------------------

# need_clean_git_tree: fail unless the tree is a git tree without local changes.
need_clean_git_tree()
{
	local prefix changes

	need_git
	prefix=$(git -C "$tree" rev-parse --show-prefix 2>"$work/git") ||
		die "--commit needs a git tree, and git refuses $tree ($(head -n1 "$work/git")): correct this, or use apply without --commit"
	[ -z "$prefix" ] ||
		die "$tree is not the top folder of its git tree: use apply without --commit"
	git -C "$tree" rev-parse -q --verify 'HEAD^{commit}' >/dev/null ||
		die "the git tree $tree has no commit yet: commit the kernel's sources first"
	changes=$(git -C "$tree" status --porcelain -uno) ||
		die "git cannot read the state of $tree"
	[ -z "$changes" ] ||
		die "$tree has local changes, so nothing was committed: commit them, or put them aside with 'git stash':"$'\n'"$(head -n 10 <<<"$changes")"
}

# index_files ROOT: read names of files, and print the lines of 'git update-index
# --index-info' that take these files from the folder ROOT.
index_files()
{
	local f mode blob

	while read -r f; do
		mode=$(git -C "$tree" ls-files -s -- "$f" | cut -d' ' -f1)
		blob=$(git -C "$tree" hash-object -w --path="$f" "$1/$f") || return
		printf '%s %s\t%s\n' "${mode:-100644}" "$blob" "$f"
	done
}

# commit_patch PATCH: make a commit on top of $commit, and set $commit to it.
commit_patch()
{
	local p=$1 new

	run_patch "$p" "$work/step" >/dev/null
	add_core_files "$p"
	{
		! has_diff "$p" || files_of "$p" | index_files "$work/step"
		(cd "$work/b" && find . -type f -printf '%P\n') |
			while read -r f; do
				cmp -s "$work/a/$f" "$work/b/$f" || echo "$f"
			done | index_files "$work/b"
	} >"$work/index-info" || return
	git -C "$tree" update-index --index-info <"$work/index-info" || return
	new=$(git -C "$tree" write-tree) || return
	commit=$({
		patch_subject "$p"
		echo
		patch_body "$p" "$ident"
	} | git -C "$tree" commit-tree -p "$commit" "$new")
}

# commit_series: commit the patches of $series, which fit the tree. The commits are
# made with an index of their own. Only the last command changes the tree.
commit_series()
{
	local p head commit

	head=$(git -C "$tree" rev-parse HEAD)
	commit=$head
	cp -a "$work/base" "$work/step"
	export GIT_INDEX_FILE=$work/index
	git -C "$tree" read-tree "$head"
	for p in "${series[@]}"; do
		commit_patch "$p" ||
			die "git cannot commit $(basename "$p") in $tree: check its permissions and the free space; nothing was changed"
	done
	unset GIT_INDEX_FILE
	check_all_added "$chosen"
	# git changes files and HEAD one after the other. A signal in between would leave
	# a mixture.
	trap '' INT TERM HUP QUIT
	if ! GIT_REFLOG_ACTION="apply --commit" git -C "$tree" reset -q --keep "$commit"; then
		compare_files
		[ $((n_same + n_differ)) != 0 ] ||
			[ -n "$(git -C "$tree" status --porcelain -uno)" ] ||
			die "git cannot move $tree to the new commits: 'git reset --keep $commit' repeats the attempt; nothing was changed"
		echo "apply: git could move only a part of $tree to the new commits: 'git reset --hard' and then 'apply --reverse' restore the tree" >&2
		exit 2
	fi
	echo "${#series[@]} commits for Linux $chosen are in $tree, from $(git -C "$tree" rev-parse --short "$head") to $(git -C "$tree" rev-parse --short "$commit")"
}
