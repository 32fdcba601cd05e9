/*
 * atom and red: every op, type and space on a location per thread, then on one for all.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "fp.h"
#include "harness.h"
#include "references.h"

enum {
    THREADS = 128
};

/* ATOMIC(op, types): types separated by spaces. */
static const struct {
    const char *op, *types;
} ops[] = {
    {"and", "b32 b64"},
    {"or", "b32 b64"},
    {"xor", "b32 b64"},
    {"exch", "b32 b64"},
    {"cas", "b16 b32 b64"},
    {"add", "u32 s32 u64 f32 f64"},
    {"add.noftz", "f16 f16x2 bf16 bf16x2"},
    {"inc", "u32"},
    {"dec", "u32"},
    {"min", "u32 s32 u64 s64"},
    {"max", "u32 s32 u64 s64"},
};
static const char *const spaces[] = {"global", "shared", "generic-global", "generic-shared"};
static const char *const qualifiers[] = {".relaxed.cta", ".relaxed.gpu", ".relaxed.sys",
                                         ".acquire.gpu", ".release.gpu", ".acq_rel.gpu",
                                         ".cta",         ".gpu",         ".sys"};

static void visit_one(atomic_visit *visit, void *user, bool red, const char *qualifier,
                      const char *space, const char *op, const char *type)
{
    struct atomic_form a = {.space = space, .op = op, .red = red};
    bool generic = !strncmp(space, "generic", 7);
    if (red && (!strcmp(op, "exch") || !strcmp(op, "cas") || strstr(qualifier, "acq")))
        return;
    snprintf(a.type, sizeof a.type, "%.*s", (int)strcspn(type, " "), type);
    snprintf(a.opcode, sizeof a.opcode, "%s%s%s%s.%s.%s", red ? "red" : "atom", qualifier,
             generic ? "" : ".", generic ? "" : space, op, a.type);
    a.bits = strstr(a.type, "x2") ? 32 : strstr(a.type, "16") ? 16 : strstr(a.type, "64") ? 64 : 32;
    visit(user, &a);
}

void atomic_visit_forms(atomic_visit *visit, void *user)
{
    for (unsigned red = 0; red < 2; red++) {
        for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                for (const char *t = ops[o].types; *t; t += strspn(t, " ")) {
                    visit_one(visit, user, red, "", spaces[s], ops[o].op, t);
                    t += strcspn(t, " ");
                }
        for (size_t q = 0; q < sizeof qualifiers / sizeof *qualifiers; q++)
            visit_one(visit, user, red, qualifiers[q], "global", "add", "u32");
    }
}

/* in: memory before, operand, second operand (three u64 slots a thread); out: old value, memory. */
static void atomic_kernel(struct text *t, const struct atomic_form *a, const char *name)
{
    bool shared = strstr(a->space, "shared") != NULL,
         generic = a->space[0] == 'g' && a->space[2] == 'n';
    const char *plain = shared ? "shared" : "global";
    unsigned n = a->bits;
    text_add(t,
             "// %s in %s\n.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 "
             "scratch)\n{\n    .reg .b%u %%v<4>;\n    .reg .b64 %%d<8>;\n    .reg .b32 %%r0;\n"
             "    .shared .align 8 .b8 area[%u];\n"
             "    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%d3, %%r0, 24;\n"
             "    ld.param.u64 %%d0, [in];\n    add.u64 %%d0, %%d0, %%d3;\n"
             "    mul.wide.u32 %%d3, %%r0, 16;\n    ld.param.u64 %%d1, [out];\n"
             "    add.u64 %%d1, %%d1, %%d3;\n    mul.wide.u32 %%d3, %%r0, 8;\n",
             a->opcode, a->space, name, n, 8 * THREADS);
    if (shared)
        text_add(t, "    mov.u64 %%d5, area;\n");
    else
        text_add(t, "    ld.param.u64 %%d5, [scratch];\n");
    text_add(t, "    add.u64 %%d5, %%d5, %%d3;\n");
    if (generic)
        text_add(t, "    cvta.%s.u64 %%d4, %%d5;\n", plain);
    else
        text_add(t, "    mov.u64 %%d4, %%d5;\n");
    text_add(t,
             "    ld.global.b64 %%d6, [%%d0];\n    st.%s.b64 [%%d5], %%d6;\n"
             "    ld.global.b%u %%v1, [%%d0+8];\n    ld.global.b%u %%v2, [%%d0+16];\n",
             plain, n, n);
    text_add(t, a->red ? "    %s [%%d4], %%v1;\n" : "    %s %%v0, [%%d4], %%v1", a->opcode);
    if (!a->red)
        text_add(t, "%s;\n    st.global.b%u [%%d1], %%v0;\n", strcmp(a->op, "cas") ? "" : ", %v2",
                 n);
    text_add(t, "    ld.%s.b64 %%d6, [%%d5];\n    st.global.b64 [%%d1+8], %%d6;\n    ret;\n}\n\n",
             plain);
}

/* Float sums round to nearest; f32 in global memory flushes subnormals, in shared it keeps them. */
static u64 float_sum(const struct atomic_form *a, u64 x, u64 y)
{
    static const enum kind kinds[] = {K_F16, K_F16X2, K_BF16, K_BF16X2, K_F32, K_F64};
    struct form f = {.round = R_N, .src_count = 2, .dst_count = 1};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(kind_name(kinds[k]), a->type))
            f.type = kinds[k];
    f.ftz = f.type == K_F32 && !strstr(a->space, "shared");
    u64 s[2] = {x, y}, d;
    ref_fadd(&f, s, &d);
    return d;
}

static u64 apply(const struct atomic_form *a, u64 old, u64 x, u64 y)
{
    bool is_signed = a->type[0] == 's';
    bool less = is_signed ? sext(old, a->bits) < sext(x, a->bits) : old < x;
    if (!strcmp(a->op, "and"))
        return old & x;
    if (!strcmp(a->op, "or"))
        return old | x;
    if (!strcmp(a->op, "xor"))
        return old ^ x;
    if (!strcmp(a->op, "exch"))
        return x;
    if (!strcmp(a->op, "cas"))
        return old == x ? y : old;
    if (!strcmp(a->op, "inc"))
        return old >= x ? 0 : old + 1;
    if (!strcmp(a->op, "dec"))
        return old == 0 || old > x ? x : old - 1;
    if (!strcmp(a->op, "min"))
        return less ? old : x;
    if (!strcmp(a->op, "max"))
        return less ? x : old;
    if (strchr(a->type, 'f'))
        return float_sum(a, old, x);
    return low(old + x, a->bits);
}

struct atomic_run {
    struct hd_device *device[2];
    u64 in[2], out[2], scratch[2];
    unsigned count, failed;
};

static void fill(const struct atomic_form *a, u64 (*in)[3])
{
    struct rng rng = {7};
    enum kind kind = K_U64;
    for (unsigned k = K_U8; k < K_PRED; k++)
        if (!strcmp(kind_name((enum kind)k), a->type))
            kind = (enum kind)k;
    const u64 *edges;
    size_t n = values_edges(kind, true, &edges);
    unsigned width = kind_float(kind) ? fp_width(kind) : a->bits;
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned k = 0; k < 3; k++) {
            u64 r = rng_next(&rng);
            u64 value = edges[(r >> 8) % n] ^ (u64)(r & kind_float(kind)) << (width - 1);
            if (width < a->bits)
                value |= edges[(r >> 30) % n] << width;
            /* above the operand: bytes the instruction must not touch */
            in[i][k] = low(value, a->bits) | (k == 0 ? low(~0ull, 64) << (a->bits - 1) << 1 : 0);
            if (k == 1 && r >> 60 == 0)
                in[i][k] = low(in[i][0], a->bits); /* so that cas succeeds */
        }
}

static bool float_equal(const struct atomic_form *a, u64 got, u64 want)
{
    if (got == want || !strchr(a->type, 'f'))
        return got == want;
    return !strcmp(a->type, "f64") && fp_is_nan(K_F64, got) && fp_is_nan(K_F64, want);
}

static bool check_form(const struct atomic_form *a, u64 (*in)[3], u64 (*out)[2], const char *how)
{
    for (unsigned i = 0; i < THREADS; i++) {
        u64 old = low(in[i][0], a->bits), x = low(in[i][1], a->bits), y = low(in[i][2], a->bits);
        u64 value = apply(a, old, x, y), above = in[i][0] & ~low(~0ull, a->bits);
        u64 got = low(out[i][1], a->bits);
        if (!float_equal(a, got, value) || (out[i][1] & ~low(~0ull, a->bits)) != above) {
            printf("  %s in %s [%s]: memory %llx with %llx, %llx is %llx, expected %llx\n",
                   a->opcode, a->space, how, (unsigned long long)in[i][0], (unsigned long long)x,
                   (unsigned long long)y, (unsigned long long)out[i][1],
                   (unsigned long long)(value | above));
            return false;
        }
        if (!a->red && out[i][0] != old) {
            printf("  %s in %s [%s]: returns %llx, expected %llx\n", a->opcode, a->space, how,
                   (unsigned long long)out[i][0], (unsigned long long)old);
            return false;
        }
    }
    return true;
}

static void run_atomic(void *user, const struct atomic_form *a)
{
    struct atomic_run *r = user;
    struct text text = {0};
    u64 in[THREADS][3], out[THREADS][2];
    r->count++;
    text_add(&text, PTX_HEADER);
    atomic_kernel(&text, a, "access");
    fill(a, in);
    bool good = true;
    for (unsigned on = 0; on < 2 && good; on++) {
        u64 args[] = {r->in[on], r->out[on], r->scratch[on]};
        struct hd_module *module = module_load(r->device[on], &text, a->opcode);
        memset(out, 0, sizeof out);
        buffer_write(r->device[on], r->in[on], in, sizeof in);
        buffer_write(r->device[on], r->out[on], out, sizeof out);
        good = module && launch(module, "access", (struct hd_dim){1, 1, 1},
                                (struct hd_dim){THREADS, 1, 1}, args, 3);
        buffer_read(r->device[on], r->out[on], out, sizeof out);
        good = good && check_form(a, in, out, on ? "portable" : "vector");
        if (module)
            hd_module_unload(module);
    }
    r->failed += !good;
    text_free(&text);
}

static int compare_u32(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

/* All threads of several blocks on one counter: every value below the total is returned once. */
static bool contended(struct hd_device *device)
{
    enum {
        BLOCKS = 5,
        TOTAL = BLOCKS * THREADS
    };
    struct text text = {0};
    u32 got[TOTAL], counter = 0;
    text_add(&text, PTX_HEADER
             ".visible .entry count(.param .u64 counter, .param .u64 out)\n{\n"
             "    .reg .b32 %%r<5>;\n    .reg .b64 %%d<4>;\n"
             "    mov.u32 %%r0, %%ctaid.x;\n    mov.u32 %%r1, %%ntid.x;\n    mov.u32 %%r2, "
             "%%tid.x;\n    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n    ld.param.u64 %%d0, [counter];\n"
             "    ld.param.u64 %%d1, [out];\n    mul.wide.u32 %%d2, %%r0, 4;\n"
             "    add.u64 %%d1, %%d1, %%d2;\n    atom.global.add.u32 %%r3, [%%d0], 1;\n"
             "    st.global.u32 [%%d1], %%r3;\n    ret;\n}\n");
    struct hd_module *module = module_load(device, &text, "contended");
    u64 args[] = {buffer_new(device, &counter, 4), buffer_new(device, NULL, sizeof got)};
    bool good = module && launch(module, "count", (struct hd_dim){BLOCKS, 1, 1},
                                 (struct hd_dim){THREADS, 1, 1}, args, 2);
    buffer_read(device, args[1], got, sizeof got);
    buffer_read(device, args[0], &counter, 4);
    qsort(got, TOTAL, 4, compare_u32);
    for (u32 i = 0; i < TOTAL; i++)
        good = good && got[i] == i;
    good = good && counter == TOTAL;
    text_free(&text);
    if (!good)
        printf("  a contended counter lost or repeated a value\n");
    return good;
}

int suite_atomic(void)
{
    struct atomic_run r = {0};
    for (unsigned on = 0; on < 2; on++) {
        r.device[on] = device_open(on ? settings_plain : settings_fast);
        r.in[on] = buffer_new(r.device[on], NULL, THREADS * 24);
        r.out[on] = buffer_new(r.device[on], NULL, THREADS * 16);
        r.scratch[on] = buffer_new(r.device[on], NULL, THREADS * 8);
    }
    atomic_visit_forms(run_atomic, &r);
    r.failed += !contended(r.device[0]) + !contended(r.device[1]);
    hd_device_close(r.device[0]);
    hd_device_close(r.device[1]);
    printf("atomic: %u forms, %u failed\n", r.count, r.failed);
    return r.failed != 0;
}

struct printer {
    struct text *text;
    unsigned count;
};

static void print_atomic(void *user, const struct atomic_form *a)
{
    struct printer *p = user;
    char name[32];
    snprintf(name, sizeof name, "k%u", p->count++);
    atomic_kernel(p->text, a, name);
}

void atomic_ptx(struct text *text)
{
    struct printer p = {text, 0};
    atomic_visit_forms(print_atomic, &p);
}
