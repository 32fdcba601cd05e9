"""A workload at its quick size under the limit study and its check, without time and in time, as PTX
and as Southern Islands code: no mark is wrong, results and all other statistics are as without, and
the counts are the same in both.

redundancy.py HEDDLE PROGRAM MANIFEST
"""
import json
import os
import subprocess
import sys
import tempfile

heddle, program, manifest = sys.argv[1:4]
name = os.path.basename(program)
with open(manifest, encoding="utf-8") as text:
    order_dependent = "order_dependent: true" in text.read()


def run(machine, *options):
    """The bytes of its results, and its statistics: those of redundancy, and all others."""
    with tempfile.TemporaryDirectory(prefix="heddle-test-") as folder:
        output, stats = (os.path.join(folder, name + end) for end in (".out", ".json"))
        done = subprocess.run([heddle, "run", "--machine", machine, *options, "--stats", stats, "--",
                               program, "--quick", "--output", output],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0 or f"{name}: passed" not in done.stdout:
            sys.exit(f"{name} on {machine} with {options}: exit {done.returncode}\n{done.stdout}")
        with open(output, "rb") as file, open(stats, encoding="utf-8") as text:
            totals = json.load(text)["totals"]
            own = {key: value for key, value in totals.items() if key.startswith("redundancy.")}
            return file.read(), own, {key: totals[key] for key in totals if key not in own}


# Its threads take places in buckets by an atomic operation, so which keys a warp has depends on time; its
# results do not.
PLACED_BY_TIME = {"hybridsort"}
CHECK = ["--mech", "redundancy:check=true"]
for machine in "generic", "generic64":
    counts = []
    for time in [["--functional"], []]:
        plain, none, others = run(machine, *time)
        found, own, rest = run(machine, *time, *CHECK)
        where = f"{name} on {machine} {' '.join(time)}"
        if found != plain and not order_dependent:
            sys.exit(f"{where}: results differ in bits")
        if rest != others and not order_dependent:
            sys.exit(f"{where}: other statistics differ")
        if none or not own["redundancy.instructions"]:
            sys.exit(f"{where}: it has counted nothing, or where it was off")
        if own["redundancy.lies"] or own["redundancy.unchecked"] or own["redundancy.unmatched"]:
            sys.exit(f"{where}: {own}")
        counts.append(own)
    if counts[0] != counts[1] and not order_dependent and name not in PLACED_BY_TIME:
        sys.exit(f"{name} on {machine}: counts differ: {counts}")
