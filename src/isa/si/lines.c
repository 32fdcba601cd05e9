/*
 * Source lines: the line number programs of .debug_line, DWARF 2 to 5, run once when the object is
 * read. Bounded: a cursor that cannot leave its bytes, at most MOST_FILES files, at most one
 * row per byte of program. Debug information is a convenience: unreadable data cause a warning.
 */
#include "isa/si/codeobject_internal.h"

#include "base/text.h"
#include <stdlib.h>

enum {
    MOST_FILES = 4096, /* per object, so that long directory names cannot multiply */
    MOST_PATH = 1024,
    MOST_FORMATS = 16
};

/* After a read beyond the end `bad` is set and every further read gives 0. */
struct cursor {
    const u8 *data;
    u64 size, at;
    bool bad;
};

struct format {
    u64 content, form;
};

struct name {
    const char *text;
    u64 directory;
};

struct line_row {
    u64 address;
    u32 file, line;
};

struct unit {
    u32 version;
    bool is64;
    u8 min_inst, line_range, opcode_base;
    i8 line_base;
    u8 lengths[256]; /* operands of standard opcodes */
    VEC(const char *) directories;
    VEC(struct name) names;
    u32 *files; /* by index in names: index in the object + 1, 0 = not used yet */
};

struct lines {
    struct reader *reader;
    struct elf_bytes line_strings, strings;
    VEC(const char *) files;
    VEC(struct line_row) rows; /* of the current sequence */
    VEC(struct code_line) ranges;
};

static u64 fixed(struct cursor *c, u32 bytes)
{
    u64 value = 0;
    if (c->bad || c->size - c->at < bytes) {
        c->bad = true;
        return 0;
    }
    memcpy(&value, c->data + c->at, bytes);
    c->at += bytes;
    return value;
}

static u64 leb(struct cursor *c, bool is_signed)
{
    u64 value = 0;
    for (u32 shift = 0;; shift += 7) {
        u64 byte = fixed(c, 1);
        if (c->bad)
            return 0;
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift + 7 < 64)
            value |= ~0ull << (shift + 7);
        return value;
    }
}

static const char *text(struct cursor *c)
{
    const u8 *end = c->bad || c->at == c->size ? NULL : memchr(c->data + c->at, 0, c->size - c->at);
    if (!end) {
        c->bad = true;
        return "";
    }
    const char *found = (const char *)c->data + c->at;
    c->at = (u64)(end - c->data) + 1;
    return found;
}

static void advance(struct cursor *c, u64 bytes)
{
    if (c->bad || bytes > c->size - c->at)
        c->bad = true;
    else
        c->at += bytes;
}

/* A cursor over the next `bytes` of another one. */
static struct cursor part(struct cursor *c, u64 bytes)
{
    struct cursor made = {.data = c->data + c->at, .size = bytes};
    advance(c, bytes);
    if (c->bad)
        made = (struct cursor){.bad = true};
    return made;
}

/* A value of one of the forms that version 5 tables use: text or a number. */
static bool read_form(struct lines *l, const struct unit *unit, struct cursor *c, u64 form,
                      const char **string, u64 *number)
{
    u32 word = unit->is64 ? 8 : 4;
    u64 offset;
    switch (form) {
    case 0x08:
        *string = text(c);
        return !c->bad; /* string */
    case 0x0e:          /* strp */
    case 0x1f:          /* line_strp */
        offset = fixed(c, word);
        *string = elf_string(form == 0x1f ? &l->line_strings : &l->strings, offset);
        return !c->bad && *string;
    case 0x0b:
        *number = fixed(c, 1);
        return !c->bad; /* data1 */
    case 0x05:
        *number = fixed(c, 2);
        return !c->bad; /* data2 */
    case 0x06:
        *number = fixed(c, 4);
        return !c->bad; /* data4 */
    case 0x07:
        *number = fixed(c, 8);
        return !c->bad; /* data8 */
    case 0x0f:
        *number = leb(c, false);
        return !c->bad; /* udata */
    case 0x1e:
        advance(c, 16);
        return !c->bad; /* data16, a checksum */
    case 0x09:
        advance(c, leb(c, false));
        return !c->bad; /* block */
    default:
        return false;
    }
}

/* Reads the directories or files of version 5. Each entry takes at least a byte, so the count is
 * bounded. */
static bool read_entries(struct lines *l, struct unit *unit, struct cursor *c, bool files)
{
    struct format formats[MOST_FORMATS];
    u32 format_count = (u32)fixed(c, 1);
    if (format_count > MOST_FORMATS)
        return false;
    for (u32 i = 0; i < format_count; i++) {
        formats[i].content = leb(c, false);
        formats[i].form = leb(c, false);
    }
    u64 count = leb(c, false);
    if (c->bad || (count && !format_count))
        return false;
    for (u64 i = 0; i < count; i++) {
        struct name name = {.text = ""};
        for (u32 f = 0; f < format_count; f++) {
            const char *string = NULL;
            u64 number = 0;
            if (!read_form(l, unit, c, formats[f].form, &string, &number))
                return false;
            if (formats[f].content == 1 && string) /* path */
                name.text = string;
            if (formats[f].content == 2) /* directory index */
                name.directory = number;
        }
        if (files)
            *vec_push(&unit->names) = name;
        else
            *vec_push(&unit->directories) = name.text;
    }
    return true;
}

/* Reads the tables of versions 2 to 4; entry 0 of both is given elsewhere in the debug
 * information. */
static bool read_old_entries(struct unit *unit, struct cursor *c)
{
    const char *string;
    *vec_push(&unit->directories) = "";
    while (*(string = text(c)))
        *vec_push(&unit->directories) = string;
    *vec_push(&unit->names) = (struct name){.text = ""};
    while (*(string = text(c))) {
        struct name name = {.text = string, .directory = leb(c, false)};
        leb(c, false); /* time */
        leb(c, false); /* bytes */
        *vec_push(&unit->names) = name;
    }
    return !c->bad;
}

static bool read_header(struct lines *l, struct unit *unit, struct cursor *c, u64 *program)
{
    unit->version = (u32)fixed(c, 2);
    if (unit->version < 2 || unit->version > 5)
        return false;
    if (unit->version == 5)
        advance(c, 2); /* address and segment selector bytes: 8 and 0 here */
    u64 header_bytes = fixed(c, unit->is64 ? 8 : 4);
    if (c->bad || header_bytes > c->size - c->at)
        return false;
    *program = c->at + header_bytes;
    unit->min_inst = (u8)fixed(c, 1);
    if (unit->version >= 4)
        advance(c, 1); /* maximum operations per instruction: 1 */
    advance(c, 1);     /* the initial is_stmt */
    unit->line_base = (i8)fixed(c, 1);
    unit->line_range = (u8)fixed(c, 1);
    unit->opcode_base = (u8)fixed(c, 1);
    for (u32 i = 1; i < unit->opcode_base; i++)
        unit->lengths[i] = (u8)fixed(c, 1);
    if (c->bad || !unit->line_range || !unit->opcode_base)
        return false;
    if (unit->version < 5)
        return read_old_entries(unit, c);
    return read_entries(l, unit, c, false) && read_entries(l, unit, c, true);
}

/* The object's index of a unit's file, assigned when a row first uses it. */
static bool file_number(struct lines *l, struct unit *unit, u64 index, u32 *number)
{
    if (index >= unit->names.count)
        return false;
    if (!unit->files[index]) {
        const struct name *name = &unit->names.data[index];
        const char *directory =
            name->text[0] != '/' && name->directory && name->directory < unit->directories.count
                ? unit->directories.data[name->directory]
                : "";
        if (l->files.count == MOST_FILES)
            return false;
        struct arena *arena = l->reader->arena;
        const char *path = arena_printf(arena, "%.*s%s%.*s", MOST_PATH, directory,
                                        *directory ? "/" : "", MOST_PATH, name->text);
        *vec_push(&l->files) = text_printable(arena, path);
        unit->files[index] = l->files.count;
    }
    *number = unit->files[index] - 1;
    return true;
}

/* Turns the rows of a sequence into ranges, if they are in this object's code. */
static void end_sequence(struct lines *l, u64 end)
{
    const struct code_object *object = l->reader->object;
    u64 text_end = object->text_address + object->text_bytes;
    for (u32 i = 0; i < l->rows.count; i++) {
        const struct line_row *row = &l->rows.data[i];
        u64 stop = i + 1 < l->rows.count ? row[1].address : end;
        if (row->line && row->address < stop && row->address >= object->text_address &&
            stop <= text_end)
            *vec_push(&l->ranges) = (struct code_line){row->address, stop, row->file, row->line};
    }
    l->rows.count = 0;
}

struct registers {
    u64 address, file, line;
};

static void add_row(struct lines *l, struct unit *unit, const struct registers *r)
{
    u32 file;
    if (file_number(l, unit, r->file, &file) && r->line <= UINT32_MAX)
        *vec_push(&l->rows) = (struct line_row){r->address, file, (u32)r->line};
    else
        *vec_push(&l->rows) = (struct line_row){r->address, 0, 0};
}

static bool extended(struct lines *l, struct cursor *c, struct registers *r)
{
    struct cursor operands = part(c, leb(c, false));
    switch (fixed(&operands, 1)) {
    case 1: /* end_sequence */
        end_sequence(l, r->address);
        *r = (struct registers){.file = 1, .line = 1};
        break;
    case 2: /* set_address */
        r->address = fixed(&operands, (u32)MIN(operands.size - operands.at, (u64)8));
        break;
    default:
        break;
    }
    return !c->bad && !operands.bad;
}

/* Standard opcodes; the unknown ones are skipped by their number of operands. */
static void standard(struct lines *l, struct unit *unit, struct cursor *c, u8 opcode,
                     struct registers *r)
{
    switch (opcode) {
    case 1:
        add_row(l, unit, r);
        break;
    case 2:
        r->address += leb(c, false) * unit->min_inst;
        break;
    case 3:
        r->line += leb(c, true);
        break;
    case 4:
        r->file = leb(c, false);
        break;
    case 8:
        r->address += (u64)((255 - unit->opcode_base) / unit->line_range) * unit->min_inst;
        break;
    case 9:
        r->address += fixed(c, 2);
        break;
    default:
        for (u32 i = 0; i < unit->lengths[opcode]; i++)
            leb(c, false);
    }
}

static bool run_program(struct lines *l, struct unit *unit, struct cursor *c)
{
    struct registers r = {.file = 1, .line = 1};
    unit->files = checked(calloc((size_t)unit->names.count + 1, sizeof *unit->files));
    l->rows.count = 0;
    while (c->at < c->size && !c->bad) {
        u8 opcode = (u8)fixed(c, 1);
        if (opcode >= unit->opcode_base) {
            u8 adjusted = opcode - unit->opcode_base;
            r.address += (u64)(adjusted / unit->line_range) * unit->min_inst;
            r.line += (u64)(i64)(unit->line_base + adjusted % unit->line_range);
            add_row(l, unit, &r);
        } else if (opcode) {
            standard(l, unit, c, opcode, &r);
        } else if (!extended(l, c, &r)) {
            break;
        }
    }
    free(unit->files);
    return !c->bad;
}

static bool read_unit(struct lines *l, struct cursor *all)
{
    struct unit unit = {0};
    u64 length = fixed(all, 4), program;
    unit.is64 = length == 0xffffffff;
    if (unit.is64)
        length = fixed(all, 8);
    struct cursor c = part(all, length);
    bool ok = !c.bad && read_header(l, &unit, &c, &program);
    if (ok) {
        c.at = program;
        ok = run_program(l, &unit, &c);
    }
    vec_free(&unit.directories);
    vec_free(&unit.names);
    return ok;
}

static int by_start(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Sorts the ranges, removes overlaps and merges adjacent ranges of the same line. */
static u32 settle(struct code_line *list, u32 count)
{
    u32 kept = 0;
    if (count)
        qsort(list, count, sizeof *list, by_start);
    for (u32 i = 0; i < count; i++) {
        struct code_line one = list[i];
        struct code_line *last = kept ? &list[kept - 1] : NULL;
        if (last && one.start < last->end)
            one.start = last->end;
        if (one.start >= one.end)
            continue;
        if (last && last->end == one.start && last->file == one.file && last->line == one.line)
            last->end = one.end;
        else
            list[kept++] = one;
    }
    return kept;
}

static void keep(struct lines *l)
{
    struct code_object *object = l->reader->object;
    u32 count = settle(l->ranges.data, l->ranges.count);
    object->lines = arena_array(l->reader->arena, struct code_line, count);
    if (count)
        memcpy(object->lines, l->ranges.data, count * sizeof *object->lines);
    object->line_count = count;
    object->files = arena_array(l->reader->arena, const char *, l->files.count);
    if (l->files.count)
        memcpy(object->files, l->files.data, l->files.count * sizeof *object->files);
    object->file_count = l->files.count;
}

void read_lines(struct reader *reader)
{
    struct lines lines = {.reader = reader};
    Elf64_Shdr section, other;
    struct elf_bytes bytes;
    if (!elf_find_section(&reader->elf, ".debug_line", &section, &bytes))
        return;
    if (section.sh_flags & SHF_COMPRESSED) {
        reader_warn(reader, "source lines are compressed (-gz): ignored");
        return;
    }
    if (!elf_find_section(&reader->elf, ".debug_line_str", &other, &lines.line_strings))
        lines.line_strings = (struct elf_bytes){0};
    if (!elf_find_section(&reader->elf, ".debug_str", &other, &lines.strings))
        lines.strings = (struct elf_bytes){0};
    lines.line_strings = elf_strings(lines.line_strings);
    lines.strings = elf_strings(lines.strings);
    struct cursor all = {.data = bytes.data, .size = bytes.size};
    bool ok = true;
    while (all.at < all.size && !all.bad)
        ok &= read_unit(&lines, &all);
    if (!ok)
        reader_warn(reader, "source lines (.debug_line) cannot all be read: expected DWARF 2 to 5");
    keep(&lines);
    vec_free(&lines.files);
    vec_free(&lines.rows);
    vec_free(&lines.ranges);
}
