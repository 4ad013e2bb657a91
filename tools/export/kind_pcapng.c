/* SPDX-License-Identifier: MIT
 * Packets, as the verb pcapng writes them, of a selection and with the names of processes.
 */
#include "tools/export/export.h"
#include "tools/export/pcapng.h"

static bool begin(struct export *x)
{
	struct pcapng *p = x->own; /* learn() made it when there are records */
	x->own = p = p ? p : pcapng_create();
	return p ? pcapng_begin(p, x->f) || export_fail(x, errno ? errno : EIO) : export_fail(x, ENOMEM);
}

static void learn(struct export *x, const EVENT_RECORD *e)
{
	x->own = x->own ? x->own : pcapng_create();
	if (x->own) {
		pcapng_learn(x->own, e);
	}
}

static bool event(struct export *x, const struct export_event *e)
{
	bool packet;
	errno = 0;
	if (!pcapng_event(x->own, e->record, e->who->process, &packet)) {
		return export_fail(x, errno ? errno : EIO);
	}
	if (!packet) {
		export_miss(x, "events that are no packets: left out");
	}
	return true;
}

static bool end(struct export *x)
{
	const struct pcapng_counts *n = pcapng_counts(x->own);
	if (n->packets + n->broken == 0) {
		fprintf(stderr,
			"openetw %s: no packets are selected: 'openetw record --packets', 'netsh trace start "
			"capture=yes' "
			"or 'pktmon start --capture' record them\n",
			x->args->command->name);
		return export_fail(x, ENODATA);
	}
	long at = fflush(x->f) == 0 ? ftell(x->f) : -1;
	x->bytes = at > 0 ? (uint64_t)at : n->octets;
	x->written = n->packets;
	export_miss_n(x, "packets that are not whole in the trace: left out", n->broken);
	return !ferror(x->f) || export_fail(x, EIO);
}

static void finish(struct export *x)
{
	pcapng_destroy(x->own);
	x->own = NULL;
}

const struct export_kind export_pcapng = {
	.name = "pcapng",
	.what = "the packets, for Wireshark; a comment at each names its process",
	.suffix = ".pcapng",
	.cannot = "all events that are no packets",
	.needs = EXPORT_LEARN,
	.binary = true,
	.begin = begin,
	.learn = learn,
	.event = event,
	.end = end,
	.finish = finish,
};
