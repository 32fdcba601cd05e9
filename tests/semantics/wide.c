/*
 * Registers of 128 bits and atomics on vectors: exchange and compare in global and shared memory,
 * and additions whose results overwrite the operands of later elements.
 */
#include <string.h>

#include "harness.h"
#include "wide.h"

enum {
    THREADS = 64
};

/* in: memory, b, c (16 bytes each); out: old value, memory afterwards. */
static void b128_kernel(struct text *t, const char *space, const char *op, const char *name)
{
    bool shared = !strcmp(space, "shared"), swaps = !strcmp(op, "cas");
    text_add(t,
             "// atom.%s.%s.b128\n.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 "
             "scratch)\n{\n    .reg .b128 %%q<5>;\n    .reg .b64 %%d<8>;\n    .reg .b32 %%r0;\n"
             "    .reg .pred %%p;\n    .shared .align 16 .b8 area[%u];\n"
             "    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%d3, %%r0, 48;\n"
             "    ld.param.u64 %%d0, [in];\n    add.u64 %%d0, %%d0, %%d3;\n"
             "    mul.wide.u32 %%d3, %%r0, 32;\n    ld.param.u64 %%d1, [out];\n"
             "    add.u64 %%d1, %%d1, %%d3;\n    mul.wide.u32 %%d3, %%r0, 16;\n",
             space, op, name, 16 * THREADS);
    text_add(t, shared ? "    mov.u64 %%d2, area;\n" : "    ld.param.u64 %%d2, [scratch];\n");
    text_add(t,
             "    add.u64 %%d2, %%d2, %%d3;\n    ld.global.b128 %%q0, [%%d0];\n"
             "    st.%s.b128 [%%d2], %%q0;\n    ld.global.v2.b64 {%%d4, %%d5}, [%%d0+16];\n"
             "    mov.b128 %%q1, {%%d4, %%d5};\n    ld.global.b128 %%q2, [%%d0+32];\n"
             "    setp.ne.u32 %%p, %%r0, 9;\n    mov.b128 %%q3, %%q1;\n"
             "    @%%p atom.%s.%s.b128 %%q3, [%%d2], %%q1%s;\n"
             "    mov.b128 {%%d6, _}, %%q3;\n    mov.b128 {_, %%d7}, %%q3;\n"
             "    st.global.v2.b64 [%%d1], {%%d6, %%d7};\n    ld.%s.b128 %%q4, [%%d2];\n"
             "    st.global.b128 [%%d1+16], %%q4;\n    ret;\n}\n\n",
             space, space, op, swaps ? ", %q2" : "", space);
}

/* Thread 9 does nothing. Of four threads two compare equal, one differs in each half. */
static void fill(u64 *in)
{
    for (u32 i = 0; i < THREADS; i++) {
        u64 *at = in + 6 * i;
        for (u32 k = 0; k < 6; k++)
            at[k] = (i * 6 + k + 1) * 0x9e3779b97f4a7c15ull;
        at[2] = at[0] ^ (i % 4 == 1);
        at[3] = at[1] ^ (u64)(i % 4 == 3) << 63;
    }
}

static unsigned check(const u64 *in, const u64 *out, bool swaps)
{
    unsigned wrong = 0;
    for (u32 i = 0; i < THREADS; i++) {
        const u64 *at = in + 6 * i, *next = swaps ? at + 4 : at + 2;
        bool equal = i % 2 == 0, acts = i != 9;
        u64 want[4] = {at[acts ? 0 : 2], at[acts ? 1 : 3], at[0], at[1]};
        if (acts && (equal || !swaps))
            memcpy(want + 2, next, 16);
        wrong += memcmp(out + 4 * i, want, sizeof want) != 0;
    }
    return wrong;
}

static const char *const spaces[] = {"global", "shared"}, *const ops[] = {"exch", "cas"};

static unsigned run_b128(struct hd_device *device, unsigned s, unsigned o)
{
    struct text text = {0};
    u64 in[6 * THREADS], out[4 * THREADS] = {0};
    text_add(&text, PTX_HEADER);
    b128_kernel(&text, spaces[s], ops[o], "b128");
    fill(in);
    struct hd_module *module = module_load(device, &text, "b128");
    u64 args[] = {buffer_new(device, in, sizeof in), buffer_new(device, out, sizeof out),
                  buffer_new(device, out, 16 * THREADS)};
    text_free(&text);
    if (!module ||
        !launch(module, "b128", (struct hd_dim){1, 1, 1}, (struct hd_dim){THREADS, 1, 1}, args, 3))
        return 1;
    buffer_read(device, args[1], out, sizeof out);
    unsigned wrong = check(in, out, o == 1);
    if (wrong)
        printf("  atom.%s.%s.b128: %u threads wrong\n", spaces[s], ops[o], wrong);
    return wrong != 0;
}

/* Vectors. Elements are 0, 1 or 2, so that sums are exact. */
static const struct vector {
    const char *type;
    u32 bytes, count;
    u32 numbers[5]; /* 0 to 4 in the type's format, one half of packed ones */
} vectors[] = {
    {"v2.f32", 4, 2, {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000}},
    {"v4.f32", 4, 4, {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000}},
    {"noftz.v2.f16", 2, 2, {0, 0x3c00, 0x4000, 0x4200, 0x4400}},
    {"noftz.v8.f16", 2, 8, {0, 0x3c00, 0x4000, 0x4200, 0x4400}},
    {"noftz.v4.bf16", 2, 4, {0, 0x3f80, 0x4000, 0x4040, 0x4080}},
    {"noftz.v2.f16x2", 4, 2, {0, 0x3c00, 0x4000, 0x4200, 0x4400}},
    {"noftz.v4.bf16x2", 4, 4, {0, 0x3f80, 0x4000, 0x4040, 0x4080}},
};

static u32 element(const struct vector *v, u32 low, u32 high)
{
    bool packed = strstr(v->type, "x2");
    return packed ? v->numbers[low] | v->numbers[high] << 16 : v->numbers[low];
}

/* The results go to the operands' registers in reverse. */
static void vector_kernel(struct text *t, const struct vector *v, bool red, const char *name)
{
    u32 bits = 8 * v->bytes;
    text_add(t,
             "// %s.global.add.%s\n.visible .entry %s(.param .u64 in, .param .u64 memory)\n{\n"
             "    .reg .b%u %%v<8>;\n    .reg .b64 %%d<4>;\n    .reg .b32 %%r0;\n"
             "    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%d3, %%r0, 32;\n"
             "    ld.param.u64 %%d0, [in];\n    add.u64 %%d0, %%d0, %%d3;\n"
             "    ld.param.u64 %%d1, [memory];\n    add.u64 %%d1, %%d1, %%d3;\n",
             red ? "red" : "atom", v->type, name, bits);
    for (u32 i = 0; i < v->count; i++)
        text_add(t, "    ld.global.b%u %%v%u, [%%d0+%u];\n", bits, i, i * v->bytes);
    text_add(t, "    %s.global.add.%s ", red ? "red" : "atom", v->type);
    for (u32 i = 0; i < v->count && !red; i++)
        text_add(t, "%s%%v%u", i ? ", " : "{", v->count - 1 - i);
    text_add(t, "%s[%%d1], ", red ? "" : "}, ");
    for (u32 i = 0; i < v->count; i++)
        text_add(t, "%s%%v%u", i ? ", " : "{", i);
    text_add(t, "};\n");
    for (u32 i = 0; i < v->count && !red; i++)
        text_add(t, "    st.global.b%u [%%d0+%u], %%v%u;\n", bits, i * v->bytes, v->count - 1 - i);
    text_add(t, "    ret;\n}\n\n");
}

static unsigned run_vector(struct hd_device *device, const struct vector *v, bool red)
{
    struct text text = {0};
    u8 in[32 * THREADS] = {0}, memory[32 * THREADS] = {0}, old[32 * THREADS], sum[32 * THREADS];
    memset(old, 0, sizeof old);
    memset(sum, 0, sizeof sum);
    for (u32 i = 0; i < THREADS * v->count; i++) {
        u32 at = i / v->count * 32 + i % v->count * v->bytes;
        u32 a = i % 3, b = i / 3 % 3, c = i / 9 % 3, d = i / 27 % 3;
        u32 words[3] = {element(v, a, b), element(v, c, d), element(v, a + c, b + d)};
        memcpy(memory + at, &words[0], v->bytes);
        memcpy(in + at, &words[1], v->bytes);
        memcpy(old + at, &words[red ? 1 : 0], v->bytes); /* what `in` holds afterwards */
        memcpy(sum + at, &words[2], v->bytes);
    }
    text_add(&text, PTX_HEADER);
    vector_kernel(&text, v, red, "vector");
    struct hd_module *module = module_load(device, &text, v->type);
    u64 args[] = {buffer_new(device, in, sizeof in), buffer_new(device, memory, sizeof memory)};
    text_free(&text);
    if (!module || !launch(module, "vector", (struct hd_dim){1, 1, 1},
                           (struct hd_dim){THREADS, 1, 1}, args, 2))
        return 1;
    buffer_read(device, args[0], in, sizeof in);
    buffer_read(device, args[1], memory, sizeof memory);
    bool right = !memcmp(in, old, sizeof in) && !memcmp(memory, sum, sizeof sum);
    if (!right)
        printf("  %s.global.add.%s is wrong\n", red ? "red" : "atom", v->type);
    return !right;
}

int suite_wide(void)
{
    unsigned failed = 0;
    for (unsigned on = 0; on < 2; on++) {
        struct hd_device *device = device_open(on ? settings_plain : settings_fast);
        for (unsigned i = 0; i < 4; i++)
            failed += run_b128(device, i / 2, i % 2);
        for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
            failed +=
                run_vector(device, &vectors[i], false) + run_vector(device, &vectors[i], true);
        hd_device_close(device);
    }
    printf("wide: %u failed\n", failed);
    return failed != 0;
}

void wide_visit_forms(wide_visit *visit, void *user)
{
    static const char *const moves[] = {"mov.b128", "ld.global.b128", "st.global.b128",
                                        "ld.shared.b128", "st.shared.b128"};
    char opcode[80];
    for (unsigned i = 0; i < sizeof moves / sizeof *moves; i++)
        visit(user, moves[i]);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(opcode, sizeof opcode, "atom.%s.%s.b128", spaces[i / 2], ops[i % 2]);
        visit(user, opcode);
    }
    for (unsigned i = 0; i < 2 * sizeof vectors / sizeof *vectors; i++) {
        snprintf(opcode, sizeof opcode, "%s.global.add.%s", i % 2 ? "red" : "atom",
                 vectors[i / 2].type);
        visit(user, opcode);
    }
}

void wide_ptx(struct text *text)
{
    char name[32];
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "b128_%u", i);
        b128_kernel(text, spaces[i / 2], ops[i % 2], name);
    }
    for (unsigned i = 0; i < 2 * sizeof vectors / sizeof *vectors; i++) {
        snprintf(name, sizeof name, "vector_%u", i);
        vector_kernel(text, &vectors[i / 2], i % 2, name);
    }
}
