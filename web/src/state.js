// SPDX-License-Identifier: MIT
// What the page shows is its address: page, trace, times, filter, and what the page itself keeps. The history of the browser is the
// zoom stack. Everything that is shown follows from these signals.
import { signal, computed, effect, batch, useEffect, useState, useRef } from './ui.js';
import { get, first, afterFirst, Failure } from './api.js';
import { forgetAsked, still } from './still.js';

export const page = signal('overview');
export const tr = signal(0);
export const t0 = signal(null); // null: from the beginning
export const t1 = signal(null);
export const filter = signal('');
export const extra = signal({}); // what the page keeps: columns, group by, pinned lanes

export const traces = signal([]);
export const version = signal('');
export const info = signal(null); // /api/info of `tr`
export const tick = signal(0); // grows when there is more in the trace: answers are out of date
export const toasts = signal([]);
export const jobs = signal([]);
export const theme = signal(remembered('theme'));
export const live = signal(null); // the last "rows" of a live trace
export const follow = signal(true);
export const track = signal(null); // rows of SQL as a lane: { tr, points: [{ t, t1, text }] }

// What the browser keeps for this page; nothing where it keeps nothing.
export function remembered(name) {
	try {
		return localStorage.getItem(name) ?? '';
	} catch {
		return '';
	}
}
export function rememberAs(name, text) {
	try {
		if (text) {
			localStorage.setItem(name, text);
		} else {
			localStorage.removeItem(name);
		}
	} catch {
		/* the browser keeps nothing of files */
	}
}
export const ruled = signal(null); // the last "rules" of a live trace

/* ---- the address ---- */

const own = new Set(['tr', 't0', 't1', 'f']);

function read() {
	const [name, query] = (location.hash || still?.address || '').replace(/^#/, '').split('?');
	const q = new URLSearchParams(query ?? '');
	const number = (k) => (q.has(k) && Number.isFinite(Number(q.get(k))) ? Number(q.get(k)) : null);
	batch(() => {
		if (!STILL && page.value !== name) {
			forgetAsked();
		}
		page.value = name || (traces.value.length ? 'overview' : 'home');
		tr.value = number('tr') ?? traces.value[0]?.tr ?? 0;
		t0.value = number('t0');
		t1.value = number('t1');
		filter.value = q.get('f') ?? '';
		extra.value = Object.fromEntries([...q].filter(([k]) => !own.has(k)));
	});
}

export function addressOf(view) {
	const v = { page: page.value, tr: tr.value, t0: t0.value, t1: t1.value, f: filter.value, extra: extra.value, ...view };
	const q = new URLSearchParams();
	if (v.tr) {
		q.set('tr', v.tr);
	}
	for (const k of ['t0', 't1']) {
		if (v[k] !== null && v[k] !== undefined) {
			q.set(k, Math.round(v[k]));
		}
	}
	if (v.f) {
		q.set('f', v.f);
	}
	for (const [k, x] of Object.entries(v.extra ?? {})) {
		if (x !== null && x !== undefined && x !== '') {
			q.set(k, x);
		}
	}
	const text = q.toString();
	return `#${v.page}${text ? `?${text}` : ''}`;
}

// Another view: part of it, what is not named stays. `replace`: no step of the history.
export function go(view, replace = false) {
	const v = { ...view };
	if (v.page && v.page !== page.value && !v.extra) {
		v.extra = {};
	}
	const now = { t0: t0.value, t1: t1.value, f: filter.value };
	if (STILL && (!still.pages.includes(v.page ?? page.value) || Object.keys(now).some((k) => k in v && v[k] !== now[k]))) {
		toast('This file is a picture of one view: its times and its filter stay as they are', 'info');
		return;
	}
	const to = addressOf(v);
	if (to === location.hash) {
		return;
	}
	if (replace) {
		history.replaceState(null, '', to);
	} else {
		history.pushState(null, '', to);
	}
	read();
}
export function keep(name, value, replace = true) {
	go({ extra: { ...extra.value, [name]: value } }, replace);
}
export function kept(name, otherwise) {
	return extra.value[name] ?? otherwise;
}

export const range = computed(() => {
	const i = info.value;
	return { t0: t0.value ?? Math.min(0, i?.first ?? 0), t1: t1.value ?? i?.last ?? 0, whole: t0.value === null && t1.value === null };
});
// What requests take.
export const selection = computed(() => ({ tr: tr.value, t0: t0.value, t1: t1.value, f: filter.value }));

export function zoom(a, b) {
	const i = info.value;
	if (STILL || !i || !(b > a)) {
		return;
	}
	const from = Math.max(Math.round(a), Math.min(0, i.first)), to = Math.min(Math.round(b), i.last);
	go({ t0: from <= Math.min(0, i.first) ? null : from, t1: to >= i.last ? null : to });
}
export function zoomOut() {
	const r = range.value, w = r.t1 - r.t0;
	zoom(r.t0 - w / 2, r.t1 + w / 2);
}
export function and(text) {
	const f = filter.value.trim();
	go({ f: f ? `${/\bor\b|\|\|/.test(f) ? `(${f})` : f} and ${text}` : text });
}
export function andNot(text) {
	and(/ and | or /.test(text) ? `not (${text})` : `not ${text}`);
}

/* ---- questions ---- */

export function toast(text, kind = 'error') {
	const id = Math.random();
	toasts.value = [...toasts.value, { id, text, kind }];
	setTimeout(() => (toasts.value = toasts.value.filter((t) => t.id !== id)), 8000);
}

// An answer of the server for these parameters, asked again when they change and when there is more in the trace. The last answer
// stays while a new one is fetched. `path` null: nothing is asked. `later`: what is looked at first (`first`) is answered before.
export function useAsk(path, params, options = {}) {
	const [state, setState] = useState({ data: null, error: null, loading: path !== null });
	const key = path === null ? null : path + JSON.stringify(params);
	const last = useRef(null);
	const again = options.still ? options.again ?? 0 : tick.value;
	useEffect(() => {
		if (path === null) {
			setState({ data: null, error: null, loading: false });
			return undefined;
		}
		const control = new AbortController();
		const changed = last.current !== key;
		last.current = key;
		setState((s) => ({ ...s, loading: true, error: changed ? null : s.error }));
		const ask = () => get(path, params, control.signal, (making) => setState((s) => ({ ...s, making })));
		(options.later && changed ? afterFirst(control.signal).then(ask) : options.first ? first(ask()) : ask()).then(
			(data) => setState({ data, error: null, loading: false, key }),
			(error) => {
				if (error.name !== 'AbortError') {
					setState((s) => ({ data: changed ? null : s.data, error, loading: false }));
				}
			},
		);
		return () => control.abort();
	}, [key, again]);
	return state;
}

/* ---- the trace ---- */

export async function askTraces() {
	const a = await get('traces');
	traces.value = a.traces;
	version.value = a.version;
	return a;
}

// `more`: there is more in the trace, and every answer is asked anew, once, with what is known of it now.
async function askInfo(more = false) {
	const id = tr.value;
	if (!traces.value.some((t) => t.tr === id)) {
		info.value = null;
		return;
	}
	try {
		const i = await get('info', { tr: id });
		if (id === tr.value) {
			batch(() => {
				info.value = i;
				tick.value += more ? 1 : 0;
			});
			document.title = `${i.name} – OpenETW`;
		}
	} catch (e) {
		info.value = null;
		if (!(e instanceof Failure && e.status === 404)) {
			toast(e.message);
		}
	}
}

let events = null;
function listen() {
	events?.close();
	events = null;
	if (STILL || document.hidden) {
		return;
	}
	events = new EventSource(`/api/events?tr=${tr.value}`);
	let last = 0, pause = 150, asked = Date.now();
	events.addEventListener('progress', (e) => {
		const p = JSON.parse(e.data);
		if (info.value && p.tr === tr.value) {
			const whole = info.value.progress.whole; // then the answers are of all events already
			info.value = { ...info.value, progress: { ...info.value.progress, ...p } };
			/* Answers cost time that the index wants: they are asked anew soon at first, so that something is seen, then now and
			   then, and at the end. */
			if (!whole && (p.whole || Date.now() - last > pause)) {
				last = Date.now();
				pause = info.value.last > 0 ? Math.min(2 * pause, 2500) : pause; // until there is something
				askInfo(true);
			}
		}
	});
	events.addEventListener('rows', (e) => {
		const p = JSON.parse(e.data);
		if (p.tr === tr.value) {
			live.value = p;
			if (info.value) {
				info.value = { ...info.value, rows: p.total ?? info.value.rows, last: p.now, live_state: { ...info.value.live_state, ...p } };
			}
			if (follow.value) {
				tick.value += 1;
			}
			/* The session was started again: whoever follows it goes on there. */
			if (p.ended && p.next !== undefined && follow.value && !traces.value.some((t) => t.tr === p.next)) {
				askTraces().then(() => {
					if (tr.value === p.tr) {
						toast('The session was started again', 'info');
						go({ tr: p.next, t0: null, t1: null }, true);
					}
				});
			}
			if (Date.now() - asked > 3000) {
				asked = Date.now();
				askInfo();
			}
		}
	});
	events.addEventListener('rules', (e) => {
		const before = ruled.value, now = JSON.parse(e.data);
		ruled.value = now;
		for (const r of now.rules) {
			const old = before?.tr === now.tr ? before.rules.find((x) => x.id === r.id) : null;
			if (old && r.files > old.files) {
				toast(`Kept by rule: ${r.last}`, 'info');
			}
		}
	});
	events.addEventListener('jobs', (e) => (jobs.value = JSON.parse(e.data)));
}

export async function start() {
	try {
		await askTraces();
	} catch (e) {
		toast(e.message);
	}
	addEventListener('hashchange', read);
	addEventListener('popstate', read);
	document.addEventListener('visibilitychange', listen);
	read();
	effect(() => {
		tr.value;
		traces.value;
		if (live.peek() && live.peek().tr !== tr.value) {
			live.value = null; // of another trace
		}
		askInfo();
		listen();
	});
	effect(() => {
		const t = theme.value;
		if (t) {
			document.documentElement.dataset.theme = t;
		} else {
			delete document.documentElement.dataset.theme;
		}
		rememberAs('theme', t);
	});
}
