/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF note that announces a library that the program loads with dlopen(3), so
 * that packaging tools find the dependency. The note has the format of the
 * "dlopen metadata" convention of the UAPI group.
 */
#ifndef KMEMTRACE_BASE_DLOPEN_NOTE_H
#define KMEMTRACE_BASE_DLOPEN_NOTE_H

#include <glib.h>

#define KMT_DLOPEN_NOTE_TYPE 0x407c0c0a

#define KMT_DLOPEN_NOTE_JSON(feature, description, priority, soname)           \
	"[{\"feature\":\"" feature "\",\"description\":\"" description         \
	"\",\"priority\":\"" priority "\",\"soname\":[\"" soname "\"]}]"

/*
 * Define the note of a library. All arguments are string literals. priority is
 * "required", "recommended", or "suggested". Use the macro once in the file
 * that loads the library.
 */
#define KMT_DLOPEN_NOTE(feature, description_text, priority, soname)           \
	static const struct {                                                  \
		guint32 name_size, description_size, type;                     \
		char name[4];                                                  \
		char description[(sizeof(KMT_DLOPEN_NOTE_JSON(                 \
					  feature, description_text, priority, \
					  soname)) +                           \
				  3) &                                         \
				 ~3u];                                         \
	} dlopen_note                                                          \
		__attribute__((used, aligned(4), section(".note.dlopen"))) = { \
			.name_size = sizeof(dlopen_note.name),                 \
			.description_size = sizeof(dlopen_note.description),   \
			.type = KMT_DLOPEN_NOTE_TYPE,                          \
			.name = "FDO",                                         \
			.description = KMT_DLOPEN_NOTE_JSON(                   \
				feature, description_text, priority, soname),  \
	}

#endif
