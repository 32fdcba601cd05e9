/* Southern Islands encodings to fields. See emu.h. */
#include "emu.h"

#include <string.h>

const struct row rows[] = {
#define ROW(format, opcode, name, signature, group) {format, opcode, #name, signature, group},
#include "table.def"
};

static bool find(struct insn *n, enum format format, u32 opcode)
{
    for (u32 i = 0; i < OPS; i++)
        if (rows[i].format == format && rows[i].opcode == opcode) {
            n->op = (enum op)i;
            n->row = &rows[i];
            return true;
        }
    return false;
}

static u32 bits(u32 word, u32 low, u32 count)
{
    return word >> low & ((1u << count) - 1);
}

static bool decode_scalar(struct insn *n, u32 w)
{
    n->dst = bits(w, 16, 7);
    if (bits(w, 23, 9) == 0x17d) { /* SOP1 */
        n->format = F_SOP1;
        n->src[0] = bits(w, 0, 8);
        return find(n, F_SOP1, bits(w, 8, 8));
    }
    if (bits(w, 23, 9) == 0x17e) {
        n->format = F_SOPC;
        n->src[0] = bits(w, 0, 8);
        n->src[1] = bits(w, 8, 8);
        return find(n, F_SOPC, bits(w, 16, 7));
    }
    n->imm = (u16)w;
    if (bits(w, 23, 9) == 0x17f) {
        n->format = F_SOPP;
        return find(n, F_SOPP, bits(w, 16, 7));
    }
    if (bits(w, 28, 4) == 0xb) {
        n->format = F_SOPK;
        return find(n, F_SOPK, bits(w, 23, 5));
    }
    n->imm = 0;
    n->format = F_SOP2;
    n->src[0] = bits(w, 0, 8);
    n->src[1] = bits(w, 8, 8);
    return find(n, F_SOP2, bits(w, 23, 7));
}

static bool decode_vector(struct insn *n, u32 w)
{
    n->src[0] = bits(w, 0, 9);
    n->dst = bits(w, 17, 8);
    if (bits(w, 25, 7) == 0x3f) {
        n->format = F_VOP1;
        return find(n, F_VOP1, bits(w, 9, 8));
    }
    n->src[1] = bits(w, 9, 8) + 256;
    if (bits(w, 25, 7) == 0x3e) {
        n->format = F_VOPC;
        n->dst = VCC;
        return find(n, F_VOPC, bits(w, 17, 8));
    }
    n->format = F_VOP2;
    n->sdst = VCC;
    n->src[2] = VCC;
    if (!find(n, F_VOP2, bits(w, 25, 6)))
        return false;
    if (n->op == OP_v_readlane_b32 || n->op == OP_v_writelane_b32)
        n->src[1] -= 256;
    return true;
}

static bool decode_vop3(struct insn *n, u32 w, u32 w1)
{
    u32 op = bits(w, 17, 9);
    n->format = F_VOP3;
    n->size = 8;
    n->dst = bits(w, 0, 8);
    for (u32 i = 0; i < 3; i++)
        n->src[i] = bits(w1, 9 * i, 9);
    n->omod = bits(w1, 27, 2);
    n->neg = bits(w1, 29, 3);
    bool found = op < 256   ? find(n, F_VOPC, op)
                 : op < 320 ? find(n, F_VOP2, op - 256)
                 : op < 384 ? find(n, F_VOP3, op)
                            : find(n, F_VOP1, op - 384);
    if (!found || n->op == OP_v_madmk_f32 || n->op == OP_v_madak_f32)
        return false;
    if (strncmp(n->row->signature + 1, "m=", 2) == 0) { /* VOP3b: a scalar destination */
        n->sdst = bits(w, 8, 7);
    } else {
        n->abs = bits(w, 8, 3);
        n->clamp = bits(w, 11, 1);
    }
    return true;
}

static bool decode_memory(struct insn *n, u32 w, u32 w1)
{
    n->size = 8;
    n->vaddr = bits(w1, 0, 8);
    n->vdata = bits(w1, 8, 8);
    if (bits(w, 26, 6) == 0x36) {
        n->format = F_DS;
        n->offset0 = bits(w, 0, 8);
        n->offset1 = bits(w, 8, 8);
        n->gds = bits(w, 17, 1);
        n->vdata1 = bits(w1, 16, 8);
        n->dst = bits(w1, 24, 8);
        return find(n, F_DS, bits(w, 18, 8)) && !n->gds;
    }
    n->offset0 = bits(w, 0, 12);
    n->offen = bits(w, 12, 1);
    n->idxen = bits(w, 13, 1);
    n->glc = bits(w, 14, 1);
    n->addr64 = bits(w, 15, 1);
    n->srsrc = bits(w1, 16, 5) * 4;
    n->tfe = bits(w1, 23, 1);
    n->soffset = bits(w1, 24, 8);
    if (bits(w, 26, 6) == 0x3a) {
        n->format = F_MTBUF;
        n->dfmt = bits(w, 19, 4);
        n->nfmt = bits(w, 23, 3);
        return find(n, F_MTBUF, bits(w, 16, 3));
    }
    n->format = F_MUBUF;
    n->lds = bits(w, 16, 1);
    return bits(w, 26, 6) == 0x38 && find(n, F_MUBUF, bits(w, 18, 7));
}

static bool decode_smrd(struct insn *n, u32 w)
{
    n->format = F_SMRD;
    n->dst = bits(w, 15, 7);
    n->srsrc = bits(w, 9, 6) * 2;
    n->imm_offset = bits(w, 8, 1);
    n->offset0 = bits(w, 0, 8);
    return find(n, F_SMRD, bits(w, 22, 5));
}

static bool takes_literal(const struct insn *n)
{
    if (n->op == OP_v_madmk_f32 || n->op == OP_v_madak_f32 || n->op == OP_s_setreg_imm32_b32)
        return true;
    if (n->format == F_SOPK || n->format == F_SOPP || n->format >= F_VOP3)
        return false;
    if (n->format == F_SOP2 || n->format == F_SOPC)
        return n->src[0] == LITERAL || n->src[1] == LITERAL;
    return n->format != F_SMRD && n->src[0] == LITERAL;
}

bool emu_decode(const u8 *code, size_t bytes, struct insn *n)
{
    u32 w[MAX_WORDS] = {0};
    memset(n, 0, sizeof *n);
    if (bytes < 4)
        return false;
    memcpy(w, code, bytes < 8 ? 4 : 8);
    n->size = 4;
    bool known = w[0] >> 31 == 0             ? decode_vector(n, w[0])
                 : w[0] >> 30 == 2           ? decode_scalar(n, w[0])
                 : bits(w[0], 27, 5) == 0x18 ? decode_smrd(n, w[0])
                 : bits(w[0], 26, 6) == 0x34 ? decode_vop3(n, w[0], w[1])
                                             : decode_memory(n, w[0], w[1]);
    if (!known)
        return false;
    if (takes_literal(n)) {
        n->size = 8;
        n->literal = w[1];
        n->has_literal = true;
    }
    n->words[0] = w[0];
    n->words[1] = n->size == 8 ? w[1] : 0;
    return n->size <= bytes;
}
