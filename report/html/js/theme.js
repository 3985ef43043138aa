// SPDX-License-Identifier: GPL-2.0-or-later
// Light and dark mode: that of the system until the reader chooses one.
(function (kmt) {
	"use strict";

	const dark = window.matchMedia("(prefers-color-scheme: dark)");
	const listeners = [];
	let chosen = null;
	let printing = false;

	function current() {
		if (printing)
			return "light";
		return chosen || (dark.matches ? "dark" : "light");
	}

	function apply() {
		document.documentElement.setAttribute("data-theme", current());
		for (const listener of listeners)
			listener();
	}

	/** Call a function after each change, to draw a canvas again. */
	function onChange(listener) {
		listeners.push(listener);
	}

	/** Create the button that changes the mode. */
	function button() {
		const element = kmt.dom.button("", () => {
			chosen = current() === "dark" ? "light" : "dark";
			apply();
		}, { id: "theme" });
		const label = () => {
			element.textContent = current() === "dark" ? "Light mode" : "Dark mode";
		};

		onChange(label);
		label();
		return element;
	}

	/** Draw the canvases for paper, which is light. */
	function print(starts) {
		printing = starts;
		apply();
	}

	dark.addEventListener("change", apply);
	window.addEventListener("beforeprint", () => print(true));
	window.addEventListener("afterprint", () => print(false));
	apply();
	kmt.theme = { onChange, button, current };
})(window.kmt);
