// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: the format of an annotation. */

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_mark.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <uapi/linux/kmemtrace_abi.h>

#include "mark_format.h"

/* Return the letter of an integer type: see <linux/kmemtrace_abi.h>. */
static char kmemtrace_integer_type(size_t size, bool is_signed)
{
	char type = size == 1 ? 'b' : size == 2 ? 'h' : size == 4 ? 'i' : 'q';

	return is_signed ? type : toupper(type);
}

/* Return the size that a length modifier stands for, and skip the modifier. */
static size_t kmemtrace_integer_size(const char **format)
{
	switch (*(*format)++) {
	case 'h':
		if (**format != 'h')
			return sizeof(short);
		(*format)++;
		return sizeof(char);
	case 'l':
		if (**format != 'l')
			return sizeof(long);
		(*format)++;
		return sizeof(long long);
	case 'L':
		return sizeof(long long);
	case 'z':
		return sizeof(size_t);
	case 't':
		return sizeof(ptrdiff_t);
	}
	(*format)--;
	return sizeof(int);
}

/* Skip and return the precision, at most @max; return @max without a precision. */
static u16 kmemtrace_precision(const char **format, u16 max)
{
	unsigned int precision = 0;

	if (**format != '.')
		return max;
	for ((*format)++; isdigit(**format); (*format)++)
		precision = min(10 * precision + **format - '0', 0U + max);
	return precision;
}

/*
 * Skip a conversion specification and return the letter of its type, '%' for "%%", or 0
 * if kmemtrace does not support the conversion.  Store the maximum number of bytes to
 * read of a string in @string_max: the precision, but at most KMEMTRACE_MARK_STRING
 * plus one byte; this byte shows whether the string is longer than that.
 */
static char kmemtrace_conversion(const char **format, u16 *string_max)
{
	size_t size;
	char c;

	*format += strspn(*format, "-+ #0");
	*format += strspn(*format, "0123456789");
	*string_max = kmemtrace_precision(format, KMEMTRACE_MARK_STRING + 1);
	size = kmemtrace_integer_size(format);
	c = **format;
	if (c)
		(*format)++;
	switch (c) {
	case 'd':
	case 'i':
		return kmemtrace_integer_type(size, true);
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		return kmemtrace_integer_type(size, false);
	case 'c':
	case 's':
	case '%':
		return c;
	case 'p':
		while (isalnum(**format))
			(*format)++;
		return c;
	}
	return 0;
}

bool kmemtrace_mark_types(const struct kmemtrace_mark *mark, char *types,
			  u16 *string_max)
{
	const char *format = mark->format;
	unsigned int n = 0;
	u16 max;
	char type;

	while ((format = strchr(format, '%'))) {
		format++;
		type = kmemtrace_conversion(&format, &max);
		if (type == '%')
			continue;
		if (!type || n == mark->n_args || n == KMEMTRACE_MARK_ARGS)
			return false;
		string_max[n] = max;
		types[n++] = type;
	}
	types[n] = '\0';
	return n == mark->n_args;
}
