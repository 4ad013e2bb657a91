// SPDX-License-Identifier: MIT
// A server of openetw view and a page of it in Chromium.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--enable-precise-memory-info'];

export class Server {
	static async start(files, options = []) {
		const s = new Server();
		s.process = spawn(process.env.OPENETW, ['view', '--no-open', ...options, ...files], { stdio: ['ignore', 'pipe', 'pipe'] });
		s.errors = '';
		s.process.stderr.on('data', (d) => (s.errors += d));
		s.address = await new Promise((resolve, reject) => {
			let text = '';
			s.process.stdout.on('data', (d) => {
				text += d;
				const m = /http:\S+/.exec(text);
				if (m) {
					resolve(m[0]);
				}
			});
			s.process.on('exit', (code) => reject(new Error(`openetw view ended with ${code}: ${s.errors}`)));
		});
		return s;
	}
	async stop() {
		this.process.removeAllListeners('exit');
		if (this.process.exitCode !== null || this.process.signalCode !== null) {
			throw new Error(`openetw view has ended by itself, with ${this.process.exitCode ?? this.process.signalCode}: ${this.errors}`);
		}
		const code = new Promise((resolve) => this.process.once('exit', resolve));
		this.process.kill('SIGINT');
		return code;
	}
}

export async function launch() {
	return chromium.launchPersistentContext(mkdtempSync(join(process.env.T, 'profile-')), { executablePath: process.env.CHROMIUM, args: flags, viewport: { width: 1280, height: 720 }, acceptDownloads: true });
}

// A page that is let in. What the browser complains of is a fault, but for what is expected.
export async function open(context, server, hash = '') {
	const page = await context.newPage();
	page.complaints = [];
	page.on('console', (m) => m.type() === 'error' && page.complaints.push(m.text()));
	page.on('pageerror', (e) => page.complaints.push(`${e.message} ${e.stack ?? ''}`));
	await page.goto(server.address);
	await page.waitForSelector('nav.rail');
	/* The index is whole, and the page has heard of it: what is asked later is asked once. */
	await page.waitForFunction(async () => {
		const traces = await (await fetch('/api/traces')).json();
		if (traces.traces.length === 0) {
			return true;
		}
		const info = await (await fetch('/api/info')).json();
		return info.progress.whole && document.querySelector('.header .name') && !document.querySelector('.progress');
	}, null, { polling: 250 });
	await page.waitForTimeout(300);
	if (hash) {
		await show(page, hash);
	}
	return page;
}

export async function show(page, hash) {
	await page.evaluate((h) => {
		location.hash = h;
	}, hash);
}

export async function api(page, path) {
	return page.evaluate(async (p) => {
		for (;;) {
			const answer = await fetch(p);
			if (answer.status !== 202) { // else a table for it is being made
				return answer.json();
			}
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}, `/api/${path}`);
}
