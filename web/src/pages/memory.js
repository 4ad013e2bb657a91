// SPDX-License-Identifier: MIT
// Memory: faults, what was taken, what was not given back.
import { html } from '../ui.js';
import { TablePage } from './tablepage.js';
import { CounterChart } from '../widgets/chart.js';

const views = [
	{ id: 'faults', title: 'Page faults', table: 'faults', by: [['process and kind', 'process_name,pid,kind', 'count,sum(bytes)'], ['file', 'file,kind', 'count,sum(bytes)'], ['thread', 'process_name,tid,kind', 'count,sum(bytes)']], rows: 'time,kind,process_name,pid,tid,address,file,bytes,stack', one: 'fault', example: 'kind == hard' },
	{ id: 'taken', title: 'Taken and given back', table: 'memory', by: [['process and operation', 'process_name,pid,operation', 'count,sum(bytes),count(freed)'], ['call stack', 'process_name,stack,operation', 'count,sum(bytes),count(freed)']], rows: 'time,operation,process_name,pid,tid,address,bytes,freed,stack', sort: 'bytes', one: 'operation', example: 'bytes > 1M' },
	{ id: 'left', title: 'Not given back', table: 'memory', where: 'operation in ("virtual alloc", "virtual commit", "heap alloc", "heap realloc") and not freed', by: [['process', 'process_name,pid,operation', 'sum(bytes),count'], ['call stack', 'process_name,pid,stack', 'sum(bytes),count']], rows: 'time,operation,process_name,pid,address,bytes,stack', sort: 'bytes', one: 'block' },
];

export default function Memory() {
	return html`<${TablePage} title="Memory" views=${views} top=${html`<${CounterChart} list=${['faults']} />`} />`;
}
