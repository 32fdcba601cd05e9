/*
 * Kernel metadata: the note "AMDGPU" of type 32, a MessagePack map. Where it and a kernel
 * descriptor disagree about a size, the descriptor is what a GPU reads, so it wins, with a warning.
 */
#include "isa/si/codeobject_internal.h"
#include "isa/si/msgpack.h"

#include "base/text.h"
#include <inttypes.h>
#include <stdlib.h>

enum {
    NOTE_METADATA = 32,
    MOST_ARGUMENT_BYTES = 65536 /* runtimes accept a few KiB; limits what a launch allocates */
};

/* A kernel's map, before it is matched with a descriptor. */
struct kernel_map {
    const char *symbol, *language;
    VEC(struct code_argument) args;
    u32 kernarg_bytes, kernarg_align, lds_bytes, private_bytes, max_threads;
    u32 vgpr_count, sgpr_count, vgpr_spills, sgpr_spills;
    u32 required[3];
    bool has_sizes[3]; /* kernarg, lds, private */
    bool dynamic_stack;
};

static bool bad(struct reader *reader, size_t offset, const char *what)
{
    return reader_fail(reader, ERROR_INPUT, "metadata, byte %zu: %s", offset, what);
}

static bool next(struct reader *reader, struct msgpack *in, struct msgpack_value *value)
{
    return msgpack_next(in, value) ||
           bad(reader, value->offset, "unexpected end, or not a MessagePack value");
}

static bool skip(struct reader *reader, struct msgpack *in, const struct msgpack_value *value)
{
    return msgpack_skip(in, value) || bad(reader, in->at, "unexpected end inside an array or map");
}

static bool expect(struct reader *reader, const struct msgpack_value *value, const char *key,
                   enum msgpack_kind kind)
{
    static const char *const names[] = {
        [MSGPACK_NIL] = "nil",       [MSGPACK_BOOL] = "a bool",    [MSGPACK_UINT] = "a number",
        [MSGPACK_INT] = "a number",  [MSGPACK_FLOAT] = "a float",  [MSGPACK_STRING] = "a string",
        [MSGPACK_BINARY] = "binary", [MSGPACK_ARRAY] = "an array", [MSGPACK_MAP] = "a map"};
    if (value->kind == kind)
        return true;
    return bad(reader, value->offset,
               arena_printf(reader->arena, "%s: expected %s%s, found %s", key, names[kind],
                            kind == MSGPACK_UINT ? " that is not negative" : "",
                            value->kind == MSGPACK_INT ? "a negative number" : names[value->kind]));
}

/* Names and words are made printable here, once, for all their users. */
static const char *string(struct reader *reader, const struct msgpack_value *value)
{
    return text_printable(reader->arena, arena_strndup(reader->arena, value->text, value->length));
}

/* A kernel's own names must match symbols byte for byte. */
static const char *raw_string(struct reader *reader, const struct msgpack_value *value)
{
    return arena_strndup(reader->arena, value->text, value->length);
}

static bool number(struct reader *reader, const struct msgpack_value *value, const char *key,
                   u32 *to)
{
    if (!expect(reader, value, key, MSGPACK_UINT))
        return false;
    if (value->number > UINT32_MAX)
        return bad(reader, value->offset,
                   arena_printf(reader->arena, "%s: %" PRIu64 " does not fit in 32 bits", key,
                                value->number));
    *to = (u32)value->number;
    return true;
}

static bool boolean(struct reader *reader, const struct msgpack_value *value, const char *key,
                    bool *to)
{
    if (value->kind == MSGPACK_UINT && value->number <= 1) { /* some producers write 0 and 1 */
        *to = value->number;
        return true;
    }
    if (!expect(reader, value, key, MSGPACK_BOOL))
        return false;
    *to = value->number;
    return true;
}

static enum code_arg_kind kind_of(const struct msgpack_value *value)
{
    static const char *const names[] = {
#define ARG_KIND(name, place) #name,
#include "isa/si/arg_kinds.def"
#undef ARG_KIND
    };
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (msgpack_is(value, names[i]))
            return (enum code_arg_kind)i;
    return CODE_ARG_unknown;
}

/* One key of an argument. */
static bool read_arg_key(struct reader *reader, struct msgpack *in, const struct msgpack_value *key,
                         struct code_argument *arg)
{
    struct msgpack_value value;
    if (!next(reader, in, &value))
        return false;
    static const struct {
        const char *key;
        size_t offset;
        enum msgpack_kind kind;
    } fields[] = {
#define FIELD(key, member, kind) {key, offsetof(struct code_argument, member), kind}
        FIELD(".name", name, MSGPACK_STRING),
        FIELD(".type_name", type_name, MSGPACK_STRING),
        FIELD(".value_kind", kind_name, MSGPACK_STRING),
        FIELD(".address_space", address_space, MSGPACK_STRING),
        FIELD(".access", access, MSGPACK_STRING),
        FIELD(".offset", offset, MSGPACK_UINT),
        FIELD(".size", size, MSGPACK_UINT),
        FIELD(".pointee_align", pointee_align, MSGPACK_UINT),
        FIELD(".is_const", is_const, MSGPACK_BOOL),
        FIELD(".is_restrict", is_restrict, MSGPACK_BOOL),
        FIELD(".is_volatile", is_volatile, MSGPACK_BOOL),
        FIELD(".is_pipe", is_pipe, MSGPACK_BOOL),
#undef FIELD
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!msgpack_is(key, fields[i].key))
            continue;
        void *to = (u8 *)arg + fields[i].offset;
        if (fields[i].kind == MSGPACK_UINT)
            return number(reader, &value, fields[i].key, to);
        if (fields[i].kind == MSGPACK_BOOL)
            return boolean(reader, &value, fields[i].key, to);
        if (!expect(reader, &value, fields[i].key, MSGPACK_STRING))
            return false;
        if (i == 2) {
            arg->kind = kind_of(&value);
            arg->hidden = value.length >= 7 && !memcmp(value.text, "hidden_", 7);
        }
        *(const char **)to = string(reader, &value);
        return true;
    }
    return skip(reader, in, &value);
}

static bool read_arg(struct reader *reader, struct msgpack *in, struct kernel_map *entry)
{
    struct msgpack_value map, key;
    if (!next(reader, in, &map) || !expect(reader, &map, ".args", MSGPACK_MAP))
        return false;
    struct code_argument *arg = vec_push(&entry->args);
    arg->name = arg->type_name = arg->address_space = arg->access = "";
    arg->kind = CODE_ARG_unknown;
    for (u32 i = 0; i < map.length; i++)
        if (!next(reader, in, &key) || !expect(reader, &key, "a key", MSGPACK_STRING) ||
            !read_arg_key(reader, in, &key, arg))
            return false;
    if (!arg->kind_name)
        return bad(reader, map.offset, ".args: an argument without .value_kind");
    return true;
}

static bool read_args(struct reader *reader, struct msgpack *in, const struct msgpack_value *array,
                      struct kernel_map *entry)
{
    if (!expect(reader, array, ".args", MSGPACK_ARRAY))
        return false;
    for (u32 i = 0; i < array->length; i++)
        if (!read_arg(reader, in, entry))
            return false;
    return true;
}

static bool read_required(struct reader *reader, struct msgpack *in,
                          const struct msgpack_value *array, struct kernel_map *entry)
{
    struct msgpack_value value;
    if (!expect(reader, array, ".reqd_workgroup_size", MSGPACK_ARRAY))
        return false;
    if (array->length != 3)
        return bad(reader, array->offset, ".reqd_workgroup_size: expected three numbers");
    for (u32 i = 0; i < 3; i++)
        if (!next(reader, in, &value) ||
            !number(reader, &value, ".reqd_workgroup_size", &entry->required[i]))
            return false;
    return true;
}

/* One key of a kernel. */
static bool read_kernel_key(struct reader *reader, struct msgpack *in,
                            const struct msgpack_value *key, struct kernel_map *entry)
{
    struct msgpack_value value;
    if (!next(reader, in, &value))
        return false;
    const struct {
        const char *key;
        u32 *to;
        bool *said;
    } numbers[] = {
        {".kernarg_segment_size", &entry->kernarg_bytes, &entry->has_sizes[0]},
        {".group_segment_fixed_size", &entry->lds_bytes, &entry->has_sizes[1]},
        {".private_segment_fixed_size", &entry->private_bytes, &entry->has_sizes[2]},
        {".kernarg_segment_align", &entry->kernarg_align, NULL},
        {".max_flat_workgroup_size", &entry->max_threads, NULL},
        {".vgpr_count", &entry->vgpr_count, NULL},
        {".sgpr_count", &entry->sgpr_count, NULL},
        {".vgpr_spill_count", &entry->vgpr_spills, NULL},
        {".sgpr_spill_count", &entry->sgpr_spills, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (msgpack_is(key, numbers[i].key)) {
            if (numbers[i].said)
                *numbers[i].said = true;
            return number(reader, &value, numbers[i].key, numbers[i].to);
        }
    const struct {
        const char *key;
        const char **to;
    } strings[] = {{".symbol", &entry->symbol}, {".language", &entry->language}};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (msgpack_is(key, strings[i].key)) {
            if (!expect(reader, &value, strings[i].key, MSGPACK_STRING))
                return false;
            *strings[i].to = raw_string(reader, &value);
            return true;
        }
    if (msgpack_is(key, ".args"))
        return read_args(reader, in, &value, entry);
    if (msgpack_is(key, ".reqd_workgroup_size"))
        return read_required(reader, in, &value, entry);
    if (msgpack_is(key, ".uses_dynamic_stack"))
        return boolean(reader, &value, ".uses_dynamic_stack", &entry->dynamic_stack);
    return skip(reader, in, &value);
}

/* Warns if the metadata's size differs from the descriptor's, which is used. */
static void compare_size(struct reader *reader, const struct code_kernel *kernel, const char *what,
                         bool said, u32 metadata, u32 descriptor)
{
    if (said && metadata != descriptor)
        reader_warn(reader,
                    "kernel %s: the metadata gives %u bytes of %s, the descriptor %u; the "
                    "descriptor is used",
                    reader_name(reader, kernel->name), metadata, what, descriptor);
}

static bool check_args(struct reader *reader, const struct code_kernel *kernel)
{
    const char *name = reader_name(reader, kernel->name);
    for (u32 i = 0; i < kernel->arg_count; i++) {
        const struct code_argument *arg = &kernel->args[i];
        if (arg->offset > kernel->kernarg_bytes || arg->size > kernel->kernarg_bytes - arg->offset)
            return reader_fail(reader, ERROR_INPUT,
                               "kernel %s, argument %u (%.80s): bytes %u + %u are outside the %u "
                               "bytes of its arguments",
                               name, i + 1, arg->kind_name, arg->offset, arg->size,
                               kernel->kernarg_bytes);
        if (!arg->hidden && arg->kind == CODE_ARG_unknown)
            reader_warn(reader, "kernel %s, argument %u: unknown value kind '%.80s'", name, i + 1,
                        arg->kind_name);
    }
    return true;
}

/* Orders the arguments: explicit ones first, then hidden ones. */
static void take_args(struct reader *reader, struct code_kernel *kernel,
                      const struct kernel_map *entry)
{
    kernel->args = arena_array(reader->arena, struct code_argument, entry->args.count);
    for (u32 hidden = 0; hidden < 2; hidden++) {
        for (u32 i = 0; i < entry->args.count; i++)
            if (entry->args.data[i].hidden == hidden)
                kernel->args[kernel->arg_count++] = entry->args.data[i];
        if (!hidden)
            kernel->explicit_count = kernel->arg_count;
    }
}

static bool take_entry(struct reader *reader, struct code_kernel *kernel,
                       const struct kernel_map *entry)
{
    struct kernel_descriptor *d = &kernel->descriptor;
    kernel->has_metadata = true;
    if (!kernel->kernarg_bytes) /* 0 in descriptors of compilers before 11 */
        kernel->kernarg_bytes = entry->kernarg_bytes;
    if (kernel->kernarg_bytes > MOST_ARGUMENT_BYTES)
        return reader_fail(reader, ERROR_INPUT, "kernel %s: %u bytes of arguments, at most %d",
                           reader_name(reader, kernel->name), kernel->kernarg_bytes,
                           MOST_ARGUMENT_BYTES);
    compare_size(reader, kernel, "arguments", entry->has_sizes[0], entry->kernarg_bytes,
                 kernel->kernarg_bytes);
    compare_size(reader, kernel, "shared memory", entry->has_sizes[1], entry->lds_bytes,
                 d->lds_bytes);
    compare_size(reader, kernel, "private memory", entry->has_sizes[2], entry->private_bytes,
                 d->private_bytes);
    d->dynamic_stack |= entry->dynamic_stack;
    if (is_pow2(entry->kernarg_align))
        kernel->kernarg_align = MIN(MAX(entry->kernarg_align, kernel->kernarg_align), 4096u);
    kernel->max_threads = entry->max_threads;
    memcpy(kernel->required, entry->required, sizeof kernel->required);
    kernel->language = entry->language ? entry->language : "";
    kernel->vgpr_count = entry->vgpr_count;
    kernel->sgpr_count = entry->sgpr_count;
    kernel->vgpr_spills = entry->vgpr_spills;
    kernel->sgpr_spills = entry->sgpr_spills;
    take_args(reader, kernel, entry);
    return check_args(reader, kernel);
}

/* Finds the kernel whose descriptor the entry names; the host's name may differ from the
 * symbol's. */
static bool match_entry(struct reader *reader, const struct kernel_map *entry, size_t offset)
{
    if (!entry->symbol)
        return bad(reader, offset, "a kernel without .symbol");
    size_t length = strlen(entry->symbol);
    const struct code_kernel *found = NULL;
    if (length > 3 && !strcmp(entry->symbol + length - 3, ".kd"))
        found = codeobject_kernel(reader->object,
                                  arena_strndup(reader->arena, entry->symbol, length - 3));
    if (!found) {
        reader_warn(reader, "the metadata describes %s, which is not in the file",
                    reader_name(reader, entry->symbol));
        return true;
    }
    if (found->has_metadata) {
        reader_warn(reader, "the metadata describes %s twice: the first description is used",
                    reader_name(reader, entry->symbol));
        return true;
    }
    return take_entry(reader, &reader->object->kernels[found - reader->object->kernels], entry);
}

static bool read_kernel(struct reader *reader, struct msgpack *in)
{
    struct msgpack_value map, key;
    struct kernel_map entry = {0};
    bool ok = next(reader, in, &map) && expect(reader, &map, "amdhsa.kernels", MSGPACK_MAP);
    for (u32 i = 0; ok && i < map.length; i++)
        ok = next(reader, in, &key) && expect(reader, &key, "a key", MSGPACK_STRING) &&
             read_kernel_key(reader, in, &key, &entry);
    ok = ok && match_entry(reader, &entry, map.offset);
    vec_free(&entry.args);
    return ok;
}

static bool read_root(struct reader *reader, const struct elf_bytes *bytes)
{
    struct msgpack in = {.data = bytes->data, .size = bytes->size};
    struct msgpack_value root, key, value;
    if (!next(reader, &in, &root) || !expect(reader, &root, "the metadata", MSGPACK_MAP))
        return false;
    for (u32 i = 0; i < root.length; i++) {
        if (!next(reader, &in, &key) || !expect(reader, &key, "a key", MSGPACK_STRING) ||
            !next(reader, &in, &value))
            return false;
        if (!msgpack_is(&key, "amdhsa.kernels")) {
            if (!skip(reader, &in, &value))
                return false;
            continue;
        }
        if (!expect(reader, &value, "amdhsa.kernels", MSGPACK_ARRAY))
            return false;
        for (u32 k = 0; k < value.length; k++)
            if (!read_kernel(reader, &in))
                return false;
    }
    return true;
}

/* Finds the metadata note in one segment or section. */
static bool find_note(const struct elf_bytes *notes, struct elf_bytes *found)
{
    Elf64_Nhdr note;
    for (u64 at = 0; notes->size - at >= sizeof note;) {
        memcpy(&note, notes->data + at, sizeof note);
        at += sizeof note;
        u64 name_bytes = align_up(note.n_namesz, 4), bytes = align_up(note.n_descsz, 4);
        if (name_bytes > notes->size - at || note.n_descsz > notes->size - at - name_bytes)
            return false;
        if (note.n_type == NOTE_METADATA && note.n_namesz == 7 &&
            !memcmp(notes->data + at, "AMDGPU", 7)) {
            *found = (struct elf_bytes){notes->data + at + name_bytes, note.n_descsz};
            return true;
        }
        at += MIN(name_bytes + bytes, notes->size - at);
    }
    return false;
}

static bool find_metadata(const struct elf_file *elf, struct elf_bytes *found)
{
    struct elf_bytes notes;
    u32 searched = 0;
    for (u32 i = 0; i < elf->segment_count && searched < MOST_NOTES; i++) {
        Elf64_Phdr segment = elf_segment(elf, i);
        searched += segment.p_type == PT_NOTE;
        if (segment.p_type == PT_NOTE &&
            elf_range(elf, segment.p_offset, segment.p_filesz, &notes) && find_note(&notes, found))
            return true;
    }
    for (u32 i = 0; i < elf->section_count && searched < 2 * MOST_NOTES; i++) {
        Elf64_Shdr section = elf_section(elf, i);
        searched += section.sh_type == SHT_NOTE;
        if (section.sh_type == SHT_NOTE &&
            elf_range(elf, section.sh_offset, section.sh_size, &notes) && find_note(&notes, found))
            return true;
    }
    return false;
}

bool read_metadata(struct reader *reader)
{
    struct code_object *object = reader->object;
    struct elf_bytes bytes = {0};
    if (!find_metadata(&reader->elf, &bytes)) {
        reader_warn(reader, "no metadata (note AMDGPU of type 32): arguments are unknown");
    } else if (!read_root(reader, &bytes)) {
        return false;
    }
    for (u32 i = 0; i < object->kernel_count; i++) {
        struct code_kernel *kernel = &object->kernels[i];
        if (kernel->kernarg_bytes > MOST_ARGUMENT_BYTES)
            return reader_fail(reader, ERROR_INPUT, "kernel %s: %u bytes of arguments, at most %d",
                               reader_name(reader, kernel->name), kernel->kernarg_bytes,
                               MOST_ARGUMENT_BYTES);
        if (bytes.data && !kernel->has_metadata)
            reader_warn(reader, "kernel %s: the metadata does not describe it",
                        reader_name(reader, kernel->name));
    }
    return true;
}
