/*
 * ld and st in every space, width, vector length and extension, and what surrounds a store.
 *
 * A thread owns SLOT bytes in the space under test. A load form's registers are stored one by one
 * at full width; a store form's bytes are copied out together with their neighbours, which must
 * not have changed.
 */
#include <string.h>

#include "harness.h"
#include "memory.h"

enum {
    SLOT = 64,
    THREADS = 96
};

static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                                    "u32", "s32", "f32", "b64", "u64", "s64", "f64"};

static unsigned type_bits(const char *type)
{
    return type[1] == '8' ? 8 : type[1] == '1' ? 16 : type[1] == '3' ? 32 : 64;
}

const char *const memory_spaces[] = {"global",         "shared",         "local",
                                     "generic-global", "generic-shared", "generic-local",
                                     "const",          "generic-const",  NULL};

/* Qualifiers that change nothing a single thread sees, each tried on one type and vector. */
static const char *const load_qualifiers[] = {".weak",        ".volatile",
                                              ".relaxed.cta", ".relaxed.gpu",
                                              ".relaxed.sys", ".acquire.cta",
                                              ".acquire.gpu", ".acquire.sys",
                                              ".ca",          ".cg",
                                              ".cs",          ".lu",
                                              ".cv",          ".L1::evict_last",
                                              ".L2::128B",    ".nc"};
static const char *const store_qualifiers[] = {
    ".weak",        ".volatile",    ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys", ".release.cta",
    ".release.gpu", ".release.sys", ".wb",          ".cg",          ".cs",          ".wt"};

static void memory_name(const struct memory_form *m, char *name, size_t size)
{
    const char *space = !strncmp(m->space, "generic", 7) ? "" : m->space;
    bool evict = strstr(m->qualifier, "::") != NULL || !strcmp(m->qualifier, ".nc") ||
                 strstr(".ca.cg.cs.lu.cv.wb.wt", m->qualifier) != NULL;
    char vector[16] = "";
    if (m->vector > 1)
        snprintf(vector, sizeof vector, ".v%u", m->vector);
    snprintf(name, size, "%s%s%s%s%s%s.%s", m->store ? "st" : "ld", evict ? "" : m->qualifier,
             *space ? "." : "", space, evict ? m->qualifier : "", vector, m->type);
}

static void visit_one(memory_visit *visit, void *user, struct memory_form m)
{
    memory_name(&m, m.opcode, sizeof m.opcode);
    visit(user, &m);
}

static void visit_types(memory_visit *visit, void *user, const char *space, bool store)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        unsigned bits = type_bits(types[t]);
        for (unsigned vector = 1; vector <= 4 && vector * bits <= 128; vector *= 2)
            for (unsigned reg = bits < 16 ? 16 : bits; reg <= 64; reg *= 2) {
                if (types[t][0] == 'f' && reg != bits)
                    continue;
                visit_one(visit, user,
                          (struct memory_form){.space = space,
                                               .type = types[t],
                                               .qualifier = "",
                                               .store = store,
                                               .vector = vector,
                                               .bits = bits,
                                               .reg = reg});
            }
    }
}

void memory_visit_forms(memory_visit *visit, void *user)
{
    for (unsigned store = 0; store < 2; store++) {
        for (unsigned s = 0; memory_spaces[s]; s++)
            if (!store || !strstr(memory_spaces[s], "const"))
                visit_types(visit, user, memory_spaces[s], store);
        const char *const *list = store ? store_qualifiers : load_qualifiers;
        size_t count =
            store ? sizeof store_qualifiers / sizeof *list : sizeof load_qualifiers / sizeof *list;
        for (size_t q = 0; q < count; q++)
            visit_one(visit, user,
                      (struct memory_form){.space = "global",
                                           .type = "u32",
                                           .qualifier = list[q],
                                           .store = store,
                                           .vector = 1,
                                           .bits = 32,
                                           .reg = 32});
        visit_one(visit, user,
                  (struct memory_form){.space = "global",
                                       .type = "b32",
                                       .qualifier = "",
                                       .store = store,
                                       .vector = 8,
                                       .bits = 32,
                                       .reg = 32});
        visit_one(visit, user,
                  (struct memory_form){.space = "global",
                                       .type = "b64",
                                       .qualifier = "",
                                       .store = store,
                                       .vector = 4,
                                       .bits = 64,
                                       .reg = 64});
    }
}

/* %d4 = where the thread's slot is, as the instruction wants it; %d5 = the same to copy through,
 * %d0 and %d1 the thread's slots of in and out. */
static void add_place(struct text *t, const char *space)
{
    const char *plain = strchr(space, '-') ? strchr(space, '-') + 1 : space;
    if (!strcmp(plain, "global"))
        text_add(t, "    mov.u64 %%d5, %%d2;\n");
    else
        text_add(t, "    mov.u64 %%d5, area_%s;\n", plain);
    if (!strcmp(plain, "shared") || !strcmp(plain, "const"))
        text_add(t, "    add.u64 %%d5, %%d5, %%d3;\n");
    if (plain == space || !strcmp(plain, "global"))
        text_add(t, "    mov.u64 %%d4, %%d5;\n");
    else
        text_add(t, "    cvta.%s.u64 %%d4, %%d5;\n", plain);
}

static void add_copy(struct text *t, const char *to, const char *to_reg, const char *from,
                     const char *from_reg)
{
    for (unsigned at = 0; at < SLOT; at += 8)
        text_add(t, "    ld.%s.b64 %%d6, [%s+%u];\n    st.%s.b64 [%s+%u], %%d6;\n", from, from_reg,
                 at, to, to_reg, at);
}

static void add_access(struct text *t, const struct memory_form *m)
{
    unsigned offset = m->vector * m->bits / 8; /* off the slot's start: the offset is tested too */
    text_add(t, "    %s ", m->opcode);
    for (unsigned part = 0; part < 2; part++) {
        if ((part == 0) == m->store) {
            text_add(t, "[%%d4+%u]", offset);
        } else {
            text_add(t, "%s", m->vector > 1 ? "{" : "");
            for (unsigned k = 0; k < m->vector; k++)
                text_add(t, "%s%%v%u", k ? ", " : "", k);
            text_add(t, "%s", m->vector > 1 ? "}" : "");
        }
        text_add(t, part ? ";\n" : ", ");
    }
}

static void memory_kernel(struct text *t, const struct memory_form *m, const char *name)
{
    const char *plain = strchr(m->space, '-') ? strchr(m->space, '-') + 1 : m->space;
    text_add(t,
             "// %s in %s\n.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 scratch)"
             "\n{\n    .reg .b%u %%v<8>;\n    .reg .b64 %%d<8>;\n    .reg .b32 %%r0;\n",
             m->opcode, m->space, name, m->reg);
    if (!strcmp(plain, "shared"))
        text_add(t, "    .shared .align 32 .b8 area_shared[%u];\n", SLOT * THREADS);
    if (!strcmp(plain, "local"))
        text_add(t, "    .local .align 32 .b8 area_local[%u];\n", SLOT);
    text_add(t,
             "    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%d3, %%r0, %u;\n"
             "    ld.param.u64 %%d0, [in];\n    add.u64 %%d0, %%d0, %%d3;\n"
             "    ld.param.u64 %%d1, [out];\n    add.u64 %%d1, %%d1, %%d3;\n"
             "    ld.param.u64 %%d2, [scratch];\n    add.u64 %%d2, %%d2, %%d3;\n",
             SLOT);
    add_place(t, m->space);
    if (strcmp(plain, "const"))
        add_copy(t, plain, "%d5", "global", m->store ? "%d1" : "%d0");
    if (!m->store) {
        add_access(t, m);
        for (unsigned k = 0; k < m->vector; k++)
            text_add(t, "    st.global.b%u [%%d1+%u], %%v%u;\n", m->reg, 8 * k, k);
    } else {
        for (unsigned k = 0; k < m->vector; k++)
            text_add(t, "    ld.global.b%u %%v%u, [%%d0+%u];\n", m->reg, k, 8 * k);
        add_access(t, m);
        add_copy(t, "global", "%d1", plain, "%d5");
    }
    text_add(t, "    ret;\n}\n\n");
}

struct memory_run {
    struct hd_device *device[2];
    u64 in[2], out[2], scratch[2];
    u8 input[SLOT * THREADS], before[SLOT * THREADS];
    unsigned count, failed;
};

/* What `out` must hold for one thread. */
static void expected(const struct memory_form *m, const u8 *input, u8 *slot)
{
    unsigned bytes = m->bits / 8, offset = m->vector * bytes;
    for (unsigned k = 0; k < m->vector; k++) {
        if (m->store) {
            memcpy(slot + offset + k * bytes, input + 8 * k, bytes);
            continue;
        }
        u64 value = 0;
        memcpy(&value, input + offset + k * bytes, bytes);
        if (m->type[0] == 's')
            value = (u64)sext(value, m->bits);
        memcpy(slot + 8 * k, &value, m->reg / 8);
    }
}

static bool check_form(struct memory_run *r, const struct memory_form *m, const u8 *got,
                       const char *how)
{
    for (unsigned i = 0; i < THREADS; i++) {
        u8 want[SLOT];
        memcpy(want, r->before + i * SLOT, SLOT);
        expected(m, r->input + i * SLOT, want);
        for (unsigned b = 0; b < SLOT; b++)
            if (got[i * SLOT + b] != want[b]) {
                printf("  %s in %s, %u-bit register [%s]: thread %u byte %u is %02x, expected "
                       "%02x\n",
                       m->opcode, m->space, m->reg, how, i, b, got[i * SLOT + b], want[b]);
                return false;
            }
    }
    return true;
}

static void run_memory(void *user, const struct memory_form *m)
{
    struct memory_run *r = user;
    struct text text = {0};
    r->count++;
    text_add(&text, PTX_HEADER);
    if (strstr(m->space, "const")) {
        text_add(&text, ".const .align 32 .b8 area_const[%u] = {", SLOT * THREADS);
        for (unsigned i = 0; i < SLOT * THREADS; i++)
            text_add(&text, "%s%u", i ? "," : "", r->input[i]);
        text_add(&text, "};\n");
    }
    memory_kernel(&text, m, "access");
    bool good = true;
    for (unsigned on = 0; on < 2 && good; on++) {
        u8 got[SLOT * THREADS];
        u64 args[] = {r->in[on], r->out[on], r->scratch[on]};
        struct hd_module *module = module_load(r->device[on], &text, m->opcode);
        buffer_write(r->device[on], r->out[on], r->before, sizeof got);
        good = module && launch(module, "access", (struct hd_dim){1, 1, 1},
                                (struct hd_dim){THREADS, 1, 1}, args, 3);
        buffer_read(r->device[on], r->out[on], got, sizeof got);
        good = good && check_form(r, m, got, on ? "portable" : "vector");
        if (module)
            hd_module_unload(module);
    }
    r->failed += !good;
    text_free(&text);
}

int suite_memory(void)
{
    struct memory_run r = {0};
    struct rng rng = {1};
    for (unsigned i = 0; i < SLOT * THREADS; i++) {
        r.input[i] = (u8)rng_next(&rng);
        r.before[i] = (u8)rng_next(&rng);
    }
    for (unsigned on = 0; on < 2; on++) {
        r.device[on] = device_open(on ? settings_plain : settings_fast);
        r.in[on] = buffer_new(r.device[on], r.input, sizeof r.input);
        r.out[on] = buffer_new(r.device[on], NULL, sizeof r.before);
        r.scratch[on] = buffer_new(r.device[on], NULL, sizeof r.before);
    }
    memory_visit_forms(run_memory, &r);
    hd_device_close(r.device[0]);
    hd_device_close(r.device[1]);
    printf("memory: %u forms, %u failed\n", r.count, r.failed);
    return r.failed != 0;
}

struct printer {
    struct text *text;
    unsigned count;
};

static void print_memory(void *user, const struct memory_form *m)
{
    struct printer *p = user;
    char name[32];
    snprintf(name, sizeof name, "k%u", p->count++);
    memory_kernel(p->text, m, name);
}

void memory_ptx(struct text *text)
{
    struct printer p = {text, 0};
    text_add(text, ".const .align 32 .b8 area_const[%u];\n", SLOT * THREADS);
    memory_visit_forms(print_memory, &p);
}
