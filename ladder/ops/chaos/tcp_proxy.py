"""A TCP proxy that simulates a cut cable: connections stay open, but no data arrive."""

import asyncio
import threading
from contextlib import suppress

CHUNK_BYTES = 64 << 10


class TcpProxy:
    """Forwards a free loopback port to `target`, in a thread, until it is closed."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._connected = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="link")

    def start(self) -> None:
        self._thread.start()
        self._ready.wait()

    def cut(self) -> None:
        """Hold back all data from now on."""
        self._loop.call_soon_threadsafe(self._connected.clear)

    def repair(self) -> None:
        """Forward data again, first those that were held back."""
        self._loop.call_soon_threadsafe(self._connected.set)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._listen())
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _listen(self) -> None:
        self._connected.set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await self._connected.wait()
        try:
            remote = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        remote_reader, remote_writer = remote
        await asyncio.gather(
            self._pump(reader, remote_writer), self._pump(remote_reader, writer)
        )

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._connected.wait()
                writer.write(data)
                await writer.drain()
        writer.close()
