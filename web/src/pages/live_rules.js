// SPDX-License-Identifier: MIT
// Rules: when an event fits a filter, what happened around it is kept as a file, also while nobody looks at this page.
import { html, useEffect, useState } from '../ui.js';
import { selection, ruled, toast } from '../state.js';
import { get, post } from '../api.js';
import { bytes, count, plural, visible } from '../text.js';

export function Rules() {
	const id = selection.value.tr;
	const [list, setList] = useState([]);
	const [text, setText] = useState('');
	const [around, setAround] = useState(10);
	const [files, setFiles] = useState(10);
	const [folder, setFolder] = useState('');
	useEffect(() => {
		get('rules', { tr: id }).then((a) => setList(a.rules), () => setList([]));
	}, [id]);
	useEffect(() => {
		if (ruled.value?.tr === id) {
			setList(ruled.value.rules);
		}
	}, [ruled.value]);
	const send = async (body) => {
		try {
			await post('rules', { tr: id, ...body });
			setList((await get('rules', { tr: id })).rules);
			return true;
		} catch (e) {
			toast(e.message);
			return false;
		}
	};
	const add = async () => (await send({ f: text, before: around, after: around, files, ...(folder ? { folder } : {}) })) && setText('');
	const stay = (e) => e.stopPropagation();
	return html`<section class="card rulecard"><h2>Keep by rule</h2>
		<p>When an event fits <input class="mono wideinput" aria-label="Filter of the rule" placeholder='event == "Process/End" and ExitStatus != 0' value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${stay} />, save 			<label> ± <input type="number" min="0" max="3600" value=${around} onInput=${(e) => setAround(Number(e.target.value))} onKeyDown=${stay} /> s</label>${' into '}<input aria-label="Folder" placeholder="the first folder of --root" value=${folder} onInput=${(e) => setFolder(e.target.value)} onKeyDown=${stay} />, <label>at most <input type="number" min="1" max="1000" value=${files} onInput=${(e) => setFiles(Number(e.target.value))} onKeyDown=${stay} /> files</label> and 1 GiB. ${' '}<button class="main-button" disabled=${!text.trim()} onClick=${add}>Add the rule</button></p>
		<p class="note">The filter is that of the page Events (docs/filters.md): names of events and their fields. Rules work as long as openetw view runs, and go on with a session that is started again.</p>
		${list.length === 0 ? html`<p class="dim">There is no rule.</p>` : html`<ul class="pick">${list.map((r) => html`<li><code>${visible(r.filter)}</code> −${r.before} s … +${r.after} s: ${plural(r.files, 'file')} of ${count(r.files_most)} (${bytes(r.bytes)})${r.waits ? ' · one is being kept' : ''}${r.last ? html` · last: <code>${visible(r.last)}</code>` : ''}${r.problem ? html` · <span class="warn">${visible(r.problem)}</span>` : ''} <button class="inline" aria-label=${`Remove the rule ${r.filter}`} onClick=${() => send({ remove: r.id })}>Remove</button></li>`)}</ul>`}</section>`;
}
