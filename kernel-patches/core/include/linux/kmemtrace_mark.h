/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: annotations, which code writes into the trace of kernel memory.
 *
 *	kmemtrace_mark(cleaner_begins, "zone %s, %lu pages", zone->name, nr);
 *
 * name is an identifier and not a string; places that have the same name are
 * switched together, in events/mark:<name>/ of kmemtrace's folder in debugfs.
 * format is a string literal as for printk(), and the compiler checks it.  Up to
 * eight arguments: integers, pointers, strings.  Nothing is formatted here: the
 * values go into the record as they are, of a string its first 256 bytes, or as
 * many as a precision says, behind which it is not read either.  What %p is
 * followed by only tells the programs how to show the address, which is recorded
 * as it is and not hashed; what is at the address is not read.  A width of * and
 * %n are not supported: see the kernel's log.
 *
 * While the annotation is off, which it is while kmemtrace is off, this is a
 * no-op and no argument is evaluated.
 *
 * Context: any where RCU is watching, as for a tracepoint, with any locks held.
 * An annotation in NMI context is counted as lost, which is all that can be done
 * there.
 */
#ifndef _LINUX_KMEMTRACE_MARK_H
#define _LINUX_KMEMTRACE_MARK_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* The compiler looks at the format; nothing is called. */
static inline __printf(1, 2)
void __kmemtrace_mark_check(const char *format, ...)
{
}

#ifdef CONFIG_KMEMTRACE

/*
 * One place; all of them are in a section, __kmemtrace_marks, which is read as an
 * array: each begins where the linker aligns it, so that is part of its size.
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
 * An argument as a word: of integers the low bytes are theirs.  An array becomes
 * a pointer between ? and :, and what is wider than long is no pointer.
 */
#define __kmemtrace_word(x)						\
	((u64)__builtin_choose_expr(sizeof(1 ? (x) : (x)) > sizeof(long), \
				    (x), (unsigned long)(x)))

/* Puts the arguments into the array w. */
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
