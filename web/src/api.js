// SPDX-License-Identifier: MIT
// The server: docs/view-api.md.
import { remember, stillAnswer } from './still.js';

export class Failure extends Error {
	constructor(status, body) {
		super(body?.error ?? `the server answered ${status}`);
		this.status = status;
		this.column = body?.column;
		this.teach = body?.teach;
	}
}

function address(path, params) {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(params ?? {})) {
		if (v !== null && v !== undefined && (v !== '' || k === 'group_by')) { // no groups are something else than the usual ones
			q.set(k, typeof v === 'boolean' ? (v ? '1' : '0') : String(v));
		}
	}
	const text = q.toString();
	return `/api/${path}${text ? `?${text}` : ''}`;
}
export { address };

const types = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };

function arrays(body) {
	const bytes = new Uint8Array(body);
	const end = bytes.indexOf(10);
	const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
	let at = end + 1;
	for (const a of head.arrays) {
		const T = types[a.type];
		head[a.name] = new T(body, at, a.length);
		at += Math.ceil((a.length * T.BYTES_PER_ELEMENT) / 8) * 8;
	}
	return head;
}

async function answer(response) {
	const type = response.headers.get('Content-Type') ?? '';
	if (!response.ok) {
		let body = null;
		try {
			body = type.startsWith('application/json') ? await response.json() : { error: (await response.text()).trim() };
		} catch {
			body = null;
		}
		throw new Failure(response.status, body);
	}
	return type === 'application/x-openetw-arrays' ? arrays(await response.arrayBuffer()) : response.json();
}

function sleep(ms, signal) {
	return new Promise((resolve, reject) => {
		const end = setTimeout(resolve, ms);
		signal?.addEventListener('abort', () => {
			clearTimeout(end);
			reject(signal.reason);
		});
	});
}

// 202: the server makes a table for the answer, and keeps no connection meanwhile. It is asked again until it has it; onMaking hears
// how far it is: [{ name, fraction, seconds }].
async function patient(ask, signal, onMaking) {
	for (let pause = 100; ; pause = Math.min(pause * 1.5, 700)) {
		const response = await ask();
		if (response.status !== 202) {
			return response;
		}
		onMaking?.((await response.json()).making);
		await sleep(pause, signal);
	}
}

export async function get(path, params, signal, onMaking) {
	if (STILL) {
		return stillAnswer(path, params, arrays);
	}
	const to = address(path, params);
	remember(to.slice(5));
	return answer(await patient(() => fetch(to, { signal, credentials: 'same-origin' }), signal, onMaking));
}

// What is looked at first is answered first: a picture or a list has the processors for itself, and what stands beside or below it is
// asked when it is there. A list that waits for its size is asked a moment after its neighbours.
const SOON = 60;
let firsts = 0, waiting = [];
export function first(promise) {
	const done = () => {
		firsts -= 1;
		if (firsts === 0) {
			const all = waiting;
			waiting = [];
			all.forEach((go) => go());
		}
	};
	firsts += 1;
	promise.then(done, done);
	return promise;
}
export async function afterFirst(signal) {
	if (STILL) {
		return;
	}
	await sleep(SOON, signal);
	while (firsts > 0) {
		await new Promise((go) => waiting.push(go));
	}
	signal?.throwIfAborted();
}

function send(path, body, signal) {
	return fetch(`/api/${path}`, {
		method: 'POST',
		signal,
		credentials: 'same-origin',
		headers: { 'Content-Type': 'application/json', 'X-OpenETW': '1' },
		body: JSON.stringify(body),
	});
}
export async function post(path, body, signal) {
	if (STILL) {
		throw new Failure(404, { error: 'This file is a picture of one view; "openetw view" does that.' });
	}
	return answer(await send(path, body, signal));
}
// An answer that is a file.
export async function postForFile(path, body) {
	const response = await send(path, body);
	return response.ok ? response.blob() : answer(response);
}
