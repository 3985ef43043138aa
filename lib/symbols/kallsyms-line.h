/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parse a line of /proc/kallsyms or of a System.map. The functions are inline,
 * because a kernel has about 150,000 lines and all are parsed before the first
 * report. */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_LINE_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_LINE_H

#include "lib/symbols/line-reader.h"

#include <glib.h>
#include <string.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* Limit in bytes of a symbol name, and of a module name with its brackets. The
 * kernel's own limit of a symbol name is 512 since Linux 6.1, and 128 before.
 */
#define KMT_SYM_MAX_NAME 1024

/* Words of a line. They point into the text and are not NUL-terminated. */
typedef struct {
	guint64 address;
	char type;
	const char *name;
	gsize length;	    /* of name, in bytes */
	const char *module; /* without the brackets; NULL: no module */
	gsize module_length;
} KmtSymKallsymsLine;

static inline const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

#ifdef __x86_64__
/* Return the first byte that is not part of a word, that is, not in 0x21 to
 * 0x7e. The padding of the text always ends the search. */
static inline const char *end_of_word(const char *at)
{
	const __m128i low = _mm_set1_epi8(0x20), high = _mm_set1_epi8(0x7f);
	guint word;

	G_STATIC_ASSERT(KMT_SYM_TEXT_PADDING >= sizeof(__m128i));
	for (;; at += sizeof(__m128i)) {
		__m128i text = _mm_loadu_si128((const __m128i *)at);

		/* Signed comparison: bytes from 0x80 on are negative. */
		word = (guint)_mm_movemask_epi8(_mm_and_si128(
			_mm_cmpgt_epi8(text, low), _mm_cmplt_epi8(text, high)));
		if (word != 0xffff)
			return at + __builtin_ctz(~word);
	}
}
#else
/*
 * Constants with a 1 in each byte, in each group of two bytes, and in each
 * group of four bytes.
 */
#define EACH   G_GUINT64_CONSTANT(0x0101010101010101)
#define EACH_2 G_GUINT64_CONSTANT(0x0001000100010001)
#define EACH_4 G_GUINT64_CONSTANT(0x0000000100000001)

/* Load eight bytes; the first byte goes to the lowest bits. */
static inline guint64 load_eight(const char *at)
{
	guint64 eight;

	memcpy(&eight, at, sizeof(eight));
	return GUINT64_FROM_LE(eight);
}

/*
 * Return the first byte that is not part of a word, that is, not in 0x21 to
 * 0x7e. Eight bytes are tested at a time: the top bit of a stop byte is set in
 * at least one of the three terms. A borrow or a carry changes only bytes after
 * the first stop byte. The padding of the text always ends the search.
 */
static inline const char *end_of_word(const char *at)
{
	guint64 eight, stop;

	for (;; at += sizeof(eight)) {
		eight = load_eight(at);
		stop = ((eight - EACH * 0x21) | eight | (eight + EACH)) &
		       (EACH * 0x80);
		if (stop)
			return at + __builtin_ctzll(stop) / 8;
	}
}
#endif

/*
 * Return whether a word may end at this byte: at a blank, or at the end of the
 * line.
 */
static inline gboolean is_end(char c)
{
	return c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

/* Value + 1 of a hexadecimal digit; 0 for any other byte. */
static const guint8 digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

#ifdef __x86_64__
/*
 * Parse sixteen hexadecimal digits (0 to 9, a to f) at once, which is how a
 * 64-bit kernel prints an address. Return FALSE for any other text.
 */
static inline gboolean parse_sixteen(const char *at, guint64 *number)
{
	__m128i text = _mm_loadu_si128((const __m128i *)at);
	__m128i letters = _mm_cmpgt_epi8(text, _mm_set1_epi8('9'));
	__m128i least = _mm_and_si128(letters, _mm_set1_epi8(10));
	__m128i value = _mm_sub_epi8(
		text,
		_mm_add_epi8(
			_mm_set1_epi8('0'),
			_mm_and_si128(letters, _mm_set1_epi8('a' - '0' - 10))));
	/* Clamp the unsigned value to least..15; a valid digit does not change.
	 */
	__m128i inside =
		_mm_max_epu8(_mm_min_epu8(value, _mm_set1_epi8(15)), least);

	if (_mm_movemask_epi8(_mm_cmpeq_epi8(inside, value)) != 0xffff)
		return FALSE;
	/* Combine two nibbles into a byte, in the lower half of each 16-bit
	 * lane. */
	value = _mm_or_si128(_mm_slli_epi16(value, 4),
			     _mm_srli_epi16(value, 8));
	value = _mm_and_si128(value, _mm_set1_epi16(0xff));
	value = _mm_packus_epi16(value, value);
	*number = GUINT64_SWAP_LE_BE((guint64)_mm_cvtsi128_si64(value));
	return TRUE;
}
#else
/*
 * Parse eight hexadecimal digits (0 to 9, a to f) at once. The value is
 * converted back and compared with the text; if they differ, the text was not
 * eight such digits.
 */
static inline gboolean parse_eight(const char *at, guint64 *number)
{
	guint64 text = load_eight(at);
	guint64 letters = text >> 6 & EACH;
	guint64 value = (text & EACH * 0xf) + letters * 9;

	if (value + EACH * '0' + letters * ('a' - '0' - 10) != text ||
	    ((value + EACH * 6) >> 4 & EACH) != letters || value & EACH << 4)
		return FALSE;
	/* Combine nibbles into bytes, bytes into 16-bit groups, and these
	 * groups into the number. */
	value = (value << 4 | value >> 8) & EACH_2 * 0xff;
	value = (value << 8 | value >> 16) & EACH_4 * 0xffff;
	*number = (value << 16 | value >> 32) & 0xffffffff;
	return TRUE;
}

/*
 * Parse sixteen hexadecimal digits (0 to 9, a to f), which is how a 64-bit
 * kernel prints an address. Return FALSE for any other text.
 */
static inline gboolean parse_sixteen(const char *at, guint64 *number)
{
	guint64 high, low;

	if (!parse_eight(at, &high) || !parse_eight(at + 8, &low))
		return FALSE;
	*number = high << 32 | low;
	return TRUE;
}
#endif

/*
 * Parse a hexadecimal number and move *at behind its digits. Return FALSE if
 * there are no digits or if the number exceeds 64 bits.
 */
static inline gboolean parse_hex(const char **at, guint64 *value)
{
	const char *p = *at;
	guint64 number = 0, lost = 0;
	guint digit;

	if (parse_sixteen(p, &number))
		p += 16;
	while ((digit = digits[(guint8)*p])) {
		lost |= number >> 60;
		number = number << 4 | (digit - 1);
		p++;
	}
	if (p == *at || lost)
		return FALSE;
	*at = p;
	*value = number;
	return TRUE;
}

/*
 * Parse one line. Return FALSE if it does not describe a symbol. *at is moved
 * within the line, at most to its end. KMT_SYM_TEXT_PADDING bytes of value 0
 * must follow the text.
 */
static inline gboolean kmt_sym_kallsyms_line(const char **at,
					     KmtSymKallsymsLine *line)
{
	const char *word;

	line->module = NULL;
	*at = skip_blanks(*at);
	if (!parse_hex(at, &line->address) || (**at != ' ' && **at != '\t'))
		return FALSE;
	*at = skip_blanks(*at);
	line->type = **at;
	if (is_end(line->type) || !is_end((*at)[1]))
		return FALSE;
	line->name = *at = skip_blanks(*at + 1);
	*at = end_of_word(*at);
	line->length = (gsize)(*at - line->name);
	if (!line->length || line->length > KMT_SYM_MAX_NAME || !is_end(**at))
		return FALSE;
	if (**at == '\n')
		return TRUE;
	word = *at = skip_blanks(*at);
	*at = end_of_word(*at);
	if (*at - word > KMT_SYM_MAX_NAME || !is_end(**at))
		return FALSE;
	if (*at - word > 2 && *word == '[' && (*at)[-1] == ']') {
		line->module = word + 1;
		line->module_length = (gsize)(*at - word - 2);
	}
	return TRUE;
}

#endif
