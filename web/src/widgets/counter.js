/* SPDX-License-Identifier: MIT
 *
 * Paints numbers against time into a lane: an area of one counter, or counts of several series on top of each other.
 * A tile is {t0, t1, px, values} or {t0, t1, px, series: [{name, colour, counts}]}; `px` values cover t0 to t1. */

import { pixelAt } from './lanes_view.js';

/* The largest sum of a pixel that the view shows. */
export function largest(tile, view) {
	const each = (tile.t1 - tile.t0) / tile.px;
	const from = Math.max(0, Math.floor((view.t0 - tile.t0) / each));
	const to = Math.min(tile.px, Math.ceil((view.t1 - tile.t0) / each));
	let most = 0;
	for (let i = from; i < to; i++) {
		let sum = 0;
		if (tile.values) {
			sum = tile.values[i];
		} else {
			for (const s of tile.series) {
				sum += s.counts[i];
			}
		}
		if (sum > most) {
			most = sum;
		}
	}
	return most;
}

export function paintCounter(g, tile, view, width, y, height, colours, queue) {
	const most = largest(tile, view);
	if (!(most > 0)) {
		return most;
	}
	const x0 = pixelAt(view, tile.t0, width);
	const step = (pixelAt(view, tile.t1, width) - x0) / tile.px;
	const from = Math.max(0, Math.floor(-x0 / step) - 1);
	const to = Math.min(tile.px, Math.ceil((width - x0) / step) + 1);
	const base = y + height - 1;
	g.beginPath();
	g.moveTo(x0 + from * step, base);
	for (let i = from; i < to; i++) {
		const value = tile.values[i];
		const top = base - (value > 0 ? (value / most) * (height - 4) : 0);
		g.lineTo(x0 + i * step, top);
		g.lineTo(x0 + (i + 1) * step, top);
	}
	g.lineTo(x0 + to * step, base);
	g.fillStyle = queue ? colours.queueFill : colours.counterFill;
	g.fill();
	g.strokeStyle = queue ? colours.queue : colours.counter;
	g.lineWidth = 1;
	g.stroke();
	return most;
}

export function paintDensity(g, tile, view, width, y, height) {
	const most = largest(tile, view);
	if (!(most > 0)) {
		return most;
	}
	const x0 = pixelAt(view, tile.t0, width);
	const step = (pixelAt(view, tile.t1, width) - x0) / tile.px;
	const from = Math.max(0, Math.floor(-x0 / step) - 1);
	const to = Math.min(tile.px, Math.ceil((width - x0) / step) + 1);
	const below = new Float32Array(to - from);
	for (const s of tile.series) {
		g.fillStyle = s.colour;
		g.beginPath();
		for (let i = from; i < to; i++) {
			const count = s.counts[i];
			if (!count) {
				continue;
			}
			/* A rare event must be seen beside a frequent one: it has at least a pixel. */
			const h = Math.max((count / most) * (height - 3), below[i - from] ? 0 : 1);
			g.rect(x0 + i * step, y + height - 1 - below[i - from] - h, Math.max(step, 0.7), h);
			below[i - from] += h;
		}
		g.fill();
	}
	return most;
}

/* The value of a counter at a time; null outside of the tile. */
export function valueAt(tile, t) {
	const i = Math.floor(((t - tile.t0) / (tile.t1 - tile.t0)) * tile.px);
	return i < 0 || i >= tile.px ? null : tile.values ? tile.values[i] : tile.series.map((s) => s.counts[i]);
}
