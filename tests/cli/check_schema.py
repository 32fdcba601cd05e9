#!/usr/bin/env python3
"""Statistics files against share/heddle/stats.schema.json: check_schema.py HEDDLE SOURCE_ROOT

Runs that end in different ways must give documents the schema accepts, with exactly the
statistics and parameters that the command lists. Damaged documents must be refused, so that a
schema that accepts everything does not pass.
"""
import copy
import csv
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    """What is wrong with a value: the part of JSON Schema that the file uses."""
    known = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf",
             "pattern", "minimum", "required", "properties", "additionalProperties", "items",
             "minItems", "maxItems"}
    assert set(schema) <= known, f"this checker does not know {set(schema) - known}"
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema:
        each = [faults(value, choice, root, at) for choice in schema["anyOf"]]
        return [] if any(not found for found in each) else each[0]
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(has_type(value, name) for name in names):
        return [f"{at}: {value!r} is not {' or '.join(names)}"]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{at}: {value!r} does not match {schema['pattern']}")
    if has_type(value, "number") and value < schema.get("minimum", value):
        found.append(f"{at}: {value} is less than {schema['minimum']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{at}: {len(value)} items")
        for index, item in enumerate(value):
            found += faults(item, schema.get("items", {}), root, f"{at}[{index}]")
    if isinstance(value, dict):
        found += [f"{at}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            if inner is False:
                found.append(f"{at}: {key} is not expected")
            elif inner is not True:
                found += faults(item, inner, root, f"{at}.{key}")
    return found


def interrupted(heddle, data, threads):
    """The document of a run that was stopped by Ctrl-C, on so many threads."""
    with tempfile.TemporaryDirectory(prefix="heddle-schema-") as name:
        folder = pathlib.Path(name)
        command = [heddle, "run", "kernels.ptx", "--kernel", "endless", "--grid", "8", "--block", "64", "--arg",
                   "zero:4", "--machine", "gtx480", "--threads", str(threads), "--quiet", "--interval",
                   f"1000:{folder}/rows.csv", "--stats", f"{folder}/stats.json"]
        with subprocess.Popen(command, cwd=data, stderr=subprocess.PIPE) as process:
            # until two intervals are in the file, below its head
            while not any(path.read_text().count("\n") > 2 for path in folder.glob("rows.csv*")):
                assert process.poll() is None, process.stderr.read().decode()
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1].decode()
        assert process.returncode == 130 and "outputs and statistics are complete up to here" in said, said
        assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "stats.json"]
        document = json.loads((folder / "stats.json").read_text())
        rows = list(csv.DictReader((folder / "rows.csv").read_text().splitlines()))
    (launch,) = document["launches"]
    assert launch["outcome"] == "interrupted" and document["host"]["threads"] == threads
    # what was counted until then is all there: in the intervals, in issue slots, in the profile
    assert sum(int(row["timing.cycles"]) for row in rows) == launch["cycles"] > 1000
    stats = launch["stats"]
    assert stats["issue.instructions"] == launch["warp_instructions"] == \
        sum(row["issued"] for part in document["profile"] for row in part["instructions"]) > 0
    idle = sum(value for key, value in stats.items() if key.startswith("issue.idle_"))
    assert stats["issue.slots"] == stats["issue.issued"] + idle
    return document


def documents(heddle, data):
    """One statistics document for each way a run can end."""
    runs = {
        "done": "--kernel copy --grid 2 --block 32 --arg zero:64 --arg in:in.bin --arg u32:10",
        "out_of_bounds": "--kernel poke --grid 1 --block 1 --arg zero:4 --arg u64:4",
        "limit": "--kernel endless --grid 1 --block 1 --arg zero:4 --max-instructions 99",
        "two": "--buf b=zero:16 --kernel increment --grid 1 --block 4 --arg @b --arg u32:4 "
               "--then --kernel poke --grid 1 --block 1 --arg @b --arg u64:99",
        "seed": "--kernel endless --grid 1 --block 1 --arg zero:4 --max-seconds 0.01 "
                "--seed 18446744073709551615",
    }
    runs["deadlock"] = "dead.ptx --grid 2 --block 64 --set timing.stuck_cycles=1000"
    runs["functional"] = runs["done"] + " --functional"
    for name, words in runs.items():
        words = words if name == "deadlock" else "kernels.ptx " + words
        done = subprocess.run([heddle, "run", "--quiet", "--stats", "-", *words.split()],
                              cwd=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert done.returncode in (0, 3), done.stderr.decode()
        yield name, json.loads(done.stdout)
    for threads in (1, 2):
        yield f"interrupted on {threads}", interrupted(heddle, data, threads)
    guest = pathlib.Path(heddle).parent / "tests/cli/guest"
    if guest.exists():  # not without an OpenCL loader
        done = subprocess.run([heddle, "run", "--quiet", "--stats", "-", "--", str(guest), "silent"],
                              stdout=subprocess.PIPE, check=True)
        document = json.loads(done.stdout)
        assert [program["ok"] for program in document["manifest"]["programs"]] == [True]
        yield "program", document
        done = subprocess.run([heddle, "run", "--quiet", "--keep-exit-code", "--stats", "-", "--set",
                               "gpu.cores=1", "--", str(guest), "many", "260"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        document = json.loads(done.stdout)
        assert [row["launches"] for row in document["sums"]] == [10, 10]
        assert document["launches"][-1]["number"] == 521
        del document["launches"][:-2]  # one like the other
        yield "many", document


def damaged(document):
    """Copies with one thing wrong each."""
    def change(path, value):
        result = copy.deepcopy(document)
        where = result
        for key in path[:-1]:
            where = where[key]
        if value is None:
            del where[path[-1]]
        else:
            where[path[-1]] = value
        return result
    yield change(["schema"], 1)
    yield change(["manifest", "seed"], -1)
    yield change(["manifest", "seed"], "0x7fffffffffffffff")  # fits a number
    yield change(["manifest", "inputs", 0, "sha256"], "abc")
    yield change(["config", "core"], 1)
    yield change(["launches", 0, "outcome"], "fine")
    yield change(["launches", 0, "grid"], [1, 1])
    yield change(["launches", 0, "cycles"], 1.5)
    yield change(["launches", 0, "seconds"], -1)
    yield change(["launches", 0, "occupancy"], {"blocks_per_core": 0, "limit": "warps"})
    yield change(["launches", 0, "extra"], 1)
    yield change(["profile"], [{"module": "a", "function": "b", "instructions": []}])
    yield change(["totals", "exec.blocks"], "many")
    yield change(["host", "date"], "yesterday")
    for key in document:
        if key != "sums":
            yield change([key], None)
    for key in document["launches"][0]:
        if key not in ("fault", "number"):
            yield change(["launches", 0, key], None)


def check_energies(name, energies):
    """Parts are the whole, exactly: energies are whole numbers of fJ."""
    def femtojoules(key):
        return round(energies[key] * 1000)
    for kind in ("dynamic", "static"):
        parts = [key for key in energies if key.startswith("energy.parts.") and key.endswith(f".{kind}_pj")]
        assert sum(map(femtojoules, parts)) == (femtojoules(f"energy.{kind}_pj") if energies else 0), name
    if energies:
        assert femtojoules("energy.total_pj") == \
            femtojoules("energy.dynamic_pj") + femtojoules("energy.static_pj") > 0, name


def listed(heddle, table, column="key"):
    rows = json.loads(subprocess.run([heddle, table, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    return {row[column] for row in rows if row.get("type") != "size"}  # a size sets another parameter


def main():
    heddle, source = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    schema = json.loads((source / "share/heddle/stats.schema.json").read_text())
    statistics, parameters = listed(heddle, "stats"), listed(heddle, "params")
    mechanisms = listed(heddle, "mechanisms", "name")
    outcomes = re.findall(r'\[OUTCOME_\w+\] = "(\w+)"', (source / "src/exec/fault.c").read_text())
    assert schema["$defs"]["launch"]["properties"]["outcome"]["enum"] == outcomes, outcomes
    stalls = re.findall(r'\[STALL_\w+\] = "(\w+)"', (source / "src/core/trace.c").read_text())
    assert schema["$defs"]["stall"]["enum"] == stalls, stalls
    for name, document in documents(heddle, source / "tests/cli/data"):
        found = faults(document, schema, schema)
        assert not found, f"{name}: " + "; ".join(found)
        config = {f"{part}.{key}" for part, values in document["config"].items() if part != "machine"
                  for key in values}
        assert config == parameters, (name, config ^ parameters)
        total = {key: round(value * 1000) for key, value in document["totals"].items()
                 if key.startswith("energy.") and key.endswith("_pj")}
        for block in [document["totals"]] + \
                [launch["stats"] for launch in document["launches"] + document.get("sums", [])]:
            # A component is there with all its statistics or not at all: a run without timing
            # leaves out what only happens in time.
            energies = {key: block.pop(key) for key in list(block) if key.startswith("energy.")}
            assert bool(energies) == (name != "functional"), name
            check_energies(name, energies)
            parts = {key.split(".")[0] for key in block}
            expected = {key for key in statistics if key.split(".")[0] in parts}
            assert "exec" in parts and set(block) == expected, (name, set(block) ^ expected)
            # Mechanisms that are off count nothing, and memory only with memory.bounds=warn.
            off = mechanisms | {"memory"}
            timed = {key for key in statistics if key.split(".")[0] not in off}
            assert (set(block) == timed) == (name != "functional"), name
        for launch in document["launches"]:
            assert ("fault" in launch) == (launch["outcome"] != "done"), name
            for key in ("warp_instructions", "thread_instructions"):
                assert launch[key] == launch["stats"][f"exec.{key}"], (name, key)
        assert bool(document["profile"]) == (name != "functional"), name
        if name == "deadlock":
            assert len(document["launches"][0]["fault"]["waiting"]["warps"]) == 4
        rows = sum(round(row["energy_pj"] * 1000) for part in document["profile"]
                   for row in part["instructions"])
        if name != "functional":
            assert rows + total["energy.unattributed_pj"] == total["energy.total_pj"], name
        for index, wrong in enumerate(damaged(document)):
            assert faults(wrong, schema, schema), f"{name}: damage {index} was accepted"
        if name == "seed":
            assert document["manifest"]["seed"] == "0xffffffffffffffff"


main()
