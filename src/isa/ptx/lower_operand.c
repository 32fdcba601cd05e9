/*
 * Operands: registers with their type rules, immediates, addresses of symbols.
 *
 *  O1  A register fits an instruction type if both have the same size, unless one is float and the
 *      other a signed or unsigned integer; untyped .bN fits everything of its size. Where PTX
 *      relaxes sizes (ld, st, cvt) the register may be wider.
 *  O2  An immediate takes the instruction's type: integer literals become floats in float
 *      contexts, and 0f/0d literals convert between the float types; in .bN contexts the bits
 *      count.
 */
#include "isa/ptx/lower.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ERROR_MAX 20

void lower_fail(struct lower *l, struct ptx_place place, const char *format, ...)
{
    if (l->error_count++ >= ERROR_MAX)
        return;
    char where[256], what[1024];
    snprintf(where, sizeof where, "%.200s:%u:%u", l->module->file, place.line, place.column);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (l->error_count == 1) {
        error_fill(l->error, ERROR_INPUT, where, "%s", what);
        return;
    }
    size_t used = strlen(l->error->message), room = sizeof l->error->message - used;
    int length = snprintf(l->error->message + used, room, "\n%s: %s", where, what);
    if (length < 0 || (size_t)length >= room)
        l->error->message[used] = 0; /* whole lines only */
}

static struct constant_key *constant_probe(struct constant_key *table, u32 room,
                                           const struct constant_key *key)
{
    u64 hash = key->value * 0x9e3779b97f4a7c15ull + (u64)key->addend * 0xc2b2ae3d27d4eb4full +
               key->target * 0x165667b19e3779f9ull + key->kind;
    for (u32 i = (u32)(hash >> 32) & (room - 1);; i = (i + 1) & (room - 1)) {
        struct constant_key *at = &table[i];
        if (!at->kind || (at->kind == key->kind && at->value == key->value &&
                          at->addend == key->addend && at->target == key->target))
            return at;
    }
}

/* Finds or adds the entry; `fresh`: it was added. */
static struct constant_key *constant_find(struct lower *l, struct constant_key key, bool *fresh)
{
    if (2 * (l->constant_used + 1) > l->constant_room) {
        u32 room = l->constant_room ? 2 * l->constant_room : 256;
        struct constant_key *bigger = calloc(room, sizeof *bigger);
        for (u32 i = 0; i < l->constant_room; i++)
            if (l->constant_table[i].kind)
                *constant_probe(bigger, room, &l->constant_table[i]) = l->constant_table[i];
        free(l->constant_table);
        l->constant_table = bigger;
        l->constant_room = room;
    }
    struct constant_key *entry = constant_probe(l->constant_table, l->constant_room, &key);
    *fresh = !entry->kind;
    if (*fresh) {
        key.index = l->constants.count;
        *entry = key;
        l->constant_used++;
    }
    return entry;
}

struct operand const_words(struct lower *l, u64 value, u32 words)
{
    if (words == 1)
        value = (u32)value;
    bool fresh;
    struct constant_key *entry =
        constant_find(l, (struct constant_key){.value = value, .kind = (u8)words}, &fresh);
    if (fresh && words == 1 && (value == 0 || value == UINT32_MAX) && l->constants.count >= 2) {
        entry->index = value ? 1 : 0; /* P3 */
        fresh = false;
    }
    if (fresh)
        for (u32 i = 0; i < words; i++)
            *(u32 *)vec_push(&l->constants) = (u32)(value >> (32 * i));
    return operand_make(OPERAND_CONST, entry->index, words);
}

struct operand const_address(struct lower *l, enum relocation_kind kind, u32 target, i64 addend)
{
    bool fresh;
    struct constant_key key = {
        .addend = addend, .target = target, .kind = kind == RELOC_VARIABLE ? 3 : 4};
    struct constant_key *entry = constant_find(l, key, &fresh);
    if (fresh) {
        vec_push(&l->constants);
        vec_push(&l->constants);
        struct constant_fixup *fixup = vec_push(&l->fixups);
        *fixup = (struct constant_fixup){entry->index, kind, target, addend};
        if (kind == RELOC_FUNCTION)
            l->program->functions[target].address_taken = true;
    }
    return operand_make(OPERAND_CONST, entry->index, 2);
}

bool const_is_address(const struct lower *l, struct operand o)
{
    u32 low = 0, high = l->fixups.count; /* fixups are in the order of the pool */
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (l->fixups.data[middle].index < o.index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->fixups.count && l->fixups.data[low].index == o.index;
}

struct operand vreg_operand(const struct fn *fn, u32 id)
{
    return operand_make(OPERAND_VECTOR, id, fn->vregs.data[id].words);
}

bool operand_count_is(struct fn *fn, const struct ptx_instruction *in, u32 min, u32 max)
{
    if (in->operand_count >= min && in->operand_count <= max)
        return true;
    if (min == max)
        return lower_error(fn->l, in->place, "%s takes %u operands, not %u", in->opcode, min,
                           in->operand_count);
    return lower_error(fn->l, in->place, "%s takes %u to %u operands, not %u", in->opcode, min, max,
                       in->operand_count);
}

static bool is_bits(enum type type)
{
    return type == TYPE_B8 || type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64 ||
           type == TYPE_B128;
}

/* Formats that are kept in untyped or float registers without being declared as such. */
static bool is_opaque_float(enum type type)
{
    return type == TYPE_F16X2 || type == TYPE_BF16 || type == TYPE_BF16X2 || type == TYPE_TF32 ||
           type == TYPE_E4M3X2 || type == TYPE_E5M2X2 || type == TYPE_F16 || type == TYPE_U16X2 ||
           type == TYPE_S16X2;
}

static bool type_fits(enum type declared, enum type wanted, enum type_fit fit)
{
    u32 has = type_bytes(declared), needs = type_bytes(wanted);
    if (has != needs && (fit == FIT_EXACT || has < needs) && !(needs == 1 && fit == FIT_EXACT))
        return false;
    if (is_bits(declared) || is_bits(wanted) || is_opaque_float(wanted))
        return true;
    if (type_is_float(declared) != type_is_float(wanted))
        return false;
    return !type_is_float(declared) || has == needs;
}

static struct symbol *find_register(struct fn *fn, const struct ptx_operand *o, u32 *index)
{
    if (o->kind != PTX_NAME)
        return NULL;
    return register_find(fn, o->name, o->component, index);
}

bool operand_is_register(const struct fn *fn, const struct ptx_operand *o)
{
    u32 index;
    return o->kind == PTX_NAME && register_find(fn, o->name, o->component, &index);
}

static bool not_declared(struct fn *fn, const struct ptx_operand *o)
{
    return lower_error(fn->l, o->place, "'%s' is not declared", o->name ? o->name : "operand");
}

static bool register_operand(struct fn *fn, const struct ptx_operand *o, struct symbol *symbol,
                             u32 index, enum type type, enum type_fit fit, struct operand *out)
{
    const struct ptx_declaration *d = symbol->declaration;
    if (d->vector > 1 && !o->component)
        return lower_error(fn->l, o->place, "'%s' is a vector of %u: name a component, as in %s.x",
                           o->name, d->vector, o->name);
    enum type declared = type_parse(d->type);
    if (declared == TYPE_PRED || type == TYPE_PRED || !type_fits(declared, type, fit))
        return lower_error(fn->l, o->place, "'%s' is .%s, but the instruction expects .%s", o->name,
                           d->type, type_name(type));
    if (o->negated)
        return lower_error(fn->l, o->place, "only predicates can be negated here");
    *out = vreg_operand(fn, register_id(fn, symbol, index));
    return true;
}

static f64 bits_to_f64(u64 bits)
{
    f64 value;
    memcpy(&value, &bits, 8);
    return value;
}

static u64 float_immediate(f64 value, enum type type)
{
    if (type == TYPE_F64) {
        u64 bits;
        memcpy(&bits, &value, 8);
        return bits;
    }
    f32 single = (f32)value;
    u32 bits;
    memcpy(&bits, &single, 4);
    return bits;
}

bool lower_immediate(struct fn *fn, const struct ptx_operand *o, enum type type, u64 *bits)
{
    u32 bytes = type_bytes(type);
    u64 limit = bytes >= 8 ? UINT64_MAX : (1ull << (8 * bytes)) - 1;
    bool wants_float = type == TYPE_F32 || type == TYPE_F64;
    if (o->kind == PTX_INT) {
        *bits = o->value;
        if (wants_float) {
            *bits = float_immediate(o->is_unsigned ? (f64)o->value : (f64)(i64)o->value, type);
            return true;
        }
        *bits &= limit;
        return true;
    }
    if (o->kind != PTX_FLOAT)
        return lower_error(fn->l, o->place, "expected a register or a number");
    if (!wants_float && !is_bits(type))
        return lower_error(fn->l, o->place, "a float literal cannot be used as .%s",
                           type_name(type));
    if (!wants_float) {
        *bits = o->value & limit;
        if ((o->is_single ? 4u : 8u) != bytes)
            return lower_error(fn->l, o->place, "a %u-byte float literal cannot be used as .%s",
                               o->is_single ? 4 : 8, type_name(type));
        return true;
    }
    if (o->is_single && type == TYPE_F32) {
        *bits = (u32)o->value;
        return true;
    }
    if (!o->is_single && type == TYPE_F64) {
        *bits = o->value;
        return true;
    }
    f64 value = bits_to_f64(o->value);
    if (o->is_single) {
        f32 single;
        u32 raw = (u32)o->value;
        memcpy(&single, &raw, 4);
        value = single;
    }
    *bits = float_immediate(value, type);
    return true;
}

bool lower_integer(struct fn *fn, const struct ptx_operand *o, i64 lo, i64 hi, i64 *value)
{
    if (o->kind != PTX_INT || (i64)o->value < lo || (i64)o->value > hi)
        return lower_error(fn->l, o->place, "expected an integer literal from %lld to %lld",
                           (long long)lo, (long long)hi);
    *value = (i64)o->value;
    return true;
}

static bool special_source(struct fn *fn, int special, u32 words, struct operand *out)
{
    u32 id = vreg_new(fn, special_words(special), TYPE_NONE);
    struct inst *inst = emit_plain(fn, OP_sreg);
    inst->dst[0] = vreg_operand(fn, id);
    inst->imm = special;
    *out = inst->dst[0];
    if (words == out->count)
        return true;
    u32 other = vreg_new(fn, words, TYPE_NONE);
    struct inst *fit = emit_plain(fn, OP_cvt);
    fit->type = words == 2 ? TYPE_U64 : TYPE_U32;
    fit->stype = words == 2 ? TYPE_U32 : TYPE_U64;
    fit->src[0] = *out;
    fit->dst[0] = *out = vreg_operand(fn, other);
    return true;
}

bool lower_source(struct fn *fn, const struct ptx_operand *o, enum type type, enum type_fit fit,
                  struct operand *out)
{
    u32 words = type_bytes(type) > 4 ? 2 : 1;
    u32 index;
    struct symbol *symbol = find_register(fn, o, &index);
    if (symbol)
        return register_operand(fn, o, symbol, index, type, fit, out);
    if (o->kind == PTX_INT || o->kind == PTX_FLOAT) {
        u64 bits;
        if (!lower_immediate(fn, o, type, &bits))
            return false;
        *out = const_words(fn->l, bits, words);
        return true;
    }
    if (o->kind == PTX_NAME) {
        if (!strcmp(o->name, "WARP_SZ")) {
            *out = const_words(fn->l, 32, words);
            return true;
        }
        int special = special_find(o->name);
        if (special >= 0)
            return special_source(fn, special, words, out);
        if (!scope_find(fn, o->name))
            return not_declared(fn, o);
        return lower_symbol_value(fn, o, words, false, out);
    }
    if (o->kind == PTX_SUM || o->kind == PTX_ELEMENT)
        return lower_symbol_value(fn, o, words, false, out);
    return lower_error(fn->l, o->place, "expected a register or a constant of type .%s",
                       type_name(type));
}

bool lower_dest(struct fn *fn, const struct ptx_operand *o, enum type type, enum type_fit fit,
                struct operand *out)
{
    if (o->kind == PTX_SINK) {
        *out = operand_none();
        return true;
    }
    u32 index;
    struct symbol *symbol = find_register(fn, o, &index);
    if (symbol)
        return register_operand(fn, o, symbol, index, type, fit, out);
    if (o->kind == PTX_NAME && !scope_find(fn, o->name) && special_find(o->name) < 0)
        return not_declared(fn, o);
    return lower_error(fn->l, o->place, "expected a .%s register to write", type_name(type));
}

static bool mask_register(struct fn *fn, const struct ptx_operand *o, struct operand *out)
{
    u32 index;
    struct symbol *symbol = find_register(fn, o, &index);
    if (!symbol && o->kind == PTX_NAME)
        return not_declared(fn, o);
    if (!symbol || type_parse(symbol->declaration->type) != TYPE_PRED)
        return lower_error(fn->l, o->place, "expected a predicate%s%s%s", o->name ? ", not '" : "",
                           o->name ? o->name : "", o->name ? "'" : "");
    *out = operand_make(OPERAND_MASK, register_id(fn, symbol, index), 1);
    return true;
}

bool lower_mask_source(struct fn *fn, const struct ptx_operand *o, struct operand *out)
{
    if (o->kind == PTX_INT) {
        *out = operand_make(OPERAND_CONST, (o->value != 0) != o->negated, 1);
        return true;
    }
    if (o->kind == PTX_NAME && !strcmp(o->name, "%is_explicit_cluster")) {
        *out = operand_make(OPERAND_CONST, o->negated, 1); /* a cluster is one block */
        return true;
    }
    if (!mask_register(fn, o, out))
        return false;
    out->neg = o->negated;
    return true;
}

bool lower_mask_dest(struct fn *fn, const struct ptx_operand *o, struct operand *out)
{
    if (o->kind == PTX_SINK) {
        *out = operand_none();
        return true;
    }
    if (o->negated)
        return lower_error(fn->l, o->place, "a destination cannot be negated");
    return mask_register(fn, o, out);
}

u64 element_offset(const struct fn *fn, const struct ptx_operand *o)
{
    const struct symbol *symbol = scope_find(fn, o->name);
    if (!symbol || !symbol->declaration)
        return o->value;
    const struct ptx_declaration *d = symbol->declaration;
    return o->value * type_bytes(type_parse(d->type)) * MAX(d->vector, 1);
}

/* The value of an address in the frame. */
static bool frame_value(struct fn *fn, u64 offset, u32 words, u64 window, struct operand *out)
{
    if (fn->out->is_kernel) {
        *out = const_words(fn->l, offset + window, words);
        return true;
    }
    u32 id = vreg_new(fn, words, TYPE_NONE);
    struct inst *inst = emit_plain(fn, words == 2 ? OP_mad_wide_u32 : OP_add_b32);
    inst->dst[0] = vreg_operand(fn, id);
    inst->src[0] = vreg_operand(fn, 0);
    inst->src[1] = const_words(fn->l, words == 2 ? 1 : offset + window, 1);
    if (words == 2)
        inst->src[2] = const_words(fn->l, offset + window, 2);
    *out = inst->dst[0];
    return true;
}

bool lower_symbol_value(struct fn *fn, const struct ptx_operand *o, u32 words, bool generic,
                        struct operand *out)
{
    const struct windows *windows = lower_windows(fn->l);
    struct symbol *symbol = scope_find(fn, o->name);
    if (!symbol)
        return not_declared(fn, o);
    i64 addend = o->kind == PTX_SUM || o->kind == PTX_ADDRESS ? (i64)o->value : 0;
    if (o->kind == PTX_ELEMENT)
        addend = (i64)element_offset(fn, o);
    switch (symbol->kind) {
    case SYMBOL_VARIABLE:
        *out = const_address(fn->l, RELOC_VARIABLE, symbol->index, addend);
        break;
    case SYMBOL_FUNCTION:
        *out = const_address(fn->l, RELOC_FUNCTION, symbol->index, addend);
        break;
    case SYMBOL_SHARED: {
        u64 base = symbol->is_dynamic ? fn->unit->dynamic_base : symbol->offset;
        *out = const_words(fn->l, base + (u64)addend + (generic ? windows->shared : 0), words);
        return true;
    }
    case SYMBOL_LOCAL:
        return frame_value(fn, symbol->offset + (u64)addend, words, generic ? windows->local : 0,
                           out);
    case SYMBOL_PARAM:
        if (fn->out->is_kernel) {
            *out = const_words(fn->l, symbol->offset + (u64)addend, words);
            return true;
        }
        return frame_value(fn, symbol->offset + (u64)addend, words, 0, out);
    case SYMBOL_ARGUMENT: {
        i64 offset;
        enum late late;
        if (!argument_address(fn, symbol, o->place, &offset, &late))
            return false;
        if (late)
            return lower_error(fn->l, o->place, "the address of '%s' cannot be taken", o->name);
        return frame_value(fn, (u64)(offset + addend), words, 0, out);
    }
    default:
        return lower_error(fn->l, o->place, "the address of '%s' cannot be used here", o->name);
    }
    /* The pool has both words of an address; a 32-bit context takes the lower one. */
    out->count = words;
    return true;
}
