/* SPDX-License-Identifier: MIT
 *
 * Paints one lane: runs of processors and threads, spans, counters, counts, marks. What lanes.js shows is a list of rows
 * {key, kind, label, …}; what it has of a row is a tile, whose runs stand in typed arrays of the server's answer:
 *
 *	cpu, thread   {t0, t1, px, begin, end, first, pixels, doing, coverage, intervals, from, to, thread, cpu, reason, waker}
 *	spans         {t0, t1, px, begin, end, level, first, pixels, type, coverage, spans, from, to}
 *	counter, io   {t0, t1, px, values}
 *	density       {t0, t1, px, series}
 *	marks         {marks: [{t, t1, text}]}
 *
 * A row's runs are those with the numbers begin to end - 1. A tile of another view is stretched to this one. */

import { paintCounter, paintDensity } from './counter.js';
import { pixelAt } from './lanes_view.js';

export const DOING = { UNKNOWN: 0, RUNNING: 1, READY: 2, WAITING: 3, IDLE: 4 };
export const SPAN_HEIGHT = 15;

const widths = new Map();
let widthFont = '';

function textWidth(g, text) {
	if (g.font !== widthFont) {
		widths.clear();
		widthFont = g.font;
	}
	let w = widths.get(text);
	if (w === undefined) {
		if (widths.size > 20000) {
			widths.clear();
		}
		w = g.measureText(text).width;
		widths.set(text, w);
	}
	return w;
}

/* As much of the text as fits; nothing if that says nothing. */
export function fitText(g, text, room) {
	const w = textWidth(g, text);
	if (w <= room) {
		return text;
	}
	const n = Math.floor((text.length * room) / w) - 1;
	return n < 3 ? '' : `${text.slice(0, n)}…`;
}

function label(g, text, x, w, y, height, width) {
	const from = Math.max(x, 0) + 4;
	const to = Math.min(x + w, width) - 3;
	if (to - from < 22 || !text) {
		return;
	}
	const shown = fitText(g, text, to - from);
	if (shown) {
		g.fillText(shown, from, y + height / 2 + 0.5);
	}
}

/* The runs of a tile that the view shows: first and last + 1. They are in order of their first pixel. */
export function visibleRuns(tile, view) {
	const each = (tile.t1 - tile.t0) / tile.px;
	const from = (view.t0 - tile.t0) / each;
	const to = (view.t1 - tile.t0) / each;
	let low = tile.begin;
	let high = tile.end;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (tile.first[mid] + tile.pixels[mid] < from) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	let end = low;
	while (end < tile.end && tile.first[end] <= to) {
		end++;
	}
	return [low, end];
}

/* Where a run is on the canvas. A run of which we know the whole interval ends where that does: a tile that is
 * stretched then has no steps. */
export function runBox(tile, i, view, width) {
	const each = (tile.t1 - tile.t0) / tile.px;
	const x = pixelAt(view, tile.t0 + tile.first[i] * each, width);
	const w = (tile.pixels[i] * each * width) / (view.t1 - view.t0);
	return [x, Math.max(w, 0.8)];
}

/* ---- many runs: a strip of pixels ---- */

const DENSE = 250; /* runs of a lane from which on single rectangles cost more than pixels */
let strip = null;
const parsed = new Map();

/* A colour as the canvas understands it, as 0xBBGGRR. */
function rgbOf(colour) {
	let rgb = parsed.get(colour);
	if (rgb === undefined) {
		const canvas = document.createElement('canvas');
		canvas.width = 1;
		canvas.height = 1;
		const one = canvas.getContext('2d', { willReadFrequently: true });
		one.fillStyle = colour;
		one.fillRect(0, 0, 1, 1);
		const [r, g, b] = one.getImageData(0, 0, 1, 1).data;
		rgb = (b << 16) | (g << 8) | r;
		parsed.set(colour, rgb);
	}
	return rgb;
}

/* Three rows of pixels, what runs, what is ready and what waits, are stretched to their heights. Thousands of narrow
 * rectangles took three times as long. */
function paintStrip(g, row, tile, from, to, view, width, y, height, paint) {
	if (!strip || strip.canvas.width !== width) {
		const canvas = document.createElement('canvas');
		canvas.width = width;
		canvas.height = 3;
		strip = canvas.getContext('2d');
		strip.image = strip.createImageData(width, 3);
		strip.pixels = new Uint32Array(strip.image.data.buffer);
	}
	const { pixels } = strip;
	pixels.fill(0);
	const each = (tile.t1 - tile.t0) / tile.px;
	const scale = width / (view.t1 - view.t0);
	const offset = (tile.t0 - view.t0) * scale;
	const step = each * scale;
	const running = rgbOf(paint.colours.running);
	const ready = rgbOf(paint.colours.ready);
	const waiting = rgbOf(paint.colours.waiting);
	for (let i = from; i < to; i++) {
		const doing = tile.doing[i];
		if (doing < DOING.RUNNING || doing > DOING.WAITING) {
			continue;
		}
		const x0 = Math.max(0, Math.round(offset + tile.first[i] * step));
		const x1 = Math.min(width, Math.max(x0 + 1, Math.round(offset + (tile.first[i] + tile.pixels[i]) * step)));
		const alpha = tile.pixels[i] > 2 ? 255 : 100 + Math.round(155 * Math.min(1, tile.coverage[i]));
		const rgb = doing === DOING.READY ? ready : doing === DOING.WAITING ? waiting : row.kind === 'cpu' ? rgbOf(paint.threadColour(tile.thread[i])) : running;
		pixels.fill(((alpha << 24) | rgb) >>> 0, (doing - 1) * width + x0, (doing - 1) * width + x1);
	}
	strip.putImageData(strip.image, 0, 0);
	g.imageSmoothingEnabled = false;
	g.drawImage(strip.canvas, 0, 0, width, 1, 0, y + 2, width, height - 4);
	if (row.kind === 'thread') {
		g.drawImage(strip.canvas, 0, 1, width, 1, 0, y + height / 2, width, height / 2 - 2);
		g.drawImage(strip.canvas, 0, 2, width, 1, 0, y + height / 2 - 1, width, 3);
	}
}

function paintRuns(g, row, tile, view, width, y, height, paint) {
	const [from, to] = visibleRuns(tile, view);
	if (to - from > DENSE) {
		paintStrip(g, row, tile, from, to, view, width, y, height, paint);
		return;
	}
	const labels = [];
	const cpus = row.kind === 'cpu';
	for (let i = from; i < to; i++) {
		const [x, w] = runBox(tile, i, view, width);
		const doing = tile.doing[i];
		const alpha = tile.pixels[i] > 2 ? 1 : 0.4 + 0.6 * Math.min(1, tile.coverage[i]);
		g.globalAlpha = alpha;
		if (doing === DOING.RUNNING) {
			g.fillStyle = cpus ? paint.threadColour(tile.thread[i]) : paint.colours.running;
			g.fillRect(x, y + 2, w > 4 ? w - 1 : w, height - 4);
			if (w > 28) {
				labels.push(i, x, w);
			}
		} else if (doing === DOING.READY) {
			g.fillStyle = w < 3 ? paint.colours.ready : paint.patterns.ready;
			g.fillRect(x, y + 3, w, height - 6);
			g.fillStyle = paint.colours.ready;
			g.fillRect(x, y + height - 4, w, 2);
		} else if (doing === DOING.WAITING) {
			g.fillStyle = w < 3 ? paint.colours.waitingBack : paint.patterns.waiting;
			g.fillRect(x, y + height / 2 - 3, w, 6);
			if (w > 60) {
				labels.push(i, x, w);
			}
		} else if (doing === DOING.IDLE) {
			g.fillStyle = paint.colours.idle;
			g.fillRect(x, y + height / 2 - 0.5, w, 1);
		}
	}
	g.globalAlpha = 1;
	for (let n = 0; n < labels.length; n += 3) {
		const i = labels[n];
		const text = paint.runLabel(row, tile, i);
		if (!text) {
			continue;
		}
		if (tile.doing[i] === DOING.WAITING) {
			const from2 = Math.max(labels[n + 1], 0) + 6;
			const shown = fitText(g, text, Math.min(labels[n + 1] + labels[n + 2], width) - from2 - 6);
			if (!shown) {
				continue;
			}
			g.fillStyle = paint.colours.back;
			g.fillRect(from2 - 3, y + 1, textWidth(g, shown) + 6, height - 2);
			g.fillStyle = paint.colours.faint;
			g.fillText(shown, from2, y + height / 2 + 0.5);
		} else {
			g.fillStyle = cpus ? paint.colours.onFill : paint.colours.back;
			label(g, text, labels[n + 1], labels[n + 2], y, height, width);
		}
	}
}

function paintSpans(g, row, tile, view, width, y, paint) {
	const [from, to] = visibleRuns(tile, view);
	for (let i = from; i < to; i++) {
		const [x, w] = runBox(tile, i, view, width);
		const top = y + 1 + Math.min(tile.level[i], row.levels - 1) * SPAN_HEIGHT;
		const text = paint.spanLabel(row, tile, i);
		g.globalAlpha = tile.pixels[i] > 1 ? 1 : 0.5 + 0.5 * Math.min(1, tile.coverage[i]);
		g.fillStyle = paint.nameColour(text);
		g.fillRect(x, top, Math.max(w - (w > 4 ? 1 : 0), 1), SPAN_HEIGHT - 2);
		g.globalAlpha = 1;
		if (w > 28) {
			g.fillStyle = paint.colours.onFill;
			label(g, text, x, w, top - 0.5, SPAN_HEIGHT - 2, width);
		}
	}
}

function paintMarks(g, tile, view, width, y, height, paint) {
	/* Texts of a crowd would cover each other. */
	const crowd = tile.marks.reduce((n, m) => n + (m.t <= view.t1 && (m.t1 ?? m.t) >= view.t0), 0) > 40;
	for (const mark of tile.marks) {
		const x = pixelAt(view, mark.t, width);
		if (mark.t1 !== undefined && mark.t1 !== null) {
			const x1 = pixelAt(view, mark.t1, width);
			g.fillStyle = paint.colours.area;
			g.fillRect(x, y + 2, Math.max(x1 - x, 1), height - 4);
		}
		if (x < -2 || x > width + 2) {
			continue;
		}
		g.fillStyle = paint.colours.mark;
		g.beginPath();
		g.moveTo(x, y + height - 3);
		g.lineTo(x - 4, y + height - 11);
		g.lineTo(x + 4, y + height - 11);
		g.fill();
		if (crowd) {
			continue;
		}
		g.fillStyle = paint.colours.text;
		g.fillText(fitText(g, mark.text, 160), x + 7, y + height / 2);
	}
}

export function paintLane(g, row, tile, view, width, y, paint) {
	const height = row.height;
	if (!tile) {
		return;
	}
	if (row.kind === 'cpu' || row.kind === 'thread') {
		paintRuns(g, row, tile, view, width, y, height, paint);
	} else if (row.kind === 'spans') {
		paintSpans(g, row, tile, view, width, y, paint);
	} else if (row.kind === 'density') {
		paintDensity(g, tile, view, width, y, height);
	} else if (row.kind === 'marks') {
		paintMarks(g, tile, view, width, y, height, paint);
	} else if (tile.values) {
		const most = paintCounter(g, tile, view, width, y, height, paint.colours, row.kind === 'io');
		if (most > 0) {
			g.fillStyle = paint.colours.faint;
			g.fillText(paint.counterText(row, most), 4, y + 7);
		}
	}
}

/* Which run of a row is at a place; -1: none. */
export function runAt(row, tile, view, width, x, yInside) {
	if (!tile || tile.first === undefined) {
		return -1;
	}
	const [from, to] = visibleRuns(tile, view);
	const level = row.kind === 'spans' ? Math.floor((yInside - 1) / SPAN_HEIGHT) : -1;
	let best = -1;
	let distance = 3;
	for (let i = from; i < to; i++) {
		if (level >= 0 && Math.min(tile.level[i], row.levels - 1) !== level) {
			continue;
		}
		const [left, w] = runBox(tile, i, view, width);
		const away = x < left ? left - x : x > left + w ? x - left - w : 0;
		if (away < distance || (away === 0 && distance > 0)) {
			best = i;
			distance = away;
		}
	}
	return best;
}
