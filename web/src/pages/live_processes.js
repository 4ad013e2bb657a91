// SPDX-License-Identifier: MIT
// The processes of a live machine as a tree: who started whom, with what, as whom, and how it ended.
import { html, useEffect, useState } from '../ui.js';
import { go, extra, live, selection, info } from '../state.js';
import { get } from '../api.js';
import { bytes, count, time, visible } from '../text.js';
import { showMenu, copy } from '../shell/menu.js';
import { join, test } from './live_ops.js';

const MOST = 3000; // rows of the page

function useProcesses(id) {
	const [list, setList] = useState(null);
	const second = Math.floor((info.value?.last ?? 0) / 1e9);
	useEffect(() => {
		const control = new AbortController();
		get('ops_processes', { tr: id }, control.signal).then((a) => setList(a.processes), () => {});
		return () => control.abort();
	}, [id, second]);
	return list;
}

// Parents before children, with their depth.
export function treeOf(list, wanted) {
	const children = new Map(), by = new Map(list.map((p) => [p.pid, p]));
	for (const p of list) {
		const parent = by.has(p.parent) && p.parent !== p.pid ? p.parent : -1;
		children.set(parent, [...(children.get(parent) ?? []), p]);
	}
	const out = [], seen = new Set();
	const visit = (p, depth) => {
		if (seen.has(p.pid)) {
			return false;
		}
		seen.add(p.pid);
		const at = out.length;
		out.push({ ...p, depth });
		let any = wanted(p);
		for (const c of children.get(p.pid) ?? []) {
			any = visit(c, depth + 1) || any;
		}
		if (!any) {
			out.length = at;
		}
		return any;
	};
	for (const p of children.get(-1) ?? []) {
		visit(p, 0);
	}
	for (const p of list) { // those whose parents are each other's
		visit(p, 0);
	}
	return out;
}

export function Processes() {
	live.value;
	const list = useProcesses(selection.value.tr);
	const [text, setText] = useState('');
	const [ended, setEnded] = useState(true);
	const words = text.toLowerCase();
	const tree = list ? treeOf(list, (p) => (ended || p.end === undefined) && (!words || `${p.name} ${p.command} ${p.pid} ${p.user}`.toLowerCase().includes(words))) : [];
	const only = (p) => go({ extra: { ...extra.value, tab: 'all', of: test('pid', p.pid) } });
	const numbers = [['file', 'files'], ['network', 'network'], ['image', 'modules'], ['memory', 'faults'], ['failed', 'failed']];
	return html`<div class="list stretch"><div class="toolbar">
			<b>${count(tree.length)} processes</b><input aria-label="Find a process" placeholder="name, command, user or pid" value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${(e) => e.stopPropagation()} />
			<label><input type="checkbox" checked=${ended} onChange=${(e) => setEnded(e.target.checked)} /> also those that have ended</label></div>
		<div class="tablewrap" tabindex="0" role="region" aria-label="Processes"><table class="data"><thead><tr>${['process', 'pid', 'user', 'command line', 'started', 'ended (exit code)', ...numbers.map((n) => n[1]), 'read', 'written'].map((t, i) => html`<th scope="col" class=${i === 1 || i > 3 ? 'num' : ''}><button tabindex="-1">${t}</button></th>`)}</tr></thead><tbody>
			${tree.slice(0, MOST).map((p) => html`<tr key=${p.pid} class=${p.end !== undefined ? 'dimrow' : ''} onContextMenu=${(e) => showMenu(e, [
				{ text: 'What it does', run: () => only(p) },
				{ text: `What all "${p.name}" do`, run: () => go({ extra: { ...extra.value, tab: 'all', of: test('process', p.name) } }) },
				{ text: 'Leave it out', run: () => go({ extra: { ...extra.value, tab: 'all', of: join(extra.value.of ?? '', `not ${test('pid', p.pid)}`) } }) },
				{ text: 'Copy the command line', run: () => copy(p.command) },
			])}><td><span class="indent" ref=${(e) => e && (e.style.paddingLeft = `${Math.min(p.depth, 20) * 14}px`)}></span><button class="link" onClick=${() => only(p)}>${visible(p.name || '(no name)')}</button></td><td class="num">${p.pid}</td><td>${visible(p.user)}</td><td title=${visible(p.command)}>${visible(p.command)}</td>
				<td class="num">${p.start === undefined ? '' : time(p.start, 1e6)}</td><td class=${`num ${p.exit_code ? 'bad' : ''}`}>${p.end === undefined ? '' : `${time(p.end, 1e6)} (${p.exit_code})`}</td>
				${numbers.map(([k]) => html`<td class="num">${p[k] ? count(p[k]) : ''}</td>`)}<td class="num">${p.read ? bytes(p.read) : ''}</td><td class="num">${p.written ? bytes(p.written) : ''}</td></tr>`)}</tbody></table></div>
		${tree.length > MOST && html`<p class="note">${count(tree.length - MOST)} more are not shown: find them by name.</p>`}</div>`;
}
