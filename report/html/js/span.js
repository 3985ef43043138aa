// SPDX-License-Identifier: GPL-2.0-or-later
// The selected time span, in whole windows, and the figures of a span.
(function (kmt) {
	"use strict";

	const SUMS = ["allocs", "allocated", "requested", "frees"];

	/** Create the selection over n windows. All windows are selected at first. */
	function create(windows) {
		const last = Math.max(0, windows.n - 1);
		const listeners = [];
		const span = { from: 0, to: last, whole: true };

		/** Select the windows from..to, in any order; values are limited to the data. */
		span.set = (from, to) => {
			const ends = [from, to].map((i) => Math.min(last, Math.max(0, Math.round(i))));

			span.from = Math.min(...ends);
			span.to = Math.max(...ends);
			span.whole = span.from === 0 && span.to === last;
			for (const listener of listeners)
				listener(span);
		};
		span.reset = () => span.set(0, last);
		/** Call a function after each change. */
		span.onChange = (listener) => listeners.push(listener);
		/** Return the first and the last time of the span, in ns. */
		span.startNs = () => windows.start_ns + span.from * windows.width_ns;
		span.stopNs = () => windows.start_ns + (span.to + 1) * windows.width_ns;
		return span;
	}

	/**
	 * Return the figures of a series in the span: sums, the live memory at its end, and
	 * the growth. All are null if there is no series.
	 */
	function figures(series, span) {
		const values = { live: null, growth: null, wasted: null };

		for (const key of SUMS)
			values[key] = series ? series.sum(key, span.from, span.to) : null;
		if (!series)
			return values;
		const before = series.at(span.from - 1);

		values.live = series.at(span.to);
		values.growth = before === null ? null : values.live - before;
		values.wasted = values.allocated - values.requested;
		return values;
	}

	kmt.span = { create, figures };
})(window.kmt);
