// SPDX-License-Identifier: GPL-2.0-or-later
// The sections of the page. Each one is built on its own, so that a fault in one leaves
// the others usable.
(function (kmt) {
	"use strict";

	const { el } = kmt.dom;
	const panels = [];

	/**
	 * Register a section:
	 *   id     the id of the section, for links
	 *   title  its heading
	 *   order  the place on the page; smaller is higher
	 *   note   a sentence below the heading (optional)
	 *   when   function (app) that returns whether the page has the section (optional)
	 *   build  function (body, app) that fills the element body. It returns a text if
	 *          there is nothing to show; the section then has only this text.
	 */
	function add(panel) {
		panels.push(panel);
	}

	function build(panel, app) {
		const body = el("div", { class: "panel-body" });
		const heading = "heading-" + panel.id;
		const section = el("section", {
			id: panel.id, class: "panel", "aria-labelledby": heading,
		}, el("h2", { id: heading }, panel.title),
		panel.note ? el("p", { class: "note" }, panel.note) : null, body);

		// The body must be in the document: charts measure it.
		app.main.append(section);
		try {
			const nothing = panel.build(body, app);

			if (typeof nothing === "string")
				body.replaceChildren(el("p", { class: "nothing" }, nothing));
		} catch (error) {
			body.replaceChildren(el("p", { class: "problem" },
				"This section cannot be shown: " + error.message));
		}
	}

	/** Build all sections, and the links to them. */
	function buildAll(app, navigation) {
		panels.sort((a, b) => a.order - b.order);
		for (const panel of panels.filter((one) => !one.when || one.when(app))) {
			navigation.append(el("li", {}, el("a", { href: "#" + panel.id }, panel.title)));
			build(panel, app);
		}
	}

	kmt.panels = { add, buildAll };
})(window.kmt);
