#!/usr/bin/env python3
"""Measures the math functions on both kinds of machine and prints the table of
docs/opencl-builtins.md.

    table.py BUILD [COUNT]
"""
import os
import re
import subprocess
import sys

TYPES = ['float', 'double']
MACHINES = ['generic', 'generic64']
ROW = re.compile(r'MATH\((\w+), \w+, ".*", \w+, (\S+), (\S+), .*\)')


def limits():
    """Name -> limits of float and double, as text."""
    words = {'CORRECT': '0.5', 'ANY': 'none', 'NONE': ''}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'math.def')
    with open(path, encoding='utf-8') as file:
        rows = ROW.findall(file.read())
    return {name: [words.get(limit, limit) for limit in (one, two)] for name, one, two in rows}


def measured(build, count):
    """(machine, type, name) -> largest error in ULP."""
    result = {}
    for machine in MACHINES:
        for kind in TYPES:
            env = dict(os.environ, HEDDLE_MACHINE=machine, HEDDLE_FUNCTIONAL='1',
                       OCL_ICD_VENDORS=build + '/heddle.icd')
            done = subprocess.run([build + '/tests/opencl/math/test-opencl-math', kind, '--table',
                                   '--count', count], env=env, stdout=subprocess.PIPE, text=True,
                                  check=True)
            for line in done.stdout.splitlines():
                _, name, error = line.split()
                result[machine, kind, name] = float(error)
    return result


def number(error):
    if error is None:
        return ''
    return '-' if error > 1e6 else f'{error:.0f}' if error >= 1000 else f'{error:.2f}'


def table(errors):
    lines = ['| function | limit | PTX | SI | limit, double | PTX | SI |',
             '|---|---:|---:|---:|---:|---:|---:|']
    for name, (one, two) in limits().items():
        cells = [[number(errors.get((machine, kind, name))) for machine in MACHINES]
                 for kind in TYPES]
        lines.append(f'| `{name}` | ' + ' | '.join([one] + cells[0] + [two] + cells[1]) + ' |')
    return '\n'.join(lines)


if __name__ == '__main__':
    print(table(measured(os.path.abspath(sys.argv[1]), (sys.argv[2:] or ['60000'])[0])))
