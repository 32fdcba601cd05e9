/*
 * The trace of a raw program: one JSON object for each committed instruction, with everything it
 * wrote. A register counts as written if the instruction names it as a destination, whatever the
 * value; a lane if the instruction was active in it.
 */
#include "exec/register_file.h"
#include "exec/scalars.h"
#include "gpu/raw/raw.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

void raw_add_bytes(struct raw_text *text, const char *bytes, size_t length)
{
    if (text->length + length >= text->capacity) {
        text->capacity = MAX(2 * text->capacity, text->length + length + 1);
        text->data = checked(realloc(text->data, text->capacity));
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void raw_add(struct raw_text *text, const char *format, ...)
{
    char piece[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    raw_add_bytes(text, piece, (size_t)MIN(length, (int)sizeof piece - 1));
}

/* The scalars (one bit each) and vector registers that an instruction wrote. */
struct written {
    u64 scalars[(SCALAR_COUNT + 63) / 64];
    u32 first, end;
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

static struct written find_written(const struct raw_line *line, const struct inst *inst)
{
    struct written written = {.lanes = line->lanes};
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 i = 0; i < count; i++) {
        struct operand o = list[i];
        if (inst->op == OP_fork && !o.count) { /* pushed onto the branch stack, if anything */
            if (raw_depth(line->warp) != line->depth)
                mark_scalars(&written, 4 * line->depth, 4);
            continue;
        }
        if (!o.count)
            o = operand_make(o.kind, line->moved, inst->op == OP_smovrel_dst_b64 ? 2 : 1);
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
        raw_add(line, "%s\"%u\":%u", any ? "," : ",\"sgpr\":{", s, *scalar_word(warp, s));
        any = true;
    }
    if (any)
        raw_add(line, "}");
}

static void add_vgprs(struct raw_text *line, const struct warp *warp, const struct written *written)
{
    if (written->first == written->end)
        return;
    raw_add(line, ",\"vgpr\":{");
    for (u32 v = written->first; v < written->end; v++) {
        raw_add(line, "%s\"%u\":[", v > written->first ? "," : "", v);
        u32 row[MAX_LANES];
        register_read(warp, v, row);
        for (u32 lane = 0; lane < warp->exec->image->warp_size; lane++) {
            const char *comma = lane ? "," : "";
            if (written->lanes >> lane & 1)
                raw_add(line, "%s%u", comma, row[lane]);
            else
                raw_add(line, "%snull", comma);
        }
        raw_add(line, "]");
    }
    raw_add(line, "}");
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
            raw_add(line, ",\"%s\":\"0x%016" PRIx64 "\"", specials[i].name,
                    *scalar_word(warp, s) | (u64)*scalar_word(warp, s + 1) << 32);
        else if (!specials[i].pair && has_scalar(written, s))
            raw_add(line, ",\"%s\":%u", specials[i].name, *scalar_word(warp, s));
    }
}

static void add_stores(struct raw_text *line, const char *name, bool shared,
                       const struct raw_stores *stores)
{
    bool any = false;
    for (u32 i = 0; i < stores->list.count; i++) {
        const struct raw_stored *store = &stores->list.data[i];
        if ((store->space == SPACE_SHARED) != shared)
            continue;
        if (!any)
            raw_add(line, ",\"%s\":[", name);
        raw_add(line, "%s{\"lane\":%u,\"address\":\"0x%" PRIx64 "\",\"hex\":\"", any ? "," : "",
                store->lane, store->address);
        for (u32 b = 0; b < store->bytes; b++)
            raw_add(line, "%02x", store->data[b]);
        raw_add(line, "\"}");
        any = true;
    }
    if (any)
        raw_add(line, "]");
}

static int by_lane(const void *a, const void *b)
{
    const struct raw_stored *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

u32 raw_depth(const struct warp *warp)
{
    return *scalar_word(warp, SCALAR_MODE) >> MODE_CSP_SHIFT;
}

void raw_line(struct raw_text *to, const struct raw_line *line, struct raw_stores *stores)
{
    const struct warp *warp = line->warp;
    const struct program *program = warp->exec->image->program;
    const struct written written = find_written(line, &program->insts[line->inst]);
    char text[256];
    raw_add(to, "{\"wave\":%u,\"pc\":%" PRIu64 ",\"text\":\"%s\"", line->wave,
            program_offset(program, line->inst),
            program->texts ? program->texts[line->inst]
                           : inst_text(program, line->inst, text, sizeof text));
    add_sgprs(to, warp, &written);
    add_vgprs(to, warp, &written);
    add_specials(to, warp, &written);
    if (stores->list.count)
        qsort(stores->list.data, stores->list.count, sizeof *stores->list.data, by_lane);
    add_stores(to, "lds", true, stores);
    add_stores(to, "memory", false, stores);
    raw_add(to, "}");
    stores->list.count = 0;
}

static lane_set lanes_written(const struct warp *warp, const struct inst *inst)
{
    if (inst->op != OP_writelane)
        return warp->active;
    return 1ull << scalar_read(warp, inst->src[1], 0) % warp->exec->image->warp_size;
}

static void committed(struct exec_watcher *watcher, struct warp *warp, u32 index)
{
    struct raw_trace *trace = (struct raw_trace *)watcher;
    const struct inst *inst = &warp->exec->image->program->insts[index];
    const struct raw_line line = {
        .warp = warp,
        .wave = trace->waves[warp->index],
        .inst = index,
        .lanes = lanes_written(warp, inst),
        .moved = inst->dst[0].index + *scalar_word(warp, SCALAR_M0),
        .depth = trace->depths[warp->index],
    };
    trace->text.length = 0;
    raw_line(&trace->text, &line, &trace->stores);
    trace->line(trace->user, trace->text.data, trace->text.length);
    trace->depths[warp->index] = raw_depth(warp);
}

void raw_store(struct raw_stores *stores, u32 lane, enum space space, u64 address, const u8 *data,
               u32 bytes)
{
    struct raw_stored *store = vec_push(&stores->list);
    assert(bytes <= sizeof store->data);
    *store = (struct raw_stored){lane, stores->list.count, space, address, bytes};
    memcpy(store->data, data, bytes);
}

static void stored(struct exec_watcher *watcher, struct warp *warp, u32 lane, enum space space,
                   u64 address, const u8 *data, u32 bytes)
{
    raw_store(&((struct raw_trace *)watcher)->stores, lane, space, address, data, bytes);
}

struct raw_trace *raw_trace_create(hd_trace_fn *line, void *user)
{
    struct raw_trace *trace = checked(calloc(1, sizeof *trace));
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
    trace->depths = checked(calloc(count, sizeof *trace->depths));
    trace->waves = waves;
    for (u32 i = 0; i < count; i++)
        trace->depths[i] = state->waves[waves[i]].mode >> MODE_CSP_SHIFT;
}

void raw_trace_destroy(struct raw_trace *trace)
{
    if (!trace)
        return;
    free(trace->text.data);
    vec_free(&trace->stores.list);
    free(trace->depths);
    free(trace);
}
