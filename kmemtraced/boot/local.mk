# SPDX-License-Identifier: GPL-2.0-or-later
# The recording of a boot. The directories of systemd, initramfs-tools and dracut are
# those of configure.
sbin_SCRIPTS += kmemtraced/boot/kmemtrace-boot
bootdir = $(pkglibexecdir)/boot
boot_SCRIPTS = kmemtraced/boot/start
systemunitdir = $(systemdsystemunitdir)
systemunit_DATA = kmemtraced/boot/kmemtrace-boot.service
initramfshooksdir = $(initramfstoolsdir)/hooks
initramfshooks_SCRIPTS = kmemtraced/boot/initramfs-tools/kmemtrace
initramfsscriptsdir = $(initramfstoolsdir)/scripts/init-top
dist_initramfsscripts_SCRIPTS = kmemtraced/boot/initramfs-tools/init-top/kmemtrace
dracutmoduledir = $(dracutmodulesdir)/00kmemtrace
dracutmodule_SCRIPTS = kmemtraced/boot/dracut/module-setup.sh
dist_dracutmodule_SCRIPTS = kmemtraced/boot/dracut/hook.sh

# The brackets hide the names from configure, which would replace them here.
KMT_BOOT_EDIT = $(AM_V_GEN)$(MKDIR_P) $(@D) && \
	sed -e 's,[@]sbindir[@],$(sbindir),g' \
		-e 's,[@]localstatedir[@],$(localstatedir),g' \
		-e 's,[@]pkglibexecdir[@],$(pkglibexecdir),g' \
		-e 's,[@]have_zstd[@],$(have_zstd),g' \
		-e 's,[@]VERSION[@],$(VERSION),g' <$(srcdir)/$@.in >$@.tmp && \
	mv $@.tmp $@
KMT_BOOT_FILES = kmemtraced/boot/kmemtrace-boot kmemtraced/boot/start \
	kmemtraced/boot/kmemtrace-boot.service \
	kmemtraced/boot/initramfs-tools/kmemtrace \
	kmemtraced/boot/dracut/module-setup.sh
kmemtraced/boot/kmemtrace-boot: kmemtraced/boot/kmemtrace-boot.in Makefile
	$(KMT_BOOT_EDIT)
kmemtraced/boot/start: kmemtraced/boot/start.in Makefile
	$(KMT_BOOT_EDIT)
kmemtraced/boot/kmemtrace-boot.service: kmemtraced/boot/kmemtrace-boot.service.in Makefile
	$(KMT_BOOT_EDIT)
kmemtraced/boot/initramfs-tools/kmemtrace: kmemtraced/boot/initramfs-tools/kmemtrace.in Makefile
	$(KMT_BOOT_EDIT)
kmemtraced/boot/dracut/module-setup.sh: kmemtraced/boot/dracut/module-setup.sh.in Makefile
	$(KMT_BOOT_EDIT)
CLEANFILES += $(KMT_BOOT_FILES)
EXTRA_DIST += \
	kmemtraced/boot/README.md \
	kmemtraced/boot/dracut/module-setup.sh.in \
	kmemtraced/boot/initramfs-tools/kmemtrace.in \
	kmemtraced/boot/kmemtrace-boot.in \
	kmemtraced/boot/kmemtrace-boot.service.in \
	kmemtraced/boot/start.in
