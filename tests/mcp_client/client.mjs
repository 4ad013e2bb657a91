// SPDX-License-Identifier: MIT
// Every tool of openetw mcp, called by the SDK's own client; what they answer is compared with other verbs of openetw.
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [openetw, corpus, exports_] = process.argv.slice(2);
const net = `${corpus}/perfview/net.4.5.2.x86.etl`;
const primitive = `${corpus}/perfview/primitive-types.etl`;
const dump = (...words) => execFileSync(openetw, ['dump', '-q', '--json', ...words], { maxBuffer: 1 << 30 })
	.toString().trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));

const dump2 = (...words) => execFileSync(openetw, words, { maxBuffer: 1 << 30 }).toString().trim().split('\n').map((l) => JSON.parse(l));

const client = new Client({ name: 'tests', version: '1' });
await client.connect(new StdioClientTransport({
	command: openetw, args: ['mcp', net, '--root', corpus, '--exports', exports_], env: { ...process.env }, stderr: 'inherit',
}));
assert.equal(client.getServerVersion().name, 'openetw');
assert.match(client.getInstructions(), /list_traces/);

const call = async (name, args = {}, options = {}) => {
	const r = await client.callTool({ name, arguments: args }, undefined, { timeout: 200000, ...options });
	const text = r.content[0].text;
	assert.ok(!r.isError, `${name}: ${text}`);
	assert.deepEqual(JSON.parse(text), r.structuredContent);
	return r.structuredContent;
};
const wrong = async (name, args, pattern) => {
	const r = await client.callTool({ name, arguments: args }, undefined, { timeout: 200000 });
	assert.ok(r.isError, `${name} ${JSON.stringify(args)} was not refused`);
	assert.match(r.content[0].text, pattern);
};

// The list: every tool has a schema, and is called below.
const { tools } = await client.listTools();
const called = new Set();
for (const t of tools) {
	assert.equal(t.inputSchema.type, 'object');
	assert.equal(t.inputSchema.additionalProperties, false);
	assert.ok(t.description.length > 20 && t.title);
	for (const p of Object.values(t.inputSchema.properties)) assert.ok(p.type && p.description);
}
const has = (name) => { called.add(name); return tools.some((t) => t.name === name); };
const tool = (name, args, options) => { called.add(name); return call(name, args, options); };

// What there is.
const there = await tool('list_traces');
assert.equal(there.traces[0].file, net);
assert.equal(there.traces[0].default, true);
assert.ok(there.traces.some((t) => t.file === primitive));

const all = dump(net);
const opened = await tool('open_trace');
assert.equal(opened.events, all.length);
const overview = await tool('overview', { top: 200, buckets: 7, field: 'Reason' });
assert.equal(overview.matched, all.length);
const counts = new Map();
for (const e of all) counts.set(e.meta.provider, (counts.get(e.meta.provider) ?? 0) + 1);
for (const p of overview.providers) assert.equal(p.events, counts.get(p.name), p.name);
assert.equal(overview.providers.length, counts.size);
assert.equal(overview.histogram.events.length, 7);
assert.equal(overview.histogram.events.reduce((a, b) => a + b), all.length);
assert.ok(overview.field_values.length > 0);

// Events: all pages of a filter are what dump prints, payloads too.
const filter = 'provider == Microsoft-Windows-DotNETRuntime and event ~ GarbageCollection';
const wanted = dump('--filter', filter, net);
const got = [];
for (let position = 0; ;) {
	const page = await tool('find_events', { filter, position, limit: 7 });
	assert.equal(page.matched, wanted.length);
	got.push(...page.events);
	if (!page.cut) break;
	position = page.next_position;
}
assert.equal(got.length, wanted.length);
for (const [i, e] of got.entries()) {
	const { meta, ...payload } = wanted[i];
	assert.equal(e.event, meta.event);
	assert.equal(e.time, meta.time);
	assert.deepEqual(e.payload, payload);
}
const one = await tool('get_event', { row: got[0].row });
assert.equal(one.time_ns, got[0].time_ns);
assert.deepEqual(one.payload, got[0].payload);
assert.match(one.provider_guid, /^[0-9a-f-]{36}$/);
// Stacks: as many frames as dump has; the roots of the tree have all that have one.
const withStacks = dump('--stacks', net).filter((e) => e.meta.stack);
const kinds = new Map();
for (const e of withStacks) kinds.set(e.meta.event, (kinds.get(e.meta.event) ?? 0) + 1);
const rare = [...kinds].filter(([, n]) => n > 1 && n < 40).sort((a, b) => b[1] - a[1])[0];
const deep = withStacks.filter((e) => e.meta.event === rare[0]);
const found = (await call('find_events', { filter: `event == "${rare[0]}"`, limit: 500, payload: false })).events.filter((e) => e.stack);
assert.equal(found.length, deep.length);
for (const i of [0, deep.length - 1]) {
	assert.equal(found[i].time, deep[i].meta.time);
	const { stack_frames } = await call('get_event', { row: found[i].row });
	assert.equal(stack_frames.length, deep[i].meta.stack.length);
	for (const [k, f] of stack_frames.entries()) {
		const said = deep[i].meta.frames[k]; // module+0x12, or an address
		assert.ok(said.startsWith('0x') || f.split('!')[0] === said.split('+')[0].split('!')[0], `${f} is ${said}`);
	}
}
for (const inverted of [false, true]) {
	const whole = await call('stacks', { filter: `event == "${rare[0]}"`, inverted, min_percent: 0, max_nodes: 5000 });
	const sum = (list) => list.reduce((a, n) => a + n.total, 0);
	if (!whole.cut) assert.equal(sum(whole.nodes.filter((n) => n.parent === undefined)), deep.length);
}
// A file that describes its events itself, in events of its own.
const own = await call('find_events', { files: [`${corpus}/monogame-samples/PerfViewData.etl`], limit: 500 });
assert.ok(own.events.length > 0);
// Two files as one, by their short names.
const both = await call('open_trace', { files: [net, 'perfview/primitive-types.etl'] });
assert.equal(both.events, all.length + dump(primitive).length);
const last = await call('find_events', { files: [net, primitive], position: both.events - 1 });
for (const e of [...last.events, ...(await call('find_events', { files: [net, primitive], limit: 5 })).events]) {
	const whole = await call('get_event', { files: [net, primitive], row: e.row });
	for (const key of ['row', 'time_ns', 'provider', 'event', 'pid', 'tid', 'cpu', 'payload']) assert.deepEqual(whole[key], e[key], key);
}
await wrong('get_event', { files: [net, primitive], row: 5 * 2 ** 40 }, /there is no row/);

// Traces are resources, whose text is the overview; a path may have any byte.
const { resources } = await client.listResources();
assert.deepEqual(resources.map((r) => decodeURIComponent(r.uri.slice('openetw://'.length))), there.traces.map((t) => t.file));
const { contents } = await client.readResource({ uri: resources[0].uri });
const { providers: listed } = await call('overview', { files: [net] });
assert.deepEqual(JSON.parse(contents[0].text).providers, listed);
assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
await assert.rejects(client.readResource({ uri: 'openetw:///etc/passwd' }), /there is no trace/);
const { prompts } = await client.listPrompts();
assert.ok(prompts.length >= 4);
for (const p of prompts) {
	const said = await client.getPrompt({ name: p.name, arguments: { trace: 'web "1".etl' } });
	assert.match(said.messages[0].content.text, /the trace web "1"\.etl/);
	assert.match((await client.getPrompt({ name: p.name })).messages[0].content.text, /the trace[^ ]|the trace [^w]/);
}

// Times, in each of the ways to write them.
const half = Math.floor((opened.first_ns + opened.last_ns) / 2);
const first = await call('find_events', { to: half, limit: 1 }), second = await call('find_events', { from: half + 1, limit: 1 });
assert.equal(first.matched + second.matched, all.length);
assert.equal((await call('find_events', { to: `${half}ns`, limit: 1 })).matched, first.matched);
assert.equal((await call('find_events', { from: opened.start, limit: 1 })).matched,
	(await call('find_events', { from: 0, limit: 1 })).matched);
await wrong('find_events', { from: 'soon' }, /'from' is no time/);
await wrong('find_events', { from: 10, to: 5 }, /nothing between/);

const schema = await tool('provider_schema', { provider: 'Microsoft-Windows-DotNETRuntime', event: got[0].event });
assert.deepEqual(schema.events[0].fields.map((f) => f.name), Object.keys(got[0].payload));
await wrong('provider_schema', { provider: 'Microsoft-Windows-DotNETRuntim' }, /did you mean 'Microsoft-Windows-DotNETRuntime/);

const stacks = await tool('stacks', { min_percent: 5, max_nodes: 20 });
if (stacks.nodes.length) {
	assert.ok(stacks.nodes.length <= 20);
	const known = new Set();
	for (const n of stacks.nodes) {
		assert.ok(n.parent === undefined || known.has(n.parent));
		known.add(n.node);
		assert.ok(n.self <= n.total);
	}
}
const same = await tool('compare', { other_files: [net], by: 'provider' });
assert.equal(same.first.matched, same.other.matched);
for (const d of same.differences) assert.equal(d.first_events, d.other_events);
const halves = await call('compare', { to: half, other_from: half + 1, by: 'type', limit: 1000 });
assert.equal(halves.first.matched + halves.other.matched, all.length);
// A side that has more kinds than are counted says that it does not know, not that there are none.
const crowd = await call('compare', { by: 'field', field: 'MethodID', other_from: '11s', other_to: '11.2s', limit: 1000 });
const unlisted = crowd.differences.filter((d) => d.first_events === null);
assert.ok(crowd.cut && /null/.test(crowd.how_to_go_on) && unlisted.length > 0);
for (const d of crowd.differences) assert.ok(d.first_events !== 0 && (d.first_per_second === null) === (d.first_events === null), d.name);
assert.ok((await call('find_events', { filter: `MethodID == ${unlisted[0].name}`, limit: 1 })).matched >= unlisted[0].other_events);
await wrong('compare', { by: 'field' }, /which one/);
// Call trees: a trace does not differ from itself; of two halves each node has its callers, and weighs as much as stacks says.
for (const n of (await call('compare', { by: 'stacks', other_files: [net] })).nodes) {
	assert.ok(n.first_total === n.other_total && n.first_self === n.other_self && n.difference_per_second === 0, n.function);
}
const trees = await call('compare', { by: 'stacks', to: half, other_from: half + 1, limit: 40 });
assert.ok(trees.nodes.length > 10 && trees.nodes.length <= 40 && trees.cut);
const placed = new Map();
for (const n of trees.nodes) {
	assert.ok(n.parent === undefined || placed.has(n.parent));
	placed.set(n.node, n);
	if (n.parent !== undefined) assert.ok(n.first_total <= placed.get(n.parent).first_total && n.other_total <= placed.get(n.parent).other_total);
}
const heavy = await call('stacks', { to: half, min_percent: 0.1, max_nodes: 5000 });
const [root] = trees.nodes.filter((n) => n.parent === undefined).sort((x, y) => y.first_total - x.first_total); // the tool shows the heavy ones
assert.equal(heavy.nodes.filter((x) => x.parent === undefined && x.function === root.function).reduce((sum, x) => sum + x.total, 0), root.first_total);

// Durations: what openetw diff says of the same two traces.
const durations = await call('compare', { other_files: [primitive], table: 'spans', limit: 1000 });
const spans = dump2('diff', '--json', '--table', 'spans', '--columns', 'sum(duration),count,p99(duration)', net, primitive);
assert.ok(spans.length > 0);
const lineOf = (l) => JSON.stringify([l.group, l.column, l.base, l.new]);
for (const l of spans) assert.ok(durations.lines.some((x) => lineOf(x) === lineOf(l)), lineOf(l));
const grown = await call('compare', { files: [primitive], other_files: [net], table: 'samples', limit: 3 });
assert.equal(grown.lines[0].group.process_name !== undefined && grown.lines[0].new > 1000, true);
const part_ = await call('compare', { other_files: [net], table: 'io', group_by: 'operation', to: half, limit: 1000 });
for (const l of part_.lines) assert.ok(Object.keys(l.group).join() === 'operation' && l.base === l.new);
await wrong('compare', { table: 'spans' }, /other_files/);
await wrong('compare', { table: 'spans', other_files: [net, primitive] }, /one trace/);
await wrong('compare', { table: 'spans', other_files: [net], by: 'type' }, /group_by instead/);
// Two times of one trace: what report says of each.
const cut_ = Math.floor(half / 100) * 100;
const later = await call('compare', { table: 'samples', group_by: 'process_name', to: cut_, other_from: cut_ + 100, other_to: opened.last_ns + 100, limit: 1000 });
const samplesOf = (...range) => new Map(dump2('report', '--json', '--table', 'samples', '--group-by', 'process_name', '--columns', 'count', ...range, net)
	.map((l) => [l.process_name, l.count]));
const before_ = samplesOf(`--to=+${cut_}ns`), after_ = samplesOf(`--from=+${cut_ + 100}ns`);
assert.ok(later.lines.length >= before_.size && before_.size > 0 && after_.size > 0);
for (const l of later.lines) {
	assert.equal(l.base ?? undefined, before_.get(l.group.process_name));
	assert.equal(l.new ?? undefined, after_.get(l.group.process_name));
}
await wrong('compare', { table: 'spans', other_files: ['/etc/passwd'] }, /there is no trace/);
await wrong('compare', { group_by: 'pid' }, /together with/);

const reports = await tool('report');
assert.ok(reports.names.some((n) => n.name === 'longest-waits'));
const summary = await call('report', { name: 'summary', top: 3 });
assert.ok(summary.lines.length > 0 && summary.lines.every((l) => typeof l === 'object'));
await wrong('report', { name: 'no-such' }, /there is no question/);
assert.ok((await tool('sql_tables')).event_tables.some((t) => t.table === `Microsoft-Windows-DotNETRuntime/${got[0].event}`));

// SQL, where DuckDB is.
called.add('sql').add('waits');
const probe = await client.callTool({ name: 'sql', arguments: { query: 'select 1 as x' } }, undefined, { timeout: 200000 });
if (probe.isError) {
	assert.match(probe.content[0].text, /npm install --ignore-scripts/);
	console.log('without DuckDB: sql is not tested');
} else {
	const sql = async (query, more = {}) => (await call('sql', { query, ...more })).results;
	assert.deepEqual((await sql('select 1 as x, \'a\nb\' as y, null, [1, 2], true'))[0].rows, [[1, 'a\nb', null, [1, 2], true]]);
	assert.equal((await sql('select count(*) from events'))[0].rows[0][0], all.length);
	assert.equal((await sql('select 1; select 2')).length, 2);
	const cut = (await sql('select * from events', { max_rows: 5 }))[0];
	assert.equal(cut.rows.length, 5);
	assert.ok(cut.cut && /max_rows/.test(cut.how_to_go_on));
	const wide = (await sql('select repeat(\'x\', 1000) from events', { max_rows: 5000 }))[0];
	assert.ok(wide.cut && JSON.stringify(wide).length < 60000);
	// So is a single value that is too long, in the first row too; and many results are.
	const long = (await sql(`select repeat('x', 5000000), 7, repeat('"', 100000), repeat('\u00e9', 100000)`))[0];
	assert.ok(JSON.stringify(long).length < 60000 && long.cut && /substr/.test(long.how_to_go_on));
	assert.equal(long.rows[0][1], 7);
	for (const [i, each] of [[0, 'x'], [2, '"'], [3, '\u00e9']]) {
		assert.ok(long.rows[0][i].length > 1000 && long.rows[0][i] === each.repeat(long.rows[0][i].length), each);
	}
	const results = await call('sql', { query: 'select 1;'.repeat(3000) });
	assert.ok(JSON.stringify(results).length < 60000 && results.cut && /fewer statements/.test(results.how_to_go_on));
	assert.ok(results.results.length > 100 && results.results.every((r) => r.rows[0][0] === 1));
	// An answer is JSON however long it would be: a part of this one ends as if it were whole.
	for (const n of [0, 1, 2]) {
		const long = { query: `select repeat('z', ${n}) || repeat('"}', 25000000) as a` };
		await client.callTool({ name: 'sql', arguments: long }, undefined, { timeout: 60000 });
	}
	const columns = (await call('sql_tables', { table: 'waits' })).results[0].rows.map((r) => r[0]);
	assert.ok(columns.includes('waker_tid') && columns.includes('duration'));
	await wrong('sql', { query: 'select * from event' }, /event/);
	await wrong('sql', { query: "select * from read_csv('/etc/passwd')" }, /disabled|denied|not allowed|Permission/i);
	const waits = await call('waits', { max_rows: 5, by: 'waker' });
	assert.ok(waits.results[0].columns.includes('woken_by'));
	for (const by of ['longest', 'thread', 'stack']) await call('waits', { by, min_ms: 0.5, process: "o'clock", max_rows: 3 });
	assert.ok((await call('report', { name: 'events-by-type' })).results[0].rows.length > 0);
	// A query that never ends is cancelled, and the next one is answered; nothing of the first comes.
	const stop = new AbortController();
	const endless = 'with recursive t(x) as (select 1 union all select x + 1 from t where x > 0) select count(*) from t';
	const stopped = client.callTool({ name: 'sql', arguments: { query: endless } }, undefined,
		{ signal: stop.signal, timeout: 200000 });
	setTimeout(() => stop.abort('enough'), 500);
	await assert.rejects(stopped);
	assert.equal((await sql('select 7'))[0].rows[0][0], 7);
	// A call that takes long says that it is worked on, if the client wants to know.
	const told = [];
	const long_ = new AbortController();
	await assert.rejects(client.callTool({ name: 'sql', arguments: { query: endless } }, undefined, {
		signal: long_.signal, timeout: 200000, resetTimeoutOnProgress: true,
		onprogress: (p) => { told.push(p.progress); if (told.length === 2) long_.abort('enough'); },
	}));
	assert.ok(told.length >= 2 && told[1] > told[0]);
	// The process of the tools is killed in the middle of a call, and between two.
	const server = client.transport.pid;
	const worker = () => Number(readFileSync(`/proc/${server}/task/${server}/children`).toString().trim().split(' ')[0]);
	setTimeout(() => process.kill(worker(), 'SIGKILL'), 500);
	await wrong('sql', { query: endless }, /the process that worked on this call ended/);
	assert.equal((await sql('select 8'))[0].rows[0][0], 8);
	process.kill(worker(), 'SIGKILL');
	assert.equal((await call('open_trace').catch(() => call('open_trace'))).events, all.length);
	// A call that takes too long ends.
	const hasty = new Client({ name: 'tests', version: '1' });
	await hasty.connect(new StdioClientTransport({
		command: openetw, args: ['mcp', primitive, '--timeout', '1'], env: { ...process.env }, stderr: 'inherit',
	}));
	const late = await hasty.callTool({ name: 'sql', arguments: { query: endless } }, undefined, { timeout: 200000 });
	assert.ok(late.isError);
	assert.match(late.content[0].text, /took longer than the server allows/);
	await hasty.close();
}
// Several calls at once are all answered, one that waits can be cancelled.
const many = await Promise.all([1, 2, 3, 4, 5].map((limit) => call('find_events', { limit })));
assert.deepEqual(many.map((m) => m.events.length), [1, 2, 3, 4, 5]);

// Mistakes say what to do.
await wrong('find_events', { filter: 'provider = = x' }, /column 12: a value is expected/);
await wrong('find_events', { filter: 'Name =~ /(/' }, /column/);
// A name that nothing has may be that of a field: the answer is empty, and says what comes near.
assert.match((await call('find_events', { filter: 'providr == x' })).notes, /no property 'providr'; did you mean 'provider'/);
assert.match((await call('overview', { filter: 'AllocationKnd == 7' })).notes, /no event with a field 'AllocationKnd'; did you mean 'AllocationKind'/);
// Long notes lose their end, not all they say.
const longest = (await call('find_events', { filter: `${'x'.repeat(20000)} == 1`, limit: 1 })).notes;
assert.ok(longest.startsWith('there is no event with a field \'xxx') && longest.endsWith('...'), longest.slice(0, 200));
await wrong('find_events', { fliter: 'x' }, /did you mean 'filter'/);
await wrong('find_events', { limit: 0 }, /from 1 to 500/);
await wrong('find_events', { limit: 1e300 }, /from 1 to 500/);
await wrong('find_events', { limit: '5' }, /whole number/);
await wrong('find_events', { files: [] }, /array/);
await wrong('find_events', { files: ['/etc/passwd'] }, /list_traces/);
await wrong('get_event', {}, /needs the argument 'row'/);
await wrong('get_event', { row: 1e9 }, /there is no row 1000000000: the trace has \d+/);
await wrong('find_events', { files: [`${corpus}/README.md`] }, /README.md/);
await assert.rejects(client.callTool({ name: 'owerview', arguments: {} }), /did you mean 'overview'/);

if (has('export')) {
	await call('export', { kind: 'csv', name: 'net.csv', filter });
	await call('export', { kind: 'json', name: 'part.jsonl', from: half, to: `${opened.last_ns}ns` });
	assert.equal(readFileSync(`${exports_}/part.jsonl`).toString().trim().split('\n').length,
		(await call('find_events', { from: half, limit: 1 })).matched);
	await wrong('export', { kind: 'csv', name: 'net.csv' }, /already/);
	await wrong('export', { kind: 'csv', name: '../net.csv' }, /without a folder/);
	await wrong('export', { kind: 'cvs', name: 'x' }, /one of/);
}
// Of several files none is left out silently; archives that were unpacked go when their traces are closed.
const folder = mkdtempSync(`${exports_}/traces`);
copyFileSync(primitive, `${folder}/a.etl`);
copyFileSync(primitive, `${folder}/b.etl`);
for (let i = 0; i < 9; i++) writeFileSync(`${folder}/${i}.etl.gz`, gzipSync(readFileSync(primitive)));
const fickle = new Client({ name: 'tests', version: '1' });
const fickleEnd = new StdioClientTransport({
	command: openetw, args: ['mcp', `${folder}/a.etl`, `${folder}/b.etl`, '--root', folder], env: { ...process.env }, stderr: 'inherit',
});
await fickle.connect(fickleEnd);
const open = (files) => fickle.callTool({ name: 'open_trace', arguments: files ? { files } : {} }, undefined, { timeout: 200000 });
const once = dump(primitive).length;
assert.equal((await open()).structuredContent.events, 2 * once);
if (!(await open(['0.etl.gz'])).isError) { // this build reads archives
	for (let i = 0; i < 9; i++) assert.equal((await open([`${i}.etl.gz`, '0.etl.gz'])).structuredContent.events, 2 * once);
	const worker = readFileSync(`/proc/${fickleEnd.pid}/task/${fickleEnd.pid}/children`).toString().trim().split(' ')[0];
	const unpacked = readdirSync(`/proc/${worker}/fd`).map((fd) => {
		try { return readlinkSync(`/proc/${worker}/fd/${fd}`); } catch { return ''; }
	}).filter((to) => /\/#\d+ \(deleted\)|memfd:trace/.test(to));
	assert.ok(new Set(unpacked).size > 0 && new Set(unpacked).size <= 5, unpacked.join(' '));
}
unlinkSync(`${folder}/b.etl`);
const part = await open();
assert.ok(part.isError);
assert.match(part.content[0].text, /cannot open .*b\.etl: No such file/);
await fickle.close();

// More traces than one page has room for: each comes once, in the tool's order and the resources'.
const crowd_ = mkdtempSync(`${exports_}/crowd`);
for (let i = 0; i < 701; i++) writeFileSync(`${crowd_}/${i}.etl`, '');
const paged = new Client({ name: 'tests', version: '1' });
await paged.connect(new StdioClientTransport({
	command: openetw, args: ['mcp', '--root', crowd_, '--max-answer', '8'], env: { ...process.env }, stderr: 'inherit',
}));
const uris = [], files_ = [];
let pages = 0, cursor;
do {
	const page = await paged.listResources(cursor ? { cursor } : {});
	assert.ok(page.resources.length > 0);
	uris.push(...page.resources.map((r) => decodeURIComponent(r.uri.slice('openetw://'.length))));
	cursor = page.nextCursor;
	pages++;
} while (cursor);
assert.ok(pages > 3);
assert.equal(new Set(uris).size, 701);
for (let position = 0; position !== undefined;) {
	const page = (await paged.callTool({ name: 'list_traces', arguments: { position, limit: 50 } })).structuredContent;
	assert.ok(page.shown > 0 && page.shown <= 50 && page.there_are === 701 && page.cut === (page.next_position !== undefined));
	files_.push(...page.traces.map((t) => t.file));
	position = page.next_position;
}
assert.deepEqual(files_, uris);
await paged.close();

// Small answers: all of it comes, piece by piece, and no answer is much longer than it may be.
const small = new Client({ name: 'tests', version: '1' });
await small.connect(new StdioClientTransport({
	command: openetw, args: ['mcp', net, '--max-answer', '4'], env: { ...process.env }, stderr: 'inherit',
}));
let pieces = 0, events = 0;
for (let position = 0; events < 300; pieces++) {
	const r = await small.callTool({ name: 'find_events', arguments: { position, limit: 500 } });
	assert.ok(r.content[0].text.length < 4096 + 3000 && r.structuredContent.shown > 0);
	events += r.structuredContent.shown;
	position = r.structuredContent.next_position;
	assert.equal(position, events);
}
assert.ok(pieces > 10);
for (const name of ['overview', 'stacks', 'compare', 'sql_tables']) {
	const r = await small.callTool({ name, arguments: {} });
	assert.ok(!r.isError, r.content[0].text);
	assert.ok(r.content[0].text.length < 4096 + 3000 && r.structuredContent.how_to_go_on !== '', name);
	assert.equal(r.structuredContent.cut, r.structuredContent.how_to_go_on !== undefined, name);
}
await small.close();

for (const t of tools) assert.ok(called.has(t.name), `${t.name} was not called`);
await client.close();
console.log(`${tools.length} tools called`);
