/*
 * Which warp issues when: each policy on hand-made traces, barriers, and how many blocks a core
 * takes.
 */
#include "rig.h"

/* All warps have their instructions in the same cycle, units are never in the way. */
#define FREE                                                                                   \
    "gpu.cores=1 issue.schedulers=1 fetch.per_cycle=16 fetch.buffer=16 fetch.width=16 "        \
    "collect.generic=32 collect.banks=64 units.sp=8 units.result_buses=16 units.int_simple=1 " \
    "l1d.latency=10 "

/* The order of issue as text: warp 0 is 'a'; '.' a cycle without. From the first issue on. */
static void order_text(const struct rig *rig, char *text, u32 size)
{
    u64 first = rig->issued.data[0].cycle;
    memset(text, '.', size - 1);
    text[size - 1] = 0;
    for (u32 i = 0; i < rig->issued.count; i++) {
        const struct move *m = &rig->issued.data[i];
        if (m->cycle - first < size - 1)
            text[m->cycle - first] = (char)('a' + m->slot);
    }
}

static void expect_order(const char *policy, const char *settings, const char *body, u32 warps,
                         const char *want)
{
    char all[512], got[256];
    struct text text = {0};
    add(&text, HEAD
        ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<16>; .shared .align 4 .b8 s[64];\n");
    add(&text, "%s ret;\n}\n", body);
    snprintf(all, sizeof all, FREE "issue.policy=%s %s", policy, settings);
    struct rig *rig = rig_open_text(NULL, all, &text);
    rig_run(rig, 1, 32 * warps, rig_memory(rig, 4));
    order_text(rig, got, (u32)strlen(want) + 1);
    if (strcmp(got, want) != 0)
        fail_msg("%s: order is\n%s, not\n%s", policy, got, want);
    rig_close(rig);
}

/*
 * n results, then n uses of them, then the end. A use can issue 6 cycles after its result: a move
 * has no register to read, so that it takes a collector, goes to the latch and enters its unit; the
 * latency is 1, and two registers follow.
 */
static void make_body(struct text *body, u32 n)
{
    for (u32 i = 0; i < n; i++)
        add(body, " mov.u32 %%r%u, %u;\n", i, i + 1);
    for (u32 i = 0; i < n; i++)
        add(body, " st.shared.u32 [s+%u], %%r%u;\n", 4 * i, i);
}

/* Strictly in turn, the first turns pass while instructions are fetched: two cycles. */
static void test_policies(void **state)
{
    static const struct {
        const char *policy, *settings;
        u32 warps, count;
        const char *want;
    } cases[] = {
        {"lrr", "", 3, 5, "abcabcabcabcabcabcabcabcabcabcabc."},
        {"lrr", "", 2, 2, "abab..ababab."},
        {"lrr", "", 4, 1, "abcd..abcdabcd."},
        {"rr", "", 3, 5, "cabcabcabcabcabcabcabcabcabcabcab."},
        {"rr", "", 2, 2, "abab..ababab."},
        {"rr", "", 4, 1, "cdab....cdabcdab."},
        {"gto", "", 3, 5, "aaaaabbbbbaaaaaabbbbbbccccc.cccccc."},
        {"gto", "", 2, 2, "aabb..aaabbb."},
        {"gto", "", 4, 1, "abcd..aabbccdd."},
        {"oldest", "", 3, 5, "aaaaabaaaaaabbbbbcbbbbbccccc.ccccc."},
        {"oldest", "", 2, 2, "aabb..aaabbb."},
        {"oldest", "", 4, 1, "abcd..aabbccdd."},
        {"fair", "", 3, 5, "abcabcabcabcabcabcabcabcabcabcabc."},
        {"fair", "", 2, 2, "abab..ababab."},
        {"fair", "", 4, 1, "abcd..abcdabcd."},
        {"frfs", "", 3, 5, "abcabcabcabcabcabcabcabcabcabcabc."},
        {"frfs", "", 2, 2, "abab..abaabb."},
        {"frfs", "", 4, 1, "abcd..aabbcdcd."},
        {"two_level", "issue.group_size=2", 3, 5, "abababababababababababccccc.cccccc."},
        {"two_level", "issue.group_size=2", 2, 2, "abab..ababab."},
        {"two_level", "issue.group_size=2", 4, 1, "abcd..aabcbcdd."},
        {"two_level", "issue.group_size=1", 3, 5, "aaaaabbbbbaaaaaabbbbbbccccc.cccccc."},
        {"two_level", "issue.group_size=3", 3, 5, "abcabcabcabcabcabcabcabcabcabcabc."},
        {"groups", "issue.group_size=2", 3, 5, "abababababababababababccccc.cccccc."},
        {"groups", "issue.group_size=2", 2, 2, "abab..ababab."},
        {"groups", "issue.group_size=2", 4, 1, "abcd..ababcdcd."},
        {"groups", "issue.group_size=1", 3, 5, "aaaaabbbbbcccccaaaaaabbbbbbcccccc."},
        {"groups", "issue.group_size=64", 3, 5, "abcabcabcabcabcabcabcabcabcabcabc."},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct text body = {0};
        make_body(&body, cases[i].count);
        expect_order(cases[i].policy, cases[i].settings, body.data, cases[i].warps, cases[i].want);
        free(body.data);
    }
}

/* ---- barriers ---- */

/*
 * Warps that arrive at a barrier stand behind it with their next instruction at hand: when the last
 * one has issued its barrier, they go on from the next cycle on, one a cycle.
 */
static void test_barrier(void **state)
{
    for (u32 warps = 1; warps <= 8; warps++) {
        struct text text = {0};
        add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<4>;\n bar.sync 0;\n"
                        " mov.u32 %%r0, 1;\n ret;\n}\n");
        struct rig *rig = rig_open_text(NULL, FREE "issue.policy=lrr", &text);
        rig_run(rig, 1, 32 * warps, rig_memory(rig, 4));
        u64 last = issued_at(rig, 0, warps - 1, 0);
        for (u32 w = 0; w < warps; w++) {
            assert_int_equal(issued_at(rig, 0, w, 0), last - (warps - 1) + w);
            assert_int_equal(issued_at(rig, 0, w, 1), last + 1 + w);
        }
        assert_int_equal(stat(rig, "fetch.flushed"), 0);
        rig_close(rig);
    }
}

/* A barrier waits until what its warp stored to shared memory has acted. */
static void test_barrier_store(void **state)
{
    struct text text = {0};
    add(&text,
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<4>;\n"
             " .shared .align 4 .b8 s[64];\n st.shared.u32 [s], 1;\n bar.sync 0;\n ret;\n}\n");
    struct rig *rig = rig_open_text(NULL, FREE, &text);
    rig_run(rig, 1, 32, rig_memory(rig, 4));
    /* no registers to read: collector, latch, the unit takes it, its head */
    assert_int_equal(issued_at(rig, 0, 0, 1) - issued_at(rig, 0, 0, 0), 4);
    rig_close(rig);
}

/* ---- how many blocks a core takes ---- */

/* Blocks that are on the core before the first one ends: each begins with a load from DRAM. */
static u32 resident(const char *settings, u32 threads, u32 shared, const char *limit)
{
    char all[512];
    struct text text = {0};
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<4>; .reg .b64 %%p;\n");
    if (shared)
        add(&text, " .shared .align 4 .b8 s[%u];\n mov.u32 %%r1, s;\n", shared);
    add(&text, " ld.param.u64 %%p, [p];\n ld.global.u32 %%r0, [%%p];\n st.global.u32 [%%p+4], %%r0;"
               "\n ret;\n}\n");
    snprintf(all, sizeof all, FREE "dram.latency=4000 %s", settings);
    struct rig *rig = rig_open_text(NULL, all, &text);
    u32 warps = (threads + 31) / 32, started = 0, last = shared ? 3 : 2;
    rig_run(rig, 100, threads, rig_memory(rig, 8));
    for (u32 i = 0; i < rig->issued.count && rig->issued.data[i].inst != last; i++)
        started += rig->issued.data[i].inst == 0;
    const json_t *launch = json_array_get(json_object_get(rig->stats, "launches"), 0);
    const json_t *told = json_object_get(launch, "occupancy");
    assert_int_equal(started % warps, 0);
    assert_int_equal(json_integer_value(json_object_get(told, "blocks_per_core")), started / warps);
    if (limit)
        assert_string_equal(json_string_value(json_object_get(told, "limit")), limit);
    rig_close(rig);
    return started / warps;
}

static u32 limited(const char *format, u32 value, u32 threads, u32 shared, const char *limit)
{
    char settings[256];
    snprintf(settings, sizeof settings, format, value);
    return resident(settings, threads, shared, limit);
}

static void test_occupancy(void **state)
{
    for (u32 n = 2; n <= 5; n += 3) {
        /* blocks of 3 warps: each limit just enough for n, and one less */
        assert_int_equal(limited("core.blocks=%u", n, 96, 0, "core.blocks"), n);
        assert_int_equal(limited("core.warps=%u", 3 * n, 96, 0, "core.warps"), n);
        assert_int_equal(limited("core.warps=%u", 3 * n - 1, 96, 0, "core.warps"), n - 1);
        assert_int_equal(limited("core.threads=%u", 96 * n, 96, 0, "core.threads"), n);
        assert_int_equal(limited("core.threads=%u", 96 * n - 1, 96, 0, "core.threads"), n - 1);
        /* 20 registers a thread are 640 a warp: 3 units of 256 */
#define REGISTERS "launch.registers=20 core.register_unit=256 core.registers=%u"
        assert_int_equal(limited(REGISTERS, 3 * 768 * n, 96, 0, "core.registers"), n);
        assert_int_equal(limited(REGISTERS, 3 * 768 * n - 1, 96, 0, "core.registers"), n - 1);
        /* 1,000 bytes are 4 units of 256 */
#define SHARED "core.shared_unit=256 core.block_shared_bytes=1024 core.shared_bytes=%u"
        assert_int_equal(limited(SHARED, 1024 * n, 96, 1000, "core.shared_bytes"), n);
        assert_int_equal(limited(SHARED, 1024 * n - 1, 96, 1000, "core.shared_bytes"), n - 1);
    }
}

/* ---- atomics ---- */

/* Instructions after an atomic of their own warp see its effect, and are not undone by it. */
static void test_behind_atomic(void **state)
{
    static const struct {
        const char *body;
        u32 loaded, left;
    } cases[] = {
        {"red.global.add.u32 [%p], 1; ld.global.u32 %r0, [%p];", 32, 32},
        {"atom.global.add.u32 %r1, [%p], 1; ld.global.u32 %r0, [%p];", 32, 32},
        {"red.global.add.u32 [%p+4], 1; ld.global.v2.u32 {%r1, %r0}, [%p];", 32, 0},
        {"red.global.add.u32 [%p], 1; st.global.u32 [%p], 5; ld.global.u32 %r0, [%p];", 5, 5},
    };
    static const char *const machines[] = {"gtx480", "gtx1080ti", "rtx2060", "tesla16"};
    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(machines); i++) {
        const size_t c = i / ARRAY_LEN(machines);
        struct text text = {0};
        struct hd_error error;
        u32 words[2];
        add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p; .reg .b32 %%r<4>;\n");
        add(&text, " ld.param.u64 %%p, [p]; %s st.global.u32 [%%p+128], %%r0; ret;\n}\n",
            cases[c].body);
        struct rig *rig = rig_open_text(machines[i % ARRAY_LEN(machines)], "gpu.cores=1", &text);
        const hd_address at = rig_memory(rig, 256);
        rig_run(rig, 1, 32, at);
        if (!hd_read(rig->device, &words[0], at + 128, 4, &error) ||
            !hd_read(rig->device, &words[1], at, 4, &error))
            fail_msg("%s", error.message);
        assert_int_equal(words[0], cases[c].loaded);
        assert_int_equal(words[1], cases[c].left);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),      cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_barrier_store), cmocka_unit_test(test_behind_atomic),
        cmocka_unit_test(test_occupancy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
