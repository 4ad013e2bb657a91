// SPDX-License-Identifier: MIT
// Timeline: what happened when, on which processor and thread. Lanes above; below them what the selected area says. The times of the
// selection are what the lanes show; the area is a part of that and stands in the address as a0 and a1.
import { html, useEffect, useRef, useState } from '../ui.js';
import { get } from '../api.js';
import { info, selection, tick, toast, track } from '../state.js';
import { lossText, visible } from '../text.js';
import { marks } from '../shell/marks.js';
import { Command } from '../shell/command.js';
import { showMenu } from '../shell/menu.js';
import { createLanes } from '../widgets/lanes.js';
import { AreaTabs } from './timeline_area.js';
import { makeLoader } from './timeline_load.js';
import { groupOf, makeRows } from './timeline_rows.js';
import { LaneSearch } from './timeline_search.js';
import { counterText, emptyKnown, itemWords, learnTrace, spanName, threadName } from './timeline_words.js';
import { bounds, param, setParam, setParams, setRange, times, useDark } from './use.js';

const list = (text) => (text ? text.split(',').filter(Boolean) : []);

// What the address keeps of the lanes.
function readView() {
	return {
		pins: list(param('pin')),
		hidden: new Set(list(param('hide'))),
		open: new Map(list(param('open')).map((w) => (w.startsWith('-') ? [w.slice(1), false] : [w, true]))),
		moves: list(param('move')).map((w) => w.split('*')).map(([key, by]) => [key, Number(by) || 0]),
		process: param('proc'),
	};
}

function swapped(keys, key, by) {
	const out = [...keys], at = out.indexOf(key), to = at + by;
	if (at >= 0 && to >= 0 && to < out.length) {
		[out[at], out[to]] = [out[to], out[at]];
	}
	return out;
}

// Changes of the lanes that stand in the address.
const change = {
	open(id, open) {
		const map = readView().open.set(id, open);
		setParam('open', [...map].map(([k, v]) => (v ? k : `-${k}`)).join(','));
	},
	pin(key) {
		const { pins } = readView();
		setParam('pin', (pins.includes(key) ? pins.filter((k) => k !== key) : [...pins, key]).join(','));
	},
	hide(key) {
		setParam('hide', [...readView().hidden, key].join(','));
	},
	move(row, by) {
		const view = readView();
		if (row.pinned) {
			setParam('pin', swapped(view.pins, row.key, by).join(','));
		} else {
			setParam('move', [...view.moves, [row.key, by]].map(([k, n]) => `${k}*${n}`).join(','));
		}
	},
};

function laneMenu(row) {
	return [
		{ text: row.pinned ? 'Unpin' : 'Pin on top', run: () => change.pin(row.key) },
		{ text: 'Hide', run: () => change.hide(row.key) },
		{ text: 'Move up', run: () => change.move(row, -1) },
		{ text: 'Move down', run: () => change.move(row, 1) },
		row.of && { text: `Only ${visible(row.of.process_name || 'this process')}`, run: () => setParam('proc', row.of.process_name) },
	];
}

// The widget with all that it asks of the page. `now` is what is true at the moment it asks.
function connect(host, now, known, actions) {
	const learn = (head) => {
		for (const [thread, name] of Object.entries(head.names ?? {})) {
			known.current.names.set(Number(thread), Array.isArray(name) ? name : [name, name]);
		}
		if (head.reasons) {
			known.current.reasons = head.reasons;
			known.current.wakers = head.wakers;
		}
		if (head.lost) {
			lanes.setLoss(head.lost);
		}
		if (head.answer) {
			actions.current.partial(head.answer.partial);
		}
	};
	const lanes = createLanes(host, {
		load: makeLoader(() => now.current.sel, learn),
		view: (v, how) => how === 'rests' && setRange(v.t0, v.t1),
		back: () => history.back(),
		area: (a) => setParams({ a0: a ? Math.round(a.t0) : '', a1: a ? Math.round(a.t1) : '' }),
		pick(item) {
			if (!item) {
				actions.current.noChain();
			} else if (item.row.kind === 'thread' && item.tile.doing[item.i] !== 1) {
				/* Of a ready piece the question is about the wait before it. */
				const { tile, i } = item;
				actions.current.chain(item.row.thread, tile.doing[i] === 2 ? tile.from[i] - 1 : Math.min(Math.max(item.t, tile.from[i]), tile.to[i] - 1));
			} else if (item.row.kind === 'cpu' && item.tile.thread[item.i]) {
				actions.current.reveal(`t:${item.tile.thread[item.i]}`);
			}
		},
		words: (item) => itemWords(known.current, item),
		lossWords: lossText,
		runLabel: (row, tile, i) => (row.kind === 'cpu' ? threadName(known.current, tile.thread[i]) : tile.doing[i] === 3 ? `waits: ${known.current.reasons[tile.reason[i]] ?? '?'}` : `CPU ${tile.cpu[i] & 0xffff}`),
		spanLabel: (row, tile, i) => visible(spanName(tile, i)),
		threadKnown: (thread) => known.current.byThread.has(thread) || known.current.names.has(thread),
		threadProcess: (thread) => known.current.byThread.get(thread)?.process_name ?? known.current.names.get(thread)?.[1] ?? '',
		counterText: (row, value) => counterText(lanes.tile(row.key)?.unit, value),
		pin: (row) => change.pin(row.key),
		menu: (row, event) => showMenu(event, laneMenu(row)),
		fold: (row) => change.open(row.id, !row.open),
		failed: (e) => toast(e.message),
	});
	return lanes;
}

function arrowsOf(links) {
	return links.filter((l) => l.ready != null && (l.waker_thread || (l.waker && l.waker !== 'unknown'))).map((l) => ({
		from: `t:${l.waker_thread}`, to: `t:${l.thread}`, t: l.ready, text: l.waker_thread ? `woken by ${visible(l.waker_name ?? '')}` : visible(l.waker),
	}));
}

export default function Timeline() {
	const sel = selection.value, about = info.value, dark = useDark();
	const host = useRef(null), panes = useRef(null), lanes = useRef(null), known = useRef(emptyKnown()), now = useRef(null), actions = useRef(null);
	const [version, setVersion] = useState(0);
	const [chain, setChain] = useState(null);
	const [partial, setPartial] = useState(false);
	const view = readView();
	const area = param('a0') && param('a1') ? { t0: Number(param('a0')), t1: Number(param('a1')) } : null;
	const whole = bounds(), range = times(sel);
	/* What there is in the trace: it is known later than that the index is whole. */
	const kinds = Object.keys(about.has).filter((k) => about.has[k] > 0).join();
	now.current = { sel, dark };

	const reveal = (key) => {
		const group = groupOf(key, known.current.threads);
		const words = { hide: [...view.hidden].filter((k) => k !== key).join(','), proc: '' };
		if (group && !view.pins.includes(key)) {
			const map = new Map(view.open).set(group, true);
			words.open = [...map].map(([k, v]) => (v ? k : `-${k}`)).join(',');
		}
		setParams(words);
		requestAnimationFrame(() => requestAnimationFrame(() => lanes.current?.show(key)));
	};
	actions.current = {
		reveal,
		partial: setPartial,
		noChain() {
			setChain(null);
			lanes.current.setArrows([]);
			setParam('chain', '');
		},
		chain: (thread, t) => setParams({ tab: 'chain', chain: `${thread}@${Math.round(t)}` }),
	};

	useEffect(() => {
		lanes.current = connect(host.current, now, known, actions);
		host.current.lanes = lanes.current; /* for journeys: what is painted, and whether it is complete */
		return () => lanes.current.destroy();
	}, []);
	useEffect(() => {
		const control = new AbortController();
		if (known.current.tr !== sel.tr) {
			known.current = { ...emptyKnown(), tr: sel.tr };
		}
		learnTrace(sel.tr, about, known.current, () => setVersion((n) => n + 1), control.signal).catch((e) => e.name !== 'AbortError' && toast(e.message));
		return () => control.abort();
	}, [sel.tr, about.progress?.whole, kinds]);
	useEffect(() => {
		lanes.current.setBounds(whole);
		lanes.current.setView(range);
	}, [sel.tr, range.t0, range.t1, whole.t1]);
	useEffect(() => lanes.current.refresh(), [sel.f, sel.tr, tick.value]);
	useEffect(() => {
		lanes.current.setDark(dark);
		lanes.current.refresh(); /* the counts have their colours from the theme */
	}, [dark]);
	useEffect(() => lanes.current.setArea(area), [param('a0'), param('a1')]);
	useEffect(() => lanes.current.setMarks(marks.value), [marks.value]);
	const rows = track.value?.tr === sel.tr ? track.value : null;
	useEffect(() => rows && lanes.current.setMarks(rows.points, 'track'), [rows]);
	useEffect(() => lanes.current.setRows(makeRows({ ...known.current, marks: marks.value, track: rows }, view)), [version, marks.value, rows, sel.tr, ...['pin', 'hide', 'open', 'move', 'proc'].map(param)]);
	/* The chain stands in the address: thread@time. */
	useEffect(() => {
		const [thread, t] = param('chain').split('@');
		if (!thread) {
			return undefined;
		}
		const control = new AbortController();
		get('chain', { tr: sel.tr, thread, t }, control.signal).then(
			(a) => {
				setChain(a);
				lanes.current.setArrows(arrowsOf(a.links));
			},
			(e) => {
				if (e.name !== 'AbortError') {
					setChain({ problem: e.message });
					lanes.current.setArrows([]);
				}
			},
		);
		return () => control.abort();
	}, [sel.tr, param('chain')]);

	const split = (percent) => panes.current.style.setProperty('--lanes', `${Math.max(20, Math.min(85, percent))}%`);
	const dragSplit = (e) => {
		const box = panes.current.getBoundingClientRect();
		const bar = e.currentTarget;
		bar.setPointerCapture(e.pointerId);
		bar.onpointermove = (m) => split((100 * (m.clientY - box.top)) / box.height);
		bar.onpointerup = () => (bar.onpointermove = null);
	};
	const keySplit = (e) => {
		const by = { ArrowUp: -5, ArrowDown: 5 }[e.key];
		if (by) {
			e.preventDefault();
			split((parseFloat(getComputedStyle(panes.current).getPropertyValue('--lanes')) || 58) + by);
		}
	};
	const show = (link) => {
		const to = link.to ?? whole.t1, margin = (to - link.from) * 0.3 + 1000;
		reveal(`t:${link.thread}`);
		setRange(link.from - margin, to + margin);
	};
	return html`<div class="timeline">
		<div class="timetools" role="toolbar" aria-label="Tools of the timeline">
			<${LaneSearch} known=${known.current} version=${version} reveal=${reveal} pin=${change.pin} />
			<label>Process <input type="search" placeholder="all" value=${view.process} onInput=${(e) => setParam('proc', e.target.value)} onKeyDown=${(e) => e.stopPropagation()} /></label>
			${view.hidden.size > 0 && html`<button onClick=${() => setParam('hide', '')}>Show ${view.hidden.size} hidden</button>`}
			<button disabled=${!area} onClick=${() => setRange(area.t0, area.t1)}>Zoom to area</button>
			<span class="grow"></span>
			<ul class="statelegend" aria-label="What the patterns mean">${[['running', 'runs'], ['ready', 'ready'], ['waiting', 'waits'], ['loss', 'events lost']].map(([id, text]) => html`<li><i class=${`state-${id}`}></i>${text}</li>`)}</ul>
			<${Command} words=${['report', '--table', 'cpu']} />
		</div>
		${about && !about.has.switches && html`<p class="note strip">No context switches were recorded, so there are no lanes of processors and threads: <code>openetw record --wait</code> records them.</p>`}
		${partial && about.progress?.whole && !about.live && html`<p class="note strip">This trace has more runs and waits than fit in memory: the lanes end before it does. <code>openetw relog --from --to</code> cuts out a part that has them all.</p>`}
		<div class="panes" ref=${panes}>
			<div class="lanehost" ref=${host}></div>
			<div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the lanes" aria-valuenow="58" tabindex="0" onPointerDown=${dragSplit} onKeyDown=${keySplit}></div>
			<${AreaTabs} sel=${sel} range=${area ?? range} area=${area} chain=${chain} show=${show} reveal=${(thread) => reveal(`t:${thread}`)} />
		</div>
	</div>`;
}
