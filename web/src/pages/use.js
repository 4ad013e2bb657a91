// SPDX-License-Identifier: MIT
// What the pages about time need of the shell, in words of their own: the range, words of the address, questions.
import { get } from '../api.js';
import { extra, go, info, keep, theme, zoom } from '../state.js';
import { useEffect, useState } from '../ui.js';

// The whole trace.
export function bounds() {
	const i = info.value;
	return i ? { t0: Math.min(0, i.first), t1: Math.max(i.last, i.first + 1) } : { t0: 0, t1: 1 };
}
// What the selection's times are when they are all of the trace.
export function times(sel) {
	const whole = bounds();
	return { t0: sel.t0 ?? whole.t0, t1: sel.t1 ?? whole.t1 };
}
export function setRange(t0, t1) {
	zoom(t0, t1);
}
export function param(name) {
	return extra.value[name] ?? '';
}
// Several words of the address at once.
export function setParams(words) {
	go({ extra: { ...extra.value, ...words } }, true);
}
export function setParam(name, value) {
	keep(name, value);
}
export function showPage(page, view, words) {
	go({ page, ...view, extra: words ?? {} });
}

const dark = matchMedia('(prefers-color-scheme: dark)');
export function useDark() {
	const [system, setSystem] = useState(dark.matches);
	useEffect(() => {
		const change = () => setSystem(dark.matches);
		dark.addEventListener('change', change);
		return () => dark.removeEventListener('change', change);
	}, []);
	return theme.value ? theme.value === 'dark' : system;
}

export function askArrays(path, params, signal) {
	return get(path, params, signal);
}

// The value a moment after it stopped changing: what is asked while a view is dragged is asked once.
export function useSettled(value, ms = 120) {
	const text = JSON.stringify(value);
	const [settled, setSettled] = useState(text);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(text), ms);
		return () => clearTimeout(timer);
	}, [text]);
	return JSON.parse(settled);
}
