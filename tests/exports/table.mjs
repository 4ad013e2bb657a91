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
// Rows are in no order: time 0 is the start of the trace, so the first times are the same moment.
const first = (a) => a.reduce((x, y) => (y < x ? y : x));
const start = rows.length ? first(events.map((e) => ticks(e.meta.time))) * 100n - first(rows.map((r) => r.time)) : 0n;
const key = (time, m) => [time, m.provider, m.event, m.pid ?? "", m.tid ?? "", m.cpu].join(" ");
const counts = new Map();
for (const r of rows) {
	const k = key(r.time + start, r);
	counts.set(k, (counts.get(k) ?? 0) + 1);
}
for (const { meta } of events) {
	const k = key(ticks(meta.time) * 100n, meta);
	if (!counts.get(k)) {
		fail("the file does not have this event, or not as often: " + k);
	}
	counts.set(k, counts.get(k) - 1);
}
