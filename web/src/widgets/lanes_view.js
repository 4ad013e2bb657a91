/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of a view of time: which nanoseconds stand at which pixel, zooming, panning, the marks of a ruler. Pure
 * functions; a view is {t0, t1}, bounds are the view of the whole trace. */

export const LEAST_NS = 100; /* no view is shorter: the clock of most traces counts in steps of 100 ns */

export function clampView(view, bounds) {
	const whole = Math.max(bounds.t1 - bounds.t0, LEAST_NS);
	const width = Math.min(Math.max(view.t1 - view.t0, LEAST_NS), whole);
	const t0 = Math.min(Math.max(view.t0, bounds.t0), bounds.t0 + whole - width);
	return { t0, t1: t0 + width };
}

/* Zoom by a factor (below 1: closer), such that the time `at` stays where it is. */
export function zoomView(view, factor, at, bounds) {
	const width = view.t1 - view.t0;
	const wanted = Math.min(Math.max(width * factor, LEAST_NS), Math.max(bounds.t1 - bounds.t0, LEAST_NS));
	const share = width > 0 ? (at - view.t0) / width : 0.5;
	const t0 = at - wanted * share;
	return clampView({ t0, t1: t0 + wanted }, bounds);
}

export function panView(view, by, bounds) {
	return clampView({ t0: view.t0 + by, t1: view.t1 + by }, bounds);
}

export function timeAt(view, x, width) {
	return view.t0 + (x / Math.max(width, 1)) * (view.t1 - view.t0);
}

export function pixelAt(view, t, width) {
	return ((t - view.t0) / Math.max(view.t1 - view.t0, 1)) * width;
}

/* Round times with at most `most` of them in the view. */
export function ticks(view, most) {
	const width = view.t1 - view.t0;
	if (!(width > 0)) {
		return { step: 1, at: [] };
	}
	const raw = width / Math.max(most, 1);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) || 10 * power;
	const at = [];
	for (let n = Math.ceil(view.t0 / step); n * step <= view.t1 && at.length < 1000; n++) {
		at.push(n * step);
	}
	return { step, at };
}

/* A time of a ruler, with no more digits than the step needs: "41.20 s". */
export function tickText(t, step) {
	const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
	return `${(t / 1e9).toFixed(digits)} s`;
}

/* Data are asked for with a margin, so that a small pan needs no new ones. Whole pixels at both ends. */
export function askedView(view, px, bounds) {
	const each = (view.t1 - view.t0) / Math.max(px, 1);
	const margin = Math.round(px / 4);
	const left = Math.min(margin, Math.max(0, Math.floor((view.t0 - bounds.t0) / each)));
	const right = Math.min(margin, Math.max(0, Math.floor((bounds.t1 - view.t1) / each)));
	return { t0: Math.floor(view.t0 - left * each), t1: Math.ceil(view.t1 + right * each), px: px + left + right };
}
