"""What the programs' common code says of wrong command lines, and that it says it with exit code 2.

usage.py FOLDER-WITH-PROGRAMS
"""
import os
import subprocess
import sys

CASES = (
    (("vecadd", "--elements", "0"), "--elements takes 1 to 268435456, not 0"),
    (("vecadd", "--elements", "many"), "--elements takes a number, not 'many'"),
    (("vecadd", "--elements", "4G"), "--elements takes a number, not '4G'"),
    (("vecadd", "--elements", "99999999999999999999"), "--elements takes a number"),
    (("vecadd", "--elements"), "--elements needs a value"),
    (("vecadd", "--element", "4"), "there is no option --element"),
    (("vecadd", "4"), "'4' is not an option"),
    (("vecadd", "--seed", "x"), "--seed takes a number, not 'x'"),
    (("vecadd", "--platform"), "--platform needs a value"),
    (("bitonicsort", "--keys", "5000"), "--keys takes a power of two, not 5000"),
    (("histogram", "--values", "6"), "--values takes a multiple of 4, not 6"),
    (("scan", "--kind", "larg"), "--kind takes one of blocks|large, not 'larg'"),
)

for (program, *words), message in CASES:
    done = subprocess.run([os.path.join(sys.argv[1], program), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    said = done.stderr.split("\n")[0]
    if done.returncode != 2 or not said.startswith(f"{program}: {message}") or done.stdout:
        sys.exit(f"{program} {' '.join(words)}: exit {done.returncode}, said '{said}'\n"
                 f"expected '{message}'\n{done.stdout}")

# No device is no wrong command line, and not a wrong result either.
done = subprocess.run([os.path.join(sys.argv[1], "vecadd"), "--device", "no such device"],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
if done.returncode != 3:
    sys.exit(f"without a device: exit {done.returncode}")
