/*
 * The launch of a kernel of a code object: see abi.h. The order of registers, the packet and the
 * hidden arguments are those of LLVM's AMDGPU usage guide (AMDHSA, GFX6).
 */
#include "isa/si/abi.h"

#include "ir/scalars.h"
#include <inttypes.h>

enum {
    PACKET_BYTES = 64,
    QUEUE_BYTES = 256, /* of a queue descriptor, all zero: there is no queue */
    PART_ALIGN = 64,
    MOST_REGISTERS = 40,
    MOST_PARTS = 3
};

/* The descriptor of private memory: swizzled, 4 bytes per element, stripes of 64 lanes, thread
 * number added, no range check, 32-bit float format. */
#define PRIVATE_WORD1 0x80000000u
#define PRIVATE_WORD2 0xffffffffu
#define PRIVATE_WORD3 0x00e8f000u

/* A kernel dispatch packet with fences of system scope, as a runtime writes it. */
#define PACKET_HEADER 0x1502

struct composer {
    struct arena *arena;
    const struct abi_kernel *abi;
    const struct entry_launch *launch;
    struct entry_register *registers;
    u32 register_count;
    u8 *image;
    u32 packet, queue; /* offsets of the parts in the image; the arguments are at 0 */
    u32 threads[3];    /* of the grid */
    u32 dims;
};

const char *abi_hidden_name(enum abi_hidden hidden)
{
    static const char *const names[] = {"auto", "libclc", "rocm4", "rocm5", "driver"};
    return names[hidden];
}

u32 abi_hidden_start(const struct code_object *object, const struct code_kernel *kernel)
{
    static const u32 places[] = {
#define ARG_KIND(name, place) place,
#include "isa/si/arg_kinds.def"
#undef ARG_KIND
        NO_PLACE /* unknown */
    };
    u32 start = NO_PLACE;
    for (u32 i = kernel->explicit_count; i < kernel->arg_count; i++) {
        const struct code_argument *arg = &kernel->args[i];
        u32 place = object->version >= 5 ? places[arg->kind] : 0;
        if (place != NO_PLACE && place <= arg->offset)
            start = MIN(start, arg->offset - place);
    }
    return start;
}

struct abi_kernel *abi_kernels(struct arena *arena, const struct code_object *object,
                               const struct si_params *params)
{
    struct abi_kernel *kernels = arena_array(arena, struct abi_kernel, object->kernel_count);
    enum abi_hidden hidden = (enum abi_hidden)params->hidden_args;
    if (hidden == ABI_AUTO)
        hidden = abi_detect(object, NULL);
    else if (hidden == ABI_DRIVER)
        hidden = object->version >= 5 ? ABI_ROCM5 : ABI_LIBCLC;
    for (u32 i = 0; i < object->kernel_count; i++)
        kernels[i] = (struct abi_kernel){object, &object->kernels[i], hidden};
    return kernels;
}

/* Writes `bytes` of a value into the arguments, if it fits. */
static void put(struct composer *c, u64 offset, u64 value, u32 bytes)
{
    if (offset + bytes <= c->abi->kernel->kernarg_bytes)
        memcpy(c->image + offset, &value, bytes);
}

static void put_rocm5(struct composer *c, u32 start)
{
    const struct entry_launch *launch = c->launch;
    for (u32 i = 0; i < 3; i++) {
        put(c, start + 0ull + 4 * i, launch->grid[i], 4);
        put(c, start + 12ull + 2 * i, launch->block[i], 2);
        put(c, start + 18ull + 2 * i, 0, 2); /* remainders: there are no partial blocks */
        put(c, start + 40ull + 8 * i, launch->offset[i], 8);
    }
    put(c, start + 64ull, c->dims, 2);
    put(c, start + 72ull, launch->buffer, 8);
    put(c, start + 120ull, launch->dynamic_shared_bytes, 4);
}

static void put_hidden(struct composer *c)
{
    u32 start = abi_hidden_start(c->abi->object, c->abi->kernel);
    if (start == NO_PLACE)
        return;
    if (c->abi->hidden == ABI_ROCM5) {
        put_rocm5(c, start);
        return;
    }
    for (u32 i = 0; i < 3; i++)
        if (c->abi->hidden == ABI_LIBCLC)
            put(c, start + 4ull + 4 * i, c->launch->offset[i], 4);
        else
            put(c, start + 8ull * i, c->launch->offset[i], 8);
    if (c->abi->hidden == ABI_LIBCLC)
        put(c, start, c->dims, 4);
    put(c, start + 24ull, c->launch->buffer, 8);
}

static void put_packet(struct composer *c)
{
    const struct entry_launch *launch = c->launch;
    const struct kernel_descriptor *d = &c->abi->kernel->descriptor;
    u8 *packet = c->image + c->packet;
    const u16 halves[] = {PACKET_HEADER,         (u16)c->dims,          (u16)launch->block[0],
                          (u16)launch->block[1], (u16)launch->block[2], 0};
    const u32 words[] = {c->threads[0], c->threads[1], c->threads[2], d->private_bytes,
                         d->lds_bytes + launch->dynamic_shared_bytes};
    memcpy(packet, halves, sizeof halves);
    memcpy(packet + sizeof halves, words, sizeof words);
}

static void add(struct composer *c, enum entry_file file, u32 index, enum entry_what what,
                u32 value)
{
    assert(c->register_count < MOST_REGISTERS);
    c->registers[c->register_count++] =
        (struct entry_register){(u8)file, (u8)what, (u16)index, value};
}

/* Adds two scalars: the low and the high word of an address or another 64-bit value. */
static void add_pair(struct composer *c, u32 *next, enum entry_what low, u32 value)
{
    add(c, ENTRY_SCALAR, (*next)++, low, value);
    add(c, ENTRY_SCALAR, (*next)++, low == ENTRY_CONSTANT ? low : (enum entry_what)(low + 1),
        value);
}

static void add_user_registers(struct composer *c)
{
    const struct kernel_descriptor *d = &c->abi->kernel->descriptor;
    u32 next = 0;
    if (d->private_buffer) {
        add(c, ENTRY_SCALAR, 0, ENTRY_LOCAL_LO, 0);
        add(c, ENTRY_SCALAR, 1, ENTRY_LOCAL_HI, PRIVATE_WORD1);
        add(c, ENTRY_SCALAR, 2, ENTRY_CONSTANT, PRIVATE_WORD2);
        add(c, ENTRY_SCALAR, 3, ENTRY_CONSTANT, PRIVATE_WORD3);
        next = 4;
    }
    if (d->dispatch_ptr)
        add_pair(c, &next, ENTRY_IMAGE_LO, c->packet);
    if (d->queue_ptr)
        add_pair(c, &next, ENTRY_IMAGE_LO, c->queue);
    if (d->kernarg_ptr)
        add_pair(c, &next, ENTRY_IMAGE_LO, 0);
    if (d->dispatch_id)
        add_pair(c, &next, ENTRY_LAUNCH_LO, 0);
    if (d->flat_scratch_init) /* this GPU has no flat scratch */
        add_pair(c, &next, ENTRY_CONSTANT, 0);
    if (d->private_size)
        add(c, ENTRY_SCALAR, next, ENTRY_CONSTANT, d->private_bytes);
}

static void add_system_registers(struct composer *c)
{
    const struct kernel_descriptor *d = &c->abi->kernel->descriptor;
    u32 next = d->user_sgprs;
    for (u32 i = 0; i < 3; i++)
        if (d->group_id[i])
            add(c, ENTRY_SCALAR, next++, (enum entry_what)(ENTRY_BLOCK_X + i), 0);
    if (d->group_info)
        add(c, ENTRY_SCALAR, next++, ENTRY_BLOCK_INFO, 0);
    if (d->scratch)
        add(c, ENTRY_SCALAR, next, ENTRY_LOCAL_WARP_OFFSET, 0);
    add(c, ENTRY_SCALAR, SCALAR_EXEC, ENTRY_LANES_LO, 0);
    add(c, ENTRY_SCALAR, SCALAR_EXEC + 1, ENTRY_LANES_HI, 0);
    add(c, ENTRY_SCALAR, SCALAR_MODE, ENTRY_CONSTANT, d->mode);
    for (u32 i = 0; i < d->local_ids; i++)
        add(c, ENTRY_VECTOR, i, (enum entry_what)(ENTRY_THREAD_X + i), 0);
}

/* Checks sizes that have fewer bits in the packet than here. */
static bool check_launch(struct composer *c, struct error *error)
{
    const struct entry_launch *launch = c->launch;
    const struct code_kernel *kernel = c->abi->kernel;
    for (u32 i = 0; i < 3; i++) {
        u64 threads = (u64)launch->grid[i] * launch->block[i];
        if (launch->block[i] > UINT16_MAX || threads > UINT32_MAX)
            return error_set(error, ERROR_USAGE, "",
                             "kernel %s: %u blocks of %u threads along %c: a dispatch packet can "
                             "describe at most 65535 threads of a block and 4294967295 of a grid",
                             kernel->name, launch->grid[i], launch->block[i], "xyz"[i]);
        c->threads[i] = (u32)threads;
        if (threads > 1)
            c->dims = i + 1;
    }
    c->dims = launch->dims ? launch->dims : MAX(c->dims, 1);
    if (launch->argument_bytes > kernel->kernarg_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s takes %u bytes of arguments, but %u are given", kernel->name,
                         kernel->kernarg_bytes, launch->argument_bytes);
    for (u32 i = 0; i < kernel->explicit_count; i++)
        if (kernel->args[i].offset + kernel->args[i].size > launch->argument_bytes)
            return error_set(
                error, ERROR_USAGE, "",
                "kernel %s: %u bytes of arguments are given, but argument %u ends at %u",
                kernel->name, launch->argument_bytes, i + 1,
                kernel->args[i].offset + kernel->args[i].size);
    return true;
}

static struct entry_part *lay_out(struct composer *c, struct entry_state *entry)
{
    const struct code_kernel *kernel = c->abi->kernel;
    struct entry_part *parts = arena_array(c->arena, struct entry_part, MOST_PARTS);
    u32 arguments = (u32)align_up(kernel->kernarg_bytes, PART_ALIGN);
    c->packet = arguments;
    c->queue = c->packet + PACKET_BYTES;
    parts[entry->part_count++] = (struct entry_part){"kernel arguments", 0, arguments};
    parts[entry->part_count++] = (struct entry_part){"dispatch packet", c->packet, PACKET_BYTES};
    entry->image_bytes = c->queue;
    if (kernel->descriptor.queue_ptr) {
        parts[entry->part_count++] = (struct entry_part){"queue", c->queue, QUEUE_BYTES};
        entry->image_bytes += QUEUE_BYTES;
    }
    entry->image_align = MAX(kernel->kernarg_align, (u32)PART_ALIGN);
    return parts;
}

struct entry_state *abi_entry(const void *kernel, const struct entry_launch *launch,
                              struct arena *arena, struct error *error)
{
    struct composer c = {.arena = arena, .abi = kernel, .launch = launch};
    const struct kernel_descriptor *d = &c.abi->kernel->descriptor;
    if (!check_launch(&c, error))
        return NULL;
    struct entry_state *entry = arena_new(arena, struct entry_state);
    entry->parts = lay_out(&c, entry);
    c.image = arena_alloc(arena, entry->image_bytes);
    c.registers = arena_array(arena, struct entry_register, MOST_REGISTERS);
    if (launch->argument_bytes)
        memcpy(c.image, launch->arguments, launch->argument_bytes);
    put_hidden(&c);
    put_packet(&c);
    struct entry_fixup *fixup = arena_new(arena, struct entry_fixup);
    *fixup = (struct entry_fixup){c.packet + 40, 0}; /* kernarg_address */
    add_user_registers(&c);
    add_system_registers(&c);
    entry->image = c.image;
    entry->fixups = fixup;
    entry->fixup_count = 1;
    entry->registers = c.registers;
    entry->register_count = c.register_count;
    u64 local = (u64)d->private_bytes + (d->dynamic_stack ? launch->stack_bytes : 0);
    entry->local_bytes = (u32)MIN(local, (u64)UINT32_MAX);
    return entry;
}
