/*
 * The decoder on every row and on any words: encodings do not overlap, what decodes is sound (D1
 * and D2 of si.h), what does not is told with address and words, and code that ends early is too.
 */
#include "generate.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define RANDOM_WORDS 1000000

struct encoding {
    const struct si_op *op;
    u32 mask, value;
};

static u32 all_encodings(struct encoding *list)
{
    u32 count = 0;
    for (u32 row = 0; row < SI_OP_COUNT; row++) {
        const struct si_op *op = &si_ops[row];
        u32 formats = has_long_form(op) ? 2 : 1;
        for (u32 i = 0; i < formats; i++) {
            struct encoding *one = &list[count++];
            one->op = op;
            fixed_bits(op, i ? SI_VOP3 : op->format, &one->mask, &one->value);
        }
    }
    return count;
}

static void test_disjoint(void **state)
{
    static struct encoding list[2 * SI_OP_COUNT];
    u32 count = all_encodings(list);
    (void)state;
    for (u32 i = 0; i < count; i++)
        for (u32 j = 0; j < i; j++)
            if (!((list[i].value ^ list[j].value) & list[i].mask & list[j].mask))
                fail_msg("%s and %s have words in common", list[i].op->name, list[j].op->name);
}

static void test_names(void **state)
{
    (void)state;
    for (u32 i = 0; i < SI_OP_COUNT; i++)
        for (u32 j = 0; j < i; j++)
            if (!strcmp(si_ops[i].name, si_ops[j].name))
                fail_msg("%s is there twice", si_ops[i].name);
}

/* D1, as a reader of the manual would put it. */
static bool is_sound(const struct si_operand *operand)
{
    u32 first = operand->code, last = first + operand->words - 1;
    if (first == SI_NONE)
        return operand->words == 0;
    if (first >= SI_VGPR)
        return operand->words && last < SI_VGPR + 256;
    if (first >= SI_INT)
        return (first <= 208) || (first >= 240 && first <= 247) || (first >= 251 && first <= 255);
    if (operand->words > 1 && first % (operand->words == 2 ? 2 : 4))
        return false;
    bool named = last <= 103 || (first >= 112 && last <= 123) || first == 124;
    return named || ((first >= 106 && last <= 111) || (first >= 126 && last <= 127));
}

static void check_decoded(const struct si_inst *inst)
{
    char text[SI_TEXT];
    const char *sources = strchr(inst->op->signature, '=') + 1;
    assert_true(inst->size == 4 || inst->size == 8);
    assert_int_equal(inst->dst_count, sources - inst->op->signature - 1);
    assert_int_equal(inst->src_count, strlen(sources));
    for (u32 i = 0; i < inst->dst_count; i++) {
        assert_true(is_sound(&inst->dst[i]));
        assert_int_equal(inst->dst[i].kind, inst->op->signature[i]);
    }
    for (u32 i = 0; i < inst->src_count; i++) {
        assert_true(is_sound(&inst->src[i]));
        assert_int_equal(inst->src[i].kind, sources[i]);
    }
    si_text(inst, text, sizeof(text));
    assert_non_null(strstr(text, inst->op->name));
    assert_true(strlen(text) + 1 < SI_TEXT);
}

static void check_error(const struct error *error, const u32 *words, size_t count, u64 address)
{
    char place[64];
    snprintf(place, sizeof(place), "at 0x%" PRIx64 ": %08x", address, words[0]);
    assert_int_equal(error->code, ERROR_INPUT);
    assert_memory_equal(error->message, place, strlen(place));
    snprintf(place, sizeof(place), " %08x: ", words[1]);
    assert_int_equal(!strncmp(error->message + strlen("at 0x1000: 00000000"), place, 11),
                     count > 1);
}

/* One decoding, of `count` words; whether it did. */
static bool try_words(const u32 *words, size_t count)
{
    struct si_inst inst;
    struct error error = {0};
    bool fine = si_decode(words, count, 0x1000, &inst, &error);
    if (fine)
        check_decoded(&inst);
    else
        check_error(&error, words, count, 0x1000);
    return fine;
}

static void test_any_words(void **state)
{
    u64 random = 3;
    u32 decoded = 0;
    (void)state;
    for (u32 i = 0; i < RANDOM_WORDS; i++) {
        u32 words[2] = {random_u32(&random) << 1 ^ random_u32(&random), random_u32(&random)};
        bool both = try_words(words, 2), one = try_words(words, 1);
        assert_true(both || !one);
        decoded += both;
    }
    assert_in_range(decoded, RANDOM_WORDS / 10, RANDOM_WORDS * 9 / 10);
    for (u32 high = 0; high < 0x10000; high++) /* every format and opcode */
        try_words((u32[2]){high << 16, 0}, 2);
}

static void test_early_end(void **state)
{
    u64 random = 5;
    struct si_inst inst;
    struct error error = {0};
    (void)state;
    for (u32 row = 0; row < SI_OP_COUNT; row++)
        for (u32 i = 0; i < 16; i++) {
            const struct si_op *op = &si_ops[row];
            enum si_format format = has_long_form(op) && i % 2 ? SI_VOP3 : op->format;
            assert_true(generate(op, format, false, &random, &inst));
            assert_int_equal(try_words(inst.words, 1), inst.size == 4);
        }
    assert_false(si_decode(NULL, 0, 0x20, &inst, &error));
    assert_string_equal(error.message, "at 0x20: the code ends here");
}

static void test_branch_target(void **state)
{
    struct si_inst inst;
    struct error error;
    u64 target = 0;
    (void)state;
    assert_true(si_decode((u32[]){0xbf82fffe}, 1, 0x100, &inst, &error)); /* s_branch -2 */
    assert_true(si_branch_target(&inst, &target));
    assert_int_equal(target, 0xfc);
    assert_true(si_decode((u32[]){0xbf800000}, 1, 0x100, &inst, &error)); /* s_nop 0 */
    assert_false(si_branch_target(&inst, &target));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disjoint),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_any_words),     cmocka_unit_test(test_early_end),
        cmocka_unit_test(test_branch_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
