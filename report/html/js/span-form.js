// SPDX-License-Identifier: GPL-2.0-or-later
// Selects a time span without a mouse: by two times, or by arrow keys on the chart.
(function (kmt) {
	"use strict";

	const { el, button } = kmt.dom;

	/** Create the form. Times are in seconds from the first record. */
	function create(app) {
		const { model, span } = app;
		const { width_ns, start_ns } = model.windows;
		const input = (id, label) => el("input", {
			id, type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": label,
		});
		const from = input("span-from", "Start of the span in seconds");
		const to = input("span-to", "End of the span in seconds");
		const status = el("p", { class: "note", id: "span-status", role: "status" });
		const seconds = (field) => {
			const value = Number(field.value.trim().replace(/\s*s$/, "") || NaN);

			if (Number.isFinite(value))
				field.removeAttribute("aria-invalid");
			else
				field.setAttribute("aria-invalid", "true");
			return value * 1e9;
		};
		const form = el("form", { class: "tools span-form" },
			el("label", {}, "From ", from, " s"), el("label", {}, "to ", to, " s"),
			el("button", { type: "submit", id: "span-apply" }, "Select span"),
			button("Whole capture", () => span.reset(), { id: "span-reset" }));

		form.addEventListener("submit", (event) => {
			event.preventDefault();
			const window = (ns) => (ns - start_ns) / width_ns;
			const first = Math.floor(window(seconds(from)) + 1e-6);
			const last = Math.ceil(window(seconds(to)) - 1e-6) - 1;

			if (Number.isFinite(first) && Number.isFinite(last))
				span.set(first, Math.max(first, last));
		});
		const show = () => {
			const digits = (ns) => String(Number((ns / 1e9).toFixed(9)));

			from.value = digits(span.startNs());
			to.value = digits(span.stopNs());
			status.textContent = (span.whole ? "The whole capture is selected: " :
				"Selected: ") + kmt.format.time(span.startNs()) + " to " +
				kmt.format.time(span.stopNs()) + ", " +
				kmt.format.grouped(span.to - span.from + 1) + " of " +
				kmt.format.grouped(model.windows.n) + " windows of " +
				kmt.format.time(width_ns) + ".";
		};

		span.onChange(show);
		show();
		return el("div", {}, form, status);
	}

	/**
	 * Let arrow keys on an element move the span by a window, with Shift its end; Escape
	 * selects everything.
	 */
	function addKeys(element, app) {
		const { span } = app;

		element.addEventListener("keydown", (event) => {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];

			if (event.key === "Escape") {
				span.reset();
			} else if (step && event.shiftKey) {
				span.set(span.from, Math.max(span.from, span.to + step));
			} else if (step && span.whole) {
				const at = step > 0 ? 0 : span.to;

				span.set(at, at);
			} else if (step) {
				const width = span.to - span.from;
				const last = app.model.windows.n - 1;
				const start = Math.min(Math.max(0, span.from + step), last - width);

				span.set(start, start + width);
			} else {
				return;
			}
			event.preventDefault();
		});
	}

	kmt.spanForm = { create, addKeys };
})(window.kmt);
