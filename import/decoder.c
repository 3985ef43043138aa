// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <event-parse.h>

#include "import/decoder.h"
#include "import/stack-queue.h"

/* Upper bound for the length of a cache's name, with its NUL. */
#define NAME_BYTES 256

typedef struct {
	KmtTracepoint *point; /* owned; NULL: an event of an old kernel without
			       * a page frame number */
	guint index;	      /* index in kmt_tracepoint_names */
	KmtTracepointSlot cache; /* u32 with the location of the cache's name:
				  * the offset in the low 16 bits, the length in
				  * the high ones; size 0: no name */
} KnownEvent;

/*
 * Format of ftrace's own event kernel_stack: int size, unsigned long caller[].
 */
typedef struct {
	guint64 id;
	KmtTracepointSlot size;
	guint offset, word; /* offset of caller, size of an element; in bytes */
} StackFormat;

struct KmtImportDecoder {
	KmtTracepointCommonFields common;
	StackFormat stack;
	KmtImportStackQueue *queue; /* NULL until
				     * kmt_import_decoder_expect_stacks() */
	GArray *addresses; /* guint64: addresses of the current stack */
	GPtrArray *by_id;  /* KnownEvent *, or NULL; index: event ID */
};

static void known_free(gpointer data)
{
	KnownEvent *known = data;

	if (!known)
		return;
	g_free(known->point);
	g_free(known);
}

/* Register a tracepoint and take ownership of point, which may be NULL. */
static KnownEvent *insert_known(KmtImportDecoder *decoder, guint index,
				const struct tep_event *event,
				KmtTracepoint *point)
{
	KnownEvent *known = g_new0(KnownEvent, 1);

	known->point = point;
	known->index = index;
	if ((guint)event->id >= decoder->by_id->len)
		g_ptr_array_set_size(decoder->by_id, event->id + 1);
	known_free(decoder->by_id->pdata[event->id]);
	decoder->by_id->pdata[event->id] = known;
	return known;
}

static gboolean has_struct_page_field(guint index, struct tep_event *event)
{
	return kmt_tracepoint_names[index].type_id == KMEMTRACE_TYPE_PAGES &&
	       !tep_find_field(event, "pfn") &&
	       tep_find_field(event, KMT_IMPORT_PAGE_FIELD);
}

static gboolean add_tracepoint(KmtImportDecoder *decoder, guint index,
			       struct tep_event *event, guint page_bytes,
			       guint cpus, GError **error)
{
	const struct tep_format_field *cache = tep_find_field(event, "name");
	KnownEvent *known;
	KmtTracepoint *point;

	if (has_struct_page_field(index, event)) {
		insert_known(decoder, index, event, NULL);
		return TRUE;
	}
	point = kmt_tracepoint_new(&kmt_tracepoint_names[index], event,
				   page_bytes, cpus, &decoder->common, error);
	if (!point)
		return FALSE;
	known = insert_known(decoder, index, event, point);
	if (cache && (cache->flags & TEP_FIELD_IS_DYNAMIC) &&
	    cache->size == 4 && cache->offset >= 0) {
		known->cache = (KmtTracepointSlot){(guint16)cache->offset, 4};
		point->min_bytes =
			MAX(point->min_bytes, (guint)cache->offset + 4);
	}
	return TRUE;
}

/*
 * Defaults for a file that lacks the format of kernel_stack. ftrace's own
 * events have fixed IDs, and the fields of kernel_stack have been the same
 * since Linux 3.3.
 */
#define STACK_ID     4
#define STACK_SIZE   8 /* offset of size, behind the common fields */
#define STACK_CALLER 12

static void find_stack_format(StackFormat *stack, struct tep_handle *formats)
{
	struct tep_event *event =
		tep_find_event_by_name(formats, "ftrace", "kernel_stack");
	const struct tep_format_field *size =
		event ? tep_find_field(event, "size") : NULL;
	const struct tep_format_field *caller =
		event ? tep_find_field(event, "caller") : NULL;
	guint word = tep_get_long_size(formats) == 4 ? 4 : 8;

	*stack =
		(StackFormat){.id = STACK_ID,
			      .size = {STACK_SIZE, 4},
			      .offset = (STACK_CALLER + word - 1) / word * word,
			      .word = word};
	if (!size || !caller || size->size != 4 || size->offset < 0 ||
	    caller->offset < 0 || caller->offset > G_MAXINT16 ||
	    size->offset > G_MAXINT16 || event->id < 0)
		return;
	stack->id = (guint64)event->id;
	stack->size.offset = (guint16)size->offset;
	stack->offset = (guint)caller->offset;
}

gboolean kmt_import_decoder_add_format(gpointer formats, const char *system,
				       const char *name, const char *text,
				       GError **error)
{
	return kmt_tracepoint_formats_add_known(formats, system, name, text,
						error);
}

KmtImportDecoder *kmt_import_decoder_new(struct tep_handle *formats,
					 guint page_bytes, guint cpus,
					 GError **error)
{
	g_autoptr(KmtImportDecoder) decoder = g_new0(KmtImportDecoder, 1);

	decoder->by_id = g_ptr_array_new_with_free_func(known_free);
	decoder->addresses = g_array_new(FALSE, FALSE, sizeof(guint64));
	find_stack_format(&decoder->stack, formats);
	for (guint i = 0; i < kmt_tracepoint_n_names; i++) {
		const KmtTracepointName *name = &kmt_tracepoint_names[i];
		struct tep_event *event = tep_find_event_by_name(
			formats, name->system, name->name);

		if (event && event->id >= 0 && event->id <= G_MAXUINT16 &&
		    !add_tracepoint(decoder, i, event, page_bytes, cpus, error))
			return NULL;
	}
	return g_steal_pointer(&decoder);
}

void kmt_import_decoder_free(KmtImportDecoder *decoder)
{
	g_ptr_array_unref(decoder->by_id);
	g_array_unref(decoder->addresses);
	kmt_import_stack_queue_free(decoder->queue);
	g_free(decoder);
}

/*
 * Copy the name of the event's cache to name, which has NAME_BYTES. Returns
 * name, or NULL if the event has no valid name.
 */
static const char *cache_name(const KnownEvent *known, const guint8 *data,
			      gsize n_bytes, char *name)
{
	guint32 location =
		(guint32)kmt_tracepoint_slot_load(data, known->cache);
	gsize offset = location & G_MAXUINT16;
	gsize length = location >> 16;

	if (known->cache.size == 0 || length == 0 || length >= NAME_BYTES ||
	    offset > n_bytes || length > n_bytes - offset)
		return NULL;
	memcpy(name, data + offset, length);
	name[length] = '\0';
	return *name ? name : NULL;
}

static gboolean fail_damaged(const KnownEvent *known, gsize n_bytes,
			     GError **error)
{
	g_set_error(error, KMT_IMPORT_ERROR, KMT_IMPORT_ERROR_INPUT,
		    "it is damaged: an event of %s has %" G_GSIZE_FORMAT
		    " bytes, but its format requires %u: record again",
		    known ? known->point->name : "some tracepoint", n_bytes,
		    known ? known->point->min_bytes : 2);
	return FALSE;
}

static const KnownEvent *find_known(const KmtImportDecoder *decoder, guint64 id)
{
	return id < decoder->by_id->len ? decoder->by_id->pdata[id] : NULL;
}

const char *kmt_import_decoder_name(const KmtImportDecoder *decoder, guint64 id)
{
	const KnownEvent *known = find_known(decoder, id);

	return known ? kmt_tracepoint_names[known->index].name : NULL;
}

typedef enum {
	DECODED_NO_RECORD, /* no record; the event was counted */
	DECODED_EVENT,
	DECODED_DAMAGE, /* *error is set */
} Decoded;

gboolean kmt_import_decoder_is_complete(gconstpointer user, const guint8 *data,
					gsize n_bytes)
{
	const KmtImportDecoder *decoder = user;
	const KnownEvent *known;

	if (n_bytes < decoder->common.bytes)
		return FALSE;
	known = find_known(
		decoder, kmt_tracepoint_slot_load(data, decoder->common.type));
	return !known || !known->point || n_bytes >= known->point->min_bytes;
}

/*
 * Decode one event. name has NAME_BYTES and receives the name of the event's
 * cache; event->cache points to name or is NULL.
 */
static Decoded decode(const KmtImportDecoder *decoder, KmtImport *import,
		      const guint8 *data, gsize n_bytes, KmtImportEvent *event,
		      gint64 time, char *name, GError **error)
{
	const KmtTracepointCommonFields *common = &decoder->common;
	const KnownEvent *known;

	if (n_bytes < common->bytes) {
		fail_damaged(NULL, n_bytes, error);
		return DECODED_DAMAGE;
	}
	event->common_flags =
		(guint8)kmt_tracepoint_slot_load(data, common->flags);
	known = find_known(decoder,
			   kmt_tracepoint_slot_load(data, common->type));
	if (!known) {
		kmt_import_count_other(import);
		return DECODED_NO_RECORD;
	}
	if (!known->point) {
		kmt_import_count_unusable(import, known->index,
					  KMT_IMPORT_WHY_PAGE_FIELD);
		return DECODED_NO_RECORD;
	}
	if (n_bytes < known->point->min_bytes) {
		fail_damaged(known, n_bytes, error);
		return DECODED_DAMAGE;
	}
	event->point = known->index;
	if (!kmt_tracepoint_convert(known->point, data, time, &event->record)) {
		kmt_import_count_no_memory(import, known->index);
		return DECODED_NO_RECORD;
	}
	event->pid = (guint32)kmt_tracepoint_slot_load(data, common->pid);
	event->cache = cache_name(known, data, n_bytes, name);
	return DECODED_EVENT;
}

gboolean kmt_import_decoder_add_sample(KmtImportDecoder *decoder,
				       KmtImport *import, guint cpu,
				       gint64 time, const guint8 *data,
				       gsize n_bytes,
				       const KmtImportDecoderStack *stack,
				       GError **error)
{
	KmtImportEvent event = {.cpu = cpu};
	char name[NAME_BYTES];
	Decoded decoded = decode(decoder, import, data, n_bytes, &event, time,
				 name, error);

	if (decoded != DECODED_EVENT)
		return decoded == DECODED_NO_RECORD;
	if (stack) {
		event.stack = stack->addresses;
		event.n_stack = kmt_import_callers_apply(
			stack->callers, &event.record, &event.stack, stack->n);
	}
	return kmt_import_add(import, &event, error);
}

/*
 * Queue the stack of an event kernel_stack. If the event's field "size" states
 * more addresses than the data contain, the function uses the addresses in the
 * data.
 */
static gboolean queue_stack(KmtImportDecoder *decoder, KmtImport *import,
			    guint cpu, const guint8 *data, gsize n_bytes,
			    GError **error)
{
	const StackFormat *stack = &decoder->stack;
	guint8 flags =
		(guint8)kmt_tracepoint_slot_load(data, decoder->common.flags);
	KmtTracepointSlot word = {0, (guint16)stack->word};
	guint64 n = 0;

	if (n_bytes >= (gsize)stack->size.offset + stack->size.size &&
	    n_bytes > stack->offset)
		n = MIN(kmt_tracepoint_slot_load(data, stack->size),
			(n_bytes - stack->offset) / stack->word);
	g_array_set_size(decoder->addresses, 0);
	for (guint64 i = 0; i < n; i++) {
		guint64 address = kmt_tracepoint_slot_load(
			data + stack->offset + i * stack->word, word);

		/* Old kernels terminate a stack with -1. */
		if (address == G_MAXUINT64)
			break;
		g_array_append_val(decoder->addresses, address);
	}
	kmt_import_set_stacks(import);
	return kmt_import_stack_queue_stack(
		decoder->queue, cpu, flags,
		(const guint64 *)(gpointer)decoder->addresses->data,
		decoder->addresses->len, error);
}

void kmt_import_decoder_expect_stacks(KmtImportDecoder *decoder,
				      KmtImport *import,
				      KmtImportCallers *callers)
{
	if (!decoder->queue)
		decoder->queue = kmt_import_stack_queue_new(import, callers);
}

gboolean kmt_import_decoder_add_event(KmtImportDecoder *decoder,
				      KmtImport *import, guint cpu, gint64 time,
				      const guint8 *data, gsize n_bytes,
				      GError **error)
{
	KmtImportEvent event = {.cpu = cpu};
	char name[NAME_BYTES];
	Decoded decoded;

	if (!decoder->queue)
		return kmt_import_decoder_add_sample(
			decoder, import, cpu, time, data, n_bytes, NULL, error);
	if (n_bytes >= decoder->common.bytes &&
	    kmt_tracepoint_slot_load(data, decoder->common.type) ==
		    decoder->stack.id)
		return queue_stack(decoder, import, cpu, data, n_bytes, error);
	decoded = decode(decoder, import, data, n_bytes, &event, time, name,
			 error);
	return decoded != DECODED_DAMAGE &&
	       kmt_import_stack_queue_event(decoder->queue, &event,
					    decoded == DECODED_EVENT, error);
}

gboolean kmt_import_decoder_flush(KmtImportDecoder *decoder, GError **error)
{
	return !decoder->queue ||
	       kmt_import_stack_queue_flush(decoder->queue, error);
}
