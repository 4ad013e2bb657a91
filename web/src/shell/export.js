// SPDX-License-Identifier: MIT
// The selection as a file: a smaller trace, or in the form of another program.
import { html, signal, useLayoutEffect, useRef, useState } from '../ui.js';
import { tr, t0, t1, filter, info, jobs, page, toast } from '../state.js';
import { get, post, postForFile, address } from '../api.js';
import { allAsked } from '../still.js';
import { Command, commandLine } from './command.js';
import { bytes, visible } from '../text.js';

export const exportOpen = signal(false); // true, or the kind that is wanted

// What is shown as one file: the page with the answers that it has now.
async function savePicture() {
	const blob = await postForFile('still', { page: page.value, address: location.hash || `#${page.value}`, asks: allAsked() });
	const a = document.createElement('a');
	a.href = URL.createObjectURL(blob);
	a.download = `${info.value.name.replace(/\.etl$/i, '')}-${page.value}.html`;
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 60000);
	return `${a.download}, ${bytes(blob.size)}`;
}

function Picture() {
	const [said, setSaid] = useState(null);
	const save = () => savePicture().then((text) => setSaid({ text }), (e) => setSaid({ text: e.message, bad: true }));
	return html`<h2>This view as one page</h2>
		<p>A file that opens in any browser, without the trace and without this program. It has what the view shows, and nothing else of the trace.</p>
		<div class="buttons"><button onClick=${save}>Save this view as HTML</button>${said && html`<span role=${said.bad ? 'alert' : 'status'} class=${said.bad ? 'bad' : 'note'}>${visible(said.text)}</span>`}</div>`;
}

export function ExportDialog() {
	const [kinds, setKinds] = useState([]);
	const [kind, setKind] = useState('etl');
	const [job, setJob] = useState(null);
	const ref = useRef(null);
	const shown = exportOpen.value;
	useLayoutEffect(() => {
		if (shown) {
			if (typeof shown === 'string') {
				setKind(shown);
			}
			setJob(null);
			get('kinds', { tr: tr.value }).then((a) => setKinds(a.kinds), (e) => toast(e.message));
			ref.current?.focus();
		}
	}, [shown]);
	if (!shown) {
		return null;
	}
	const k = kinds.find((x) => x.name === kind);
	const now = jobs.value.find((j) => j.id === job);
	const run = async () => {
		try {
			const a = await post('export', { tr: tr.value, t0: t0.value, t1: t1.value, f: filter.value, kind });
			setJob(a.job);
		} catch (e) {
			toast(e.message);
		}
	};
	return html`<div class="veil" onPointerDown=${(e) => e.target === e.currentTarget && (exportOpen.value = false)}>
		<div class="palette dialog" role="dialog" aria-modal="true" aria-label="Export" tabindex="-1" ref=${ref} onKeyDown=${(e) => {
			e.stopPropagation();
			if (e.key === 'Escape') {
				exportOpen.value = false;
			}
		}}>
			<h2>Export this selection</h2>
			<label>Form <select value=${kind} onChange=${(e) => setKind(e.target.value)}>${kinds.map((x) => html`<option value=${x.name} selected=${x.name === kind}>${x.name}</option>`)}</select></label>
			<p>${k?.help}</p>
			${k?.cannot && html`<p class="note">It cannot represent: ${k.cannot}.</p>`}
			<p><code class="wide">${commandLine(['export', '--as', kind, '-o', `out${k?.suffix ?? ''}`])}</code></p>
			${now?.state === 'runs' && html`<p role="status">Exporting … <button onClick=${() => post('jobs', { cancel: job })}>Cancel</button></p>`}
			${now?.state === 'failed' && html`<p role="alert" class="bad">${visible(now.text)}</p>`}
			${now?.state === 'done' && html`<p role="status"><a class="button" href=${address('download', { job })} download=${now.name}>Save ${visible(now.name)}</a></p><p class="note pre">${visible(now.text)}</p>`}
			<div class="buttons"><button class="main-button" onClick=${run} disabled=${now?.state === 'runs'}>Export</button><button onClick=${() => (exportOpen.value = false)}>Close</button></div>
			${!['home', 'live'].includes(page.value) && html`<${Picture} />`}
		</div>
	</div>`;
}
