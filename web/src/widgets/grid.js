// SPDX-License-Identifier: MIT
// Any number of rows by SlickGrid, which asks for those that are seen. Rows come in pages that are kept for a while.
import { SlickGrid } from 'slickgrid';
import Sortable from 'sortablejs';
import { html, nonce, useEffect, useRef } from '../ui.js';

window.Sortable = Sortable; // SlickGrid looks for it there

const PAGE = 200, KEPT = 60;

// load(at, n, signal) → { total, rows }. The grid counts lines: rows by their position, and gaps between them. gaps: [{ after }] in
// order, where `after` is the position of the row above (-1: above all).
export class Rows {
	constructor(load, changed) {
		this.load = load;
		this.changed = changed;
		this.total = 0;
		this.pages = new Map();
		this.stale = new Map(); // pages that are being asked again: shown until the new ones are there
		this.asked = new Map();
		this.gaps = [];
	}
	// The line of a position, and what a line is: { gap } or { position }.
	lineOf(position) {
		let n = 0;
		while (n < this.gaps.length && this.gaps[n].after < position) {
			n++;
		}
		return position + n;
	}
	at(line) {
		for (let n = 0; n < this.gaps.length; n++) {
			const there = this.gaps[n].after + 1 + n;
			if (there >= line) {
				return there === line ? { gap: this.gaps[n] } : { position: line - n };
			}
		}
		return { position: line - this.gaps.length };
	}
	getLength() {
		return this.total + this.gaps.length;
	}
	getItem(line) {
		const { gap, position: i } = this.at(line);
		if (gap) {
			return gap;
		}
		const p = Math.floor(i / PAGE), page = this.pages.get(p);
		/* It was the last page once, and there is more by now. */
		if (!page || (page.of !== this.total && i % PAGE >= page.length)) {
			this.want(p);
		}
		return this.row(i);
	}
	row(i) {
		const p = Math.floor(i / PAGE), page = this.pages.get(p) ?? this.stale.get(p);
		return page?.[i % PAGE] ?? null;
	}
	getItemMetadata(line) {
		const { gap, position } = this.at(line);
		if (gap) {
			return { cssClasses: 'gap', selectable: false, columns: { 0: { colspan: '*', formatter: () => gap.text } } };
		}
		return this.meta?.(this.peek(line), position) ?? null;
	}
	// The row of a line, if it is here and no gap.
	peek(line) {
		const { position: i } = this.at(line);
		return i === undefined ? null : this.row(i);
	}
	want(p) {
		if (this.asked.has(p) || p < 0) {
			return;
		}
		/* What was scrolled past is not wanted any more. */
		for (const [q, control] of this.asked) {
			if (Math.abs(q - p) > 4) {
				control.abort();
				this.asked.delete(q);
			}
		}
		const control = new AbortController();
		this.asked.set(p, control);
		this.load(p * PAGE, PAGE, control.signal).then(
			(a) => {
				this.asked.delete(p);
				this.pages.delete(p);
				this.stale.delete(p);
				this.pages.set(p, Object.assign(a.rows, { of: a.total }));
				if (this.pages.size > KEPT) {
					this.pages.delete(this.pages.keys().next().value);
				}
				const grew = a.total !== this.total;
				this.total = a.total;
				this.changed(p * PAGE, a.rows.length, grew, a);
				this.arrived?.();
				if (this.again) {
					this.refresh(false);
				}
			},
			(e) => {
				this.asked.delete(p);
				if (e.name !== 'AbortError') {
					this.failed?.(e);
				}
			},
		);
	}
	// There is more: the last page is asked again. `all`: what was there may stand elsewhere now, so it is all asked again as it is seen.
	refresh(all) {
		const last = Math.max(0, Math.floor((this.total - 1) / PAGE));
		if (all) {
			this.stale = new Map(this.pages);
			this.pages.clear();
		}
		/* What is on its way may be without what has just come. */
		this.again = this.asked.has(last);
		this.want(last);
	}
	forget() {
		for (const control of this.asked.values()) {
			control.abort();
		}
		this.asked.clear();
		this.pages.clear();
		this.stale.clear();
	}
}

// SlickGrid calls its container a grid, with panes that can be focused between it and the rows, which no reader of a screen allows. The
// rows' parent is the grid; the headers are named by the cells' places.
function roles(e, label) {
	e.setAttribute('role', 'group');
	e.setAttribute('aria-label', label);
	e.querySelectorAll('.slick-header-columns, .slick-header-column').forEach((x) => x.removeAttribute('role'));
	e.querySelectorAll('.slick-pane').forEach((x) => x.removeAttribute('tabindex'));
	const canvas = e.querySelector('.grid-canvas-left.grid-canvas-top, .grid-canvas');
	canvas?.setAttribute('role', 'grid');
	canvas?.setAttribute('aria-label', `${label}, one a row`);
}

export function Grid({ columns, rows, label = 'Events', onReady, onChoose, onMenu, onHeader, meta }) {
	const ref = useRef(null);
	const grid = useRef(null);
	const handlers = useRef({});
	handlers.current = { onChoose, onMenu, onHeader, meta };
	useEffect(() => {
		rows.meta = (row, i) => handlers.current.meta?.(row, i);
		const g = new SlickGrid(ref.current, rows, columns, {
			nonce, rowHeight: 24, headerRowHeight: 26, enableHtmlRendering: false, enableCellNavigation: true, enableColumnReorder: true, forceFitColumns: false, enableTextSelectionOnCells: true,
			defaultFormatter: (r, c, v) => v ?? '', multiSelect: false, syncColumnCellResize: true,
		});
		roles(ref.current, label);
		g.onClick.subscribe((e, a) => handlers.current.onChoose?.(a.row, rows.peek(a.row)));
		let waits = -1; // the chosen line is not here yet
		g.onActiveCellChanged.subscribe((e, a) => {
			if (a.row !== undefined) {
				waits = rows.peek(a.row) ? -1 : a.row;
				handlers.current.onChoose?.(a.row, rows.peek(a.row), true);
			}
		});
		g.onContextMenu.subscribe((e) => {
			const at = g.getCellFromEvent(e);
			if (at) {
				handlers.current.onMenu?.(e.getNativeEvent?.() ?? e, at.row, g.getColumns()[at.cell], rows.peek(at.row));
			}
		});
		g.onKeyDown.subscribe((e) => {
			const native = e.getNativeEvent?.() ?? e;
			const at = g.getActiveCell();
			if (native.ctrlKey || native.metaKey || native.altKey) {
				return;
			}
			const to = { j: 1, k: -1 }[native.key];
			if (to && at) {
				native.preventDefault();
				g.gotoCell(Math.max(0, Math.min(rows.getLength() - 1, at.row + to)), at.cell);
				e.stopImmediatePropagation();
				native.stopPropagation();
			} else if (native.key === 'Home' || native.key === 'End') {
				native.preventDefault();
				e.stopImmediatePropagation();
				native.stopPropagation();
				g.gotoCell(native.key === 'Home' ? 0 : rows.getLength() - 1, at?.cell ?? 0);
			} else if ((native.key === 'F10' && native.shiftKey) || native.key === 'ContextMenu') {
				native.preventDefault();
				if (at) {
					const box = g.getActiveCellNode().getBoundingClientRect();
					handlers.current.onMenu?.({ preventDefault() {}, clientX: box.left + 10, clientY: box.bottom }, at.row, g.getColumns()[at.cell], rows.peek(at.row));
				}
			}
		});
		rows.arrived = () => {
			const at = g.getActiveCell();
			if (at && waits === at.row && rows.peek(at.row)) {
				waits = -1;
				handlers.current.onChoose?.(at.row, rows.peek(at.row), true);
			}
		};
		const resize = new ResizeObserver(() => g.resizeCanvas());
		resize.observe(ref.current);
		grid.current = g;
		onReady?.(g);
		return () => {
			resize.disconnect();
			rows.forget();
			g.destroy(true);
		};
	}, [rows]);
	useEffect(() => {
		grid.current?.setColumns(columns);
		roles(ref.current, label);
	}, [columns]);
	return html`<div class="grid" ref=${ref}></div>`;
}
