// SPDX-License-Identifier: GPL-2.0-or-later
/* Parser for the lines of the name tables. */
#include "config.h"

#include <glib/gstdio.h>
#include <string.h>

#include "lib/input/name-tables-private.h"
#include "lib/input/tag-table.h"

/* Maximum number of addresses in a stack, twice the limit of the kernel. */
#define MAX_STACK 128

/* Maximum length of a format in bytes. printk() cannot print longer text. */
#define MAX_FORMAT 4096

/*
 * Maximum length of the name of a task or cache, and of the module, function
 * and source file of a tag, in bytes. A report may print a name in every line,
 * so an overlong name would fill the report. The kernel limits a task name to
 * 15 or 63 bytes.
 */
#define MAX_NAME 1024

/*
 * Maximum length of the path of a cgroup in bytes: PATH_MAX of the kernel,
 * which limits the paths in /proc/<pid>/cgroup.
 */
#define MAX_CGROUP 4096

/*
 * Maximum number of annotations, of stacks, and of call sites with a tag, to
 * limit the memory for a damaged table. A kernel usually has far fewer.
 */
#define MAX_MARKS  (1u << 18)
#define MAX_TAGS   (1u << 20)
#define MAX_STACKS (1u << 22)

/*
 * Maximum size of a table in bytes, to limit the memory for a damaged capture.
 * Tables of caches, annotations and tags usually have less than 1 MiB. The
 * largest tables of tasks, with 2^24 names, of cgroups, and of stacks have less
 * than 1 GiB.
 */
#define MAX_SMALL_TABLE (256u << 20)
#define MAX_LARGE_TABLE (1u << 30)

/*
 * Cut the next word from *text: replace the space after the word by NUL, return
 * the word, and set *text to the text after the space. Return NULL if *text has
 * no space or begins with one.
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

/*
 * Parse a timestamp in ns. The word "-" stands for "never" and becomes
 * G_MAXINT64.
 */
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

/*
 * Replace each escape \ooo (three octal digits) by its byte, in place. Return
 * FALSE if an escape is invalid.
 */
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
 * Return the name at the end of a line, or NULL if the line is invalid. n_newer
 * columns, which a newer version of the format added, precede the name and are
 * skipped.
 */
static char *parse_name(char *text, guint n_newer)
{
	while (n_newer--)
		if (!next_word(&text))
			return NULL;
	return unescape(text) ? text : NULL;
}

/*
 * Return a name as parse_name() does. A name of more than max bytes is also
 * invalid.
 */
static char *parse_limited_name(char *text, guint n_newer, gsize max)
{
	char *name = parse_name(text, n_newer);

	return name && strlen(name) <= max ? name : NULL;
}

/* Return the name of a task, cache or file. */
static char *parse_short_name(char *text, guint n_newer)
{
	return parse_limited_name(text, n_newer, MAX_NAME);
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

/* Parse a line "pid until name" of a table of tasks. */
static gboolean add_task_name(KmtInputTaskTable *tasks, char *line,
			      guint n_newer, gsize max)
{
	guint64 pid;
	gsize offset;
	char *name;
	KmtInputTaskName task;

	if (!parse_number(&line, G_MAXUINT32, &pid) ||
	    !parse_time(&line, &task.until))
		return FALSE;
	task.pid = (guint32)pid;
	name = parse_limited_name(line, n_newer, max);
	if (!name)
		return FALSE;
	offset = (gsize)(name - tasks->table.text);
	if (offset > G_MAXUINT32)
		return FALSE;
	task.name = (guint32)offset;
	g_array_append_val(tasks->names, task);
	return TRUE;
}

static gboolean add_task(KmtInputTables *tables, char *line, guint n_newer)
{
	return add_task_name(&tables->tasks, line, n_newer, MAX_NAME);
}

static gboolean add_cgroup(KmtInputTables *tables, char *line, guint n_newer)
{
	return add_task_name(&tables->cgroups, line, n_newer, MAX_CGROUP);
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

/*
 * Return the next word of *text, or "" if the word is "-". Return NULL if there
 * is no word.
 */
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
 * Parse the addresses of a stack, "addr,addr,..." in hexadecimal, and append
 * them to tables->addresses. Return FALSE if an address is invalid or the stack
 * is too long.
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
	KmtInputStack stack = {.first = tables->addresses->len};
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

static gboolean is_function_name(const char *name)
{
	const char *p = name;

	while (g_ascii_isalnum(*p) || *p == '_' || *p == '.' || *p == '$')
		p++;
	return p > name && !*p;
}

static gboolean add_tag(KmtInputTables *tables, char *line, guint n_newer)
{
	const char *address = next_word(&line);
	KmtInputTag tag;
	guint64 number;

	if (!address || tables->tags->len == MAX_TAGS ||
	    !g_ascii_string_to_unsigned(address, 16, 1, G_MAXUINT64,
					&tag.address, NULL) ||
	    !parse_time(&line, &tag.went))
		return FALSE;
	tag.module = parse_optional_word(&line);
	if (!tag.module || strlen(tag.module) > MAX_NAME ||
	    !parse_number(&line, G_MAXUINT, &number) || !number)
		return FALSE;
	tag.line = (guint)number;
	tag.function = next_word(&line);
	if (!tag.function || strlen(tag.function) > MAX_NAME ||
	    !is_function_name(tag.function))
		return FALSE;
	tag.file = parse_short_name(line, n_newer);
	if (!tag.file || !*tag.file)
		return FALSE;
	g_array_append_val(tables->tags, tag);
	return TRUE;
}

const KmtInputTableFormat kmt_input_caches_format = {
	"caches", 6, MAX_SMALL_TABLE, add_cache};
const KmtInputTableFormat kmt_input_tasks_format = {"tasks", 3, MAX_LARGE_TABLE,
						    add_task};
const KmtInputTableFormat kmt_input_cgroups_format = {
	"cgroups", 3, MAX_LARGE_TABLE, add_cgroup};
const KmtInputTableFormat kmt_input_marks_format = {"marks", 7, MAX_SMALL_TABLE,
						    add_mark};
const KmtInputTableFormat kmt_input_stacks_format = {
	"stacks", 2, MAX_LARGE_TABLE, add_stack};
const KmtInputTableFormat kmt_input_tags_format = {"tags", 6, MAX_SMALL_TABLE,
						   add_tag};

/*
 * Set *n_newer to the number of columns that the file has in addition to the
 * current format. columns lists the column names, separated by spaces. Return
 * FALSE if columns are missing.
 */
static gboolean count_newer(const KmtInputTableFormat *kind,
			    const char *columns, guint *n_newer)
{
	guint n = 1;

	for (; *columns; columns++)
		n += *columns == ' ';
	*n_newer = n - kind->n_columns;
	return n >= kind->n_columns;
}

/*
 * Return the number in tables that a header line sets. Return NULL if this kind
 * of table has no such key, so that a key cannot change another table.
 */
static guint64 *header_number(KmtInputTables *tables,
			      const KmtInputTableFormat *kind, const char *key)
{
	const struct {
		const KmtInputTableFormat *kind;
		const char *key;
		guint64 *number;
	} numbers[] = {
		{&kmt_input_caches_format, "unnumbered", &tables->unnumbered},
		{&kmt_input_tasks_format, "dropped", &tables->tasks.dropped},
		{&kmt_input_tasks_format, "exact_after",
		 &tables->tasks.exact_after},
		{&kmt_input_cgroups_format, "dropped",
		 &tables->cgroups.dropped},
		{&kmt_input_cgroups_format, "exact_after",
		 &tables->cgroups.exact_after},
		{&kmt_input_marks_format, "unnumbered",
		 &tables->unnumbered_marks},
		{&kmt_input_stacks_format, "lost", &tables->n_without_stack},
		{&kmt_input_tags_format, "dropped", &tables->dropped},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (numbers[i].kind == kind && strcmp(numbers[i].key, key) == 0)
			return numbers[i].number;
	return NULL;
}

/* Parse a header line "# key: value". Return FALSE if the line is invalid. */
static gboolean parse_header_line(KmtInputTables *tables,
				  const KmtInputTableFormat *kind,
				  const char *line, guint *n_newer)
{
	const char *colon = strstr(line, ": ");
	g_autofree char *key = NULL;
	guint64 *number;

	if (!colon || line[1] != ' ')
		return FALSE;
	key = g_strndup(line + 2, (gsize)(colon - line - 2));
	if (strcmp(key, "kmemtrace") == 0)
		return strcmp(colon + 2, kind->name) == 0;
	if (strcmp(key, "columns") == 0)
		return count_newer(kind, colon + 2, n_newer);
	number = header_number(tables, kind, key);
	/* Ignore the key of a newer version, or of another table. */
	return !number || g_ascii_string_to_unsigned(colon + 2, 10, 0,
						     G_MAXINT64, number, NULL);
}

static void bad_line(KmtInputNameTable *table, guint64 number)
{
	if (!table->n_bad++)
		table->first_bad = number;
}

static void parse(KmtInputTables *tables, KmtInputNameTable *table,
		  const KmtInputTableFormat *kind, gsize length)
{
	char *line = table->text, *end = table->text + length;
	guint64 number = 0;
	guint n_newer = 0;

	while (line < end) {
		char *next = memchr(line, '\n', (gsize)(end - line));
		gboolean good;

		number++;
		/* The last line has no newline: the file is truncated, so the
		 * line is invalid. */
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

void kmt_input_tables_warn(KmtInputTables *tables, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(tables->warnings, g_strdup_vprintf(format, args));
	va_end(args);
}

/*
 * Return the content of a table, or NULL with a warning if the file cannot be
 * read or is too large. name is the name of the file for messages. The caller
 * frees the content.
 */
static char *read_text(KmtInputTables *tables, const char *path,
		       const char *name, guint max_bytes, gsize *length)
{
	g_autoptr(GError) error = NULL;
	GStatBuf status;
	char *text;

	if (g_stat(path, &status) == 0 && status.st_size > max_bytes) {
		kmt_input_tables_warn(tables,
				      "cannot read %s: the file has "
				      "%" G_GUINT64_FORMAT
				      " bytes, and the limit is %u bytes",
				      name, (guint64)status.st_size, max_bytes);
		return NULL;
	}
	if (!g_file_get_contents(path, &text, length, &error)) {
		kmt_input_tables_warn(tables, "cannot read %s: %s", name,
				      error->message);
		return NULL;
	}
	return text;
}

void kmt_input_table_read(KmtInputTables *tables,
			  const KmtInputCapture *capture,
			  KmtInputNameTable *table,
			  const KmtInputTableFormat *kind)
{
	g_autofree char *path = kmt_input_capture_path(capture, kind->name);
	g_autofree char *name = NULL;
	gsize length;

	if (!path)
		return;
	name = kmt_input_capture_display_path(capture, path);
	table->text = read_text(tables, path, name, kind->max_bytes, &length);
	if (!table->text)
		return;
	table->is_present = TRUE;
	parse(tables, table, kind, length);
	if (table->n_bad)
		kmt_input_tables_warn(
			tables,
			"%s: %" G_GUINT64_FORMAT " invalid line%s ignored; "
			"the first is line %" G_GUINT64_FORMAT,
			name, table->n_bad, table->n_bad == 1 ? " is" : "s are",
			table->first_bad);
}
