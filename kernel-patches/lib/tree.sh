# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # apply shares variables
# Functions of apply that read a kernel tree and change it.
#
# A change is prepared in the folder $pending of the tree, and then moved into place
# by renames:
#   new/     the files to put into the tree
#   old/     the files of the tree that are replaced or removed
#   put      the names of all files in new/
#   gone     the names of the files to remove
#   created  those of put that the tree does not have
#   ready    exists while the renames are under way
# A change that ended before ready existed has changed nothing. With ready, old/ and
# created are sufficient to undo it.

pending=.kmemtrace-apply
preparing=

# tree_version TREE: print the version in the Makefile, such as 6.12, or nothing.
tree_version()
{
	sed -nE 's/^(VERSION|PATCHLEVEL) *= *([0-9]+)$/\2/p' "$1/Makefile" |
		head -n2 | paste -sd.
}

# open_tree TREE: fail unless TREE is a readable kernel tree. Set $tree and $version.
open_tree()
{
	tree=$1
	[ -d "$tree" ] || die "$tree is not a folder: name the top folder of the kernel's sources"
	if [ ! -r "$tree" ] || [ ! -x "$tree" ]; then
		die "cannot read the folder $tree: change its permissions, or run apply as its owner"
	fi
	if [ ! -e "$tree/Makefile" ] || [ ! -d "$tree/mm" ]; then
		die "$tree is not a kernel tree, because it lacks Makefile or mm/: name the top folder of the kernel's sources"
	fi
	[ -r "$tree/Makefile" ] ||
		die "cannot read $tree/Makefile: change its permissions, or run apply as its owner"
	version=$(tree_version "$tree")
	[ -n "$version" ] ||
		die "$tree is not a kernel tree, because its Makefile has no VERSION and PATCHLEVEL: name the top folder of the kernel's sources"
}

# lock_tree: let one apply at a time change the tree, and undo an unfinished change.
lock_tree()
{
	local lock

	exec {lock}<"$tree"
	# A file system without locks, or a machine without flock, is no reason to fail.
	flock -n -E 75 "$lock" 2>/dev/null || [ $? -ne 75 ] ||
		die "another apply is changing $tree: wait until it has ended"
	[ -d "$tree/$pending" ] || return 0
	if [ -e "$tree/$pending/ready" ]; then
		roll_back || die_unfinished
		echo "undid a change of $tree that had been interrupted"
	fi
	rm -rf "${tree:?}/$pending" || die_unfinished
}

# copy_files LIST FOLDER: copy those of the listed files that the tree has.
copy_files()
{
	local f dir

	mkdir -p "$2"
	while read -r f; do
		dir=$tree/$(dirname "$f")
		[ ! -d "$dir" ] || [ -x "$dir" ] ||
			die "cannot read the folder $dir: change its permissions, or run apply as its owner"
		[ ! -L "$tree/$f" ] ||
			die "$tree/$f is a symbolic link, and only regular files can be patched: replace it by a copy"
		[ -e "$tree/$f" ] || continue
		[ -r "$tree/$f" ] ||
			die "cannot read $tree/$f: change its permissions, or run apply as its owner"
		echo "$f"
	done <"$1" >"$work/present"
	# tar preserves modes and owners of the files, but not modes of the folders.
	tar -C "$tree" -cf - -T "$work/present" | tar -C "$2" -xpf -
}

# die_unfinished: end after a change that could be neither finished nor undone.
die_unfinished()
{
	printf 'apply: %s\n' "cannot undo the change of $tree: when the cause is removed, run apply again, which undoes the change first; the original files are in $tree/$pending/old" >&2
	exit 2
}

# Remove the folders of the listed files from the tree if they are empty.
remove_empty_folders()
{
	local dir

	sed 's,/[^/]*$,,' "$1" | sort -u | while read -r dir; do
		[ ! -d "$tree/$dir" ] || (cd "$tree" &&
			rmdir -p --ignore-fail-on-non-empty "$dir") || return
	done
}

# Restore the tree as it was before the pending change.
roll_back()
{
	local at=$tree/$pending f

	find "$at/old" -type f -printf '%P\n' >"$at/restore" || return
	while read -r f; do
		# mv refuses two names of one file: the file was not replaced yet.
		if [ "$at/old/$f" -ef "$tree/$f" ]; then
			rm -f "$at/old/$f" || return
		else
			mv -f "$at/old/$f" "$tree/$f" || return
		fi
	done <"$at/restore"
	while read -r f; do
		rm -f "$tree/$f" || return
	done <"$at/created"
	remove_empty_folders "$at/created" &&
		rm -f "$at/ready"
}

# keep_old: preserve each file that the pending change replaces or removes. A hard
# link preserves the file itself; a copy serves where links are refused.
keep_old()
{
	local at=$tree/$pending f

	mkdir "$at/old" && : >"$at/created" || return
	while read -r f; do
		if [ ! -e "$tree/$f" ]; then
			echo "$f" >>"$at/created" || return
			continue
		fi
		mkdir -p "$at/old/$(dirname "$f")" &&
			{ ln "$tree/$f" "$at/old/$f" 2>/dev/null ||
			cp -p "$tree/$f" "$at/old/$f"; } || return
	done < <(sort -u "$at/put" "$at/gone")
}

# prepare_change NEW GONE: write all that the change needs into the tree.
prepare_change()
{
	local at=$tree/$pending

	mkdir "$at" || return
	preparing=yes
	cp -a "$1" "$at/new" && cp "$2" "$at/gone" &&
		find "$at/new" -type f -printf '%P\n' >"$at/put" && keep_old
}

move_files()
{
	local at=$tree/$pending f

	while read -r f; do
		mkdir -p "$tree/$(dirname "$f")" && mv -f "$at/new/$f" "$tree/$f" ||
			return
	done <"$at/put"
	while read -r f; do
		rm -f "$tree/$f" || return
	done <"$at/gone"
	remove_empty_folders "$at/gone"
}

# Remove what prepare_change wrote if the renames have not begun.
discard_change()
{
	[ -z "$preparing" ] || rm -rf "${tree:?}/$pending"
	preparing=
}

# change_tree NEW GONE: put the files below the folder NEW into the tree and remove
# those that the list GONE names. On failure the tree is unchanged.
change_tree()
{
	local at=$tree/$pending

	if ! prepare_change "$1" "$2"; then
		die "cannot write to $tree: check its permissions and the free space; nothing was changed"
	fi
	# The renames take less than a second. A signal in between would leave a mixture.
	trap '' INT TERM HUP QUIT
	: >"$at/ready"
	preparing=
	if ! move_files; then
		roll_back || die_unfinished
		rm -rf "$at"
		die "cannot change the files in $tree: check its permissions; nothing was changed"
	fi
	rm -f "$at/ready" || die_unfinished
	rm -rf "$at"
}
