// SPDX-License-Identifier: GPL-2.0-or-later
// What was traced, whether the capture can be trusted, and the totals.
(function (kmt) {
	"use strict";

	const { el, name, sentence, value } = kmt.dom;
	const LEVELS = { none: "good", events: "bad", cut_off: "bad", unknown: "warn" };
	const HEADINGS = {
		none: "No event was lost.",
		events: "Events were lost.",
		cut_off: "The capture is cut off.",
		unknown: "It is not known whether events were lost.",
	};

	function fact(title, content) {
		if (content === null || content === undefined || content === "")
			return null;
		return el("div", {}, el("dt", {}, title), el("dd", {},
			typeof content === "string" ? name(content) : content));
	}

	function text(content) {
		return content === null || content === undefined ? null : String(content);
	}

	function spanOf(capture) {
		const given = capture.span;

		if (!kmt.model.isObject(given))
			return null;
		return el("span", {}, value(given.start_ns, "time"), " to ",
			value(given.stop_ns, "time"));
	}

	function facts(capture) {
		return el("dl", { class: "facts" },
			fact("Capture", text(capture.name)),
			fact("Kernel", text(capture.kernel_release)),
			fact("Machine", text(capture.machine)),
			fact("Recorded by", text(capture.source)),
			fact("Recorded", text(capture.recorded)),
			fact("CPUs", value(capture.cpus, "count")),
			fact("Page size", value(capture.page_size, "bytes")),
			fact("Events", value(capture.events, "count")),
			fact("Duration", value(capture.duration_ns, "time")),
			fact("Analysed time", spanOf(capture)),
			fact("Only", text(capture.filter)),
			fact("Sampled", capture.sample > 1 ?
				"1 of " + kmt.format.grouped(capture.sample) + " addresses" : null));
	}

	/** Show whether the capture can be trusted, first in words, then in figures. */
	function trust(given) {
		const level = LEVELS[given.loss] || "warn";
		const warnings = kmt.model.list(given.warnings);
		const figures = [];

		if (given.lost_events && !given.summary)
			figures.push(value(given.lost_events, "count"), " events were lost. ");
		if (given.lossy_fraction > 0)
			figures.push("Losses may affect ", value(given.lossy_fraction, "share"),
				" of the time. The charts show this time as bands.");
		return el("div", {
			class: "banner " + (level === "good" && warnings.length ? "warn" : level),
			id: "trust",
		}, el("p", {}, HEADINGS[given.loss] || HEADINGS.unknown),
		given.summary && given.summary !== HEADINGS[given.loss] ?
			el("p", {}, sentence(given.summary)) : null,
		figures.length ? el("p", {}, figures) : null,
		warnings.length ? el("ul", {}, warnings.map((line) => el("li", {}, sentence(line)))) : null);
	}

	function sentences(id, heading, lines) {
		if (!lines.length)
			return null;
		return el("div", { class: "banner warn", id }, el("p", {}, heading),
			el("ul", {}, lines.map((line) => el("li", {}, sentence(line)))));
	}

	function build(body, app) {
		const { model } = app;

		if (model.capture.name)
			document.title = "Kernel memory: " + model.capture.name;
		body.append(sentences("problems", "This page is incomplete.", model.problems) || "",
			trust(model.trust), facts(model.capture),
			sentences("cuts", "Parts that are not in this file", model.cuts) || "",
			el("p", { class: "muted" }, "Written by ", name(model.program), "."));
	}

	kmt.panels.add({ id: "overview", title: "Capture", order: 10, build });
})(window.kmt);
