#!/usr/bin/python3
"""Fetches numbered files and checks them, with asyncio: all of them at once, each added and waited for by itself.

    gathered.py URL DIRECTORY COUNT
"""

import asyncio
import sys

import files
import xfer


async def fetch(client, url, directory, name):
    task = await client.add(f"{url}/{name}", dir=directory, output=name, client_key=f"campaign {name}")
    try:
        await task.wait()
    except xfer.TaskFailedError as error:
        print(f"{name}: {error}")


async def main(url, directory, count):
    async with xfer.AsyncClient() as client:
        await asyncio.gather(*(fetch(client, url, directory, name) for name in files.names(count)))
    return files.report(directory, count)


sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
