"""Says that it runs, and burns processor time."""

print("running", flush=True)
while True:
    pass
