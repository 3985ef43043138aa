// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of findings, and the text of their figures. */
#include "config.h"

#include "report/advice-private.h"

#include <string.h>
#include "report/columns.h"
#include "report/scale.h"

/* Page size in bytes of a capture that does not record one. */
#define DEFAULT_PAGE_SIZE 4096

static const struct {
	const char *name;
	const char *title;
} topics[KMT_ADVICE_N_TOPICS] = {
	[KMT_ADVICE_SIZE] = {"size", "size that kmalloc rounds up"},
	[KMT_ADVICE_CACHE] = {"cache", "half-empty cache"},
	[KMT_ADVICE_LARGE] = {"large", "large kmalloc"},
	[KMT_ADVICE_REMOTE] = {"remote", "freed on another CPU"},
	[KMT_ADVICE_SHORT] = {"short", "freed at once by the same task"},
	[KMT_ADVICE_TOGETHER] = {"together", "allocated and freed together"},
};

const char *kmt_advice_topic_name(KmtAdviceTopic topic)
{
	return topics[topic].name;
}

const char *kmt_advice_topic_title(KmtAdviceTopic topic)
{
	return topics[topic].title;
}

const char *kmt_certainty_name(KmtCertainty certainty)
{
	static const char *const names[] = {"low", "medium", "high"};

	return names[certainty];
}

static void clear_change(gpointer data)
{
	KmtAdviceChange *change = data;

	g_free(change->change);
	g_free(change->computation);
	g_free(change->cost);
}

static void free_finding(gpointer data)
{
	KmtAdvice *advice = data;

	g_free(advice->cache);
	g_free(advice->reason);
	g_array_unref(advice->changes);
	g_array_unref(advice->numbers);
	g_free(advice);
}

KmtAdviceList *kmt_advice_list_new(void)
{
	KmtAdviceList *list = g_new0(KmtAdviceList, 1);

	list->findings = g_ptr_array_new_with_free_func(free_finding);
	list->omitted = g_ptr_array_new_with_free_func(g_free);
	list->empty = g_ptr_array_new();
	return list;
}

void kmt_advice_free(KmtAdviceList *list)
{
	if (!list)
		return;
	g_ptr_array_unref(list->findings);
	g_ptr_array_unref(list->omitted);
	g_ptr_array_unref(list->empty);
	kmt_size_classes_free(list->sizes);
	g_free(list->model);
	g_free(list->warning);
	g_free(list);
}

KmtAdvice *kmt_advice_add(KmtAdviceContext *context, KmtAdviceTopic topic,
			  KmtKind kind)
{
	KmtAdvice *advice = g_new0(KmtAdvice, 1);

	advice->topic = topic;
	advice->kind = kind;
	advice->changes = g_array_new(FALSE, FALSE, sizeof(KmtAdviceChange));
	g_array_set_clear_func(advice->changes, clear_change);
	advice->numbers = g_array_new(FALSE, FALSE, sizeof(KmtAdviceNumber));
	g_ptr_array_add(context->list->findings, advice);
	return advice;
}

void kmt_advice_add_change(KmtAdvice *advice, const char *action, char *change,
			   gint64 live, gint64 peak, char *computation,
			   char *cost)
{
	const KmtAdviceChange entry = {action, change,	    live,
				       peak,   computation, cost};

	g_array_append_val(advice->changes, entry);
}

void kmt_advice_add_number(KmtAdvice *advice, const char *name, guint64 value)
{
	const KmtAdviceNumber entry = {name, value};

	g_array_append_val(advice->numbers, entry);
}

gint64 kmt_advice_saving(const KmtAdvice *advice)
{
	const KmtAdviceChange *change =
		&g_array_index(advice->changes, KmtAdviceChange, 0);

	return MAX(change->live, change->peak);
}

static gint compare(gconstpointer a, gconstpointer b)
{
	const KmtAdvice *x = *(KmtAdvice *const *)a;
	const KmtAdvice *y = *(KmtAdvice *const *)b;
	gint64 x_saving = kmt_advice_saving(x), y_saving = kmt_advice_saving(y);

	if (x_saving != y_saving)
		return x_saving > y_saving ? -1 : 1;
	if (x->topic != y->topic)
		return x->topic < y->topic ? -1 : 1;
	if (x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->sites[0].address != y->sites[0].address)
		return x->sites[0].address < y->sites[0].address ? -1 : 1;
	return g_strcmp0(x->cache, y->cache);
}

void kmt_advice_list_sort(KmtAdviceList *list)
{
	g_ptr_array_sort(list->findings, compare);
}

guint64 kmt_advice_scaled(const KmtAdviceContext *context, guint64 count)
{
	return kmt_aggregate_scaled(context->report->aggregate, count);
}

char *kmt_advice_exact(const KmtReport *report, guint64 number)
{
	return kmt_format_number(number, report->separators);
}

char *kmt_advice_figure(const KmtReport *report, guint64 number)
{
	g_autofree char *text = kmt_advice_exact(report, number);

	return g_strconcat(text, kmt_report_is_lossy(report) ? "~" : "",
			   kmt_report_is_sample(report) ? "*" : "", NULL);
}

gboolean kmt_advice_is_wrapper(const KmtAdviceContext *context,
			       const KmtSymSite *site)
{
	KmtSymbol symbol;

	return kmt_symbolizer_symbol(context->report->symbolizer, site,
				     &symbol) &&
	       kmt_sym_wrappers_matches(context->wrappers, symbol.name);
}

const char *kmt_advice_wrapper_doubt(const KmtAdviceContext *context,
				     const KmtSymSite *site)
{
	return kmt_advice_is_wrapper(context, site)
		       ? "the function allocates for different callers"
		       : NULL;
}

gboolean kmt_advice_is_for_dma(const KmtReport *report,
			       const KmtAdviceSite *site)
{
	g_autofree char *flags =
		kmt_symbolizer_gfp(report->symbolizer, site->any_flags);

	return strstr(flags, "DMA") != NULL;
}

guint64 kmt_advice_page_size(const KmtAdviceContext *context)
{
	guint64 size = DEFAULT_PAGE_SIZE;

	kmt_input_capture_meta_number(context->report->capture, "page_size",
				      &size);
	/* A power of two, as the computations require. */
	return size && !(size & (size - 1)) ? size : DEFAULT_PAGE_SIZE;
}

char *kmt_advice_site_name(const KmtReport *report, const KmtSymSite *site)
{
	char *name = kmt_symbolizer_format(report->symbolizer, site);

	return name ? name
		    : g_strdup_printf("0x%" G_GINT64_MODIFIER "x",
				      site->address);
}
