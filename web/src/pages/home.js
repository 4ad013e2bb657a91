// SPDX-License-Identifier: MIT
// What runs, what can be recorded, what can be opened.
import { html, useEffect, useState } from '../ui.js';
import { go, traces, askTraces, toast, tick } from '../state.js';
import { get, post } from '../api.js';
import { bytes, count, duration, visible, plural, shell } from '../text.js';
import { copy } from '../shell/menu.js';

function useSessions() {
	const [data, setData] = useState(null);
	useEffect(() => {
		let gone = false, last = null;
		/* Events a second: since the answer before. */
		const rated = (a) => {
			const now = performance.now();
			for (const s of a.sessions) {
				const before = last?.by.get(s.name);
				s.rate = before && before.started === s.started ? Math.max(0, (1000 * (s.events - before.events)) / (now - last.now)) : null;
			}
			last = { now, by: new Map(a.sessions.map((s) => [s.name, s])) };
			return a;
		};
		const ask = () => get('sessions').then((a) => !gone && setData(rated(a)), (e) => !gone && setData({ sessions: [], problem: e.message }));
		ask();
		const t = setInterval(() => !document.hidden && ask(), 2000);
		return () => {
			gone = true;
			clearInterval(t);
		};
	}, [tick.value]);
	return data;
}

async function act(body, said) {
	try {
		const a = await post('sessions', body);
		toast(said ?? (a.command ? `Done: ${a.command}` : 'Done'), 'info');
		tick.value += 1;
		return a;
	} catch (e) {
		toast(e.message);
		return null;
	}
}
async function follow(name) {
	try {
		const a = await post('attach', { session: name });
		await askTraces();
		go({ page: 'events', tr: a.tr, t0: null, t1: null, f: '' });
	} catch (e) {
		toast(e.message);
	}
}
const RECENT = 8;
function recent() {
	try {
		const list = JSON.parse(localStorage.getItem('recent') ?? '[]');
		return Array.isArray(list) ? list.filter((x) => typeof x === 'string') : [];
	} catch {
		return [];
	}
}
function remember(path) {
	localStorage.setItem('recent', JSON.stringify([path, ...recent().filter((x) => x !== path)].slice(0, RECENT)));
}
async function open(path) {
	try {
		const a = await post('open', { paths: [path] });
		remember(path);
		await askTraces();
		go({ page: 'overview', tr: a.tr, t0: null, t1: null, f: '' });
	} catch (e) {
		toast(e.message);
	}
}

function Sessions() {
	const d = useSessions();
	return html`<section class="card"><h2>Running sessions</h2>
		${d?.problem && html`<p class="warn">${visible(d.problem)}</p>`}
		${d?.recording && html`<p><b>Recording</b> (${visible(d.recording)}) <button class="main-button" onClick=${async () => {
			const a = await act({ do: 'stop', recipe: d.recording }, 'Recorded');
			if (a?.tr !== undefined) {
				await askTraces();
				go({ page: 'overview', tr: a.tr, t0: null, t1: null, f: '' });
			}
		}}>Stop and look at it</button></p>`}
		${d && d.sessions.length === 0 && !d.problem && html`<p class="dim">No session runs. A recipe below starts one.</p>`}
		${d && d.sessions.length > 0 && html`<div class="tablewrap"><table class="data"><thead><tr>${['Name', 'Mode', 'Events/s', 'Lost', 'Buffers', 'File', 'Age', ''].map((t) => html`<th scope="col"><button tabindex="-1">${t}</button></th>`)}</tr></thead><tbody>
			${d.sessions.map((s) => html`<tr><td>${visible(s.name)}</td><td>${Number(s.mode) & 0x100 ? 'real time' : Number(s.mode) & 0x400 ? 'memory' : 'file'}</td><td class="num" title=${`${count(s.events)} events in all`}>${s.rate === null ? '' : count(s.rate)}</td><td class=${`num ${s.eventsLost ? 'bad' : ''}`}>${count(s.eventsLost)}</td><td class="num">${s.buffers - s.freeBuffers}/${s.buffers}</td><td title=${visible(s.file)}>${visible(s.file)}${s.bytesWritten ? ` (${bytes(s.bytesWritten)})` : ''}${d.free?.[s.file] ? html` <span class=${d.free[s.file] < 1e9 ? 'bad' : 'dim'}>${bytes(d.free[s.file])} free</span>` : s.file ? '' : html`<span class="dim">${Number(s.mode) & 0x100 ? 'live only' : 'memory'}</span>`}</td><td class="num">${duration((Date.now() - Date.parse(s.started)) * 1e6)}</td>
				<td>${(Number(s.mode) & 0x100) !== 0 && html`<button onClick=${() => follow(s.name)}>Watch</button>`} ${Number(s.mode) & 0x400 ? html`<button title="What is in memory, as a file; the session goes on" onClick=${async () => {
					const a = await act({ do: 'save', session: s.name }, `What ${s.name} has in memory is a file`);
					if (a?.tr !== undefined) {
						await askTraces();
						go({ page: 'overview', tr: a.tr, t0: null, t1: null, f: '' });
					}
				}}>Snapshot</button>` : html`<button onClick=${() => act({ do: 'flush', session: s.name })}>Flush</button>`} <button onClick=${async () => {
					const a = await act({ do: 'stop', session: s.name }, `${s.name} has stopped`);
					if (a && s.file) {
						open(s.file);
					}
				}}>Stop</button></td></tr>`)}</tbody></table></div>`}</section>`;
}

// What a recipe turns on: asked when it is chosen.
function About({ id }) {
	const [about, setAbout] = useState(null);
	useEffect(() => {
		setAbout(null);
		get('recipe', { id }).then(setAbout, (e) => setAbout({ lines: [], problem: e.message }));
	}, [id]);
	if (!about) {
		return html`<p class="dim">…</p>`;
	}
	return html`${about.needs && html`<p class="note">${visible(about.needs)}</p>`}${about.problem && html`<p class="warn">${visible(about.problem)}</p>`}
		${about.lines.length > 0 && html`<details><summary>Providers, keywords, buffers</summary>${about.lines.map((l) => html`<code class="wide">${visible(l)}</code>`)}</details>`}`;
}

function Recipes() {
	const [data, setData] = useState(null);
	const [chosen, setChosen] = useState(null);
	const [refused, setRefused] = useState('');
	useEffect(() => setRefused(''), [chosen]);
	const start = async (id) => {
		setRefused('');
		try {
			await post('sessions', { do: 'start', recipe: id });
			tick.value += 1;
		} catch (e) {
			setRefused(e.message);
		}
	};
	useEffect(() => {
		get('recipes').then(setData, (e) => setData({ recipes: [], problem: e.message }));
	}, []);
	const r = data?.recipes.find((x) => x.id === chosen);
	return html`<section class="card"><h2>Record: what is your question?</h2>
		${data?.problem && html`<p class="warn">${visible(data.problem)}</p>`}
		<div class="recipes">${data?.recipes.map((x) => html`<button aria-pressed=${x.id === chosen} onClick=${() => setChosen(x.id === chosen ? null : x.id)}>${visible(x.question || x.title)}</button>`)}</div>
		${r && html`<div class="recipe"><h3>${visible(r.title)}</h3><p>Turns on: ${r.adds.map(visible).join(', ')}</p>${r.target && html`<p>Goes to: ${visible(r.target)}</p>`}${r.possible && html`<${About} id=${r.id} />`}
			${refused && html`<p class="refused" role="alert">It was not started: ${visible(refused)}</p>`}
			<p><code class="wide">${r.command.map(shell).join(' ')}</code></p>
			${r.possible ? html`<button class="main-button" onClick=${() => start(r.id)}>Start recording</button>` : html`<p class="warn">${visible(r.why)}</p>`} <button onClick=${() => copy(r.command.map(shell).join(' '))}>Copy the command</button></div>`}
		${data?.folder && html`<p class="note">Your own: profiles (.wprp) in ${visible(data.folder)}; a profile's description is its question.</p>`}</section>`;
}

function Open() {
	const [path, setPath] = useState('');
	const [files, setFiles] = useState(null);
	useEffect(() => {
		get('files').then(setFiles, () => setFiles({ files: [] }));
	}, [traces.value]);
	return html`<section class="card"><h2>Open</h2>
		<p><input class="mono wideinput" aria-label="Path of a trace" placeholder="/path/to/trace.etl" value=${path} onInput=${(e) => setPath(e.target.value)} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Enter') {
				open(path);
			}
		}} /> <button onClick=${() => open(path)} disabled=${!path}>Open</button></p>
		<p class="note">Traces below the folders that openetw view was started with (--root DIR) can be opened.</p>
		${recent().length > 0 && html`<h3>Recent</h3><ul class="pick">${recent().map((f) => html`<li><button onClick=${() => open(f)}>${visible(f)}</button></li>`)}</ul>`}
		${traces.value.length > 0 && html`<h3>Open now</h3><ul class="pick">${traces.value.map((t) => html`<li><button onClick=${() => go({ page: 'overview', tr: t.tr, t0: null, t1: null, f: '' })}>${visible(t.name)}${t.live ? ' (live)' : ''}</button></li>`)}</ul>`}
		${files?.files.length > 0 && html`<h3>${plural(files.there_are, 'trace')}</h3><ul class="pick scroll">${files.files.slice(0, 500).map((f) => html`<li><button onClick=${() => open(f.path)}>${visible(f.path)} <span class="dim">${bytes(f.bytes)}</span></button></li>`)}</ul>`}</section>`;
}

export default function Home() {
	return html`<h1>OpenETW</h1><div class="homegrid"><${Sessions} /><${Recipes} /><${Open} /></div>`;
}
