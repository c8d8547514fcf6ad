"""Start threads without end."""

import threading

import kit


def attack():
    kept = []
    threading.stack_size(64 << 10)
    try:
        for _ in range(10_000):
            kept.append(threading.Thread(target=threading.Event().wait, daemon=True))
            kept[-1].start()
    except RuntimeError:
        pass
    return len(kept) > 100 and f"{len(kept)} threads"


kit.play(attack)
