"""Become root by a set-uid program."""

import shutil
import subprocess

import kit


def attack():
    programs = [p for p in ("su", "mount", "passwd", "sudo") if shutil.which(p)]
    for program in programs:
        argv = ["/usr/bin/python3", "-c", "import os; print(os.geteuid())"]
        done = subprocess.run([program, "-c", *argv], capture_output=True, check=False)
        if done.stdout.strip() == b"0":
            return program
    with open("/proc/self/status") as file:
        return "NoNewPrivs:\t1" not in file.read()


kit.play(attack)
