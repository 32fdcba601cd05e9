/*
 * The reuse buffer of the mechanism `uniform`: the results of a few recent instructions, so that
 * another warp that reaches the same instruction with the same values need not execute it.
 *
 * An entry is found by the low bits of the PC; it hits if the operation and all source values are
 * the same, too. No two entries have the same tag: a result replaces the entry with its tag, else
 * the least recently used one.
 *
 * Deviation: the published entry has 8 bits of opcode for the operation; here the whole operation
 * is compared, with types, rounding and signs of operands, so that two instructions with one tag
 * are never confused.
 */
#include "mech/uniform.h"

/* The value of a uniform source, read in one lane. */
static u64 source_value(const struct dyninst *f, unsigned k, u32 lane)
{
    const struct operand o = f->code->src[k];
    const u32 lanes = f->warp->exec->image->warp_size;
    if (o.kind == OPERAND_MASK)
        return f->masks[k][lane / LANES] >> lane % LANES & 1;
    return f->src[k][lane] | (o.count > 1 ? (u64)f->src[k][lanes + lane] << 32 : 0);
}

static bool fits(const struct inst *code, bool wide)
{
    const u32 most = wide ? 2 : 1;
    if (code->dst[0].kind == OPERAND_NONE || code->dst[1].kind != OPERAND_NONE ||
        code->dst[0].count > most || code->src[IRB_SOURCES].kind != OPERAND_NONE)
        return false;
    for (u32 k = 0; k < IRB_SOURCES; k++)
        if (code->src[k].count > most)
            return false;
    return true;
}

struct irb_key irb_key(const struct dyninst *f, u32 lane, bool wide)
{
    const struct inst *code = f->code;
    struct irb_key key = {.tag = f->inst & ((1u << IRB_TAG_BITS) - 1)};
    if (!fits(code, wide))
        return key;
    key.code = code;
    if (code->op == OP_sreg) { /* the special register is both source and result */
        const u32 lanes = f->warp->exec->image->warp_size;
        key.source[0] = f->dst[0][lane];
        if (code->dst[0].count > 1)
            key.source[0] |= (u64)f->dst[0][lanes + lane] << 32;
        return key;
    }
    for (unsigned k = 0; k < IRB_SOURCES; k++)
        if (code->src[k].kind != OPERAND_NONE)
            key.source[k] = source_value(f, k, lane);
    return key;
}

static bool same_operation(const struct inst *a, const struct inst *b)
{
    if (a == b)
        return true;
    if (a->op != b->op || a->mods != b->mods || a->imm != b->imm || a->type != b->type ||
        a->stype != b->stype || a->key != b->key || a->key2 != b->key2 ||
        a->rounding != b->rounding || a->scale != b->scale || a->dst[0].count != b->dst[0].count ||
        a->dst[0].kind != b->dst[0].kind)
        return false;
    for (u32 k = 0; k < IRB_SOURCES; k++)
        if (a->src[k].neg != b->src[k].neg || a->src[k].abs != b->src[k].abs ||
            a->src[k].count != b->src[k].count ||
            (a->src[k].kind == OPERAND_NONE) != (b->src[k].kind == OPERAND_NONE))
            return false;
    return true;
}

static bool parity_of(const struct irb_entry *entry)
{
    u64 all = entry->result;
    for (u32 k = 0; k < IRB_SOURCES; k++)
        all ^= entry->key.source[k];
    return __builtin_parityll(all);
}

static struct irb_entry *find(struct irb *irb, u32 tag)
{
    for (u32 i = 0; i < irb->count; i++)
        if (irb->entries[i].key.code && irb->entries[i].key.tag == tag)
            return &irb->entries[i];
    return NULL;
}

enum irb_answer irb_probe(struct irb *irb, const struct irb_key *key, bool parity,
                          const struct irb_entry **found)
{
    struct irb_entry *entry = find(irb, key->tag);
    irb->probes++;
    if (!entry)
        return IRB_MISS;
    entry->used = irb->probes;
    if (parity && parity_of(entry) != entry->parity)
        return IRB_ERROR;
    if (!same_operation(key->code, entry->key.code) ||
        memcmp(key->source, entry->key.source, sizeof key->source))
        return IRB_MISMATCH;
    *found = entry;
    return IRB_HIT;
}

void irb_store(struct irb *irb, const struct irb_key *key, u64 result, u32 slot, u64 age)
{
    struct irb_entry *entry = find(irb, key->tag);
    for (u32 i = 0; !entry && i < irb->count; i++)
        if (!irb->entries[i].key.code)
            entry = &irb->entries[i];
    if (!entry) {
        entry = irb->entries;
        for (u32 i = 1; i < irb->count; i++)
            if (irb->entries[i].used < entry->used)
                entry = &irb->entries[i];
    }
    *entry = (struct irb_entry){
        .key = *key, .result = result, .used = ++irb->probes, .age = age, .slot = (u8)slot};
    entry->parity = parity_of(entry);
}
