"""A workload program on Heddle, with time at the quick size and without at the default size.

on_heddle.py PROGRAM MANIFEST FOLDER-FOR-FILES [--narrow | MACHINE...]; with machines only those, of 64
lanes, beside generic64; with --narrow gtx480 with 32-bit addresses, quick. Machines with the same code must give the same bits,
whatever their timing, unless the manifest says that order matters; those with other code (Southern
Islands) pass by the program's own check.
"""
import os
import subprocess
import sys

program, manifest, folder = sys.argv[1:4]
name = os.path.basename(program)
os.makedirs(folder, exist_ok=True)
with open(manifest, encoding="utf-8") as text:
    order_dependent = "order_dependent: true" in text.read()


def run(machine, functional, *options):
    """The bytes of its results."""
    output = os.path.join(folder, f"{name}-{machine}")
    environment = dict(os.environ, HEDDLE_MACHINE=machine)
    if functional:
        environment["HEDDLE_FUNCTIONAL"] = "1"
    done = subprocess.run([program, "--output", output, *options], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    lines = done.stdout.rstrip("\n").split("\n")
    if done.returncode != 0 or not lines[-1].startswith(f"{name}: passed (block "):
        sys.exit(f"{name} on {machine}: exit {done.returncode}\n{done.stdout}")
    if lines[0] != f"{name} on {machine} (Heddle)":
        sys.exit(f"{name} did not run on {machine}: {lines[0]}")
    with open(output, "rb") as file:
        return file.read()


def compare_wide(machines):
    """Machines of 64 lanes in time, quick: all run the same code."""
    wide = run("generic64", False, "--quick")
    for other in machines:
        if run(other, False, "--quick") != wide and not order_dependent:
            sys.exit(f"{name}: results on {other} differ in bits from those on generic64")


if sys.argv[4:] == ["--narrow"]:
    os.environ["HEDDLE_SET"] = "gpu.address_bits=32"
    if run("gtx480", False, "--quick") != run("gtx480", True, "--quick") and not order_dependent:
        sys.exit(f"{name}: results with 32-bit addresses differ in bits with and without timing")
    sys.exit()
if len(sys.argv) > 4:
    compare_wide(sys.argv[4:])
    sys.exit()
timed = run("gtx480", False, "--quick")
for other, functional in (("generic", False), ("gtx480", True)):
    if run(other, functional, "--quick") != timed and not order_dependent:
        sys.exit(f"{name}: results on {other} (functional: {functional}) differ in bits")
compare_wide(["tahiti"])
run("gtx480", True)
run("generic64", True)
