"""Microbenchmarks of latencies, intervals and bandwidths; bench/accuracy --micro runs them beside GPGPU-Sim's numbers.

Each instruction is measured in loops whose bodies have it 8 and 24 times, with one and two turns each. What
the 16 instructions between cost beyond the loop itself is the difference of two differences: launch
and loop cancel out. A launch before each pair fills the instruction cache. One warp gives the latency of a chain of dependent
instructions, or the interval of those that depend on nothing; 32 warps of one block, the throughput of a core.

Registers have numbers, as those of a compiler do: GPGPU-Sim takes the bank from the number in the name, and reads no bank
for a register without one.
"""
TURNS, LENGTHS = (1, 2), (8, 24)
WARPS = (1, 32)

# Registers: %x1, %y2 integers; %f13, %g14 floats; %d15 a double; %c16 a predicate that every other lane has. Addresses:
# %p7 the buffer, %q8 the thread's own element in it, %w9 a line of its own; %s3 its word in shared memory,
# %z4 one word there for all; %l11 a local word; %m12 a constant.
INSTRUCTIONS = {
    "int add": "add.u32 %x1, %x1, %y2;",
    "int logic": "xor.b32 %x1, %x1, %y2;",
    "int multiply": "mul.lo.u32 %x1, %x1, %y2;",
    "int mad": "mad.lo.u32 %x1, %x1, %y2, %y2;",
    "int maximum": "max.u32 %x1, %x1, %y2;",
    "int division": "div.u32 %x1, %x1, %y2;",
    "float add": "add.f32 %f13, %f13, %g14;",
    "float multiply": "mul.f32 %f13, %f13, %g14;",
    "float fma": "fma.rn.f32 %f13, %f13, %g14, %g14;",
    "float maximum": "max.f32 %f13, %f13, %g14;",
    "float division": "div.rn.f32 %f13, %f13, %g14;",
    "float sine": "sin.approx.f32 %f13, %f13;",
    "float sqrt": "sqrt.approx.f32 %f13, %f13;",
    "double add": "add.f64 %d15, %d15, %d15;",
    "double fma": "fma.rn.f64 %d15, %d15, %d15, %d15;",
    "convert": "cvt.rn.f32.u32 %f13, %x1; cvt.rzi.u32.f32 %x1, %f13;",
    "predicate": "setp.eq.u32 %c16, %x1, %y2; @%c16 add.u32 %x1, %x1, 1;",
    "branch": "bra NEXT; NEXT:",
    "divergence": "@%c16 bra NEXT; xor.b32 %x1, %x1, %y2; NEXT:",
    "barrier": "bar.sync 0;",
    "shared load": "ld.shared.u32 %s3, [%s3];",
    "shared store": "st.shared.u32 [%s3], %x1;",
    "shared atomic": "atom.shared.add.u32 %x1, [%s3], 1;",
    "shared atomic, one word": "atom.shared.add.u32 %x1, [%z4], 1;",
    "constant load": "ld.const.u32 %x1, [%m12];",
    "parameter load": "ld.param.u32 %x1, [unused];",
    "local load": "ld.local.u32 %x1, [%l11];",
    "local store": "st.local.u32 [%l11], %x1;",
    "global load, L1": "ld.global.u64 %q8, [%q8];",
    "global load, L2": "ld.global.cg.u64 %q8, [%q8];",
    "global load, 32 lines": "ld.global.cg.u32 %x1, [%w9];",
    "global store": "st.global.u32 [%q8], %x1;",
    "global store, 32 lines": "st.global.u32 [%w9], %x1;",
    "global atomic": "atom.global.add.u32 %x1, [%q8], 0;",
    "global atomic, one word": "atom.global.add.u32 %x1, [%p7], 0;",
}

HEAD = """.version 6.0
.target sm_60
.address_size 64
.const .align 4 .u32 zero[4] = {0, 0, 0, 0};
"""

KERNEL = """.visible .entry %s(.param .u64 buffer, .param .u32 turns, .param .u32 unused)
{
    .shared .align 4 .b8 words[4096];
    .local .align 4 .b8 mine[16];
    .reg .b32 %%x1, %%y2, %%s3, %%z4, %%t5, %%n6;
    .reg .b64 %%p7, %%q8, %%w9, %%o10, %%l11, %%m12;
    .reg .f32 %%f13, %%g14;
    .reg .f64 %%d15;
    .reg .pred %%c16, %%e17;
    ld.param.u64 %%p7, [buffer];
    ld.param.u32 %%n6, [turns];
    cvta.to.global.u64 %%p7, %%p7;
    mov.u32 %%t5, %%tid.x;
    mul.wide.u32 %%o10, %%t5, 8;
    add.u64 %%q8, %%p7, %%o10;
    mul.wide.u32 %%o10, %%t5, 128;
    add.u64 %%w9, %%p7, %%o10;
    mov.u32 %%z4, words;
    shl.b32 %%s3, %%t5, 2;
    add.u32 %%s3, %%s3, %%z4;
    st.shared.u32 [%%s3], %%s3;
    mov.u64 %%l11, mine;
    mov.u64 %%m12, zero;
    mov.u32 %%y2, 1;
    mov.u32 %%x1, 0;
    mov.f32 %%f13, 0f3f800000;
    mov.f32 %%g14, 0f3f800000;
    mov.f64 %%d15, 0d3ff0000000000000;
    and.b32 %%x1, %%t5, 1;
    setp.eq.u32 %%c16, %%x1, 0;
    mov.u32 %%x1, 0;
    bar.sync 0;
LOOP_%s:
%s    add.u32 %%n6, %%n6, -1;
    setp.ne.u32 %%e17, %%n6, 0;
    @%%e17 bra LOOP_%s;
    ret;
}
"""


# Each element of the buffer is its own address: a chain of loads stays where it is.
START = """.visible .entry start(.param .u64 buffer)
{
    .reg .b32 %t1;
    .reg .b64 %p2, %o3, %q4;
    ld.param.u64 %p2, [buffer];
    cvta.to.global.u64 %p2, %p2;
    mov.u32 %t1, %tid.x;
    mul.wide.u32 %o3, %t1, 8;
    add.u64 %q4, %p2, %o3;
    st.global.u64 [%q4], %q4;
    ret;
}
"""


def kernel_name(index, length):
    return f"k{index}_{length}"


def body(text, length, name):
    return "".join("    " + text.replace("NEXT", f"L{k}_{name}") + "\n" for k in range(length))


def source():
    """The PTX module with a short and a long kernel for each instruction."""
    parts = [HEAD, START]
    for index, text in enumerate(INSTRUCTIONS.values()):
        for length in LENGTHS:
            name = kernel_name(index, length)
            parts.append(KERNEL % (name, name, body(text, length, name), name))
    return "".join(parts)


def launches():
    """All launches of the module after `start`, in order, as (kernel, threads, turns)."""
    return [(kernel_name(index, length), 32 * warps, turns) for index in range(len(INSTRUCTIONS))
            for warps in WARPS for length in LENGTHS for turns in TURNS[:1] + TURNS]


def costs(cycles):
    """Cycles for one instruction of each warp, by (instruction, warps), from those of all launches."""
    cases = [(name, warps) for name in INSTRUCTIONS for warps in WARPS]
    more = (TURNS[1] - TURNS[0]) * (LENGTHS[1] - LENGTHS[0])
    return {case: ((c[5] - c[4]) - (c[2] - c[1])) / more
            for case, c in zip(cases, zip(*[iter(cycles)] * 6))}
