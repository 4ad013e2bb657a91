// SPDX-License-Identifier: MIT
// node build.mjs OUT: joins src into one module and its lazy parts, and copies what is served as it is. Runs under Node 18.
// Packages are taken from node_modules beside this file.
import { build } from 'esbuild';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
	console.error('usage: node build.mjs OUT');
	process.exit(2);
}
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const common = {
	outdir: out,
	bundle: true,
	minify: true,
	target: ['chrome109', 'firefox102'],
	chunkNames: 'part-[name]-[hash]',
	assetNames: '[name]-[hash]',
	loader: { '.svg': 'dataurl', '.woff2': 'file' },
	legalComments: 'none',
	logLevel: 'warning',
};
const result = await build({
	...common,
	entryPoints: { app: join(here, 'src/main.js'), style: join(here, 'style.css') },
	splitting: true,
	format: 'esm',
	metafile: true,
	define: { STILL: 'false' },
});
// The same page in one piece, for files of --export-html. It stands inside of a script element, which these words would end.
await build({ ...common, entryPoints: { still: join(here, 'src/main.js') }, format: 'iife', define: { STILL: 'true' } });
const still = readFileSync(join(out, 'still.js'), 'utf8');
if (/<\/script|<!--/i.test(still)) {
	console.error('still.js has words that end a script element');
	process.exit(1);
}
// style.css has what pages import of styles, too: only that is loaded.
for (const file of readdirSync(out)) {
	if (file.endsWith('.css') && file !== 'style.css') {
		rmSync(join(out, file));
	}
}
cpSync(join(here, 'index.html'), join(out, 'index.html'));
cpSync(join(here, 'icon.svg'), join(out, 'icon.svg'));

// speedscope is served as it was released, without the sample and the importer for Java's recorder.
const speedscope = join(here, 'node_modules/speedscope/dist/release');
mkdirSync(join(out, 'speedscope'));
for (const file of readdirSync(speedscope)) {
	if (!/^(perf-vertx|jfrview|release)/.test(file)) {
		cpSync(join(speedscope, file), join(out, 'speedscope', file));
	}
}

// Licences of all that is in there, for the package's copyright file.
const packages = new Set(['speedscope']);
for (const input of Object.keys(result.metafile.inputs)) {
	const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
	if (m) {
		packages.add(m[1]);
	}
}
let licences = '';
for (const name of [...packages].sort()) {
	const dir = join(here, 'node_modules', name);
	const about = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
	const file = readdirSync(dir).find((f) => /^(licen[sc]e|copying)/i.test(f));
	licences += `${name} ${about.version} (${about.license ?? 'see below'})\n\n`;
	licences += file ? readFileSync(join(dir, file), 'utf8').trim() + '\n\n' : '';
	licences += '-'.repeat(72) + '\n';
}
const font = join(speedscope, 'source-code-pro.LICENSE.md');
licences += existsSync(font) ? `Source Code Pro (in speedscope)\n\n${readFileSync(font, 'utf8')}\n` : '';
writeFileSync(join(out, 'LICENSES.txt'), licences);
