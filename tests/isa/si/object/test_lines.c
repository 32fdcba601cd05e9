/* Line number programs of our own making: every opcode, both sizes of DWARF, odd files. */
#include "objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* .debug_line while it is written. */
struct program {
    u8 data[2048];
    size_t size;
    size_t unit, header; /* offsets of the length fields */
    bool is64;
    u64 text;
};

static void put(struct program *p, u64 value, u32 bytes)
{
    memcpy(p->data + p->size, &value, bytes);
    p->size += bytes;
}

static void put_text(struct program *p, const char *text)
{
    memcpy(p->data + p->size, text, strlen(text) + 1);
    p->size += strlen(text) + 1;
}

static void patch(struct program *p, size_t at, u64 value)
{
    memcpy(p->data + at, &value, p->is64 ? 8 : 4);
}

/* Up to the directory table. 14 standard opcodes: two of them unknown. */
static void start_unit(struct program *p, u32 version, bool is64)
{
    static const u8 lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0};
    p->is64 = is64;
    if (is64)
        put(p, 0xffffffff, 4);
    p->unit = p->size;
    put(p, 0, is64 ? 8 : 4);
    put(p, version, 2);
    if (version == 5)
        put(p, 8, 2); /* address bytes, segment selector bytes */
    p->header = p->size;
    put(p, 0, is64 ? 8 : 4);
    put(p, 4, 1); /* bytes of an instruction */
    if (version >= 4)
        put(p, 1, 1);
    put(p, 1, 1);
    put(p, (u8)-3, 1); /* line_base */
    put(p, 12, 1);     /* line_range */
    put(p, sizeof lengths + 1, 1);
    memcpy(p->data + p->size, lengths, sizeof lengths);
    p->size += sizeof lengths;
}

static void end_header(struct program *p)
{
    patch(p, p->header, p->size - p->header - (p->is64 ? 8 : 4));
}

static void end_unit(struct program *p)
{
    patch(p, p->unit, p->size - p->unit - (p->is64 ? 8 : 4));
}

static void set_address(struct program *p, u64 offset)
{
    put(p, 0x020900, 3);
    put(p, p->text + offset, 8);
}

static void end_sequence(struct program *p)
{
    put(p, 0x010100, 3);
}

/* The tables of version 2 to 4: file 1 in the compilation directory, 2 in "inc", 3 absolute. */
static void put_files(struct program *p)
{
    put_text(p, "inc");
    put(p, 0, 1);
    static const struct {
        const char *name;
        u8 directory;
    } files[] = {{"main.cl", 0}, {"part.h", 1}, {"/abs/x.h", 1}};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        put_text(p, files[i].name);
        put(p, files[i].directory, 1);
        put(p, 0, 2); /* time and size */
    }
    put(p, 0, 1);
}

/* Reads tiny_dwarf5.so with this program in the place of its own. */
static struct code_object *read_program(struct arena *arena, const struct program *p)
{
    struct bytes bytes = object_bytes("tiny_dwarf5.so");
    bytes.data = realloc(bytes.data, bytes.size + p->size);
    assert_non_null(bytes.data);
    memcpy(bytes.data + bytes.size, p->data, p->size);
    Elf64_Shdr *section = elf_section_of(&bytes, ".debug_line");
    section->sh_offset = bytes.size;
    section->sh_size = p->size;
    bytes.size += p->size;
    struct error error = {0};
    struct code_object *object = codeobject_read(arena, bytes.data, bytes.size, "x.so", &error);
    if (!object)
        fail_msg("%s", error.message);
    free(bytes.data);
    return object;
}

static u64 text_address(void)
{
    struct arena *arena = arena_create();
    u64 address = object_open(arena, "tiny_dwarf5.so")->text_address;
    arena_destroy(arena);
    return address;
}

struct range {
    u32 start, end; /* from the start of the code */
    const char *file;
    u32 line;
};

static void check_ranges(const struct code_object *object, const struct range *expected,
                         size_t count)
{
    for (size_t i = 0; i < MIN(count, object->line_count); i++) {
        const struct code_line *line = &object->lines[i];
        if (line->start != object->text_address + expected[i].start ||
            line->end != object->text_address + expected[i].end || line->line != expected[i].line ||
            strcmp(object->files[line->file], expected[i].file))
            fail_msg("range %zu is %llu-%llu %s:%u", i,
                     (unsigned long long)(line->start - object->text_address),
                     (unsigned long long)(line->end - object->text_address),
                     object->files[line->file], line->line);
    }
    assert_int_equal(object->line_count, count);
}

static void put_opcodes(struct program *p)
{
    set_address(p, 0);
    put(p, 0x0a03, 2);      /* advance_line 10: 11 */
    put(p, 1, 1);           /* copy: 0 */
    put(p, 0x0202, 2);      /* advance_pc 2 instructions: 8 */
    put(p, 0x7b03, 2);      /* advance_line -5: 6 */
    put(p, 0x0204, 2);      /* set_file 2 */
    put(p, 0x7f05, 2);      /* set_column */
    put(p, 0x06, 1);        /* negate_stmt */
    put(p, 0x01, 1);        /* copy: 8 */
    put(p, 15 + 12 + 7, 1); /* special: 1 instruction, -3 + 7 = 4 lines: 12, line 10 */
    put(p, 0x000409, 3);    /* fixed_advance_pc 4: 16 */
    put(p, 0x81810d, 3);    /* an unknown opcode with two operands: 129 and ... */
    put(p, 0x7f01, 2);      /* ... the second */
    put(p, 0x0e, 1);        /* an unknown opcode without operands */
    put(p, 0x0304, 2);      /* set_file 3 */
    put(p, 0x010c, 2);      /* set_isa */
    put(p, 0x0a0b07, 3);    /* basic block, epilogue, prologue */
    put(p, 0x07040200, 4);  /* extended, discriminator 7 */
    put(p, 0x80030300, 4);  /* an unknown extended opcode of 3 bytes... */
    put(p, 0x42, 1);        /* ... the last of them */
    put(p, 0x01, 1);        /* copy: 16 */
    put(p, 0x08, 1);        /* const_add_pc: (255 - 15) / 12 = 20 instructions: 96 */
    put(p, 0x7002, 2);      /* advance_pc 112: far out of the code */
    end_sequence(p);
}

static void opcodes(void **state)
{
    for (u32 version = 2; version <= 4; version++)
        for (u32 is64 = 0; is64 < 2; is64++) {
            struct arena *arena = arena_create();
            struct program p = {.text = text_address()};
            start_unit(&p, version, is64);
            put_files(&p);
            end_header(&p);
            put_opcodes(&p);
            end_unit(&p);
            struct code_object *object = read_program(arena, &p);
            assert_int_equal(object->warning_count, 0);
            static const struct range ranges[] = {
                {0, 8, "main.cl", 11}, {8, 12, "inc/part.h", 6}, {12, 16, "inc/part.h", 10}};
            check_ranges(object, ranges, ARRAY_LEN(ranges)); /* the last leaves the code */
            arena_destroy(arena);
        }
}

/* const_add_pc to a place inside the code, by a line_range that makes it small. */
static void constant_advance(void **state)
{
    struct arena *arena = arena_create();
    struct program p = {.text = text_address()};
    start_unit(&p, 4, false);
    p.data[p.header + 8] = 100; /* line_range: (255 - 15) / 100 = 2 instructions */
    put_files(&p);
    end_header(&p);
    set_address(&p, 4);
    put(&p, 0x01, 1);
    put(&p, 0x08, 1); /* 12 */
    end_sequence(&p);
    end_unit(&p);
    static const struct range ranges[] = {{4, 12, "main.cl", 1}};
    check_ranges(read_program(arena, &p), ranges, 1);
    arena_destroy(arena);
}

static void version_5(void **state)
{
    for (u32 is64 = 0; is64 < 2; is64++) {
        struct arena *arena = arena_create();
        struct program p = {.text = text_address()};
        start_unit(&p, 5, is64);
        put(&p, 0x080101, 3); /* directories: one format, path as string */
        put(&p, 2, 1);
        put_text(&p, "/where/compiled");
        put_text(&p, "sub");
        /* files: path as string, directory as each kind of number, a checksum, a block */
        static const u8 formats[] = {4, 1, 0x08, 2, 0x05, 5, 0x1e, 9, 0x09};
        memcpy(p.data + p.size, formats, sizeof formats);
        p.size += sizeof formats;
        put(&p, 2, 1);
        for (u32 i = 0; i < 2; i++) {
            put_text(&p, i ? "b.h" : "a.cl");
            put(&p, i, 2);
            put(&p, 0, 8);
            put(&p, 0, 8);
            put(&p, 0xeeee02, 3);
        }
        end_header(&p);
        set_address(&p, 0);
        put(&p, 0x0004, 2); /* set_file 0 */
        put(&p, 0x01, 1);
        put(&p, 0x0102, 2);
        put(&p, 0x0104, 2); /* set_file 1 */
        put(&p, 0x01, 1);
        put(&p, 0x0102, 2);
        put(&p, 0x0904, 2); /* set_file 9: there is none */
        put(&p, 0x01, 1);
        put(&p, 0x0102, 2);
        end_sequence(&p);
        end_unit(&p);
        static const struct range ranges[] = {{0, 4, "a.cl", 1}, {4, 8, "sub/b.h", 1}};
        struct code_object *object = read_program(arena, &p);
        assert_int_equal(object->warning_count, 0);
        check_ranges(object, ranges, ARRAY_LEN(ranges));
        arena_destroy(arena);
    }
}

/* Sequences that overlap, run backwards or are outside the code; two units. */
static void odd_sequences(void **state)
{
    struct arena *arena = arena_create();
    struct program p = {.text = text_address()};
    start_unit(&p, 4, false);
    put_files(&p);
    end_header(&p);
    set_address(&p, 8); /* 8-16 line 1 */
    put(&p, 0x01, 1);
    put(&p, 0x0202, 2);
    end_sequence(&p);
    set_address(&p, 0x100000); /* outside */
    put(&p, 0x01, 1);
    put(&p, 0x0202, 2);
    end_sequence(&p);
    set_address(&p, 40); /* backwards: nothing between 40 and 20 */
    put(&p, 0x01, 1);
    set_address(&p, 20);
    put(&p, 0x01, 1);
    put(&p, 0x0102, 2);
    end_sequence(&p);
    end_unit(&p);
    start_unit(&p, 2, true);
    put_files(&p);
    end_header(&p);
    set_address(&p, 4); /* 4-12 line 3: 8-12 is taken */
    put(&p, 0x0203, 2);
    put(&p, 0x01, 1);
    put(&p, 0x0202, 2);
    end_sequence(&p);
    set_address(&p, 24); /* joins its neighbour of the same line */
    put(&p, 0x01, 1);
    put(&p, 0x0102, 2);
    put(&p, 0x01, 1);
    put(&p, 0x7f03, 2); /* line 0: none */
    put(&p, 0x0102, 2);
    put(&p, 0x01, 1);
    put(&p, 0x0102, 2);
    end_sequence(&p);
    end_unit(&p);
    static const struct range ranges[] = {{4, 12, "main.cl", 3},
                                          {12, 16, "main.cl", 1},
                                          {20, 24, "main.cl", 1},
                                          {24, 32, "main.cl", 1}};
    struct code_object *object = read_program(arena, &p);
    assert_int_equal(object->warning_count, 0);
    check_ranges(object, ranges, ARRAY_LEN(ranges));
    arena_destroy(arena);
}

/* Cut off anywhere, a program gives a warning or fewer lines, never harm. */
static void cut_off(void **state)
{
    struct program whole = {.text = text_address()};
    start_unit(&whole, 3, false);
    put_files(&whole);
    end_header(&whole);
    put_opcodes(&whole);
    end_unit(&whole);
    for (size_t size = 1; size < whole.size; size++) {
        struct arena *arena = arena_create();
        struct program p = whole;
        p.size = size;
        struct code_object *object = read_program(arena, &p);
        assert_int_equal(object->warning_count, 1); /* the length says more than there is */
        assert_int_equal(object->line_count, 0);
        if (size > p.unit + 4) { /* the same with a length that fits */
            end_unit(&p);
            assert_int_equal(read_program(arena, &p)->line_count, 0);
        }
        arena_destroy(arena);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes),   cmocka_unit_test(constant_advance),
        cmocka_unit_test(version_5), cmocka_unit_test(odd_sequences),
        cmocka_unit_test(cut_off),
    };
    objects_folder = argv[argc - 1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
