/* Statistics of one small program whose counts are known by hand: accesses by space, and units. */
#include "rig.h"

enum {
    WARPS = 2,
    WARP = 32,
    FEW = 5 /* lanes of guarded accesses */
};

/* Per warp: of each space a known number of loads, stores and atomics; 4 additions of 32-bit floats, 2 of
 * 64-bit ones, 3 special functions, and 2 exchanges between lanes. */
static const char ptx[] =
    HEAD ".const .align 4 .b32 c[4];\n"
         ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %g; .reg .b32 %t, %r<20>; .reg .f32 "
         "%f<4>;\n"
         " .reg .f64 %d<4>; .reg .pred %q; .shared .align 4 .b8 s[64]; .local .align 4 .b8 m[16];\n"
         " ld.param.u64 %p, [p]; mov.u32 %t, %laneid; setp.lt.u32 %q, %t, 5;\n"
         " ld.global.u32 %r1, [%p]; @%q ld.global.u32 %r2, [%p+4]; st.global.u32 [%p+64], %r1;\n"
         " atom.global.add.u32 %r3, [%p+128], 1; @%q red.global.add.u32 [%p+128], 1;\n"
         " st.shared.u32 [s], %t; @%q st.shared.u32 [s+4], %t; ld.shared.u32 %r4, [s];\n"
         " ld.shared.u32 %r5, [s+4]; ld.shared.u32 %r6, [s]; atom.shared.add.u32 %r7, [s+8], 1;\n"
         " st.local.u32 [m], %t; @%q st.local.u32 [m+4], %t; ld.local.u32 %r8, [m];\n"
         " ld.const.u32 %r9, [c]; ld.const.u32 %r10, [c+4];\n"
         " mov.u64 %g, s; cvta.shared.u64 %g, %g; ld.u32 %r11, [%g]; @%q ld.u32 %r12, [%g+4];\n"
         " st.u32 [%g], %r11; atom.add.u32 %r13, [%g+8], 1;\n"
         " mov.f32 %f1, 0f3f800000; add.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f1; add.f32 %f2, "
         "%f3, %f3;\n"
         " add.f32 %f3, %f2, %f2; sin.approx.f32 %f1, %f3; sin.approx.f32 %f2, %f3; sin.approx.f32 "
         "%f1, %f3;\n"
         " mov.f64 %d1, 0d3ff0000000000000; add.f64 %d2, %d1, %d1; add.f64 %d3, %d2, %d2;\n"
         " shfl.sync.idx.b32 %r14, %t, 3, 31, -1; vote.sync.ballot.b32 %r15, %q, -1;\n ret;\n}\n";

static const struct {
    const char *instructions, *lanes;
    u32 per_warp, lanes_per_warp;
} accesses[] = {
    {"exec.loads_param", "exec.load_threads_param", 1, WARP},
    {"exec.loads_global", "exec.load_threads_global", 2, WARP + FEW},
    {"exec.stores_global", "exec.store_threads_global", 1, WARP},
    {"exec.atomics_global", "exec.atomic_threads_global", 2, WARP + FEW},
    {"exec.loads_shared", "exec.load_threads_shared", 3, 3 * WARP},
    {"exec.stores_shared", "exec.store_threads_shared", 2, WARP + FEW},
    {"exec.atomics_shared", "exec.atomic_threads_shared", 1, WARP},
    {"exec.loads_local", "exec.load_threads_local", 1, WARP},
    {"exec.stores_local", "exec.store_threads_local", 2, WARP + FEW},
    {"exec.loads_const", "exec.load_threads_const", 2, 2 * WARP},
    {"exec.loads_generic", "exec.load_threads_generic", 2, WARP + FEW},
    {"exec.stores_generic", "exec.store_threads_generic", 1, WARP},
    {"exec.atomics_generic", "exec.atomic_threads_generic", 1, WARP},
    {"exec.stores_const", "exec.store_threads_const", 0, 0},
    {"exec.stores_param", "exec.store_threads_param", 0, 0},
    {"exec.atomics_local", "exec.atomic_threads_local", 0, 0},
    {"exec.atomics_const", "exec.atomic_threads_const", 0, 0},
    {"exec.atomics_param", "exec.atomic_threads_param", 0, 0},
};

static struct rig *run(const char *settings)
{
    struct rig *rig = rig_open("gtx480", settings, ptx);
    rig_run(rig, 1, WARPS * WARP, rig_memory(rig, 4096));
    assert_int_equal(rig->result.outcome, HD_DONE);
    return rig;
}

static void expect(const struct rig *rig, const char *name, u64 value)
{
    if (stat(rig, name) != value)
        fail_msg("%s is %llu, not %llu", name, (unsigned long long)stat(rig, name),
                 (unsigned long long)value);
}

static void accesses_by_space(void **state)
{
    struct rig *rig = run("gpu.cores=1 issue.interval=1");
    for (u32 i = 0; i < ARRAY_LEN(accesses); i++) {
        expect(rig, accesses[i].instructions, WARPS * accesses[i].per_warp);
        expect(rig, accesses[i].lanes, WARPS * accesses[i].lanes_per_warp);
    }
    expect(rig, "exec.cross_lane", WARPS * 2);
    expect(rig, "lsu.global_accesses", WARPS * 5);
    expect(rig, "lsu.local_accesses", WARPS * 3);
    expect(rig, "lsu.shared_accesses", WARPS * (6 + 4)); /* generic ones are to shared memory */
    expect(rig, "lsu.constant_accesses", WARPS * 3);
    expect(rig, "lsu.memory_accesses", WARPS * (5 + 3));
    expect(rig, "lsu.instructions", WARPS * (5 + 3 + 10 + 3));
    /* a scheduler has a slot in every cycle in which the core has warps, and in the one in which the last leaves */
    const u64 schedulers = param(rig, "issue.schedulers");
    assert_int_equal(param(rig, "issue.interval"), 1);
    expect(rig, "issue.slots", (stat(rig, "issue.cycles") + 1) * schedulers);
    expect(rig, "issue.lane_slots", stat(rig, "issue.instructions") * WARP);
    rig_close(rig);
}

/* Both halves of a warp of 64 access the same 128 bytes, lines side by side, and lines apart. */
static void halves_share_lines(void **state)
{
    static const struct {
        const char *address; /* of %r1, the thread */
        u32 transactions;
    } cases[] = {
        {"and.b32 %r1, %r1, 31; shl.b32 %r2, %r1, 2;", 1},
        {"shl.b32 %r2, %r1, 2;", 2},
        {"shr.u32 %r3, %r1, 5; mul.lo.u32 %r3, %r3, 1024; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, "
         "%r3;",
         2},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct text text = {0};
        add(&text,
            HEAD
            ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p, %%a; .reg .b32 %%r<5>;\n"
            " ld.param.u64 %%p, [p]; mov.u32 %%r1, %%tid.x; %s\n"
            " cvt.u64.u32 %%a, %%r2; add.u64 %%a, %%a, %%p; ld.global.u32 %%r4, [%%a]; ret;\n}\n",
            cases[i].address);
        struct rig *rig = rig_open("gtx480", "gpu.cores=1 core.warp_size=64", text.data);
        rig_run(rig, 1, 64, rig_memory(rig, 4096));
        expect(rig, "lsu.transactions", cases[i].transactions);
        rig_close(rig);
        free(text.data);
    }
}

static void units_by_kind(void **state)
{
    struct rig *rig = run("gpu.cores=1 units.integer=1 units.fp64=1");
    expect(rig, "units.sp_instructions", WARPS * 4);
    expect(rig, "units.fp64_instructions", WARPS * 2);
    expect(rig, "units.sfu_instructions", WARPS * 3);
    expect(rig, "units.int_instructions", WARPS * 9); /* moves and cvta, setp, exchanges, ret */
    expect(rig, "issue.reservations", WARPS * 31);    /* all but stores, red and ret */
    expect(rig, "units.sp_busy", WARPS * 4 * param(rig, "units.fp32_add_interval"));
    expect(rig, "units.fp64_busy", WARPS * 2 * param(rig, "units.fp64_add_interval"));
    expect(rig, "units.sfu_busy", WARPS * 3 * param(rig, "units.sfu_interval"));
    expect(rig, "units.int_busy", WARPS * (8 + param(rig, "units.shuffle_interval")));
    /* as long as the block was on the core */
    const u64 cycles = stat(rig, "units.int_cycles");
    assert_true(cycles > 0 && cycles <= stat(rig, "timing.cycles"));
    expect(rig, "units.sp_cycles", param(rig, "units.sp") * cycles);
    expect(rig, "units.fp64_cycles", cycles);
    expect(rig, "units.sfu_cycles", param(rig, "units.sfu") * cycles);
    rig_close(rig);
}

/* Calls count for each thread that makes them. */
static void system_calls(void **state)
{
    static const char kernel[] =
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
             ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
             ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p; .reg .b32 %t; .reg .pred %q;\n"
             " ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, 5; @%q bra one;\n"
             " { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %p;\n"
             "   st.param.b64 [b], %p; call.uni (r), vprintf, (a, b); }\n"
             "one: setp.ge.u32 %q, %t, 3; @%q ret;\n"
             " { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n); }\n"
             " ret;\n}\n";
    struct rig *rig = rig_open("gtx480", "gpu.cores=1", kernel);
    rig_run(rig, 2, 32, rig_memory(rig, 8));
    assert_int_equal(rig->result.outcome, HD_DONE);
    expect(rig, "exec.printf_calls", 2 * FEW);
    expect(rig, "exec.malloc_calls", 2 * 3);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_by_space),
        cmocka_unit_test(units_by_kind),
        cmocka_unit_test(halves_share_lines),
        cmocka_unit_test(system_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
