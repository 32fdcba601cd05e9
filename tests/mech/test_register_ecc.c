/*
 * Check bits of registers (register_ecc): the code corrects every single error and detects every
 * double one; bits that are flipped in a running program are corrected, or stop it, or do harm where
 * there are no check bits; short-lived values free their entry; results and times are those without.
 *
 *   test-mech-register-ecc TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "rig.h"

#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

/* The functions of the code itself. */
#define register_ecc_component own_component
#define register_ecc_mechanism own_mechanism
#include "mech/register_ecc.c"
#undef register_ecc_component
#undef register_ecc_mechanism
extern const struct mechanism register_ecc_mechanism;

/* ---- the code ---- */

static u32 judge(const struct register_ecc *e, u32 word, u8 check, u32 bit)
{
    if (bit < WORD_BITS)
        word ^= 1u << bit;
    else
        check ^= (u8)(1u << (bit - WORD_BITS));
    return e->fix[check ^ check_bits(e, word)];
}

static void single_errors_have_a_name(void **state)
{
    static const u32 words[] = {0, ~0u, 1, 0x80000000, 0xdeadbeef};
    struct register_ecc e = {0};
    const u32 bits = WORD_BITS + CHECK_BITS;
    create(&e, NULL);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const u8 check = check_bits(&e, words[i]);
        for (u32 a = 0; a < bits; a++) {
            assert_int_equal(judge(&e, words[i], check, a), a);
            const u32 word = a < WORD_BITS ? words[i] ^ 1u << a : words[i];
            const u8 other = a < WORD_BITS ? check : (u8)(check ^ 1u << (a - WORD_BITS));
            for (u32 b = 0; b < bits; b++)
                if (b != a)
                    assert_int_equal(judge(&e, word, other, b), NO_FIX);
        }
    }
}

/* ---- flips ---- */

#define HEAD                                                                               \
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" \
    ".reg .u64 %a;\n.reg .u32 %x, %y, %t, %r;\n.reg .pred %p;\nld.param.u64 %a, [p];\n"

/* %x lives over 400 cycles or so and decides what is stored; %y and %t are short-lived. */
static const char waits[] =
    HEAD "ld.global.u32 %x, [%a];\n"
         "mov.u32 %t, 40;\nmov.u32 %y, 1;\n"
         "L: add.u32 %y, %y, 3;\nsub.u32 %t, %t, 1;\n"
         "setp.ne.u32 %p, %t, 0;\n@%p bra L;\n"
         "add.u32 %y, %y, %x;\nadd.u32 %y, %y, %x;\nst.global.u32 [%a], %y;\nret;\n}\n";
/* %r is read by the next instruction but one, which is hundreds of cycles later: that one waits for
 * %x. */
static const char stalls[] =
    HEAD "ld.global.u32 %x, [%a];\nmov.u32 %r, 115;\nadd.u32 %y, %x, 0;\nadd.u32 %y, %y, %r;\n"
         "add.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\n"
         "add.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, %x;\nst.global.u32 [%a], %y;\n"
         "ret;\n}\n";
enum {
    LANE = 31,      /* the one whose store stays */
    REGISTERS = 12, /* of the warp, and more */
    INPUT = 7,
    RIGHT = 1 + 40 * 3 + 2 * INPUT
};

/* One warp of `code` on one core; memory holds INPUT. */
struct bed {
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address memory;
    u64 cycles;
};
struct ending {
    bool check, right, done;
    u64 corrected, detected, inserted, refused;
};

static struct bed open_bed(const char *code, const char *const *words)
{
    static const char *const usual[] = {"timing.functional=false", "gpu.cores=1",
                                        "ptx.optimize=false",      "timing.live_state=true",
                                        "icache.perfect=true",     "timing.max_cycles=20000"};
    struct hd_error error = {0};
    struct bed bed = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, "fermi16", &error));
    for (u32 i = 0; i < ARRAY_LEN(usual); i++)
        assert_true(hd_config_set(config, usual[i], &error));
    for (; words && *words; words++)
        if (!rig_apply(config, *words, &error))
            fail_msg("%s: %s", *words, error.message);
    bed.device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (!bed.device)
        fail_msg("%s", error.message);
    struct hd_module *module = hd_module_load(bed.device, code, strlen(code), "k.ptx", &error);
    if (!module)
        fail_msg("%s", error.message);
    bed.kernel = hd_kernel_at(module, 0);
    bed.memory = hd_alloc(bed.device, 256, &error);
    return bed;
}

static u64 total(const struct bed *bed, const char *name)
{
    char *text = hd_stats_json(bed->device);
    json_t *all = json_loads(text, 0, NULL);
    const u64 value =
        (u64)json_integer_value(json_object_get(json_object_get(all, "totals"), name));
    json_decref(all);
    hd_free(text);
    return value;
}

static struct ending run(struct bed *bed, struct strike *strikes, u32 count)
{
    struct hd_error error = {0};
    struct hd_result result;
    u32 words[2] = {INPUT, INPUT};
    struct hd_arg arg = {&bed->memory, sizeof bed->memory};
    struct ending ending = {0};
    const u64 corrected = total(bed, "register_ecc.corrected");
    const u64 detected = total(bed, "register_ecc.detected");
    assert_true(hd_write(bed->device, bed->memory, words, sizeof words, &error));
    if (count)
        timing_strike(bed->device->timing, strikes, count);
    if (!hd_launch(bed->kernel, (struct hd_dim){1, 1, 1}, (struct hd_dim){32, 1, 1}, 0, &arg, 1,
                   &result, &error))
        fail_msg("%s", error.message);
    assert_true(hd_read(bed->device, words, bed->memory, sizeof words, &error));
    bed->cycles = result.cycles;
    ending.done = result.outcome == HD_DONE;
    ending.check = result.outcome == HD_CHECK;
    ending.right = ending.done && words[0] == RIGHT;
    ending.corrected = total(bed, "register_ecc.corrected") - corrected;
    ending.detected = total(bed, "register_ecc.detected") - detected;
    return ending;
}

/* Flips bits of a lane of each register in turn, in the middle of the run: `bits` has those of the
 * word, from WORD_BITS on those of its check bits. Counts how it ends. */
struct tally {
    u32 right, wrong, checks, corrected, detected;
};
static struct tally flip_each(const char *code, const char *const *words, const u32 *bits,
                              u32 count)
{
    struct bed bed = open_bed(code, words);
    struct tally tally = {0};
    assert_true(run(&bed, NULL, 0).right); /* fills the caches */
    assert_true(run(&bed, NULL, 0).right);
    const u64 middle = bed.cycles * 3 / 8; /* before the last read of each register */
    for (u32 r = 0; r < REGISTERS; r++) {
        struct strike strikes[3] = {0};
        for (u32 i = 0; i < count; i++) {
            const bool check = bits[i] >= WORD_BITS;
            strikes[i] =
                (struct strike){.element = check ? "register_ecc.check" : "collect.registers",
                                .bit = check ? (r * 32ull + LANE) * CHECK_BITS + bits[i] - WORD_BITS
                                             : (r * 32ull + LANE) * WORD_BITS + bits[i],
                                .cycle = middle};
        }
        const struct ending ending = run(&bed, strikes, count);
        tally.right += ending.right;
        tally.checks += ending.check;
        tally.wrong += !ending.right && !ending.check;
        tally.corrected += (u32)ending.corrected;
        tally.detected += (u32)ending.detected;
    }
    hd_device_close(bed.device);
    return tally;
}

#define FLIP(words, ...) FLIP_IN(waits, words, __VA_ARGS__)
#define FLIP_IN(code, words, ...)                      \
    flip_each(code, words, (const u32[]){__VA_ARGS__}, \
              sizeof((const u32[]){__VA_ARGS__}) / sizeof(u32))

static void flips_without_check_bits_do_harm(void **state)
{
    const struct tally one = FLIP(NULL, 5), two = FLIP(NULL, 5, 6);
    assert_int_equal(one.wrong, 4); /* %x, %y, %t and the lower half of the address */
    assert_int_equal(two.wrong, 4);
    assert_int_equal(one.checks + two.checks, 0);
}

/* Of five registers, a pair among them, all are read later. */
static void one_flip_is_corrected(void **state)
{
    const char *const *ecc = WITH("register_ecc");
    for (u32 bit = 0; bit < WORD_BITS + CHECK_BITS; bit += 6) {
        const struct tally tally = FLIP(ecc, bit);
        assert_int_equal(tally.right, REGISTERS);
        assert_int_equal(tally.corrected, 5);
        assert_int_equal(tally.detected, 0);
    }
}

static void two_flips_are_detected(void **state)
{
    const char *const *ecc = WITH("register_ecc");
    const struct tally ends[] = {FLIP(ecc, 4, 5), FLIP(ecc, 4, 33), FLIP(ecc, 33, 38)};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        assert_int_equal(ends[i].checks, 5);
        assert_int_equal(ends[i].detected, 5);
        assert_int_equal(ends[i].corrected, 0);
        assert_int_equal(ends[i].wrong, 0);
    }
}

/* Shield: the address is corrected, %r is not. */
static void the_table_protects_what_it_has(void **state)
{
    const char *const *shield = WITH("register_ecc:mode=table,limit=6");
    const struct tally all = FLIP_IN(stalls, WITH("register_ecc"), 5);
    const struct tally one = FLIP_IN(stalls, shield, 5), two = FLIP_IN(stalls, shield, 5, 9);
    assert_int_equal(all.corrected, 3);
    assert_int_equal(one.wrong, 1);
    assert_int_equal(one.corrected, 2);
    assert_int_equal(two.wrong, 1);
    assert_int_equal(two.checks, 2);
    const char *const *small = WITH("register_ecc:mode=table,limit=6,entries=1");
    assert_int_equal(FLIP_IN(stalls, small, 5).corrected, 1);
}

/* ---- the table ---- */

/* Three entries: two for the address, and the third for %x. %r wants one later. */
#define LONG_THEN(overwrite, end)                                                       \
    HEAD "ld.global.u32 %x, [%a];\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %p, %t, 16;\n"      \
         "mov.u32 %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\n" \
         "add.u32 %y, %y, %x;\n" overwrite "add.u32 %y, %y, %x;\n"                      \
         "ld.global.u32 %r, [%a+4];\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\n"          \
         "add.u32 %y, %y, 1;\nadd.u32 %y, %y, 1;\nadd.u32 %y, %y, %r;\n" end            \
         "st.global.u32 [%a], %y;\nret;\n}\n"

static void expect_table(const char *code, u64 inserted, u64 refused)
{
    struct bed bed = open_bed(code, WITH("register_ecc:mode=table,limit=4,entries=3"));
    assert_true(run(&bed, NULL, 0).done);
    assert_int_equal(total(&bed, "register_ecc.inserted"), inserted);
    assert_int_equal(total(&bed, "register_ecc.refused"), refused);
    assert_int_equal(total(&bed, "register_ecc.freed"), inserted);
    hd_device_close(bed.device);
}

static void short_lived_values_free_their_entry(void **state)
{
    expect_table(LONG_THEN("mov.u32 %x, 5;\n", ""), 4, 0); /* in all lanes */
    expect_table(LONG_THEN("@%p mov.u32 %x, 5;\n", ""), 3,
                 0); /* in half of them: the register keeps it, for %r */
    expect_table(LONG_THEN("mov.u32 %x, 5;\n", "add.u32 %y, %y, %x;\n"), 3, 1); /* long-lived */
}

/* ---- kernels ---- */

static const struct kernel_row {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "fermi16"},        {"cuda/scan", "scan_inclusive", "rtx2060"},
    {"cuda/control", "switches", "rtx2060"},       {"cuda/calls", "recursion", "gtx480"},
    {"cuda/warps", "shuffles", "fermi16"},         {"cuda/warps", "exchange", "gtx480"},
    {"cuda/warps", "aggregate", "gtx480"},         {"cuda/barriers", "barrier_votes", "gtx480"},
    {"cuda/atomics", "atomics_shared", "fermi16"}, {"opencl/reduce", "reduce", "generic64"},
    {"opencl/integer", "longs", "generic64"},      {"cuda/services", "lists", "gtx480"},
    {"opencl/sort", "bitonic", "generic64"},
};

static void nothing_changes_without_flips(void **state)
{
    static const char *const sets[][3] = {
        {"register_ecc"}, {"register_ecc:mode=table,limit=2"}, {"register_ecc", "operand_file"}};
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        const struct kernel_row *row = &kernels[k];
        struct seen without = rig_run(row->file, row->name, row->machine, NULL, NULL, false);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = rig_run(row->file, row->name, row->machine, sets[i], NULL, false);
            assert_int_equal(with.hash, without.hash);
            assert_int_equal(rig_total(&with, "register_ecc.corrected"), 0);
            assert_int_equal(rig_total(&with, "register_ecc.detected"), 0);
            if (!sets[i][1])
                assert_int_equal(rig_total(&with, "timing.cycles"),
                                 rig_total(&without, "timing.cycles"));
            rig_drop(&with);
        }
        rig_drop(&without);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_errors_have_a_name),
        cmocka_unit_test(flips_without_check_bits_do_harm),
        cmocka_unit_test(one_flip_is_corrected),
        cmocka_unit_test(two_flips_are_detected),
        cmocka_unit_test(the_table_protects_what_it_has),
        cmocka_unit_test(short_lived_values_free_their_entry),
        cmocka_unit_test(nothing_changes_without_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
