/*
 * Kernel descriptors: the 64 bytes a command processor reads. Layout and bits are those of LLVM's
 * AMDGPU usage guide for GFX6.
 */
#include "isa/si/codeobject_internal.h"

#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static u32 word(const u8 *bytes, u32 offset)
{
    u32 value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static u32 field(u32 value, u32 low, u32 width)
{
    return value >> low & ((1u << width) - 1);
}

struct kernel_descriptor descriptor_decode(const u8 bytes[DESCRIPTOR_BYTES])
{
    u32 r1 = word(bytes, 48), r2 = word(bytes, 52), properties = word(bytes, 56) & 0xffff;
    struct kernel_descriptor d = {
        .lds_bytes = word(bytes, 0),
        .private_bytes = word(bytes, 4),
        .kernarg_bytes = word(bytes, 8),
        .entry_offset = (i64)(word(bytes, 16) | (u64)word(bytes, 20) << 32),
        .rsrc3 = word(bytes, 44),
        .rsrc1 = r1,
        .rsrc2 = r2,
        .properties = (u16)properties,
        .vgprs = (field(r1, 0, 6) + 1) * 4,
        .sgprs = (field(r1, 6, 4) + 1) * 8,
        .priority = field(r1, 10, 2),
        .mode = field(r1, 12, 8) | field(r1, 21, 1) << 8 | field(r1, 23, 1) << 9,
        .scratch = field(r2, 0, 1),
        .user_sgprs = field(r2, 1, 5),
        .trap_handler = field(r2, 6, 1),
        .group_id = {field(r2, 7, 1), field(r2, 8, 1), field(r2, 9, 1)},
        .group_info = field(r2, 10, 1),
        .local_ids = MIN(field(r2, 11, 2), 2u) + 1,
        .exceptions = field(r2, 24, 7),
        .private_buffer = field(properties, 0, 1),
        .dispatch_ptr = field(properties, 1, 1),
        .queue_ptr = field(properties, 2, 1),
        .kernarg_ptr = field(properties, 3, 1),
        .dispatch_id = field(properties, 4, 1),
        .flat_scratch_init = field(properties, 5, 1),
        .private_size = field(properties, 6, 1),
        .wave32 = field(properties, 10, 1),
        .dynamic_stack = field(properties, 11, 1),
    };
    return d;
}

static const char *rounding(u32 bits)
{
    static const char *const names[] = {"nearest even", "up", "down", "toward zero"};
    return names[bits & 3];
}

static const char *subnormals(u32 bits)
{
    static const char *const names[] = {"flushed", "kept as inputs, flushed as results",
                                        "flushed as inputs, kept as results", "kept"};
    return names[bits & 3];
}

static void describe_mode(FILE *out, const struct kernel_descriptor *d)
{
    fprintf(out, "  RSRC1 0x%08x: %u vector registers, %u scalar registers (VCC included)\n",
            d->rsrc1, d->vgprs, d->sgprs);
    if (d->priority)
        fprintf(out, "    priority %u\n", d->priority);
    fprintf(out, "    f32: rounds to %s, subnormals %s; f64: rounds to %s, subnormals %s\n",
            rounding(d->mode), subnormals(d->mode >> 4), rounding(d->mode >> 2),
            subnormals(d->mode >> 6));
    fprintf(out, "    DX10_CLAMP %s (clamp of a NaN gives %s), IEEE %s; MODE 0x%x\n",
            d->mode & 0x100 ? "on" : "off", d->mode & 0x100 ? "0" : "a NaN",
            d->mode & 0x200 ? "on" : "off", d->mode);
}

static void describe_exceptions(FILE *out, u32 bits)
{
    static const char *const names[] = {
        "invalid operation", "subnormal source", "division by zero",        "overflow",
        "underflow",         "inexact",          "integer division by zero"};
    if (!bits)
        return;
    fprintf(out, "    exceptions enabled:");
    for (u32 i = 0, told = 0; i < ARRAY_LEN(names); i++)
        if (bits >> i & 1)
            fprintf(out, "%s %s", told++ ? "," : "", names[i]);
    fputc('\n', out);
}

/* Prints "s[4:5]" or "s6"; returns the next free register. */
static u32 scalar(FILE *out, u32 first, u32 count, const char *what)
{
    if (count > 1)
        fprintf(out, "    s[%u:%u]  %s\n", first, first + count - 1, what);
    else
        fprintf(out, "    s%-7u%s\n", first, what);
    return first + count;
}

static void describe_registers(FILE *out, const struct kernel_descriptor *d)
{
    static const char *const groups[] = {"block number x", "block number y", "block number z"};
    static const char *const ids[] = {"thread number x", "thread number y", "thread number z"};
    u32 next = 0;
    fprintf(out, "  registers at entry:\n");
    if (d->private_buffer)
        next = scalar(out, next, 4, "descriptor of private memory");
    if (d->dispatch_ptr)
        next = scalar(out, next, 2, "address of the dispatch packet");
    if (d->queue_ptr)
        next = scalar(out, next, 2, "address of the queue");
    if (d->kernarg_ptr)
        next = scalar(out, next, 2, "address of the arguments");
    if (d->dispatch_id)
        next = scalar(out, next, 2, "launch number");
    if (d->flat_scratch_init)
        next = scalar(out, next, 2, "flat scratch (not on this GPU)");
    if (d->private_size)
        next = scalar(out, next, 1, "bytes of private memory per thread");
    if (next < d->user_sgprs)
        next = scalar(out, next, d->user_sgprs - next, "unused");
    for (u32 i = 0; i < 3; i++)
        if (d->group_id[i])
            next = scalar(out, next, 1, groups[i]);
    if (d->group_info)
        next = scalar(out, next, 1, "warps of the block");
    if (d->scratch)
        scalar(out, next, 1, "offset of the warp's private memory");
    for (u32 i = 0; i < MIN(d->local_ids, (u32)ARRAY_LEN(ids)); i++)
        fprintf(out, "    v%-7u%s\n", i, ids[i]);
}

static void describe_properties(FILE *out, const struct kernel_descriptor *d)
{
    static const struct {
        u32 bit;
        const char *name;
    } names[] = {{0, "private buffer"},  {1, "dispatch pointer"},   {2, "queue pointer"},
                 {3, "kernarg pointer"}, {4, "dispatch id"},        {5, "flat scratch init"},
                 {6, "private size"},    {10, "warps of 32 lanes"}, {11, "dynamic stack"}};
    fprintf(out, "  properties 0x%04x:", d->properties);
    u32 told = 0, rest = d->properties;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (d->properties >> names[i].bit & 1) {
            fprintf(out, "%s %s", told++ ? "," : "", names[i].name);
            rest &= ~(1u << names[i].bit);
        }
    if (rest)
        fprintf(out, "%s unknown bits 0x%x", told++ ? "," : "", rest);
    fprintf(out, "%s\n", told ? "" : " none");
}

static void describe_arguments(FILE *out, const struct code_kernel *kernel)
{
    fprintf(out, "  arguments: %u bytes%s\n", kernel->kernarg_bytes,
            kernel->has_metadata ? "" : " (no metadata: their layout is unknown)");
    for (u32 i = 0; i < kernel->arg_count; i++) {
        const struct code_argument *arg = &kernel->args[i];
        bool more = *arg->type_name || *arg->name || *arg->address_space;
        fprintf(out, "    @%-4u %4u  %-*s", arg->offset, arg->size, more ? 24 : 0, arg->kind_name);
        if (*arg->type_name || *arg->name)
            fprintf(out, " %s%s%s%s%s", arg->is_const ? "const " : "", arg->type_name,
                    *arg->type_name && *arg->name ? " " : "", arg->name,
                    arg->is_restrict ? " restrict" : "");
        if (*arg->address_space)
            fprintf(out, " (%s)", arg->address_space);
        fputc('\n', out);
    }
}

const char *codeobject_describe_kernel(const struct code_object *object,
                                       const struct code_kernel *kernel, struct arena *arena)
{
    const struct kernel_descriptor *d = &kernel->descriptor;
    char *text = NULL;
    size_t length;
    FILE *out = checked(open_memstream(&text, &length));
    fprintf(out, "kernel %s: %s, code object version %u, descriptor at 0x%" PRIx64 "\n",
            text_printable(arena, kernel->name), object->gpu, object->version,
            kernel->descriptor_address);
    fprintf(out, "  entry 0x%" PRIx64 " (descriptor %s 0x%" PRIx64 ")\n", kernel->entry,
            d->entry_offset < 0 ? "-" : "+",
            d->entry_offset < 0 ? 0 - (u64)d->entry_offset : (u64)d->entry_offset);
    fprintf(out,
            "  shared memory (LDS): %u bytes per block; private memory: %u bytes per thread%s\n",
            d->lds_bytes, d->private_bytes, d->dynamic_stack ? " and a dynamic stack" : "");
    if (kernel->required[0])
        fprintf(out, "  blocks must have %u x %u x %u threads\n", kernel->required[0],
                kernel->required[1], kernel->required[2]);
    else if (kernel->max_threads)
        fprintf(out, "  blocks may have %u threads\n", kernel->max_threads);
    describe_mode(out, d);
    fprintf(out, "  RSRC2 0x%08x: private memory %s, %u user SGPRs, trap handler %s\n", d->rsrc2,
            d->scratch ? "set up" : "not set up", d->user_sgprs, d->trap_handler ? "on" : "off");
    describe_exceptions(out, d->exceptions);
    fprintf(out, "  RSRC3 0x%08x\n", d->rsrc3);
    describe_properties(out, d);
    describe_registers(out, d);
    describe_arguments(out, kernel);
    fclose(out);
    const char *copy = arena_strdup(arena, text);
    free(text);
    return copy;
}
