# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # those who source this have sourced lib.sh
# Packages of other suites and architectures, through a private configuration of apt
# that is derived from the machine's. Nothing else on the machine changes.

# Print the mirrors of Debian's archive that the machine's apt is configured with.
kmt_apt_mirrors()
{
	{
		sed -n 's/^ *URIs: *//p' /etc/apt/sources.list.d/*.sources \
			/etc/apt/sources.list 2>/dev/null
		sed -nE 's/^ *deb +(\[[^]]*\] +)?([^ ]+).*/\2/p' /etc/apt/sources.list \
			/etc/apt/sources.list.d/*.list 2>/dev/null
	} | tr ' ' '\n' | grep -E '/debian(-security)?/?$' | sort -u
}

# Print the codename of this release of Debian.
kmt_apt_release()
{
	(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
}

# kmt_apt FOLDER ARCH SUITES COMMAND...: run COMMAND of apt-get or apt-cache with
# the packages of the suites, as if no package were installed. Suites that cannot be
# reached are left out. The state is below FOLDER.
kmt_apt()
{
	local dir=$1 arch=$2 suites=$3 suite mirror keyring
	shift 3
	mkdir -p "$dir"/{lists/partial,archives/partial}
	: >>"$dir/status"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	for suite in $suites; do
		for mirror in $(kmt_apt_mirrors); do
			case $suite-$mirror in
			*-security-*security*|*-security/*) ;;
			*-security-*) continue ;;
			*-*security*) continue ;;
			esac
			echo "deb [signed-by=$keyring] $mirror $suite main"
		done
	done >"$dir/sources.list"
	local program=$1
	shift
	"$program" -q -o "Dir::Etc::sourcelist=$dir/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o "Dir::State=$dir" -o "Dir::State::lists=$dir/lists" \
		-o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir" \
		-o "Dir::Cache::archives=$dir/archives" -o Dir::Cache::pkgcache= \
		-o Dir::Cache::srcpkgcache= -o "APT::Architecture=$arch" \
		-o "APT::Architectures=$arch" -o APT::Sandbox::User= \
		-o Acquire::Languages=none -o APT::Install-Recommends=no "$@"
}
