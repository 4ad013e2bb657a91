// SPDX-License-Identifier: MIT
// Finds one lane among thousands. Enter shows it, Shift+Enter pins it.
import { html, useMemo, useState } from '../ui.js';
import fuzzysort from 'fuzzysort';
import { visible } from '../text.js';
import { COUNTERS } from './timeline_rows.js';

export function LaneSearch({ known, version, reveal, pin }) {
	const [text, setText] = useState('');
	const [at, setAt] = useState(0);
	const targets = useMemo(() => [
		/* Without context switches those have a lane that have spans. */
		...known.threads.filter((t) => known.has.switches || known.spans.get('activities')?.has(t.thread)).map((t) => ({ key: `${known.has.switches ? 't' : 's'}:${t.thread}`, text: visible(`${t.process_name || 'process'} ${t.name && t.name !== t.process_name ? `${t.name} ` : ''}${t.tid}`) })),
		...known.cpus.map((c) => ({ key: `c:${c.id}`, text: `CPU ${c.cpu}` })),
		...COUNTERS.filter((c) => known.has[c.has]).map((c) => ({ key: `n:${c.id}`, text: c.label })),
	], [version]);
	const found = text ? fuzzysort.go(text, targets, { key: 'text', limit: 12 }).map((r) => r.obj) : [];
	const choose = (lane, pinned) => {
		if (lane) {
			(pinned ? pin : reveal)(lane.key);
			setText('');
		}
	};
	return html`<div class="lanesearch">
		<label>Find a lane <input type="search" role="combobox" aria-expanded=${found.length > 0} aria-controls="lanes-found" aria-autocomplete="list" aria-activedescendant=${found.length ? `lanes-found-${at}` : undefined}
			placeholder="thread, process, CPU" value=${text} onInput=${(e) => {
				setText(e.target.value);
				setAt(0);
			}} onBlur=${() => setText('')} onKeyDown=${(e) => {
				e.stopPropagation();
				if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
					e.preventDefault();
					setAt(Math.max(0, Math.min(found.length - 1, at + (e.key === 'ArrowDown' ? 1 : -1))));
				} else if (e.key === 'Enter') {
					choose(found[at], e.shiftKey);
				} else if (e.key === 'Escape') {
					setText('');
				}
			}} /></label>
		<ul id="lanes-found" class="offers" role="listbox" aria-label="Lanes" hidden=${!found.length}>
			${found.map((lane, i) => html`<li id=${`lanes-found-${i}`} role="option" aria-selected=${i === at} class=${i === at ? 'chosen' : ''} onPointerDown=${(e) => {
				e.preventDefault();
				choose(lane, e.shiftKey || e.target.tagName === 'SMALL');
			}}><span>${lane.text}</span><small title="Shift+Enter">pin</small></li>`)}
		</ul>
	</div>`;
}
