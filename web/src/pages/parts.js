// SPDX-License-Identifier: MIT
// Pieces that the pages about time have in common: a table of the server, the flame graph with its tools, chains of wakers in words.
import { html, useEffect, useRef, useState } from '../ui.js';
import { get, address } from '../api.js';
import { tick, useAsk } from '../state.js';
import { Asked } from '../widgets/asked.js';
import { DataTable } from '../widgets/table.js';
import { Teach } from '../shell/shell.js';
import { differenceOf } from '../widgets/flame_difference.js';
import { cell, count, duration, time, visible } from '../text.js';
import { useDark, useSettled } from './use.js';

// A table that the server answers. onRow(row, columns): the first cell is a button for it.
export function TableOf({ params, label, titles, onRow, chosen, share }) {
	const state = useAsk('table', useSettled(params));
	return html`<${Asked} state=${state}>${(a) => {
		const columns = a.columns.map((c) => ({ ...c, title: titles?.[c.name] ?? c.name }));
		return html`<${DataTable} columns=${columns} rows=${a.rows} all=${a.all} label=${label} chosen=${chosen && ((r) => chosen(r, columns))}
			share=${share && columns.findIndex((c) => c.name === share)} onRow=${onRow && ((r) => onRow(r, columns))} render=${onRow && linkOf((r) => onRow(r, columns))} />`;
	}}<//>`;
}

// The first cell of a row as a button, so that the keyboard gets there.
export function linkOf(run) {
	return (row, i, column) => (i === 0 ? html`<button class="link" onClick=${(e) => {
		e.stopPropagation();
		run(row);
	}}>${cell(row[0], column) || '(none)'}</button>` : undefined);
}

export function amount(unit, n) {
	return unit === 'ns' ? duration(n) : `${Number.isInteger(n) ? count(n) : n.toPrecision(4)}${unit === 'samples' || unit === 'events' ? ` ${unit}` : ''}`;
}

// speedscope's own page, which asks for exactly the stacks that are shown.
export function speedscopeOf(question) {
	return `/speedscope/#profileURL=${encodeURIComponent(address('stacks', { ...question, format: 'speedscope' }))}`;
}

// The flame graph of a question to /api/stacks with its tools. `state` {inverted, kernel, by, find} and `set` are the page's. With
// `base`, another question, it shows what is different: numbers of both times `scale`.
export function FlameOf({ question, base, scale, state, set, label, children }) {
	const host = useRef(null), box = useRef(null), flame = useRef(null), shown = useRef(null);
	const [answer, setAnswer] = useState(null);
	const [error, setError] = useState(null);
	const [busy, setBusy] = useState(true);
	const [found, setFound] = useState(null);
	const [words, setWords] = useState('');
	const [path, setPath] = useState(null); // of the frame below which the server was asked again
	const dark = useDark();
	const how = { inverted: state.inverted ? 1 : undefined, kernel: state.kernel === '0' ? 0 : undefined, by: state.by || undefined, processes: base ? 0 : undefined };
	const [asked, other, times] = useSettled([{ ...question, ...how }, base ? { ...base, ...how } : null, scale ?? [1, 1]]);
	const key = JSON.stringify([asked, other, times]);
	const below = path && path.key === key ? path.frames.join('\n') : undefined;

	useEffect(() => {
		const control = new AbortController();
		setBusy(true);
		const answers = other ? Promise.all([other, asked].map((q) => get('stacks', { ...q, max: 3000 }, control.signal))).then(([a, b]) => differenceOf(a, b, times)) : get('stacks', { ...asked, max: 3000, root: below }, control.signal);
		answers.then(
			(data) => {
				setAnswer({ data, frames: below ? path.frames : null, key });
				setError(null);
				setBusy(false);
			},
			(e) => {
				if (e.name !== 'AbortError') {
					setError(e);
					setBusy(false);
				}
			},
		);
		return () => control.abort();
	}, [key, below, tick.value]);

	useEffect(() => {
		let ended = false, made = null;
		const of = (node) => (shown.current?.total ? (100 * node.value) / shown.current.total : 0);
		const sides = (node) => `${amount(shown.current?.unit, node.a)} before, ${amount(shown.current?.unit, node.b)} now: ${node.b >= node.a ? '+' : '−'}${amount(shown.current?.unit, Math.abs(node.b - node.a))}`;
		import('../widgets/flame.js').then(({ createFlame }) => {
			if (ended || !host.current) {
				return;
			}
			made = createFlame(host.current, {
				words: (node) => (node.a !== undefined ? `${visible(node.name)}, ${visible(node.module)}: ${sides(node)}` : `${visible(node.name)}${node.module ? `, ${visible(node.module)}` : ''}: ${amount(shown.current?.unit, node.value)}, ${of(node).toFixed(1)} %${node.self ? `; itself ${amount(shown.current?.unit, node.self)}` : ''}`),
				picked: (node) => setWords(node.a !== undefined ? `${visible(node.name)} · ${visible(node.module)} — ${sides(node)}` : `${visible(node.name)}${node.module ? ` · ${visible(node.module)}` : ''} — ${amount(shown.current?.unit, node.value)} (${of(node).toFixed(2)} %), itself ${amount(shown.current?.unit, node.self)}`),
				found: setFound,
				zoomed: (frames) => {
					if (frames === null) {
						setPath(null);
					} else if (shown.current?.cut > 0) {
						setPath({ key: shown.current.key, frames });
					}
				},
			});
			made.setDark(dark);
			flame.current = made;
			setAnswer((a) => (a ? { ...a } : a));
		});
		return () => {
			ended = true;
			made?.destroy();
			flame.current = null;
		};
	}, []);
	useEffect(() => {
		if (answer) {
			shown.current = { unit: answer.data.unit, total: answer.data.total, cut: answer.data.cut, key: answer.key };
			flame.current?.setTree(answer.data, { path: answer.frames, difference: answer.data.nodes[0]?.length > 5 });
			flame.current?.search(state.find ?? '');
		}
	}, [answer]);
	useEffect(() => flame.current?.setDark(dark), [dark]);
	useEffect(() => flame.current?.search(state.find ?? ''), [state.find]);

	const data = answer?.data;
	return html`<div class="flamebox" ref=${box} onKeyDown=${(e) => {
		if (e.key === '/' && e.target.tagName !== 'INPUT') {
			e.preventDefault();
			e.stopPropagation();
			box.current.querySelector('input[type=search]').focus();
		}
	}}>
		<div class="timetools" role="toolbar" aria-label=${`Tools of ${label}`}>
			<input type="search" class="mono" placeholder="highlight  ( / )" aria-label="Highlight frames by a regular expression" value=${state.find ?? ''} onInput=${(e) => set({ find: e.target.value })} />
			<output class="found">${state.find && found ? `${count(found.count)} frames, ${data?.cut ? 'at least ' : ''}${(100 * found.share).toFixed(1)} %` : ''}</output>
			<label><input type="checkbox" checked=${Boolean(state.inverted)} onChange=${(e) => set({ inv: e.target.checked ? '1' : '' })} /> inverted</label>
			<label><input type="checkbox" checked=${state.kernel === '0'} onChange=${(e) => set({ kernel: e.target.checked ? '0' : '' })} /> hide kernel</label>
			<label><input type="checkbox" checked=${state.by === 'module'} onChange=${(e) => set({ fby: e.target.checked ? 'module' : '' })} /> by module</label>
			${children}
			${!base && !STILL && html`<a class="button" target="_blank" rel="noopener" href=${speedscopeOf(asked)}>Open in speedscope</a>`}
		</div>
		<p class="flamewords" aria-hidden="true">${words || (data ? `${data.sides ? `${amount(data.unit, data.sides[0])} before, ${amount(data.unit, data.sides[1])} now${data.left ? `; ${count(data.left)} narrow frames are left out` : ''}` : `${amount(data.unit, data.total)} in all`}${data.cut ? `; ${count(data.cut)} narrow frames are shown when you zoom` : ''}` : '\u00a0')}</p>
		${error && (error.teach ? html`<${Teach} text=${`${error.message} \`${error.teach}\``} />` : html`<p class="empty" role="alert">${visible(error.message)}</p>`)}
		${data?.total === 0 && !error && html`<${Teach} text=${`There are no stacks for ${label} in this selection. \`openetw record --cpu --wait --stacks\` records them.`} />`}
		<div class=${`flamehost ${busy ? 'busy' : ''}`} ref=${host} aria-busy=${busy}></div>
	</div>`;
}

// What the tools of a flame graph keep: `find` for now, the rest in the address.
export function useFlame(param, setParams) {
	const [find, setFind] = useState('');
	return [
		{ inverted: param('inv'), kernel: param('kernel'), by: param('fby'), find },
		({ find: text, ...words }) => {
			if (text !== undefined) {
				setFind(text);
			}
			if (Object.keys(words).length) {
				setParams(words);
			}
		},
	];
}

// Fields of the selection's events that are numbers.
export function FieldChoice({ sel, value, set, label, first }) {
	const state = useAsk('columns', useSettled(sel));
	const fields = (state.data?.columns ?? []).filter((c) => c.numeric).map((c) => c.name);
	if (value && !fields.includes(value)) {
		fields.unshift(value);
	}
	return html`<label>${label} <select value=${value} onChange=${(e) => set(e.target.value)}>
		<option value="" selected=${!value}>${first}</option>
		${fields.map((f) => html`<option key=${f} value=${f} selected=${f === value}>${visible(f)}</option>`)}
	</select></label>`;
}

// What the graph weighs: samples, events, or the sum of a field that is a number.
export function WeightChoice({ sel, value, set, kinds }) {
	const state = useAsk('columns', useSettled(sel));
	const fields = (state.data?.columns ?? []).filter((c) => c.numeric).map((c) => `field:${c.name}`);
	const list = value.startsWith('field:') && !fields.includes(value) ? [value, ...fields] : fields;
	return html`<label>Weight <select value=${value} onChange=${(e) => set(e.target.value)}>
		${kinds.map(([id, title]) => html`<option key=${id} value=${id} selected=${id === value}>${title}</option>`)}
		<optgroup label="Sum of a field">${list.map((f) => html`<option key=${f} value=${f} selected=${f === value}>${visible(f.slice(6))}</option>`)}</optgroup>
	</select></label>`;
}

export function Choice({ label, value, options, set }) {
	return html`<label>${label} <select value=${value} onChange=${(e) => set(e.target.value)}>
		${options.map(([id, title]) => html`<option key=${id} value=${id} selected=${id === value}>${title}</option>`)}
	</select></label>`;
}

/* ---- waits in words ---- */

const reasons = {
	Executive: 'the kernel', WrExecutive: 'the kernel', PageIn: 'a page to come in', WrPageIn: 'a page to come in', DelayExecution: 'its sleep to end', WrDelayExecution: 'its sleep to end',
	UserRequest: 'an object', WrUserRequest: 'an object', Suspended: 'being resumed', WrQueue: 'work', WrAlertByThreadId: 'a lock', WrLpcReceive: 'a message', WrLpcReply: 'an answer', WrEventPair: 'an event',
	PoolAllocation: 'memory', WrPoolAllocation: 'memory', FreePage: 'memory', WrFreePage: 'memory',
};
export function reasonWords(reason) {
	return reasons[reason] ? `${reasons[reason]} (${reason})` : reason || 'something no event tells';
}
const wakers = { interrupt: 'an interrupt', softirq: 'a softirq: disk, network or timer work of the kernel', timer: 'a timer', DPC: 'a DPC' };

// The chain of wakers, from the wait back to its cause: [{link, text, cause}].
export function chainWords(links) {
	return links.map((link, n) => {
		const until = link.ready ?? link.to;
		const late = link.ready != null && link.to != null ? link.to - link.ready : 0;
		let text;
		if (link.waker === 'preempted') {
			text = `${visible(link.name)} could run, and another thread had its processor for ${link.to == null ? 'the rest of the trace' : duration(link.to - link.from)}`;
		} else {
			text = `${n ? 'That one itself' : visible(link.name)} waited ${until == null ? 'to the end of the trace' : duration(until - link.from)} for ${reasonWords(link.reason)}`;
			text += link.waker_thread ? `, until ${visible(link.waker_name || `thread ${link.waker_thread}`)} woke it` : wakers[link.waker] ? `, until ${wakers[link.waker]} ended that` : '';
			text += late > 0 ? `; then ${duration(late)} for a processor` : '';
		}
		const cause = {
			ran: `The cause: ${visible(link.waker_name || 'that thread')} did not wait meanwhile. What it did took that long.`,
			outside: 'The cause came from outside of all threads.',
			unknown: 'No event says who ended that wait.',
			waits: 'Nothing ended it: it waits when the trace ends.',
			more: 'There are more links than are shown.',
		}[link.cause];
		return { link, text: `${text}.`, cause };
	});
}

export function ChainList({ chain, show }) {
	if (!chain?.links?.length) {
		return html`<p class="empty">${chain?.problem ? visible(chain.problem) : 'Click a piece where a thread waits or is ready: the chain of wakers, back to the cause, stands here.'}</p>`;
	}
	return html`<div class="chain">
		<p>Why did <b>${visible(chain.links[0].name)}</b> not run at ${time(chain.links[0].from, 1e3)}?</p>
		<ol>${chainWords(chain.links).map(({ link, text, cause }) => html`<li>${text} <button class="link" onClick=${() => show(link)}>at ${time(link.from, 1e3)}</button>${cause && html`<p class="cause">${cause}</p>`}</li>`)}</ol>
	</div>`;
}
