// SPDX-License-Identifier: MIT
// Views that were saved as files: they open from the disk, ask nobody, and show what the view shows.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const pages = { overview: '.sentence', timeline: '.lanehost canvas', events: '.slick-row .slick-cell:not(:empty)', cpu: '.flame g.frame, .teach', waits: 'table.data, .teach', io: 'table.data, .teach', network: 'table.data, .teach', memory: 'table.data, .teach', dotnet: 'table.data, .teach', providers: '.main', diagnostics: '.main h1' };

// `context`: of the browser. What a file asks of anybody but the disk is a fault.
export function stillJourneys({ look, run, files, has, T, context }) {
	async function opened(path, hash, then) {
		const page = await context().newPage();
		const complaints = [];
		page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
		page.on('pageerror', (e) => complaints.push(e.message));
		page.on('request', (r) => !/^(file|data):/.test(r.url()) && complaints.push(`asks for ${r.url()}`));
		await page.goto(`file://${path}${hash}`);
		await then(page);
		await page.waitForTimeout(200);
		assert.deepEqual(complaints, [], path);
		assert.equal(await page.evaluate(() => document.getElementById('app').textContent.includes('that is not in it')), false, `${path}${hash}: an answer is missing`);
		await page.close();
	}
	return {
		// Every page, of a recording and of a trace whose names are markup; texts stay texts.
		async stills() {
			const all = Object.keys(pages);
			for (const [name, of] of [['machine', all], ['hostile', ['overview', 'events', 'timeline', 'providers', 'diagnostics']], ['windows', ['cpu', 'dotnet']]].filter(([n]) => has(n))) {
				const path = join(T, `${name}-view.html`);
				run('view', files[name], '--export-html', path, ...of.flatMap((p) => ['--page', p]));
				const bytes = statSync(path).size;
				assert.ok(bytes > 300e3 && bytes < 20e6, `${bytes} bytes`);
				for (const p of of) {
					await opened(path, `#${p}`, async (page) => {
						await page.waitForSelector(pages[p]);
						assert.equal(await page.evaluate(() => [...document.querySelectorAll('main img, main script, main iframe')].length + (window.hacked ? 1 : 0)), 0, `${p}: markup of the trace became elements`);
					});
				}
			}
		},
		// From the command line, of a time and a filter: the numbers are those of dump.
		async stillOfSelection() {
			const path = join(T, 'part.html'), where = ['--from', '+2s', '--to', '+6s', '--filter', 'event ~ "DiskIo/*"'];
			run('view', files.windows, '--export-html', path, '--page', 'events', ...where);
			const dump = run('dump', '-q', files.windows, ...where).split('\n').length - 1;
			await opened(path, '', async (page) => {
				await page.waitForSelector('.slick-row .slick-cell:not(:empty)');
				assert.match(await page.textContent('.header'), /2\.000 s – 6\.000 s.*DiskIo/);
				const shown = Number((await page.textContent('.toolbar b')).replace(/\D/g, '')), of = /first of ([\d,]+)/.exec(await page.textContent('.toolbar'));
				assert.equal(of ? Number(of[1].replace(/\D/g, '')) : shown, dump);
				await page.click('.slick-row .slick-cell');
				await page.waitForSelector('.details table');
			});
		},
		// With the button: what the page shows now, a tab and a choice of it, too.
		async stillOfPage() {
			await look('windows', '#cpu?view=functions', async (page) => {
				await page.waitForSelector('table.data tbody tr');
				const rows = await page.$$eval('table.data tbody tr', (l) => l.map((r) => r.textContent));
				await page.click('[aria-label="Export this selection"]');
				const [download] = await Promise.all([page.waitForEvent('download'), page.click('button:has-text("Save this view as HTML")')]);
				assert.match(download.suggestedFilename(), /-cpu\.html$/);
				const path = join(T, 'button.html');
				await download.saveAs(path);
				await opened(path, '', async (still) => {
					await still.waitForSelector('table.data tbody tr');
					assert.deepEqual(await still.$$eval('table.data tbody tr', (l) => l.map((r) => r.textContent)), rows);
				});
			});
		},
	};
}
