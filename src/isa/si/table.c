/* The rows of si.def, and their lookup by opcode. */
#include "ir/buffer.h"
#include "isa/si/si.h"

const struct si_op si_ops[SI_OP_COUNT] = {
#define SI(format_, opcode_, name_, signature_, ir_, ...) \
    [SI_OP_##name_] = {.name = #name_,                    \
                       .signature = signature_,           \
                       .opcode = opcode_,                 \
                       .format = SI_##format_,            \
                       .ir = OP_##ir_,                    \
                       __VA_ARGS__},
#include "isa/si/si.def"
#undef SI
};

/* Row + 1 by format and opcode. Two rows for one opcode do not compile (-Wextra). */
#define SLOT(format, opcode) ((u32)(format) << 9 | (opcode))
static const u16 slots[SI_FORMAT_COUNT << 9] = {
#define SI(format, opcode, name, ...) [SLOT(SI_##format, opcode)] = SI_OP_##name + 1,
#include "isa/si/si.def"
#undef SI
};

/* Offsets of the short formats' opcodes in VOP3. */
#define LONG_VOP2 0x100
#define LONG_OWN 0x140
#define LONG_VOP1 0x180

const struct si_op *si_find(enum si_format format, u32 opcode)
{
    if (opcode >= 512)
        return NULL;
    if (format == SI_VOP3 && opcode < LONG_VOP2) {
        format = SI_VOPC;
    } else if (format == SI_VOP3 && opcode < LONG_OWN) {
        format = SI_VOP2;
        opcode -= LONG_VOP2;
    } else if (format == SI_VOP3 && opcode >= LONG_VOP1) {
        format = SI_VOP1;
        opcode -= LONG_VOP1;
    }
    u32 slot = slots[SLOT(format, opcode)];
    return slot ? &si_ops[slot - 1] : NULL;
}

u32 si_opcode(const struct si_op *op, enum si_format format)
{
    if (format != SI_VOP3 || op->format == SI_VOP3 || op->format == SI_VOPC)
        return op->opcode;
    return op->opcode + (op->format == SI_VOP2 ? LONG_VOP2 : LONG_VOP1);
}
