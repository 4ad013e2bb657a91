// SPDX-License-Identifier: MIT
// Journeys over the pages about time: Timeline, CPU, Waits. journeys.mjs runs them with the traces that it has.
import assert from 'node:assert/strict';

const params = (page) => new URLSearchParams(page.url().split('?').pop());
const seconds = (ns) => `+${ns / 1e9}s`;
const csv = (text) => text.trim().split('\n').map((line) => line.split(','));

// The lanes are there, and what they show is complete.
async function settled(page) {
	await page.waitForSelector('.lanehost canvas');
	let info;
	do {
		info = await page.evaluate(async () => (await fetch('/api/info?tr=0')).json());
	} while (!info.progress.whole);
	await page.waitForFunction((last) => document.querySelector('.lanehost')?.lanes?.bounds().t1 === last, info.last);
	await page.waitForFunction(() => {
		const lanes = document.querySelector('.lanehost')?.lanes;
		return lanes && !lanes.busy() && lanes.tile('density');
	});
}
async function plotOf(page) {
	await settled(page);
	return (await page.waitForSelector('.lanes-plot')).boundingBox();
}
const viewOf = (page) => page.evaluate(() => document.querySelector('.lanehost').lanes.view());
async function viewChanges(page, before) {
	await page.waitForFunction((v) => {
		const now = document.querySelector('.lanehost').lanes.view();
		return now.t0 !== v.t0 || now.t1 !== v.t1;
	}, before);
	return viewOf(page);
}

// A place on the canvas where a thread of the lane does this; null: nowhere in view.
function placeOf(page, key, doing) {
	return page.evaluate(([k, d]) => {
		const lanes = document.querySelector('.lanehost').lanes;
		const tile = lanes.tile(k), label = document.querySelector(`[data-lane="${k}"]`), plot = document.querySelector('.lanes-plot');
		if (!tile || !label) {
			return null;
		}
		const box = plot.getBoundingClientRect(), row = label.getBoundingClientRect(), view = lanes.view();
		let best = null;
		for (let i = tile.begin; i < tile.end; i++) {
			const each = (tile.t1 - tile.t0) / tile.px;
			const x = ((tile.t0 + (tile.first[i] + tile.pixels[i] / 2) * each - view.t0) / (view.t1 - view.t0)) * box.width;
			if (tile.doing[i] === d && x > 10 && x < box.width - 10 && (!best || tile.pixels[i] > best.pixels)) {
				best = { x: box.left + x, y: row.top + row.height / 2, pixels: tile.pixels[i], from: tile.from[i], to: tile.to[i], thread: Number(k.slice(2)) };
			}
		}
		return best;
	}, [key, doing]);
}

// What the list of journeys gets: `look(name, hash, then)`, `api`, `run` of the command line, `files`, `has`, the source of `axe`.
export function timeJourneys({ look, api, run, files, has, axe }) {
	const lawful = async (page, what) => {
		await page.evaluate(axe);
		const found = await page.evaluate(async () => {
			const r = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
			return r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')}`);
		});
		assert.deepEqual(found, [], what);
	};
	return {
		// The wheel zooms at the pointer, keys zoom and move, F shows everything, Backspace goes back; the address is the view.
		async timelineMoves() {
			await look('windows', '#timeline', async (page) => {
				const box = await plotOf(page);
				const whole = await viewOf(page);
				const x = box.width * 0.3, at = whole.t0 + (x / box.width) * (whole.t1 - whole.t0);
				await page.mouse.move(box.x + x, box.y + 100);
				await page.mouse.wheel(0, -400);
				let view = await viewChanges(page, whole);
				await page.waitForFunction(() => /t0=\d+/.test(location.hash));
				view = await viewOf(page);
				assert.ok(view.t1 - view.t0 < (whole.t1 - whole.t0) * 0.9, 'the wheel zooms');
				const there = view.t0 + (x / box.width) * (view.t1 - view.t0);
				assert.ok(Math.abs(there - at) < (view.t1 - view.t0) / 200, 'what is below the pointer stays there');
				await page.focus('.lanes-plot');
				for (const [key, grows] of [['w', -1], ['s', 1]]) {
					const before = await viewOf(page);
					await page.keyboard.press(key);
					const after = await viewChanges(page, before);
					assert.equal(Math.sign(after.t1 - after.t0 - (before.t1 - before.t0)), grows, key);
				}
				for (const [key, moves] of [['d', 1], ['a', -1]]) {
					const before = await viewOf(page);
					await page.keyboard.press(key);
					const after = await viewChanges(page, before);
					assert.equal(Math.sign(after.t0 - before.t0), moves, key);
				}
				const before = await viewOf(page);
				await page.keyboard.press('f');
				assert.deepEqual(await viewChanges(page, before), whole, 'F shows the whole trace');
				await page.waitForFunction(() => !/t0=/.test(location.hash));
				await page.keyboard.press('Backspace');
				await page.waitForFunction(() => /t0=\d+/.test(location.hash));
				const address = page.url();
				const shown = await viewChanges(page, whole);
				await page.goto('about:blank');
				await page.goto(address);
				await settled(page);
				assert.deepEqual(await viewOf(page), shown, 'the address shows the same view');
			});
		},
		// An area says what the command line says of the same times.
		async timelineArea() {
			await look('windows', '#timeline', async (page) => {
				const box = await plotOf(page);
				await page.keyboard.down('Shift');
				await page.mouse.move(box.x + box.width * 0.2, box.y + 60);
				await page.mouse.down();
				await page.mouse.move(box.x + box.width * 0.6, box.y + 90, { steps: 4 });
				await page.mouse.up();
				await page.keyboard.up('Shift');
				await page.waitForFunction(() => /a0=\d+/.test(location.hash));
				const q = params(page), from = Number(q.get('a0')), to = Number(q.get('a1'));
				const said = run('report', files.windows, '--table', 'events', '--group-by', '', '--columns', 'count', '--csv', '--from', seconds(from), '--to', seconds(to));
				const events = Number(csv(said)[1][0]);
				await page.waitForFunction((n) => Number(document.querySelector('.figure dd')?.textContent.replace(/\D/g, '')) === n, events);
				/* numbers of a field: those of the group of all */
				await page.waitForFunction(() => [...document.querySelectorAll('.areatabs option')].some((o) => o.value === 'TransferSize'));
				await page.selectOption('.areatabs .timetools select', 'TransferSize');
				await page.waitForSelector('.areatabs h3');
				const shown = await page.$$eval('.areatabs .figures:last-of-type .figure', (l) => Object.fromEntries(l.map((f) => [f.children[0].textContent, f.children[1].textContent])));
				const group = await api(page, `group?by=nothing&field=TransferSize&t0=${from}&t1=${to}`);
				assert.equal(Number(shown.Sum.replace(/\D/g, '')), group.rows[0].sum);
				assert.equal(Number(shown.Count.replace(/\D/g, '')), group.rows[0].values);
				assert.equal(Number(shown.Max.replace(/\D/g, '')), group.rows[0].max);
				await page.click('text=Zoom to area');
				await page.waitForFunction((t) => location.hash.includes(`t0=${t}`), from);
			});
		},
		// Numbers by thread are those of the command line.
		async timelineThreads() {
			if (!has('machine')) {
				return;
			}
			await look('machine', '', async (page) => {
				const info = await api(page, 'info?tr=0');
				const from = Math.round(info.first + (info.last - info.first) * 0.3), to = Math.round(info.first + (info.last - info.first) * 0.6);
				await page.evaluate((h) => (location.hash = h), `#timeline?a0=${from}&a1=${to}&tab=threads`);
				await page.waitForSelector('.areatabs table.data tbody tr');
				const columns = 'count,sum(running),min(running),avg(running),max(running),p99(running)';
				const said = csv(run('report', files.machine, '--table', 'cpu', '--group-by', 'process_name,tid,thread', '--columns', columns, '--filter', 'pid != 0', '--csv', '--from', seconds(from), '--to', seconds(to)));
				/* of the area as a whole, too: what is idle does not run */
				const area = await api(page, `area?tr=0&t0=${from}&t1=${to}`);
				assert.ok(area.running <= (to - from) * info.processors, 'no more ran than there are processors');
				assert.ok(area.rows.every((r) => r.process !== 'Idle'), 'idle threads are none that ran');
				const answer = await api(page, `table?tr=0&t0=${from}&t1=${to}&name=cpu&where=${encodeURIComponent('pid != 0')}&group_by=process_name,tid,thread&columns=${columns}&top=1000`);
				assert.equal(answer.rows.length, said.length - 1);
				const rows = await page.$$eval('.areatabs table.data tbody tr', (l) => l.map((r) => [...r.children].slice(0, 4).map((c) => c.textContent.trim())));
				const want = new Map(said.slice(1).map((r) => [`${r[1]} ${r[2]}`, r]));
				assert.equal(rows.length, want.size);
				for (const [process, tid, lane, count] of rows) {
					const line = want.get(`${tid} ${lane}`);
					assert.ok(line, `${process} ${tid}`);
					assert.equal(Number(count.replace(/\D/g, '')), Number(line[3]), `runs of ${process} ${tid}`);
				}
			});
		},
		// One lane is found by its letters and pinned; the address keeps it; it can be hidden and shown.
		async timelinePins() {
			await look('windows', '#timeline', async (page) => {
				await settled(page);
				await page.fill('.lanesearch input', 'perfview');
				await page.waitForSelector('#lanes-found li');
				await page.keyboard.press('Shift+Enter');
				await page.waitForFunction(() => /pin=/.test(location.hash));
				await page.waitForSelector('.lanes-name.is-pinned .lanes-pin[aria-pressed=true]');
				const name = await page.textContent('.lanes-name.is-pinned:has([aria-pressed=true])');
				assert.match(name, /PerfView/i);
				const address = page.url();
				await page.goto('about:blank');
				await page.goto(address);
				await settled(page);
				await page.waitForSelector('.lanes-name.is-pinned .lanes-pin[aria-pressed=true]');
				assert.equal(await page.textContent('.lanes-name.is-pinned:has([aria-pressed=true])'), name);
				await page.hover('[data-lane="n:disk_bytes"]');
				await page.click('[data-lane="n:disk_bytes"] .lanes-more');
				await page.click('[role=menuitem]:has-text("Hide")');
				await page.waitForFunction(() => !document.querySelector('[data-lane="n:disk_bytes"]'));
				await page.click('text=/Show 1 hidden/');
				await page.waitForSelector('[data-lane="n:disk_bytes"]');
				/* groups fold, and the page says so to screen readers */
				const fold = page.locator('.lanes-fold', { hasText: 'Counters' });
				assert.equal(await fold.getAttribute('aria-expanded'), 'true');
				await fold.click();
				await page.waitForFunction(() => !document.querySelector('[data-lane="n:disk_bytes"]'));
			});
		},
		// A click on a wait shows who ended it, back to the cause.
		async timelineChain() {
			if (!has('machine')) {
				return;
			}
			await look('machine', '', async (page) => {
				const info = await api(page, 'info?tr=0');
				const waits = await api(page, 'table?tr=0&name=waits&where=kind%20%3D%3D%20wait%20and%20waker_thread%20%3E%200&group_by=thread&columns=count,sum(duration)&top=1');
				const thread = waits.rows[0][0];
				await page.evaluate((h) => (location.hash = h), `#timeline?pin=t:${thread}`);
				await settled(page);
				await page.waitForFunction((k) => document.querySelector('.lanehost').lanes.tile(k), `t:${thread}`);
				const place = await placeOf(page, `t:${thread}`, 3);
				assert.ok(place && info, 'the thread waits somewhere');
				await page.mouse.move(place.x, place.y);
				await page.waitForSelector('.lanes-tip:not([hidden])');
				assert.match(await page.textContent('.lanes-tip'), /waits for/);
				await page.mouse.click(place.x, place.y);
				await page.waitForSelector('.chain li');
				const [who, t] = params(page).get('chain').split('@');
				const chain = await api(page, `chain?tr=0&thread=${who}&t=${t}`);
				assert.equal((await page.$$('.chain li')).length, chain.links.length);
				assert.match(await page.textContent('.chain'), /waited|could run/);
				await page.waitForSelector('.chain .cause');
				/* the keyboard gets there, too */
				await page.focus('.lanes-plot');
				await page.keyboard.press('ArrowDown');
				await page.keyboard.press('ArrowRight');
				await page.waitForFunction(() => document.querySelector('.lanes-spoken[role=status]').textContent.length > 3);
			});
		},
		// Flame graph: search tells a share, a click fills the width with a frame, speedscope shows the same samples.
		async flameGraph() {
			await look('windows', '#cpu', async (page, server) => {
				await page.waitForSelector('.flame g.frame');
				const folded = await page.evaluate(async () => (await fetch('/api/stacks?tr=0&weight=samples&format=folded')).text());
				const lines = folded.trim().split('\n').map((l) => [l.slice(0, l.lastIndexOf(' ')), Number(l.slice(l.lastIndexOf(' ') + 1))]);
				const all = lines.reduce((n, [, w]) => n + w, 0);
				const named = lines.filter(([s]) => s.split(';').some((f) => /ntoskrnl/i.test(f))).reduce((n, [, w]) => n + w, 0);
				await page.fill('.flamebox input[type=search]', 'NTOSKRNL');
				await page.waitForFunction(() => /%/.test(document.querySelector('output.found').textContent));
				const share = Number(/([\d.]+) %/.exec(await page.textContent('output.found'))[1]);
				/* frames that were left out are not searched, and the page says so */
				const exact = (100 * named) / all, cut = (await api(page, 'stacks?tr=0&weight=samples')).cut > 0;
				assert.equal(/at least/.test(await page.textContent('output.found')), cut);
				assert.ok(cut ? share > 0 && share <= exact + 0.1 : Math.abs(share - exact) < 0.1, `${share} % are found, ${exact} % have such a frame`);
				const frames = await page.$$('.flame g.frame');
				const wide = await frames[1].$eval('rect', (r) => r.getBoundingClientRect().width);
				await frames[1].click({ position: { x: 4, y: 8 } });
				await page.waitForFunction(([w]) => document.querySelectorAll('.flame g.frame')[1].querySelector('rect').getBoundingClientRect().width > w + 1 || w > 1000, [wide]);
				await page.focus('.flame');
				await page.keyboard.press('ArrowDown');
				await page.waitForFunction(() => /%/.test(document.querySelector('.flamehost .lanes-spoken').textContent));
				await page.keyboard.press('Escape');
				await page.fill('.flamebox input[type=search]', '');
				/* below one frame: the way to it, and what is below it alone */
				const nodes = (await api(page, 'stacks?tr=0&weight=samples&max=200')).nodes;
				const path = (i) => (i > 0 ? [...path(nodes[i][0]), nodes[i][2] ? `${nodes[i][2]}!${nodes[i][1]}` : nodes[i][1]] : []);
				const deep = nodes.findIndex((n, i) => path(i).length === 4);
				const below = (await api(page, `stacks?tr=0&weight=samples&max=200&root=${encodeURIComponent(path(deep).join('\n'))}`)).nodes;
				assert.deepEqual(below.slice(1, 5).map((n) => n[1]), [1, 2, 3, 4].map((k) => nodes[nodes.findIndex((n, i) => path(i).join() === path(deep).slice(0, k).join())][1]));
				assert.equal(below[4][4], nodes[deep][4], 'the frame weighs the same');
				assert.ok(below.slice(5).every((n) => n[0] >= 4), 'all others are below it');
				const href = await page.getAttribute('.flamebox a.button', 'href');
				const profile = await page.evaluate(async (u) => (await fetch(u)).json(), decodeURIComponent(href.split('profileURL=')[1]));
				assert.equal(profile.profiles[0].weights.reduce((a, b) => a + b, 0), all, 'speedscope gets all samples');
				const other = await page.context().newPage();
				await other.goto(new URL(href, server.address).href);
				await other.waitForFunction(() => /Left Heavy/.test(document.body.textContent) && document.title.length > 0 && !/Drag/.test(document.body.textContent));
				await other.close();
			});
		},
		// Two times of a trace beside each other: each frame tells both numbers.
		async flameDifference() {
			await look('windows', '', async (page) => {
				const i = await api(page, 'info?tr=0');
				const half = Math.round((i.first + i.last) / 2e6) / 1e3, end = Math.round(i.last / 1e6) / 1e3;
				await page.evaluate((h) => (location.hash = h), `#compare?table=stacks&at=0-${half}&bt=${half}-${end}`);
				await page.waitForSelector('.flame g.frame');
				const before = await api(page, `stacks?tr=0&weight=samples&processes=0&max=1&t0=0&t1=${half * 1e9}`);
				const now = await api(page, `stacks?tr=0&weight=samples&processes=0&max=1&t0=${half * 1e9}&t1=${end * 1e9}`);
				await page.waitForFunction((n) => document.querySelector('.flamewords').textContent.replace(/,/g, '').includes(n), `${before.total} samples before`);
				assert.ok((await page.textContent('.flamewords')).replace(/,/g, '').includes(`${now.total} samples now`));
			});
		},
		// Functions: a click shows who calls one and what it calls; the address keeps it.
		async functions() {
			await look('windows', '#cpu?view=functions', async (page) => {
				await page.waitForSelector('table.data tbody tr');
				const answer = await api(page, 'functions?tr=0&weight=samples&max=2000');
				assert.equal(await page.$eval('table.data tbody tr', (r) => Number(r.children[2].textContent.replace(/\D/g, ''))), answer.functions[0].self);
				await page.click('table.data tbody tr:first-child .link');
				await page.waitForSelector('.beside-side table.data, .beside-side .empty');
				assert.ok(params(page).get('fn').includes(answer.functions[0].name));
			});
		},
		// Waits: the longest, with the chain of its wakers.
		async waits() {
			await look('windows', '#waits', async (page) => {
				await page.waitForSelector('.teach code');
				assert.match(await page.textContent('.teach'), /record --wait/, 'a page without data says how to record it');
			});
			if (!has('machine')) {
				return;
			}
			await look('machine', '#waits?tab=longest', async (page) => {
				await page.waitForSelector('table.data tbody tr');
				const said = csv(run('report', files.machine, '--table', 'waits', '--columns', 'duration', '--sort', 'duration', '--filter', 'kind == wait', '--top', '1', '--csv'));
				const answer = await api(page, `table?tr=0&name=waits&where=${encodeURIComponent('kind == wait')}&columns=duration&sort=duration&top=1`);
				assert.equal(answer.rows[0][0], Number(said[1][0]));
				await page.click('table.data tbody tr:first-child .link');
				await page.waitForSelector('.chain li, .beside-side .empty');
				await page.evaluate(() => (location.hash = '#waits?tab=flame'));
				await page.waitForSelector('.flamebox');
			});
		},
		// Roles, names and contrast, dark and light.
		async timeIsAccessible() {
			for (const name of ['windows', 'machine'].filter(has)) {
				for (const theme of ['light', 'dark']) {
					await look(name, '#timeline', async (page) => {
						await page.emulateMedia({ colorScheme: theme });
						await settled(page);
						await page.waitForSelector('.figure');
						await lawful(page, `timeline of ${name}, ${theme}`);
						for (const [hash, selector] of [['#cpu', '.flame g.frame, .teach'], ['#cpu?view=functions', 'table.data, .teach'], ['#cpu?tab=precise', 'table.data, .teach'], ['#waits', 'table.data, .teach'], ['#waits?tab=longest', 'table.data, .teach'], ['#timeline?tab=threads', 'table.data, .empty'], ['#timeline?tab=chain', '.empty']]) {
							await page.evaluate((h) => (location.hash = h), hash);
							await page.waitForSelector(selector);
							await lawful(page, `${hash} of ${name}, ${theme}`);
						}
					});
				}
			}
		},
	};
}
