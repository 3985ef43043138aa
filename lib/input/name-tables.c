// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/name-tables-private.h"

/* Name of pid 0. The kernel has an idle task swapper/<cpu> for each CPU. */
#define IDLE_TASK_NAME "idle"

/* Cgroup of pid 0. The kernel keeps its idle tasks in the root cgroup. */
#define IDLE_TASK_CGROUP "/"

gboolean kmt_input_capture_has_owners(const KmtInputCapture *capture)
{
	return capture->record_size >= KMEMTRACE_EVENT_SIZE_V2 &&
	       capture->abi_version >= 2;
}

void kmt_input_record_owner(const guint8 *record, gboolean swapped,
			    KmtInputRecordOwner *owner)
{
	struct kmemtrace_event_v2 event;

	memcpy(&event, record, sizeof(event));
	owner->pid = swapped ? GUINT32_SWAP_LE_BE(event.pid) : event.pid;
	owner->cache = swapped ? GUINT16_SWAP_LE_BE(event.cache) : event.cache;
	owner->flags = swapped ? GUINT16_SWAP_LE_BE(event.flags) : event.flags;
	/* A mark has no cache: the same bytes contain the payload size. */
	if (event.v1.event_id == KMEMTRACE_EVENT_MARK ||
	    event.v1.event_id == KMEMTRACE_EVENT_MORE)
		owner->cache = KMEMTRACE_CACHE_NONE;
}

gboolean kmt_input_capture_has_stacks(const KmtInputCapture *capture)
{
	return kmt_input_capture_has_owners(capture) &&
	       capture->record_size >= KMEMTRACE_EVENT_SIZE_V2S;
}

guint32 kmt_input_record_stack(const guint8 *record, gboolean swapped)
{
	struct kmemtrace_event_v2s event;

	memcpy(&event, record, sizeof(event));
	return swapped ? GUINT32_SWAP_LE_BE(event.stack) : event.stack;
}

typedef gint (*CompareFunc)(gconstpointer a, gconstpointer b);

/*
 * Restore the heap order below element i of a heap with n elements: swap the
 * element with its larger child until no child is larger.
 */
static void sift_down(guint8 *base, gsize i, gsize n, gsize size,
		      CompareFunc compare)
{
	guint8 element[32];
	gsize child;

	g_assert(size <= sizeof(element));
	memcpy(element, base + i * size, size);
	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n &&
		    compare(base + child * size, base + (child + 1) * size) < 0)
			child++;
		if (compare(element, base + child * size) >= 0)
			break;
		memcpy(base + i * size, base + child * size, size);
	}
	memcpy(base + i * size, element, size);
}

/* Sort an array in place by heapsort. g_array_sort() would temporarily double
 * the memory of a table. The sort is not stable, so compare() must return 0
 * only for identical elements. */
static void sort_in_place(GArray *array, CompareFunc compare)
{
	gsize size = g_array_get_element_size(array), i;
	guint8 *base = (guint8 *)array->data;
	guint8 last[32];

	for (i = array->len / 2; i-- > 0;)
		sift_down(base, i, array->len, size, compare);
	for (i = array->len; i-- > 1;) {
		memcpy(last, base + i * size, size);
		memcpy(base + i * size, base, size);
		memcpy(base, last, size);
		sift_down(base, 0, i, size, compare);
	}
}

/*
 * Compare task names by pid, then by time. Names with the same pid and time
 * stay in the order of the table.
 */
static gint compare_tasks(gconstpointer a, gconstpointer b)
{
	const KmtInputTaskName *ta = a, *tb = b;

	if (ta->pid != tb->pid)
		return ta->pid > tb->pid ? 1 : -1;
	if (ta->until != tb->until)
		return ta->until > tb->until ? 1 : -1;
	return (ta->name > tb->name) - (ta->name < tb->name);
}

static gint compare_marks(gconstpointer a, gconstpointer b)
{
	const KmtInputMarkKind *ma = *(KmtInputMarkKind *const *)a;
	const KmtInputMarkKind *mb = *(KmtInputMarkKind *const *)b;

	return (ma->number > mb->number) - (ma->number < mb->number);
}

/*
 * Warn if rows have the number of an earlier row, and count these rows as
 * invalid. twice: count of such rows. name: name of the table. what: the
 * subject of a row, such as "cache".
 */
static void warn_of_duplicates(KmtInputTables *tables, KmtInputNameTable *table,
			       guint twice, const char *name, const char *what)
{
	if (!twice)
		return;
	kmt_input_tables_warn(
		tables,
		"%s: %u number%s more than one %s; the first one is used", name,
		twice, twice == 1 ? " stands for" : "s stand for", what);
	table->n_bad += twice;
}

/* Sort rows by number and remove all but the first row of each number. A kernel
 * writes each number only once, so a second row is an error. */
static void sort_rows(KmtInputTables *tables, KmtInputNameTable *table,
		      GPtrArray *rows, GCompareFunc compare, const char *name,
		      const char *what)
{
	guint i, kept = MIN(rows->len, 1);

	g_ptr_array_sort(rows, compare);
	for (i = 1; i < rows->len; i++) {
		gpointer row = g_steal_pointer(&rows->pdata[i]);

		if (compare(&rows->pdata[kept - 1], &row))
			rows->pdata[kept++] = row;
		else
			g_free(row);
	}
	warn_of_duplicates(tables, table, rows->len - kept, name, what);
	g_ptr_array_set_size(rows, (gint)kept);
}

static gint compare_stacks(gconstpointer a, gconstpointer b)
{
	const KmtInputStack *sa = a, *sb = b;

	if (sa->number != sb->number)
		return sa->number > sb->number ? 1 : -1;
	return (sa->first > sb->first) - (sa->first < sb->first);
}

/*
 * Read and sort the table of stacks. If the kernel's table grew during the
 * copy, the file may contain a stack twice. Both rows are then equal, so
 * duplicates are not an error.
 */
static void read_stacks(KmtInputTables *tables, const KmtInputCapture *capture)
{
	if (!kmt_input_capture_has_stacks(capture))
		return;
	kmt_input_table_read(tables, capture, &tables->stacks_table,
			     &kmt_input_stacks_format);
	/* Free the text, because no stack points into the text. */
	g_clear_pointer(&tables->stacks_table.text, g_free);
	sort_in_place(tables->stacks, compare_stacks);
	if (tables->n_without_stack)
		kmt_input_tables_warn(tables,
				      "%" G_GUINT64_FORMAT " records have no "
				      "stack: the kernel's table of stacks "
				      "was full, or the kernel found no stack",
				      tables->n_without_stack);
}

static void init_tasks(KmtInputTaskTable *tasks)
{
	tasks->names = g_array_new(FALSE, FALSE, sizeof(KmtInputTaskName));
}

static void clear_tasks(KmtInputTaskTable *tasks)
{
	g_array_unref(tasks->names);
	g_free(tasks->table.text);
}

/* Read and sort a table of the names or the cgroups of tasks. */
static void read_tasks(KmtInputTables *tables, const KmtInputCapture *capture,
		       KmtInputTaskTable *tasks,
		       const KmtInputTableFormat *format)
{
	kmt_input_table_read(tables, capture, &tasks->table, format);
	sort_in_place(tasks->names, compare_tasks);
}

static gboolean is_from(const KmtInputCapture *capture, const char *source)
{
	g_autofree char *value =
		g_key_file_get_string(capture->meta, "capture", "source", NULL);

	return g_strcmp0(value, source) == 0;
}

KmtInputTables *kmt_input_tables_new(const KmtInputCapture *capture)
{
	KmtInputTables *tables = g_new0(KmtInputTables, 1);

	tables->caches = g_new0(KmtInputCache *, G_MAXUINT16 + 1);
	init_tasks(&tables->tasks);
	init_tasks(&tables->cgroups);
	tables->marks = g_ptr_array_new_with_free_func(g_free);
	tables->stacks = g_array_new(FALSE, FALSE, sizeof(KmtInputStack));
	tables->addresses = g_array_new(FALSE, FALSE, sizeof(guint64));
	tables->warnings = g_ptr_array_new_with_free_func(g_free);
	if (!kmt_input_capture_has_owners(capture))
		return tables;
	tables->is_from_ftrace = is_from(capture, "ftrace");
	kmt_input_table_read(tables, capture, &tables->caches_table,
			     &kmt_input_caches_format);
	read_tasks(tables, capture, &tables->tasks, &kmt_input_tasks_format);
	read_tasks(tables, capture, &tables->cgroups,
		   &kmt_input_cgroups_format);
	kmt_input_table_read(tables, capture, &tables->marks_table,
			     &kmt_input_marks_format);
	read_stacks(tables, capture);
	warn_of_duplicates(tables, &tables->caches_table,
			   tables->n_duplicate_caches, "caches", "cache");
	sort_rows(tables, &tables->marks_table, tables->marks, compare_marks,
		  "marks", "annotation");
	if (tables->unnumbered)
		kmt_input_tables_warn(tables,
				      "%" G_GUINT64_FORMAT
				      " caches have no number: the "
				      "kernel has no more numbers",
				      tables->unnumbered);
	if (tables->unnumbered_marks)
		kmt_input_tables_warn(tables,
				      "%" G_GUINT64_FORMAT
				      " annotations could not be recorded: see "
				      "the log of the "
				      "kernel",
				      tables->unnumbered_marks);
	if (tables->tasks.dropped)
		kmt_input_tables_warn(
			tables,
			"%" G_GUINT64_FORMAT " names of tasks are missing%s",
			tables->tasks.dropped,
			tables->is_from_ftrace || is_from(capture, "bpf")
				? ""
				: "; boot with a larger kmemtrace.tasks=");
	if (tables->cgroups.dropped)
		kmt_input_tables_warn(tables,
				      "%" G_GUINT64_FORMAT
				      " cgroups of tasks are missing",
				      tables->cgroups.dropped);
	return tables;
}

void kmt_input_tables_free(KmtInputTables *tables)
{
	guint i;

	if (!tables)
		return;
	for (i = 0; i <= G_MAXUINT16; i++)
		g_free(tables->caches[i]);
	g_free(tables->caches);
	clear_tasks(&tables->tasks);
	clear_tasks(&tables->cgroups);
	g_array_unref(tables->stacks);
	g_array_unref(tables->addresses);
	g_ptr_array_unref(tables->marks);
	g_ptr_array_unref(tables->warnings);
	g_free(tables->caches_table.text);
	g_free(tables->marks_table.text);
	g_free(tables->stacks_table.text);
	g_free(tables);
}

gboolean kmt_input_tables_has_caches(const KmtInputTables *tables)
{
	return tables->caches_table.is_present && !tables->caches_table.n_bad;
}

gboolean kmt_input_tables_has_tasks(const KmtInputTables *tables)
{
	return tables->tasks.table.is_present && !tables->tasks.table.n_bad;
}

gboolean kmt_input_tables_has_cgroups(const KmtInputTables *tables)
{
	return tables->cgroups.table.is_present && !tables->cgroups.table.n_bad;
}

gboolean kmt_input_tables_has_all_tasks(const KmtInputTables *tables)
{
	return kmt_input_tables_has_tasks(tables) && !tables->tasks.dropped &&
	       !tables->is_from_ftrace;
}

gboolean kmt_input_tables_has_stacks(const KmtInputTables *tables)
{
	return tables->stacks_table.is_present && !tables->stacks_table.n_bad;
}

/*
 * The table of cgroups is optional. A recorder that writes this table also
 * writes the key cgroups.
 */
static char *cgroups_missing_reason(const KmtInputCapture *capture)
{
	g_autofree char *path = kmt_input_capture_path(capture, "cgroups");

	return g_strdup(path || g_key_file_has_key(capture->meta, "capture",
						   "cgroups", NULL)
				? "the file cgroups of the capture is missing "
				  "or damaged"
				: "the capture has no file cgroups");
}

char *kmt_input_tables_missing_reason(const KmtInputCapture *capture,
				      const char *name)
{
	g_autofree char *source =
		g_key_file_get_string(capture->meta, "capture", "source", NULL);
	gboolean is_tasks = g_str_equal(name, "tasks");
	gboolean has = TRUE;

	if (g_str_equal(name, "cgroups"))
		return cgroups_missing_reason(capture);
	if (g_strcmp0(source, "import") == 0 || g_strcmp0(source, "bpf") == 0)
		has = is_tasks || g_str_equal(name, "caches");
	else if (g_strcmp0(source, "ftrace") == 0)
		/* Captures of older versions have no task table. Newer captures
		 * contain the key task_names. */
		has = is_tasks && g_key_file_has_key(capture->meta, "capture",
						     "task_names", NULL);
	if (!has)
		return g_strdup_printf("a capture of the source %s has no file "
				       "%s",
				       source, name);
	return g_strdup_printf("the file %s of the capture is missing or "
			       "damaged",
			       name);
}

const guint64 *kmt_input_tables_stack(const KmtInputTables *tables,
				      guint32 number, guint *n)
{
	const KmtInputStack *stack;
	guint low = 0, high = tables->stacks->len;

	*n = 0;
	while (low < high) {
		guint middle = low + (high - low) / 2;

		stack = &g_array_index(tables->stacks, KmtInputStack, middle);
		if (stack->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == tables->stacks->len)
		return NULL;
	stack = &g_array_index(tables->stacks, KmtInputStack, low);
	if (stack->number != number)
		return NULL;
	*n = stack->n;
	return &g_array_index(tables->addresses, guint64, stack->first);
}

const KmtInputCache *kmt_input_tables_cache(const KmtInputTables *tables,
					    guint number)
{
	return number <= G_MAXUINT16 ? tables->caches[number] : NULL;
}

gboolean kmt_input_tables_has_marks(const KmtInputTables *tables)
{
	return tables->marks_table.is_present && !tables->marks_table.n_bad;
}

const KmtInputMarkKind *kmt_input_tables_mark_kind(const KmtInputTables *tables,
						   guint32 number)
{
	guint low = 0, high = tables->marks->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const KmtInputMarkKind *mark = tables->marks->pdata[middle];

		if (mark->number == number)
			return mark;
		if (mark->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Return the name that a task had at a time: the first name of the pid whose
 * validity ends at or after that time, or else the last name; NULL if the table
 * has no name of the pid. Narrow span, unless it is NULL, to the times of this
 * name.
 */
static const char *find_name(const KmtInputTaskTable *tasks, guint32 pid,
			     gint64 time, KmtInputNameSpan *span)
{
	const KmtInputTaskName wanted = {.pid = pid, .until = time};
	const KmtInputTaskName *names =
		(const KmtInputTaskName *)(const void *)tasks->names->data;
	const guint n = tasks->names->len;
	guint low = 0, high = n;
	gboolean has_earlier;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare_tasks(&names[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	has_earlier = low > 0 && names[low - 1].pid == pid;
	if (span && has_earlier)
		span->from = MAX(span->from, names[low - 1].until + 1);
	if (low < n && names[low].pid == pid) {
		if (span && low + 1 < n && names[low + 1].pid == pid)
			span->until = MIN(span->until, names[low].until);
		return tasks->table.text + names[low].name;
	}
	return has_earlier ? tasks->table.text + names[low - 1].name : NULL;
}

const char *kmt_input_tables_task_name(const KmtInputTables *tables,
				       guint32 pid, gint64 time,
				       KmtInputNameConfidence *class)
{
	const char *name = find_name(&tables->tasks, pid, time, NULL);
	KmtInputNameConfidence ignored;

	if (!class)
		class = &ignored;
	*class = KMT_INPUT_NAME_CERTAIN;
	if (pid == 0)
		return IDLE_TASK_NAME;
	if (!name)
		*class = KMT_INPUT_NAME_UNKNOWN;
	else if (tables->tasks.dropped &&
		 time <= (gint64)tables->tasks.exact_after)
		*class = KMT_INPUT_NAME_UNCERTAIN;
	return name;
}

const char *kmt_input_tables_lasting_task_name(const KmtInputTables *tables,
					       guint32 pid, gint64 time,
					       KmtInputNameSpan *span)
{
	return pid ? find_name(&tables->tasks, pid, time, span)
		   : IDLE_TASK_NAME;
}

const char *kmt_input_tables_lasting_cgroup(const KmtInputTables *tables,
					    guint32 pid, gint64 time,
					    KmtInputNameSpan *span)
{
	return pid ? find_name(&tables->cgroups, pid, time, span)
		   : IDLE_TASK_CGROUP;
}

const GPtrArray *kmt_input_tables_warnings(const KmtInputTables *tables)
{
	return tables->warnings;
}
