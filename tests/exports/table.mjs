// SPDX-License-Identifier: MIT
// table.mjs FILE.parquet DUMP: the rows that hyparquet reads are the events that dump printed of the same selection.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { dump, fail, ticks } from "./lib.mjs";

const [parquet, printed] = process.argv.slice(2);
const require = createRequire(path.join(process.env.EXPORT_MODULES, "node_modules", "x.js"));
const { parquetReadObjects } = await import(pathToFileURL(require.resolve("hyparquet")));

const bytes = readFileSync(parquet);
const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const columns = ["time", "provider", "event", "pid", "tid", "cpu", "id", "opcode"];
const rows = await parquetReadObjects({ file, columns });
const events = await dump(printed);

if (rows.length !== events.length) {
	fail(`${rows.length} rows of ${events.length} events`);
}
// Rows are in no order, and finer than dump's 100 ns: the sorted times go on alike.
const sorted = (a) => a.sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
const inFile = sorted(rows.map((r) => r.time));
const inDump = sorted(events.map((e) => ticks(e.meta.time) * 100n));
for (let i = 0; i < inFile.length; i++) {
	const apart = inFile[i] - inFile[0] - (inDump[i] - inDump[0]);
	if (apart > 200n || apart < -200n) {
		fail(`time ${i} is ${inFile[i]}, which is ${apart} ns off`);
	}
}
const key = (m) => [m.provider, m.event, m.pid ?? "", m.tid ?? "", m.cpu].join(" ");
const counts = new Map();
for (const r of rows) {
	const k = key(r);
	counts.set(k, (counts.get(k) ?? 0) + 1);
}
for (const { meta } of events) {
	const k = key(meta);
	if (!counts.get(k)) {
		fail("the file does not have this event, or not as often: " + k);
	}
	counts.set(k, counts.get(k) - 1);
}
