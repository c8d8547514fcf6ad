"""Says that it is ready, and then neither reads nor answers."""

import signal

print('{"type":"ready"}')
while True:
    signal.pause()
