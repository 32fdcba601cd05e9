/*
 * Steps the emulator along Heddle's trace. See compare.h.
 *
 * The order between waves is Heddle's: the emulator only checks that it is a legal one. After each
 * instruction both must have written the same places with the same values, exact but for the
 * approximate functions; then Heddle's values are taken over.
 */
#include "compare.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int order(const void *a, const void *b)
{
    const struct write *x = a, *y = b;
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->where != y->where)
        return x->where < y->where ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Memory has one value a byte whoever wrote it: the lane is dropped. The last of several counts. */
static void normalise(struct record *r)
{
    u32 kept = 0;
    for (u32 i = 0; i < r->count; i++)
        if (r->writes[i].space >= SPACE_MEMORY)
            r->writes[i].lane = 0;
    /* a stable order: insertion is enough for what is nearly sorted, but memory is not */
    struct write *sorted = malloc((r->count + 1) * sizeof *sorted);
    assert(sorted);
    for (u32 i = 0; i < r->count; i++) {
        sorted[i] = r->writes[i];
        sorted[i].before = i; /* keeps the order of equals through qsort */
    }
    qsort(sorted, r->count, sizeof *sorted, order);
    for (u32 i = 0; i < r->count; i++) {
        struct write *last = &sorted[i];
        for (; i + 1 < r->count && order(last, &sorted[i + 1]) == 0; i++)
            if (sorted[i + 1].before > last->before)
                last = &sorted[i + 1];
        r->writes[kept++] = *last;
    }
    r->count = kept;
    free(sorted);
}

static const struct write *look_up(const struct record *r, enum space space, u64 where, u32 lane)
{
    struct write key = {.space = space, .where = where, .lane = lane};
    return r->count ? bsearch(&key, r->writes, r->count, sizeof key, order) : NULL;
}

/* Steps between two numbers of a format, over its ordered bit patterns. */
static u64 steps_apart(enum kind kind, u64 a, u64 b)
{
    u64 sign = fp_sign_bit(kind);
    if (fp_is_nan(kind, a) || fp_is_nan(kind, b))
        return fp_is_nan(kind, a) && fp_is_nan(kind, b) ? 0 : ~0ull;
    i64 x = a & sign ? -(i64)(a & ~sign) : (i64)a, y = b & sign ? -(i64)(b & ~sign) : (i64)b;
    return (u64)(x < y ? y - x : x - y);
}

static bool near_enough(enum closeness near, enum kind kind, u64 want, u64 got)
{
    if (near == NEAR_ANY || want == got)
        return true;
    if (near == NEAR_ULP)
        return steps_apart(kind, want, got) <= 1;
    float x, y;
    u32 a = (u32)want, b = (u32)got;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return x - y < 0x1p-18f && y - x < 0x1p-18f; /* 2^-20, and omod may make it four times that */
}

static bool same(const struct write *mine, const struct write *theirs)
{
    return mine->value == theirs->value ||
           (mine->near != EXACT && mine->part == 0 &&
            near_enough(mine->near, K_F32, mine->value, theirs->value));
}

struct check {
    struct machine *machine;
    struct record mine;
    const struct program *program;
    struct tally *tally;
    struct wave before;
};

static const char *place_name(const struct write *w, char *text, size_t size)
{
    static const char *const names[] = {"s", "v", "scc", "mode", "memory ", "lds "};
    if (w->space == SPACE_VECTOR)
        snprintf(text, size, "v%u lane %u", (u32)w->where, w->lane);
    else if (w->space == SPACE_SCC || w->space == SPACE_MODE)
        snprintf(text, size, "%s", names[w->space]);
    else if (w->space == SPACE_SCALAR)
        snprintf(text, size, "s%u", (u32)w->where);
    else
        snprintf(text, size, "%s0x%llx", names[w->space], (unsigned long long)w->where);
    return text;
}

static void print_inputs(struct check *c, const struct insn *n, const struct write *w)
{
    struct step s = {.machine = c->machine, .wave = &c->before, .insn = n};
    const char *types = strchr(n->row->signature, '=');
    u32 lane = w->space == SPACE_VECTOR ? w->lane : 0;
    if (n->format >= F_DS) {
        printf("    vaddr v%u = 0x%x 0x%x, m0 0x%x, data v%u = 0x%x\n", n->vaddr,
               c->before.vectors[n->vaddr][lane], c->before.vectors[n->vaddr + 1][lane],
               c->before.scalars[M0], n->vdata, c->before.vectors[n->vdata][lane]);
        return;
    }
    printf("    dst %u, sources", n->dst);
    for (u32 i = 0; types && types[1 + i] && n->format != F_SMRD && i < 3; i++) {
        bool wide = types[1 + i] == 'q' || types[1 + i] == 'd' || types[1 + i] == 'm';
        u64 value = wide ? emu_vector_source64(&s, n->src[i], lane, types[1 + i] == 'd')
                         : emu_vector_source(&s, n->src[i], lane);
        printf(" [%u]0x%llx", n->src[i], (unsigned long long)value);
    }
    printf(" neg %x abs %x omod %u clamp %u; mode 0x%x exec 0x%llx scc %u\n", n->neg, n->abs,
           n->omod, n->clamp, c->before.mode, (unsigned long long)emu_exec(&c->before),
           c->before.scc);
}

static void report(struct check *c, const struct insn *n, u64 pc, const struct write *w, bool got,
                   u32 want_value, bool want, const char *what)
{
    char text[64], wanted[32] = "nothing", have[32] = "nothing";
    struct tally *t = c->tally;
    t->differences++;
    if (n && t->bad[n->op]++ >= 2)
        return;
    if (t->shown++ >= t->show_limit)
        return;
    if (want)
        snprintf(wanted, sizeof wanted, "0x%x", want_value);
    if (got)
        snprintf(have, sizeof have, "0x%x", w->value);
    printf("seed %llu (%s) pc %llu: %s %08x %08x: %s", (unsigned long long)c->program->seed,
           c->program->what, (unsigned long long)pc, n ? n->row->name : "?", n ? n->words[0] : 0,
           n ? n->words[1] : 0, what);
    if (w)
        printf(": %s is %s, expected %s", place_name(w, text, sizeof text), have, wanted);
    printf("\n");
    if (w && n)
        print_inputs(c, n, w);
}

/* Makes the emulator's state what Heddle wrote. */
static void adopt(struct check *c, struct wave *wave, const struct write *w)
{
    struct step s = {.machine = c->machine, .wave = wave};
    switch (w->space) {
    case SPACE_SCALAR:
        emu_write_scalar(&s, (u32)w->where, w->value);
        break;
    case SPACE_VECTOR:
        emu_write_vector(&s, (u32)w->where, w->lane, w->value);
        break;
    case SPACE_SCC:
        emu_write_scc(&s, w->value);
        break;
    case SPACE_MODE:
        emu_write_mode(&s, w->value);
        break;
    default:
        emu_write_byte(&s, w->space, 0, w->where, (u8)w->value);
    }
}

static u32 current(struct check *c, const struct wave *wave, const struct write *w)
{
    struct step s = {.machine = c->machine};
    u8 *data;
    switch (w->space) {
    case SPACE_SCALAR:
        return wave->scalars[w->where];
    case SPACE_VECTOR:
        return wave->vectors[w->where][w->lane];
    case SPACE_SCC:
        return wave->scc;
    case SPACE_MODE:
        return wave->mode;
    case SPACE_LDS:
        return c->machine->lds[wave->group][w->where];
    default:
        return emu_memory(&s, w->where, 1, &data) ? *data : 0;
    }
}

/* An f64 in two words: both are compared together. */
static bool agrees(const struct check *c, const struct write *mine, const struct write *theirs,
                   const struct record *r)
{
    if (mine->part == 0 || mine->near == EXACT)
        return same(mine, theirs);
    u64 low_at = mine->part == 1 ? mine->where : mine->where - 1;
    const struct write *a = look_up(&c->mine, SPACE_VECTOR, low_at, mine->lane);
    const struct write *b = look_up(&c->mine, SPACE_VECTOR, low_at + 1, mine->lane);
    const struct write *x = look_up(r, SPACE_VECTOR, low_at, mine->lane);
    const struct write *y = look_up(r, SPACE_VECTOR, low_at + 1, mine->lane);
    if (!a || !b || !x || !y)
        return false;
    return near_enough(mine->near, K_F64, (u64)b->value << 32 | a->value,
                       (u64)y->value << 32 | x->value);
}

static void compare_writes(struct check *c, const struct insn *n, struct record *theirs)
{
    struct wave *wave = &c->machine->waves[theirs->wave];
    normalise(&c->mine);
    normalise(theirs);
    for (u32 i = 0; i < c->mine.count; i++) {
        const struct write *mine = &c->mine.writes[i];
        const struct write *other = look_up(theirs, mine->space, mine->where, mine->lane);
        if (!other)
            report(c, n, theirs->pc, mine, false, mine->value, true, "not written");
        else if (!agrees(c, mine, other, theirs))
            report(c, n, theirs->pc, other, true, mine->value, true, "differs");
    }
    for (u32 i = 0; i < theirs->count; i++) {
        const struct write *other = &theirs->writes[i];
        /* forks and joins name what they may write, and then may leave it as it is */
        bool may_stay = other->optional || n->row->group == G_CONTROL;
        if (!look_up(&c->mine, other->space, other->where, other->lane) &&
            !(may_stay && current(c, wave, other) == other->value))
            report(c, n, theirs->pc, other, true, 0, false, "written");
        if (current(c, wave, other) != other->value)
            adopt(c, wave, other);
    }
}

/* Heddle's text begins with the name, after the words when no assembler would make them of it. */
static bool is_named(const char *text, const char *name)
{
    const char *comment = strncmp(text, ".long", 5) == 0 ? strchr(text, ';') : NULL;
    text = comment ? comment + 2 : text;
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && (!text[length] || strchr(" _", text[length]));
}

/* False if the two can no longer be compared. */
static bool follow(struct check *c, struct record *theirs)
{
    struct machine *m = c->machine;
    struct insn n;
    if (theirs->wave >= m->wave_count || !emu_may_step(m, theirs->wave)) {
        report(c, NULL, theirs->pc, NULL, false, 0, false, "a wave that ended or waits went on");
        return false;
    }
    c->before = m->waves[theirs->wave];
    u64 pc = c->before.pc;
    if (pc != theirs->pc || !emu_decode(m->code + pc, m->code_bytes - pc, &n)) {
        report(c, NULL, theirs->pc, NULL, false, 0, false, "another way was taken");
        return false;
    }
    if (!is_named(theirs->text, n.row->name))
        report(c, &n, pc, NULL, false, 0, false, theirs->text);
    c->tally->seen[n.op]++;
    c->tally->instructions++;
    if (!emu_step(m, theirs->wave, &c->mine)) {
        report(c, &n, pc, NULL, false, 0, false, m->fault ? m->fault : "cannot step");
        return false;
    }
    compare_writes(c, &n, theirs);
    return true;
}

static void compare_wave_end(struct check *c, u32 index, const struct wave *end)
{
    const struct wave *w = &c->machine->waves[index];
    struct write at = {0};
    for (u32 i = 0; i < SCALARS; i++)
        if ((i < 104 || i == VCC || i == VCC + 1 || i == M0 || i >= EXEC) &&
            w->scalars[i] != end->scalars[i]) {
            at = (struct write){.space = SPACE_SCALAR, .where = i, .value = end->scalars[i]};
            report(c, NULL, w->pc, &at, true, w->scalars[i], true, "at the end");
        }
    for (u32 i = 0; i < VECTORS; i++)
        for (u32 lane = 0; lane < LANES; lane++)
            if (w->vectors[i][lane] != end->vectors[i][lane]) {
                at = (struct write){SPACE_VECTOR, lane, i,    end->vectors[i][lane], 0,
                                    EXACT,        0,    false};
                report(c, NULL, w->pc, &at, true, w->vectors[i][lane], true, "at the end");
            }
    if (w->scc != end->scc || !w->ended)
        report(c, NULL, w->pc, NULL, false, 0, false,
               w->ended ? "SCC at the end" : "not at the end");
}

static void compare_end(struct check *c, const struct machine *end)
{
    struct machine *m = c->machine;
    for (u32 i = 0; i < m->wave_count; i++)
        compare_wave_end(c, i, &end->waves[i]);
    for (u32 i = 0; i < m->region_count; i++)
        if (memcmp(m->regions[i].data, end->regions[i].data, m->regions[i].bytes))
            report(c, NULL, 0, NULL, false, 0, false, "memory at the end");
    for (u32 i = 0; i < m->wave_count; i++)
        if (memcmp(m->lds[m->waves[i].group], end->lds[m->waves[i].group], m->waves[i].lds_bytes))
            report(c, NULL, 0, NULL, false, 0, false, "LDS at the end");
}

static struct machine *copy(const struct machine *m)
{
    struct machine *out = malloc(sizeof *out);
    assert(out);
    *out = *m;
    for (u32 i = 0; i < m->region_count; i++) {
        out->regions[i].data = malloc(m->regions[i].bytes);
        assert(out->regions[i].data);
        memcpy(out->regions[i].data, m->regions[i].data, m->regions[i].bytes);
    }
    return out;
}

/* Where the code is: what the s_getpc_b64 that every program begins with says. */
static u64 code_place(const struct outcome *out)
{
    u64 next[2] = {4, 0};
    for (u32 i = 0; out->count && i < out->records[0].count; i++) {
        const struct write *w = &out->records[0].writes[i];
        if (w->space == SPACE_SCALAR && (w->where == S_PC || w->where == S_PC + 1))
            next[w->where - S_PC] = w->value;
    }
    return (next[1] << 32 | next[0]) - 4;
}

bool compare_run(struct heddle *heddle, const struct program *p, struct tally *tally)
{
    struct outcome out = {0};
    struct check c = {.program = p, .tally = tally, .machine = copy(&p->start)};
    u64 before = tally->differences;
    bool going = true;
    tally->programs++;
    if (!heddle_run(heddle, p, &out)) {
        struct insn n;
        bool known = emu_decode((const u8 *)p->words, p->count * 4, &n);
        report(&c, known ? &n : NULL, 0, NULL, false, 0, false, out.error);
        going = false;
    }
    if (going)
        c.machine->code_base = code_place(&out);
    for (u32 i = 0; i < out.count && going; i++)
        going = follow(&c, &out.records[i]);
    if (out.differs)
        report(&c, NULL, 0, NULL, false, 0, false, out.differs);
    if (going && out.end)
        compare_end(&c, out.end);
    emu_free(c.machine);
    free(c.machine);
    record_free(&c.mine);
    outcome_free(&out);
    return tally->differences == before;
}
