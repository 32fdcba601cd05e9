"""The kernels that bench/accuracy runs: their sizes, inputs, and what they must compute.

Sources are bench/kernels.cu (the first three) and bench/peer-kernels.cu. A case is one program: named
buffers, and launches of one kernel that share them. Registers per thread are those of ptxas for sm_75.
"""
import array
import itertools


class Case:
    """A program on one kernel. Sizes of outputs, or contents of inputs, are in `buffers`."""

    def __init__(self, kernel, registers, buffers, launches, check, kind, shared=0, local=0):
        self.kernel, self.registers = kernel, registers
        self.buffers, self.launches, self.check = buffers, launches, check
        self.kind = kind  # what it stands for
        self.shared, self.local = shared, local  # bytes of a block, of a thread
        self.ptx = "peer.ptx" if kernel in ("vecadd", "matmul16", "mandel") else "peer-kernels.ptx"


def words(data):
    return array.array("I", data)


def floats(data):
    return array.array("f", data)


def numbers(count, seed=12345):
    """The 24 upper bits of a linear congruential sequence."""
    x = seed
    for _ in range(count):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        yield x >> 8


def fractions(count, seed=12345):
    return array.array("f", (n / 16777216.0 for n in numbers(count, seed)))


def integers(count, seed=12345):
    return array.array("I", numbers(count, seed))


def pair(count):
    """Two vectors that take turns in one sequence."""
    both = fractions(2 * count)
    return both[0::2], both[1::2]


def close(got, expected, tolerance=1e-4):
    return len(got) == len(expected) and all(
        abs(g - e) <= tolerance * max(1.0, abs(e)) for g, e in zip(got, expected))


def same(kind, name, expected):
    """A check that a buffer holds exactly these elements."""
    def check(out):
        return array.array(kind, out[name]) == array.array(kind, expected())
    return check


def nearly(name, expected, kind="f"):
    def check(out):
        return close(array.array(kind, out[name]), expected())
    return check


def product(a, b, n):
    rows = [a[i * n:(i + 1) * n] for i in range(n)]
    columns = [b[j::n] for j in range(n)]
    return [sum(x * y for x, y in zip(r, c)) for r in rows for c in columns]


def vecadd():
    n = 262144
    a, b = pair(n)
    return Case("vecadd", 12, {"a": a, "b": b, "c": 4 * n},
                [("1024", "256", "@a @b @c s32:262144")],
                nearly("c", lambda: [x + y for x, y in zip(a, b)]), "streaming")


def matmul16():
    n = 128
    a, b = pair(n * n)
    return Case("matmul16", 60, {"a": a, "b": b, "c": 4 * n * n},
                [("8,8", "16,16", "@a @b @c s32:128")], nearly("c", lambda: product(a, b, n)),
                "tiles in shared memory", shared=2048)


def mandel():
    def check(out):
        counts = array.array("i", out["out"])
        # Outside the circle of radius 2 a point escapes at once; the rest depends on rounding.
        return counts[0] == 1 and max(counts) == 128 and min(counts) >= 1
    return Case("mandel", 13, {"out": 65536},
                [("4,16", "32,8", "@out s32:128 f32:-2 f32:-1.25 f32:0.01953125 s32:128")],
                check, "loops of different length")


def stencil():
    n = 256
    a = fractions(n * n)

    def step(g):
        zero = [0.0] * n
        rows = [zero] + [list(g[y * n:(y + 1) * n]) for y in range(n)] + [zero]
        return [0.2 * (rows[y][x] + (rows[y][x - 1] if x else 0) + (rows[y][x + 1] if x < n - 1 else 0)
                       + rows[y - 1][x] + rows[y + 1][x]) for y in range(1, n + 1) for x in range(n)]
    return Case("stencil", 18, {"a": a, "b": 4 * n * n},
                [("16,16", "16,16", "@a @b s32:256"), ("16,16", "16,16", "@b @a s32:256")],
                nearly("a", lambda: step(step(a))), "tiles with a halo", shared=1296)


def matmul32():
    n = 96
    a, b = pair(n * n)
    # ptxas counts 41 registers, with which no block fits gtx480: as with -maxrregcount 32
    return Case("matmul32", 32, {"a": a, "b": b, "c": 4 * n * n},
                [("3,3", "32,32", "@a @b @c s32:96")], nearly("c", lambda: product(a, b, n)),
                "blocks of 1,024 threads", shared=8192)


def reduce():
    a = integers(64 * 512)
    return Case("reduce", 12, {"in": a, "out": 4 * 64}, [("64", "256", "@in @out")],
                same("I", "out", lambda: [sum(a[i:i + 512]) & 0xFFFFFFFF for i in range(0, len(a), 512)]),
                "a tree of additions", shared=1024)


def scan():
    a = words(n & 0xFFFF for n in numbers(30 * 512))

    def expected():
        return itertools.chain.from_iterable(itertools.accumulate(a[i:i + 512])
                                             for i in range(0, len(a), 512))
    return Case("scan", 12, {"in": a, "out": 4 * len(a)}, [("30", "512", "@in @out")],
                same("I", "out", expected), "prefix sums", shared=2048)


def histogram():
    blocks, each = 60, 8
    a = integers(blocks * 256 * each)

    def expected():
        counts = [0] * 64
        for v in a:
            counts[v & 63] += 1
        return counts
    return Case("histogram", 28, {"in": a, "counts": 256, "seen": 4 * blocks * 256},
                [(str(blocks), "256", f"@in @counts @seen s32:{each}")], same("I", "counts", expected),
                "atomics on shared memory", shared=256)


def scatter(blocks, mask):
    a = integers(blocks * 256)

    def expected():
        counts = [0] * (mask + 1)
        for v in a:
            counts[v & mask] += 1
        return counts
    return Case("scatteradd", 14, {"in": a, "table": 4 * (mask + 1), "seen": 4 * len(a)},
                [(str(blocks), "256", f"@in @table @seen u32:{mask}")], same("I", "table", expected),
                "atomics on one word" if not mask else "atomics on global memory")


def scatteradd():
    return scatter(128, 4095)


def contended():
    return scatter(16, 0)


def graph(nodes, degree):
    """A random graph as rows and columns: each node has 0 to 2 * degree edges."""
    random, rows, columns = numbers(10 * nodes * degree), [0], []
    for _ in range(nodes):
        columns += [next(random) % nodes for _ in range(next(random) % (2 * degree + 1))]
        rows.append(len(columns))
    return rows, columns


def bfs():
    nodes, levels = 4096, 8
    rows, columns = graph(nodes, 4)

    def expected():
        depth, front = [-1] * nodes, [0]
        depth[0] = 0
        for level in range(levels):
            fresh = []
            for node in front:
                for e in columns[rows[node]:rows[node + 1]]:
                    if depth[e] < 0:
                        depth[e] = level + 1
                        fresh.append(e)
            front = fresh
        return depth
    start = array.array("i", [0] + [-1] * (nodes - 1))
    return Case("bfs", 18, {"rows": array.array("i", rows), "columns": array.array("i", columns),
                            "depth": start, "more": 4 * levels},
                [("32", "128", f"@rows @columns @depth @more s32:{nodes} s32:{level}")
                 for level in range(levels)], same("i", "depth", expected), "a search, a launch per level")


def bitonic():
    a = integers(15 * 512)

    def expected():
        return itertools.chain.from_iterable(sorted(a[i:i + 512]) for i in range(0, len(a), 512))
    return Case("bitonic", 22, {"data": a}, [("15", "256", "@data")], same("I", "data", expected),
                "a sorting network", shared=2048)


def special():
    from math import cos, log2, sin, sqrt
    a, steps = fractions(64 * 128), 8

    def one(v):
        for _ in range(steps):
            v = cos(log2(2.0 ** sin(v)))
            v = 1.0 / sqrt(v * v + 1.0)
        return v
    return Case("special", 12, {"in": a, "out": 4 * len(a)}, [("64", "128", f"@in @out s32:{steps}")],
                nearly("out", lambda: [one(v) for v in a]), "special functions")


def horner():
    a, steps = array.array("d", fractions(60 * 128)), 64

    def one(x):
        total = 1.0
        for _ in range(steps):
            total = total * x + 0.5
        return total
    return Case("horner", 11, {"in": a, "out": 8 * len(a)}, [("60", "128", f"@in @out s32:{steps}")],
                nearly("out", lambda: [one(v) for v in a], "d"), "double precision")


def gcd():
    from math import gcd as divisor
    a, b = integers(64 * 128, 1), integers(64 * 128, 2)
    return Case("gcd", 14, {"a": a, "b": b, "out": 4 * len(a)}, [("64", "128", "@a @b @out")],
                same("I", "out", lambda: map(divisor, a, b)), "integer division")


def exchange(blocks, threads, rounds, kind):
    a = integers(blocks * threads)

    def expected():
        result = []
        for base in range(0, len(a), threads):
            v = list(a[base:base + threads])
            for _ in range(rounds):
                v = [(v[t] + v[(t + 1) % threads]) & 0xFFFFFFFF for t in range(threads)]
            result += v
        return result
    return Case("barriers", 16, {"data": a}, [(str(blocks), str(threads), f"@data s32:{rounds}")],
                same("I", "data", expected), kind, shared=8192)


def barriers_small():
    return exchange(60, 64, 32, "barriers of 2 warps")


def barriers_large():
    return exchange(15, 1024, 8, "barriers of 32 warps")


def chained(blocks, threads, steps, kind):
    a = integers(blocks * threads)

    def one(v):
        for _ in range(steps):
            v = ((v ^ v >> 3) + 0x9E3779B9) & 0xFFFFFFFF
        return v
    return Case("chain", 9, {"data": a}, [(str(blocks), str(threads), f"@data s32:{steps}")],
                same("I", "data", lambda: map(one, a)), kind)


def small_blocks():
    return chained(1024, 32, 8, "many blocks of one warp")


def one_block():
    return chained(1, 256, 1000, "one long block")


def constants():
    a = integers(16 * 128)
    table = [k + o for o in (0.5, 0.25, 0.75, 1.0) for k in range(16)]

    def one(v):
        return sum(table[k] * table[k + (v & 63) & 63] for k in range(64))
    return Case("constants", 10, {"in": a, "out": 4 * len(a)}, [("16", "128", "@in @out s32:63")],
                nearly("out", lambda: [one(v) for v in a]), "constant memory")


def local():
    a, steps = integers(32 * 128), 16

    def one(v):
        bins, total = [(v + k) & 0xFFFFFFFF for k in range(16)], 0
        for _ in range(steps):
            v = (v * 1664525 + 1013904223) & 0xFFFFFFFF
            bins[v >> 28] += v & 255
        for b in bins:
            total = (total * 3 + b) & 0xFFFFFFFF
        return total
    return Case("local", 14, {"in": a, "out": 4 * len(a)}, [("32", "128", f"@in @out s32:{steps}")],
                same("I", "out", lambda: map(one, a)), "local memory", local=64)


def fill():
    width, rows = 64 * 256, 16
    return Case("fill", 26, {"out": 4 * width * rows}, [("64", "256", f"@out s32:{rows} s32:{width}")],
                same("I", "out", lambda: [i + r for r in range(rows) for i in range(width)]), "stores")


def spaced(stride, steps, kind):
    a, threads = integers(1 << 18), 64 * 128
    mask = len(a) - 1
    return Case("strided", 19, {"in": a, "out": 4 * threads},
                [("64", "128", f"@in @out s32:{stride} s32:{steps} s32:{mask}")],
                same("I", "out", lambda: [sum(a[i * stride + k & mask] for k in range(steps)) & 0xFFFFFFFF
                                          for i in range(threads)]), kind)


def strided2():
    return spaced(2, 16, "loads 2 words apart")


def strided32():
    return spaced(32, 8, "loads a line apart")


def gather():
    index, table, steps = integers(64 * 128, 3), integers(1 << 16, 4), 8

    def one(at):
        total = 0
        for _ in range(steps):
            total = (total + table[at & 0xFFFF]) & 0xFFFFFFFF
            at = (at * 1664525 + 1013904223) & 0xFFFFFFFF
        return total
    return Case("gather", 36, {"index": index, "table": table, "out": 4 * len(index)},
                [("64", "128", f"@index @table @out s32:{steps} u32:65535")],
                same("I", "out", lambda: map(one, index)), "loads from anywhere")


def conflicts():
    a, steps, threads = integers(30 * 128), 8, 128

    def expected():
        result = []
        for base in range(0, len(a), threads):
            shared = [a[base + k % threads] + k & 0xFFFFFFFF for k in range(2048)]
            for t in range(threads):
                result.append((a[base + t] + sum(shared[(t << s) + k & 2047] for k in range(steps)
                                                 for s in range(6))) & 0xFFFFFFFF)
        return result
    return Case("conflicts", 12, {"data": a}, [("30", "128", f"@data s32:{steps}")],
                same("I", "data", expected), "conflicts of 1 to 32 lanes", shared=8192)


def transpose():
    n = 256
    a = integers(n * n)
    return Case("transpose", 13, {"in": a, "out": 4 * n * n}, [("16,16", "16,16", "@in @out s32:256")],
                same("I", "out", lambda: [a[y * n + x] for x in range(n) for y in range(n)]),
                "a transposed matrix", shared=1024)


def divergent():
    a, steps = integers(32 * 128), 8

    def one(v):
        for _ in range(steps):
            if v & 1:
                v = v * 5 + 1 if v & 2 else v >> 1 ^ 0x5A5A5A5A
            elif v & 4:
                for j in range(v & 7, 0, -1):
                    v = v * 3 + j & 0xFFFFFFFF
            else:
                v = v << 3 | v >> 29
            v = (v * 1664525 + 1013904223) & 0xFFFFFFFF
        return v
    return Case("divergent", 10, {"in": a, "out": 4 * len(a)}, [("32", "128", f"@in @out s32:{steps}")],
                same("I", "out", lambda: map(one, a)), "divergent branches and loops")


def spmv():
    rows, columns = graph(4096, 4)
    values, x = fractions(len(columns), 5), fractions(4096, 6)

    def expected():
        return [sum(values[e] * x[columns[e]] for e in range(rows[r], rows[r + 1])) for r in range(4096)]
    return Case("spmv", 56, {"rows": array.array("i", rows), "columns": array.array("i", columns),
                             "values": values, "x": x, "y": 4 * 4096},
                [("64", "64", "@rows @columns @values @x @y")], nearly("y", expected), "a sparse matrix")


def nbody():
    n = 384
    a = fractions(4 * n)

    def expected():
        bodies, result = [a[4 * i:4 * i + 4] for i in range(n)], []
        for me in bodies:
            pull = [0.0, 0.0, 0.0]
            for other in bodies:
                d = [other[k] - me[k] for k in range(3)]
                w = other[3] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01) ** -1.5
                pull = [p + w * v for p, v in zip(pull, d)]
            result += pull + [0.0]
        return result

    def check(out):
        return close(array.array("f", out["pull"]), expected(), 1e-3)
    return Case("nbody", 37, {"bodies": a, "pull": 16 * n}, [("6", "64", "@bodies @pull s32:384")],
                check, "arithmetic on shared tiles", shared=1024)


def transpose_naive():
    n = 128
    a = integers(n * n)
    return Case("transpose_naive", 8, {"in": a, "out": 4 * n * n}, [("8,8", "16,16", "@in @out s32:128")],
                same("I", "out", lambda: [a[y * n + x] for x in range(n) for y in range(n)]),
                "stores a row apart")


def blackscholes():
    from math import erf, exp, log, sqrt
    n, blocks = 30 * 128 * 2, 30
    price, strike, years = ([low + (high - low) * f for f in fractions(n, seed)]
                            for seed, low, high in ((1, 5, 30), (2, 1, 100), (3, 0.25, 10)))

    def normal(d):
        return 0.5 * (1 + erf(d / sqrt(2)))

    def both(s, x, t):
        d1 = (log(s / x) + (0.02 + 0.045) * t) / (0.3 * sqrt(t))
        d2, later = d1 - 0.3 * sqrt(t), x * exp(-0.02 * t)
        return s * normal(d1) - later * normal(d2), later * normal(-d2) - s * normal(-d1)

    def check(out):
        expected = list(zip(*map(both, floats(price), floats(strike), floats(years))))
        return all(close(floats(out[name]), values, 1e-3) for name, values in zip(("call", "put"), expected))
    return Case("blackscholes", 21, {"price": floats(price), "strike": floats(strike), "years": floats(years),
                                     "call": 4 * n, "put": 4 * n},
                [(str(blocks), "128", f"@price @strike @years @call @put s32:{n}")], check,
                "long arithmetic on streams")


def convolution():
    n = 128
    a = fractions((n + 4) * (n + 4))
    row = [[1, 4, 7, 4, 1], [4, 16, 26, 16, 4], [7, 26, 41, 26, 7]]
    weights = row + row[1::-1]

    def expected():
        return [sum(weights[dy][dx] * a[(y + dy) * (n + 4) + x + dx] for dy in range(5) for dx in range(5))
                for y in range(n) for x in range(n)]
    return Case("convolution", 20, {"in": a, "out": 4 * n * n}, [("4,16", "32,8", "@in @out s32:128")],
                nearly("out", expected), "neighbours through the L1")


def sweeps():
    a = words(n & 0xFFFF for n in numbers(30 * 1024))

    def expected():
        for i in range(0, len(a), 1024):
            yield from itertools.accumulate(a[i:i + 1023], initial=0)
    return Case("sweeps", 20, {"in": a, "out": 4 * len(a)}, [("30", "512", "@in @out")],
                same("I", "out", expected), "prefix sums by a tree", shared=4096)


def saxpy4():
    x, y = pair(4 * 256 * 64)
    return Case("saxpy4", 18, {"x": x, "y": y}, [("64", "256", "@x @y f32:2.5")],
                nearly("y", lambda: [q + 2.5 * p for p, q in zip(x, y)]), "16 bytes per lane")


def votes():
    blocks, each = 60, 4
    a = integers(blocks * 256 * each)

    def expected():
        result = []
        for base in range(0, len(a), 256 * each):
            counts = [0] * 4
            for v in a[base:base + 256 * each]:
                counts[v & 3] += 1
            result += [each + counts[t & 3] for t in range(256)]
        return result
    return Case("votes", 16, {"in": a, "out": 4 * blocks * 256}, [(str(blocks), "256", f"@in @out s32:{each}")],
                same("I", "out", expected), "contended atomics on shared memory", shared=16)


def search():
    from bisect import bisect_left
    table, keys = array.array("I", sorted(integers(1 << 14, 7))), integers(60 * 128, 8)
    return Case("search", 12, {"table": table, "keys": keys, "out": 4 * len(keys)},
                [("60", "128", "@table @keys @out s32:16384")],
                same("I", "out", lambda: [bisect_left(table, k) for k in keys]), "dependent loads")


def paths():
    blocks, rows = 30, 24
    width = blocks * 256
    cost = array.array("i", (n & 255 for n in numbers(width * rows)))

    def expected():
        result = []
        for base in range(0, width, 256):
            best = list(cost[base:base + 256])
            for r in range(1, rows):
                line = cost[r * width + base:r * width + base + 256]
                best = [min(best[t], best[max(t - 1, 0)], best[min(t + 1, 255)]) + line[t] for t in range(256)]
            result += best
        return result
    return Case("paths", 18, {"cost": cost, "out": 4 * width}, [(str(blocks), "256", f"@cost @out s32:{rows}")],
                same("i", "out", expected), "rows that depend on each other", shared=1024)


CASES = [vecadd, matmul16, mandel, stencil, matmul32, reduce, scan, histogram, scatteradd, contended, bfs,
         bitonic, special, horner, gcd, barriers_small, barriers_large, small_blocks, one_block, constants,
         local, fill, strided2, strided32, gather, conflicts, transpose, divergent, spmv, nbody,
         transpose_naive, blackscholes, convolution, sweeps, saxpy4, votes, search, paths]


def contents(buffer):
    """The bytes a buffer starts with."""
    return bytes(buffer) if isinstance(buffer, int) else buffer.tobytes()
