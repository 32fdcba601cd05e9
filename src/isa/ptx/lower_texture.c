/*
 * Textures and surfaces.
 *
 * A .texref or .surfref at module scope is a variable whose "address" is the handle of a texture of
 * the device (gpu/module/place.c); a .samplerref is the word of its fields. A register holds the
 * handle itself, as a parameter of one of these types does.
 */
#include "ir/texture.h"
#include "isa/ptx/lower.h"

enum {
    MOST_WORDS = 8
};

static enum texture_shape shape_of(const struct match *m)
{
    static const char *const names[TEXTURE_SHAPES] = {[TEXTURE_1D] = "1d",
                                                      [TEXTURE_2D] = "2d",
                                                      [TEXTURE_3D] = "3d",
                                                      [TEXTURE_1D_LAYERS] = "a1d",
                                                      [TEXTURE_2D_LAYERS] = "a2d",
                                                      [TEXTURE_CUBE] = "cube",
                                                      [TEXTURE_CUBE_LAYERS] = "acube"};
    u32 shape = 0;
    while (!match_has(m, names[shape]))
        shape++;
    return shape;
}

/* A parameter that is a handle. */
static struct operand loaded(struct fn *fn, const struct symbol *symbol)
{
    const struct operand to = vreg_operand(fn, vreg_new(fn, 2, TYPE_NONE));
    if (!fn->out->is_kernel) {
        frame_access(fn, OP_ld, to, TYPE_B64, (i64)symbol->offset, LATE_NONE);
        return to;
    }
    struct inst *inst = emit_plain(fn, OP_ld);
    inst->type = TYPE_B64;
    inst->vector = 1;
    inst->space = SPACE_PARAM;
    inst->dst[0] = to;
    inst->imm = (i64)symbol->offset;
    return to;
}

/* The handle of a texture, sampler or surface that a register, a parameter or a reference names. */
static bool handle_of(struct fn *fn, const struct ptx_operand *o, struct operand *out)
{
    const struct ptx_operand name = {.kind = PTX_NAME, .place = o->place, .name = o->name};
    const struct symbol *symbol = o->name ? scope_find(fn, o->name) : NULL;
    if (!o->name || (o->kind == PTX_ADDRESS && o->value))
        return lower_error(fn->l, o->place, "expected the name of a texture, sampler or surface");
    if (operand_is_register(fn, &name)) {
        struct ptx_operand whole = name;
        u32 index;
        whole.component = o->component;
        const struct symbol *group = register_find(fn, o->name, o->component, &index);
        const bool wide = type_bytes(type_parse(group->declaration->type)) == 8;
        return lower_source(fn, &whole, wide ? TYPE_B64 : TYPE_B32, FIT_EXACT, out);
    }
    if (!symbol)
        return lower_error(fn->l, o->place, "'%s' is not declared", o->name);
    if (symbol->kind == SYMBOL_PARAM && type_parse(symbol->declaration->type) == TYPE_NONE) {
        *out = loaded(fn, symbol);
        return true;
    }
    if (symbol->kind == SYMBOL_SAMPLER) {
        const struct ptx_initializer *init = symbol->declaration->init;
        *out = const_words(fn->l, init ? init->value : SAMPLER_NORMALIZED, 1);
        return true;
    }
    if (symbol->kind != SYMBOL_VARIABLE || !fn->l->program->variables[symbol->index].is_texture)
        return lower_error(fn->l, o->place, "'%s' is no texture, sampler or surface", o->name);
    *out = const_address(fn->l, RELOC_VARIABLE, symbol->index, 0);
    return true;
}

/* ---- words behind the handle ---- */

struct fetch_words {
    struct operand list[MOST_WORDS];
    u32 count;
};

static bool add_words(struct fn *fn, const struct ptx_operand *o, u32 count, bool layered,
                      enum type type, struct fetch_words *words)
{
    const struct ptx_operand *items = o->kind == PTX_VECTOR ? o->items : o;
    if ((o->kind == PTX_VECTOR ? o->item_count : 1) < count)
        return lower_error(fn->l, o->place, "expected %u coordinates", count);
    for (u32 i = 0; i < count; i++)
        if (!lower_source(fn, &items[i], layered && !i ? TYPE_B32 : type, FIT_EXACT,
                          &words->list[words->count++]))
            return false;
    return true;
}

/* Places words in the slots from `first` on, or two in each (ops.def). Two are packed first, so the
 * instruction is emitted afterwards. */
static void place_words(struct fn *fn, const struct fetch_words *words, u32 first,
                        struct operand *src)
{
    if (words->count <= 4 - first) {
        memcpy(src + first, words->list, words->count * sizeof *src);
        return;
    }
    for (u32 i = 0; i < words->count; i += 2) {
        struct operand *to = &src[first + i / 2];
        *to = words->list[i];
        if (i + 1 == words->count)
            return;
        *to = vreg_operand(fn, vreg_new(fn, 2, TYPE_NONE));
        struct inst *pack = emit_plain(fn, OP_pack_b64);
        pack->dst[0] = *to;
        pack->src[0] = words->list[i];
        pack->src[1] = words->list[i + 1];
    }
}

static struct inst *emit_texture(struct fn *fn, const struct match *m, const struct operand *src)
{
    struct inst *inst = emit(fn, m, m->form->op);
    memcpy(inst->src, src, sizeof inst->src);
    inst->type = (u8)m->types[0];
    inst->key = (u8)shape_of(m);
    inst->space = SPACE_GLOBAL;
    return inst;
}

bool lower_tex(struct fn *fn, struct match *m)
{
    const enum texture_level level = m->form->key;
    const enum texture_shape shape = shape_of(m);
    const u32 more = level == LEVEL_GIVEN ? 1 : level == LEVEL_GRADIENT ? 2 : 0;
    const struct ptx_operand *o = m->in->operands;
    struct ptx_operand items[TUPLE_MAX];
    struct load_results results;
    struct fetch_words words = {0};
    struct operand src[4] = {0};
    if (m->in->operand_count != 2 + more || o[0].kind == PTX_PAIR)
        return lower_unsupported_text(fn, m->in,
                                      "texture fetch with offsets, comparison or residency");
    if (o[1].kind != PTX_ADDRESS || o[1].item_count < 1 || o[1].item_count > 2)
        return lower_error(fn->l, o[1].place, "expected [texture, {coordinates}]");
    const bool sampler = o[1].item_count == 2;
    if (!vector_items(fn, m, &o[0], items) || !load_results(fn, m, items, &results) ||
        !handle_of(fn, &o[1], &src[0]))
        return false;
    if (sampler && !handle_of(fn, &o[1].items[0], &words.list[words.count++]))
        return false;
    if (sampler && words.list[0].kind == OPERAND_VECTOR && words.list[0].count == 2)
        words.list[0] = pair_low(fn, words.list[0]);
    if (!add_words(fn, &o[1].items[sampler], texture_coordinates(shape), texture_is_layered(shape),
                   m->types[1], &words))
        return false;
    for (u32 i = 0; i < more; i++)
        if (!add_words(fn, &o[2 + i], level == LEVEL_GIVEN ? 1 : texture_dimensions(shape), false,
                       TYPE_F32, &words))
            return false;
    if (words.count > 6)
        return lower_unsupported_text(fn, m->in, "texture fetch with more than six words");
    place_words(fn, &words, 1, src);
    struct inst *inst = emit_texture(fn, m, src);
    inst->stype = (u8)m->types[1];
    inst->key2 = (u8)level;
    inst->imm = sampler ? TEX_SAMPLER : 0;
    inst->mods |= MOD_READ_ONLY;
    load_finish(fn, m, &results);
    return true;
}

static enum surface_clamp clamp_of(const struct match *m)
{
    return match_has(m, "clamp")  ? SURFACE_CLAMP
           : match_has(m, "zero") ? SURFACE_ZERO
                                  : SURFACE_TRAP;
}

/* suld and sust; form's key: formatted. */
bool lower_surface(struct fn *fn, struct match *m)
{
    const bool stores = m->form->op == OP_sust;
    const enum texture_shape shape = shape_of(m);
    struct ptx_operand items[TUPLE_MAX];
    struct load_results results;
    struct operand parts[TUPLE_MAX], src[4] = {0};
    struct fetch_words words = {0};
    if (!operand_count_is(fn, m->in, 2, 2))
        return false;
    const struct ptx_operand *at = &m->in->operands[!stores], *data = &m->in->operands[stores];
    if (at->kind != PTX_ADDRESS || at->item_count != 1)
        return lower_error(fn->l, at->place, "expected [surface, {coordinates}]");
    items[0] = *data;
    if ((data->kind == PTX_VECTOR || m->vector > 1) && !vector_items(fn, m, data, items))
        return false;
    if (!handle_of(fn, at, &src[0]) ||
        !add_words(fn, &at->items[0], texture_coordinates(shape), false, TYPE_B32, &words) ||
        (!stores && !load_results(fn, m, items, &results)))
        return false;
    for (u32 i = 0; stores && i < m->vector; i++)
        if (!stored_element(fn, m, &items[i], &parts[i]))
            return false;
    place_words(fn, &words, stores ? 2 : 1, src);
    u32 tuple = 0;
    if (stores) {
        src[1] = parts[0];
        if (m->vector > 1) {
            tuple = stored_tuple(fn, parts, m->vector);
            src[1] = operand_make(OPERAND_VECTOR, 0, m->vector * parts[0].count);
        }
    }
    struct inst *inst = emit_texture(fn, m, src);
    inst->key2 = (u8)clamp_of(m);
    inst->imm = m->form->key ? SURFACE_FORMATTED : 0;
    inst->vector = (u8)m->vector;
    inst->spare = tuple;
    if (!stores)
        load_finish(fn, m, &results);
    return true;
}

/* txq and suq; form's key: the query. */
bool lower_query(struct fn *fn, struct match *m)
{
    struct operand dst, src;
    if (!operand_count_is(fn, m->in, 2, 2) ||
        !lower_dest(fn, &m->in->operands[0], TYPE_B32, FIT_EXACT, &dst) ||
        !handle_of(fn, &m->in->operands[1], &src))
        return false;
    if (dst.kind == OPERAND_NONE)
        return true;
    struct inst *inst = emit(fn, m, OP_txq);
    inst->key = m->form->key;
    inst->dst[0] = dst;
    inst->src[0] = src;
    return true;
}
