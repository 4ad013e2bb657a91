// SPDX-License-Identifier: MIT
// A view as one file: the page finds its answers in the file instead of asking a server. STILL is set when the page is joined
// (build.mjs): true in the part for files, false in the page of the server.
import { Failure } from './api.js';

// { pages, address, version, answers: [{ ask, status, json | arrays }] }
export const still = STILL ? JSON.parse(document.getElementById('still').textContent) : null;

// The times, the filter and sizes are those of the file, whatever is asked.
const same = new Set(['tr', 't0', 't1', 'f', 'px', 'top', 'n', 'max', 'at', 'list', 'threads']);
function keyOf(path, params) {
	return `${path}?${[...params].filter(([k, v]) => !same.has(k) && v !== '' && v !== null && v !== undefined).map(([k, v]) => `${k}=${v === true ? 1 : v === false ? 0 : v}`).sort().join('&')}`;
}
export function keyOfAddress(ask) {
	const at = ask.indexOf('?');
	return keyOf(at < 0 ? ask : ask.slice(0, at), new URLSearchParams(at < 0 ? '' : ask.slice(at + 1)));
}

const answers = new Map();
for (const a of still?.answers ?? []) {
	const key = keyOfAddress(a.ask);
	answers.set(key, [...(answers.get(key) ?? []), a]);
}

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
const listOf = (ask, name) => (new URLSearchParams(ask.slice(ask.indexOf('?') + 1)).get(name) ?? '').replace(/^thread:/, '').split(',');

// Of what was asked about many lanes, those that are wanted now, under their new numbers.
function pick(head, there, wanted) {
	const to = new Map(wanted.map((id, n) => [id, n])), lane = head.lane, keep = [];
	for (let i = 0; i < lane.length; i++) {
		if (to.has(there[lane[i]])) {
			keep.push(i);
		}
	}
	keep.sort((x, y) => to.get(there[lane[x]]) - to.get(there[lane[y]]) || x - y);
	const out = { ...head, lanes: wanted.map((id) => head.lanes?.[there.indexOf(id)]) };
	for (const { name } of head.arrays) {
		out[name] = head[name].constructor.from(keep, (i) => head[name][i]);
	}
	out.lane = Uint32Array.from(keep, (i) => to.get(there[lane[i]]));
	return out;
}

export function stillAnswer(path, params, arrays) {
	const all = answers.get(keyOf(path, Object.entries(params ?? {}))) ?? (path === 'hist' ? [...answers].find(([k]) => k.startsWith('hist?'))?.[1] : null);
	const name = path === 'lanes' ? 'list' : path === 'spans' ? 'threads' : null;
	const of = (a) => new URLSearchParams(a.ask.slice(a.ask.indexOf('?') + 1)).get(name) ?? '';
	const cpus = (text) => text === 'cpus';
	const a = all?.find((x) => !name || cpus(of(x)) === cpus(params[name] ?? ''));
	if (!a) {
		throw new Failure(404, { error: 'This file is a picture of one view, and that is not in it. "openetw view" shows it in the trace.' });
	}
	if (a.status !== 200) {
		throw new Failure(a.status, a.json);
	}
	if (a.arrays) {
		const head = arrays(bytesOf(a.arrays));
		return name && !cpus(of(a)) ? pick(head, listOf(a.ask, name), String(params[name]).replace(/^thread:/, '').split(',')) : head;
	}
	if (path === 'rows') {
		/* Those that are there are all. */
		const at = params.at ?? 0;
		return { ...a.json, at, total: a.json.rows.length, there_are: a.json.total, rows: a.json.rows.slice(at, at + (params.n ?? 200)), lost: at ? [] : a.json.lost };
	}
	return a.json;
}

/* ---- making one ---- */

// What the page that is shown has asked, last answers only.
const asked = new Map();
const MOST = 300;
export function remember(ask) {
	if (/^(events|parse|kinds|jobs|sessions|files|recipes|download)\b/.test(ask)) {
		return;
	}
	const key = keyOfAddress(ask), cpus = /list=cpus/.test(ask);
	asked.delete(`${key}${cpus}`);
	asked.set(`${key}${cpus}`, ask);
	if (asked.size > MOST) {
		asked.delete(asked.keys().next().value);
	}
}
export function forgetAsked() {
	for (const [key, ask] of asked) {
		if (!/^(traces|info|marks)\b/.test(ask)) {
			asked.delete(key);
		}
	}
}
export function allAsked() {
	return [...asked.values()];
}
