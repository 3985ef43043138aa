/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: annotations.  An annotation consists of a name and values.  Kernel code
 * calls kmemtrace_mark() to write an annotation into the trace.
 */
#ifndef _LINUX_KMEMTRACE_MARK_H
#define _LINUX_KMEMTRACE_MARK_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* Let the compiler check the format of an annotation.  Never called. */
static inline __printf(1, 2)
void __kmemtrace_mark_check(const char *format, ...)
{
}

#ifdef CONFIG_KMEMTRACE

/**
 * struct kmemtrace_mark - descriptor of one kmemtrace_mark() in code
 * @key: on while the annotation is recorded
 * @number: number of the annotation in the table of annotations; 0: none
 * @strings: bit i is set if argument i is a string
 * @n_args: number of arguments
 * @string_max: maximum number of bytes to read of each argument that is a string
 * @name: name of the annotation
 * @format: format string
 * @next: another descriptor with the same number, or NULL
 *
 * The descriptors are in the section __kmemtrace_marks, which is read as an array.  The
 * descriptor of the file marker, kmemtrace_marker, is not in this section.
 * The linker aligns each descriptor to 8 bytes, so the size of the struct has to be a
 * multiple of 8.
 */
struct kmemtrace_mark {
	struct static_key_false	key;
	u32			number;
	u16			strings;
	u16			n_args;
	u16			string_max[8];
	const char		*name;
	const char		*format;
	struct kmemtrace_mark	*next;
} __aligned(8);

/* Start and end of the section of the kernel's descriptors. */
extern struct kmemtrace_mark __start___kmemtrace_marks[];
extern struct kmemtrace_mark __stop___kmemtrace_marks[];

/**
 * __kmemtrace_mark - record an annotation; called by kmemtrace_mark() only
 * @mark: descriptor of the annotation, whose key is on
 * @words: the arguments, as __kmemtrace_word() converts them
 *
 * Context: as for kmemtrace_mark().
 */
void __kmemtrace_mark(const struct kmemtrace_mark *mark, const u64 *words);

/*
 * Convert an argument to a word.  An integer occupies the low bytes of the word.  The
 * conditional operator converts an array to a pointer.  An argument that is wider
 * than long is an integer, and a conversion to long would drop its high bits.
 */
#define __kmemtrace_word(x)						\
	((u64)__builtin_choose_expr(sizeof(1 ? (x) : (x)) > sizeof(long), \
				    (x), (unsigned long)(x)))

/* Store the arguments in the array @w. */
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
 * @mark_name: identifier, not a string.  The file events/mark:<name>/enabled in
 *	debugfs switches all annotations of one name.
 * @mark_format: string literal as for printk(), which the compiler checks
 * @args: up to eight integers, pointers, and strings
 *
 * The values are recorded without formatting them.  At most the first 256 bytes of a
 * string are recorded, and 257 are read; a precision limits both numbers.  A pointer is
 * recorded without hashing, and the memory at its address is not read; the letters
 * after %p only define how programs print the pointer.  A width or precision of * and
 * %n are not supported: an annotation with one of these is logged at boot or when its
 * module is loaded, and never recorded.
 *
 * While the annotation or tracing is off, the macro is a no-op and no argument is
 * evaluated.
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
		__kmemtrace_descriptor_##mark_name = {			\
			.key = STATIC_KEY_FALSE_INIT,			\
			.n_args = COUNT_ARGS(args),			\
			.name = #mark_name,				\
			.format = mark_format,				\
		};							\
									\
		if (0)							\
			__kmemtrace_mark_check(mark_format, ##args);	\
		if (static_branch_unlikely(&__kmemtrace_descriptor_##mark_name.key)) { \
			u64 __kmemtrace_values[COUNT_ARGS(args)];	\
									\
			__kmemtrace_words(__kmemtrace_values, ##args);	\
			__kmemtrace_mark(&__kmemtrace_descriptor_##mark_name, \
					 __kmemtrace_values);		\
		}							\
	} while (0)

#else /* !CONFIG_KMEMTRACE */

#define kmemtrace_mark(mark_name, mark_format, args...)			\
	do {								\
		if (0) {						\
			(void)#mark_name;				\
			__kmemtrace_mark_check(mark_format, ##args);	\
		}							\
	} while (0)

#endif /* CONFIG_KMEMTRACE */

#endif /* _LINUX_KMEMTRACE_MARK_H */
