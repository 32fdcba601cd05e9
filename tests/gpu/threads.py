"""Runs the cases of scripts/golden with one thread and with several: nothing may differ.

    threads.py TREE BUILD COUNT...

The cases are every machine, mechanism and pipeline, kernels and OpenCL programs, faults and limits.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

CASES = ("^(machine|uniform|filter_cache|fetch_locality|darsie|dac_ideal|block_sync|redundancy|waits|"
         "class_cycles|lifetimes|together|core-order|order|demo|cuda|launches|object|outside-object|raw|faults|"
         "deadlock|spin|trace|interval|annotate|energy|warned|rates|miaow-core|turns|counters|other-cache)")
tree, build, *counts = sys.argv[1:]
golden = [sys.executable, str(pathlib.Path(tree) / "scripts/golden")]
with tempfile.TemporaryDirectory(prefix="threads-") as folder:
    for count in ["1", *counts]:
        command = golden + ["record" if count == "1" else "compare", build, folder, "--only", CASES]
        done = subprocess.run(command, env={**os.environ, "HEDDLE_THREADS": count}, check=False,
                              stdout=subprocess.PIPE, encoding="utf-8")
        print(f"threads: {count}\n{done.stdout}", flush=True)
        if done.returncode:
            sys.exit(1)
