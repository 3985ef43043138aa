// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Format the text of a mark as printk() of the traced kernel would, but print
 * addresses without hashing them.
 *
 * The format string comes from the capture and may contain anything. Passing
 * the string to a printf function would be unsafe, so this file interprets the
 * conversions itself.
 */
#include "config.h"

#include <string.h>

#include "lib/input/mark-reader.h"

/* Maximum field width and precision, to limit the length of the output. */
#define MAX_WIDTH 1024

#define UNKNOWN "?"

/* A parsed conversion specification, such as "%-8lu". */
typedef struct {
	gboolean left, plus, space, alternate, zero;
	guint width;
	gboolean has_precision;
	guint precision;
	char conversion; /* conversion letter; 0 if the format string ends
			  * within the specification */
	char pointer;	 /* letter after "%p", such as S in "%pS"; 0 if none */
} Spec;

static guint read_digits(const char **p)
{
	guint n = 0;

	for (; g_ascii_isdigit(**p); (*p)++)
		n = MIN(n * 10 + (guint)(**p - '0'), MAX_WIDTH);
	return n;
}

static void read_flags(const char **p, Spec *spec)
{
	for (;; (*p)++) {
		switch (**p) {
		case '-':
			spec->left = TRUE;
			continue;
		case '+':
			spec->plus = TRUE;
			continue;
		case ' ':
			spec->space = TRUE;
			continue;
		case '#':
			spec->alternate = TRUE;
			continue;
		case '0':
			spec->zero = TRUE;
			continue;
		}
		return;
	}
}

/*
 * Parse a specification. *p points behind the % and is advanced to the end of
 * the specification.
 */
static Spec read_spec(const char **p)
{
	Spec spec = {0};

	read_flags(p, &spec);
	spec.width = read_digits(p);
	if (**p == '.') {
		(*p)++;
		spec.has_precision = TRUE;
		spec.precision = read_digits(p);
	}
	/* Skip the length modifier. The table of annotations contains the size
	 * of each argument. */
	*p += strspn(*p, "hlLzt");
	spec.conversion = **p;
	if (**p)
		(*p)++;
	if (spec.conversion != 'p')
		return spec;
	spec.pointer = g_ascii_isalnum(**p) ? **p : 0;
	while (g_ascii_isalnum(**p))
		(*p)++;
	return spec;
}

static void pad(GString *out, char c, gsize n)
{
	while (n--)
		g_string_append_c(out, c);
}

/* Append text with spaces up to the field width of the specification. */
static void put(GString *out, const Spec *spec, const char *text, gsize length)
{
	gsize lack = length < spec->width ? spec->width - length : 0;

	if (!spec->left)
		pad(out, ' ', lack);
	g_string_append_len(out, text, (gssize)length);
	if (spec->left)
		pad(out, ' ', lack);
}

static guint bits_of(char type)
{
	switch (g_ascii_tolower(type)) {
	case 'b':
		return 8;
	case 'h':
		return 16;
	case 'i':
		return 32;
	default:
		return 64;
	}
}

/*
 * Return the absolute value n in the base of the conversion letter, without a
 * prefix. The caller frees the string.
 */
static char *digits_of(guint64 n, char conversion)
{
	switch (conversion) {
	case 'o':
		return g_strdup_printf("%" G_GINT64_MODIFIER "o", n);
	case 'x':
	case 'p':
		return g_strdup_printf("%" G_GINT64_MODIFIER "x", n);
	case 'X':
		return g_strdup_printf("%" G_GINT64_MODIFIER "X", n);
	default:
		return g_strdup_printf("%" G_GUINT64_FORMAT, n);
	}
}

static const char *prefix_of(const Spec *spec, gboolean is_signed,
			     gboolean is_negative)
{
	if (is_signed)
		return is_negative   ? "-"
		       : spec->plus  ? "+"
		       : spec->space ? " "
				     : "";
	if (!spec->alternate)
		return "";
	return spec->conversion == 'x'	 ? "0x"
	       : spec->conversion == 'X' ? "0X"
	       : spec->conversion == 'o' ? "0"
					 : "";
}

static void append_integer(GString *out, const Spec *spec,
			   const KmtInputMarkValue *value)
{
	guint unused = 64 - bits_of(value->type);
	gboolean is_signed = g_ascii_islower(value->type);
	guint64 n = value->word << unused;
	gboolean is_negative = is_signed && (gint64)n < 0;
	const char *prefix;
	g_autofree char *digits = NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	gsize wanted = spec->has_precision ? spec->precision : 0;

	if (is_signed)
		n = (guint64)((gint64)n >> unused);
	else
		n >>= unused;
	prefix = prefix_of(spec, is_signed, is_negative);
	digits = digits_of(is_negative ? -n : n, spec->conversion);
	if (spec->zero && !spec->left && !spec->has_precision)
		wanted = spec->width - MIN(spec->width, (guint)strlen(prefix));
	g_string_append(text, prefix);
	pad(text, '0', wanted - MIN(wanted, strlen(digits)));
	g_string_append(text, digits);
	put(out, spec, text->str, text->len);
}

static void append_string(GString *out, const Spec *spec,
			  const KmtInputMarkValue *value)
{
	/* A string that changed while the kernel copied it may contain a NUL.
	 */
	gsize length = strnlen((const char *)value->bytes, (gsize)value->word);
	gboolean cut = value->truncated;
	g_autofree char *text = NULL;

	if (spec->has_precision && length >= spec->precision) {
		length = spec->precision;
		cut = FALSE;
	}
	text = g_strndup((const char *)value->bytes, length);
	if (cut) {
		char *whole = g_strconcat(text, "...", NULL);

		g_free(text);
		text = whole;
	}
	put(out, spec, text, strlen(text));
}

static void append_pointer(GString *out, const Spec *spec,
			   const KmtInputMarkValue *value,
			   KmtInputSymbolizeFunc name, gpointer user)
{
	/* Conversions such as %pS print the symbol of the address. Most others
	 * with letters print the object at the address, which was not recorded.
	 * Print the address for these and for a plain %p. */
	gboolean named = spec->pointer && strchr("SsBFf", spec->pointer);
	g_autofree char *text = named && name ? name(user, value->word) : NULL;

	if (!text)
		text = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				       value->word);
	put(out, spec, text, strlen(text));
}

static void append_value(GString *out, const Spec *spec,
			 const KmtInputMarkValue *value,
			 KmtInputSymbolizeFunc name, gpointer user)
{
	char c = (char)value->word;

	switch (value->type) {
	case 's':
		append_string(out, spec, value);
		break;
	case 'c':
		put(out, spec, &c, c ? 1 : 0);
		break;
	case 'p':
		append_pointer(out, spec, value, name, user);
		break;
	default:
		append_integer(out, spec, value);
	}
}

char *kmt_input_mark_text(const KmtInputMarks *marks, const KmtInputMark *mark,
			  KmtInputSymbolizeFunc name, gpointer user)
{
	GString *out = g_string_new(NULL);
	const char *p = mark->kind ? mark->kind->format : "";
	guint n = 0;

	while (*p) {
		const char *percent = strchr(p, '%');
		KmtInputMarkValue value;
		Spec spec;

		if (!percent) {
			g_string_append(out, p);
			break;
		}
		g_string_append_len(out, p, percent - p);
		p = percent + 1;
		spec = read_spec(&p);
		if (spec.conversion == '%')
			g_string_append_c(out, '%');
		else if (mark->whole &&
			 kmt_input_mark_value(marks, mark, n, &value))
			append_value(out, &spec, &value, name, user);
		else
			g_string_append(out, UNKNOWN);
		n += spec.conversion != '%';
	}
	return g_string_free(out, FALSE);
}
