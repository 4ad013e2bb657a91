// SPDX-License-Identifier: MIT
// The frame around every page: rail, header, what lies above the page.
import { html, useEffect, useState, useRef } from '../ui.js';
import { page, go, info, range, filter, zoom, zoomOut, t0, t1, toasts, jobs, theme, traces, tr, version, live, tick } from '../state.js';
import { pages } from '../pages/index.js';
import { count, duration, time, visible, plural } from '../text.js';
import { Icon } from './icons.js';
import { FilterBox } from './filterbox.js';
import { Menu } from './menu.js';
import { Palette, paletteOpen } from './palette.js';
import { Help, helpOpen } from './help.js';
import { ExportDialog, exportOpen } from './export.js';
import { addMark } from './marks.js';
import { stepMatch } from './match.js';
import { still } from '../still.js';

function Rail() {
	return html`<nav class="rail" aria-label="Pages">
		${pages.map((p) => {
			const there = p.alone || !info.value ? true : p.has ? p.has(info.value.has) === true : true;
			return html`<a href=${`#${p.id}`} class=${`${page.value === p.id ? 'here' : ''} ${there ? '' : 'lacks'}`} aria-current=${page.value === p.id ? 'page' : undefined} title=${`${p.title} (g ${p.key})${there ? '' : ': not in this trace'}`} onClick=${(e) => {
				e.preventDefault();
				go({ page: p.id });
			}}><${Icon} name=${p.id} /><span>${p.title}</span></a>`;
		})}
	</nav>`;
}

function Range() {
	const r = range.value;
	const [text, setText] = useState(null);
	const w = r.t1 - r.t0;
	const step = Math.max(1, w / 1000);
	const shown = `${time(r.t0, step)} – ${time(r.t1, step)}`;
	const apply = () => {
		const m = /^\s*(-?[\d.]+)\s*s?\s*(?:–|-|\.\.|to)\s*(-?[\d.]+)\s*s?\s*$/.exec(text ?? '');
		if (m) {
			zoom(Number(m[1]) * 1e9, Number(m[2]) * 1e9);
		}
		setText(null);
	};
	return html`<div class="range" role="group" aria-label="Times">
		<input aria-label="From and to" value=${text ?? shown} onFocus=${() => setText(shown)} onInput=${(e) => setText(e.target.value)} onBlur=${apply} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Enter') {
				apply();
				e.target.blur();
			} else if (e.key === 'Escape') {
				setText(null);
				e.target.blur();
			}
		}} />
		<span class="span">${duration(w)}</span>
		<button class="quiet" onClick=${zoomOut} disabled=${r.whole} title="Farther (S)" aria-label="Zoom out">−</button>
		<button class="quiet" onClick=${() => go({ t0: null, t1: null })} disabled=${r.whole} title="The whole trace (F)">all</button>
	</div>`;
}

function Light() {
	const i = info.value;
	if (!i) {
		return null;
	}
	return html`<a class=${`light ${i.light}`} href="#diagnostics" title=${i.light_sentence} onClick=${(e) => {
		e.preventDefault();
		go({ page: 'diagnostics' });
	}}><span class="dot" aria-hidden="true"></span>${i.light === 'green' ? 'Trustworthy' : i.light === 'yellow' ? (i.lost.events > 0 || i.lost.buffers > 0 || i.lost.unknown ? 'Gaps' : 'Usable') : 'Damaged'}</a>`;
}

function Progress() {
	const p = info.value?.progress;
	if (!p || p.whole) {
		return null;
	}
	const left = p.seconds_left >= 0 ? `, ${Math.ceil(p.seconds_left)} s left` : '';
	return html`<div class="progress" role="progressbar" aria-label="Making the index" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(p.fraction * 100)}>
		<i ref=${(e) => e && (e.style.width = `${p.fraction * 100}%`)}></i><span>indexing ${count(p.rows)} events, ${(p.rows_per_second / 1e6).toFixed(1)} M/s${left}</span>
	</div>`;
}

function Live() {
	const i = info.value, l = live.value;
	if (!i?.live) {
		return null;
	}
	const s = { ...i.live_state, ...(l ?? {}) };
	return html`<div class="livebar" role="status">
		<b>live</b> ${count(s.rate)} events/s · newest ${s.lag_ms >= 0 ? `${count(s.lag_ms)} ms ago` : '–'} · <span class=${s.lost ? 'bad' : ''}>${plural(s.lost ?? 0, 'event')} lost</span>${s.ended ? ' · the session has ended' : ''}
	</div>`;
}

function Traces() {
	if (traces.value.length < 2) {
		return info.value ? html`<strong class="name" title=${info.value.files?.[0]?.path}>${visible(info.value.name)}</strong>` : null;
	}
	return html`<select class="name" aria-label="Trace" value=${tr.value} onChange=${(e) => go({ tr: Number(e.target.value), t0: null, t1: null, f: '', extra: {} })}>
		${traces.value.map((t) => html`<option value=${t.tr} selected=${t.tr === tr.value}>${visible(t.name)}${t.live ? ' (live)' : ''}</option>`)}
	</select>`;
}

// A file says what it is, and of which times and events.
function StillHeader() {
	const r = range.value, i = info.value;
	return html`<header class="header">
		<strong class="name" title=${visible(i?.name)}>${visible(i?.name)}</strong>
		<span class="stillrange">${i && `${time(r.t0, 1e6)} – ${time(r.t1, 1e6)}`}</span>${filter.value && html`<code class="stillfilter" title=${visible(filter.value)}>${visible(filter.value)}</code>`}
		<span class="grow"></span><span class="note">a view of openetw ${still.version}, saved as a file</span><${Light} /><${Theme} />
	</header>`;
}

function Theme() {
	return html`<button class="quiet" title="Dark or light" aria-label="Dark or light" onClick=${() => (theme.value = (theme.value || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark')}><${Icon} name="sun" size=${18} /></button>`;
}

function Header() {
	const here = pages.find((p) => p.id === page.value);
	return html`<header class="header">
		<${Traces} />
		${!here?.alone && info.value && html`<${Range} /><${FilterBox} />`}
		${(here?.alone || !info.value) && html`<span class="grow"></span>`}
		<${Light} />
		${info.value && !info.value.live && html`<button class="quiet" title="Export this selection" aria-label="Export this selection" onClick=${() => (exportOpen.value = true)}><${Icon} name="export" size=${18} /></button>`}
		<${Theme} />
		<button class="quiet" title="Keys (?)" aria-label="Keys" onClick=${() => (helpOpen.value = true)}>?</button>
	</header>`;
}

export function Teach({ text }) {
	return html`<div class="teach"><p>${String(text)
		.split('`')
		.map((s, i) => (i % 2 ? html`<code>${s}</code>` : s))}</p></div>`;
}

const loaded = new Map();
function Page() {
	const p = pages.find((x) => x.id === page.value) ?? pages[1] ?? pages[0];
	const [, redraw] = useState(0);
	const part = loaded.get(p.id);
	useEffect(() => {
		if (!part) {
			p.load().then(
				(m) => {
					loaded.set(p.id, m.default);
					redraw((n) => n + 1);
				},
				(e) => {
					loaded.set(p.id, () => html`<${Teach} text=${`This page could not be loaded: ${e.message}`} />`);
					redraw((n) => n + 1);
				},
			);
		}
	}, [p.id]);
	if (!p.alone && !info.value) {
		return traces.value.length ? html`<div class="teach" role="status"><p>Opening …</p></div>` : html`<${Teach} text=${'No trace is open. Home shows which there are; `openetw view FILE` opens one.'} />`;
	}
	if (!part) {
		return html`<div class="teach" role="status"><p>…</p></div>`;
	}
	const has = p.has && info.value ? p.has(info.value.has) : true;
	return has === true ? html`<${part} />` : html`<${Teach} text=${has} />`;
}

function Toasts() {
	return html`<div class="toasts" role="status" aria-live="polite">
		${toasts.value.map((t) => html`<div class=${`toast ${t.kind}`}>${visible(t.text)}</div>`)}
		${jobs.value.filter((j) => j.state === 'runs').map((j) => html`<div class="toast info">${visible(j.what)} …</div>`)}
	</div>`;
}

let pending = 0; // "g" was pressed: a page's letter comes next
function onKey(e) {
	const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) || e.target.isContentEditable || e.target.closest?.('.cm-editor');
	if (!STILL && (e.ctrlKey || e.metaKey) && (e.key === 'p' || e.key === 'k')) {
		e.preventDefault();
		paletteOpen.value = !paletteOpen.value;
		return;
	}
	if (e.key === 'Escape' && (helpOpen.value || paletteOpen.value || exportOpen.value)) {
		helpOpen.value = paletteOpen.value = exportOpen.value = false;
		return;
	}
	if (typing || e.ctrlKey || e.metaKey || e.altKey || paletteOpen.value || helpOpen.value || exportOpen.value) {
		return;
	}
	if (pending && Date.now() - pending < 1500) {
		const p = pages.find((x) => x.key === e.key);
		pending = 0;
		if (p) {
			e.preventDefault();
			go({ page: p.id });
			return;
		}
	}
	const r = range.value, w = r.t1 - r.t0;
	const act = {
		'/': () => document.getElementById('filter')?.focus(),
		'?': () => (helpOpen.value = true),
		Backspace: () => history.back(),
		w: () => zoom(r.t0 + w / 4, r.t1 - w / 4),
		s: zoomOut,
		a: () => zoom(r.t0 - w / 4, r.t1 - w / 4),
		d: () => zoom(r.t0 + w / 4, r.t1 + w / 4),
		f: () => go({ t0: null, t1: null }),
		m: () => addMark((r.t0 + r.t1) / 2),
		'[': () => stepMatch(true),
		']': () => stepMatch(false),
		g: () => (pending = Date.now()),
	}[e.key];
	if (act && !(STILL && '/?[]m'.includes(e.key))) {
		e.preventDefault();
		act();
	}
}

export function App() {
	useEffect(() => {
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
	const main = useRef(null);
	return html`<a class="skip" href="#main" onClick=${(e) => {
			e.preventDefault();
			main.current?.focus();
		}}>To the page</a>
		<${Rail} />
		<div class="column">
			${STILL ? html`<${StillHeader} />` : html`<${Header} />`}<${Progress} /><${Live} />
			<main class=${`main page-${page.value}`} ref=${main} tabindex="-1"><${Page} /></main>
		</div>
		<${Menu} /><${Palette} /><${Help} /><${ExportDialog} /><${Toasts} />`;
}
