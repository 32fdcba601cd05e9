/*
 * The trace of a raw program: one JSON object for each instruction that was committed, with all it
 * wrote. A register counts as written when the instruction names it as a destination, whatever the
 * value; a lane when the instruction ran for it.
 */
#include "exec/scalars.h"
#include "gpu/raw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

static void add_bytes(struct raw_text *text, const char *bytes, size_t length)
{
    if (text->length + length > text->capacity) {
        text->capacity = MAX(2 * text->capacity, text->length + length);
        text->data = realloc(text->data, text->capacity);
        if (!text->data)
            abort();
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
}

static void add(struct raw_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct raw_text *text, const char *format, ...)
{
    char piece[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    add_bytes(text, piece, (size_t)MIN(length, (int)sizeof piece - 1));
}

/* Registers that an instruction wrote; what the line says of them. */
struct written {
    u64 scalars[(SCALAR_COUNT + 63) / 64]; /* bits */
    u32 first, end;                        /* vector registers */
    lane_set lanes;
};

static void mark_scalars(struct written *written, u32 first, u32 count)
{
    for (u32 s = first; s < first + count && s < SCALAR_COUNT; s++)
        written->scalars[s / 64] |= 1ull << s % 64;
}

static bool has_scalar(const struct written *written, u32 scalar)
{
    return written->scalars[scalar / 64] >> scalar % 64 & 1;
}

/* A register that M0 moves. */
static struct operand moved(const struct warp *warp, const struct inst *inst, struct operand o)
{
    o.index += *scalar_word(warp, SCALAR_M0);
    o.count = inst->op == OP_smovrel_dst_b64 ? 2 : 1;
    return o;
}

static lane_set lanes_written(const struct warp *warp, const struct inst *inst)
{
    if (inst->op != OP_writelane)
        return warp->active;
    return 1ull << scalar_read(warp, inst->src[1], 0) % warp->exec->image->warp_size;
}

static struct written find_written(const struct raw_trace *trace, const struct warp *warp,
                                   const struct inst *inst)
{
    struct written written = {.lanes = lanes_written(warp, inst)};
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 i = 0; i < count; i++) {
        struct operand o = list[i];
        if (inst->op == OP_fork && !o.count) { /* what it put on the branch stack, if anything */
            u32 depth = trace->depths[warp->index];
            if (*scalar_word(warp, SCALAR_MODE) >> MODE_CSP_SHIFT != depth)
                mark_scalars(&written, 4 * depth, 4);
            continue;
        }
        if (!o.count)
            o = moved(warp, inst, o);
        if (o.kind == OPERAND_SCALAR)
            mark_scalars(&written, o.index, o.count);
        else if (o.kind == OPERAND_MASK)
            mark_scalars(&written, 2 * o.index, 2);
        else if (o.kind == OPERAND_VECTOR) {
            written.first = o.index;
            written.end = o.index + o.count;
        }
    }
    return written;
}

static void add_sgprs(struct raw_text *line, const struct warp *warp, const struct written *written)
{
    bool any = false;
    for (u32 s = 0; s < SCALAR_M0; s++) {
        if (!has_scalar(written, s) || s / 2 == MASK_VCC)
            continue;
        add(line, "%s\"%u\":%u", any ? "," : ",\"sgpr\":{", s, *scalar_word(warp, s));
        any = true;
    }
    if (any)
        add(line, "}");
}

static void add_vgprs(struct raw_text *line, const struct warp *warp, const struct written *written)
{
    if (written->first == written->end)
        return;
    add(line, ",\"vgpr\":{");
    for (u32 v = written->first; v < written->end; v++) {
        add(line, "%s\"%u\":[", v > written->first ? "," : "", v);
        const u32 *row = vector_row(warp, &warp->chunks[0], v);
        for (u32 lane = 0; lane < warp->exec->image->warp_size; lane++) {
            const char *comma = lane ? "," : "";
            if (written->lanes >> lane & 1)
                add(line, "%s%u", comma, row[lane]);
            else
                add(line, "%snull", comma);
        }
        add(line, "]");
    }
    add(line, "}");
}

static void add_specials(struct raw_text *line, const struct warp *warp,
                         const struct written *written)
{
    static const struct {
        u32 scalar;
        const char *name;
        bool pair;
    } specials[] = {{SCALAR_VCC, "vcc", true},
                    {SCALAR_EXEC, "exec", true},
                    {SCALAR_SCC, "scc", false},
                    {SCALAR_M0, "m0", false},
                    {SCALAR_MODE, "mode", false}};
    for (u32 i = 0; i < ARRAY_LEN(specials); i++) {
        u32 s = specials[i].scalar;
        if (specials[i].pair && (has_scalar(written, s) || has_scalar(written, s + 1)))
            add(line, ",\"%s\":\"0x%016" PRIx64 "\"", specials[i].name,
                *scalar_word(warp, s) | (u64)*scalar_word(warp, s + 1) << 32);
        else if (!specials[i].pair && has_scalar(written, s))
            add(line, ",\"%s\":%u", specials[i].name, *scalar_word(warp, s));
    }
}

static void add_stores(struct raw_text *line, const char *name, struct raw_text *stores)
{
    if (stores->length) {
        add(line, ",\"%s\":[", name);
        add_bytes(line, stores->data, stores->length);
        add(line, "]");
    }
    stores->length = 0;
}

static void committed(struct exec_watcher *watcher, struct warp *warp, u32 index)
{
    struct raw_trace *trace = (struct raw_trace *)watcher;
    const struct program *program = warp->exec->image->program;
    struct written written = find_written(trace, warp, &program->insts[index]);
    struct raw_text *line = &trace->text;
    char text[256];
    line->length = 0;
    add(line, "{\"wave\":%u,\"pc\":%" PRIu64 ",\"text\":\"%s\"", trace->waves[warp->index],
        program_offset(program, index),
        program->texts ? program->texts[index] : inst_text(program, index, text, sizeof text));
    add_sgprs(line, warp, &written);
    add_vgprs(line, warp, &written);
    add_specials(line, warp, &written);
    add_stores(line, "lds", &trace->lds);
    add_stores(line, "memory", &trace->memory);
    add(line, "}");
    trace->line(trace->user, line->data, line->length);
    trace->depths[warp->index] = *scalar_word(warp, SCALAR_MODE) >> MODE_CSP_SHIFT;
}

static void stored(struct exec_watcher *watcher, struct warp *warp, u32 lane, enum space space,
                   u64 address, const u8 *data, u32 bytes)
{
    struct raw_trace *trace = (struct raw_trace *)watcher;
    struct raw_text *to = space == SPACE_SHARED ? &trace->lds : &trace->memory;
    add(to, "%s{\"lane\":%u,\"address\":\"0x%" PRIx64 "\",\"hex\":\"", to->length ? "," : "", lane,
        address);
    for (u32 i = 0; i < bytes; i++)
        add(to, "%02x", data[i]);
    add(to, "\"}");
}

struct raw_trace *raw_trace_create(hd_trace_fn *line, void *user)
{
    struct raw_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        abort();
    *trace = (struct raw_trace){
        .watcher = {.stored = stored, .committed = committed},
        .line = line,
        .user = user,
    };
    return trace;
}

void raw_trace_group(struct raw_trace *trace, struct exec *exec, const struct si_state *state,
                     const u32 *waves, u32 count)
{
    exec->watcher = &trace->watcher;
    free(trace->depths);
    trace->depths = calloc(count, sizeof *trace->depths);
    if (!trace->depths)
        abort();
    trace->waves = waves;
    for (u32 i = 0; i < count; i++)
        trace->depths[i] = state->waves[waves[i]].mode >> MODE_CSP_SHIFT;
}

void raw_trace_destroy(struct raw_trace *trace)
{
    if (!trace)
        return;
    free(trace->text.data);
    free(trace->lds.data);
    free(trace->memory.data);
    free(trace->depths);
    free(trace);
}
