#!/usr/bin/env python3
"""Runs what the documents show, and follows their links.

Every fenced block marked `console` is a session: lines that begin with `$ ` are commands, run by sh
in one scratch folder per document with the built `heddle` first on PATH and HEDDLE naming the source
folder, and the lines that follow are their output, standard error included. In expected output a
line `...` stands for any number of lines and `...` inside a line for any text. Blocks marked `file NAME`
are written to NAME first; a `console A,B` is left out where one of these programs or files is not there.

Links between the project's files must lead to a file that exists and to a heading in it.

    run_docs.py BUILD_ROOT SOURCE_ROOT DOCUMENT...
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)[ ]?(\S*)\s*$")


def blocks(path):
    """Yields (kind, name, first line number, lines) for each fenced block."""
    kind, name, start, lines = None, None, 0, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        fence = FENCE.match(line)
        if kind is None and fence:
            kind, name, start, lines = fence.group(1), fence.group(2), number, []
        elif kind is not None and line.startswith("```"):
            yield kind, name, start, lines
            kind = None
        elif kind is not None:
            lines.append(line.rstrip("\n"))


def commands(lines):
    """Splits a session into (command, expected output lines)."""
    out = []
    for line in lines:
        if line.startswith("$ "):
            out.append([line[2:], []])
        elif out and out[-1][0].endswith("\\"):
            out[-1][0] += "\n" + line
        elif out:
            out[-1][1].append(line)
    return out


def pattern(expected):
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(p) for p in line.split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\Z")


def run(document, build, source):
    environment = dict(os.environ, HEDDLE=source)
    environment["PATH"] = build + os.pathsep + environment["PATH"]
    failures = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, name, line, lines in blocks(document):
            if kind == "file":
                with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                    out.write("\n".join(lines) + "\n")
            if kind != "console" or not all(shutil.which(need) or os.path.exists(need)
                                            for need in name.split(",") if need):
                continue
            for command, expected in commands(lines):
                if command.startswith(("make ", "git ", "sudo ", "cd ")):
                    continue  # building is what got us here
                checked += 1
                done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
                output = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
                if not pattern(expected).match(output):
                    failures += 1
                    print(f"{document}:{line}: $ {command}\n--- expected\n" + "\n".join(expected) +
                          "\n--- got (exit code %d)\n%s" % (done.returncode, output))
    print(f"{document}: {checked} commands, {failures} failed")
    return failures, checked


def prose(path):
    """Yields (line number, line) outside of fenced blocks."""
    fenced = False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path):
    """The names that the headings of a page have, as forges make them."""
    names = set()
    for _, line in prose(path):
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            names.add(words.replace(" ", "-"))
    return names


def broken_links(document):
    failures = 0
    for number, line in prose(document):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue  # elsewhere in the world
            path, _, anchor = target.partition("#")
            path = os.path.join(os.path.dirname(document), path) if path else document
            if not os.path.exists(path):
                print(f"{document}:{number}: there is no {target}")
                failures += 1
            elif anchor and anchor not in anchors(path):
                print(f"{document}:{number}: {target}: no such heading")
                failures += 1
    return failures


def main():
    build, source, documents = sys.argv[1], sys.argv[2], sys.argv[3:]
    broken = sum(broken_links(os.path.join(source, d)) for d in documents)
    results = [run(os.path.join(source, d), os.path.abspath(build), os.path.abspath(source)) for d in documents]
    checked = sum(r[1] for r in results)
    if not checked:
        print("no document shows a command: nothing was tested")
    return 1 if broken or any(r[0] for r in results) or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
