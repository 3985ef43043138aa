// SPDX-License-Identifier: GPL-2.0-or-later
// A table that sorts and filters by each column and shows one page of rows at a time.
(function (kmt) {
	"use strict";

	const { el, button } = kmt.dom;
	const PAGE = 50;

	const FILTER_HINT = {
		text: "Part of the text; !text excludes",
		bytes: "For example >1000, <=2M, 1K..4K",
		count: "For example >1000, <=2M, 10..20",
		time: "In ns, or for example >5ms, 1s..2s",
		share: "In percent, for example >50",
		rate: "For example >1.5, 0..1",
	};

	/** Compare values of a column; unknown values come last in both directions. */
	function comparison(column, descending) {
		const sign = descending ? -1 : 1;

		return (a, b) => {
			const left = column.value(a);
			const right = column.value(b);

			if (left === null || right === null)
				return (left === null) - (right === null);
			if (left === right)
				return 0;
			return left < right ? -sign : sign;
		};
	}

	/** The rows in the order and with the filters that the reader has chosen. */
	class Rows {
		constructor(columns, key) {
			this.columns = columns;
			this.filters = new Map();
			this.all = [];
			this.sort(columns.find((column) => column.key === key) || columns[0]);
		}

		/** Sort by a column: numbers from the largest, unless the column is ascending, and
		 * the other way when repeated. */
		sort(column) {
			this.descending = this.column === column ? !this.descending :
				column.unit !== "text" && !column.ascending;
			this.column = column;
		}

		/** Set the filter of a column. Return whether the text is a filter. */
		filter(column, text) {
			const test = text.trim() ? kmt.filter(text, column.unit) : undefined;

			if (test)
				this.filters.set(column, test);
			else
				this.filters.delete(column);
			return test !== null;
		}

		visible() {
			const filters = [...this.filters];
			const rows = this.all.filter((row) =>
				filters.every(([column, test]) => test(column.value(row))));

			return rows.sort(comparison(this.column, this.descending));
		}
	}

	class Table {
		constructor(options) {
			this.options = options;
			this.rows = new Rows(options.columns, options.sort);
			this.page = 0;
			this.pageSize = options.pageSize || PAGE;
			this.body = el("tbody");
			this.status = el("span", { role: "status" });
			this.back = button("Previous", () => this.turn(-1));
			this.forward = button("Next", () => this.turn(1));
			this.pager = el("div", { class: "pager" }, this.back, this.forward, this.status);
			this.element = el("div", {}, this.pager, el("div", {
				class: "scroll" + (options.wide ? " wide" : ""), tabindex: 0, role: "region", "aria-label": options.label,
			}, el("table", {}, this.head(), this.body)));
			this.body.addEventListener("click", (event) => this.click(event));
			this.element.addEventListener("keydown", (event) => this.key(event));
			this.setRows(options.rows || []);
		}

		head() {
			const titles = el("tr");
			const filters = el("tr", { class: "filters" });

			this.titles = new Map();
			for (const column of this.options.columns) {
				titles.append(this.title(column));
				filters.append(el("th", {}, column.value ? this.filterInput(column) : null));
			}
			return el("thead", {}, titles, this.options.filters === false ? null : filters);
		}

		title(column) {
			const cell = el("th", {
				scope: "col", "data-key": column.key, title: column.hint,
				class: column.unit === "text" ? "text" : null,
			});

			if (!column.value) {
				cell.append(column.title);
				return cell;
			}
			cell.append(button(column.title, () => {
				this.rows.sort(column);
				this.first();
			}));
			this.titles.set(column, cell);
			return cell;
		}

		filterInput(column) {
			const input = el("input", {
				type: "search", "data-filter": column.key, title: FILTER_HINT[column.unit],
				"aria-label": "Filter by " + column.title, spellcheck: "false",
				placeholder: column.unit === "text" ? "text" : ">1000",
			});

			input.addEventListener("input", () => {
				if (this.rows.filter(column, input.value))
					input.removeAttribute("aria-invalid");
				else
					input.setAttribute("aria-invalid", "true");
				this.first();
			});
			return input;
		}

		/** Replace the rows; the order and the filters remain. */
		setRows(rows) {
			this.rows.all = rows;
			this.draw();
		}

		first() {
			this.page = 0;
			this.draw();
		}

		turn(by) {
			this.page += by;
			this.draw();
		}

		draw() {
			const visible = this.rows.visible();
			const pages = Math.max(1, Math.ceil(visible.length / this.pageSize));

			this.page = Math.min(Math.max(this.page, 0), pages - 1);
			const start = this.page * this.pageSize;

			this.shown = visible.slice(start, start + this.pageSize);
			this.body.replaceChildren(...this.shown.map((row, i) => this.row(row, i)));
			for (const [column, cell] of this.titles)
				cell.setAttribute("aria-sort", column !== this.rows.column ? "none" :
					this.rows.descending ? "descending" : "ascending");
			this.drawPager(start, visible.length, pages);
		}

		drawPager(start, n, pages) {
			const { grouped } = kmt.format;
			const all = this.rows.all.length;
			const of = n === all ? grouped(all) : grouped(n) + " (of " + grouped(all) + ")";
			const noun = this.options.noun || "rows";

			this.status.textContent = n === 0 ? "No " + noun + " of " + grouped(all) + " match" :
				grouped(start + 1) + " to " + grouped(start + this.shown.length) + " of " +
				of + " " + noun;
			this.back.disabled = this.page === 0;
			this.forward.disabled = this.page >= pages - 1;
			this.pager.hidden = pages === 1 && this.options.filters === false;
		}

		row(row, i) {
			const element = el("tr", {
				"data-row": i, class: this.options.open ? "openable" : null,
			});

			for (const [key, value] of Object.entries(this.options.data ? this.options.data(row) : {}))
				element.setAttribute("data-" + key, value);
			for (const column of this.options.columns)
				element.append(el("td", {
					"data-key": column.key,
					class: [column.unit === "text" ? "text" : "", column.class || ""]
						.join(" ").trim() || null,
				}, this.cell(column, row)));
			return element;
		}

		cell(column, row) {
			const content = column.cell ? column.cell(row) :
				column.unit === "text" ? kmt.dom.name(column.value(row)) :
					kmt.dom.value(column.value(row), column.unit);

			if (!column.opens || !this.options.open)
				return content;
			return button(content, () => {}, { class: "link" });
		}

		/** Open the row of a click; a click that selects text opens nothing. */
		click(event) {
			const row = event.target.closest("tr");
			const isButton = event.target.closest("button") !== null;

			if (!row || !this.options.open || (!isButton && String(getSelection())))
				return;
			this.options.open(this.shown[Number(row.getAttribute("data-row"))]);
		}

		/** Move between the rows with the arrow keys, and between pages. */
		key(event) {
			const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
			const row = event.target.closest("tbody tr");

			if (!row)
				return;
			const buttons = [...this.body.querySelectorAll("button.link")];
			const at = buttons.indexOf(event.target);

			if (step && buttons[at + step]) {
				buttons[at + step].focus();
				event.preventDefault();
			} else if (event.key === "PageDown" || event.key === "PageUp") {
				this.turn(event.key === "PageDown" ? 1 : -1);
				const first = this.body.querySelector("button.link");

				if (first)
					first.focus();
				event.preventDefault();
			}
		}
	}

	/**
	 * Create a table. Options:
	 *   label     what the table shows, for screen readers
	 *   noun      the name of its rows, such as "call sites"
	 *   columns   [{key, title, unit, value, cell, hint, opens, ascending}]: the unit is "text" or
	 *             one of kmt.format; value(row) is a text, a number, or null if it is not
	 *             known; a column without it neither sorts nor filters; cell(row) creates
	 *             the content (default: the value); opens makes the content a button;
	 *             ascending: numbers are first sorted from the smallest
	 *   rows      the rows, which the functions of the columns and of open get
	 *   sort      the key of the column to sort by at first
	 *   pageSize  the number of rows on a page (default: 50)
	 *   filters   false for a table without filters
	 *   wide      whether the first column remains visible when the table scrolls
	 *   open      function (row), called by a click or Enter (optional)
	 *   data      function (row) that returns attributes data-* of the row (optional)
	 * The result has the property element and the function setRows(rows).
	 */
	function create(options) {
		return new Table(options);
	}

	kmt.table = { create };
})(window.kmt);
