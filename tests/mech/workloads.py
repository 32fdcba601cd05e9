"""A workload at its quick size with mechanisms: the same bits as without.

workloads.py HEDDLE PROGRAM MANIFEST MECHANISM[:PARAMETERS][+MECHANISM...]...
A word chip=SEED after machine=NAME draws a chip for all of them. A set that begins with '=' must leave all statistics but its own as they are. A word machine=NAME goes
before the sets.
"""
import json
import os
import subprocess
import sys
import tempfile

heddle, program, manifest = sys.argv[1:4]
sets = sys.argv[4:]
machine = sets.pop(0)[len("machine="):] if sets[0].startswith("machine=") else "tesla16"
chip = []
if sets[0].startswith("chip="):
    folder_of_chip = tempfile.TemporaryDirectory(prefix="heddle-test-")
    chip = ["--chip", f"{folder_of_chip.name}/chip.db:0"]
    subprocess.run([heddle, "chip", "--machine", machine, "--seed", sets.pop(0)[len("chip="):], "--out", chip[1][:-2]],
                   check=True, stdout=subprocess.DEVNULL)
name = os.path.basename(program)
with open(manifest, encoding="utf-8") as text:
    order_dependent = "order_dependent: true" in text.read()


def run(mechanisms):
    """The bytes of its results, and its statistics."""
    options = [word for one in mechanisms for word in ("--mech", one)]
    with tempfile.TemporaryDirectory(prefix="heddle-test-") as folder:
        output, stats = (os.path.join(folder, name + end) for end in (".out", ".json"))
        done = subprocess.run([heddle, "run", "--machine", machine, *chip, *options, "--stats", stats, "--",
                               program, "--quick", "--output", output],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0 or f"{name}: passed" not in done.stdout:
            sys.exit(f"{name} with {mechanisms}: exit {done.returncode}\n{done.stdout}")
        with open(output, "rb") as file, open(stats, encoding="utf-8") as text:
            return file.read(), json.load(text)["totals"]


plain, plain_stats = run([])
for words in sets:
    mechanisms = words.lstrip("=").split("+")
    found, stats = run(mechanisms)
    if found != plain and not order_dependent:
        sys.exit(f"{name} with {words}: results differ in bits")
    if stats.get("dac_ideal.untrue"):
        sys.exit(f"{name} with {words}: {stats['dac_ideal.untrue']} results are not what was said of them")
    if stats.get("sdmr.detected"):
        sys.exit(f"{name} with {words}: {stats['sdmr.detected']} copies have stored something else")
    own = {word.split(":")[0] for word in mechanisms}
    if own - {key.split(".")[0] for key in stats}:
        sys.exit(f"{name} with {words}: it has counted nothing")
    # parts of the energy that are there for its own events, and cost nothing, do not count
    rest = {key: value for key, value in stats.items()
            if key.split(".")[0] not in own and (value or not key.startswith("energy.parts."))}
    plain_stats = {key: value for key, value in plain_stats.items()
                   if value or not key.startswith("energy.parts.")}
    if words[0] == "=" and rest != plain_stats:
        sys.exit(f"{name} with {words}: other statistics differ")
