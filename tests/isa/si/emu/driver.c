/* Many forms of one instruction over values at the edges. See gen.h. */
#include "gen.h"

#include <string.h>

enum {
    FORMS = 24
};

static void set_exec(struct program *p, struct rng *r)
{
    static const u32 choices[] = {193 /* -1 */, 193, 128 /* 0 */, S_SAVED, S_SAVED + 2};
    struct insn n = insn_of(OP_s_mov_b64);
    n.dst = EXEC;
    n.src[0] = choices[rng_below(r, 5)];
    emit(p, &n);
}

/* Scalars that must not be too large for the instruction, and what it reads without naming it. */
static void prepare(struct program *p, struct rng *r, enum op op)
{
    struct wave *w = &p->start.waves[0];
    w->threads = 64;
    u64 mask = rng_next(r), few = 1ull << rng_below(r, 64) | 1ull << rng_below(r, 64);
    memcpy(&w->scalars[S_SAVED], &mask, 8);
    memcpy(&w->scalars[S_SAVED + 2], &few, 8);
    w->scalars[EXEC] = w->scalars[EXEC + 1] = 0xffffffff;
    if (rows[op].group == G_MOVREL)
        w->scalars[M0] = rng_below(r, 8);
    if (op == OP_ds_append || op == OP_ds_consume)
        w->scalars[M0] = rng_below(r, 64); /* the counter's place: mostly in the LDS */
}

void generate_edges(struct program *p, enum op op, u32 mode, u64 seed)
{
    struct rng r = {seed * 1000003 + op};
    struct limits limits = {32, V_RESULT, V_AT1, true};
    struct insn n;
    p->seed = seed;
    p->what = rows[op].name;
    p->count = 0;
    fill_state(&r, p, 1, 1);
    prepare(p, &r, op);
    p->start.waves[0].mode = mode;
    emit_getpc(p);
    for (u32 i = 0; i < FORMS; i++) {
        if (i % 4 == 3)
            set_exec(p, &r);
        if (rows[op].group == G_CONTROL && op != OP_s_endpgm) {
            n = insn_of(op);
            if (n.format == F_SMRD || op == OP_s_getpc_b64)
                n.dst = 40;
            else if (n.format > F_SMRD ||
                     (n.format == F_SOPP && strstr(n.row->name, "branch") == NULL))
                n.dst = 0;
            else
                break; /* jumps: random programs have them */
            emit(p, &n);
        } else if (random_insn(&r, op, &limits, &n)) {
            emit(p, &n);
        }
    }
    n = insn_of(OP_s_endpgm);
    emit(p, &n);
    p->start.code = (const u8 *)p->words;
    p->start.code_bytes = p->count * 4;
}
