/* SPDX-License-Identifier: MIT
 *
 * Lanes against time: one canvas for what happened, one above it for what the pointer does, labels beside them as
 * elements. The widget knows views and rows; whoever uses it says what the rows are, brings their tiles and puts things
 * into words:
 *
 *	const lanes = createLanes(host, {
 *		load(rows, asked) → Promise of Map(key → tile)   asked: {t0, t1, px}; only rows that are on the screen
 *		view(view, how)      the view changed; how: 'moves' while it does, 'rests' after that
 *		back()               Backspace
 *		area(area or null)   {t0, t1, rows}
 *		pick(item or null)   {row, tile, i, t}
 *		words(item) → [line, …]      for the tip and for screen readers
 *		runLabel(row, tile, i), spanLabel(row, tile, i), threadName(thread), counterText(row, value)
 *		menu(row, element)   the button of a lane
 *		fold(group)          a group was opened or closed
 *	});
 *	lanes.setBounds({t0, t1}); lanes.setRows(rows); lanes.setView({t0, t1});
 *
 * A row is {key, kind, label, sub, group, pinned, height, levels}; kind 'group' is a heading with `open`. Pinned rows stay
 * on top while the others scroll. No row is asked for before it is seen. Nothing of a trace becomes HTML. */

import { nameColour, patterns, themeColours } from './lanes_colour.js';
import { paintLane, runAt, runBox, SPAN_HEIGHT, visibleRuns } from './lanes_paint.js';
import { askedView, clampView, panView, pixelAt, ticks, tickText, timeAt, zoomView } from './lanes_view.js';

const RULER = 24;
const FONT = '11px system-ui, sans-serif';

export function rowHeight(row) {
	switch (row.kind) {
	case 'group':
		return 22;
	case 'density':
		return 40;
	case 'counter':
	case 'io':
		return 30;
	case 'spans':
		return (row.levels || 1) * SPAN_HEIGHT + 3;
	default:
		return 20;
	}
}

function element(name, className, parent) {
	const e = document.createElement(name);
	e.className = className;
	if (parent) {
		parent.append(e);
	}
	return e;
}

export function createLanes(host, use) {
	const root = element('div', 'lanes', host);
	const body = element('div', 'lanes-body', root);
	const space = element('div', 'lanes-space', body);
	const sticky = element('div', 'lanes-sticky', space);
	const names = element('div', 'lanes-names', sticky);
	const plot = element('div', 'lanes-plot', sticky);
	const canvas = element('canvas', 'lanes-canvas', plot);
	const over = element('canvas', 'lanes-over', plot);
	const tip = element('div', 'lanes-tip', root);
	const spoken = element('div', 'lanes-spoken', root);
	const g = canvas.getContext('2d');
	const o = over.getContext('2d');

	tip.hidden = true;
	tip.setAttribute('role', 'tooltip');
	spoken.setAttribute('role', 'status');
	spoken.setAttribute('aria-live', 'polite');
	plot.tabIndex = 0;
	plot.setAttribute('role', 'application');
	plot.setAttribute('aria-roledescription', 'timeline');
	plot.setAttribute('aria-label', 'Timeline. W and S zoom, A and D move, F shows everything, arrow keys go from item to item, '
		+ 'Enter picks one, Shift with drag selects an area.');
	names.setAttribute('role', 'list');
	names.setAttribute('aria-label', 'Lanes');

	const state = {
		bounds: { t0: 0, t1: 1 }, view: { t0: 0, t1: 1 }, rows: [], pinned: [], rest: [], tiles: new Map(), loss: [], area: null,
		arrows: [], picked: null, focus: null, pointer: null, width: 100, height: 100, dark: false, pinnedHeight: 0, busy: false,
	};
	let colours = themeColours(false);
	let paint = null;
	let frame = 0;
	let loadTimer = 0;
	let restTimer = 0;
	let loads = 0;
	let destroyed = false;

	/* ---- layout ---------------------------------------------------------------------------- */

	function resize() {
		const box = plot.getBoundingClientRect();
		const ratio = window.devicePixelRatio || 1;
		state.width = Math.max(50, Math.floor(box.width));
		state.height = Math.max(50, Math.floor(body.clientHeight));
		sticky.style.height = `${state.height}px`;
		for (const c of [canvas, over]) {
			c.width = Math.round(state.width * ratio);
			c.height = Math.round(state.height * ratio);
			c.style.width = `${state.width}px`;
			c.style.height = `${state.height}px`;
			c.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
		}
		changed(true);
	}

	function layOut() {
		state.pinned = state.rows.filter((r) => r.pinned);
		state.rest = state.rows.filter((r) => !r.pinned);
		let y = RULER;
		for (const row of state.pinned) {
			row.height = rowHeight(row);
			row.y = y;
			y += row.height;
		}
		state.pinnedHeight = y;
		for (const row of state.rest) {
			row.height = rowHeight(row);
			row.y = y;
			y += row.height;
		}
		space.style.height = `${Math.max(y + 4, body.clientHeight)}px`;
	}

	const top = (row) => (row.pinned ? row.y : row.y - body.scrollTop);

	/* The rows that are on the screen; the others are found by halving. */
	function visibleRows() {
		const from = state.pinnedHeight + body.scrollTop;
		const to = body.scrollTop + state.height;
		let low = 0;
		let high = state.rest.length;
		while (low < high) {
			const mid = (low + high) >> 1;
			if (state.rest[mid].y + state.rest[mid].height <= from) {
				low = mid + 1;
			} else {
				high = mid;
			}
		}
		let end = low;
		while (end < state.rest.length && state.rest[end].y < to) {
			end++;
		}
		return state.pinned.concat(state.rest.slice(low, end));
	}

	/* Labels are made for rows on the screen only, and made anew only where the row changed. */
	const labels = new Map();
	function showLabels(rows) {
		const wanted = new Set();
		rows.forEach((row, index) => {
			const id = `${row.key} ${row.kind} ${row.label} ${row.sub || ''} ${row.open} ${row.pinned} ${row.count}`;
			wanted.add(id);
			let e = labels.get(id);
			if (!e) {
				e = makeLabel(row);
				labels.set(id, e);
				names.append(e);
			}
			e.style.transform = `translateY(${top(row)}px)`;
			e.style.height = `${row.height}px`;
			e.classList.toggle('is-focused', state.focus !== null && state.focus.key === row.key);
			e.style.zIndex = row.pinned ? '2' : '1';
			e.setAttribute('aria-posinset', String(index + 1));
			e.setAttribute('aria-setsize', String(state.rows.length));
			/* A label half under the pinned ones is cut off there. */
			const hidden = row.pinned ? 0 : Math.max(0, state.pinnedHeight - top(row));
			e.style.clipPath = hidden > 0 ? `inset(${hidden}px 0 0 0)` : '';
		});
		for (const [id, e] of labels) {
			if (!wanted.has(id)) {
				e.remove();
				labels.delete(id);
			}
		}
	}

	function makeLabel(row) {
		const e = element('div', `lanes-name lanes-name-${row.kind}${row.pinned ? ' is-pinned' : ''}`);
		e.setAttribute('role', 'listitem');
		e.dataset.lane = row.key;
		if (row.kind === 'group') {
			const b = element('button', 'lanes-fold', e);
			b.type = 'button';
			b.setAttribute('aria-expanded', String(Boolean(row.open)));
			b.textContent = row.label;
			if (row.sub) {
				element('span', 'lanes-sub', e).textContent = row.sub;
			}
			b.addEventListener('click', () => use.fold(row));
		} else {
			if (row.colour) {
				const swatch = element('span', 'lanes-swatch', e);
				swatch.style.background = nameColour(row.colour, state.dark);
			}
			element('span', 'lanes-label', e).textContent = row.label;
			if (row.sub) {
				element('span', 'lanes-sub', e).textContent = row.sub;
			}
			e.title = row.sub ? `${row.label} ${row.sub}` : row.label;
		}
		if (use.menu && row.menu !== false) {
			const pin = element('button', 'lanes-pin', e);
			pin.type = 'button';
			pin.textContent = row.pinned ? '◆' : '◇';
			pin.title = row.pinned ? 'Unpin' : 'Pin';
			pin.setAttribute('aria-label', `${row.pinned ? 'Unpin' : 'Pin'} ${row.label}`);
			pin.setAttribute('aria-pressed', String(Boolean(row.pinned)));
			pin.addEventListener('click', () => use.pin(row));
			const more = element('button', 'lanes-more', e);
			more.type = 'button';
			more.textContent = '⋯';
			more.title = 'Hide, move, only this process';
			more.setAttribute('aria-label', `More about ${row.label}`);
			more.addEventListener('click', (e) => use.menu(row, e));
			e.addEventListener('contextmenu', (event) => use.menu(row, event));
		}
		return e;
	}

	/* ---- painting -------------------------------------------------------------------------- */

	function makePaint() {
		const threadColours = new Map();
		const nameColours = new Map();
		const dark = state.dark;
		return {
			colours,
			patterns: patterns(g, colours),
			threadColour(thread) {
				let c = threadColours.get(thread);
				if (!c) {
					c = nameColour(use.threadProcess(thread), dark);
					if (use.threadKnown(thread)) {
						threadColours.set(thread, c);
					}
				}
				return c;
			},
			nameColour(name) {
				let c = nameColours.get(name);
				if (!c) {
					c = nameColour(name, dark);
					nameColours.set(name, c);
				}
				return c;
			},
			runLabel: use.runLabel,
			spanLabel: use.spanLabel,
			counterText: use.counterText,
		};
	}

	function paintRuler() {
		g.fillStyle = colours.group;
		g.fillRect(0, 0, state.width, RULER);
		const marks = ticks(state.view, Math.max(2, state.width / 110));
		g.fillStyle = colours.faint;
		g.textBaseline = 'middle';
		for (const t of marks.at) {
			const x = Math.round(pixelAt(state.view, t, state.width)) + 0.5;
			g.fillRect(x - 0.5, RULER - 6, 1, 6);
			g.fillText(tickText(t, marks.step), x + 4, RULER / 2);
		}
		g.fillStyle = colours.line;
		g.fillRect(0, RULER - 1, state.width, 1);
		return marks;
	}

	function paintRow(row, index, marks) {
		const y = top(row);
		if (row.kind === 'group') {
			g.fillStyle = colours.group;
			g.fillRect(0, y, state.width, row.height);
			return;
		}
		if (index % 2) {
			g.fillStyle = colours.stripe;
			g.fillRect(0, y, state.width, row.height);
		}
		g.fillStyle = colours.line;
		g.globalAlpha = 0.5;
		for (const t of marks.at) {
			g.fillRect(Math.round(pixelAt(state.view, t, state.width)), y, 1, row.height);
		}
		g.globalAlpha = 1;
		paintLane(g, row, state.tiles.get(row.key), state.view, state.width, y, paint);
	}

	function paintLoss() {
		for (const hole of state.loss) {
			const x0 = pixelAt(state.view, hole.t0, state.width);
			const x1 = Math.max(pixelAt(state.view, hole.t1, state.width), x0 + 2);
			if (x1 < 0 || x0 > state.width) {
				continue;
			}
			const from = Math.max(x0, 0);
			const w = Math.min(x1, state.width) - from;
			g.globalAlpha = 0.55;
			g.fillStyle = paint.patterns.loss;
			g.fillRect(from, RULER, w, state.height - RULER);
			g.globalAlpha = 1;
			g.fillStyle = colours.loss;
			g.fillRect(from, RULER - 4, w, 4);
		}
	}

	function paintAll() {
		frame = 0;
		if (destroyed) {
			return;
		}
		const began = performance.now();
		const rows = visibleRows();
		g.font = FONT;
		g.textBaseline = 'middle';
		g.fillStyle = colours.back;
		g.fillRect(0, 0, state.width, state.height);
		const marks = paintRuler();
		const pinned = rows.filter((r) => r.pinned);
		const rest = rows.filter((r) => !r.pinned);
		g.save();
		g.beginPath();
		g.rect(0, state.pinnedHeight, state.width, state.height - state.pinnedHeight);
		g.clip();
		rest.forEach((row) => paintRow(row, row.index, marks));
		g.restore();
		pinned.forEach((row) => paintRow(row, row.index, marks));
		if (pinned.length) {
			g.fillStyle = colours.line;
			g.fillRect(0, state.pinnedHeight - 1, state.width, 1);
		}
		paintLoss();
		lanes.paintMilliseconds = performance.now() - began;
		showLabels(rows);
		paintOver();
	}

	function rowByKey(key) {
		return state.rows.find((r) => r.key === key);
	}

	/* Above or below the screen an arrow points there, and says whither. */
	function clampY(row) {
		const y = top(row) + row.height / 2;
		return Math.min(Math.max(y, row.pinned ? 0 : state.pinnedHeight + 6), state.height - 8);
	}

	function paintArrow(arrow) {
		const a = rowByKey(arrow.from);
		const b = rowByKey(arrow.to);
		const x = pixelAt(state.view, arrow.t, state.width);
		if (!b || x < -50 || x > state.width + 50) {
			return;
		}
		const y1 = clampY(b);
		const y0 = a ? clampY(a) : Math.max(RULER + 8, y1 - 26);
		o.strokeStyle = colours.accent;
		o.fillStyle = colours.accent;
		o.lineWidth = 1.8;
		o.beginPath();
		o.arc(x, y0, 3, 0, 7);
		o.fill();
		o.beginPath();
		const bend = Math.min(28, Math.abs(y1 - y0) / 2 + 6);
		o.moveTo(x, y0);
		o.bezierCurveTo(x - bend, y0, x - bend, y1, x - 1, y1);
		o.stroke();
		o.beginPath();
		o.moveTo(x + 1, y1);
		o.lineTo(x - 7, y1 - 4);
		o.lineTo(x - 7, y1 + 4);
		o.fill();
		if (arrow.text) {
			const w = o.measureText(arrow.text).width;
			const tx = Math.min(x + 8, state.width - w - 8);
			o.fillStyle = colours.back;
			o.fillRect(tx - 3, y0 - 8, w + 6, 16);
			o.fillStyle = colours.accent;
			o.fillText(arrow.text, tx, y0);
		}
	}

	function paintOver() {
		o.clearRect(0, 0, state.width, state.height);
		o.font = FONT;
		o.textBaseline = 'middle';
		if (state.area) {
			const x0 = pixelAt(state.view, state.area.t0, state.width);
			const x1 = pixelAt(state.view, state.area.t1, state.width);
			o.fillStyle = colours.area;
			o.fillRect(x0, 0, Math.max(x1 - x0, 1), state.height);
			o.fillStyle = colours.accent;
			o.fillRect(x0, 0, 1, state.height);
			o.fillRect(Math.max(x1 - 1, x0), 0, 1, state.height);
			o.fillRect(x0, 0, Math.max(x1 - x0, 1), 2);
		}
		const shown = state.focus;
		if (shown && shown.i >= 0) {
			const row = rowByKey(shown.key);
			const tile = row && state.tiles.get(row.key);
			if (tile && tile === shown.tile) {
				const [x, w] = runBox(tile, shown.i, state.view, state.width);
				o.strokeStyle = colours.accent;
				o.lineWidth = 2;
				const y = top(row) + (row.kind === 'spans' ? Math.min(tile.level[shown.i], row.levels - 1) * SPAN_HEIGHT : 0);
				o.strokeRect(x, y + 1, Math.max(w, 3), (row.kind === 'spans' ? SPAN_HEIGHT : row.height) - 2);
			}
		}
		for (const arrow of state.arrows) {
			paintArrow(arrow);
		}
		if (state.pointer && !drag) {
			const x = Math.round(state.pointer.x) + 0.5;
			o.fillStyle = colours.faint;
			o.globalAlpha = 0.7;
			o.fillRect(x, 0, 1, state.height);
			o.globalAlpha = 1;
			const marks = ticks(state.view, state.width);
			const text = tickText(timeAt(state.view, x, state.width), marks.step);
			const w = o.measureText(text).width;
			const tx = Math.min(x + 5, state.width - w - 6);
			o.fillStyle = colours.accent;
			o.fillRect(tx - 4, 2, w + 8, RULER - 6);
			o.fillStyle = colours.back;
			o.fillText(text, tx, RULER / 2 - 1);
		}
	}

	function changed(data) {
		if (!frame) {
			frame = requestAnimationFrame(paintAll);
		}
		if (data) {
			loadSoon(0);
		}
	}

	/* ---- data ------------------------------------------------------------------------------ */

	function loadSoon(wait) {
		clearTimeout(loadTimer);
		loadTimer = setTimeout(load, wait);
	}

	function fits(tile, row) {
		if (!tile) {
			return false;
		}
		if (tile.always) {
			return true;
		}
		const need = (state.view.t1 - state.view.t0) / state.width;
		const has = (tile.t1 - tile.t0) / tile.px;
		return Math.abs(has / need - 1) < 0.002 && tile.t0 <= state.view.t0 + need && tile.t1 >= state.view.t1 - need
			&& tile.age === lanes.age && tile.stamp === row.stamp;
	}

	async function load() {
		const rows = visibleRows().filter((r) => r.kind !== 'group' && !fits(state.tiles.get(r.key), r));
		if (!rows.length || destroyed) {
			setBusy(false);
			return;
		}
		const mine = ++loads;
		const asked = askedView(state.view, state.width, state.bounds);
		const age = lanes.age;
		const stamps = rows.map((r) => r.stamp);
		setBusy(true);
		const take = (tiles) => {
			if (destroyed || age !== lanes.age) {
				return;
			}
			rows.forEach((row, n) => {
				const tile = tiles.get(row.key);
				if (tile) {
					tile.age = age;
					tile.stamp = stamps[n];
					state.tiles.set(row.key, tile);
					if (row.kind === 'spans' && tile.levels && tile.levels !== row.levels) {
						row.levels = tile.levels;
						layOut();
					}
				}
			});
			prune();
			if (!frame) {
				frame = requestAnimationFrame(paintAll);
			}
		};
		try {
			await use.load(rows, asked, (tiles) => mine === loads && take(tiles));
		} catch (e) {
			if (e.name !== 'AbortError' && use.failed) {
				use.failed(e);
			}
		}
		if (mine === loads) {
			setBusy(false);
		}
	}

	/* Rows that went out of sight long ago are forgotten; the memory of the tab has a limit. */
	function prune() {
		if (state.tiles.size < 600) {
			return;
		}
		const keep = new Set(visibleRows().map((r) => r.key));
		for (const key of state.tiles.keys()) {
			if (state.tiles.size < 300) {
				break;
			}
			if (!keep.has(key)) {
				state.tiles.delete(key);
			}
		}
	}

	function setBusy(busy) {
		state.busy = busy;
		root.classList.toggle('is-busy', busy);
		plot.setAttribute('aria-busy', String(busy));
	}

	/* ---- moving ---------------------------------------------------------------------------- */

	function go(view, how) {
		const next = clampView(view, state.bounds);
		if (next.t0 === state.view.t0 && next.t1 === state.view.t1) {
			return;
		}
		state.view = next;
		if (!frame) {
			frame = requestAnimationFrame(paintAll);
		}
		loadSoon(60);
		use.view(state.view, 'moves');
		clearTimeout(restTimer);
		restTimer = setTimeout(() => {
			restTimer = 0;
			use.view(state.view, 'rests');
		}, how === 'jump' ? 0 : 250);
	}

	function centre() {
		return state.pointer ? timeAt(state.view, state.pointer.x, state.width) : (state.view.t0 + state.view.t1) / 2;
	}

	plot.addEventListener('wheel', (e) => {
		if (e.shiftKey) {
			body.scrollTop += e.deltaY || e.deltaX;
		} else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			go(panView(state.view, (e.deltaX / state.width) * (state.view.t1 - state.view.t0), state.bounds));
		} else {
			const lines = e.deltaMode === 1 ? 30 : 1;
			const box = plot.getBoundingClientRect();
			const at = timeAt(state.view, e.clientX - box.left, state.width);
			go(zoomView(state.view, Math.exp(Math.max(-400, Math.min(400, e.deltaY * lines)) * 0.002), at, state.bounds));
		}
		e.preventDefault();
		hover(e);
	}, { passive: false });

	let drag = null;
	function itemAt(x, y) {
		const row = rowAt(y);
		if (!row || row.kind === 'group') {
			return row ? { row, tile: null, i: -1, t: timeAt(state.view, x, state.width) } : null;
		}
		const tile = state.tiles.get(row.key);
		return { row, tile, i: runAt(row, tile, state.view, state.width, x, y - top(row)), t: timeAt(state.view, x, state.width) };
	}
	function rowAt(y) {
		if (y < RULER) {
			return null;
		}
		return visibleRows().find((r) => (r.pinned || y >= state.pinnedHeight) && y >= top(r) && y < top(r) + r.height) || null;
	}

	plot.addEventListener('pointerdown', (e) => {
		if (e.button !== 0) {
			return;
		}
		plot.focus({ preventScroll: true });
		const box = plot.getBoundingClientRect();
		const x = e.clientX - box.left;
		const y = e.clientY - box.top;
		drag = { x, y, view: state.view, scroll: body.scrollTop, area: e.shiftKey || y < RULER, moved: false, t: timeAt(state.view, x, state.width) };
		plot.setPointerCapture(e.pointerId);
		hideTip();
	});
	plot.addEventListener('pointermove', (e) => {
		const box = plot.getBoundingClientRect();
		const x = e.clientX - box.left;
		const y = e.clientY - box.top;
		state.pointer = { x, y };
		if (!drag) {
			hover(e);
			return;
		}
		if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) {
			drag.moved = true;
		}
		if (!drag.moved) {
			return;
		}
		if (drag.area) {
			const t = Math.min(Math.max(timeAt(state.view, x, state.width), state.bounds.t0), state.bounds.t1);
			state.area = { t0: Math.min(t, drag.t), t1: Math.max(t, drag.t) };
			paintOver();
		} else {
			const ns = ((drag.x - x) / state.width) * (drag.view.t1 - drag.view.t0);
			body.scrollTop = drag.scroll + drag.y - y;
			go(panView(drag.view, ns, state.bounds));
		}
	});
	function dragEnds(e) {
		const was = drag;
		drag = null;
		if (!was) {
			return;
		}
		if (was.area && was.moved) {
			const y1 = e.clientY - plot.getBoundingClientRect().top;
			const low = Math.min(was.y, y1);
			const high = Math.max(was.y, y1);
			state.area.rows = was.y < RULER ? [] : visibleRows().filter((r) => top(r) < high && top(r) + r.height > low);
			use.area(state.area);
		} else if (!was.moved) {
			const item = itemAt(was.x, was.y);
			if (item && item.row.kind === 'group') {
				use.fold(item.row);
			} else {
				focusItem(item && item.i >= 0 ? item : null, item);
				use.pick(item && item.i >= 0 ? item : null);
			}
		}
		changed(false);
	}
	plot.addEventListener('pointerup', dragEnds);
	plot.addEventListener('pointercancel', () => {
		drag = null;
	});
	plot.addEventListener('pointerleave', () => {
		state.pointer = null;
		hideTip();
		paintOver();
	});
	plot.addEventListener('dblclick', (e) => {
		const box = plot.getBoundingClientRect();
		const item = itemAt(e.clientX - box.left, e.clientY - box.top);
		if (item && item.i >= 0) {
			zoomTo(item);
		}
	});

	function zoomTo(item) {
		const from = item.tile.from[item.i];
		const to = Math.min(item.tile.to[item.i], state.bounds.t1);
		const margin = Math.max((to - from) * 0.25, LEAST_MARGIN);
		go({ t0: from - margin, t1: to + margin }, 'jump');
	}
	const LEAST_MARGIN = 1000;

	/* ---- tip ------------------------------------------------------------------------------- */

	function hideTip() {
		tip.hidden = true;
	}
	function hover(e) {
		const box = plot.getBoundingClientRect();
		const x = e.clientX - box.left;
		const y = e.clientY - box.top;
		state.pointer = { x, y };
		paintOver();
		const t = timeAt(state.view, x, state.width);
		const hole = state.loss.find((l) => Math.abs(pixelAt(state.view, l.t0, state.width) - x) < 3 || (t >= l.t0 && t <= l.t1));
		const item = itemAt(x, y);
		const lines = (item && item.row.kind !== 'group' && use.words(item)) || [];
		if (hole) {
			lines.push(use.lossWords(hole));
		}
		if (!lines.length) {
			hideTip();
			return;
		}
		tip.replaceChildren();
		lines.forEach((line, n) => {
			element('div', n ? 'lanes-tip-line' : 'lanes-tip-head', tip).textContent = line;
		});
		tip.hidden = false;
		const outer = root.getBoundingClientRect();
		const left = Math.min(e.clientX - outer.left + 14, outer.width - tip.offsetWidth - 8);
		let up = e.clientY - outer.top + 16;
		if (up + tip.offsetHeight > outer.height - 4) {
			up = Math.max(4, e.clientY - outer.top - tip.offsetHeight - 12);
		}
		tip.style.transform = `translate(${Math.max(4, left)}px, ${up}px)`;
	}

	/* ---- keys ------------------------------------------------------------------------------ */

	function focusItem(item, place) {
		state.focus = item ? { key: item.row.key, tile: item.tile, i: item.i } : place ? { key: place.row.key, tile: null, i: -1 } : null;
		if (item) {
			spoken.textContent = [item.row.label].concat(use.words(item)).join(', ');
		}
		changed(false);
	}

	function moveFocus(by) {
		const row = (state.focus && rowByKey(state.focus.key)) || visibleRows().find((r) => r.kind === 'thread' || r.kind === 'cpu');
		const tile = row && state.tiles.get(row.key);
		if (!tile || tile.first === undefined || tile.begin === tile.end) {
			if (row) {
				state.focus = { key: row.key, tile: null, i: -1 };
				spoken.textContent = `${row.label}: nothing to tell here`;
				changed(false);
			}
			return;
		}
		let i = state.focus && state.focus.tile === tile ? state.focus.i + by : -1;
		if (i < tile.begin || i >= tile.end) {
			const [from, to] = visibleRuns(tile, state.view);
			i = state.focus && state.focus.tile === tile && state.focus.i >= 0 ? state.focus.i
				: Math.min(Math.max(by > 0 ? from : to - 1, tile.begin), tile.end - 1);
		}
		focusItem({ row, tile, i, t: tile.from[i] });
		const [x, w] = runBox(tile, i, state.view, state.width);
		if (x + w < 0 || x > state.width) {
			go(panView(state.view, timeAt(state.view, x - state.width / 2, state.width) - state.view.t0, state.bounds));
		}
	}

	function moveRow(by) {
		const rows = state.rows.filter((r) => r.kind !== 'group');
		const at = rows.findIndex((r) => state.focus && r.key === state.focus.key);
		const row = rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
		if (!row) {
			return;
		}
		show(row.key);
		const tile = state.tiles.get(row.key);
		const middle = state.focus && state.focus.tile && state.focus.i >= 0 ? state.focus.tile.from[state.focus.i] : centre();
		let i = -1;
		if (tile && tile.first !== undefined) {
			i = runAt(row, tile, state.view, state.width, pixelAt(state.view, middle, state.width), SPAN_HEIGHT / 2);
			if (i < 0 && tile.begin < tile.end) {
				i = Math.min(visibleRuns(tile, state.view)[0], tile.end - 1);
			}
		}
		if (i >= 0) {
			focusItem({ row, tile, i, t: tile.from[i] });
		} else {
			state.focus = { key: row.key, tile: null, i: -1 };
			spoken.textContent = row.sub ? `${row.label}, ${row.sub}` : row.label;
			changed(false);
		}
	}

	plot.addEventListener('keydown', (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		}
		const width = state.view.t1 - state.view.t0;
		const act = {
			w: () => go(zoomView(state.view, 0.6, centre(), state.bounds)),
			s: () => go(zoomView(state.view, 1 / 0.6, centre(), state.bounds)),
			a: () => go(panView(state.view, -width * 0.2, state.bounds)),
			d: () => go(panView(state.view, width * 0.2, state.bounds)),
			f: () => go(state.area && !sameView(state.area) ? state.area : state.bounds, 'jump'),
			backspace: () => use.back(),
			escape: () => {
				state.area = null;
				state.arrows = [];
				hideTip();
				use.area(null);
				use.pick(null);
				changed(false);
			},
			arrowleft: () => moveFocus(-1),
			arrowright: () => moveFocus(1),
			arrowup: () => moveRow(-1),
			arrowdown: () => moveRow(1),
			pageup: () => { body.scrollTop -= state.height - state.pinnedHeight; },
			pagedown: () => { body.scrollTop += state.height - state.pinnedHeight; },
			enter: () => {
				const f = state.focus;
				if (f && f.i >= 0) {
					const row = rowByKey(f.key);
					use.pick({ row, tile: f.tile, i: f.i, t: f.tile.from[f.i] });
				}
			},
			z: () => {
				const f = state.focus;
				if (f && f.i >= 0) {
					zoomTo({ tile: f.tile, i: f.i });
				}
			},
		}[e.key.toLowerCase()];
		if (act) {
			act();
			e.preventDefault();
			e.stopPropagation();
		}
	});
	const sameView = (v) => Math.abs(v.t0 - state.view.t0) + Math.abs(v.t1 - state.view.t1) < 2;

	body.addEventListener('scroll', () => {
		hideTip();
		if (!frame) {
			frame = requestAnimationFrame(paintAll);
		}
		loadSoon(80);
	});
	const observer = new ResizeObserver(resize);
	observer.observe(body);

	function show(key) {
		const row = rowByKey(key);
		if (!row || row.pinned) {
			return;
		}
		const y = row.y - body.scrollTop;
		if (y < state.pinnedHeight || y + row.height > state.height) {
			body.scrollTop = row.y - state.pinnedHeight - Math.max(0, (state.height - state.pinnedHeight) / 3);
		}
	}

	const lanes = {
		age: 0,
		paintMilliseconds: 0,
		element: root,
		setBounds(bounds) {
			state.bounds = bounds;
			changed(true);
		},
		setView(view) {
			if (restTimer) {
				return; /* somebody is moving it: what that comes to is told when it rests */
			}
			const next = clampView(view, state.bounds);
			if (next.t0 !== state.view.t0 || next.t1 !== state.view.t1) {
				state.view = next;
				changed(true);
			}
		},
		setRows(rows) {
			state.rows = rows;
			let n = 0;
			for (const row of rows) {
				row.index = row.kind === 'group' ? (n = 0) : n++;
			}
			layOut();
			changed(true);
		},
		setLoss(loss) {
			state.loss = loss || [];
			changed(false);
		},
		setArea(area) {
			state.area = area;
			changed(false);
		},
		setMarks(marks, key = 'marks') {
			state.tiles.set(key, { marks, always: true });
			changed(false);
		},
		setArrows(arrows) {
			state.arrows = arrows;
			changed(false);
		},
		setDark(dark) {
			state.dark = dark;
			colours = themeColours(dark);
			paint = makePaint();
			for (const e of labels.values()) {
				e.remove();
			}
			labels.clear();
			changed(false);
		},
		/* What the tiles tell is out of date; they stay until the new ones are there. */
		refresh() {
			lanes.age++;
			changed(true);
		},
		repaint() {
			changed(false);
		},
		view: () => state.view,
		bounds: () => state.bounds,
		busy: () => state.busy,
		tile: (key) => state.tiles.get(key),
		show,
		focus() {
			plot.focus();
		},
		paintNow: paintAll,
		destroy() {
			destroyed = true;
			observer.disconnect();
			clearTimeout(loadTimer);
			clearTimeout(restTimer);
			cancelAnimationFrame(frame);
			root.remove();
		},
	};
	lanes.setDark(false);
	resize();
	return lanes;
}
