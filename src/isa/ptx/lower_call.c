/*
 * Calls and frames.
 *
 * A callee's frame follows its caller's: return values from offset 0, then parameters, each at its
 * own alignment. The caller writes arguments at [own frame + own size + offset], moves the stack
 * pointer up by its own size, calls, moves it back and reads results at the same place. Registers
 * that live across the call are saved by the allocator (regalloc_calls.c).
 *
 *  K1  A .param variable used by exactly one call, with neither a label nor another call between
 *      its first and last mention, *is* its place in the callee's frame; any other gets a slot of
 *      its own and is copied at the call.
 *  K2  A guarded call is a branch around an unguarded one.
 *  K3  System calls take the same argument block, but inside the caller's own frame, and save
 *      nothing.
 */
#include "isa/ptx/lower.h"
#include <stdlib.h>

#define SYSCALL_BYTES 64u

static const struct {
    const char *name;
    u8 syscall, returns, params;
} syscalls[] = {
    {"vprintf", SYSCALL_VPRINTF, 1, 2},
    {"__assertfail", SYSCALL_ASSERTFAIL, 0, 5},
    {"malloc", SYSCALL_MALLOC, 1, 1},
    {"free", SYSCALL_FREE, 0, 1},
};

static int syscall_find(const struct callable *unit)
{
    for (size_t i = 0; i < ARRAY_LEN(syscalls); i++)
        if (!unit->ast->has_body && !strcmp(syscalls[i].name, unit->ast->name))
            return (int)i;
    return -1;
}

bool is_syscall(const struct callable *unit)
{
    return syscall_find(unit) >= 0;
}

#define SIGNATURE_LIMIT (1u << 20)

static bool place_slots(struct lower *l, const struct ptx_declaration *list, u32 count,
                        struct param_slot *slots, u32 *end)
{
    for (u32 i = 0; i < count; i++) {
        const struct ptx_declaration *d = &list[i];
        u64 size = declaration_size(d), align = declaration_align(d);
        if (type_parse(d->type) == TYPE_PRED)
            return lower_error(l, d->place, "predicates cannot be passed to functions");
        if (size > SIGNATURE_LIMIT || align > 4096 || !is_pow2(align))
            return lower_error(l, d->place, "parameter '%s' is too large", d->name);
        u64 offset = align_up(*end, align);
        if (offset + size > SIGNATURE_LIMIT)
            return lower_error(l, d->place, "the parameters need more than %u bytes",
                               SIGNATURE_LIMIT);
        slots[i] = (struct param_slot){d, (u32)offset, (u32)size, (u32)align};
        *end = (u32)(offset + size);
    }
    return true;
}

bool signature_layout(struct lower *l, const struct ptx_function *ast, struct signature *s)
{
    s->return_count = ast->return_count;
    s->param_count = ast->param_count;
    s->returns = arena_array(l->arena, struct param_slot, s->return_count + 1);
    s->params = arena_array(l->arena, struct param_slot, s->param_count + 1);
    s->bytes = 0;
    return place_slots(l, ast->returns, ast->return_count, s->returns, &s->bytes) &&
           place_slots(l, ast->params, ast->param_count, s->params, &s->bytes);
}

/* The element type for moving a slot that fits into a register. */
static enum type slot_type(const struct param_slot *slot)
{
    return slot->size == 8   ? TYPE_B64
           : slot->size == 4 ? TYPE_B32
           : slot->size == 2 ? TYPE_B16
                             : TYPE_B8;
}

static bool define_slot(struct fn *fn, const struct param_slot *slot, bool load)
{
    const struct ptx_declaration *d = slot->declaration;
    if (!strcmp(d->space, "reg")) {
        if (!declare(fn, d))
            return false;
        if (!load)
            return true;
        u32 id = register_id(fn, scope_find(fn, d->name), 0);
        frame_access(fn, OP_ld, vreg_operand(fn, id), slot_type(slot), slot->offset, LATE_NONE);
        return true;
    }
    struct symbol *symbol = scope_define(fn, d->name, SYMBOL_PARAM, d->place);
    if (!symbol)
        return false;
    symbol->declaration = d;
    symbol->offset = slot->offset;
    symbol->size = slot->size;
    return true;
}

bool function_prologue(struct fn *fn)
{
    if (fn->out->is_kernel) {
        for (u32 i = 0; i < fn->out->param_count; i++) {
            const struct parameter *p = &fn->out->params[i];
            struct param_slot slot = {&fn->ast->params[i], p->offset, p->size, p->align};
            if (!define_slot(fn, &slot, false))
                return false;
        }
        return true;
    }
    const struct signature *s = &fn->unit->signature;
    fn->frame = s->bytes;
    for (u32 i = 0; i < s->return_count; i++)
        if (!define_slot(fn, &s->returns[i], false))
            return false;
    for (u32 i = 0; i < s->param_count; i++)
        if (!define_slot(fn, &s->params[i], true))
            return false;
    return true;
}

bool lower_ret(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 0, 0))
        return false;
    const struct signature *s = &fn->unit->signature;
    for (u32 i = 0; !fn->out->is_kernel && i < s->return_count; i++) {
        const struct ptx_declaration *d = s->returns[i].declaration;
        if (strcmp(d->space, "reg") != 0)
            continue;
        u32 index;
        u32 id = register_id(fn, register_find(fn, d->name, NULL, &index), 0);
        frame_access(fn, OP_st, vreg_operand(fn, id), slot_type(&s->returns[i]),
                     s->returns[i].offset, LATE_NONE);
        fn->insts.data[fn->insts.count - 1].guard = m->guard;
    }
    emit(fn, m, OP_ret);
    return true;
}

/* ---- which .param variables are their place in the callee's frame (K1) ---- */

struct argument_use {
    u32 labels_first, labels_last, calls_first, calls_last;
    u32 call_uses;
    bool seen, address_taken;
};

struct call_plan {
    struct name_table names; /* name -> symbol */
    u32 labels, calls;
    const struct ptx_instruction *call; /* the call whose operands are being visited */
    bool in_returns;
};

static void plan_mention(struct call_plan *plan, const struct ptx_operand *o, u32 position)
{
    struct symbol *symbol = o->name ? names_get(&plan->names, o->name, strlen(o->name)) : NULL;
    if (!symbol)
        return;
    struct argument_use *use = symbol->use;
    if (!use->seen) {
        use->seen = true;
        use->labels_first = plan->labels;
        use->calls_first = plan->calls - (plan->call ? 1 : 0);
    }
    use->labels_last = plan->labels;
    use->calls_last = plan->calls;
    if (plan->call && o->kind == PTX_NAME) {
        use->call_uses++;
        symbol->call = plan->call;
        symbol->position = position;
        symbol->is_return = plan->in_returns;
    } else if (o->kind != PTX_ADDRESS) {
        use->address_taken = true;
    }
}

static void plan_operand(struct call_plan *plan, const struct ptx_operand *o, u32 position)
{
    plan_mention(plan, o, position);
    for (u32 i = 0; i < o->item_count; i++)
        plan_operand(plan, &o->items[i], i);
}

static void plan_walk(struct call_plan *plan, const struct ptx_statement *items, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (items[i].kind == PTX_LABEL)
            plan->labels++;
        if (items[i].kind == PTX_SCOPE)
            plan_walk(plan, items[i].items, items[i].item_count);
        if (items[i].kind != PTX_STATEMENT)
            continue;
        const struct ptx_instruction *in = &items[i].instruction;
        bool is_call = !strcmp(in->opcode, "call");
        plan->calls += is_call;
        plan->call = is_call ? in : NULL;
        for (u32 k = 0; k < in->operand_count; k++) {
            plan->in_returns = k == 0 && in->operands[0].kind == PTX_LIST;
            plan_operand(plan, &in->operands[k], 0);
        }
        plan->call = NULL;
    }
}

void arguments_plan(struct fn *fn, const struct ptx_statement *items, u32 count)
{
    struct call_plan plan = {0};
    for (u32 i = 0; i < count; i++) {
        if (items[i].kind != PTX_DECLARATION || strcmp(items[i].declaration.space, "param") != 0)
            continue;
        const char *name = items[i].declaration.name;
        struct symbol *symbol = names_get(&fn->scope->names, name, strlen(name));
        if (!symbol || symbol->kind != SYMBOL_ARGUMENT)
            continue;
        symbol->use = arena_new(fn->l->arena, struct argument_use);
        names_put(&plan.names, name, symbol);
    }
    if (!plan.names.count)
        return;
    plan_walk(&plan, items, count);
    for (u32 i = 0; i < plan.names.capacity; i++) {
        struct symbol *symbol = plan.names.entries[i].value;
        if (!plan.names.entries[i].name)
            continue;
        const struct argument_use *use = symbol->use;
        symbol->direct = use->call_uses == 1 && !use->address_taken &&
                         use->labels_first == use->labels_last &&
                         use->calls_last - use->calls_first == 1;
        if (!symbol->direct) {
            symbol->offset = align_up(fn->frame, symbol->align);
            fn->frame = (u32)(symbol->offset + symbol->size);
        }
    }
    names_free(&plan.names);
}

/* ---- a call ---- */

struct call {
    const struct ptx_operand *returns, *target, *args, *prototype; /* may be NULL, except target */
    const struct signature *signature;
    int function; /* index, or -1: indirect */
    int syscall;  /* index in syscalls, or -1 */
};

static const struct signature *prototype_signature(struct fn *fn, const struct ptx_operand *o)
{
    struct symbol *symbol = o && o->kind == PTX_NAME ? scope_find(fn, o->name) : NULL;
    struct signature *s = arena_new(fn->l->arena, struct signature);
    if (symbol && symbol->kind == SYMBOL_PROTOTYPE && symbol->statement->prototype)
        return signature_layout(fn->l, symbol->statement->prototype, s) ? s : NULL;
    if (symbol && symbol->kind == SYMBOL_CALLTARGETS && symbol->statement->target_count) {
        const char *name = symbol->statement->targets[0];
        struct symbol *target = scope_find(fn, name);
        if (target && target->kind == SYMBOL_FUNCTION)
            return &fn->l->units[target->index].signature;
    }
    return NULL;
}

static bool call_parse(struct fn *fn, const struct ptx_instruction *in, struct call *call)
{
    *call = (struct call){.function = -1, .syscall = -1};
    u32 at = 0, n = in->operand_count;
    if (at < n && in->operands[at].kind == PTX_LIST)
        call->returns = &in->operands[at++];
    if (at >= n || in->operands[at].kind != PTX_NAME)
        return lower_error(fn->l, in->place, "call needs a function or a register to call");
    call->target = &in->operands[at++];
    if (at < n && in->operands[at].kind == PTX_LIST)
        call->args = &in->operands[at++];
    if (at < n)
        call->prototype = &in->operands[at++];
    if (operand_is_register(fn, call->target)) {
        call->signature = prototype_signature(fn, call->prototype);
        if (!call->signature)
            return lower_error(fn->l, call->target->place,
                               "an indirect call needs a .callprototype or .calltargets");
        return true;
    }
    struct symbol *symbol = scope_find(fn, call->target->name);
    if (!symbol || symbol->kind != SYMBOL_FUNCTION)
        return lower_error(fn->l, call->target->place, "'%s' is not a function",
                           call->target->name);
    if (fn->l->program->functions[symbol->index].is_kernel)
        return lower_error(fn->l, call->target->place, "'%s' is a kernel and cannot be called",
                           call->target->name);
    call->function = (int)symbol->index;
    call->signature = &fn->l->units[symbol->index].signature;
    call->syscall = syscall_find(&fn->l->units[symbol->index]);
    return true;
}

/* The address of a call's argument block. */
static void block_base(struct fn *fn, const struct call *call, i64 *offset, enum late *late)
{
    *offset = 0;
    *late = LATE_OFFSET;
    if (call->syscall < 0)
        return;
    if (fn->syscall_base == UINT32_MAX) {
        fn->syscall_base = (u32)align_up(fn->frame, 16);
        fn->frame = fn->syscall_base + SYSCALL_BYTES;
    }
    *offset = fn->syscall_base;
    *late = LATE_NONE;
}

bool argument_address(struct fn *fn, struct symbol *symbol, struct ptx_place place, i64 *offset,
                      enum late *late)
{
    *late = LATE_NONE;
    *offset = (i64)symbol->offset;
    if (!symbol->direct)
        return true;
    struct call call;
    if (!call_parse(fn, symbol->call, &call))
        return false;
    const struct signature *s = call.signature;
    if (symbol->position >= (symbol->is_return ? s->return_count : s->param_count))
        return lower_error(fn->l, place, "'%s' has no counterpart in the function called",
                           symbol->name);
    block_base(fn, &call, offset, late);
    *offset += symbol->is_return ? s->returns[symbol->position].offset
                                 : s->params[symbol->position].offset;
    return true;
}

/* Copies between two places in memory, in the largest pieces both alignments allow. */
static void copy_bytes(struct fn *fn, u8 from_space, i64 from, enum late from_late, i64 to,
                       enum late to_late, u32 size, u32 align)
{
    for (u32 done = 0; done < size;) {
        u32 piece = MIN(MIN(align, 8u), (size - done) & -(size - done));
        if (size - done >= 8 && align >= 8)
            piece = 8;
        else if (size - done >= 4 && align >= 4)
            piece = 4;
        enum type type = piece == 8   ? TYPE_B64
                         : piece == 4 ? TYPE_B32
                         : piece == 2 ? TYPE_B16
                                      : TYPE_B8;
        struct operand t = vreg_operand(fn, vreg_new(fn, piece == 8 ? 2 : 1, TYPE_NONE));
        frame_access(fn, OP_ld, t, type, from + done, from_late);
        if (from_space == SPACE_PARAM) {
            struct inst *last = &fn->insts.data[fn->insts.count - 1];
            last->space = SPACE_PARAM;
            last->src[0] = operand_none();
        }
        frame_access(fn, OP_st, t, type, to + done, to_late);
        done += piece;
    }
}

static bool pass_argument(struct fn *fn, const struct call *call, const struct ptx_operand *o,
                          const struct param_slot *slot)
{
    i64 base;
    enum late late;
    block_base(fn, call, &base, &late);
    struct symbol *symbol =
        o->kind == PTX_NAME && !operand_is_register(fn, o) ? scope_find(fn, o->name) : NULL;
    if (symbol && (symbol->kind == SYMBOL_ARGUMENT || symbol->kind == SYMBOL_PARAM)) {
        if (symbol->kind == SYMBOL_ARGUMENT && symbol->direct)
            return true;
        bool from_kernel = symbol->kind == SYMBOL_PARAM && fn->out->is_kernel;
        copy_bytes(fn, from_kernel ? SPACE_PARAM : SPACE_LOCAL, (i64)symbol->offset, LATE_NONE,
                   base + slot->offset, late, (u32)MIN(symbol->size, slot->size),
                   MIN(slot->align, declaration_align(symbol->declaration)));
        return true;
    }
    if (slot->size > 8 || !is_pow2(slot->size))
        return lower_error(fn->l, o->place, "a register cannot be passed for '%s' of %u bytes",
                           slot->declaration->name ? slot->declaration->name : "_", slot->size);
    struct operand value;
    enum type type = type_parse(slot->declaration->type);
    if (!lower_source(fn, o, type, FIT_WIDER, &value))
        return false;
    if (value.kind == OPERAND_VECTOR && value.count > (slot->size + 3) / 4) {
        struct operand low = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
        struct inst *inst = emit_plain(fn, OP_unpack_b64);
        inst->dst[0] = low;
        inst->src[0] = value;
        value = low;
    }
    frame_access(fn, OP_st, value, slot_type(slot), base + slot->offset, late);
    return true;
}

static bool take_result(struct fn *fn, const struct call *call, const struct ptx_operand *o,
                        const struct param_slot *slot)
{
    i64 base;
    enum late late;
    block_base(fn, call, &base, &late);
    struct symbol *symbol =
        o->kind == PTX_NAME && !operand_is_register(fn, o) ? scope_find(fn, o->name) : NULL;
    if (symbol && (symbol->kind == SYMBOL_ARGUMENT ||
                   (symbol->kind == SYMBOL_PARAM && !fn->out->is_kernel))) {
        if (symbol->kind == SYMBOL_PARAM || !symbol->direct)
            copy_bytes(fn, SPACE_LOCAL, base + slot->offset, late, (i64)symbol->offset, LATE_NONE,
                       (u32)MIN(symbol->size, slot->size),
                       MIN(slot->align, declaration_align(symbol->declaration)));
        return true;
    }
    struct operand value;
    if (!lower_dest(fn, o, type_parse(slot->declaration->type), FIT_EXACT, &value))
        return false;
    if (value.kind != OPERAND_NONE)
        frame_access(fn, OP_ld, value, slot_type(slot), base + slot->offset, late);
    return true;
}

static void move_stack(struct fn *fn, enum op op)
{
    struct inst *inst = emit_plain(fn, op);
    inst->dst[0] = inst->src[0] = vreg_operand(fn, 0);
    inst->late = LATE_SIZE;
}

static bool emit_call(struct fn *fn, const struct ptx_instruction *in, const struct call *call)
{
    if (call->syscall >= 0) {
        const struct signature *s = call->signature;
        if (s->bytes > SYSCALL_BYTES || s->return_count != syscalls[call->syscall].returns ||
            s->param_count != syscalls[call->syscall].params)
            return lower_error(fn->l, in->place, "'%s' is declared with unexpected parameters",
                               call->target->name);
        i64 base;
        enum late late;
        block_base(fn, call, &base, &late);
        struct inst *inst = emit_plain(fn, OP_syscall);
        inst->key = syscalls[call->syscall].syscall;
        inst->src[0] = frame_base(fn);
        inst->imm = base;
        inst->space = SPACE_LOCAL;
        return true;
    }
    if (call->function >= 0 && !fn->l->units[call->function].ast->has_body) {
        return lower_unsupported_text(
            fn, in,
            arena_printf(fn->l->arena, "calls %s, which has no definition in this module",
                         call->target->name));
    }
    struct operand target = operand_none();
    if (call->function < 0) {
        enum type type = lower_address_words(fn->l) == 1 ? TYPE_U32 : TYPE_U64;
        if (!lower_source(fn, call->target, type, FIT_EXACT, &target))
            return false;
    }
    fn->has_calls = true;
    move_stack(fn, OP_add_b32);
    struct inst *inst = emit_plain(fn, call->function < 0 ? OP_calli : OP_call);
    inst->src[0] = target;
    inst->imm = call->function < 0 ? 0 : call->function;
    move_stack(fn, OP_sub_b32);
    return true;
}

bool lower_call(struct fn *fn, struct match *m)
{
    struct call call;
    if (!call_parse(fn, m->in, &call))
        return false;
    const struct signature *s = call.signature;
    u32 args = call.args ? call.args->item_count : 0;
    u32 results = call.returns ? call.returns->item_count : 0;
    if (args != s->param_count || results > s->return_count)
        return lower_error(fn->l, m->in->place,
                           "'%s' takes %u arguments and returns %u values, not %u and %u",
                           call.target->name, s->param_count, s->return_count, args, results);
    u32 around = UINT32_MAX;
    if (m->guard.kind != OPERAND_NONE) {
        around = fn->labels.count;
        struct label *label = vec_push(&fn->labels);
        label->at = NO_INST;
        struct inst *branch = emit(fn, m, OP_bra);
        branch->imm = around;
        branch->guard.neg ^= 1;
    }
    for (u32 i = 0; i < args; i++)
        if (!pass_argument(fn, &call, &call.args->items[i], &s->params[i]))
            return false;
    if (!emit_call(fn, m->in, &call))
        return false;
    for (u32 i = 0; i < results; i++)
        if (!take_result(fn, &call, &call.returns->items[i], &s->returns[i]))
            return false;
    if (around != UINT32_MAX)
        fn->labels.data[around].at = fn->insts.count;
    return true;
}
