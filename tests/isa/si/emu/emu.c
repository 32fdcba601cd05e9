/* State, operands and the step. See emu.h. */
#include "emu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void emu_init(struct machine *m)
{
    memset(m, 0, sizeof *m);
}

void emu_free(struct machine *m)
{
    for (u32 i = 0; i < m->region_count; i++)
        free(m->regions[i].data);
    m->region_count = 0;
}

void emu_region(struct machine *m, u64 address, u32 bytes)
{
    struct region *r = &m->regions[m->region_count++];
    assert(m->region_count <= MAX_REGIONS);
    *r = (struct region){address, bytes, calloc(bytes, 1)};
    assert(r->data);
}

void record_clear(struct record *record)
{
    record->count = 0;
}

void record_free(struct record *record)
{
    free(record->writes);
    memset(record, 0, sizeof *record);
}

static void note(struct step *s, struct write write)
{
    struct record *r = s->record;
    if (!r)
        return;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? r->capacity * 2 : 256;
        r->writes = realloc(r->writes, r->capacity * sizeof *r->writes);
        assert(r->writes);
    }
    write.near = s->near;
    r->writes[r->count++] = write;
}

void emu_fault(struct step *s, const char *what)
{
    if (!s->machine->fault)
        s->machine->fault = what;
}

u64 emu_exec(const struct wave *w)
{
    return (u64)w->scalars[EXEC + 1] << 32 | w->scalars[EXEC];
}

static u64 inline_constant(u32 code, bool wide, bool is_float)
{
    static const float floats[] = {0.5f, -0.5f, 1, -1, 2, -2, 4, -4};
    i64 value = code <= 192 ? (i64)code - 128 : 192 - (i64)code;
    (void)is_float;
    if (code < 240)
        return wide ? (u64)value : (u32)value;
    double d = floats[code - 240];
    u64 bits64;
    u32 bits32;
    memcpy(&bits64, &d, 8);
    memcpy(&bits32, &floats[code - 240], 4);
    return wide ? bits64 : bits32;
}

static bool is_constant(u32 code)
{
    return (code >= 128 && code <= 208) || (code >= 240 && code <= 247);
}

u32 emu_scalar(struct step *s, u32 code)
{
    struct wave *w = s->wave;
    if (code < SCALARS)
        return w->scalars[code];
    if (is_constant(code))
        return (u32)inline_constant(code, false, false);
    switch (code) {
    case 251:
        return (w->scalars[VCC] | w->scalars[VCC + 1]) == 0;
    case 252:
        return emu_exec(w) == 0;
    case 253:
        return w->scc;
    case LITERAL:
        return s->insn->literal;
    default:
        emu_fault(s, "operand code");
        return 0;
    }
}

/* Instructions of signed 64-bit integers; for the others a literal is unsigned. */
static bool spreads_sign(const struct insn *n)
{
    if (n->format == F_VOPC)
        return n->row->opcode >= 160 && n->row->opcode < 184;
    return n->op == OP_s_ashr_i64 || n->op == OP_s_bfe_i64 || n->op == OP_s_flbit_i32_i64;
}

/* A literal is the high half of an f64, and the low half of an integer. */
u64 emu_scalar64(struct step *s, u32 code, bool is_float)
{
    if (is_constant(code))
        return inline_constant(code, true, is_float);
    if (code == LITERAL)
        return is_float                ? (u64)s->insn->literal << 32
               : spreads_sign(s->insn) ? (u64)(int32_t)s->insn->literal
                                       : s->insn->literal;
    if (code < SCALARS - 1)
        return (u64)s->wave->scalars[code + 1] << 32 | s->wave->scalars[code];
    return emu_scalar(s, code);
}

u32 emu_vector_source(struct step *s, u32 code, u32 lane)
{
    return code >= 256 ? s->wave->vectors[code - 256][lane] : emu_scalar(s, code);
}

u64 emu_vector_source64(struct step *s, u32 code, u32 lane, bool is_float)
{
    if (code < 256)
        return emu_scalar64(s, code, is_float);
    if (code == 511) {
        emu_fault(s, "register pair past the file");
        return 0;
    }
    return (u64)s->wave->vectors[code - 255][lane] << 32 | s->wave->vectors[code - 256][lane];
}

void emu_write_scalar(struct step *s, u32 code, u32 value)
{
    if (code >= SCALARS) {
        emu_fault(s, "scalar destination");
        return;
    }
    note(s, (struct write){SPACE_SCALAR, 0, code, value, s->wave->scalars[code], EXACT, 0, false});
    s->wave->scalars[code] = value;
}

void emu_write_scalar64(struct step *s, u32 code, u64 value)
{
    emu_write_scalar(s, code, (u32)value);
    emu_write_scalar(s, code + 1, (u32)(value >> 32));
}

static void write_vector(struct step *s, u32 reg, u32 lane, u32 value, u8 part)
{
    if (reg >= VECTORS) {
        emu_fault(s, "vector destination");
        return;
    }
    u32 *at = &s->wave->vectors[reg][lane];
    note(s, (struct write){SPACE_VECTOR, lane, reg, value, *at, EXACT, part, false});
    *at = value;
}

void emu_write_vector(struct step *s, u32 reg, u32 lane, u32 value)
{
    write_vector(s, reg, lane, value, 0);
}

void emu_write_vector64(struct step *s, u32 reg, u32 lane, u64 value)
{
    write_vector(s, reg, lane, (u32)value, 1);
    write_vector(s, reg + 1, lane, (u32)(value >> 32), 2);
}

void emu_write_scc(struct step *s, bool value)
{
    note(s, (struct write){SPACE_SCC, 0, 0, value, s->wave->scc, EXACT, 0, false});
    s->wave->scc = value;
}

void emu_write_mode(struct step *s, u32 value)
{
    note(s, (struct write){SPACE_MODE, 0, 0, value, s->wave->mode, EXACT, 0, false});
    s->wave->mode = value;
}

bool emu_memory(struct step *s, u64 address, u32 bytes, u8 **data)
{
    struct machine *m = s->machine;
    for (u32 i = 0; i < m->region_count; i++) {
        struct region *r = &m->regions[i];
        if (address >= r->address && address - r->address + bytes <= r->bytes) {
            *data = r->data + (address - r->address);
            return true;
        }
    }
    emu_fault(s, "memory");
    return false;
}

void emu_write_byte(struct step *s, enum space space, u32 lane, u64 address, u8 value)
{
    u8 *at = NULL;
    if (space == SPACE_LDS)
        at = &s->machine->lds[s->wave->group][address];
    else if (!emu_memory(s, address, 1, &at))
        return;
    note(s, (struct write){space, lane, address, value, *at, EXACT, 0, false});
    *at = value;
}

bool emu_may_step(const struct machine *m, u32 wave)
{
    return !m->waves[wave].ended && !m->waves[wave].at_barrier;
}

/* A barrier opens when every running wave of the group has reached it. */
static void open_barrier(struct machine *m, u32 group)
{
    for (u32 i = 0; i < m->wave_count; i++)
        if (m->waves[i].group == group && emu_may_step(m, i))
            return;
    for (u32 i = 0; i < m->wave_count; i++)
        if (m->waves[i].group == group)
            m->waves[i].at_barrier = false;
}

static void execute(struct step *s)
{
    if (emu_is_control(s->insn->op)) {
        emu_control_op(s);
        return;
    }
    switch (s->insn->row->format) {
    case F_SOP1:
    case F_SOP2:
    case F_SOPK:
    case F_SOPC:
    case F_SOPP:
        emu_scalar_op(s);
        break;
    case F_SMRD:
        emu_smrd(s);
        break;
    case F_VOPC:
        emu_compare(s);
        break;
    case F_DS:
        emu_lds(s);
        break;
    case F_MUBUF:
    case F_MTBUF:
        emu_buffer(s);
        break;
    default:
        emu_vector_op(s);
    }
}

bool emu_step(struct machine *m, u32 index, struct record *record)
{
    struct wave *w = &m->waves[index];
    struct insn insn;
    struct step s = {.machine = m, .wave = w, .record = record, .insn = &insn};
    if (!emu_may_step(m, index) || m->fault)
        return false;
    if (w->pc >= m->code_bytes || w->pc % 4 ||
        !emu_decode(m->code + w->pc, m->code_bytes - (size_t)w->pc, &insn)) {
        m->fault = "no instruction";
        return false;
    }
    if (record) {
        record_clear(record);
        record->wave = index;
        record->pc = w->pc;
    }
    s.next = w->pc + insn.size;
    execute(&s);
    if (m->fault)
        return false;
    w->pc = s.next;
    m->time++;
    open_barrier(m, w->group);
    return true;
}

bool emu_run(struct machine *m, u64 limit)
{
    bool progress = true;
    while (progress && !m->fault && m->time < limit) {
        progress = false;
        for (u32 i = 0; i < m->wave_count; i++)
            progress |= emu_may_step(m, i) && emu_step(m, i, NULL);
    }
    for (u32 i = 0; i < m->wave_count; i++)
        if (!m->waves[i].ended)
            return false;
    return !m->fault;
}
