#!/usr/bin/env python3
"""On a terminal, a long launch of an OpenCL program shows its share of blocks: check_progress.py HEDDLE"""
import os
import pty
import re
import signal
import sys
import time

LIMIT = 60  # seconds
SHARE = re.compile(rb"(\d+) of (\d+) blocks \((\d+) %\), \d[\d.]*(?: [kMG])? cycles, \d+ s elapsed, about \d+ s left")

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "--machine", "gtx480", "--workload", "dxt"])
text, end = b"", time.monotonic() + LIMIT
while time.monotonic() < end and len(set(SHARE.findall(text))) < 2:
    try:
        text += os.read(terminal, 65536)
    except OSError:  # the end of the program
        break
os.kill(pid, signal.SIGTERM)
shares = SHARE.findall(text)
try:
    while os.read(terminal, 65536):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
right = all(abs(100 * int(done) / int(total) - int(share)) <= 1 for done, total, share in shares)
if len(set(shares)) < 2 or not right:
    sys.exit(f"no share of blocks that grows: {text[-2000:]!r}")
