// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/gfp-flags.h"

typedef struct {
	guint64 mask;
	const char *name;
} GfpName;

struct KmtSymGfp {
	guint major;
	guint first_minor; /* first minor version that has these flags */
	guint last_minor;  /* last minor version that has these flags */
	/* Flag names in the order in which kmt_sym_gfp_format() tries them. The
	 * last element has a NULL name. */
	const GfpName *names;
};

/*
 * The order is that of include/trace/events/mmflags.h, the bits are those of
 * include/linux/gfp_types.h. Bits that exist only in some configurations are
 * last; in other configurations they are never set.
 */
static const GfpName names_6_1[] = {
	{0x1c24ca, "GFP_TRANSHUGE"},
	{0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
	{0x100cca, "GFP_HIGHUSER_MOVABLE"},
	{0x100cc2, "GFP_HIGHUSER"},
	{0x100cc0, "GFP_USER"},
	{0x400cc0, "GFP_KERNEL_ACCOUNT"},
	{0xcc0, "GFP_KERNEL"},
	{0xc40, "GFP_NOFS"},
	{0xa20, "GFP_ATOMIC"},
	{0xc00, "GFP_NOIO"},
	{0x800, "GFP_NOWAIT"},
	{0x1, "GFP_DMA"},
	{0x2, "__GFP_HIGHMEM"},
	{0x4, "GFP_DMA32"},
	{0x20, "__GFP_HIGH"},
	{0x200, "__GFP_ATOMIC"},
	{0x40, "__GFP_IO"},
	{0x80, "__GFP_FS"},
	{0x2000, "__GFP_NOWARN"},
	{0x4000, "__GFP_RETRY_MAYFAIL"},
	{0x8000, "__GFP_NOFAIL"},
	{0x10000, "__GFP_NORETRY"},
	{0x40000, "__GFP_COMP"},
	{0x100, "__GFP_ZERO"},
	{0x80000, "__GFP_NOMEMALLOC"},
	{0x20000, "__GFP_MEMALLOC"},
	{0x100000, "__GFP_HARDWALL"},
	{0x200000, "__GFP_THISNODE"},
	{0x10, "__GFP_RECLAIMABLE"},
	{0x8, "__GFP_MOVABLE"},
	{0x400000, "__GFP_ACCOUNT"},
	{0x1000, "__GFP_WRITE"},
	{0xc00, "__GFP_RECLAIM"},
	{0x400, "__GFP_DIRECT_RECLAIM"},
	{0x800, "__GFP_KSWAPD_RECLAIM"},
	{0x800000, "__GFP_ZEROTAGS"},
	{0x1000000, "__GFP_SKIP_ZERO"},
	{0x4000000, "__GFP_SKIP_KASAN_POISON"},
	{0x2000000, "__GFP_SKIP_KASAN_UNPOISON"},
	{0x8000000, "__GFP_NOLOCKDEP"},
	{0, NULL},
};

static const KmtSymGfp tables[] = {
	{6, 1, 1, names_6_1},
};

/* Parse the version of a release: 6 and 1 for "6.1.0-9-amd64". */
static gboolean parse_release(const char *release, guint64 *major,
			      guint64 *minor)
{
	char *end;

	if (!g_ascii_isdigit(*release))
		return FALSE;
	*major = g_ascii_strtoull(release, &end, 10);
	if (*end != '.' || !g_ascii_isdigit(end[1]))
		return FALSE;
	*minor = g_ascii_strtoull(end + 1, NULL, 10);
	return TRUE;
}

const KmtSymGfp *kmt_sym_gfp_of_release(const char *release)
{
	guint64 major, minor;
	guint i;

	if (!release || !parse_release(release, &major, &minor))
		return NULL;
	for (i = 0; i < G_N_ELEMENTS(tables); i++)
		if (major == tables[i].major &&
		    minor >= tables[i].first_minor &&
		    minor <= tables[i].last_minor)
			return &tables[i];
	return NULL;
}

char *kmt_sym_gfp_format(const KmtSymGfp *gfp, guint64 flags)
{
	GString *text = g_string_new(NULL);
	const GfpName *name;

	if (!flags)
		g_string_append(text, "none");
	for (name = gfp ? gfp->names : NULL; name && name->name; name++) {
		if ((flags & name->mask) != name->mask)
			continue;
		g_string_append_printf(text, "%s%s", text->len ? "|" : "",
				       name->name);
		flags &= ~name->mask;
	}
	if (flags)
		g_string_append_printf(text, "%s0x%" G_GINT64_MODIFIER "x",
				       text->len ? "|" : "", flags);
	return g_string_free(text, FALSE);
}
