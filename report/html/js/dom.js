// SPDX-License-Identifier: GPL-2.0-or-later
// Creates elements. Text from a capture becomes a text node or an attribute value, never
// markup.
(function (kmt) {
	"use strict";

	const SVG = "http://www.w3.org/2000/svg";

	function fill(element, attributes, children) {
		for (const name of Object.keys(attributes || {})) {
			const value = attributes[name];

			if (value === null || value === undefined || value === false)
				continue;
			element.setAttribute(name, value === true ? "" : String(value));
		}
		for (const child of children.flat(Infinity)) {
			if (child === null || child === undefined)
				continue;
			element.append(child instanceof Node ? child : String(child));
		}
		return element;
	}

	/** Create an HTML element. Children are nodes, texts, or arrays of these. */
	function el(tag, attributes, ...children) {
		return fill(document.createElement(tag), attributes, children);
	}

	/** Create an SVG element. */
	function svg(tag, attributes, ...children) {
		return fill(document.createElementNS(SVG, tag), attributes, children);
	}

	/** Create a button that calls a function. */
	function button(text, action, attributes) {
		const element = el("button", Object.assign({ type: "button" }, attributes), text);

		element.addEventListener("click", action);
		return element;
	}

	/** Show a name from a capture. Its direction does not affect the text around it. */
	function name(text) {
		return el("bdi", { class: "name" }, text);
	}

	/** Show a sentence that may contain names from a capture. */
	function sentence(text) {
		return el("bdi", {}, String(text));
	}

	/**
	 * Show a number. The title has the exact value, and data-value the number for
	 * scripts.
	 */
	function value(number, unit) {
		const known = kmt.format.isNumber(number);

		return el("span", {
			class: "value",
			title: kmt.format.exact(number, unit),
			"data-value": known ? number : null,
		}, kmt.format.value(number, unit));
	}

	/** Return the value of a CSS variable, such as the colour "--fg". */
	function variable(property) {
		return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
	}

	kmt.dom = { el, svg, button, name, sentence, value, variable };
})(window.kmt);
