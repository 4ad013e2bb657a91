// SPDX-License-Identifier: MIT
// What a person does with the page, and what is then to be seen. Each journey is a function; a name as argument runs it alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Server, launch, open, show, api } from './browser.mjs';
import { timeJourneys } from './time.mjs';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const { T, CORPUS, OPENETW } = process.env;
const corpus = (f) => join(CORPUS, f);
const files = { app: join(T, 'app.etl'), machine: join(T, 'machine.etl'), hostile: join(T, 'hostile.etl'), windows: corpus('perfview/net.4.5.2.x86.etl'), packets: corpus('demikernel/PktMon.etl'), manifest: corpus('tx/HTTP_Server.etl') };
const run = (...words) => execFileSync(OPENETW, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
const has = (name) => existsSync(files[name]);

let context;
async function look(name, hash, then) {
	const server = await Server.start([files[name]]);
	const page = await open(context, server, hash);
	try {
		await then(page, server);
		assert.deepEqual(page.complaints, [], 'the browser complains');
	} catch (e) {
		await page.screenshot({ path: join(T, `failed-${name}.png`) }).catch(() => {});
		throw e;
	} finally {
		await page.close();
		assert.equal(await server.stop(), 0, 'Ctrl-C ends the server');
	}
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
			await page.waitForSelector('.slick-row');
			await page.click('#filter');
			await page.keyboard.type('proc');
			await page.waitForSelector('#offers li');
			assert.ok((await page.$$eval('#offers li span', (l) => l.map((e) => e.textContent))).includes('process'));
			await page.fill('#filter', '');
			await page.keyboard.type('level == == 3');
			await page.waitForSelector('.mistake');
			assert.match(await text(page, '.mistake'), /column 10/);
			await page.fill('#filter', 'event ~ "DiskIo/*"');
			await page.keyboard.press('Enter');
			const dump = run('dump', '-q', '--filter', 'event ~ "DiskIo/*"', files.windows).split('\n').length - 1;
			await page.waitForFunction((n) => Number(document.querySelector('.toolbar b')?.textContent.replace(/\D/g, '')) === n, dump);
			assert.ok((await page.$$eval('.slick-row', (l) => l.map((r) => r.textContent))).every((t) => t === '' || t.includes('DiskIo/') || t.includes('…')));
		});
	},
	// A click shows everything about an event, and what it shows is what dump prints.
	async details() {
		await look('manifest', '#events', async (page) => {
			await page.waitForSelector('.slick-row .slick-cell');
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
			const first = await page.$eval('.facets li button', (b) => [b.querySelector('b').textContent, b.querySelector('span').textContent]);
			await page.click('.facets li button');
			await page.waitForFunction((n) => document.querySelector('.toolbar b')?.textContent.replace(/\D/g, '') === n, first[1].replace(/\D/g, ''));
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
			await page.waitForSelector('.slick-row .slick-cell');
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
	// A selection leaves as a smaller trace.
	async exports() {
		await look('windows', '#events?f=event ~ "DiskIo/*"', async (page) => {
			await page.waitForSelector('.slick-row');
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
			await page.waitForSelector('.liveops .slick-row .slick-cell');
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

Object.assign(journeys, timeJourneys({ look, api, run, files, has, axe }));

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
