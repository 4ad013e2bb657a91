// SPDX-License-Identifier: MIT
// ctf.mjs TEXT DUMP SUMMARY: what "babeltrace2 --clock-seconds" prints is what dump says.
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { dump, fail, fields, sample, same, ticks } from "./lib.mjs";

const [file, dumped, summaryFile] = process.argv.slice(2);
const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
const wanted = await dump(dumped);
const got = [];
for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
	got.push(line);
}
same("written", summary.eventsWritten, got.length);
same("events", got.length, wanted.length);
// Times never go back in a stream: those that did are written as the one before them.
let last = 0n;
const times = wanted.map((w) => (last = ticks(w.meta.time) > last ? ticks(w.meta.time) : last));
let checked = 0;
for (const i of sample(wanted.length)) {
	const w = wanted[i];
	const m = /^\[(\d+)\.(\d{9})\] \([^)]*\) (.*?): \{ (.*?) \}, \{ ?(.*?) ?\}$/.exec(got[i]) ?? fail(`line ${i}: ${got[i]}`);
	same(`time of ${i}`, m[1] + m[2], (times[i] * 100n).toString());
	same(`name of ${i}`, m[3], `${w.meta.provider}:${w.meta.event}`);
	const unknown = 2 ** 32 - 1;
	const context = `cpu_id = ${w.meta.cpu}, pid = ${w.meta.pid ?? unknown}, tid = ${w.meta.tid ?? unknown}, process = "${w.meta.process ?? ""}"`;
	if (!m[4].startsWith(context)) {
		fail(`context of ${i}: ${m[4]}, wanted ${context}`);
	}
	const text = ", " + m[5] + ",";
	for (const [name, v] of Object.entries(fields(w))) {
		const shown = typeof v === "number" ? String(v) : typeof v === "boolean" ? `"${v}"`
			: typeof v === "string" && /^[A-Za-z0-9 .:_/-]*$/.test(v) ? `"${v}"` : null;
		// In place of an empty text babeltrace2 2.0.4 prints what the field had in an earlier event of its class.
		if (v !== "" && shown !== null && Number.isInteger(typeof v === "number" ? v : 0)) {
			checked++;
			const key = name.replace(/[^A-Za-z0-9_]/g, "_");
			if (!text.includes(`, ${key} = ${shown},`)) {
				fail(`field ${name} of ${i}: ${m[5]}, wanted ${shown}`);
			}
		}
	}
}
console.log(`${got.length} events, ${checked} fields compared`);
