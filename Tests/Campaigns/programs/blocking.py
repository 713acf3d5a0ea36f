#!/usr/bin/python3
"""Fetches numbered files and checks them, with the blocking client.

    blocking.py URL DIRECTORY COUNT
"""

import sys

import files
import xfer

url, directory, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with xfer.Client() as client:
    tasks = client.add_all(
        [
            {"url": f"{url}/{name}", "output": name, "client_key": f"campaign {name}"}
            for name in files.names(count)
        ],
        dir=directory,
    )
    for record in client.wait_all(tasks):
        if record.state != "completed":
            print(f"#{record.id} is {record.state}: {record.error and record.error.message}")
sys.exit(files.report(directory, count))
