// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as text: rounded with a unit for reading, and exact for a title.
(function (kmt) {
	"use strict";

	const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	const DECIMAL = ["", " k", " M", " G", " T", " P"];

	/** Write a number with three significant digits. */
	function digits(value) {
		const size = Math.abs(value);

		if (size >= 100 || Number.isInteger(value))
			return String(Math.round(value));
		return value.toFixed(size >= 10 ? 1 : 2);
	}

	/** Divide by base until the value is below it; return the value and the step. */
	function scale(value, base, steps) {
		let step = 0;

		// 1023.9 would be shown as 1024.
		while (Math.round(Math.abs(value)) >= base && step < steps - 1) {
			value /= base;
			step++;
		}
		return [value, step];
	}

	function isNumber(value) {
		return typeof value === "number" && Number.isFinite(value);
	}

	/** Write an integer with thousands separators. */
	function grouped(value) {
		const text = String(Math.round(Math.abs(value)));

		if (/[^0-9]/.test(text))
			return String(value);
		return (value < 0 ? "-" : "") + text.replace(/\B(?=(\d{3})+$)/g, ",");
	}

	function bytes(value) {
		const [scaled, step] = scale(value, 1024, BINARY.length);

		return digits(scaled) + " " + BINARY[step];
	}

	function count(value) {
		if (Math.abs(value) < 100000)
			return grouped(value);
		const [scaled, step] = scale(value, 1000, DECIMAL.length);

		return digits(scaled) + DECIMAL[step];
	}

	/** Write a time in ns. */
	function time(value) {
		const size = Math.abs(value);

		if (value === 0)
			return "0 s";
		if (size < 1000)
			return grouped(value) + " ns";
		if (size < 1e6)
			return digits(value / 1e3) + " µs";
		if (size < 1e9)
			return digits(value / 1e6) + " ms";
		if (size < 120e9)
			return digits(value / 1e9) + " s";
		if (size < 7200e9)
			return digits(value / 60e9) + " min";
		return digits(value / 3600e9) + " h";
	}

	/** Write a share from 0 to 1. */
	function share(value) {
		return (100 * value).toFixed(Math.abs(value) < 0.9995 ? 1 : 0) + " %";
	}

	/** Write a quotient. */
	function rate(value) {
		return Math.abs(value) < 1000 ? digits(value) : count(value);
	}

	const FORMATS = { bytes, count, time, share, rate };
	const EXACT = {
		bytes: (value) => grouped(value) + " bytes",
		count: grouped,
		time: (value) => grouped(value) + " ns",
		share: (value) => String(100 * value) + " %",
		rate: String,
	};

	/** The text that stands for a value that is not known. */
	const UNKNOWN = "–";

	/** Write a value of a unit: bytes, count, time (in ns), share (0 to 1), or rate. */
	function value(number, unit) {
		return isNumber(number) ? FORMATS[unit](number) : UNKNOWN;
	}

	/** Write a value of a unit without rounding. */
	function exact(number, unit) {
		return isNumber(number) ? EXACT[unit](number) : "not known";
	}

	kmt.format = { bytes, count, time, share, rate, value, exact, grouped, isNumber, UNKNOWN };
})(window.kmt);
