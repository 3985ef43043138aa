// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/name-tables.h"

/* The name for pid 0, which the kernel calls swapper/<cpu>. */
#define IDLE_TASK_NAME "idle"

/* Maximum number of addresses in a stack: four times the kernel's limit. */
#define MAX_STACK 128

/* Maximum length of a format in bytes; printk() has no room for longer text. */
#define MAX_FORMAT 4096

/* Maximum length of the name of a task or cache in bytes, because a report may
 * print a name in every line. The kernel's limit for a task is 15 or 63. */
#define MAX_NAME 1024

/* Maximum number of marks and stacks, to limit memory. A kernel has fewer. */
#define MAX_MARKS  (1u << 18)
#define MAX_STACKS (1u << 22)

/*
 * A name of a task, valid until a time. The entries of a task are sorted by
 * until.
 */
typedef struct {
	gint64 until;
	guint32 pid;
	guint32 name; /* offset in the text of the table */
} TaskName;

typedef struct {
	guint32 number;
	guint32 n;
	guint64 first; /* index of the first address in the array of all
			* addresses */
} Stack;

/* A table, and the defects found while reading it. */
typedef struct {
	char *text; /* content of the file; names point into it */
	gboolean is_present;
	guint64 n_bad;
	guint64 first_bad; /* line number of the first invalid line, from 1 */
} NameTable;

struct KmtInputTables {
	NameTable caches_table;
	NameTable tasks_table;
	NameTable marks_table;
	GPtrArray *marks; /* of KmtInputMarkKind, sorted by number */
	guint64 unnumbered_marks;
	NameTable stacks_table;
	KmtInputCache **caches;	  /* G_MAXUINT16 + 1 entries, indexed by number,
				     or NULL */
	guint n_duplicate_caches; /* caches with the number of another cache */
	GArray *tasks;		  /* of TaskName, sorted by pid and until */
	GArray *stacks;		  /* of Stack, sorted by number */
	GArray *addresses;	  /* of guint64, of all stacks */
	guint64 dropped;
	gboolean is_from_ftrace; /* tasks come from tracepoints and may be
				  * incomplete */
	guint64 unnumbered;
	guint64 n_without_stack;
	gint64 exact_after;
	GPtrArray *warnings;
};

gboolean kmt_input_capture_has_owners(const KmtInputCapture *capture)
{
	guint64 version = 0;

	kmt_input_capture_meta_number(capture, "abi_version", &version);
	return capture->record_size >= KMEMTRACE_EVENT_SIZE_V2 && version >= 2;
}

void kmt_input_record_owner(const guint8 *record, gboolean swapped,
			    KmtInputRecordOwner *owner)
{
	struct kmemtrace_event_v2 event;

	memcpy(&event, record, sizeof(event));
	owner->pid = swapped ? GUINT32_SWAP_LE_BE(event.pid) : event.pid;
	owner->cache = swapped ? GUINT16_SWAP_LE_BE(event.cache) : event.cache;
	owner->flags = swapped ? GUINT16_SWAP_LE_BE(event.flags) : event.flags;
	/* In a mark, this field is the size of the payload. */
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

/* ---- parsing ---- */

/*
 * Return the next word of *text, which ends with a space, and advance *text
 * behind the space. Return NULL if there is none.
 */
static char *next_word(char **text)
{
	char *word = *text;
	char *space = strchr(word, ' ');

	if (!space || space == word)
		return NULL;
	*space = '\0';
	*text = space + 1;
	return word;
}

static gboolean parse_number(char **text, guint64 max, guint64 *n)
{
	const char *word = next_word(text);

	return word && g_ascii_string_to_unsigned(word, 10, 0, max, n, NULL);
}

/* Parse a time; "-" means never. */
static gboolean parse_time(char **text, gint64 *time)
{
	const char *word = next_word(text);
	guint64 n = G_MAXINT64;

	if (!word ||
	    (strcmp(word, "-") != 0 &&
	     !g_ascii_string_to_unsigned(word, 10, 0, G_MAXINT64, &n, NULL)))
		return FALSE;
	*time = (gint64)n;
	return TRUE;
}

static int octal(const char *digits)
{
	int value = 0, i;

	for (i = 0; i < 3; i++) {
		if (digits[i] < '0' || digits[i] > '7')
			return -1;
		value = value * 8 + digits[i] - '0';
	}
	return value > 0 && value <= G_MAXUINT8 ? value : -1;
}

/* Replace \ooo by the byte, in place. Return FALSE if an escape is invalid. */
static gboolean unescape(char *name)
{
	char *to = name;

	for (; *name; name++) {
		int c;

		if (*name != '\\') {
			*to++ = *name;
			continue;
		}
		c = octal(name + 1);
		if (c < 0)
			return FALSE;
		*to++ = (char)c;
		name += 3;
	}
	*to = '\0';
	return TRUE;
}

/*
 * Return the name at the end of a line, after n_newer columns that a newer
 * version has added.
 */
static char *parse_name(char *text, guint n_newer)
{
	while (n_newer--)
		if (!next_word(&text))
			return NULL;
	return unescape(text) ? text : NULL;
}

/* Return the name of a task or cache; NULL if it is invalid or too long. */
static char *parse_short_name(char *text, guint n_newer)
{
	char *name = parse_name(text, n_newer);

	return name && strlen(name) <= MAX_NAME ? name : NULL;
}

static gboolean add_cache(KmtInputTables *tables, char *line, guint n_newer)
{
	KmtInputCache cache;
	guint64 number;

	if (!parse_number(&line, G_MAXUINT16, &number) || !number ||
	    !parse_number(&line, G_MAXUINT64, &cache.object_size) ||
	    !parse_number(&line, G_MAXUINT64, &cache.size) ||
	    !parse_time(&line, &cache.created) ||
	    !parse_time(&line, &cache.destroyed))
		return FALSE;
	cache.number = (guint)number;
	cache.name = parse_short_name(line, n_newer);
	if (!cache.name)
		return FALSE;
	if (tables->caches[number])
		tables->n_duplicate_caches++;
	else
		tables->caches[number] = g_memdup2(&cache, sizeof(cache));
	return TRUE;
}

static gboolean add_task(KmtInputTables *tables, char *line, guint n_newer)
{
	guint64 pid;
	gsize offset;
	char *name;
	TaskName task;

	if (!parse_number(&line, G_MAXUINT32, &pid) ||
	    !parse_time(&line, &task.until))
		return FALSE;
	task.pid = (guint32)pid;
	name = parse_short_name(line, n_newer);
	if (!name)
		return FALSE;
	offset = (gsize)(name - tables->tasks_table.text);
	if (offset > G_MAXUINT32)
		return FALSE;
	task.name = (guint32)offset;
	g_array_append_val(tables->tasks, task);
	return TRUE;
}

static gboolean is_mark_name(const char *name)
{
	const char *p = name;

	while (g_ascii_isalnum(*p) || *p == '_')
		p++;
	return p > name && !*p;
}

static gboolean are_mark_types(const char *types)
{
	return strlen(types) <= KMEMTRACE_MARK_ARGS &&
	       strspn(types, "bhiqBHIQcps") == strlen(types);
}

/* Return a word; "" for "-". */
static const char *parse_optional_word(char **text)
{
	const char *word = next_word(text);

	return g_strcmp0(word, "-") == 0 ? "" : word;
}

static gboolean add_mark(KmtInputTables *tables, char *line, guint n_newer)
{
	KmtInputMarkKind mark;
	guint64 number;

	if (!parse_number(&line, G_MAXUINT32, &number) || !number ||
	    !parse_time(&line, &mark.appeared) ||
	    !parse_time(&line, &mark.removed))
		return FALSE;
	mark.number = (guint32)number;
	mark.module = parse_optional_word(&line);
	mark.types = parse_optional_word(&line);
	mark.name = next_word(&line);
	if (!mark.module || !mark.types || !mark.name ||
	    !are_mark_types(mark.types) || !is_mark_name(mark.name) ||
	    tables->marks->len == MAX_MARKS)
		return FALSE;
	mark.format = parse_name(line, n_newer);
	if (!mark.format || strlen(mark.format) > MAX_FORMAT)
		return FALSE;
	g_ptr_array_add(tables->marks, g_memdup2(&mark, sizeof(mark)));
	return TRUE;
}

/*
 * Add the addresses of a stack: "addr,addr,...". Return FALSE if the list is
 * invalid or too long.
 */
static gboolean add_addresses(KmtInputTables *tables, char *text)
{
	guint i;

	for (i = 0; text && i < MAX_STACK; i++) {
		char *word = text;
		guint64 address;

		text = strchr(word, ',');
		if (text)
			*text++ = '\0';
		if (!g_ascii_string_to_unsigned(word, 16, 0, G_MAXUINT64,
						&address, NULL))
			return FALSE;
		g_array_append_val(tables->addresses, address);
	}
	return !text;
}

static gboolean add_stack(KmtInputTables *tables, char *line, guint n_newer)
{
	Stack stack = {.first = tables->addresses->len};
	guint64 number;

	if (!parse_number(&line, G_MAXUINT32, &number) || !number ||
	    tables->stacks->len == MAX_STACKS)
		return FALSE;
	while (n_newer--)
		if (!next_word(&line))
			return FALSE;
	if (!add_addresses(tables, line)) {
		g_array_set_size(tables->addresses, (guint)stack.first);
		return FALSE;
	}
	stack.number = (guint32)number;
	stack.n = (guint32)(tables->addresses->len - stack.first);
	g_array_append_val(tables->stacks, stack);
	return TRUE;
}

typedef struct {
	const char *name;
	guint n_columns; /* number of columns in this version */
	gboolean (*add)(KmtInputTables *tables, char *line, guint n_newer);
} TableFormat;

static const TableFormat caches_kind = {"caches", 6, add_cache};
static const TableFormat tasks_kind = {"tasks", 3, add_task};
static const TableFormat marks_kind = {"marks", 7, add_mark};
static const TableFormat stacks_kind = {"stacks", 2, add_stack};

/* Get the number of columns that a newer version has added. */
static gboolean count_newer(const TableFormat *kind, const char *columns,
			    guint *n_newer)
{
	guint n = 1;

	for (; *columns; columns++)
		n += *columns == ' ';
	*n_newer = n - kind->n_columns;
	return n >= kind->n_columns;
}

/* Parse a line "# key: value". Return FALSE if it is invalid. */
static gboolean parse_header_line(KmtInputTables *tables,
				  const TableFormat *kind, const char *line,
				  guint *n_newer)
{
	const char *colon = strstr(line, ": ");
	g_autofree char *key = NULL;
	guint64 n;

	if (!colon || line[1] != ' ')
		return FALSE;
	key = g_strndup(line + 2, (gsize)(colon - line - 2));
	if (strcmp(key, "kmemtrace") == 0)
		return strcmp(colon + 2, kind->name) == 0;
	if (strcmp(key, "columns") == 0)
		return count_newer(kind, colon + 2, n_newer);
	if (strcmp(key, "unnumbered") != 0 && strcmp(key, "dropped") != 0 &&
	    strcmp(key, "exact_after") != 0 && strcmp(key, "lost") != 0)
		return TRUE; /* key of a newer version */
	if (!g_ascii_string_to_unsigned(colon + 2, 10, 0, G_MAXINT64, &n, NULL))
		return FALSE;
	if (key[0] == 'u' && kind == &marks_kind)
		tables->unnumbered_marks = n;
	else if (key[0] == 'u')
		tables->unnumbered = n;
	else if (key[0] == 'd')
		tables->dropped = n;
	else if (key[0] == 'l')
		tables->n_without_stack = n;
	else
		tables->exact_after = (gint64)n;
	return TRUE;
}

static void bad_line(NameTable *table, guint64 number)
{
	if (!table->n_bad++)
		table->first_bad = number;
}

static void parse(KmtInputTables *tables, NameTable *table,
		  const TableFormat *kind, gsize length)
{
	char *line = table->text, *end = table->text + length;
	guint64 number = 0;
	guint n_newer = 0;

	while (line < end) {
		char *next = memchr(line, '\n', (gsize)(end - line));
		gboolean good;

		number++;
		/* A line without a newline is truncated and therefore invalid.
		 */
		if (!next) {
			bad_line(table, number);
			break;
		}
		*next = '\0';
		good = strlen(line) == (gsize)(next - line) &&
		       (line[0] == '#' ? parse_header_line(tables, kind, line,
							   &n_newer)
				       : kind->add(tables, line, n_newer));
		if (!good)
			bad_line(table, number);
		line = next + 1;
	}
}

static void warn(KmtInputTables *tables, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

static void warn(KmtInputTables *tables, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(tables->warnings, g_strdup_vprintf(format, args));
	va_end(args);
}

static void read_table(KmtInputTables *tables, const KmtInputCapture *capture,
		       NameTable *table, const TableFormat *kind)
{
	g_autofree char *path = kmt_input_capture_path(capture, kind->name);
	g_autofree char *name = NULL;
	g_autoptr(GError) error = NULL;
	gsize length;

	if (!path)
		return;
	name = kmt_input_capture_display_path(capture, path);
	if (!g_file_get_contents(path, &table->text, &length, &error)) {
		warn(tables, "cannot read %s: %s", name, error->message);
		return;
	}
	table->is_present = TRUE;
	parse(tables, table, kind, length);
	if (table->n_bad)
		warn(tables,
		     "%s: %" G_GUINT64_FORMAT " line%s no sense and %s "
		     "left out, the first of them line %" G_GUINT64_FORMAT,
		     name, table->n_bad,
		     table->n_bad == 1 ? " makes" : "s make",
		     table->n_bad == 1 ? "is" : "are", table->first_bad);
}

typedef gint (*CompareFunc)(gconstpointer a, gconstpointer b);

/* Move element i of a heap of n down until no child is larger. */
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

/* Heapsort in place: g_array_sort() would need as much memory again as a table
 * takes.  The sort is not stable, so different elements must compare as
 * different. */
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
 * Compare by pid and time; names with equal times keep the order of the table.
 */
static gint compare_tasks(gconstpointer a, gconstpointer b)
{
	const TaskName *ta = a, *tb = b;

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

/* Warn about numbers that occur twice. what describes the subject of a row. */
static void warn_of_duplicates(KmtInputTables *tables, NameTable *table,
			       guint twice, const char *name, const char *what)
{
	if (!twice)
		return;
	warn(tables, "%s: %u number%s of more than one %s; the first is taken",
	     name, twice, twice == 1 ? " is that" : "s are those", what);
	table->n_bad += twice;
}

/* Sort rows by number, and keep the first row of each number. A kernel writes
 * each number once. */
static void sort_rows(KmtInputTables *tables, NameTable *table, GPtrArray *rows,
		      GCompareFunc compare, const char *name, const char *what)
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
	const Stack *sa = a, *sb = b;

	if (sa->number != sb->number)
		return sa->number > sb->number ? 1 : -1;
	return (sa->first > sb->first) - (sa->first < sb->first);
}

/*
 * Read the table of stacks. A stack may occur twice if the table grew while it
 * was read; all copies are equal.
 */
static void read_stacks(KmtInputTables *tables, const KmtInputCapture *capture)
{
	if (!kmt_input_capture_has_stacks(capture))
		return;
	read_table(tables, capture, &tables->stacks_table, &stacks_kind);
	/* No stack points into the text. */
	g_clear_pointer(&tables->stacks_table.text, g_free);
	sort_in_place(tables->stacks, compare_stacks);
	if (tables->n_without_stack)
		warn(tables,
		     "%" G_GUINT64_FORMAT " records have no stack: the kernel "
		     "had no room for more, or found none",
		     tables->n_without_stack);
}

static gboolean is_from_ftrace(const KmtInputCapture *capture)
{
	g_autofree char *source =
		g_key_file_get_string(capture->meta, "capture", "source", NULL);

	return g_strcmp0(source, "ftrace") == 0;
}

KmtInputTables *kmt_input_tables_new(const KmtInputCapture *capture)
{
	KmtInputTables *tables = g_new0(KmtInputTables, 1);

	tables->caches = g_new0(KmtInputCache *, G_MAXUINT16 + 1);
	tables->tasks = g_array_new(FALSE, FALSE, sizeof(TaskName));
	tables->marks = g_ptr_array_new_with_free_func(g_free);
	tables->stacks = g_array_new(FALSE, FALSE, sizeof(Stack));
	tables->addresses = g_array_new(FALSE, FALSE, sizeof(guint64));
	tables->warnings = g_ptr_array_new_with_free_func(g_free);
	if (!kmt_input_capture_has_owners(capture))
		return tables;
	tables->is_from_ftrace = is_from_ftrace(capture);
	read_table(tables, capture, &tables->caches_table, &caches_kind);
	read_table(tables, capture, &tables->tasks_table, &tasks_kind);
	read_table(tables, capture, &tables->marks_table, &marks_kind);
	read_stacks(tables, capture);
	warn_of_duplicates(tables, &tables->caches_table,
			   tables->n_duplicate_caches, "caches", "cache");
	sort_rows(tables, &tables->marks_table, tables->marks, compare_marks,
		  "marks", "annotation");
	sort_in_place(tables->tasks, compare_tasks);
	if (tables->unnumbered)
		warn(tables,
		     "%" G_GUINT64_FORMAT
		     " caches have no number: the kernel had no more",
		     tables->unnumbered);
	if (tables->unnumbered_marks)
		warn(tables,
		     "%" G_GUINT64_FORMAT
		     " annotations could not be recorded: see the log of the "
		     "kernel",
		     tables->unnumbered_marks);
	if (tables->dropped)
		warn(tables,
		     "%" G_GUINT64_FORMAT " names of tasks are missing%s",
		     tables->dropped,
		     tables->is_from_ftrace
			     ? ""
			     : "; boot with a larger kmemtrace.tasks=");
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
	g_array_unref(tables->tasks);
	g_array_unref(tables->stacks);
	g_array_unref(tables->addresses);
	g_ptr_array_unref(tables->marks);
	g_ptr_array_unref(tables->warnings);
	g_free(tables->caches_table.text);
	g_free(tables->tasks_table.text);
	g_free(tables->marks_table.text);
	g_free(tables->stacks_table.text);
	g_free(tables);
}

/* ---- lookups ---- */

gboolean kmt_input_tables_has_caches(const KmtInputTables *tables)
{
	return tables->caches_table.is_present && !tables->caches_table.n_bad;
}

gboolean kmt_input_tables_has_tasks(const KmtInputTables *tables)
{
	return tables->tasks_table.is_present && !tables->tasks_table.n_bad;
}

gboolean kmt_input_tables_has_all_tasks(const KmtInputTables *tables)
{
	return kmt_input_tables_has_tasks(tables) && !tables->dropped &&
	       !tables->is_from_ftrace;
}

gboolean kmt_input_tables_has_stacks(const KmtInputTables *tables)
{
	return tables->stacks_table.is_present && !tables->stacks_table.n_bad;
}

char *kmt_input_tables_missing_reason(const KmtInputCapture *capture,
				      const char *name)
{
	g_autofree char *source =
		g_key_file_get_string(capture->meta, "capture", "source", NULL);
	gboolean is_tasks = g_str_equal(name, "tasks");
	gboolean has = TRUE;

	if (g_strcmp0(source, "import") == 0)
		has = is_tasks || g_str_equal(name, "caches");
	else if (g_strcmp0(source, "ftrace") == 0)
		/* Captures of earlier versions have no such table. */
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
	const Stack *stack;
	guint low = 0, high = tables->stacks->len;

	*n = 0;
	while (low < high) {
		guint middle = low + (high - low) / 2;

		stack = &g_array_index(tables->stacks, Stack, middle);
		if (stack->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == tables->stacks->len)
		return NULL;
	stack = &g_array_index(tables->stacks, Stack, low);
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

/* Return the index of the first entry at or after (pid, time). */
static guint find_task(const KmtInputTables *tables, guint32 pid, gint64 time)
{
	const TaskName wanted = {.pid = pid, .until = time};
	guint low = 0, high = tables->tasks->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare_tasks(
			    &g_array_index(tables->tasks, TaskName, middle),
			    &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *kmt_input_tables_task_name(const KmtInputTables *tables,
				       guint32 pid, gint64 time,
				       KmtInputNameConfidence *class)
{
	guint i = find_task(tables, pid, time);
	const TaskName *task = NULL;
	KmtInputNameConfidence ignored;

	if (!class)
		class = &ignored;
	*class = KMT_INPUT_NAME_CERTAIN;
	if (pid == 0)
		return IDLE_TASK_NAME;
	if (i < tables->tasks->len)
		task = &g_array_index(tables->tasks, TaskName, i);
	if ((!task || task->pid != pid) && i > 0)
		task = &g_array_index(tables->tasks, TaskName, i - 1);
	if (!task || task->pid != pid) {
		*class = KMT_INPUT_NAME_UNKNOWN;
		return NULL;
	}
	if (tables->dropped && time <= tables->exact_after)
		*class = KMT_INPUT_NAME_UNCERTAIN;
	return tables->tasks_table.text + task->name;
}

const GPtrArray *kmt_input_tables_warnings(const KmtInputTables *tables)
{
	return tables->warnings;
}
