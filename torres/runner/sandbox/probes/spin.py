"""Report the start, then use CPU time without end."""

print("running", flush=True)
while True:
    pass
