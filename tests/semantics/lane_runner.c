/*
 * Runs forms: thread i loads operand set i, executes the form and stores every result.
 *
 * Each form becomes two kernels: one where all lanes execute it at once, one where odd and even
 * lanes execute it under opposite guards, so both the full-mask and the masked code are seen; and
 * each runs on two devices (vector code with optimisation, portable without).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fp.h"
#include "harness.h"

enum {
    BATCH = 48,
    MAX_VECTORS = 20000,
    BLOCK = 128,
    SHOWN = 3
};

struct runner {
    struct hd_device *device[2];
    u64 in[2], out[2];
    u64 *src[MAX_SRC], *want[MAX_DST], *got;
    unsigned failed;
};

static const char *register_type(enum kind kind)
{
    switch (kind_register(kind)) {
    case 1:
        return "pred";
    case 16:
        return "b16";
    case 32:
        return "b32";
    default:
        return "b64";
    }
}

static void add_loads(struct text *text, const struct form *f)
{
    for (unsigned k = 0; k < f->src_count; k++) {
        unsigned x = f->dst_count + k;
        if (f->src[k] == K_PRED)
            text_add(text, "    ld.global.b32 %%r3, [%%d0];\n    setp.ne.u32 %%x%u, %%r3, 0;\n", x);
        else
            text_add(text, "    ld.global.%s %%x%u, [%%d0];\n", register_type(f->src[k]), x);
        text_add(text, "    add.u64 %%d0, %%d0, %%d3;\n");
    }
}

static void add_stores(struct text *text, const struct form *f)
{
    for (unsigned k = 0; k < f->dst_count; k++) {
        if (f->dst[k] == K_PRED)
            text_add(text, "    selp.u32 %%r3, 1, 0, %%x%u;\n    st.global.b32 [%%d1], %%r3;\n", k);
        else
            text_add(text, "    st.global.%s [%%d1], %%x%u;\n", register_type(f->dst[k]), k);
        text_add(text, "    add.u64 %%d1, %%d1, %%d3;\n");
    }
}

/* The form's statements with $k as %xk, each behind `guard`. */
static void add_statements(struct text *text, const struct form *f, const char *guard)
{
    const char *p = f->text;
    while (*p) {
        p += strspn(p, " ");
        if (!*p)
            break;
        text_add(text, "    %s", guard);
        for (; *p != ';'; p++) {
            if (*p == '$')
                text_add(text, "%%x");
            else
                text_add(text, "%c", *p);
        }
        text_add(text, ";\n");
        p++;
    }
}

void form_kernel(struct text *text, const struct form *f, const char *name, bool guarded)
{
    text_add(text,
             "// %s\n.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 n)\n{\n"
             "    .reg .pred %%p<2>;\n    .reg .b32 %%r<4>;\n    .reg .b64 %%d<5>;\n",
             f->text, name);
    for (unsigned k = 0; k < f->dst_count + f->src_count; k++)
        text_add(text, "    .reg .%s %%x%u;\n",
                 register_type(k < f->dst_count ? f->dst[k] : f->src[k - f->dst_count]), k);
    text_add(text, "    mov.u32 %%r0, %%ctaid.x;\n    mov.u32 %%r1, %%ntid.x;\n"
                   "    mov.u32 %%r2, %%tid.x;\n    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                   "    ld.param.u32 %%r1, [n];\n    setp.ge.u32 %%p0, %%r0, %%r1;\n"
                   "    @%%p0 bra DONE;\n    ld.param.u64 %%d0, [in];\n"
                   "    ld.param.u64 %%d1, [out];\n    mul.wide.u32 %%d2, %%r0, 8;\n"
                   "    add.u64 %%d0, %%d0, %%d2;\n    add.u64 %%d1, %%d1, %%d2;\n"
                   "    mul.wide.u32 %%d3, %%r1, 8;\n");
    add_loads(text, f);
    if (guarded) {
        text_add(text, "    and.b32 %%r2, %%r0, 1;\n    setp.eq.u32 %%p1, %%r2, 0;\n");
        add_statements(text, f, "@%p1 ");
        add_statements(text, f, "@!%p1 ");
    } else {
        add_statements(text, f, "");
    }
    add_stores(text, f);
    text_add(text, "DONE:\n    ret;\n}\n\n");
}

/*
 * NaN payloads. f32 and narrower give the canonical NaN where they compute; moves of a value with
 * a change of sign or format may keep a payload. f64 keeps the payload of an operand that is NaN,
 * quieted, and which of several is not said.
 */
static bool nan_matches(const struct form *f, enum kind kind, const u64 *s, u64 got)
{
    bool moves = !strncmp(f->opcode, "abs", 3) || !strncmp(f->opcode, "neg", 3) ||
                 (!strncmp(f->opcode, "cvt", 3) && f->round == R_NONE);
    if (!fp_is_nan(kind, got))
        return false;
    if (moves)
        return true;
    if (kind != K_F64)
        return got == fp_nan(kind);
    u64 quiet = 1ull << 51;
    if (!(got & quiet))
        return false;
    bool any = false, found = false;
    for (unsigned k = 0; k < f->src_count; k++)
        if (f->src[k] == K_F64 && fp_is_nan(K_F64, s[k])) {
            any = true;
            found |= got == (s[k] | quiet);
        }
    return !any || found;
}

static bool matches(const struct form *f, unsigned k, const u64 *s, u64 got, u64 want)
{
    enum kind kind = f->dst[k];
    if (got == want)
        return true;
    if (!kind_float(kind) || kind == K_E4M3X2 || kind == K_E5M2X2 || kind == K_TF32)
        return false;
    enum kind element = fp_element(kind);
    unsigned width = fp_width(element);
    for (unsigned at = 0; at < kind_bits(kind); at += width) {
        u64 g = low(got >> at, width), w = low(want >> at, width);
        if (g != w && !(fp_is_nan(element, w) && nan_matches(f, element, s, g)))
            return false;
    }
    return true;
}

static void show(const struct form *f, const char *how, const u64 *s, unsigned k, u64 got, u64 want)
{
    printf("  %s [%s] operands", f->text, how);
    for (unsigned i = 0; i < f->src_count; i++)
        printf(" %0*llx", kind_register(f->src[i]) / 4 + 1, (unsigned long long)s[i]);
    printf(": result %u is %llx, expected %llx\n", k, (unsigned long long)got,
           (unsigned long long)want);
}

static bool check(struct runner *r, const struct form *f, const char *how)
{
    size_t n = f->vectors;
    unsigned shown = 0, wrong = 0;
    for (unsigned k = 0; k < f->dst_count; k++) {
        unsigned bits = kind_register(f->dst[k]);
        for (size_t i = 0; i < n; i++) {
            u64 s[MAX_SRC], want = r->want[k][i],
                            got = low(r->got[k * n + i], bits == 1 ? 32 : bits);
            for (unsigned j = 0; j < f->src_count; j++)
                s[j] = r->src[j][i];
            bool good = f->judge ? f->judge(f, s, got, &want) : matches(f, k, s, got, want);
            if (good)
                continue;
            wrong++;
            if (shown++ < SHOWN)
                show(f, how, s, k, got, want);
        }
    }
    if (wrong > SHOWN)
        printf("  ... %u wrong of %zu\n", wrong, n * f->dst_count);
    return wrong == 0;
}

static bool run_form(struct runner *r, const struct form *f, struct hd_module *const *modules,
                     unsigned index)
{
    size_t n = f->vectors;
    bool good = true;
    assert(n <= MAX_VECTORS);
    values_fill(f, r->src, n);
    for (size_t i = 0; f->reference && i < n; i++) {
        u64 s[MAX_SRC], d[MAX_DST] = {0};
        for (unsigned k = 0; k < f->src_count; k++)
            s[k] = r->src[k][i];
        f->reference(f, s, d);
        for (unsigned k = 0; k < f->dst_count; k++)
            r->want[k][i] = d[k];
    }
    for (unsigned m = 0; m < 4; m++) {
        unsigned on = m / 2;
        char name[32];
        snprintf(name, sizeof name, "%s%u", m % 2 ? "guarded" : "plain", index);
        for (unsigned k = 0; k < f->src_count; k++)
            buffer_write(r->device[on], r->in[on] + k * n * 8, r->src[k], n * 8);
        memset(r->got, 0, n * 8 * f->dst_count);
        buffer_write(r->device[on], r->out[on], r->got, n * 8 * f->dst_count);
        u64 args[] = {r->in[on], r->out[on], n};
        struct hd_dim grid = {(u32)((n + BLOCK - 1) / BLOCK), 1, 1}, block = {BLOCK, 1, 1};
        if (!launch(modules[on], name, grid, block, args, 3))
            return false;
        buffer_read(r->device[on], r->out[on], r->got, n * 8 * f->dst_count);
        good &= check(r, f,
                      m == 0   ? "vector"
                      : m == 1 ? "vector, masked"
                      : m == 2 ? "portable"
                               : "portable, masked");
    }
    return good;
}

/* Both modules of some forms, or false when one does not load. */
static bool load(struct runner *r, const struct form *const *batch, unsigned count,
                 struct hd_module **modules)
{
    struct text text = {0};
    text_add(&text, PTX_HEADER "\n");
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "plain%u", i);
        form_kernel(&text, batch[i], name, false);
        snprintf(name, sizeof name, "guarded%u", i);
        form_kernel(&text, batch[i], name, true);
    }
    bool good = true;
    for (unsigned on = 0; on < 2; on++) {
        modules[on] = good ? module_load(r->device[on], &text, batch[0]->text) : NULL;
        good = good && modules[on];
    }
    text_free(&text);
    if (!good && modules[0])
        hd_module_unload(modules[0]);
    return good;
}

static void run_batch(struct runner *r, const struct form *const *batch, unsigned count)
{
    struct hd_module *modules[2];
    if (!load(r, batch, count, modules)) {
        if (count == 1) { /* the message has been printed */
            r->failed++;
            return;
        }
        for (unsigned i = 0; i < count; i++)
            run_batch(r, &batch[i], 1);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        r->failed += !run_form(r, batch[i], modules, i);
    hd_module_unload(modules[0]);
    hd_module_unload(modules[1]);
}

unsigned run_family(const struct forms *forms, const char *family)
{
    struct runner r = {0};
    const struct form *batch[BATCH];
    unsigned count = 0;
    for (unsigned on = 0; on < 2; on++) {
        r.device[on] = device_open(on ? settings_plain : settings_fast);
        r.in[on] = buffer_new(r.device[on], NULL, (size_t)MAX_VECTORS * 8 * MAX_SRC);
        r.out[on] = buffer_new(r.device[on], NULL, (size_t)MAX_VECTORS * 8 * MAX_DST);
    }
    for (unsigned k = 0; k < MAX_SRC; k++)
        r.src[k] = malloc((size_t)MAX_VECTORS * 8);
    for (unsigned k = 0; k < MAX_DST; k++)
        r.want[k] = malloc((size_t)MAX_VECTORS * 8);
    r.got = malloc((size_t)MAX_VECTORS * 8 * MAX_DST);
    for (size_t i = 0; i < forms->count; i++) {
        if (strcmp(forms->items[i].family, family))
            continue;
        batch[count++] = &forms->items[i];
        if (count == BATCH) {
            run_batch(&r, batch, count);
            count = 0;
        }
    }
    if (count)
        run_batch(&r, batch, count);
    for (unsigned k = 0; k < MAX_SRC; k++)
        free(r.src[k]);
    for (unsigned k = 0; k < MAX_DST; k++)
        free(r.want[k]);
    free(r.got);
    hd_device_close(r.device[0]);
    hd_device_close(r.device[1]);
    mpfr_free_cache();
    return r.failed;
}
