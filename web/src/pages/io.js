// SPDX-License-Identifier: MIT
// Disks and files: who, which file, how long.
import { html } from '../ui.js';
import { TablePage } from './tablepage.js';
import { CounterChart } from '../widgets/chart.js';

const durations = 'count,sum(bytes),sum(duration),p50(duration),p99(duration),max(duration),errors(status)';
const rows = 'start,duration,operation,process_name,pid,tid,file,bytes,offset,status,stack';
const views = [
	{ id: 'disk', title: 'Disks', table: 'io', where: 'layer == disk', by: [['process and operation', 'process_name,pid,operation', `${durations},max(queue)`], ['file', 'file', `${durations},max(queue)`], ['disk', 'disk,operation', `${durations},max(queue)`]], rows: `${rows},queue`, sort: 'duration', one: 'request' },
	{ id: 'files', title: 'Files', table: 'io', where: 'layer == file', by: [['process and operation', 'process_name,pid,operation', durations], ['file', 'file', durations], ['operation', 'operation', durations]], rows, sort: 'duration', one: 'operation' },
	{ id: 'sums', title: 'Sums by file', table: 'files', by: [['file', 'file', 'sum(reads),sum(writes),sum(bytes_read),sum(bytes_written),sum(disk_reads),sum(disk_writes),sum(disk_time)']], one: 'file', example: 'reads > 10' },
];

export default function Io() {
	return html`<${TablePage} title="Disk and files" views=${views} top=${html`<${CounterChart} list=${['disk_bytes', 'disk_queue', 'file_bytes']} />`} />`;
}
