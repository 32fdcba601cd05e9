/*
 * The tables as forms: braces expanded, signatures resolved, modifiers read from the opcode.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"
#include "references.h"

struct row {
    const char *family, *text, *signature;
    reference_fn *reference;
    judge_fn *judge;
    unsigned vectors;
};

#define FORM(text, signature, reference, vectors) \
    {FAMILY, text, signature, reference, NULL, vectors},
#define APPROX(text, signature, judge, vectors) {FAMILY, text, signature, NULL, judge, vectors},
static const struct row rows[] = {
#define FAMILY "integer"
#include "integer.def"
#undef FAMILY
#define FAMILY "bits"
#include "bits.def"
#undef FAMILY
#define FAMILY "compare"
#include "compare.def"
#undef FAMILY
#define FAMILY "float"
#include "float.def"
#undef FAMILY
#define FAMILY "half"
#include "half.def"
#undef FAMILY
#define FAMILY "convert"
#include "convert.def"
#undef FAMILY
#define FAMILY "approx"
#include "approx.def"
#undef FAMILY
};

static const struct {
    const char *name;
    u8 bits, reg;
    bool is_signed, is_float;
} kinds[K_COUNT] = {
    [K_U8] = {"u8", 8, 32, false, false},        [K_S8] = {"s8", 8, 32, true, false},
    [K_U16] = {"u16", 16, 16, false, false},     [K_S16] = {"s16", 16, 16, true, false},
    [K_U32] = {"u32", 32, 32, false, false},     [K_S32] = {"s32", 32, 32, true, false},
    [K_U64] = {"u64", 64, 64, false, false},     [K_S64] = {"s64", 64, 64, true, false},
    [K_B8] = {"b8", 8, 32, false, false},        [K_B16] = {"b16", 16, 16, false, false},
    [K_B32] = {"b32", 32, 32, false, false},     [K_B64] = {"b64", 64, 64, false, false},
    [K_F16] = {"f16", 16, 16, true, true},       [K_BF16] = {"bf16", 16, 16, true, true},
    [K_F32] = {"f32", 32, 32, true, true},       [K_F64] = {"f64", 64, 64, true, true},
    [K_F16X2] = {"f16x2", 32, 32, true, true},   [K_BF16X2] = {"bf16x2", 32, 32, true, true},
    [K_TF32] = {"tf32", 32, 32, true, true},     [K_E4M3X2] = {"e4m3x2", 16, 16, true, true},
    [K_E5M2X2] = {"e5m2x2", 16, 16, true, true}, [K_U16X2] = {"u16x2", 32, 32, false, false},
    [K_S16X2] = {"s16x2", 32, 32, true, false},  [K_PRED] = {"pred", 1, 1, false, false},
    [K_SHIFT] = {"", 32, 32, false, false},      [K_LANE] = {"", 32, 32, false, false},
    [K_OFFSET] = {"", 32, 32, true, false},      [K_SELECTOR] = {"", 32, 32, false, false},
};

unsigned kind_bits(enum kind kind)
{
    return kinds[kind].bits;
}

unsigned kind_register(enum kind kind)
{
    return kinds[kind].reg;
}

const char *kind_name(enum kind kind)
{
    return kinds[kind].name;
}

bool kind_signed(enum kind kind)
{
    return kinds[kind].is_signed;
}

bool kind_float(enum kind kind)
{
    return kinds[kind].is_float;
}

static enum kind kind_of(const char *name, size_t length)
{
    for (unsigned k = K_U8; k <= K_PRED; k++)
        if (strlen(kinds[k].name) == length && !memcmp(kinds[k].name, name, length))
            return (enum kind)k;
    return K_NONE;
}

bool form_has(const struct form *f, const char *modifier)
{
    size_t n = strlen(modifier);
    for (const char *p = f->opcode; (p = strchr(p, '.')) != NULL;) {
        p++;
        if (!strncmp(p, modifier, n) && (p[n] == '.' || p[n] == '\0'))
            return true;
    }
    return false;
}

static void read_types(struct form *f)
{
    for (const char *p = f->opcode; (p = strchr(p, '.')) != NULL;) {
        p++;
        enum kind kind = kind_of(p, strcspn(p, "."));
        if (kind == K_NONE)
            continue;
        f->stype = f->type;
        f->type = kind;
    }
}

static void read_modifiers(struct form *f)
{
    static const char *const rounds[] = {
        [R_N] = "rn",   [R_Z] = "rz",   [R_M] = "rm",   [R_P] = "rp",  [R_NA] = "rna",
        [R_NI] = "rni", [R_ZI] = "rzi", [R_MI] = "rmi", [R_PI] = "rpi"};
    static const char *const compares[] = {
        [C_EQ] = "eq",   [C_NE] = "ne",   [C_LT] = "lt",   [C_LE] = "le",   [C_GT] = "gt",
        [C_GE] = "ge",   [C_EQU] = "equ", [C_NEU] = "neu", [C_LTU] = "ltu", [C_LEU] = "leu",
        [C_GTU] = "gtu", [C_GEU] = "geu", [C_NUM] = "num", [C_NAN] = "nan"};
    static const char *const unsigned_compares[] = {
        [C_LT] = "lo", [C_LE] = "ls", [C_GT] = "hi", [C_GE] = "hs"};
    for (unsigned r = R_N; r <= R_PI; r++)
        if (form_has(f, rounds[r]))
            f->round = (enum rounding)r;
    f->cmp = C_NONE;
    for (unsigned c = 0; c < C_NONE; c++)
        if (form_has(f, compares[c]) ||
            (c >= C_LT && c <= C_GE && form_has(f, unsigned_compares[c])))
            f->cmp = (enum comparison)c;
    f->bool_op = form_has(f, "and") ? 'a' : form_has(f, "or") ? 'o' : form_has(f, "xor") ? 'x' : 0;
    f->ftz = form_has(f, "ftz");
    f->sat = form_has(f, "sat");
    f->nan = form_has(f, "NaN");
    f->xorsign = form_has(f, "xorsign");
    f->relu = form_has(f, "relu");
    f->satfinite = form_has(f, "satfinite");
    f->hi = form_has(f, "hi");
    f->wide = form_has(f, "wide");
    f->wrap = form_has(f, "wrap");
    f->shiftamt = form_has(f, "shiftamt");
    f->cc = form_has(f, "cc");
}

static enum kind wider(enum kind kind)
{
    switch (kind) {
    case K_U16:
        return K_U32;
    case K_S16:
        return K_S32;
    case K_U32:
        return K_U64;
    case K_S32:
        return K_S64;
    default:
        assert(!"no wider type");
        return K_NONE;
    }
}

static enum kind signature_kind(const struct form *f, char c)
{
    switch (c) {
    case 'T':
        return f->type;
    case 'S':
        return f->stype;
    case 'W':
        return wider(f->type);
    case 'b':
        return K_U8;
    case 'h':
        return K_U16;
    case 'w':
    case 'z':
        return K_U32;
    case 'q':
        return K_U64;
    case 'p':
        return K_PRED;
    case 'i':
        return K_SHIFT;
    case 'l':
        return K_LANE;
    case 'o':
        return K_OFFSET;
    case 'f':
        return K_F32;
    case 'd':
        return K_F64;
    case 'e':
        return K_F16X2;
    case 'c':
        return K_SELECTOR;
    default:
        assert(!"unknown signature letter");
        return K_NONE;
    }
}

static void read_signature(struct form *f, const char *signature)
{
    const char *p = signature;
    for (; *p != '='; p++)
        f->dst[f->dst_count++] = signature_kind(f, *p);
    for (p++; *p; p++)
        f->src[f->src_count++] = signature_kind(f, *p);
}

/* An opcode alone gets its operands in order. */
static void add_operands(struct form *f)
{
    if (strchr(f->text, ' '))
        return;
    size_t n = strlen(f->text);
    for (unsigned k = 0; k < f->dst_count + f->src_count; k++)
        n += (size_t)snprintf(f->text + n, sizeof f->text - n, "%s$%u", k ? ", " : " ", k);
    snprintf(f->text + n, sizeof f->text - n, ";");
}

static void add_form(struct forms *forms, const struct row *row, const char *text)
{
    if (forms->count == forms->capacity) {
        forms->capacity = forms->capacity ? 2 * forms->capacity : 1024;
        forms->items = realloc(forms->items, forms->capacity * sizeof *forms->items);
        assert(forms->items);
    }
    struct form *f = &forms->items[forms->count++];
    *f = (struct form){.family = row->family,
                       .reference = row->reference,
                       .judge = row->judge,
                       .vectors = row->vectors};
    const char *hash = strchr(text, '#');
    if (hash)
        f->number = (unsigned)strtoul(hash + 1, NULL, 0);
    size_t length = hash ? (size_t)(hash - text) : strlen(text);
    snprintf(f->text, sizeof f->text, "%.*s", (int)length, text);
    snprintf(f->opcode, sizeof f->opcode, "%.*s", (int)strcspn(f->text, " "), f->text);
    read_types(f);
    read_modifiers(f);
    read_signature(f, row->signature);
    add_operands(f);
}

/* The first brace group of `text` by each of its alternatives in turn. `<` and `>` in the tables
 * stand for the braces of PTX itself. */
static void expand(struct forms *forms, const struct row *row, const char *text)
{
    const char *open = strchr(text, '{');
    if (!open) {
        char plain[TEXT_BYTES];
        snprintf(plain, sizeof plain, "%s", text);
        for (char *p = plain; *p; p++)
            *p = *p == '<' ? '{' : *p == '>' ? '}' : *p;
        add_form(forms, row, plain);
        return;
    }
    const char *close = strchr(open, '}');
    for (const char *p = open + 1; p <= close;) {
        size_t n = strcspn(p, ",}");
        char one[TEXT_BYTES];
        int used =
            snprintf(one, sizeof one, "%.*s%.*s%s", (int)(open - text), text, (int)n, p, close + 1);
        assert(used < (int)sizeof one);
        expand(forms, row, one);
        p += n + 1;
    }
}

void forms_load(struct forms *forms)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expand(forms, &rows[i], rows[i].text);
}

void forms_free(struct forms *forms)
{
    free(forms->items);
}
