/*
 * Lowering of Southern Islands code: chosen instructions against the ir written beside them, every
 * row of the table, random code, and what must be refused.
 *
 *     si-lower CASES LISTING.words LISTING.txt     the tests
 *     si-lower --print WORDS                       cases.txt anew, see regenerate
 */
#include "../generate.h"
#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char **files; /* the arguments */

static u32 parse_words(const char *line, u32 words[2])
{
    char *end;
    u32 count = 0;
    for (unsigned long word; count < 2; line = end) {
        word = strtoul(line, &end, 16);
        if (end == line)
            break;
        words[count++] = (u32)word;
    }
    return count;
}

static void case_line(const u32 words[2], u32 count, char *line, size_t size)
{
    char ir[512];
    u32 code[3] = {words[0], words[1], S_ENDPGM};
    if (count == 1)
        code[1] = S_ENDPGM;
    struct program *program = lower_words(code, count + 1);
    int n = count == 1 ? snprintf(line, size, "%08x", words[0])
                       : snprintf(line, size, "%08x %08x", words[0], words[1]);
    snprintf(line + n, size - (size_t)n, " | %s | %s", program->texts[0],
             ir_text(program, 0, ir, sizeof ir));
    program_destroy(program);
}

static void cases_agree(void **state)
{
    (void)state;
    size_t length;
    char *text = read_whole(files[0], &length), *rest = text;
    u32 count = 0;
    assert_non_null(text);
    for (char *line; (line = strsep(&rest, "\n")) && *line; count++) {
        char now[2048];
        u32 words[2];
        case_line(words, parse_words(line, words), now, sizeof now);
        assert_string_equal(now, line);
    }
    free(text);
    assert_true(count > 140);
}

/* A program with branches, regions of EXEC and a loop, as `heddle disasm` lists it. */
static void listing_agrees(void **state)
{
    (void)state;
    size_t length;
    u32 words[64], count = 0;
    char *code = read_whole(files[1], &length), *rest = code;
    char *expected = read_whole(files[2], &length);
    assert_non_null(code);
    assert_non_null(expected);
    for (char *line; (line = strsep(&rest, "\n")) && *line && count < 62;)
        count += parse_words(line, words + count);
    struct program *program = lower_words(words, count);
    program->functions[0].open = false; /* entered at the start: vector writes may kill */
    struct listing_options options = {.live = true, .source = true};
    char *listing = program_listing(program, &options);
    if (getenv("SHOW"))
        fputs(listing, stdout);
    assert_string_equal(listing, expected);
    free(listing);
    free(code);
    free(expected);
    program_destroy(program);
}

/* What is decoded but has no meaning yet; a row that is not here must lower to its op. */
static bool expected_missing(const struct si_op *op)
{
    static const char *const names[] = {"s_getreg_regrd_b32",
                                        "s_rfe_b64",
                                        "s_mov_regrd_b32",
                                        "s_mov_fed_b32",
                                        "s_setvskip",
                                        "s_setkill",
                                        "s_sendmsg",
                                        "s_sendmsghalt",
                                        "v_mov_fed_b32",
                                        "v_cubeid_f32",
                                        "v_cubesc_f32",
                                        "v_cubetc_f32",
                                        "v_cubema_f32",
                                        "ds_gws_init",
                                        "ds_gws_sema_v",
                                        "ds_gws_sema_br",
                                        "ds_gws_sema_p",
                                        "ds_gws_barrier",
                                        "ds_ordered_count",
                                        "v_interp_p1_f32",
                                        "v_interp_p2_f32",
                                        "v_interp_mov_f32",
                                        "exp"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(op->name, names[i]))
            return true;
    return op->format == SI_MIMG;
}

/* Operands ir has no form for, by what the instruction says. */
static bool may_be_missing(const struct si_inst *in)
{
    bool flag = false;
    for (u32 i = 0; i < in->src_count; i++)
        flag |= in->src[i].code == SI_LDS_DIRECT ||
                (in->src[i].words == 2 && in->src[i].code >= SI_VCCZ && in->src[i].code <= SI_SCC);
    return flag || in->gds || in->lds || (in->addr64 && (in->offen || in->idxen)) ||
           in->op->lower == SI_LOWER_HALT;
}

static void check_row(const struct si_op *op, enum si_format format, u64 *random)
{
    struct si_inst in;
    if (!generate(op, format, false, random, &in))
        return;
    u64 target;
    u32 words[3] = {in.words[0], in.size == 8 ? in.words[1] : S_ENDPGM, S_ENDPGM};
    if (si_branch_target(&in, &target)) /* to itself */
        words[0] |= 0xffff;
    struct program *program = lower_words(words, in.size / 4 + 1);
    const struct inst *inst = &program->insts[0];
    bool missing = inst->op == OP_unsupported;
    if (missing != expected_missing(op) && !(missing && may_be_missing(&in)) &&
        op->lower != SI_LOWER_MESSAGE)
        fail_msg("%s: %s", program->texts[0], missing ? program->unsupported[0].text : "lowered");
    if (!missing && op->lower != SI_LOWER_MESSAGE)
        assert_int_equal(inst->op, op->ir);
    assert_int_equal(program->unsupported_count, missing);
    assert_int_equal(program->functions[0].unsupported_count, missing);
    program_destroy(program);
}

static void every_row_lowers(void **state)
{
    (void)state;
    u64 random = 1;
    for (u32 row = 0; row < SI_OP_COUNT; row++) {
        const struct si_op *op = &si_ops[row];
        bool is_short = op->format == SI_VOP1 || op->format == SI_VOP2 || op->format == SI_VOPC;
        for (u32 i = 0; i < 24; i++) {
            check_row(op, op->format, &random);
            if (is_short && !(op->flags & SI_NO_LONG))
                check_row(op, SI_VOP3, &random);
        }
    }
}

/* Random instructions behind each other, branches between them; all that a reader relies on. */
static void random_code_holds(void **state)
{
    (void)state;
    enum {
        INSTS = 40
    };
    u64 random = 7;
    for (u32 round = 0; round < 300; round++) {
        u32 words[2 * INSTS + 1], starts[INSTS], count = 0, insts = 0;
        while (insts < INSTS) {
            struct si_inst in;
            const struct si_op *op = &si_ops[random_u32(&random) % SI_OP_COUNT];
            if (!generate(op, op->format, false, &random, &in))
                continue;
            starts[insts++] = count;
            words[count++] = in.words[0];
            if (in.size == 8)
                words[count++] = in.words[1];
        }
        for (u32 i = 0; i < INSTS; i++) {
            struct si_inst in;
            struct error error;
            u64 target;
            assert_true(si_decode(words + starts[i], 2, 0, &in, &error));
            u32 to = starts[random_u32(&random) % INSTS];
            if (si_branch_target(&in, &target))
                words[starts[i]] = (words[starts[i]] & ~0xffffu) | (u16)(to - starts[i] - 1);
        }
        words[count++] = S_ENDPGM;
        struct program *program = lower_words(words, count);
        assert_int_equal(program->inst_count, INSTS + 1);
        for (u32 i = 0; i < INSTS; i++) {
            assert_int_equal(program->offsets[i], 4 * starts[i]);
            assert_int_equal(program_inst_at(program, 4 * starts[i]), i);
        }
        struct listing_options options = {.live = true};
        char *listing = program_listing(program, &options);
        assert_non_null(strstr(listing, "block 0"));
        free(listing);
        program_destroy(program);
    }
}

static void refused(const u32 *words, u32 count, const char *what)
{
    char text[512];
    refuse_words(words, count, text, sizeof text);
    if (!strstr(text, what))
        fail_msg("\"%s\" does not say \"%s\"", text, what);
}

static void bad_code_is_refused(void **state)
{
    (void)state;
    refused((u32[]){0xbf840001, 0xbe8003ff, 0x11111111, S_ENDPGM}, 4,
            "at 0x0: s_cbranch_scc0 1: its target 0x8 is not an instruction");
    refused((u32[]){0xbf82ff00, S_ENDPGM}, 2, "its target 0xfffffffffffffc04");
    refused((u32[]){0xbf820001, S_ENDPGM}, 2, "its target 0x8");
    refused((u32[]){0xbf800000, 0xffffffff, S_ENDPGM}, 3, "at 0x4: ffffffff");
    refused((u32[]){0xbe8003ff}, 1, "ends before the literal");
    struct error error = {0};
    assert_null(si_program_raw("abc", 3, "test.bin", &error));
    assert_null(si_program_raw("", 0, "test.bin", &error));
}

static void padding_and_ends(void **state)
{
    (void)state;
    struct program *p = lower_words((u32[]){S_ENDPGM, 0, 0xbf9f0000, 0xbf800000}, 4);
    assert_int_equal(p->inst_count, 1);
    program_destroy(p);
    p = lower_words((u32[]){0xbe800381, 0xbf9f0000}, 2); /* s_mov_b32 s0, 1 and off the end */
    assert_int_equal(p->inst_count, 2);
    assert_int_equal(p->insts[1].op, OP_strap);
    assert_int_equal(p->insts[1].imm, SI_RAN_OFF);
    assert_int_equal(program_inst_at(p, 4), NO_INST);
    program_destroy(p);
    p = lower_words((u32[]){0xbf840000, 0xbf800000}, 2); /* a branch to a nop, then off the end */
    assert_int_equal(p->inst_count, 3);
    assert_int_equal(p->insts[2].op, OP_strap);
    program_destroy(p);
}

static void traits_are_right(void **state)
{
    (void)state;
    struct program *p = lower_words((u32[]){S_ENDPGM}, 1);
    assert_int_equal(p->traits.warp_size, 64);
    assert_int_equal(p->traits.inst_bytes, 0);
    assert_true(p->traits.explicit_exec);
    assert_false(p->traits.window_faults);
    assert_false(p->traits.even_pairs);
    assert_false(p->traits.canonical_nan);
    assert_int_equal(p->functions[0].mode, 0x1c0);
    assert_int_equal(p->functions[0].registers, 256);
    assert_true(p->functions[0].open);
    program_destroy(p);
}

static int print_cases(const char *path)
{
    size_t length;
    char *text = read_whole(path, &length), *rest = text;
    if (!text)
        return 1;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char now[2048];
        u32 words[2];
        case_line(words, parse_words(line, words), now, sizeof now);
        puts(now);
    }
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_agree),         cmocka_unit_test(listing_agrees),
        cmocka_unit_test(every_row_lowers),    cmocka_unit_test(random_code_holds),
        cmocka_unit_test(bad_code_is_refused), cmocka_unit_test(padding_and_ends),
        cmocka_unit_test(traits_are_right),
    };
    if (argc == 3 && !strcmp(argv[1], "--print"))
        return print_cases(argv[2]);
    if (argc != 4)
        return 2;
    files = argv + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
