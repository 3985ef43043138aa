/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: annotations, which kernel code writes into a trace of kernel memory.
 */
#ifndef _LINUX_KMEMTRACE_MARK_H
#define _LINUX_KMEMTRACE_MARK_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* The compiler checks the format; the function is never called. */
static inline __printf(1, 2)
void __kmemtrace_mark_check(const char *format, ...)
{
}

#ifdef CONFIG_KMEMTRACE

/*
 * The place of an annotation in code.  All places are in the section
 * __kmemtrace_marks, which is read as an array, so the alignment that the linker
 * uses is part of the size.
 */
struct kmemtrace_mark {
	struct static_key_false	key;
	u32			number;		/* in the table; 0: none */
	u16			strings;	/* a bit for each argument */
	u16			n_args;
	u16			string_max[8];	/* bytes that may be read */
	const char		*name;
	const char		*format;
	struct kmemtrace_mark	*next;		/* of the same number */
} __aligned(8);

extern struct kmemtrace_mark __start___kmemtrace_marks[];
extern struct kmemtrace_mark __stop___kmemtrace_marks[];

void __kmemtrace_mark(const struct kmemtrace_mark *mark, const u64 *words);

/*
 * Convert an argument to a word.  An integer is in the low bytes of the word.  An
 * array becomes a pointer between ? and :, and a type wider than long is no pointer.
 */
#define __kmemtrace_word(x)						\
	((u64)__builtin_choose_expr(sizeof(1 ? (x) : (x)) > sizeof(long), \
				    (x), (unsigned long)(x)))

/* Store the arguments in the array w. */
#define __kmemtrace_words_0(w)						\
	((void)(w))
#define __kmemtrace_words_1(w, x)					\
	(*(w) = __kmemtrace_word(x))
#define __kmemtrace_words_2(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_1((w) + 1, more))
#define __kmemtrace_words_3(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_2((w) + 1, more))
#define __kmemtrace_words_4(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_3((w) + 1, more))
#define __kmemtrace_words_5(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_4((w) + 1, more))
#define __kmemtrace_words_6(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_5((w) + 1, more))
#define __kmemtrace_words_7(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_6((w) + 1, more))
#define __kmemtrace_words_8(w, x, more...)				\
	(*(w) = __kmemtrace_word(x), __kmemtrace_words_7((w) + 1, more))
#define __kmemtrace_words(w, args...)					\
	CONCATENATE(__kmemtrace_words_, COUNT_ARGS(args))(w, ##args)

/**
 * kmemtrace_mark - write an annotation into the trace
 * @mark_name: an identifier, not a string.  Annotations of the same name are
 *	switched together, by events/mark:<name>/enabled in debugfs.
 * @mark_format: string literal as for printk(); the compiler checks it
 * @args: up to eight integers, pointers, and strings
 *
 * Nothing is formatted here: the values are recorded as they are.  Of a string, the
 * first 256 bytes are recorded, or as many as a precision allows, and no more bytes
 * are read.  A pointer is recorded as it is, and not hashed; the memory behind it is
 * not read, and the letters after %p only define how programs show it.  A width of *
 * and %n are not supported: such an annotation is not recorded, which is logged.
 *
 * While the annotation is off, as it is while tracing is off, this is a no-op and
 * no argument is evaluated.
 *
 * Example: kmemtrace_mark(cleaner_begins, "zone %s, %lu pages", zone->name, nr);
 *
 * Context: any where RCU is watching, as for a tracepoint, with any locks held.  In
 * NMI context the annotation is counted as lost.
 */
#define kmemtrace_mark(mark_name, mark_format, args...)			\
	do {								\
		static struct kmemtrace_mark __used			\
		__aligned(8) __section("__kmemtrace_marks")		\
		__kmemtrace_place_##mark_name = {			\
			.key = STATIC_KEY_FALSE_INIT,			\
			.n_args = COUNT_ARGS(args),			\
			.name = #mark_name,				\
			.format = mark_format,				\
		};							\
									\
		if (0)							\
			__kmemtrace_mark_check(mark_format, ##args);	\
		if (static_branch_unlikely(&__kmemtrace_place_##mark_name.key)) { \
			u64 __kmemtrace_values[COUNT_ARGS(args)];	\
									\
			__kmemtrace_words(__kmemtrace_values, ##args);	\
			__kmemtrace_mark(&__kmemtrace_place_##mark_name,	\
					 __kmemtrace_values);		\
		}							\
	} while (0)

#else /* !CONFIG_KMEMTRACE */

#define kmemtrace_mark(mark_name, mark_format, args...)			\
	do {								\
		if (0)							\
			__kmemtrace_mark_check(mark_format, ##args);	\
	} while (0)

#endif /* CONFIG_KMEMTRACE */

#endif /* _LINUX_KMEMTRACE_MARK_H */
