// SPDX-License-Identifier: MIT
// Less at the source: the session leaves out what a filter of processes and levels leaves out, so that it is never written.
import { html, useEffect, useState } from '../ui.js';
import { info, selection, toast, tick } from '../state.js';
import { get, post } from '../api.js';
import { count } from '../text.js';

// The processes that a filter is about, when it lets none else through: "pid == 4" tests that are joined by and.
export function pidsOf(f) {
	if (/\bor\b|\|\|/.test(f)) {
		return [];
	}
	const found = /(^|\band\s+|&&\s*)pid\s*(?:==|=|is)\s*(\d+)\b/.exec(f) ?? null;
	const list = /(^|\band\s+|&&\s*)pid\s+in\s*\(([\d,\s]+)\)/.exec(f) ?? null;
	return list ? list[2].split(',').map(Number).slice(0, 8) : found ? [Number(found[2])] : [];
}

// And the level up to which it lets events through; 0: all.
const levels = { critical: 1, error: 2, warning: 3, information: 4, info: 4, verbose: 5 };
export function levelOf(f) {
	const m = /\bor\b|\|\|/.test(f) ? null : /(^|\band\s+|&&\s*)level\s*<=\s*(\w+)/.exec(f);
	return m ? levels[m[2].toLowerCase()] ?? (Number(m[2]) || 0) : 0;
}

// `filter`: what the page shows only. Of the viewer's own sessions alone: of others nobody knows how their providers were enabled.
export function Source({ filter }) {
	const id = selection.value.tr, s = info.value?.live_state ?? {};
	const pids = pidsOf(filter), level = s.levels ? levelOf(filter) : 0;
	const applied = [s.source?.length ? `pid ${s.source.join(', ')}` : '', s.source_level ? `level ≤ ${s.source_level}` : ''].filter(Boolean).join(', ');
	const [share, setShare] = useState(null);
	const useful = s.own && (pids.length > 0 || level > 0);
	useEffect(() => {
		if (!useful || applied) {
			setShare(null);
			return undefined;
		}
		const control = new AbortController();
		const f = [pids.length && `pid in (${pids.join(',')})`, level && `level <= ${level}`].filter(Boolean).join(' and ');
		get('facets', { tr: id, by: 'level', f, top: 1 }, control.signal).then((a) => setShare(a.answer.matched / Math.max(1, info.value.rows)), () => setShare(null));
		return () => control.abort();
	}, [id, pids.join(), level, applied]);
	const apply = async (body) => {
		try {
			const a = await post('source', { tr: id, ...body });
			toast(`Done: ${a.command}`, 'info');
			/* Said at once: the server tells it with the next events, which may be far. */
			info.value = { ...info.value, live_state: { ...info.value.live_state, source: body.pids ?? [], source_level: body.level ?? 0 } };
			tick.value += 1;
		} catch (e) {
			toast(e.message);
		}
	};
	if (applied) {
		return html`<span class="chip">at the source: ${applied} <button aria-label="Take the filter at the source away" onClick=${() => apply({ pids: [] })}>×</button></span>`;
	}
	if (!useful) {
		return null;
	}
	const rate = s.rate ?? 0;
	return html`<button onClick=${() => apply({ pids, ...(level ? { level } : {}) })} title="The session itself leaves out everything else; take it away again at any time">Apply at the source${share !== null && rate > 0 ? `: ${count(rate)}/s → ${count(rate * share)}/s` : ''}</button>`;
}
