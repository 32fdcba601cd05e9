/* Where a wave goes next: branches, calls, forks, barriers, the end. See emu.h. */
#include "emu.h"

bool emu_is_control(enum op op)
{
    return rows[op].group == G_CONTROL;
}

static u64 relative(const struct step *s)
{
    return s->next + (u64)((i64)(int16_t)s->insn->imm * 4);
}

static void jump(struct step *s, u64 device_address)
{
    s->next = device_address - s->machine->code_base;
}

/* Lanes that pass go to `target`; the smaller side goes first, the other waits on the stack of
 * scalars that MODE's top bits count. */
static void fork_lanes(struct step *s, u64 condition, u64 target)
{
    struct wave *w = s->wave;
    u64 exec = emu_exec(w), pass = exec & condition, fail = exec & ~condition;
    u64 next = s->machine->code_base + s->next;
    u32 depth = w->mode >> MODE_CSP;
    if (pass == exec) {
        jump(s, target);
        return;
    }
    if (fail == exec)
        return;
    bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
    emu_write_scalar64(s, EXEC, fail_first ? fail : pass);
    emu_write_scalar64(s, depth * 4, fail_first ? pass : fail);
    emu_write_scalar64(s, depth * 4 + 2, fail_first ? target : next);
    emu_write_mode(s, (w->mode & 0x1fffffff) | (depth + 1) << MODE_CSP);
    if (!fail_first)
        jump(s, target);
}

static void join(struct step *s)
{
    struct wave *w = s->wave;
    u32 depth = w->mode >> MODE_CSP;
    if (depth == (emu_scalar(s, s->insn->src[0]) & 7))
        return;
    depth = (depth - 1) & 7;
    u64 exec = emu_scalar64(s, depth * 4, false), pc = emu_scalar64(s, depth * 4 + 2, false);
    emu_write_mode(s, (w->mode & 0x1fffffff) | depth << MODE_CSP);
    emu_write_scalar64(s, EXEC, exec);
    jump(s, pc);
}

static bool taken(const struct step *s)
{
    const struct wave *w = s->wave;
    u32 vcc = w->scalars[VCC] | w->scalars[VCC + 1];
    switch (s->insn->op) {
    case OP_s_branch:
        return true;
    case OP_s_cbranch_scc0:
        return !w->scc;
    case OP_s_cbranch_scc1:
        return w->scc;
    case OP_s_cbranch_vccz:
        return !vcc;
    case OP_s_cbranch_vccnz:
        return vcc;
    case OP_s_cbranch_execz:
        return !emu_exec(w);
    case OP_s_cbranch_execnz:
        return emu_exec(w);
    default:
        return false;
    }
}

void emu_control_op(struct step *s)
{
    const struct insn *n = s->insn;
    u64 next = s->machine->code_base + s->next;
    switch (n->op) {
    case OP_s_endpgm:
        s->wave->ended = true;
        break;
    case OP_s_barrier:
        s->wave->at_barrier = true;
        break;
    case OP_s_getpc_b64:
        emu_write_scalar64(s, n->dst, next);
        break;
    case OP_s_setpc_b64:
        jump(s, emu_scalar64(s, n->src[0], false));
        break;
    case OP_s_swappc_b64: {
        u64 target = emu_scalar64(s, n->src[0], false);
        emu_write_scalar64(s, n->dst, next);
        jump(s, target);
        break;
    }
    case OP_s_cbranch_g_fork:
        fork_lanes(s, emu_scalar64(s, n->src[0], false), emu_scalar64(s, n->src[1], false));
        break;
    case OP_s_cbranch_i_fork:
        fork_lanes(s, emu_scalar64(s, n->dst, false), s->machine->code_base + relative(s));
        break;
    case OP_s_cbranch_join:
        join(s);
        break;
    case OP_s_memtime:
        s->near = NEAR_ANY;
        emu_write_scalar64(s, n->dst, s->machine->time);
        break;
    default: /* branches; what only time sees does nothing here */
        if (taken(s))
            s->next = relative(s);
    }
}
