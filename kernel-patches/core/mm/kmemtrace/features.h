/* SPDX-License-Identifier: GPL-2.0-only */
/* kmemtrace: a struct kmemtrace_feature for each entry of feature_list.h. */
#ifndef _MM_KMEMTRACE_FEATURES_H
#define _MM_KMEMTRACE_FEATURES_H

#include "session.h"

#define KMEMTRACE_FEATURE(name)						\
	extern struct kmemtrace_feature kmemtrace_##name##_feature
#include "feature_list.h"
#undef KMEMTRACE_FEATURE

#endif /* _MM_KMEMTRACE_FEATURES_H */
