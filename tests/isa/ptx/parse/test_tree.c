/*
 * What golden files cannot show well: interning, limits at their edges, hostile sizes, places, the
 * time a large text takes.
 */
#include "dump.h"
#include "isa/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

struct fixture {
    struct arena *arena;
    struct error error;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static struct ptx_module *parse_bytes(struct fixture *fixture, const char *text, size_t length)
{
    /* An exact copy, so that a sanitizer sees a read past the end. */
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    struct ptx_module *module = ptx_parse(fixture->arena, copy, length, "t.ptx", &fixture->error);
    free(copy);
    return module;
}

static struct ptx_module *parse(struct fixture *fixture, const char *text)
{
    return parse_bytes(fixture, text, strlen(text));
}

static struct ptx_module *parsed(struct fixture *fixture, const char *text)
{
    struct ptx_module *module = parse(fixture, text);
    if (!module)
        fail_msg("%s: %s", fixture->error.place, fixture->error.message);
    return module;
}

/* `before`, `unit` repeated, `middle`, `closing` repeated, `after`. */
static char *repeat(const char *before, const char *unit, const char *middle, const char *closing,
                    const char *after, int times)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(before, out);
    for (int i = 0; i < times; i++)
        fputs(unit, out);
    fputs(middle, out);
    for (int i = 0; i < times; i++)
        fputs(closing, out);
    fputs(after, out);
    fclose(out);
    return text;
}

static void test_names_are_interned(void **state)
{
    struct ptx_module *module =
        parsed(*state, HEAD ".entry k() { .reg .b32 a; add.s32 a, a, %tid.x; add.s32 a, a, "
                            "%tid.x; exit; }");
    struct ptx_statement *body = module->functions[0].body;
    assert_int_equal(module->functions[0].body_count, 4);
    assert_ptr_equal(body[0].declaration.name, body[1].instruction.operands[0].name);
    assert_ptr_equal(body[1].instruction.opcode, body[2].instruction.opcode);
    assert_ptr_equal(body[1].instruction.modifiers[0], body[2].instruction.modifiers[0]);
    assert_ptr_equal(body[1].instruction.operands[2].name, body[2].instruction.operands[2].name);
    assert_string_equal(body[1].instruction.operands[2].name, "%tid.x");
}

static void test_many_names(void **state)
{
    /* More than the first table holds: growth must keep every name. */
    enum {
        COUNT = 3000
    };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs(HEAD ".entry k() {\n", out);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            fprintf(out, "bra L%d;\n", i);
    fputs("}", out);
    fclose(out);
    struct ptx_module *module = parsed(*state, text);
    struct ptx_statement *body = module->functions[0].body;
    assert_int_equal(module->functions[0].body_count, 2 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "L%d", i);
        assert_string_equal(body[i].instruction.operands[0].name, name);
        assert_ptr_equal(body[i].instruction.operands[0].name,
                         body[i + COUNT].instruction.operands[0].name);
    }
    free(text);
}

static void test_places(void **state)
{
    struct ptx_module *module = parsed(*state, HEAD ".entry k()\n{\n  /* a\n b */ @p\tadd.s32\n"
                                                    "   a, [b+4], {c,\nd};\n}\n");
    struct ptx_instruction *inst = &module->functions[0].body[0].instruction;
    assert_int_equal(module->functions[0].place.line, 4);
    assert_int_equal(module->functions[0].place.column, 8);
    assert_int_equal(inst->place.line, 7);
    assert_int_equal(inst->place.column, 7);
    assert_int_equal(inst->operands[1].place.line, 8);
    assert_int_equal(inst->operands[1].place.column, 7);
    assert_int_equal(inst->operands[2].items[1].place.line, 9);
    assert_int_equal(inst->operands[2].items[1].place.column, 1);
    assert_string_equal(inst->text, "@p add.s32 a, [b+4], {c, d}");
}

static void test_error_text(void **state)
{
    struct fixture *fixture = *state;
    assert_null(parse(fixture, HEAD ".entry k() {\n exit!;\n ret?;\n}"));
    assert_string_equal(fixture->error.place, "t.ptx:5:7");
    assert_int_equal(fixture->error.code, ERROR_INPUT);
    assert_string_equal(fixture->error.message,
                        "found ';', expected a number or constant expression\n"
                        "t.ptx:6:5: found '?', expected an operand");
}

/* `unit` nested as often as the limit allows parses, once more is an error. */
static void check_nesting(struct fixture *fixture, const char *before, const char *unit,
                          const char *middle, const char *closing, const char *after, int most)
{
    char *text = repeat(before, unit, middle, closing, after, most);
    assert_non_null(parsed(fixture, text));
    free(text);
    text = repeat(before, unit, middle, closing, after, most + 1);
    assert_null(parse(fixture, text));
    assert_non_null(strstr(fixture->error.message, "nested too deeply"));
    free(text);
    text = repeat(before, unit, middle, closing, after, 200000);
    assert_null(parse(fixture, text));
    free(text);
    text = repeat(before, unit, "", "", "", 200000); /* never closed */
    assert_null(parse(fixture, text));
    free(text);
}

static void test_nesting(void **state)
{
    check_nesting(*state, HEAD ".entry k() {", "{", "exit;", "}", "}", PTX_NESTING);
    check_nesting(*state, HEAD ".entry k() { mov.b32 ", "{", "a", "}", ", b; }", PTX_NESTING);
    check_nesting(*state, HEAD ".entry k() { mov.b32 a, ", "(", "1", ")", "; }", PTX_NESTING);
    check_nesting(*state, HEAD ".entry k() { mov.b32 a, ", "- ", "1", "", "; }", PTX_NESTING);
    check_nesting(*state, HEAD ".entry k() { mov.b32 a, ", "1?1:", "1", "", "; }", PTX_NESTING);
    check_nesting(*state, HEAD ".global .b32 x = ", "{", "1", "}", ";", PTX_NESTING);
}

static void test_long_chains(void **state)
{
    /* Not nested, so not limited. */
    char *text =
        repeat(HEAD ".global .s64 x = 0", "+1", "; .global .s64 y[] = {1", ",1", "};\n", 100000);
    struct ptx_module *module = parsed(*state, text);
    assert_int_equal(module->variables[0].init->value, 100000);
    assert_int_equal(module->variables[1].init->item_count, 100001);
    free(text);
}

static void test_every_prefix(void **state)
{
    /* Text may end anywhere: an error, never a crash, and never accepted inside a function. */
    static const char text[] = HEAD
        ".global .f32 x[2] = {1.5e3, 0f3F800000};\n"
        ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<2>; L: @!p ld.shared::cta.v2.u32 "
        "{%r0, _}, [a+0x10]; call (r), f, (a); /* c */ mov.u32 %r0|q, (1<<2)?3:4; }";
    size_t open = (size_t)(strchr(strstr(text, ".func"), '{') - text);
    for (size_t length = 0; length <= sizeof text - 1; length++) {
        struct ptx_module *module = parse_bytes(*state, text, length);
        if (length > open)
            assert_int_equal(module != NULL, length == sizeof text - 1);
    }
}

static void test_every_byte(void **state)
{
    /* Each byte value in place of each byte of a short text. */
    static const char text[] = ".version 7.0 .target sm_5 .entry k(){@p a.b %r1,[c+4],{1,.x};}";
    char changed[sizeof text];
    for (size_t at = 0; at < sizeof text - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(changed, text, sizeof text);
            changed[at] = (char)byte;
            parse_bytes(*state, changed, sizeof text - 1);
        }
    }
    assert_null(parse(*state, text)); /* {1,.x} */
}

static void test_long_file_name(void **state)
{
    struct fixture *fixture = *state;
    char name[2000];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_null(ptx_parse(fixture->arena, "x", 1, name, &fixture->error));
    assert_non_null(strstr(fixture->error.place, ":1:1"));
}

static void test_large_text_is_quick(void **state)
{
    /* About 3 MB; a quadratic step anywhere would take minutes. */
    char *text = repeat(HEAD ".entry k() {\n .reg .b32 %r<9>;\n",
                        " .loc 1 2 3\n ld.global.v2.u32 {%r1, %r2}, [%r3+16]; // comment\n",
                        "exit;\n}\n", ".file 1 \"a.cu\"\n", "", 40000);
    clock_t start = clock();
    struct ptx_module *module = parsed(*state, text);
    f64 seconds = (f64)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(module->functions[0].body_count, 40002);
    assert_string_equal(module->functions[0].body[40000].instruction.source_file, "a.cu");
    assert_true(seconds < 5); /* takes 0.05 s; sanitizers and a busy machine need room */
    free(text);
}

static void test_groups_and_sizes(void **state)
{
    struct ptx_module *module = parsed(*state, HEAD ".entry k() { .reg .b32 %r<1048576>, one; }\n"
                                                    ".global .b8 big[1048576][1048576];");
    assert_int_equal(module->functions[0].body[0].declaration.count, PTX_GROUP);
    assert_int_equal(module->functions[0].body[1].declaration.count, 0);
    assert_int_equal(module->variables[0].dims[0] * module->variables[0].dims[1], PTX_ELEMENTS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_names_are_interned),  TEST(test_many_names),       TEST(test_places),
        TEST(test_error_text),          TEST(test_nesting),          TEST(test_long_chains),
        TEST(test_every_prefix),        TEST(test_every_byte),       TEST(test_long_file_name),
        TEST(test_large_text_is_quick), TEST(test_groups_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
