#!/usr/bin/env python3
"""Tasks that Slurm loses: check_slurm_lost.py HEDDLE INPUTS

Slurm's commands are scripts here, so that accounting can be tested where no accounting can run: sbatch takes
jobs and runs none, squeue has an empty queue, sacct says why the tasks ended. Every point is submitted twice,
then fails for that reason.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HEDDLE, INPUTS = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
KERNEL = f"{INPUTS / 'tiny.ptx'} --grid 2 --block 32 --arg zero:4K --arg u32:"
STATES = {"OUT_OF_MEMORY": "memory", "TIMEOUT": "time-out", "NODE_FAIL": "node", "FAILED": "node"}


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-slurm-test-") as name:
        folder = pathlib.Path(name)
        commands = folder / "commands"
        commands.mkdir()
        states = " ".join(STATES)
        for command, text in {
                "sbatch": "[ $1 = --version ] && exit\necho x >> ../submitted; echo $((40 + $(wc -l < ../submitted)))\n",
                "squeue": "exit 0\n",
                "scontrol": "echo 'MaxArraySize = 1001'\n",
                "scancel": "exit 0\n",
                # the state of task N is the Nth word
                "sacct": f"for last; do :; done\nset -- {states}\nshift ${{last#*_}}\necho $1\n"}.items():
            (commands / command).write_text(f"#!/bin/sh\ncd {commands}\n{text}")
            (commands / command).chmod(0o755)
        words = ["--machine", "gtx480", "--out", "out", "--on", "slurm", "--pack", "1"]
        for i in range(len(STATES)):
            words += ["--kernel", KERNEL + str(i + 1)]
        done = subprocess.run([HEDDLE, "sweep", *words], cwd=folder, timeout=300, text=True, check=False,
                              env=dict(os.environ, PATH=f"{commands}:{os.environ['PATH']}"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert done.returncode == 1, (done.stdout, done.stderr)
        with open(folder / "out/sweep.csv", encoding="utf-8") as file:
            reasons = [row["status"] for row in csv.DictReader(file)]
        assert reasons == list(STATES.values()), reasons
        assert (folder / "submitted").read_text().count("x") == 2
        assert not (folder / "out/slurm").exists()


main()
