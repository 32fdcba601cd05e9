/*
 * Sampled blocks and their copies (sdmr): which blocks; that copies leave no trace and see memory as
 * it was; that one wrong word, the last one too, is found; late bits; kernels that cannot be copied.
 *
 *   test-mech-sdmr TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "rig.h"

#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

/* The functions that choose blocks. */
#define sdmr_component own_component
#define sdmr_mechanism own_mechanism
#include "mech/sdmr.c"
#undef sdmr_component
#undef sdmr_mechanism
#undef COMPONENT
#undef COMPONENT_DEF
#undef COMPONENT_HELP
extern const struct mechanism sdmr_mechanism;

/* ---- a mechanism beside it ---- */

#define COMPONENT spoil
#define COMPONENT_DEF "spoil.def"
#define COMPONENT_HELP "spoils a store of a copy, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct spoil {
    MECHANISM_STATE(spoil);
    /* by place: the first instruction has issued, in this cycle */
    bool runs[CORE_BLOCKS];
    u64 copied[CORE_BLOCKS];
};

static void spoil_block(void *state, struct core *core, u32 place, bool started)
{
    struct spoil *s = state;
    const struct resident *r = core_block(core, place);
    u32 copies = 0, own = 0;
    for (u32 i = 0; i < CORE_BLOCKS; i++) {
        const struct resident *other = core_block(core, i);
        copies += other->block && other->left && other->copy;
        own += other->block && other->left && !other->copy;
    }
    s->stats->beside += copies && own;
    if (r->copy && !started)
        s->stats->copy_cycles += core_cycle(core) - s->copied[place];
    s->runs[place] = false;
}

static u32 spoil_operand(void *state, struct core *core, struct inflight *inflight)
{
    struct spoil *s = state;
    struct dyninst *f = &inflight->dyn;
    const struct slot *slot = core_slot(core, inflight->slot);
    const struct resident *r = core_block(core, slot->block);
    const lane_set lane = 1ull << s->params->lane;
    if (!s->runs[slot->block])
        s->copied[slot->block] = core_cycle(core);
    s->runs[slot->block] = true;
    if (!r->copy || r->block->number != s->params->block || slot->warp->index != s->params->warp ||
        f->code->op != OP_st || !(f->lanes & lane))
        return 0;
    if (s->params->drop)
        f->lanes = f->global &= ~lane;
    else
        f->src[1][s->params->lane] ^= 1;
    s->stats->spoiled++;
    return 0;
}

static const struct mechanism spoil_mechanism = {
    MECHANISM_NAMED(spoil, "changes a word that a copy stores"),
    .state_size = sizeof(struct spoil),
    .block = spoil_block,
    .operand = spoil_operand,
};

/* ---- write latches, once more ---- */

#undef COMPONENT
#undef COMPONENT_DEF
#undef COMPONENT_HELP
#define COMPONENT latch
#define COMPONENT_DEF "latch.def"
#define COMPONENT_HELP "write latches with a late bit, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    LATCH_ROWS = 16
};

/* It comes before sdmr, so that it sees results before a late bit changes them. With one late bit. */
struct latch_model {
    MECHANISM_STATE(latch);
    bool held;
    bool struck[CORE_BLOCKS];
    u32 expected[CORE_INFLIGHT][LATCH_ROWS]; /* of the late bit's lane */
};

static const struct sdmr *sdmr_of(const struct core *core)
{
    return core_mechanism(core, &sdmr_mechanism);
}

/* The words that a result writes in the lane of the late bit, by number. */
static u32 latched(const struct core *core, const struct inflight *inflight, u32 **words)
{
    const struct dyninst *dyn = &inflight->dyn;
    const u32 lane = sdmr_of(core)->late[0].lane;
    u32 count = 0;
    for (u32 k = 0; k < 2; k++)
        for (u32 r = 0; dyn->dst[k] && dyn->writes >> lane & 1 && r < dyn->dst_rows[k]; r++) {
            assert_true(count < LATCH_ROWS);
            words[count++] = dyn->dst[k] + r * core_warp_size(core) + lane;
        }
    return count;
}

static void latch_result(void *state, struct core *core, struct inflight *inflight)
{
    struct latch_model *l = state;
    const u32 place = core_slot(core, inflight->slot)->block;
    const bool copy = core_block(core, place)->copy;
    u32 *words[LATCH_ROWS];
    if (core_config(core)->index + 1 != core_config(core)->cores)
        return;
    const u32 mode = sdmr_of(core)->params->late_value, bit = sdmr_of(core)->late[0].bit;
    const u32 count = latched(core, inflight, words);
    bool changed = false;
    for (u32 i = 0; i < count; i++) {
        u32 word = *words[i];
        if (copy && (mode == SDMR_ONE || (mode == SDMR_HELD && l->held)))
            word |= 1u << bit;
        else if (copy)
            word &= ~(1u << bit);
        changed |= word != *words[i];
        l->held = word >> bit & 1;
        l->expected[inflight_index(core, inflight)][i] = word;
    }
    l->stats->changed += changed;
    l->stats->struck += changed && !l->struck[place];
    l->struck[place] |= changed;
}

static void latch_retired(void *state, struct core *core, struct inflight *inflight)
{
    struct latch_model *l = state;
    u32 *words[LATCH_ROWS];
    if (core_config(core)->index + 1 != core_config(core)->cores)
        return;
    const u32 count = latched(core, inflight, words);
    for (u32 i = 0; i < count; i++)
        l->stats->wrong += *words[i] != l->expected[inflight_index(core, inflight)][i];
}

static void latch_block(void *state, struct core *core, u32 place, bool started)
{
    ((struct latch_model *)state)->struck[place] = false;
}

static const struct mechanism latch_mechanism = {
    MECHANISM_NAMED(latch, "knows what late bits do"),
    .state_size = sizeof(struct latch_model),
    .result = latch_result,
    .retired = latch_retired,
    .block = latch_block,
};

static const struct mechanism *const available[] = {&latch_mechanism, &sdmr_mechanism,
                                                    &spoil_mechanism, NULL};

static const char *const reserves[] = {"sdmr.reserve=sample", "sdmr.reserve=epoch",
                                       "sdmr.reserve=launch"};
static const char *const compares[] = {"sdmr.compare=log", "sdmr.compare=checksum"};

static struct seen go(const char *file, const char *name, const char *const *words)
{
    return rig_run(file, name, "gtx480", words, available, false);
}

/* ---- tests ---- */

static u32 sampled_of(f64 rate, u32 epoch, u64 blocks)
{
    const struct sdmr_params p = {.rate = rate, .epoch = epoch};
    u32 count = 0;
    for (u64 n = 0; n < blocks; n++)
        count += is_sampled(&p, n);
    return count;
}

static void samples_are_spread_over_an_epoch(void **state)
{
    const struct sdmr_params tenth = {.rate = 0.1, .epoch = 100}, most = {.rate = 0.7, .epoch = 10};
    assert_int_equal(sampled_of(0, 100, 1000), 0);
    assert_int_equal(sampled_of(0.01, 100, 1), 1);
    assert_int_equal(sampled_of(0.01, 100, 100), 1);
    assert_int_equal(sampled_of(0.01, 100, 101), 2);
    assert_int_equal(sampled_of(0.01, 100, 1000), 10);
    assert_int_equal(sampled_of(0.1, 100, 250), 25);
    assert_int_equal(sampled_of(0.001, 100, 1000), 10); /* one of each epoch at least */
    assert_int_equal(sampled_of(1, 7, 1000), 1000);
    assert_int_equal(sampled_of(0.7, 10, 1000), 700);
    for (u64 n = 0; n < 300; n++)
        assert_int_equal(is_sampled(&tenth, n), n % 10 == 0);
    assert_int_equal(last_of_epoch(&tenth, 0, 1000), 90);
    assert_int_equal(last_of_epoch(&tenth, 110, 155), 150);
    assert_int_equal(last_of_epoch(&tenth, 110, 1000), 190);
    assert_int_equal(last_of_epoch(&most, 10, 1000), 19); /* 0, 2, 3, 5, 6, 8, 9 */
}

/* 1000 threads in 8 blocks of 128, which store a word each: 32 warps. */
static void copies_are_compared_word_by_word(void **state)
{
    struct seen plain = go("cuda/vectors", "vecadd", WITH("gpu.cores=2"));
    for (u32 i = 0; i < ARRAY_LEN(reserves); i++)
        for (u32 k = 0; k < ARRAY_LEN(compares); k++) {
            struct seen with = go("cuda/vectors", "vecadd",
                                  WITH("gpu.cores=2", "core.blocks=2", "sdmr:rate=1", "spoil",
                                       reserves[i], compares[k]));
            static const struct {
                const char *name;
                u64 value;
            } wanted[] = {
                {"sdmr.samples", 8},  {"sdmr.copies", 8},         {"sdmr.stores", 32},
                {"sdmr.words", 1000}, {"sdmr.copy_words", 1000},  {"sdmr.preimage_bytes", 4000},
                {"sdmr.detected", 0}, {"sdmr.silent_samples", 8}, {"spoil.beside", 0},
            };
            for (u32 w = 0; w < ARRAY_LEN(wanted); w++)
                assert_int_equal(rig_total(&with, wanted[w].name), wanted[w].value);
            assert_int_equal(rig_total(&with, "sdmr.compared"), k ? 0 : 1000);
            assert_int_equal(rig_total(&with, "sdmr.copy_cycles"),
                             rig_total(&with, "spoil.copy_cycles"));
            assert_true(with.hash == plain.hash);
            rig_drop(&with);
        }
    rig_drop(&plain);
}

/* The checker takes blocks of its own when nothing is sampled, unless it is reserved for the launch. */
static void reservations_cost_time(void **state)
{
    static const char *const blocks = "core.blocks=2";
    u64 cycles[4];
    for (u32 i = 0; i < 4; i++) {
        struct seen with = go("cuda/vectors", "vecadd",
                              WITH("gpu.cores=2", blocks, "sdmr:rate=0.25,epoch=4", "spoil",
                                   i < 3 ? reserves[i] : "sdmr.rate=0"));
        cycles[i] = rig_total(&with, "timing.cycles");
        assert_int_equal(rig_total(&with, "sdmr.samples"), i < 3 ? 2 : 0);
        assert_int_equal(rig_total(&with, "spoil.beside"), 0);
        rig_drop(&with);
    }
    assert_true(cycles[3] < cycles[0]);
    assert_true(cycles[0] <= cycles[1] && cycles[1] <= cycles[2]);
}

/* saxpy changes its operand in place. With one place on the checker, most copies start when their
 * block has long stored. */
static void copies_see_memory_as_it_was(void **state)
{
    static const char *const kernels[][2] = {
        {"cuda/vectors", "saxpy"},      {"cuda/matmul", "matmul16"}, {"cuda/sort", "bitonic"},
        {"cuda/spaces", "local_index"}, {"cuda/vectors", "blend4"},  {"cuda/stencil", "stencil2d"},
    };
    u64 kept = 0;
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
        struct seen plain = go(kernels[i][0], kernels[i][1], NULL);
        struct seen with =
            go(kernels[i][0], kernels[i][1], WITH("gpu.cores=2", "core.blocks=1", "sdmr:rate=1"));
        assert_int_equal(rig_total(&with, "sdmr.copies"), rig_total(&with, "sdmr.samples"));
        assert_int_equal(rig_total(&with, "sdmr.samples"), rig_total(&with, "timing.blocks"));
        assert_int_equal(rig_total(&with, "sdmr.compared"), rig_total(&with, "sdmr.words"));
        assert_int_equal(rig_total(&with, "sdmr.detected"), 0);
        assert_true(with.hash == plain.hash);
        kept += rig_total(&with, "sdmr.preimage_bytes");
        rig_drop(&plain);
        rig_drop(&with);
    }
    assert_true(kept > 0);
}

#define THREADS 64
#define GRID 24

/* Each thread doubles its word in memory, and then adds 1 to it. */
static const char twice[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .u64 %a, %o;\n.reg .u32 %x, %b, %t;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %b, %ctaid.x;\nmov.u32 %t, %tid.x;\n"
    "mad.lo.u32 %t, %b, 64, %t;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %a, %a, %o;\n"
    "ld.global.u32 %x, [%a];\nadd.u32 %x, %x, %x;\nst.global.u32 [%a], %x;\n"
    "ld.global.u32 %x, [%a];\nadd.u32 %x, %x, 1;\nst.global.u32 [%a], %x;\nret;\n}\n";

/* One copy after the other on the checker, and three blocks at a time elsewhere: at the end, most
 * copies have yet to start, and what they read has long been overwritten. */
static void late_copies_see_memory_as_it_was(void **state)
{
    static const char *const words[] = {"timing.functional=false", "gpu.cores=4", "core.blocks=1",
                                        "sdmr:rate=1"};
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    struct hd_result result;
    u32 values[GRID * THREADS];
    assert_true(hd_config_load(config, "gtx480", &error));
    for (u32 i = 0; i < ARRAY_LEN(words); i++)
        assert_true(rig_apply(config, words[i], &error));
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    assert_non_null(device);
    struct hd_module *module = hd_module_load(device, twice, strlen(twice), "k.ptx", &error);
    assert_non_null(module);
    hd_address memory = hd_alloc(device, sizeof values, &error);
    for (u32 i = 0; i < ARRAY_LEN(values); i++)
        values[i] = 7 * i;
    assert_true(hd_write(device, memory, values, sizeof values, &error));
    struct hd_arg arg = {&memory, sizeof memory};
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){GRID, 1, 1},
                          (struct hd_dim){THREADS, 1, 1}, 0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    assert_true(hd_read(device, values, memory, sizeof values, &error));
    for (u32 i = 0; i < ARRAY_LEN(values); i++)
        assert_int_equal(values[i], 14 * i + 1);
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL);
    struct seen seen = {.totals = json_incref(json_object_get(all, "totals")), .text = text};
    json_decref(all);
    assert_int_equal(rig_total(&seen, "sdmr.copies"), GRID);
    assert_int_equal(rig_total(&seen, "sdmr.compared"), 2 * GRID * THREADS);
    assert_int_equal(rig_total(&seen, "sdmr.preimage_bytes"), sizeof values);
    assert_int_equal(rig_total(&seen, "sdmr.detected"), 0);
    rig_drop(&seen);
    hd_device_close(device);
}

/* Thread 999, the last one, is lane 7 of warp 3 of block 7: its word is the last of its warp's log. */
static void one_wrong_word_is_found(void **state)
{
    struct seen plain = go("cuda/vectors", "vecadd", NULL);
    static const char *const words[] = {
        "spoil:block=7,warp=3,lane=7", "spoil:block=7,warp=3,lane=7,drop=true",
        "spoil:block=0,warp=0,lane=0", "spoil:block=3,warp=2,lane=31"};
    for (u32 i = 0; i < ARRAY_LEN(words); i++)
        for (u32 k = 0; k < ARRAY_LEN(compares); k++) {
            struct seen with = go("cuda/vectors", "vecadd",
                                  WITH("gpu.cores=2", "sdmr:rate=1", words[i], compares[k]));
            assert_int_equal(rig_total(&with, "spoil.spoiled"), 1);
            assert_int_equal(rig_total(&with, "sdmr.detected"), 1);
            assert_true(rig_total(&with, "sdmr.silent_samples") < 8);
            assert_true(with.hash == plain.hash);
            rig_drop(&with);
        }
    struct seen stopped =
        rig_run("cuda/vectors", "vecadd", "gtx480",
                WITH("gpu.cores=2", "sdmr:rate=1,stop=true", words[0]), available, true);
    assert_true(stopped.wrong);
    assert_non_null(strstr(stopped.text, "block 7 and its copy on the checker, core 1"));
    rig_drop(&stopped);
    rig_drop(&plain);
}

/* Each result of copies goes through the latch; those of the checker's other blocks leave their bits in
 * it. Only 8 of 32 blocks are copied, and the checker has blocks of its own in between. */
static void late_bits_keep_what_was_there(void **state)
{
    static const char *const values[] = {"sdmr.late_value=held", "sdmr.late_value=zero",
                                         "sdmr.late_value=one"};
    for (u32 k = 0; k < ARRAY_LEN(values); k++) {
        u64 changed = 0;
        for (u32 seed = 1; seed <= 4; seed++) {
            char word[32];
            snprintf(word, sizeof word, "launch.seed=%u", seed);
            struct seen with = rig_run("cuda/mandel", "mandel", "gtx480",
                                       WITH("gpu.cores=2", "sdmr:late=1,rate=0.25,epoch=4", "latch",
                                            "sdmr.patience=20000", values[k], word),
                                       available, true);
            assert_int_equal(rig_total(&with, "latch.wrong"), 0);
            assert_int_equal(rig_total(&with, "sdmr.late_results"),
                             rig_total(&with, "latch.changed"));
            assert_true(rig_total(&with, "sdmr.struck") <= rig_total(&with, "latch.struck"));
            if (!with.wrong)
                assert_int_equal(rig_total(&with, "sdmr.struck"), rig_total(&with, "latch.struck"));
            changed += rig_total(&with, "latch.changed");
            rig_drop(&with);
        }
        assert_true(changed > 0);
    }
}

/* A late bit concerns copies only: a launch that ends has the right results. */
static void late_bits_are_found(void **state)
{
    static const char *const seeds[] = {"launch.seed=1", "launch.seed=2", "launch.seed=3",
                                        "launch.seed=4", "launch.seed=5", "launch.seed=6"};
    static const char *const values[] = {"sdmr:late=1,rate=1", "sdmr:late=1,rate=1,late_value=zero",
                                         "sdmr:late=2,rate=1,late_value=one"};
    struct seen plain = go("cuda/mandel", "mandel", NULL);
    u64 detected = 0, faults = 0;
    for (u32 i = 0; i < ARRAY_LEN(seeds); i++)
        for (u32 k = 0; k < ARRAY_LEN(values); k++) {
            struct seen with = rig_run(
                "cuda/mandel", "mandel", "gtx480",
                WITH("gpu.cores=2", "sdmr.patience=20000", values[k], seeds[i]), available, true);
            if (with.wrong)
                assert_non_null(strstr(with.text, "(sdmr.patience): it may never end"));
            assert_true(with.wrong || with.hash == plain.hash);
            assert_true(rig_total(&with, "sdmr.late_results") >= rig_total(&with, "sdmr.struck"));
            if (!with.wrong) {
                assert_true(rig_total(&with, "sdmr.struck") >= rig_total(&with, "sdmr.detected"));
                assert_true(rig_total(&with, "sdmr.latency_cycles") <=
                            rig_total(&with, "sdmr.copy_cycles"));
                detected += rig_total(&with, "sdmr.detected");
                faults += rig_total(&with, "sdmr.faults");
            }
            rig_drop(&with);
        }
    assert_true(detected > 10 && faults > 0);
    rig_drop(&plain);
}

static void unfit_kernels_are_refused(void **state)
{
    struct seen refused = rig_run("cuda/reduce", "reduce_atomic", "gtx480",
                                  WITH("gpu.cores=2", "sdmr"), available, true);
    assert_true(refused.wrong);
    assert_non_null(strstr(refused.text, "kernel reduce_atomic cannot be copied by sdmr"));
    assert_int_equal(rig_total(&refused, "sdmr.samples"), 0);
    rig_drop(&refused);
    struct seen skipped =
        go("cuda/reduce", "reduce_atomic", WITH("gpu.cores=2", "sdmr:unfit=skip,rate=1"));
    assert_int_equal(rig_total(&skipped, "sdmr.skipped"), 1);
    assert_int_equal(rig_total(&skipped, "sdmr.samples"), 0);
    rig_drop(&skipped);
    struct seen prints = rig_run("cuda/services", "print", "gtx480",
                                 WITH("gpu.cores=2", "sdmr:unfit=skip"), available, true);
    assert_int_equal(rig_total(&prints, "sdmr.skipped"), 1);
    rig_drop(&prints);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_spread_over_an_epoch),
        cmocka_unit_test(copies_are_compared_word_by_word),
        cmocka_unit_test(reservations_cost_time),
        cmocka_unit_test(copies_see_memory_as_it_was),
        cmocka_unit_test(late_copies_see_memory_as_it_was),
        cmocka_unit_test(one_wrong_word_is_found),
        cmocka_unit_test(late_bits_keep_what_was_there),
        cmocka_unit_test(late_bits_are_found),
        cmocka_unit_test(unfit_kernels_are_refused),
    };
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
