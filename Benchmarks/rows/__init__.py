"""The rows of the table, by name, in the order in which they are run."""

from . import active, adds, downloads, exchanges, fleet, page, queue, rates, service, slow

ALL = {
    "big": downloads.big,
    "tls": downloads.tls,
    "small": downloads.small,
    "small-ext4": downloads.small_on_disk,
    "hosts": downloads.hosts,
    "h2": downloads.http2,
    "exchanges": exchanges.exchanges,
    "adds": adds.single,
    "pipelined": adds.pipelined,
    "batches": adds.batches,
    "queued": queue.queued,
    "million": queue.million,
    "steps": queue.steps,
    "rates": rates.rates,
    "slow-server": slow.slow_server,
    "thousand": slow.thousand,
    "watchers": slow.watchers,
    "watch": active.watch,
    "fleet": fleet.fleet,
    "fleet-nodes": fleet.nodes,
    "page": page.page,
    "idle": service.idle,
    "status": service.status,
    "completion": service.completion,
    "kill": service.kill,
    "killed": active.killed,
}
