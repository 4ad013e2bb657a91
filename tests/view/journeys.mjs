// SPDX-License-Identifier: MIT
// What a person does with the page, and what is then to be seen. Each journey is a function; a name as argument runs it alone.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Server, launch, open, show, api } from './browser.mjs';
import { stillJourneys } from './stills.mjs';
import { timeJourneys } from './time.mjs';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const { T, CORPUS, OPENETW, HELLO } = process.env;
const corpus = (f) => join(CORPUS, f);
const files = { app: join(T, 'app.etl'), machine: join(T, 'machine.etl'), hostile: join(T, 'hostile.etl'), lossy: join(T, 'lossy.etl'), cut: join(T, 'cut.etl'), windows: corpus('perfview/net.4.5.2.x86.etl'), packets: corpus('demikernel/PktMon.etl'), manifest: corpus('tx/HTTP_Server.etl'), nested: corpus('perfview/gcevents.etl') };
const run = (...words) => execFileSync(OPENETW, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
const has = (name) => existsSync(files[name]);

let context;
async function look(name, hash, then) {
	const server = await Server.start([files[name]]);
	const page = await open(context, server, hash);
	try {
		await then(page, server);
		assert.deepEqual(page.complaints, [], `the browser complains: ${page.complaints[0]}`);
	} catch (e) {
		await page.screenshot({ path: join(T, `failed-${name}.png`) }).catch(() => {});
		throw e;
	} finally {
		await page.close();
		assert.equal(await server.stop(), 0, 'Ctrl-C ends the server');
	}
}
// What a person does to an editor; page.fill() makes the browser keep styles, which the policy forbids.
async function retype(page, value) {
	await page.focus('#filter');
	await page.keyboard.press('Control+a');
	await page.keyboard.press('Delete');
	await page.keyboard.type(value);
}
const text = (page, selector) => page.textContent(selector);
const number = (s) => Number(String(s).replace(/[^\d]/g, ''));

const journeys = {
	// The sentence counts what dump counts.
	async opens() {
		for (const name of ['windows', 'app', 'packets', 'machine'].filter(has)) {
			await look(name, '', async (page) => {
				await page.waitForFunction(() => /[\d,]+ events?/.test(document.querySelector('.sentence')?.textContent) && !document.querySelector('.progress'));
				const sentence = await page.$('.sentence');
				const events = number(/([\d,]+) events?/.exec(await sentence.textContent())[1]);
				const dump = run('dump', '-q', '--filter', 'time >= 2000-01-01T00:00', files[name]).split('\n').length - 1;
				assert.equal(events, dump, `${name}: the sentence says ${events} events, dump prints ${dump}`);
				await page.waitForSelector('.card .bars li, .card p.dim');
				assert.match(await text(page, '.lostline'), /lost/);
			});
		}
	},
	// Dragging over the strip selects times; Backspace comes back; the address is the view.
	async zooms() {
		await look('windows', '', async (page) => {
			const strip = await page.waitForSelector('.density canvas');
			await page.waitForSelector('.legend button');
			const box = await strip.boundingBox();
			await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
			await page.mouse.down();
			await page.mouse.move(box.x + box.width * 0.6, box.y + 30, { steps: 5 });
			await page.mouse.up();
			await page.waitForFunction(() => /t0=\d+/.test(location.hash) && /t1=\d+/.test(location.hash));
			const address = page.url();
			const q = new URLSearchParams(address.split('?').pop());
			const there = await api(page, `facets?by=provider&t0=${q.get('t0')}&t1=${q.get('t1')}`);
			const whole = await api(page, 'facets?by=provider');
			assert.ok(there.answer.matched < whole.answer.matched, 'fewer events are selected');
			await page.focus('main');
			await page.keyboard.press('Backspace');
			await page.waitForFunction(() => !/t0=/.test(location.hash));
			await page.goto(address);
			await page.waitForSelector('.sentence');
			assert.ok(/t0=/.test(page.url()));
		});
	},
	// A filter is completed, applied, and counts what dump counts; a mistake names its column.
	async filters() {
		await look('windows', '#events', async (page) => {
			await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
			await page.click('#filter');
			await page.keyboard.type('proc');
			await page.waitForSelector('.cm-editor');
			await page.waitForSelector('[role=listbox] [role=option]');
			assert.equal(await text(page, '#filter'), 'proc', 'what was typed before the editor came is there, once');
			assert.ok((await page.$$eval('[role=option] .cm-completionLabel', (l) => l.map((e) => e.textContent))).includes('process'));
			await page.keyboard.press('ArrowDown');
			await page.waitForSelector('[role=option][aria-selected=true]');
			assert.ok(await page.getAttribute('#filter', 'aria-activedescendant'));
			const chosen = await text(page, '[role=option][aria-selected=true] .cm-completionLabel');
			await page.keyboard.press('Enter');
			await page.waitForFunction((t) => document.getElementById('filter').textContent.trimEnd() === t, chosen);
			await page.waitForSelector('#filter .w-name');
			await page.keyboard.press('Control+z');
			await page.waitForFunction(() => document.getElementById('filter').textContent === 'proc');
			await retype(page, '');
			await page.keyboard.type('level == == 3');
			await page.waitForSelector('.mistake');
			assert.match(await text(page, '.mistake'), /column 10/);
			assert.equal(await text(page, '#filter .w-wrong'), '==', 'the mistake is underlined');
			assert.equal(await page.getAttribute('#filter', 'aria-invalid'), 'true');
			await page.keyboard.press('Enter');
			assert.ok(!/f=/.test(page.url()), 'a filter with a mistake is not applied');
			await page.evaluate(axe);
			assert.deepEqual(await page.evaluate(async () => (await window.axe.run('.filterbox', { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id)), []);
			await retype(page, 'process ~ "ä😀" and cpu == 0');
			await page.waitForFunction(() => [...document.querySelectorAll('#filter .w-value')].some((e) => e.textContent === '"ä😀"'), null, { timeout: 5000 });
			await retype(page, 'event ~ "DiskIo/*"');
			await page.keyboard.press('Enter');
			const dump = run('dump', '-q', '--filter', 'event ~ "DiskIo/*"', files.windows).split('\n').length - 1;
			await page.waitForFunction((n) => Number(document.querySelector('.toolbar b')?.textContent.replace(/\D/g, '')) === n, dump);
			assert.ok((await page.$$eval('.slick-row', (l) => l.map((r) => r.textContent))).every((t) => t === '' || t.includes('DiskIo/') || t.includes('…')));
			await retype(page, '');
			await page.keyboard.press('Enter');
			await page.waitForFunction(() => !/f=/.test(location.hash));
			await page.keyboard.press('Escape');
			await page.click('#filter');
			await page.waitForSelector('[role=listbox]');
			await page.keyboard.press('Escape'); // the completions; then up is the filter before
			await page.waitForFunction(() => !document.querySelector('[role=listbox]'));
			await page.keyboard.press('ArrowUp');
			await page.waitForFunction(() => document.getElementById('filter').textContent === 'event ~ "DiskIo/*"');
		});
	},
	// A click shows everything about an event, and what it shows is what dump prints.
	async details() {
		await look('manifest', '#events', async (page) => {
			await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
			await page.click('.slick-row:nth-child(3) .slick-cell');
			await page.waitForSelector('.details table');
			const shown = await page.$$eval('.details tr', (l) => Object.fromEntries(l.map((r) => [r.children[0].textContent, r.children[1].textContent])));
			const row = await page.$eval('.slick-row:nth-child(3)', (r) => r.textContent);
			assert.ok(row.length > 10);
			assert.ok('processor' in shown && 'opcode' in shown, Object.keys(shown).join());
			await page.waitForSelector('.hex');
			await page.click('.details [aria-label=Close]');
			assert.equal(await page.$('.details'), null);
		});
	},
	// A field that is pointed at, or chosen with the keyboard, has its bytes marked: those that the decoder read.
	async bytes() {
		for (const name of ['windows', 'manifest', 'app', 'nested'].filter(has)) {
			await look(name, name === 'nested' ? '#events?f=BucketKind ~ "*"' : '#events', async (page) => {
				await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
				await page.click('.slick-row .slick-cell');
				await page.keyboard.press(name === 'windows' ? 'End' : 'Home');
				await page.waitForFunction(() => [...document.querySelectorAll('.details tr[title]')].length > 0);
				for (const row of (await page.$$('.details table:first-of-type tr[title]')).slice(0, 6)) {
					const [from, to] = (await row.getAttribute('title')).match(/\d+/g).map(Number);
					await (await row.$('button')).focus();
					await page.waitForSelector('.details tr.chosen');
					const marked = await page.$$eval('.hex b', (l) => l.map((b) => b.textContent.trim()).filter((t) => /^([0-9a-f]{2} ?)+$/.test(t)).join(' '));
					assert.ok(marked.split(' ').length >= Math.min(to - from + 1, 8), `${name}: bytes ${from}–${to} are marked, not only "${marked}"`);
				}
				if (name === 'nested') {
					await page.click('.details summary');
					const parts = await page.$$eval('.details details tr', (l) => l.map((r) => [r.children[0].textContent, r.children[1].textContent]));
					assert.deepEqual(parts[0].map((t, i) => (i ? /^\d+$/.test(t) : t)), ['[0].Index', true], 'values of arrays have their paths');
				}
				assert.match(await text(page, '.details'), /(TraceLogging|catalogue|manifest|beside its events|kind have)/, 'it says whence the schema is');
			});
		}
	},
	// A key that is dragged across the bar is no key any more; one of two keys is left.
	async drags() {
		await look('windows', '#events?group=provider,type', async (page) => {
			await page.waitForSelector('[role=treegrid] tbody tr');
			await page.dragAndDrop('th.dragged:nth-child(2)', 'th.num');
			await page.waitForFunction(() => /group=provider(&|$)/.test(location.hash));
			await page.waitForFunction(() => document.querySelectorAll('th.dragged').length === 1);
			await page.dragAndDrop('.chip', '.chip'); // onto itself: nothing
			assert.ok(/group=provider(&|$)/.test(page.url()));
		});
	},
	// Facets, right-click, group by: the same numbers everywhere.
	async narrows() {
		await look('windows', '#events', async (page) => {
			await page.waitForSelector('.facets li button');
			const facets = await api(page, 'facets?by=provider&top=10000');
			const sum = facets.rows.reduce((n, r) => n + r.count, 0);
			assert.equal(sum, facets.answer.matched, 'facets add up to all events');
			const hist = await page.evaluate(async () => {
				const body = await (await fetch('/api/hist?px=100&by=nothing')).arrayBuffer();
				const bytes = new Uint8Array(body), end = bytes.indexOf(10);
				const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
				return new Uint32Array(body, end + 1, head.arrays[0].length).reduce((a, b) => a + b, 0);
			});
			assert.equal(hist, sum, 'so does the histogram');
			const facet = await page.$('.facets li button'); // another list may come above it meanwhile
			const first = await facet.evaluate((b) => [b.querySelector('b').textContent, b.querySelector('span').textContent]);
			await facet.click();
			await page.waitForFunction((n) => document.querySelector('.toolbar b')?.textContent.replace(/\D/g, '') === n, first[1].replace(/\D/g, ''));
			await page.waitForSelector('.slick-row .slick-cell:nth-child(2):not(:empty)');
			await page.click('.slick-row .slick-cell:nth-child(2)', { button: 'right' });
			await page.waitForSelector('[role=menu]');
			await page.click('[role=menuitem]:has-text("Group by this")');
			await page.waitForSelector('[role=treegrid] tbody tr');
			assert.ok((await page.$$('[role=treegrid] tbody tr')).length > 1);
		});
	},
	// Everything can be done without a mouse.
	async keyboard() {
		await look('windows', '', async (page) => {
			await page.waitForSelector('.sentence');
			await page.focus('main');
			await page.keyboard.press('g');
			await page.keyboard.press('e');
			await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
			await page.focus('main');
			await page.keyboard.press('/');
			assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
			await page.keyboard.type('cpu == 0');
			await page.keyboard.press('Enter');
			await page.waitForFunction(() => location.hash.includes('cpu'));
			await page.keyboard.press('Escape');
			await page.click('.slick-row .slick-cell'); // the list has keys of its own
			await page.waitForSelector('.details table');
			await page.keyboard.press('Control+k');
			await page.waitForSelector('.palette input');
			await page.keyboard.type('diagn');
			await page.keyboard.press('Enter');
			await page.waitForFunction(() => location.hash.startsWith('#diagnostics'));
			await page.focus('main');
			await page.keyboard.press('?');
			await page.waitForSelector('.help dt');
			await page.keyboard.press('Escape');
			await page.waitForFunction(() => !document.querySelector('.help'));
		});
	},
	// Pages without data say how it is recorded.
	async teaches() {
		await look('app', '#cpu', async (page) => {
			await page.waitForSelector('.teach code');
			assert.match(await text(page, '.teach'), /openetw record --cpu/);
		});
	},
	// The tables of pages are those of openetw report.
	async tables() {
		if (!has('machine')) {
			return;
		}
		await look('machine', '#io?tab=files', async (page) => {
			await page.waitForSelector('table.data tbody tr');
			const all = number(/([\d,]+) operations?/.exec(await text(page, '.main'))[1]);
			const report = JSON.parse(run('report', files.machine, '--table', 'io', '--group-by', '', '--columns', 'count(*)', '--filter', 'layer == file', '--json').split('\n')[0]);
			assert.equal(all, Object.values(report).find((v) => typeof v === 'number'));
		});
	},
	// A table that takes long says how far it is, can be given up, and comes when it is there.
	async making() {
		await look('windows', '', async (page) => {
			let ready = false, cancelled = null;
			await page.route('**/api/table?*', (route) => (ready ? route.continue() : route.fulfill({ status: 202, contentType: 'application/json', body: '{"making":[{"name":"io","fraction":0.41,"seconds":2}]}' })));
			await page.route('**/api/cancel', (route) => {
				cancelled = JSON.parse(route.request().postData());
				return route.fulfill({ contentType: 'application/json', body: '{}' });
			});
			await show(page, '#io');
			await page.waitForSelector('.teach progress');
			assert.match(await text(page, '.teach'), /Reading the trace for io:\s+41 %/);
			await page.click('.teach button:has-text("Cancel")');
			await page.waitForFunction(() => true);
			assert.deepEqual(cancelled, { tr: 0, table: 'io' });
			ready = true;
			await page.waitForSelector('table.data tbody tr');
		});
	},
	// Which modules have names, whence, and why others have none; a folder of symbols below --root is looked into, another is not.
	async symbols() {
		await look('windows', '#diagnostics', async (page) => {
			await page.waitForSelector('.symbols table.data');
			assert.match(await text(page, '.symbols'), /symbols: 0 of \d+ modules/);
			assert.match(await text(page, '.symbols'), /PDB file/);
			assert.match(await text(page, '.symbols'), /no symbol servers/);
			await page.fill('[aria-label="A folder of symbols"]', '/etc');
			await page.click('button:has-text("Look there, too")');
			await page.waitForSelector('.toast:has-text("below the folders of --root")');
			page.complaints.length = 0; // the browser says that it was refused
			await page.click('button:has-text("Look again")');
			await page.waitForSelector('.symbols table.data');
		});
	},
	// A provider is found by the name of a field, shows what its manifest declares, and leaves as a manifest; one that runs is watched and recorded.
	async providers() {
		await look('windows', '#providers', async (page) => {
			await page.waitForSelector('.pick button');
			await page.fill('[aria-label=Search]', 'ClrInstanceID');
			await page.waitForFunction(() => [...document.querySelectorAll('.pick button')].length > 0 && [...document.querySelectorAll('.pick button')].every((b) => b.textContent.includes('field ClrInstanceID')));
			await page.click('.pick button:has-text("Microsoft-Windows-DotNETRuntime"):not(:has-text("Rundown")):not(:has-text("Private"))');
			await page.waitForSelector('.provider .data tbody tr');
			const p = await api(page, 'provider?tr=0&guid=%7Be13c0d23-ccbc-4e12-931b-d9cc2eee27e4%7D');
			const dump = run('dump', '-q', '--filter', 'provider == Microsoft-Windows-DotNETRuntime', files.windows).split('\n').length - 1;
			assert.equal(p.events.reduce((n, e) => n + e.seen, 0), dump, 'events of the provider are counted once each');
			assert.ok(p.events.some((e) => e.seen === 0 && e.fields.length > 0), 'events that the trace has none of are described');
			await page.fill('[aria-label="Search its events"]', 'AllocationKind');
			await page.click('.provider .data tbody tr .place');
			assert.match(await text(page, '.opened'), /AllocationKind\s*UInt32/);
			await page.click('#tab-keywords');
			await page.waitForFunction(() => document.querySelector('.provider .data')?.textContent.includes('GCKeyword'));
			await page.click('#tab-maps');
			await page.click('.provider details summary');
			const [download] = await Promise.all([page.waitForEvent('download'), page.click('.provider a.button')]);
			const to = join(T, 'saved.man');
			await download.saveAs(to);
			assert.match(readFileSync(to, 'utf8'), /<provider name="Microsoft-Windows-DotNETRuntime"/);
			run('mc', '-h', T, '-r', T, to); // the message compiler takes it
		});
		const server = await Server.start(['--root', T]);
		const writer = spawn(HELLO, ['100000'], { stdio: 'ignore' });
		const page = await open(context, server, '#providers?guid=OpenETW.Sample.Hello&part=now');
		try {
			await page.click('button:has-text("Watch it")');
			await page.waitForSelector('.samples li');
			await page.click('button:has-text("Record this")');
			await page.waitForSelector('button:has-text("Stop and open")');
			await page.waitForTimeout(500);
			await page.click('button:has-text("Stop and open")');
			await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
			assert.match(await text(page, '.slick-row:has(.slick-cell:not(:empty))'), /OpenETW.Sample.Hello/);
		} finally {
			writer.kill();
			await page.close();
			await server.stop();
		}
	},
	// A selection leaves as a smaller trace.
	async exports() {
		await look('windows', '#events?f=event ~ "DiskIo/*"', async (page) => {
			await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
			await page.click('[aria-label="Export this selection"]');
			await page.waitForSelector('[role=dialog] select option', { state: 'attached' });
			await page.click('[role=dialog] .main-button');
			const link = await page.waitForSelector('[role=dialog] a.button', { timeout: 30000 });
			const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
			const to = join(T, 'export.etl');
			await download.saveAs(to);
			const there = run('dump', '-q', to, '--filter', 'event ~ "DiskIo/*"').split('\n').length, all = run('dump', '-q', files.windows, '--filter', 'event ~ "DiskIo/*"').split('\n').length;
			assert.equal(there, all);
		});
	},
	// Two times of one trace: what is new and what has vanished, numbers a second and an event, distributions over each other.
	async compares() {
		await look('windows', '', async (page) => {
			const i = await api(page, 'info?tr=0'), half = Math.round(i.last / 2e6) / 1e3, end = Math.round(i.last / 1e6) / 1e3;
			const types = async (t0, t1) => (await api(page, `group?tr=0&by=type&top=2000&t0=${Math.round(t0 * 1e9)}&t1=${Math.round(t1 * 1e9)}`)).rows.filter((r) => !r.rest).map((r) => r.text);
			const before = await types(0, half), after = await types(half, end);
			const fresh = after.filter((t) => !before.includes(t)), gone = before.filter((t) => !after.includes(t));
			await show(page, `#compare?table=events&at=0-${half}&bt=${half}-${end}&only=new`);
			await page.waitForSelector('table.data tbody tr, .empty');
			assert.equal((await page.$$('table.data tbody tr')).length, fresh.length, 'types of events that are new');
			assert.ok(fresh.length === 0 || /new/.test(await text(page, 'table.data tbody tr')));
			await page.selectOption('select:has(option[value=gone])', 'gone');
			await page.waitForFunction((n) => document.querySelectorAll('table.data tbody tr').length === n, gone.length);
			await page.selectOption('select:has(option[value=gone])', '');
			await page.selectOption('select:has(option[value=event])', 'event');
			await page.fill('[aria-label^="Filter of the events"]', 'event == "PerfInfo/Sample"');
			await page.keyboard.press('Enter');
			const count = async (t0, t1) => (await api(page, `facets?tr=0&by=level&f=${encodeURIComponent('event == "PerfInfo/Sample"')}&t0=${Math.round(t0 * 1e9)}&t1=${Math.round(t1 * 1e9)}`)).answer.matched;
			const [x, y] = [await count(0, half), await count(half, end)];
			await page.waitForFunction(([a, b]) => document.body.textContent.replace(/,/g, '').includes(`${a} events in the base ${b} events in the new one`), [x, y]);
			await show(page, `#compare?table=io&at=0-${half}&bt=${half}-${end}`);
			await page.waitForSelector('.curves path.side0');
			await page.waitForSelector('.curves path.side1');
			const half50 = (await api(page, `table?tr=0&name=io&group_by=&columns=${encodeURIComponent('p50(duration),count')}&t0=0&t1=${Math.round(half * 1e9)}`)).rows;
			assert.equal(half50.length, 1, 'all are one group');
			const micro = half50[0][0] / 1e3, said = /base, half below ([\d.]+) (ns|µs|ms|s)/.exec(await page.getAttribute('.curves svg', 'aria-label'));
			assert.ok(Math.abs(Number(said[1]) * { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 }[said[2]] - micro) < micro / 50, `${said[0]}: ${micro} µs`);
			await page.evaluate(axe);
			assert.deepEqual(await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id} ${v.nodes[0].html}`)), []);
		});
	},
	// A query is completed and asked; its rows are a table, a chart and a lane of the timeline.
	async asks() {
		if (!process.env.OPENETW_DUCKDB || !has('machine')) {
			console.log('asks: skipped, there is no DuckDB (OPENETW_DUCKDB) or no recording of this machine');
			return;
		}
		await look('machine', '#sql', async (page) => {
			await page.waitForSelector('.sqlbox .cm-editor');
			await page.click('.sqlbox .cm-content');
			const ask = async (sql) => {
				await page.keyboard.press('Control+a');
				await page.keyboard.press('Delete');
				await page.keyboard.type(sql);
				await page.keyboard.press('Escape');
			};
			await page.keyboard.press('Control+a');
			await page.keyboard.press('Delete');
			await page.keyboard.type('select provid');
			await page.keyboard.press('Escape');
			await ask('from events select provi');
			await page.keyboard.press('Control+Space');
			await page.waitForSelector('[role=option] .cm-completionLabel');
			await page.waitForFunction(() => [...document.querySelectorAll('[role=option] .cm-completionLabel')].some((e) => e.textContent === 'provider'));
			await page.keyboard.press('Escape');
			await ask('select event, count(*) as n from events group by all order by n desc, event limit 20');
			await page.keyboard.press('Control+Enter');
			await page.waitForSelector('table.data tbody tr, pre.bad');
			const said = JSON.parse(run('sql', files.machine, '--json', 'select event, count(*) as n from events group by all order by n desc, event limit 20').split('\n')[0]);
			const shown = await page.$$eval('table.data tbody tr:first-child td', (l) => l.map((e) => e.textContent.trim()));
			assert.deepEqual([shown[0], number(shown[1])], [said.event, said.n]);
			await page.click('button:has-text("Chart")');
			await page.waitForSelector('.sqlchart .bars li');
			assert.equal((await page.$$('.sqlchart .bars li')).length, 20);
			await page.evaluate(axe);
			assert.deepEqual(await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id} ${v.nodes[0].html}`)), []);
			await page.click('.sqlbox .cm-content');
			await ask('select time, event from events limit 30');
			await page.keyboard.press('Control+Enter');
			await page.click('button:has-text("On the timeline")');
			await page.waitForSelector('[data-lane=track]');
			assert.match(await text(page, '[data-lane=track]'), /SQL.*30 rows/);
		});
	},
	// What is missing stands where it is missing, and rows behind it are where they were.
	async losses() {
		const lost = /lost +([\d]+) events/.exec(run('info', files.lossy))?.[1];
		if (!(Number(lost) > 0)) {
			console.log('losses: skipped, the machine was quick enough to lose nothing');
			return;
		}
		/* Hatched in the strip: somewhere it is as red as a loss is. */
		const hatched = (page) => page.waitForFunction(() => {
			const c = document.querySelector('.density canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, 8).data;
			for (let i = 0; i < d.length; i += 4) {
				if (d[i] > d[i + 1] + 60 && d[i] > d[i + 2] + 60) {
					return true;
				}
			}
			return false;
		});
		/* The file of a session that had too few buffers says how many, not when. */
		await look('lossy', '', async (page) => {
			await page.waitForSelector('.lostline.bad');
			assert.equal(number(/([\d,]+) events? (?:was|were) lost; the file does not say when/.exec(await text(page, '.lostline'))[1]), Number(lost));
			await page.waitForSelector('.legend button');
			await hatched(page);
			await show(page, '#events');
			await page.waitForSelector('.toolbar .bad');
			assert.equal(number(await text(page, '.toolbar .bad')), Number(lost));
		});
		/* A part that is missing has a place. */
		await look('cut', '', async (page) => {
			await page.waitForSelector('.legend button');
			await hatched(page);
			const head = await page.evaluate(async () => {
				const bytes = new Uint8Array(await (await fetch('/api/hist?px=1&by=nothing')).arrayBuffer());
				return JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(10))));
			});
			/* The first that is between two events. */
			const all = await api(page, 'rows?at=0&n=2000');
			const loss = head.lost.find((l) => l.t0 <= all.rows[all.rows.length - 1][1]);
			assert.ok(loss, 'a loss is among the first rows');
			assert.equal(loss.count, 2, 'so many parts are missing');
			const { position } = await api(page, `position?t=${loss.t0}`);
			await show(page, `#events?at=${position}`);
			await page.waitForSelector('.slick-row.gap');
			assert.match(await text(page, '.slick-row.gap'), /2 buffers lost here: buffers are missing/);
			const lines = await page.$$eval('.slick-row', (l) => l.map((r) => [r.getBoundingClientRect().top, r.classList.contains('gap'), r.querySelector('.slick-cell')?.textContent]).sort((a, b) => a[0] - b[0]));
			const at = lines.findIndex((l) => l[1] && l[2].includes(`${(loss.t0 / 1e9).toFixed(3)} s –`));
			assert.ok(at >= 0, `the loss at ${loss.t0} ns is in the list`);
			const time = (line) => parseFloat(line?.[2]);
			const before = lines.slice(0, at).reverse().find((l) => !l[1]), after = lines.slice(at + 1).find((l) => !l[1]);
			assert.ok(!before || time(before) <= loss.t0 / 1e9 + 1e-6, 'rows above are older');
			assert.ok(!after || Number.isNaN(time(after)) || time(after) >= loss.t0 / 1e9 - 1e-6, 'rows below are not older');
			await show(page, '#diagnostics');
			await page.waitForFunction(() => document.querySelector('main').textContent.includes('buffers are missing'));
		});
	},
	// Names full of markup and of characters that turn the line are texts on every page.
	async hostile() {
		if (!has('hostile')) {
			return;
		}
		const pages = ['overview', 'events', 'events?group=provider,type', 'timeline', 'io', 'compare', 'sql', 'diagnostics', 'providers', 'home', 'live'];
		await look('hostile', '', async (page) => {
			for (const p of pages) {
				await show(page, `#${p}`);
				await page.waitForTimeout(700);
				const made = await page.evaluate(() => [...document.querySelectorAll('main img, main script, main iframe')].length + (window.hacked ? 1 : 0));
				assert.equal(made, 0, `${p}: markup of the trace became elements`);
				const turned = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u0000-\u0008]/.test(document.querySelector('main').innerText));
				assert.equal(turned, false, `${p}: characters that turn the line are shown as they are`);
			}
		});
	},
	// axe-core finds nothing serious on any page, light and dark.
	async accessible() {
		await look(has('machine') ? 'machine' : 'windows', '', async (page) => {
			const ids = ['overview', 'events', 'events?group=provider,type', 'io', 'network', 'memory', 'compare', 'sql', 'diagnostics', 'home', 'providers', 'live'];
			await page.evaluate(axe);
			for (const scheme of ['light', 'dark']) {
				await page.emulateMedia({ colorScheme: scheme });
				for (const id of ids) {
					await show(page, `#${id}`);
					await page.waitForTimeout(700);
					const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join('; ')}`));
					assert.deepEqual(found, [], `${id}, ${scheme}`);
				}
			}
		});
	},
	// What processes do is seen as they do it: found by a filter, taken apart, kept; the tree says who and how it ended.
	async watches() {
		if (!has('machine')) {
			return;
		}
		const server = await Server.start([], ['--root', T]);
		const page = await open(context, server, '#live');
		try {
			await page.click('.main-button');
			await page.waitForSelector('.liveops .slick-row .slick-cell:not(:empty)');
			await page.fill('.liveops .toolbar input.mono', 'process == cat and result == "NAME NOT FOUND" and path ~ "*none-such"');
			await page.keyboard.press('Enter');
			await page.waitForFunction(() => /of=/.test(location.hash));
			execFileSync('sh', ['-c', `cat "${T}/none-such" 2>/dev/null; true`]);
			const cell = '.liveops .slick-row .slick-cell:has-text("none-such")';
			await page.waitForSelector(cell);
			await page.click(cell);
			await page.waitForSelector('.details tr:has-text("none-such")');
			await page.click(cell, { button: 'right' });
			await page.click('[role=menuitem]:has-text("Highlight this")');
			await page.waitForSelector('.slick-row.rule0');
			await page.click(cell, { button: 'right' });
			await page.click('[role=menuitem]:has-text("Without")');
			await page.waitForFunction(() => document.querySelector('.liveops .toolbar b').textContent === '0 operations');
			await page.click('[aria-label="Everything again"]');
			await page.click('.liveops button:has-text("Keep .etl")');
			await page.waitForSelector('.toast.info');
			assert.ok(readdirSync(T).some((f) => /^live-.*\.etl$/.test(f)), 'a file was kept');
			await page.evaluate(axe);
			const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join('; ')}`));
			assert.deepEqual(found, []);
			/* Less at the source, and everything again. */
			await page.fill('.liveops .toolbar input.mono', 'pid == 1');
			await page.keyboard.press('Enter');
			await page.click('button:has-text("Apply at the source")');
			await page.waitForSelector('.chip:has-text("at the source: pid 1")');
			await page.click('[aria-label="Take the filter at the source away"]');
			await page.waitForFunction(() => !document.querySelector('[aria-label="Take the filter at the source away"]'));
			await page.click('[role=tab]:has-text("Rules")');
			await page.fill('[aria-label="Filter of the rule"]', 'event ==');
			await page.click('.rulecard .main-button');
			await page.waitForSelector('.toast:not(.info)'); // a mistake is told
			await page.fill('[aria-label="Filter of the rule"]', 'event == "Process/End"');
			await page.click('.rulecard .main-button');
			await page.waitForSelector('.rulecard li:has-text("Process/End")');
			await page.click('[role=tab]:has-text("Processes")');
			await page.fill('[aria-label="Find a process"]', 'none-such');
			await page.waitForSelector('td:has-text("(1)")'); // how cat ended
			assert.deepEqual(page.complaints.filter((c) => !/status of 400/.test(c)), [], 'the browser complains');
		} finally {
			await page.close();
			assert.equal(await server.stop(), 0, 'Ctrl-C ends the server');
		}
	},
	// What is loaded before lazy parts is small, and so is the tab.
	async light() {
		await look('windows', '', async (page) => {
			await page.waitForSelector('.sentence');
			const bytes = await page.evaluate(() => performance.getEntriesByType('resource').filter((r) => /\.(js|css)$/.test(r.name)).reduce((n, r) => n + r.encodedBodySize, 0));
			assert.ok(bytes < 700e3, `${bytes} bytes of scripts and styles, uncompressed`);
			const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
			assert.ok(heap < 300e6, `${heap} bytes of heap`);
		});
	},
};

Object.assign(journeys, timeJourneys({ look, api, run, files, has, axe }), stillJourneys({ look, run, files, has, T, context: () => context }));

const wanted = process.argv.slice(2);
let failed = 0;
context = await launch();
for (const [name, journey] of Object.entries(journeys)) {
	if (wanted.length && !wanted.includes(name)) {
		continue;
	}
	const began = Date.now();
	try {
		await journey();
		console.log(`ok      ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
	} catch (e) {
		failed++;
		console.log(`FAILED  ${name}: ${e.message}\n${(e.stack ?? '').split('\n').slice(1, 6).join('\n')}`);
	}
}
await context.close();
if (process.env.KEEP) {
	console.log(readdirSync(T).join(' '));
}
process.exit(failed ? 1 : 0);
