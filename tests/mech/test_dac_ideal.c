/*
 * Uniform and affine instructions that run once for a block, on small programs: what is removed is
 * counted by hand, rule by rule, and what is stored is what it is without the mechanism.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "mech/dac_ideal.h"

extern const struct mechanism dac_ideal_mechanism;
static const struct mechanism *const available[] = {&dac_ideal_mechanism, NULL};

enum {
    WARP = 32,
    COMMON = 8 /* instructions of every program here that are removed */
};

#define BEGIN                                                                                     \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b, %d<16>; .reg .b32 %t, %i, " \
         "%n, %r<32>; .reg .f32 %f<8>; .reg .pred %q<8>; .shared .align 4 .b8 s[1024]; .local "   \
         ".align 4 .b8 l[64];\n ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;\n"
/* %r0 of each thread is stored at the thread's place, after 4 KB that programs may use. */
#define END                                                                        \
    " mov.u32 %n, %ntid.x; mov.u32 %r31, %tid.y; mad.lo.u32 %r30, %r31, %n, %t;\n" \
    " mul.wide.u32 %a, %r30, 4; add.u64 %a, %a, %p; st.global.u32 [%a+4096], %r0;\n ret;\n}\n"

static struct rig *open_rig(const char *settings, const char *body)
{
    char all[512];
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s\n%s", BEGIN, body, END) > 0);
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_with(available, "gtx1080ti", all, text);
    free(text);
    return rig;
}

/* What threads of one block have stored. */
static u32 *run(struct rig *rig, struct hd_dim block)
{
    const u64 bytes = (u64)block.x * block.y * block.z * sizeof(u32);
    struct hd_error error;
    const hd_address at = rig_memory(rig, 4096 + bytes);
    u32 *words = calloc(bytes, 1);
    rig_launch_shape(rig, (struct hd_dim){1, 1, 1}, block, &(struct hd_arg){&at, sizeof at}, 1);
    if (rig->result.outcome != HD_DONE)
        fail_msg("%s", rig->result.explanation);
    if (!hd_read(rig->device, words, at + 4096, bytes, &error))
        fail_msg("%s", error.message);
    return words;
}

/* Runs it without and with the mechanism; the rig of the latter. */
static struct rig *compare(const char *settings, const char *body, struct hd_dim block)
{
    char on[256];
    snprintf(on, sizeof on, "dac_ideal.on=true dac_ideal.verify=true %s", settings);
    struct rig *plain = open_rig("", body), *rig = open_rig(on, body);
    u32 *expected = run(plain, block), *found = run(rig, block);
    for (u32 i = 0; i < block.x * block.y * block.z; i++)
        if (found[i] != expected[i])
            fail_msg("%s\nthread %u has %u, not %u", body, i, found[i], expected[i]);
    assert_int_equal(stat(rig, "dac_ideal.untrue"), 0);
    assert_int_equal(stat(rig, "dac_ideal.instructions"), stat(plain, "issue.instructions"));
    assert_int_equal(stat(rig, "dac_ideal.instructions"),
                     stat(rig, "issue.instructions") + stat(rig, "dac_ideal.skipped"));
    free(expected);
    free(found);
    rig_close(plain);
    return rig;
}

/* ---- rules ---- */

struct rule {
    const char *body;
    u32 removed; /* of its instructions */
};

/* In a program without branches, one warp executes the removed instructions for all others. */
static void check(const char *settings, const struct rule *rules, size_t count, struct hd_dim block,
                  u32 common)
{
    const u32 warps = block.x * block.y * block.z / WARP;
    for (size_t i = 0; i < count; i++) {
        struct rig *rig = compare(settings, rules[i].body, block);
        const u32 removed = rules[i].removed + common;
        if (stat(rig, "dac_ideal.skipped") != removed * (warps - 1))
            fail_msg("%s\n%u of %u instructions were removed, not %u", rules[i].body,
                     (u32)stat(rig, "dac_ideal.skipped"), (warps - 1), removed * (warps - 1));
        assert_int_equal(stat(rig, "dac_ideal.led"), removed);
        assert_int_equal(stat(rig, "dac_ideal.missed"), 0);
        rig_close(rig);
    }
}

/* The last instruction of each program tests the tag of the result before it. */
static const struct rule rules[] = {
    {"mov.u32 %r0, 7;", 1},
    {"mov.u32 %r1, %t; add.u32 %r0, %r1, 1;", 2},
    {"add.u32 %r1, %t, 5; add.u32 %r0, %r1, 1;", 2},
    {"sub.u32 %r1, %i, %t; add.u32 %r0, %r1, 1;", 2},
    {"neg.s32 %r1, %t; add.u32 %r0, %r1, 1;", 2},
    {"not.b32 %r1, %t; add.u32 %r0, %r1, 1;", 2},
    {"mul.lo.u32 %r1, %t, 12; add.u32 %r0, %r1, 1;", 2},
    {"mul.lo.u32 %r1, %i, %t; add.u32 %r0, %r1, 1;", 2},
    {"mul.lo.u32 %r1, %t, %t; add.u32 %r0, %r1, 1;", 1},
    {"mul.lo.u32 %r1, %t, 0x80000001; add.u32 %r0, %r1, 1;", 2}, /* modulo 2^32 */
    {"mad.lo.u32 %r1, %t, 3, %t; add.u32 %r0, %r1, 1;", 2},
    {"mad.lo.u32 %r1, %t, %t, 3; add.u32 %r0, %r1, 1;", 1},
    {"shl.b32 %r1, %t, 4; add.u32 %r0, %r1, 1;", 2},
    {"shl.b32 %r1, %t, 31; add.u32 %r0, %r1, 1;", 2},
    {"shl.b32 %r1, 1, %t; add.u32 %r0, %r1, 1;", 1},
    {"shr.u32 %r1, %t, 1; add.u32 %r0, %r1, 1;", 1},
    {"and.b32 %r1, %t, 6; add.u32 %r0, %r1, 1;", 1},
    {"shl.b32 %r1, %t, 2; or.b32 %r2, %r1, 3; add.u32 %r0, %r2, 1;", 3}, /* a sum */
    {"or.b32 %r1, %t, 5; add.u32 %r0, %r1, 1;", 1},                      /* none */
    {"min.u32 %r1, %t, 9; add.u32 %r0, %r1, 1;", 1},
    {"min.u32 %r1, %i, 9; add.u32 %r0, %r1, 1;", 2},
    {"mov.u32 %r1, %laneid; add.u32 %r0, %r1, 1;", 2},
    {"mov.u32 %r1, %ntid.x; mov.u32 %r2, %nctaid.x; add.u32 %r0, %r1, %r2;", 3},
    {"mov.u32 %r1, %warpid; add.u32 %r0, %r1, 1;", 0},
    {"mov.u32 %r1, %clock; and.b32 %r0, %r1, 0;", 0},
    /* 64 bits */
    {"cvt.u64.u32 %d0, %t; add.u64 %d1, %d0, 1; cvt.u32.u64 %r0, %d1;", 3},
    {"mul.wide.u32 %d0, %t, 12; sub.u64 %d1, 1, %d0; cvt.u32.u64 %r0, %d1;", 3},
    {"mad.wide.u32 %d0, %t, 12, %p; sub.u64 %d1, %d0, %p; cvt.u32.u64 %r0, %d1;", 3},
    {"cvt.u64.u32 %d0, %t; shl.b64 %d1, %d0, 31; neg.s64 %d2, %d1; shr.u64 %d3, %d2, 31; "
     "cvt.u32.u64 %r0, %d3;",
     4},
    {"cvt.u64.u32 %d0, %t; mul.lo.u64 %d1, %d0, 0x700000001; mov.b64 {%r1, %r2}, %d1; add.u32 %r3, "
     "%r1, 1; add.u32 %r4, %r2, 1; xor.b32 %r0, %r3, %r4;",
     4}, /* the upper half by itself is not affine */
    {"cvt.u64.u32 %d0, %t; mov.b64 {%r1, %r2}, %d0; mov.b64 %d1, {%r2, %r1}; cvt.u32.u64 %r0, %d1;",
     2},
    /* what wraps around in some lanes */
    {"mov.u32 %r1, %laneid; sub.u32 %r2, %r1, 7; cvt.s64.s32 %d0, %r2; add.u64 %d1, %d0, 1; "
     "cvt.u32.u64 %r0, %d1;",
     5},
    {"mov.u32 %r1, %laneid; sub.u32 %r2, %r1, 7; cvt.u64.u32 %d0, %r2; add.u64 %d1, %d0, 1; "
     "cvt.u32.u64 %r0, %d1;",
     3},
    {"mov.u32 %r1, %laneid; sub.u32 %r2, %r1, 7; mul.wide.s32 %d0, %r2, 4; cvt.u32.u64 %r0, %d0;",
     4},
    {"mov.u32 %r1, %laneid; sub.u32 %r2, %r1, 7; mul.wide.u32 %d0, %r2, 4; cvt.u32.u64 %r0, %d0;",
     3},
    {"mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r1, 0x8000000; cvt.s64.s32 %d0, %r2; cvt.u32.u64 %r0, "
     "%d0;",
     3},
    /* masks */
    {"setp.gt.u32 %q0, %i, 3; selp.b32 %r1, %t, %i, %q0; add.u32 %r0, %r1, 1;", 3},
    {"setp.gt.u32 %q0, %t, 3; selp.b32 %r1, %t, %i, %q0; add.u32 %r0, %r1, 1;", 1},
    {"setp.gt.u32 %q0, %i, 3; not.pred %q1, %q0; selp.b32 %r0, 1, 2, %q1;", 3},
    {"setp.gt.u32 %q0, %t, 3; not.pred %q1, %q0; selp.b32 %r0, 1, 2, %q1;", 1},
    {"setp.gt.u32 %q0, %t, 3; setp.lt.and.u32 %q1, %t, 9, %q0; selp.b32 %r0, 1, 2, %q1;", 1},
    /* floats */
    {"cvt.rn.f32.u32 %f0, %i; add.f32 %f1, %f0, %f0; cvt.rzi.u32.f32 %r0, %f1;", 3},
    {"cvt.rn.f32.u32 %f0, %t; add.f32 %f1, %f0, %f0; cvt.rzi.u32.f32 %r0, %f1;", 1},
    /* guards, and lanes that are left out */
    {"setp.gt.u32 %q0, %i, 3; mov.u32 %r0, 1; @%q0 mov.u32 %r0, 2; add.u32 %r0, %r0, 1;", 2},
    {"setp.gt.u32 %q0, %t, 3; mov.u32 %r0, 1; @%q0 mov.u32 %r0, 2; add.u32 %r0, %r0, 1;", 2},
    {"setp.ge.u32 %q0, %t, 0; mov.u32 %r0, 1; @%q0 mov.u32 %r0, 2;", 2},
    /* other lanes */
    {"shfl.sync.idx.b32 %r1, %t, 3, 31, -1; add.u32 %r0, %r1, 1;", 0},
    {"activemask.b32 %r1; add.u32 %r0, %r1, 1;", 0},
    /* memory */
    {"ld.global.u32 %r1, [%p]; add.u32 %r0, %r1, 1;", 2},
    {"ld.global.v2.u32 {%r1, %r2}, [%p]; add.u32 %r0, %r1, %r2;", 2},
    {"ld.u32 %r1, [%p]; add.u32 %r0, %r1, 1;", 2},
    {"ld.volatile.global.u32 %r1, [%p]; add.u32 %r0, %r1, 1;", 0},
    {"mul.wide.u32 %d0, %t, 4; add.u64 %d1, %d0, %p; ld.global.u32 %r1, [%d1]; add.u32 %r0, %r1, "
     "1;",
     2},
    {"st.shared.u32 [s], %i; bar.sync 0; ld.shared.u32 %r1, [s]; add.u32 %r0, %r1, 1;", 2},
    {"st.local.u32 [l], %t; ld.local.u32 %r1, [l]; add.u32 %r0, %r1, 1;", 0},
    {"atom.global.or.b32 %r1, [%p], 0; add.u32 %r0, %r1, 1;", 0},
};

static void each_rule(void **state)
{
    check("", rules, ARRAY_LEN(rules), (struct hd_dim){4 * WARP, 1, 1}, COMMON);
}

/* A generic address of local memory is only found out when it acts. */
static void a_generic_address_is_looked_at(void **state)
{
    struct rig *rig = compare("",
                              "st.local.u32 [l], %t; mov.u64 %d0, l; cvta.local.u64 %d1, %d0; "
                              "ld.u32 %r1, [%d1]; add.u32 %r0, %r1, 1;",
                              (struct hd_dim){4 * WARP, 1, 1});
    assert_int_equal(stat(rig, "dac_ideal.skipped_loads"), 3); /* of the parameter */
    rig_close(rig);
}

/* One that wraps around is found out at the head, and fetched; the next ones know. */
static void what_was_passed_in_vain_is_fetched(void **state)
{
    struct rig *rig = compare("",
                              "mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %p; ld.global.u32 %r4, "
                              "[%d2]; add.u32 %r4, %r4, 1; mov.u32 %r1, %laneid; sub.u32 %r2, %r1, "
                              "7; cvt.u64.u32 %d0, %r2; add.u64 %d1, %d0, 1; cvt.u32.u64 %r0, %d1;",
                              (struct hd_dim){4 * WARP, 1, 1});
    assert_in_range(stat(rig, "dac_ideal.refetched"), 1, 2 * 3);
    assert_int_equal(stat(rig, "dac_ideal.skipped"), 3 * (COMMON + 5));
    rig_close(rig);
}

/* In a loop, it is passed in vain in one round only: %r2 is not affine where it wraps around. */
static void it_is_passed_in_vain_once(void **state)
{
    static const char body[] =
        "mov.u32 %r5, 0;\nL: mul.wide.u32 %d2, %t, 4; add.u64 %d2, %d2, %p; ld.global.u32 %r4, "
        "[%d2]; "
        "add.u32 %r4, %r4, 1; mov.u32 %r1, %laneid; sub.u32 %r2, %r1, 7; cvt.u64.u32 %d0, %r2; "
        "add.u64 %d1, %d0, 1; cvt.u32.u64 %r0, %d1;\n add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, "
        "8; "
        "@%q1 bra L;";
    struct rig *rig = compare("", body, (struct hd_dim){4 * WARP, 1, 1});
    assert_in_range(stat(rig, "dac_ideal.refetched"), 1, 2 * 3);
    rig_close(rig);
}

/* Only what becomes affine is removed, and comparisons; products tell uniform from affine. */
static void only_affine_results(void **state)
{
    static const struct rule some[] = {
        {"add.u32 %r1, %t, 5; mul.lo.u32 %r0, %r1, %t;", 1},
        {"add.u32 %r1, %i, 5; mul.lo.u32 %r0, %r1, %t;", 2},
        {"and.b32 %r0, %t, 5;", 0},
        {"cvt.rn.f32.u32 %f0, %t; cvt.rzi.u32.f32 %r0, %f0;", 0},
        {"setp.gt.u32 %q0, %t, 3; selp.b32 %r0, 1, 2, %q0;", 1},
        {"ld.global.u32 %r1, [%p]; mul.lo.u32 %r0, %r1, %t;", 2},
        {"mov.u32 %r1, %tid.y; mul.lo.u32 %r0, %r1, %t;", 2}, /* one row */
    };
    check("dac_ideal.results=affine", some, ARRAY_LEN(some), (struct hd_dim){4 * WARP, 1, 1},
          COMMON);
}

/* ---- tags ---- */

static struct operand regs(u32 index, u32 count)
{
    return operand_make(OPERAND_VECTOR, index, count);
}

static enum dac_tag tag_of(const struct dac_view *view, u32 index, u32 count)
{
    const struct inst copy = {.op = count == 1 ? OP_mov_b32 : OP_mov_b64,
                              .dst = {regs(20, count)},
                              .src = {regs(index, count)}};
    const struct dac_inst info = dac_classify(&copy, &(struct inst_time){0}, false, true);
    return dac_judge(view, &info, &copy, NULL).result;
}

/* The two registers of an affine value of 64 bits belong together as long as both are left alone.
 */
static void pairs(void **state)
{
    const struct inst pair = {.dst = {regs(4, 2)}}, low = {.dst = {regs(4, 1)}},
                      high = {.dst = {regs(5, 1)}};
    for (u32 ahead = 0; ahead < 2; ahead++) {
        u8 tags[32] = {0};
        u64 masks = 0;
        struct dac_view view = {.tags = tags, .masks = &masks, .ahead = ahead};
        dac_write(&view, &pair, TAG_AFFINE);
        assert_int_equal(tag_of(&view, 4, 2), TAG_AFFINE);
        assert_int_equal(tag_of(&view, 4, 1), TAG_AFFINE);
        assert_int_equal(tag_of(&view, 5, 1), TAG_NONE);
        assert_int_equal(tag_of(&view, 5, 2), TAG_NONE);
        assert_int_equal(tag_of(&view, 3, 2), TAG_NONE);
        dac_write(&view, &low, TAG_AFFINE); /* another one */
        assert_int_equal(tag_of(&view, 4, 2), TAG_NONE);
        assert_int_equal(tag_of(&view, 4, 1), TAG_AFFINE);
        dac_write(&view, &pair, TAG_AFFINE);
        dac_write(&view, &high, TAG_UNIFORM);
        assert_int_equal(tag_of(&view, 4, 2), TAG_NONE);
        assert_int_equal(tag_of(&view, 5, 1), TAG_UNIFORM);
        dac_write(&view, &low, TAG_UNIFORM);
        assert_int_equal(tag_of(&view, 4, 2), TAG_UNIFORM);
        dac_write(&view, &pair, TAG_NONE);
        assert_int_equal(tag_of(&view, 4, 1), TAG_NONE);
        assert_int_equal(tags[4] | tags[5] | tags[6], 0); /* ahead: only in the list */
    }
}

/* ---- shapes ---- */

static void rows_of_a_block(void **state)
{
    static const struct rule all[] = {
        {"mov.u32 %r1, %tid.y; shl.b32 %r2, %r1, 4; add.u32 %r0, %r2, %t;", 3},
        {"mov.u32 %r1, %tid.y; mul.lo.u32 %r2, %r1, %t; add.u32 %r0, %r2, 1;", 2},
    };
    static const char rows[] = "dac_ideal.affine_rows=true";
    check(rows, all, ARRAY_LEN(all), (struct hd_dim){16, 16, 1}, COMMON);
    check(rows, all, ARRAY_LEN(all), (struct hd_dim){32, 8, 1}, COMMON);
    check(rows, all, ARRAY_LEN(all), (struct hd_dim){8, 8, 2}, COMMON);
    check(rows, all, ARRAY_LEN(all), (struct hd_dim){64, 4, 1}, COMMON);
    /* one stride: coordinates are affine only if a row fills a warp; if not, what is left is the
     * parameter, the block's index and its size */
    const struct rule none[] = {{all[0].body, 0}, {all[1].body, 0}};
    check("", all, ARRAY_LEN(all), (struct hd_dim){32, 8, 1}, COMMON);
    check("", all, ARRAY_LEN(all), (struct hd_dim){64, 4, 1}, COMMON);
    check("", none, ARRAY_LEN(none), (struct hd_dim){16, 16, 1}, 3);
    check("", none, ARRAY_LEN(none), (struct hd_dim){8, 8, 2}, 3);
    /* rows of 24: neither coordinate is affine in all warps, and only some have anything */
    struct rig *rig = compare(rows, all[0].body, (struct hd_dim){24, 16, 1});
    assert_true(stat(rig, "dac_ideal.skipped") < 11 * (COMMON - 2));
    rig_close(rig);
}

/* What differs between warps is affine in a block, and uniform in a warp. */
static void uniform_in_a_warp(void **state)
{
    static const struct rule block[] = {
        {"mov.u32 %r1, %tid.y; mul.wide.u32 %d0, %r1, 4; add.u64 %d1, %d0, %p; "
         "ld.global.u32 %r2, [%d1]; add.u32 %r0, %r2, %r1;",
         3},
        {"mov.u32 %r1, %tid.y; mul.lo.u32 %r2, %r1, %r1; add.u32 %r0, %r2, 1;", 2},
    };
    const struct rule warp[] = {{block[0].body, 5}, {block[1].body, 3}};
    check("", block, ARRAY_LEN(block), (struct hd_dim){32, 4, 1}, COMMON);
    check("dac_ideal.scope=warp", warp, ARRAY_LEN(warp), (struct hd_dim){32, 4, 1}, COMMON);
}

static void warps_without_all_lanes_take_no_part(void **state)
{
    struct rig *rig = compare("", "add.u32 %r0, %t, 1;", (struct hd_dim){3 * WARP + 1, 1, 1});
    assert_int_equal(stat(rig, "dac_ideal.skipped"), 2 * (COMMON + 1));
    assert_int_equal(stat(rig, "dac_ideal.led"), COMMON + 1);
    rig_close(rig);
    rig = compare("", "add.u32 %r0, %t, 1;", (struct hd_dim){WARP, 1, 1});
    assert_int_equal(stat(rig, "dac_ideal.skipped"), 0);
    rig_close(rig);
}

/* ---- control flow ---- */

/* Nothing is skipped after an unissued branch; if fetch waits for branches, no opportunity is
 * missed. */
static void loops(void **state)
{
    static const char body[] = " mov.u32 %r1, 0; mov.u32 %r0, 0;\nL: add.u32 %r0, %r0, %t; "
                               "add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 10; @%q0 bra L;\n";
    static const char *const settings[] = {"fetch.branch=stall", "fetch.branch=continue",
                                           "fetch.width=2 fetch.buffer=2 fetch.when_empty=true",
                                           "fetch.width=1 fetch.buffer=1", "issue.per_warp=1"};
    const u32 removed = COMMON + 2 + 3 * 10, warps = 4;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct rig *rig = compare(settings[i], body, (struct hd_dim){warps * WARP, 1, 1});
        const u64 missed = stat(rig, "dac_ideal.missed");
        assert_int_equal(stat(rig, "dac_ideal.skipped") + missed, removed * (warps - 1));
        assert_in_range(missed, 0, i ? 4 * (warps - 1) : 0);
        if (i == 0)
            assert_int_equal(stat(rig, "dac_ideal.skipped_compares"), 10 * (warps - 1));
        rig_close(rig);
    }
}

/* Lanes that go different ways take no part until they meet; what some lanes wrote is not known. */
static void divergence(void **state)
{
    static const char body[] =
        " mov.u32 %r1, %laneid; mov.u32 %r0, 1; mov.u32 %r2, 2; setp.lt.u32 %q0, %r1, 8;\n"
        " @%q0 bra A;\n add.u32 %r0, %r0, %i; add.u32 %r3, %i, 1; bra B;\n"
        "A: add.u32 %r0, %r0, 2;\nB: add.u32 %r0, %r0, 3; add.u32 %r2, %r2, 4;\n";
    struct rig *rig = compare("fetch.branch=stall", body, (struct hd_dim){4 * WARP, 1, 1});
    rig_close(rig);
}

/* Warps on different paths: an instruction that only some reach. */
static void warps_go_different_ways(void **state)
{
    static const char body[] =
        " shr.u32 %r1, %t, 5; mov.u32 %r0, 1; setp.lt.u32 %q0, %r1, 2;\n"
        " @%q0 bra A;\n add.u32 %r0, %r0, 8; bra B;\nA: add.u32 %r0, %r0, 2;\nB: add.u32 %r0, %r0, "
        "3;\n";
    struct rig *rig = compare("fetch.branch=stall", body, (struct hd_dim){4 * WARP, 1, 1});
    /* the shift is removed and its result not known, so the comparison is not */
    assert_int_equal(stat(rig, "dac_ideal.skipped"), 3 * (COMMON + 2 + 1) + 1 + 1);
    rig_close(rig);
}

/* ---- memory ---- */

/* A skipped load follows earlier stores and atomics of its warp. */
static void loads_come_behind_stores(void **state)
{
    static const char place[] = " mov.u32 %r1, %tid.y; mul.wide.u32 %d0, %r1, 4; add.u64 %d1, %d0, "
                                "%p; add.u32 %r2, %r1, 1;\n";
    static const char *const bodies[] = {
        "st.global.u32 [%d1], %r2; ld.global.u32 %r0, [%d1];",
        "red.global.add.u32 [%d1], %r2; ld.global.u32 %r0, [%d1];",
        "atom.global.add.u32 %r3, [%d1], %r2; ld.global.u32 %r0, [%d1];",
        "mov.u32 %r4, s; mad.lo.u32 %r4, %r1, 4, %r4; st.shared.u32 [%r4], %r2; "
        "ld.shared.u32 %r0, [%r4];",
        "mov.u32 %r4, s; mad.lo.u32 %r4, %r1, 4, %r4; st.shared.u32 [%r4], %r2; "
        "atom.shared.add.u32 %r3, [%r4], 7; ld.shared.u32 %r0, [%r4];",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        char body[512];
        snprintf(body, sizeof body, "%s %s", place, bodies[i]);
        struct rig *rig = compare("dac_ideal.scope=warp", body, (struct hd_dim){32, 16, 1});
        assert_int_equal(stat(rig, "dac_ideal.skipped_loads"), 2 * 15);
        assert_true(stat(rig, "dac_ideal.waits"));
        rig_close(rig);
    }
}

/* Stores and atomics of one warp are visible to all others after a barrier. */
static void loads_come_behind_barriers(void **state)
{
    static const char *const bodies[] = {
        "setp.eq.u32 %q0, %t, 3; @%q0 st.shared.u32 [s+4], 77; bar.sync 0; ld.shared.u32 %r0, "
        "[s+4];",
        "setp.eq.u32 %q0, %t, 99; @%q0 st.global.u32 [%p+4], 77; bar.sync 0; ld.global.u32 %r0, "
        "[%p+4];",
        "red.global.add.u32 [%p+8], 1; bar.sync 0; ld.global.u32 %r0, [%p+8];",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct rig *rig = compare("", bodies[i], (struct hd_dim){8 * WARP, 1, 1});
        assert_int_equal(stat(rig, "dac_ideal.skipped_loads"), 2 * 7);
        rig_close(rig);
    }
}

/* A wrong address gives the same fault, whichever warp loads. */
static void faults_are_found(void **state)
{
    struct rig *rig = open_rig("dac_ideal.on=true", "ld.global.u32 %r0, [64];");
    const hd_address at = rig_memory(rig, 8192);
    rig_launch(rig, 1, 4 * WARP, &(struct hd_arg){&at, sizeof at}, 1);
    assert_int_not_equal(rig->result.outcome, HD_DONE);
    rig_close(rig);
}

static void loads_may_stay(void **state)
{
    struct rig *rig =
        compare("dac_ideal.loads=false", "ld.global.u32 %r1, [%p]; add.u32 %r0, %r1, 1;",
                (struct hd_dim){4 * WARP, 1, 1});
    assert_int_equal(stat(rig, "dac_ideal.skipped"), 3 * (COMMON - 1 + 1));
    assert_int_equal(stat(rig, "dac_ideal.skipped_loads"), 0);
    rig_close(rig);
}

/* ---- what it is for ---- */

/* Uniform work of many warps: all but one warp's is gone, and time with it. */
static void time_goes(void **state)
{
    char body[100 * 32] = "mov.u32 %r0, 0;";
    for (u32 i = 0; i < 100; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body), " add.u32 %%r%u, %%i, %u;\n",
                 1 + i % 8, i);
    u64 cycles[2];
    for (u32 on = 0; on < 2; on++) {
        struct rig *rig = open_rig(on ? "dac_ideal.on=true" : "", body);
        free(run(rig, (struct hd_dim){32 * WARP, 1, 1}));
        cycles[on] = stat(rig, "issue.cycles");
        rig_close(rig);
    }
    assert_true(cycles[1] * 2 < cycles[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(a_generic_address_is_looked_at),
        cmocka_unit_test(what_was_passed_in_vain_is_fetched),
        cmocka_unit_test(it_is_passed_in_vain_once),
        cmocka_unit_test(only_affine_results),
        cmocka_unit_test(pairs),
        cmocka_unit_test(rows_of_a_block),
        cmocka_unit_test(uniform_in_a_warp),
        cmocka_unit_test(warps_without_all_lanes_take_no_part),
        cmocka_unit_test(loops),
        cmocka_unit_test(divergence),
        cmocka_unit_test(warps_go_different_ways),
        cmocka_unit_test(loads_come_behind_stores),
        cmocka_unit_test(loads_come_behind_barriers),
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(loads_may_stay),
        cmocka_unit_test(time_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
