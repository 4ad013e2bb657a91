// SPDX-License-Identifier: MIT
// Marks, notes and saved views: a small file beside the trace.
import { signal, effect } from '../ui.js';
import { tr, info, toast } from '../state.js';
import { get, post } from '../api.js';

export const marks = signal([]);
export const views = signal([]);

effect(() => {
	const id = tr.value;
	if (info.value?.tr === id && !info.value.live) {
		load(id, info.value.name);
	}
});
let of = null;
async function load(id, name) {
	if (of === `${id} ${name}`) {
		return;
	}
	of = `${id} ${name}`;
	try {
		const a = await get('marks', { tr: id });
		marks.value = a.marks ?? [];
		views.value = a.views ?? [];
	} catch {
		marks.value = [];
	}
}
async function save() {
	try {
		await post('marks', { tr: tr.value, marks: marks.value, views: views.value });
	} catch (e) {
		toast(e.message);
	}
}
export function addMark(t, text = `mark ${marks.value.length + 1}`) {
	marks.value = [...marks.value, { id: Date.now(), t: Math.round(t), text }].sort((a, b) => a.t - b.t);
	toast(`Marked: ${text}`, 'info');
	return save();
}
export function changeMark(id, text) {
	marks.value = marks.value.map((m) => (m.id === id ? { ...m, text } : m));
	return save();
}
export function removeMark(id) {
	marks.value = marks.value.filter((m) => m.id !== id);
	return save();
}
export function saveView(name) {
	views.value = [...views.value, { id: Date.now(), name, url: location.hash }];
	return save();
}
export function removeView(id) {
	views.value = views.value.filter((v) => v.id !== id);
	return save();
}
