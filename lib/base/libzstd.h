/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of libzstd, which is loaded with dlopen(3) only when a program
 * compresses or decompresses the records of a capture.
 */
#ifndef KMEMTRACE_BASE_LIBZSTD_H
#define KMEMTRACE_BASE_LIBZSTD_H

#include <glib.h>

#ifdef HAVE_LIBZSTD

#include <zstd.h>

#define KMT_LIBZSTD_FUNCTIONS(X)                                               \
	X(ZSTD_CCtx_setParameter)                                              \
	X(ZSTD_DCtx_setParameter)                                              \
	X(ZSTD_compress2)                                                      \
	X(ZSTD_compressBound)                                                  \
	X(ZSTD_createCCtx)                                                     \
	X(ZSTD_createDCtx)                                                     \
	X(ZSTD_createDStream)                                                  \
	X(ZSTD_decompressDCtx)                                                 \
	X(ZSTD_decompressStream)                                               \
	X(ZSTD_findFrameCompressedSize)                                        \
	X(ZSTD_freeCCtx)                                                       \
	X(ZSTD_freeDCtx)                                                       \
	X(ZSTD_freeDStream)                                                    \
	X(ZSTD_getErrorName)                                                   \
	X(ZSTD_getFrameContentSize)                                            \
	X(ZSTD_isError)                                                        \
	X(ZSTD_minCLevel)

typedef struct {
#define KMT_LIBZSTD_FUNCTION(name) __typeof__(name) *name;
	KMT_LIBZSTD_FUNCTIONS(KMT_LIBZSTD_FUNCTION)
#undef KMT_LIBZSTD_FUNCTION
} KmtLibzstd;

/*
 * Return the functions of libzstd. The first successful call loads the library,
 * which then stays loaded. Return NULL and set an error of
 * KMT_OPTIONAL_LIBRARY_ERROR if the library cannot be loaded or lacks a
 * function. Any thread may call this function.
 */
const KmtLibzstd *kmt_libzstd_get(GError **error);

#endif

/*
 * Return whether libzstd can be used. Otherwise set an error of
 * KMT_OPTIONAL_LIBRARY_ERROR, whose message is a clause such as "libzstd.so.1
 * cannot be loaded". The function exists in builds without libzstd, too.
 */
gboolean kmt_libzstd_check(GError **error);

#endif
