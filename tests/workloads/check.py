"""A workload program on PoCL: it passes, its check can fail, and its manifest is true.

check.py PROGRAM FOLDER-WITH-MANIFEST [--unless-verified | --record]; exits 77 (skipped) where PoCL
is not installed, or ends itself at its start because the host has no /sys.

PoCL takes minutes for all programs, and what it says of one depends on the program alone. So
`verified`, beside this file, keeps a hash of each program that has passed: with --unless-verified
one that has not changed since is not run on PoCL again. --record adds the hash after a pass
(scripts/verify-workloads does that for all).
"""
import hashlib
import os
import re
import subprocess
import sys

program, folder = sys.argv[1:3]
mode = sys.argv[3] if len(sys.argv) > 3 else ""
name = os.path.basename(folder)
here = os.path.dirname(os.path.abspath(__file__))
VERIFIED = os.path.join(here, "verified")
on_pocl = ["--platform", "Portable Computing Language"]


def run(*options):
    done = subprocess.run([program, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    return done.returncode, done.stdout


def expect(condition, what, output=""):
    if not condition:
        sys.exit(f"{name}: {what}\n{output}")


def last_line(output):
    return output.rstrip("\n").rsplit("\n", 1)[-1]


def manifest_sizes(text, kind):
    """The flow map behind `default:` or `quick:` as {name: value}, texts both."""
    found = re.search(rf"^  {kind}: {{(.*)}}$", text, re.M)
    expect(found, f"workload.yaml has no sizes {kind}: {{...}}")
    return dict(pair.split(": ") for pair in found.group(1).split(", "))


def check_manifest(text):
    for key in ("description", "papers", "sizes", "blocks", "order_dependent"):
        expect(re.search(rf"^{key}:", text, re.M), f"workload.yaml lacks {key}")
    expect(re.search(rf"^workload: {name}$", text, re.M), "workload.yaml has another name")
    code, output = run("--sizes")
    rows = [line.split() for line in output.splitlines()]
    expect(code == 0 and rows, "--sizes fails", output)
    for column, kind in ((1, "default"), (2, "quick")):
        own = {row[0]: row[column] for row in rows}
        expect(own == manifest_sizes(text, kind), f"workload.yaml differs in {kind} from {own}")
    with open(os.path.join(folder, name + ".cl"), encoding="utf-8") as file:
        kernels = set(re.findall(r"^__kernel .*\nvoid (\w+)\(", file.read(), re.M))
    said = set(re.findall(r"kernel: (\w+)", text))
    expect(kernels == said, f"workload.yaml has kernels {said}, {name}.cl {kernels}")


def check_variants(text):
    """Every way of running it that the manifest names."""
    for options in sorted(set(re.findall(r"options: (--[^,}]*)", text))):
        code, output = run("--quick", *options.split(), *on_pocl)
        expect(code == 0, f"{options} exits {code}", output)


def check_runs():
    code, output = run("--quick", *on_pocl)
    if (code == 3 and "platform" in output) or (code < 0 and "[hwloc/linux] failed" in output):
        print(output)
        sys.exit(77)
    expect(code == 0, f"--quick exits {code}", output)
    expect(re.match(rf"{name}: passed \(block \d+(x\d+)*", last_line(output)),
           "the last line does not tell success and block", output)
    code, output = run("--quick", "--corrupt", *on_pocl)
    expect(code == 1, f"a wrong element is not noticed: exit {code}", output)
    expect(last_line(output).startswith(f"{name}: FAILED"), "failure is not told", output)
    code, output = run("--quick", "--seed", "7", *on_pocl)
    expect(code == 0, f"--seed 7 exits {code}", output)
    code, output = run("--no-such-option")
    expect(code == 2, f"an unknown option exits {code}", output)
    code, output = run("--help")
    expect(code == 0 and "--quick" in output, "--help fails", output)


def digest():
    """Of all that the program and its checks are made of."""
    total = hashlib.sha256()
    common = os.path.join(os.path.dirname(folder), "common")
    files = [os.path.join(place, file) for place in (folder, common) for file in os.listdir(place)]
    for file in sorted(files, key=os.path.basename) + [os.path.abspath(__file__)]:
        with open(file, "rb") as content:
            text = content.read()
        if file.endswith("workload.yaml"):  # counts of instructions are ours, not PoCL's
            text = re.sub(rb"^instructions:\n(  .*\n)*", b"", text, flags=re.M)
        total.update(os.path.basename(file).encode() + b"\0%d\0" % len(text) + text)
    return total.hexdigest()


def read_verified():
    with open(VERIFIED, encoding="utf-8") as lines:
        return dict(line.split() for line in lines)


def record():
    rows = read_verified()
    rows[name] = digest()
    with open(VERIFIED, "w", encoding="utf-8") as file:
        file.writelines(f"{row} {rows[row]}\n" for row in sorted(rows))


with open(os.path.join(folder, "workload.yaml"), encoding="utf-8") as manifest:
    manifest_text = manifest.read()
check_manifest(manifest_text)
if mode == "--unless-verified" and read_verified().get(name) == digest():
    print("verified on PoCL before, and unchanged since")
    sys.exit()
check_runs()
check_variants(manifest_text)
if mode == "--record":
    record()
