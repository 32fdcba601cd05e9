#!/usr/bin/env python3
"""Experiments on instructions redundant in a block, at quick sizes: check_darsie.py HEDDLE

What must hold whatever the model's numbers: kinds of redundancy add up, blocks of one dimension
have none that is affine, what is removed is removed, storage has the published bits, and every
program's own check passes.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HEDDLE = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = dict(os.environ, LC_ALL="C", HEDDLE_CACHE_DIR=str(HEDDLE.parent / "tests/cache"))
ONE_D = {"BIN", "PT", "FW", "SR1", "LIB"}


def reproduce(folder, name, *words):
    """{workload: {column: ours}} of an experiment none of whose runs failed."""
    done = subprocess.run([HEDDLE, "reproduce", name, "--quick", *words], cwd=folder, env=ENVIRONMENT, timeout=500,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    assert done.returncode == 0, (name, done.returncode, done.stdout, done.stderr)
    document = json.loads((folder / "reproduced" / f"{name}-quick.json").read_text())
    assert document["failures"] == 0
    return {row["workload"]: {column: pair["ours"] for column, pair in row["values"].items()}
            for row in document["workloads"]}


def limits(folder):
    levels, kinds = reproduce(folder, "darsie-fig1"), reproduce(folder, "darsie-fig2")
    assert len(levels) == len(kinds) == 13 and ONE_D < set(levels)
    for name, row in levels.items():
        assert 0 < row["grid"] <= row["block"] < 100 and 0 < row["warp"] < 100, (name, row)
        assert abs(sum(kinds[name].values()) - row["block"]) < 1e-6, (name, row, kinds[name])
        if name in ONE_D:
            assert kinds[name]["affine"] < 1, (name, kinds[name])
        elif name == "MM":  # the only one whose rows fill a warp
            assert kinds[name]["affine"] > 1, (name, kinds[name])
        else:
            assert kinds[name]["unstructured"] > 1, (name, kinds[name])


def removed(folder):
    """MM: the product with square blocks of a warp a row."""
    row = reproduce(folder, "darsie-fig10", "--workloads", "MM")["MM"]
    assert row["darsie"] > 5 and row["fetched"] > 5 and row["dac"] > 5 and row["affine"] > 1, row
    # Moves that were added can only make less of what was skipped.
    skipped = row["uniform"] + row["affine"] + row["unstructured"]
    assert skipped >= row["darsie"] - 1e-6, row


def storage(folder):
    """What the text counts has the bits that it counts."""
    row = reproduce(folder, "darsie-area")["MM"]
    counted = row["skip"] + row["majority"] + row["rename"]
    assert abs(counted - 5.3125) < 1e-9, row
    assert row["beyond"] > 0 and abs(counted + row["beyond"] - row["total"]) < 1e-9, row


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-darsie-test-") as name:
        limits(pathlib.Path(name))
        removed(pathlib.Path(name))
        storage(pathlib.Path(name))


main()
