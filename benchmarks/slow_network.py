"""A network with latency: a proxy in a process of its own, which delays both directions."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

BLOCK = 64 * 1024


@contextmanager
def between(port: int, seconds: float) -> Iterator[int]:
    """Yield a port on 127.0.0.1 behind which `port` is, with so many seconds for a round trip."""
    words = [sys.executable, "-m", "benchmarks.slow_network", str(port), str(seconds)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


async def _serve(port: int, seconds: float) -> None:
    answer = functools.partial(_pass_on, port, seconds / 2)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _pass_on(
    port: int, delay: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    # The handshake of TCP is over by now, and over a network it would have taken a round trip.
    await asyncio.sleep(2 * delay)
    there, back = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(_later(reader, back, delay), _later(there, writer, delay))


async def _later(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Write what is read after a delay, while the next is read already."""
    loop = asyncio.get_running_loop()
    try:
        while block := await reader.read(BLOCK):
            loop.call_later(delay, writer.write, block)
    except ConnectionError:
        pass
    loop.call_later(delay, writer.close)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
