#!/usr/bin/env python3
"""Writes a code block of a document to a file: extract.py DOCUMENT NAME OUT

The block's fence names it: ```c silent.c.
"""
import re
import sys

document, name, out = sys.argv[1:]
text = open(document, encoding="utf-8").read()
block = re.search(r"^```\S+ " + re.escape(name) + r"\n(.*?)^```", text, re.S | re.M)
if not block:
    sys.exit(f"{document} has no block {name}")
with open(out, "w", encoding="utf-8") as file:
    file.write(block.group(1))
