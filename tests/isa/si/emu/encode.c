/* Fields to words: the inverse of decode.c. See gen.h. */
#include "gen.h"

#include <assert.h>
#include <string.h>

static u32 scalar_word(const struct insn *n)
{
    u32 op = n->row->opcode;
    switch (n->format) {
    case F_SOP1:
        return 0x17du << 23 | n->dst << 16 | op << 8 | n->src[0];
    case F_SOP2:
        return 2u << 30 | op << 23 | n->dst << 16 | n->src[1] << 8 | n->src[0];
    case F_SOPC:
        return 0x17eu << 23 | op << 16 | n->src[1] << 8 | n->src[0];
    case F_SOPK:
        return 0xbu << 28 | op << 23 | n->dst << 16 | n->imm;
    case F_SOPP:
        return 0x17fu << 23 | op << 16 | n->imm;
    default:
        assert(n->format == F_SMRD);
        return 0x18u << 27 | op << 22 | n->dst << 15 | n->srsrc / 2 << 9 | (u32)n->imm_offset << 8 |
               n->offset0;
    }
}

static u32 vector_word(const struct insn *n)
{
    u32 op = n->row->opcode;
    switch (n->format) {
    case F_VOP1:
        return 0x3fu << 25 | n->dst << 17 | op << 9 | n->src[0];
    case F_VOP2:
        return op << 25 | n->dst << 17 | (n->src[1] & 255) << 9 | n->src[0];
    default:
        assert(n->format == F_VOPC);
        return 0x3eu << 25 | op << 17 | (n->src[1] & 255) << 9 | n->src[0];
    }
}

static void vop3_words(const struct insn *n, u32 *w)
{
    static const u32 bases[] = {[F_VOP1] = 384, [F_VOP2] = 256, [F_VOPC] = 0, [F_VOP3] = 0};
    u32 op = n->row->opcode + bases[n->row->format];
    w[0] = 0x34u << 26 | op << 17 | n->dst;
    w[0] |= n->row->signature[1] == 'm' ? n->sdst << 8 : n->abs << 8 | (u32)n->clamp << 11;
    w[1] = n->src[0] | n->src[1] << 9 | n->src[2] << 18 | n->omod << 27 | n->neg << 29;
}

static void memory_words(const struct insn *n, u32 *w)
{
    u32 op = n->row->opcode;
    if (n->format == F_DS) {
        w[0] = 0x36u << 26 | op << 18 | n->offset1 << 8 | n->offset0;
        w[1] = n->dst << 24 | n->vdata1 << 16 | n->vdata << 8 | n->vaddr;
        return;
    }
    w[0] = n->offset0 | (u32)n->offen << 12 | (u32)n->idxen << 13 | (u32)n->glc << 14 |
           (u32)n->addr64 << 15;
    w[0] |= n->format == F_MTBUF ? 0x3au << 26 | op << 16 | n->dfmt << 19 | n->nfmt << 23
                                 : 0x38u << 26 | op << 18 | (u32)n->lds << 16;
    w[1] = n->soffset << 24 | (u32)n->tfe << 23 | n->srsrc / 4 << 16 | n->vdata << 8 | n->vaddr;
}

u32 encode(const struct insn *n, u32 *w)
{
    switch (n->format) {
    case F_VOP3:
        vop3_words(n, w);
        return 2;
    case F_DS:
    case F_MUBUF:
    case F_MTBUF:
        memory_words(n, w);
        return 2;
    case F_VOP1:
    case F_VOP2:
    case F_VOPC:
        w[0] = vector_word(n);
        break;
    default:
        w[0] = scalar_word(n);
    }
    w[1] = n->literal;
    return n->has_literal ? 2 : 1;
}

void emit_words(struct program *p, u32 word)
{
    assert(p->count < MAX_PROGRAM);
    p->words[p->count++] = word;
}

void emit(struct program *p, const struct insn *n)
{
    u32 w[2], count = encode(n, w);
    for (u32 i = 0; i < count; i++)
        emit_words(p, w[i]);
}

struct insn insn_of(enum op op)
{
    return (struct insn){.op = op, .row = &rows[op], .format = rows[op].format};
}

void emit_getpc(struct program *p)
{
    struct insn n = insn_of(OP_s_getpc_b64);
    n.dst = S_PC;
    emit(p, &n);
}
