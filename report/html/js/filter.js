// SPDX-License-Identifier: GPL-2.0-or-later
// Filters that a reader types above a column: "kfree", "!kfree", ">1000", "<=2M", "1K..4K".
(function (kmt) {
	"use strict";

	const BINARY = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
	const DECIMAL = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
	const TIME = { "": 1, ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };
	const SHARE = { "": 0.01, "%": 0.01 };
	const UNITS = { bytes: BINARY, count: DECIMAL, time: TIME, share: SHARE, rate: DECIMAL };
	const COMPARE = {
		">": (a, b) => a > b,
		">=": (a, b) => a >= b,
		"<": (a, b) => a < b,
		"<=": (a, b) => a <= b,
		"=": (a, b) => a === b,
		"!=": (a, b) => a !== b,
	};

	/** Return the value of "1.5M", or null if the text is no number of this unit. */
	function parse(text, unit) {
		const match = /^(-?[0-9][0-9,]*\.?[0-9]*|-?\.[0-9]+)\s*([^0-9]*)$/.exec(text.trim());

		if (!match)
			return null;
		// "K", "KB" and "KiB" mean the same.
		const lower = match[2].toLowerCase();
		const suffix = unit === "bytes" ? lower.replace(/i?b$/, "") : lower;
		const factor = UNITS[unit][suffix];

		return factor === undefined ? null : Number(match[1].replace(/,/g, "")) * factor;
	}

	function numberFilter(text, unit) {
		const range = text.split("..");

		if (range.length === 2) {
			const [low, high] = range.map((end) => parse(end, unit));

			return low === null || high === null ? null :
				(value) => value !== null && value >= low && value <= high;
		}
		const match = /^\s*([<>]=?|!=|=)?(.*)$/.exec(text);
		const limit = parse(match[2], unit);

		if (limit === null)
			return null;
		const compare = COMPARE[match[1] || "="];

		return (value) => value !== null && compare(value, limit);
	}

	function textFilter(text) {
		const excludes = text.startsWith("!");
		const part = (excludes ? text.slice(1) : text).toLowerCase();

		return (value) => String(value).toLowerCase().includes(part) !== excludes;
	}

	/**
	 * Return a function that tests a value of a column with this unit ("text" or a unit
	 * of numbers). It is null if the text is no filter.
	 */
	function filter(text, unit) {
		return unit === "text" ? textFilter(text) : numberFilter(text, unit);
	}

	kmt.filter = filter;
})(window.kmt);
