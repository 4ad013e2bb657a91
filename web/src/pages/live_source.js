// SPDX-License-Identifier: MIT
// Less at the source: the session leaves out what a filter of processes leaves out, so that it is never written.
import { html, useEffect, useState } from '../ui.js';
import { info, kept, selection, toast, tick } from '../state.js';
import { get, post } from '../api.js';
import { count } from '../text.js';
import { copy } from '../shell/menu.js';

// The processes that a filter is about, when it lets none else through: "pid == 4" tests that are joined by and.
export function pidsOf(f) {
	if (/\bor\b|\|\|/.test(f)) {
		return [];
	}
	const found = /(^|\band\s+|&&\s*)pid\s*(?:==|=|is)\s*(\d+)\b/.exec(f) ?? null;
	const list = /(^|\band\s+|&&\s*)pid\s+in\s*\(([\d,\s]+)\)/.exec(f) ?? null;
	return list ? list[2].split(',').map(Number).slice(0, 8) : found ? [Number(found[2])] : [];
}

export function Source() {
	const id = selection.value.tr, pids = pidsOf(kept('of', ''));
	const applied = info.value?.live_state?.source ?? [];
	const [share, setShare] = useState(null);
	useEffect(() => {
		if (!pids.length || applied.length) {
			setShare(null);
			return undefined;
		}
		const control = new AbortController();
		get('facets', { tr: id, by: 'level', f: `pid in (${pids.join(',')})`, top: 1 }, control.signal).then((a) => setShare(a.answer.matched / Math.max(1, info.value.rows)), () => setShare(null));
		return () => control.abort();
	}, [id, pids.join(), applied.join()]);
	const apply = async (list) => {
		try {
			const a = await post('source', { tr: id, pids: list });
			toast(`Done: ${a.command}`, 'info');
			tick.value += 1;
		} catch (e) {
			toast(e.message);
		}
	};
	if (applied.length) {
		return html`<span class="chip">at the source: pid ${applied.join(', ')} <button aria-label="Take the filter at the source away" onClick=${() => apply([])}>×</button></span>`;
	}
	if (!pids.length || !info.value?.live_state?.own) {
		return null;
	}
	const rate = info.value.live_state.rate ?? 0;
	return html`<button onClick=${() => apply(pids)} onContextMenu=${(e) => {
		e.preventDefault();
		copy(`openetw enable SESSION SystemProcessProvider --pid ${pids.join(' --pid ')}`);
	}} title="The session itself leaves out all other processes; take it away again at any time">Apply at the source${share !== null && rate > 0 ? `: ${count(rate)}/s → ${count(rate * share)}/s` : ''}</button>`;
}
