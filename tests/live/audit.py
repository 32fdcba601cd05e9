"""Which live rows of the storage registry matter: bits of each are flipped in busy programs until one changes
the output, the time or the end of the program.

    audit.py HEDDLE KERNELS MACHINE [--tries N] [--rows REGEX] [--seed S]

A row that changes nothing in N flips (1,000) of entries in use, at random times, must be one of those that
'heddle machines MACHINE --storage' lists as not seen to act, and the other way round. Each try is a process that is forked from the
run without faults (heddle inject), so that it is compared exactly. Machines are small ones of their kind, so
that their queues are full and their caches miss.
"""
import argparse
import csv
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

FIRST = 40  # flips of each row in each program at first; most rows need no more
BATCH = 500
MOST_BATCHES = 3
N = 32  # rows of matrices

SMALL = ("gpu.cores=1 l2.channels=1 l2.sets=2 l2.ways=2 l2.mshrs=16 l2.queue_in=4 l2.queue_out=4 l2.queue_dram=4 "
         "network.flit_bytes=8 network.input_packets=2 network.output_packets=4 network.buffer_flits=8 "
         "dram.queue=8 l1d.sets=8 l1d.ways=4 icache.sets=1 icache.ways=4 constant.sets=1 core.warps=16").split()
MACHINES = {
    "gtx480": ("ptx", SMALL),
    "gtx1080ti": ("ptx", SMALL),
    "miaow": ("clang14.so", []),
}
MATRIX, OUT = "in:a.bin", "out:y.bin:%d" % (4 * N * N)
PROGRAMS = [
    ("scan", "matmul16", "2,2", "16,16", (MATRIX, MATRIX, OUT, "u32:%d" % N)),
    ("reduce", "prefix", "4", "128", (MATRIX, "out:y.bin:2048")),
    ("math", "exact32", "3", "128", (MATRIX, MATRIX, "out:y.bin:18432", "u32:384")),
    ("math", "math32", "3", "128", (MATRIX, "out:y.bin:36864", "u32:384")),
    ("loops", "mandelbrot", "2,2", "16,16", (OUT, "u32:%d" % N, "u32:%d" % N, "f32:-2", "f32:-1", "f32:0.06",
                                             "u32:40")),
    ("sha", "sha256", "1", "64", (MATRIX, "out:y.bin:2048")),
]


def storage(heddle, machine, settings):
    words = [word for setting in settings for word in ("--set", setting)]
    return json.loads(subprocess.check_output([heddle, "machines", machine, "--storage", "--json", *words]))


class Audit:
    def __init__(self, heddle, kernels, machine, seed):
        self.heddle, self.kernels, self.machine, self.seed = heddle, kernels, machine, seed
        self.form, self.settings = MACHINES[machine]

    def effects(self, row, program, tries, seed):
        """How many of these flips change something, and how many hit an entry that was in use."""
        file, kernel, grid, block, arguments = program
        words = [word for setting in self.settings for word in ("--set", setting)]
        for argument in arguments:
            words += ["--arg", argument]
        done = subprocess.run(
            [self.heddle, "inject", os.path.join(self.kernels, "%s.%s" % (file, self.form)), "--kernel", kernel, "--grid",
             grid, "--block", block, "--machine", self.machine, "--structures", "^%s$" % re.escape(row), "--faults",
             str(tries), "--seed", str(seed), "--audit", "0.01%", "--out", "faults", *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode:
            sys.exit("%s: %s" % (row, done.stderr))
        with open("faults/faults.csv", newline="", encoding="utf-8") as text:
            faults = list(csv.DictReader(text))
        shutil.rmtree("faults")
        return (sum(fault["outcome"] not in ("masked", "gray") for fault in faults),
                sum(fault["decided"] != "unused" for fault in faults))

    def acts(self, row, tries):
        """Whether one does, and how many hit an entry in use."""
        total = 0
        for count in (FIRST, BATCH):
            for program in PROGRAMS:
                effects, used = self.effects(row, program, count, self.seed)
                total += used
                if effects:
                    return True, total
        for seed in range(self.seed + 1, self.seed + MOST_BATCHES):
            for program in PROGRAMS:
                if total >= tries:
                    return False, total
                effects, used = self.effects(row, program, BATCH, seed)
                total += used
                if effects:
                    return True, total
        return False, total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("kernels")
    parser.add_argument("machine", choices=MACHINES)
    parser.add_argument("--tries", type=int, default=1000)
    parser.add_argument("--rows", default="")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    audit = Audit(os.path.abspath(arguments.heddle), os.path.abspath(arguments.kernels), arguments.machine,
                  arguments.seed)
    rows = storage(audit.heddle, audit.machine, audit.settings)["rows"]
    random.seed(1)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="heddle-audit-") as folder:
        os.chdir(folder)
        with open("a.bin", "wb") as data:
            data.write(b"".join(struct.pack("<f", 1 + random.random()) for _ in range(N * N)))
        for row in rows:
            name = "%s.%s" % (row["unit"], row["name"])
            if not re.search(arguments.rows, name) or row["class"] == "counted":
                continue
            (acts, used), listed = audit.acts(name, arguments.tries), row["class"] == "unseen"
            if acts and listed:
                print("%s: %s acts, but is listed as not seen to act" % (audit.machine, name), flush=True)
            elif not acts and not listed:
                print("%s: %s: no effect in %d flips of entries in use%s" %
                      (audit.machine, name, used, "" if used >= arguments.tries else ", which are too few to tell"),
                      flush=True)
            bad += acts == listed and (acts or used >= arguments.tries)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
