#!/usr/bin/env python3
"""Every function of struct mechanism is a seam with a row in seams.def, or is listed here.

    listed.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# Functions that make and describe a mechanism and its state; they are no points of the machine.
STATE = {"serves", "create", "destroy", "idle", "storage", "create_memory", "destroy_memory",
         "destroy_device"}

core = pathlib.Path(sys.argv[1]) / "core"
header = re.sub(r"/\*.*?\*/", "", (core / "hooks.h").read_text(encoding="utf-8"), flags=re.S)
table = re.search(r"^struct mechanism \{\n(.*?)^\};", header, re.S | re.M).group(1)
members = set(re.findall(r"\(\*(\w+)\)\(", table)) - STATE
rows = re.findall(r"^SEAM(?:_RARE)?\(\"[^\"]*\", (\w+)", (core / "seams.def").read_text(encoding="utf-8"), re.M)
missing = sorted(members - set(rows))
twice = sorted(name for name in set(rows) if rows.count(name) > 1)
if len(members) < 30 or missing or twice:
    sys.exit(f"{len(members)} functions; not in seams.def: {missing}; there more than once: {twice}")
