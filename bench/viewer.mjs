// SPDX-License-Identifier: MIT
// node viewer.mjs FILE…: how long a person waits for the page of openetw view in Chromium, for each file; bench/viewer starts it.
// LIVE=1 measures, too, how long an event takes from being written to its row.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { Server, launch, show } from './browser.mjs';

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (what, list) => console.log(`${what.padEnd(58)} median ${median(list).toFixed(0).padStart(6)} ms, longest ${Math.max(...list).toFixed(0).padStart(6)} ms`);
const now = () => performance.now();
const painted = (page) => page.waitForFunction(() => document.querySelector('.sentence') && document.querySelector('.legend button'), null, { polling: 'raf', timeout: 600000 });

// After a change of the address: until the last answer of this path is there and a frame was painted with it.
const after = (page, hash, path) => page.evaluate(async ([h, p]) => {
	const frame = () => new Promise((r) => requestAnimationFrame(r));
	const began = performance.now();
	const answered = new Promise((resolve) => {
		const o = new PerformanceObserver((l) => l.getEntries().some((e) => e.name.includes(p) && e.startTime >= began - 1) && (o.disconnect(), resolve()));
		o.observe({ type: 'resource' });
	});
	location.hash = h;
	await answered;
	await frame();
	await frame();
	return performance.now() - began;
}, [hash, path]);

const heap = (page) => page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);

async function ofFile(context, file) {
	console.log(`\n${file}, ${(statSync(file).size / 1e6).toFixed(0)} MB`);
	const began = now();
	const server = await Server.start([file]);
	console.log(`the server listens after ${(now() - began).toFixed(0)} ms`);
	const page = await context.newPage();
	await page.setViewportSize({ width: 1600, height: 900 });
	await page.goto(server.address);
	await painted(page);
	console.log(`from the command to the overview, painted ${(now() - began).toFixed(0)} ms`);
	await page.waitForFunction(async () => (await (await fetch('/api/info')).json()).progress.whole, null, { polling: 100, timeout: 600000 });
	console.log(`the index is whole after ${(now() - began).toFixed(0)} ms`);
	const loads = [], overviews = [];
	for (let i = 0; i < 5; i++) {
		const from = now();
		await page.goto('about:blank');
		await page.goto(server.address.replace(/\?.*/, ''));
		await page.waitForSelector('nav.rail');
		loads.push(await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd));
		await painted(page);
		overviews.push(now() - from);
	}
	say('page load, without a cache', loads);
	say('overview painted, the server runs', overviews);
	const { first, last } = await page.evaluate(async () => (await fetch('/api/info')).json());
	const zooms = [];
	for (let i = 1; i <= 8; i++) {
		const w = (last - first) / 2 ** i;
		zooms.push(await after(page, `#overview?t0=${Math.round(first + (last - first - w) / 2)}&t1=${Math.round(first + (last - first + w) / 2)}`, '/api/hist'));
	}
	say('zoom: density of the new time painted', zooms);
	const pans = [];
	for (let i = 0; i < 8; i++) {
		const w = (last - first) / 16, t0 = Math.round(first + i * w);
		pans.push(await after(page, `#overview?t0=${t0}&t1=${Math.round(t0 + w)}`, '/api/hist'));
	}
	say('pan: density of the new time painted', pans);
	const filters = [];
	for (let i = 0; i < 6; i++) {
		filters.push(await after(page, `#events?f=${encodeURIComponent(`cpu == ${i}`)}`, '/api/rows'));
	}
	say('filter on a fixed column: rows painted', filters);
	const scrolls = [];
	await show(page, '#events');
	await page.waitForSelector('.slick-row .slick-cell');
	const total = await page.evaluate(async () => (await (await fetch('/api/rows?at=0&n=1')).json()).total);
	for (let i = 1; i <= 8; i++) {
		scrolls.push(await after(page, `#events?at=${Math.floor((total * i) / 9)}`, '/api/rows'));
	}
	say(`jump among ${total.toLocaleString('en-US')} rows`, scrolls);
	for (const p of ['overview', 'events', 'providers', 'compare', 'sql', 'diagnostics']) {
		await show(page, `#${p}`);
		await page.waitForTimeout(700);
	}
	console.log(`heap of the tab ${(await heap(page)).toFixed(0)} MB`);
	await page.close();
	await server.stop();
}

async function live(context) {
	const server = await Server.start([]);
	const page = await context.newPage();
	await page.goto(server.address);
	await page.waitForSelector('nav.rail');
	const openetw = (...words) => spawnSync(process.env.OPENETW, words, { encoding: 'utf8' });
	const started = openetw('start', 'viewer-bench', '-r', '-p', 'OpenETW.Sample.Hello');
	const attached = await page.evaluate(async () => (await fetch('/api/attach', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-OpenETW': '1' }, body: JSON.stringify({ session: 'viewer-bench' }) })).json());
	if (attached.tr === undefined) {
		console.log(`live: ${started.stderr} ${attached.error}`);
		await server.stop();
		return;
	}
	await page.goto('about:blank');
	await page.goto(`${server.address.replace(/\?.*/, '')}#events?tr=${attached.tr}`);
	await page.waitForSelector('.slick-viewport');
	const took = [];
	for (let i = 0; i < 12; i++) {
		await page.waitForTimeout(600);
		const before = await page.evaluate(() => document.querySelector('.toolbar b').textContent);
		spawnSync(`${process.env.OPENETW.replace(/tools\/[^/]*$/, '')}samples/hello-tracelogging`, ['1', '1']);
		const from = now();
		await page.waitForFunction((b) => document.querySelector('.toolbar b').textContent !== b, before, { polling: 'raf', timeout: 20000 });
		took.push(now() - from);
	}
	say('live: from the end of a program that wrote to its row', took);
	openetw('stop', 'viewer-bench');
	await server.stop();
}

const context = await launch();
for (const file of process.argv.slice(2)) {
	await ofFile(context, file);
}
if (process.env.LIVE) {
	await live(context).catch((e) => console.log(`live: ${e.message}`));
}
await context.close();
