// SPDX-License-Identifier: MIT
// Connections: who talked to whom. Traces of packets are for programs that read packets.
import { html } from '../ui.js';
import { info, and, go } from '../state.js';
import { TablePage } from './tablepage.js';
import { CounterChart } from '../widgets/chart.js';
import { exportOpen } from '../shell/export.js';
import { plural } from '../text.js';

const views = [
	{ id: 'talk', title: 'Who with whom', table: 'net', by: [['process and peer', 'process_name,pid,protocol,remote', 'count,sum(bytes),errors(status)'], ['peer', 'protocol,remote', 'count,sum(bytes),errors(status)'], ['process', 'process_name,pid', 'count,sum(bytes),errors(status)'], ['operation', 'protocol,operation', 'count,sum(bytes),errors(status)']], rows: 'time,operation,protocol,process_name,pid,tid,local,remote,bytes,status', sort: 'bytes', one: 'operation', example: 'bytes > 1K' },
	{ id: 'wrong', title: 'Retransmits and failures', table: 'net', where: 'operation in (retransmit, fail)', by: [['peer', 'protocol,remote,operation', 'count'], ['process', 'process_name,pid,operation', 'count']], rows: 'time,operation,protocol,process_name,pid,local,remote,status', one: 'operation' },
];

export default function Network() {
	const h = info.value.has;
	if (h.net === 0) {
		return html`<div class="teach"><h1>${plural(h.packets, 'packet')}</h1>
			<p>This trace has whole packets. Wireshark reads them: export the selection as pcapng, each packet with the name of its process.</p>
			<p><button class="main-button" onClick=${() => (exportOpen.value = 'pcapng')}>Export as pcapng</button> <button onClick=${() => go({ page: 'events' })}>Show them as events</button></p></div>`;
	}
	return html`<${TablePage} title="Network" views=${views} top=${html`<${CounterChart} list=${['net_bytes']} />`} />`;
}
