// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: sessions: switch tracing on and off, and replace the live buffers. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/math.h>

#include "buffer.h"
#include "clock.h"
#include "geometry.h"
#include "guard.h"
#include "recording.h"
#include "session.h"
#include "view.h"

DEFINE_MUTEX(kmemtrace_mutex);
LIST_HEAD(kmemtrace_features);
static bool kmemtrace_on;
static unsigned long kmemtrace_sessions;

bool kmemtrace_is_on(void)
{
	return READ_ONCE(kmemtrace_on);
}

unsigned long kmemtrace_session(void)
{
	lockdep_assert_held(&kmemtrace_mutex);
	return kmemtrace_sessions;
}

/* --- Buffers --------------------------------------------------------------------- */

/*
 * Make @buffers the live set, and release the old live set.  @buffers may be NULL.
 * Context: no event is recorded.  Sleeps.
 */
static void kmemtrace_use_buffers(struct kmemtrace_buffers *buffers)
{
	struct kmemtrace_buffers *old;

	old = kmemtrace_view_replace(&kmemtrace_live, buffers);
	if (old)
		kmemtrace_writer_leave_set(old);
	kmemtrace_buffers_put(old);
}

static int kmemtrace_need_buffers(void)
{
	struct kmemtrace_buffers *buffers;

	if (kmemtrace_live.buffers)
		return 0;
	buffers = kmemtrace_buffers_open(kmemtrace_subbufs,
					 kmemtrace_subbuf_size);
	if (IS_ERR(buffers))
		return PTR_ERR(buffers);
	kmemtrace_use_buffers(buffers);
	return 0;
}

/*
 * Let all features use the buffers that prepare_resize() has allocated; if @use is
 * false, let them free these buffers.
 */
static void kmemtrace_finish_resize(bool use)
{
	kmemtrace_call_features(finish_resize, use);
}

static int kmemtrace_prepare_resize(unsigned int subbufs,
				    unsigned int subbuf_size)
{
	struct kmemtrace_feature *feature;
	int err;

	list_for_each_entry(feature, &kmemtrace_features, list) {
		if (!feature->prepare_resize)
			continue;
		err = feature->prepare_resize(subbufs, subbuf_size);
		if (err) {
			kmemtrace_finish_resize(false);
			return err;
		}
	}
	return 0;
}

/* Context: kmemtrace_mutex is held. */
static int kmemtrace_resize(unsigned int subbufs, unsigned int subbuf_size)
{
	struct kmemtrace_buffers *buffers = NULL;
	int err;

	/* Before the first session there are no buffers. */
	if (kmemtrace_live.buffers) {
		buffers = kmemtrace_buffers_open(subbufs, subbuf_size);
		if (IS_ERR(buffers))
			return PTR_ERR(buffers);
	}
	err = kmemtrace_prepare_resize(subbufs, subbuf_size);
	if (err) {
		kmemtrace_buffers_put(buffers);
		return err;
	}
	kmemtrace_finish_resize(true);
	if (buffers)
		kmemtrace_use_buffers(buffers);
	kmemtrace_subbufs = subbufs;
	kmemtrace_subbuf_size = subbuf_size;
	kmemtrace_call_features(changed);
	return 0;
}

int kmemtrace_set_geometry(unsigned int subbufs, unsigned int subbuf_size)
{
	int err;

	mutex_lock(&kmemtrace_mutex);
	subbufs = subbufs ?: kmemtrace_subbufs;
	subbuf_size = rounddown(subbuf_size ?: kmemtrace_subbuf_size,
				kmemtrace_record_size);
	if (kmemtrace_on)
		err = -EBUSY;
	else if (!kmemtrace_geometry_fits(subbufs, subbuf_size))
		err = -EINVAL;
	else
		err = kmemtrace_resize(subbufs, subbuf_size);
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

/* --- On and off ------------------------------------------------------------------ */

/* Drop the unread records.  Context: no event is recorded, the live set exists. */
static void kmemtrace_discard(void)
{
	kmemtrace_call_features(discard);
	kmemtrace_buffers_reset(kmemtrace_live.buffers, kmemtrace_clock());
	kmemtrace_call_features(changed);
}

/* Context: no event is recorded. */
static void kmemtrace_new_session(void)
{
	kmemtrace_sessions++;
	kmemtrace_discard();
	kmemtrace_call_features(begin);
}

/* Detach the features before @feature in the list, last feature first. */
static void kmemtrace_detach_before(struct kmemtrace_feature *feature)
{
	list_for_each_entry_continue_reverse(feature, &kmemtrace_features, list)
		if (feature->detach)
			feature->detach();
}

/* Return 0 or -errno; on failure nothing is attached. */
static int kmemtrace_attach(void)
{
	struct kmemtrace_feature *feature;
	int err;

	list_for_each_entry(feature, &kmemtrace_features, list) {
		err = feature->attach ? feature->attach() : 0;
		if (err) {
			kmemtrace_detach_before(feature);
			return err;
		}
	}
	return 0;
}

static int kmemtrace_switch_on(void)
{
	bool had_buffers = kmemtrace_live.buffers;
	int err;

	/* Steps that may fail come first, while nothing has changed. */
	err = kmemtrace_need_buffers();
	if (err)
		return err;
	err = kmemtrace_attach();
	if (err) {
		/* No session has begun yet: free the memory that only sessions use. */
		if (!had_buffers) {
			kmemtrace_use_buffers(NULL);
			kmemtrace_call_features(release);
		}
		return err;
	}
	kmemtrace_new_session();
	kmemtrace_writer_start();
	WRITE_ONCE(kmemtrace_on, true);
	return 0;
}

static void kmemtrace_switch_off(void)
{
	struct kmemtrace_feature *feature;

	kmemtrace_writer_stop();
	list_for_each_entry_reverse(feature, &kmemtrace_features, list) {
		if (feature->end)
			feature->end();
		if (feature->detach)
			feature->detach();
	}
	WRITE_ONCE(kmemtrace_on, false);
	kmemtrace_writer_report_lost();
	kmemtrace_call_features(changed);
}

/*
 * Switch tracing off if kmemtrace_writer_stop() has ended recording, in a context that
 * cannot sleep.  Context: kmemtrace_mutex is held.
 */
static void kmemtrace_complete_stop(void)
{
	if (kmemtrace_on && !kmemtrace_is_recording())
		kmemtrace_switch_off();
}

void kmemtrace_finish_stop(void)
{
	mutex_lock(&kmemtrace_mutex);
	kmemtrace_complete_stop();
	mutex_unlock(&kmemtrace_mutex);
}

int kmemtrace_set_enabled(bool on)
{
	int err = 0;

	mutex_lock(&kmemtrace_mutex);
	kmemtrace_complete_stop();
	if (on && !kmemtrace_on)
		err = kmemtrace_switch_on();
	else if (!on && kmemtrace_on)
		kmemtrace_switch_off();
	mutex_unlock(&kmemtrace_mutex);
	return err;
}

void kmemtrace_reset(void)
{
	mutex_lock(&kmemtrace_mutex);
	kmemtrace_complete_stop();
	if (kmemtrace_on) {
		kmemtrace_writer_stop();
		kmemtrace_writer_wait();
		kmemtrace_new_session();
		kmemtrace_writer_start();
	} else if (kmemtrace_live.buffers) {
		kmemtrace_discard();
		kmemtrace_writer_reset_lost();
	}
	mutex_unlock(&kmemtrace_mutex);
}
