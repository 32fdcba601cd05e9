/* Code objects and raw code as programs: functions, data and launch properties. */
#include "isa/si/si_program.h"
#include "ir/scalars.h"
#include "isa/si/abi.h"
#include "isa/si/lower.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOAD_MAX = 1 << 30, /* limit of code and data bytes; a larger file is broken */
    RAW_MAX = 1 << 26
};

static const char *scalar_name(u32 scalar)
{
    static const char *const general[SI_SGPRS] = {
#define ROW(t)                                                                          \
    "s" #t "0", "s" #t "1", "s" #t "2", "s" #t "3", "s" #t "4", "s" #t "5", "s" #t "6", \
        "s" #t "7", "s" #t "8", "s" #t "9"
        "s0",   "s1",   "s2",   "s3",   "s4",   "s5",   "s6",   "s7",
        "s8",   "s9",   ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6),
        ROW(7), ROW(8), ROW(9), "s100", "s101", "s102", "s103"
#undef ROW
    };
    static const char *const others[SCALAR_COUNT - SI_VCC] = {
        "vcc_lo", "vcc_hi", "tba_lo",  "tba_hi",  "tma_lo", "tma_hi", "ttmp0", "ttmp1",  "ttmp2",
        "ttmp3",  "ttmp4",  "ttmp5",   "ttmp6",   "ttmp7",  "ttmp8",  "ttmp9", "ttmp10", "ttmp11",
        "m0",     "s125",   "exec_lo", "exec_hi", "scc",    "mode",   "vccz",  "execz"};
    if (scalar < SI_SGPRS)
        return general[scalar];
    return scalar >= SI_VCC && scalar < SCALAR_COUNT ? others[scalar - SI_VCC] : "s?";
}

static const struct register_names names = {"v", scalar_name};

static struct traits traits(bool window_faults)
{
    return (struct traits){
        .warp_size = 64,
        .explicit_exec = true,
        .window_faults = window_faults,
        .address_bits = 64,
        .names = &names,
    };
}

/* Takes the segments as one image, with the remaining relocations. */
static bool take_load(struct lowering *l, const struct code_object *object)
{
    struct program *program = l->program;
    if (object->high - object->low > LOAD_MAX)
        return error_set(l->error, ERROR_MEMORY, program->file,
                         "the code object needs 0x%" PRIx64
                         " bytes of memory, but at most 0x%x are possible",
                         object->high - object->low, (u32)LOAD_MAX);
    l->low = object->low;
    program->load_bytes = object->high - object->low;
    program->load = arena_alloc(l->arena, program->load_bytes + 8);
    codeobject_load(object, 0, program->load);
    program->load_relocations =
        arena_array(l->arena, struct relocation, object->relocation_count + 1);
    for (u32 i = 0; i < object->relocation_count; i++) {
        const struct code_relocation *from = &object->relocations[i];
        if (!from->relative)
            continue; /* done by codeobject_load */
        if (from->kind == CODE_WORD32_HI)
            return error_set(l->error, ERROR_UNSUPPORTED, program->file,
                             "at 0x%" PRIx64 ": a relocation for half of an address",
                             from->address);
        program->load_relocations[program->load_relocation_count++] =
            (struct relocation){.offset = (u32)(from->address - object->low),
                                .bytes = from->kind == CODE_WORD64 ? 8 : 4,
                                .kind = RELOC_LOAD,
                                .addend = (i64)(from->value - object->low)};
    }
    program->writable = arena_array(l->arena, struct load_range, object->segment_count + 1);
    for (u32 i = 0; i < object->segment_count; i++)
        if (object->segments[i].access & CODE_WRITE && object->segments[i].bytes)
            program->writable[program->writable_count++] = (struct load_range){
                object->segments[i].address - object->low, object->segments[i].bytes};
    return true;
}

static void take_variables(struct lowering *l, const struct code_object *object)
{
    struct program *program = l->program;
    program->variables = arena_array(l->arena, struct variable, object->variable_count + 1);
    for (u32 i = 0; i < object->variable_count; i++) {
        const struct code_variable *from = &object->variables[i];
        u64 offset = from->address - object->low;
        if (from->address < object->low || offset > program->load_bytes ||
            from->size > program->load_bytes - offset)
            continue; /* not in a loaded segment */
        program->variables[program->variable_count++] = (struct variable){.name = from->name,
                                                                          .space = SPACE_GLOBAL,
                                                                          .size = from->size,
                                                                          .align = 4,
                                                                          .visible = true,
                                                                          .in_load = true,
                                                                          .load_offset = offset};
    }
}

/* The type for the metadata's type name; structures and vectors are bytes. */
static enum type type_of(const struct code_argument *arg)
{
    static const struct {
        const char *name;
        enum type type;
    } types[] = {{"char", TYPE_S8},  {"uchar", TYPE_U8},  {"short", TYPE_S16}, {"ushort", TYPE_U16},
                 {"int", TYPE_S32},  {"uint", TYPE_U32},  {"long", TYPE_S64},  {"ulong", TYPE_U64},
                 {"half", TYPE_F16}, {"float", TYPE_F32}, {"double", TYPE_F64}};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (!strcmp(arg->type_name, types[i].name) && type_bytes(types[i].type) == arg->size)
            return types[i].type;
    switch (arg->size) {
    case 2:
        return TYPE_B16;
    case 4:
        return TYPE_B32;
    case 8:
        return TYPE_B64;
    default:
        return TYPE_B8;
    }
}

static void take_parameters(struct lowering *l, struct function *f, const struct code_kernel *k)
{
    f->params = arena_array(l->arena, struct parameter, k->explicit_count + 1);
    f->param_count = k->explicit_count;
    f->param_bytes = k->has_metadata ? 0 : k->kernarg_bytes;
    for (u32 i = 0; i < k->explicit_count; i++) {
        const struct code_argument *arg = &k->args[i];
        struct parameter *to = &f->params[i];
        *to = (struct parameter){
            .name = *arg->name ? arg->name : arena_printf(l->arena, "%u", i),
            .offset = arg->offset,
            .size = arg->size,
            .align = MIN(arg->size & -arg->size, 16u),
            .is_pointer = arg->kind == CODE_ARG_global_buffer,
            .is_shared = arg->kind == CODE_ARG_dynamic_shared_pointer,
        };
        bool address = to->is_pointer || to->is_shared;
        to->type = !address ? type_of(arg) : arg->size == 8 ? TYPE_U64 : TYPE_U32;
        to->is_array = !address && type_bytes(to->type) != arg->size;
        f->param_bytes = MAX(f->param_bytes, arg->offset + arg->size);
    }
}

static const char *explanation(struct lowering *l, const struct abi_kernel *abi)
{
    const char *text = codeobject_describe_kernel(l->object, abi->kernel, l->arena);
    return arena_printf(l->arena, "%s  hidden arguments according to %s\n", text,
                        abi_hidden_name(abi->hidden));
}

/* Takes the properties from the descriptor; the code itself has been lowered. */
static void take_kernel(struct lowering *l, struct function *f, const struct abi_kernel *abi)
{
    const struct code_kernel *k = abi->kernel;
    const struct kernel_descriptor *d = &k->descriptor;
    if (f->registers > d->vgprs)
        lowering_warn(l, "kernel %s uses v%u, but its descriptor allocates %u vector registers",
                      k->name, f->registers - 1, d->vgprs);
    if (f->scalars > d->sgprs)
        lowering_warn(l, "kernel %s uses s%u, but its descriptor allocates %u scalar registers",
                      k->name, f->scalars - 1, d->sgprs);
    f->name = k->name;
    f->is_kernel = true;
    f->registers = MAX(f->registers, d->vgprs);
    f->scalars = MAX(f->scalars, d->sgprs);
    f->shared_bytes = d->lds_bytes;
    f->frame_bytes = d->private_bytes;
    f->mode = d->mode;
    f->max_threads[0] = k->max_threads;
    memcpy(f->required_threads, k->required, sizeof f->required_threads);
    f->entry = abi_entry;
    f->description = abi;
    f->explanation = explanation(l, abi);
    take_parameters(l, f, k);
}

/* Kernels + 1 by the function they enter: a list through `next` that ends in 0. */
struct entries {
    u32 *first, *next;
};

static struct entries entries_of(const struct code_object *object)
{
    struct entries e = {checked(calloc((size_t)object->function_count + 1, sizeof(u32))),
                        checked(calloc((size_t)object->kernel_count + 1, sizeof(u32)))};
    for (u32 k = object->kernel_count; k-- > 0;) {
        u32 f = object->kernels[k].function;
        if (f >= object->function_count)
            continue;
        e.next[k] = e.first[f];
        e.first[f] = k + 1;
    }
    return e;
}

static bool lower_one(struct lowering *l, const struct code_object *object, u32 index,
                      const struct entries *entries, const struct abi_kernel *abi)
{
    struct program *program = l->program;
    const struct code_function *from = &object->functions[index];
    struct function function = {.name = from->name, .masks = SCALAR_COUNT / 2};
    if (!lower_function(l, &function, from->address, from->size))
        return false;
    function.registers = l->registers;
    function.scalars = l->scalars;
    if (!entries->first[index])
        program->functions[program->function_count++] = function;
    for (u32 k = entries->first[index]; k; k = entries->next[k - 1]) {
        struct function *to = &program->functions[program->function_count++];
        *to = function;
        take_kernel(l, to, &abi[k - 1]);
        if (to->first == to->end)
            return error_set(l->error, ERROR_INPUT, program->file, "kernel %s has no code",
                             to->name);
    }
    return true;
}

static bool lower_functions(struct lowering *l, const struct si_params *params)
{
    const struct code_object *object = l->object;
    struct program *program = l->program;
    struct abi_kernel *abi = abi_kernels(l->arena, object, params);
    struct entries entries = entries_of(object);
    program->functions = arena_array(l->arena, struct function,
                                     (size_t)object->function_count + object->kernel_count + 1);
    bool ok = true;
    for (u32 f = 0; ok && f < object->function_count; f++)
        ok = lower_one(l, object, f, &entries, abi);
    free(entries.first);
    free(entries.next);
    return ok;
}

/* Code with indirect jumps may reach any function: its warps get the registers of all. */
static void settle_registers(struct program *program)
{
    u32 most = 0;
    for (u32 f = 0; f < program->function_count; f++)
        most = MAX(most, program->functions[f].registers);
    for (u32 f = 0; f < program->function_count; f++)
        if (program->functions[f].is_kernel && program->functions[f].open)
            program->functions[f].total_registers = most;
}

struct program *si_program_load(const void *bytes, size_t size, const char *file,
                                const struct si_params *params, struct error *error)
{
    struct lowering *l = lowering_begin(file, error);
    const struct code_object *object =
        codeobject_read(l->arena, bytes, size, l->program->file, error);
    l->object = object;
    l->program->traits = traits(true);
    if (!object || !take_load(l, object) || !lower_functions(l, params)) {
        lowering_free(l);
        return NULL;
    }
    take_variables(l, object);
    for (u32 i = 0; i < object->warning_count; i++)
        lowering_warn(l, "%s", object->warnings[i]);
    struct program *program = lowering_finish(l);
    if (program)
        settle_registers(program);
    return program;
}

struct program *si_program_raw(const void *code, size_t bytes, const char *file,
                               struct error *error)
{
    if (!bytes || bytes % 4 || bytes > RAW_MAX) {
        error_set(error, ERROR_INPUT, file,
                  "%zu bytes: code must consist of 4-byte words, at least one and at most %u",
                  bytes, (u32)RAW_MAX / 4);
        return NULL;
    }
    struct lowering *l = lowering_begin(file, error);
    struct program *program = l->program;
    program->traits = traits(false);
    program->load = arena_alloc(l->arena, bytes + 8);
    memcpy(program->load, code, bytes);
    program->load_bytes = bytes;
    struct function *f = program->functions = arena_new(l->arena, struct function);
    program->function_count = 1;
    *f = (struct function){.name = "raw",
                           .is_kernel = true,
                           .open = true,
                           .masks = SCALAR_COUNT / 2,
                           .mode = SI_RAW_MODE};
    if (!lower_function(l, f, 0, bytes)) {
        lowering_free(l);
        return NULL;
    }
    if (f->first == f->end) {
        error_set(error, ERROR_INPUT, file, "the code is empty: it is only padding");
        lowering_free(l);
        return NULL;
    }
    f->registers = 256;
    f->scalars = SI_SGPRS;
    return lowering_finish(l);
}
