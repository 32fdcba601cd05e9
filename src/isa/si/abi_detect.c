/*
 * Which library a code object was compiled with: see abi.h for the reasons.
 *
 * Follows the two pointers through each function in instruction order: copies and sums with
 * constants are tracked, any other write makes a register unknown. Branches are not followed: a
 * load seen here really uses the pointer, unless a jump skips a redefinition, so the evidence of
 * the whole program is combined.
 */
#include "isa/si/abi.h"
#include "isa/si/si.h"

#include <stdlib.h>

enum pointer {
    POINTER_NONE,
    POINTER_ARGUMENTS,
    POINTER_PACKET
};

enum {
    PAIRS = SI_SGPRS / 2,
    /* in called functions: LLVM's calling convention for AMD GPUs */
    CALLEE_PACKET = 4,
    CALLEE_HIDDEN = 8
};

/* The known value of a scalar pair: a pointer + offset. */
struct known_pointer {
    enum pointer pointer;
    i64 offset; /* arguments: from the first hidden one */
};

struct evidence {
    bool odd;    /* a load begins 4 or 12 bytes into the hidden arguments */
    bool beyond; /* a load reaches beyond their first 16 bytes */
    bool packet; /* a load from the packet */
    bool setup;  /* a load covers the packet's first word */
};

struct abi_scan {
    struct known_pointer pairs[PAIRS];
    struct evidence *evidence;
};

static struct known_pointer *pair_of(struct abi_scan *scan, const struct si_operand *operand)
{
    return operand->words == 2 && operand->code < SI_SGPRS && operand->code % 2 == 0
               ? &scan->pairs[operand->code / 2]
               : NULL;
}

static void forget(struct abi_scan *scan, const struct si_inst *inst)
{
    for (u32 i = 0; i < inst->dst_count; i++) {
        u32 first = inst->dst[i].code, end = first + inst->dst[i].words;
        for (u32 reg = first; reg < end && reg < SI_SGPRS; reg++)
            scan->pairs[reg / 2].pointer = POINTER_NONE;
    }
}

static void see_load(struct abi_scan *scan, const struct si_inst *inst)
{
    const struct known_pointer *base = pair_of(scan, &inst->src[0]);
    struct evidence *evidence = scan->evidence;
    if (!base || base->pointer == POINTER_NONE || inst->src[1].code != SI_NONE)
        return;
    i64 start = base->offset + (i64)inst->imm * 4, end = start + (i64)inst->dst[0].words * 4;
    if (base->pointer == POINTER_PACKET) {
        evidence->packet |= start < 64 && end > 0;
        evidence->setup |= start <= 0 && end > 0;
        return;
    }
    evidence->odd |= start == 4 || start == 12;
    evidence->beyond |= end > 16 && start < 256;
}

/* The value of a constant operand. */
static bool constant(const struct si_inst *inst, const struct si_operand *operand, i64 *value)
{
    if (operand->code == SI_LITERAL)
        *value = (i32)inst->literal;
    else if (operand->code >= SI_INT && operand->code < SI_INT_NEG)
        *value = operand->code - SI_INT;
    else if (operand->code >= SI_INT_NEG && operand->code < SI_INT_NEG + 16)
        *value = SI_INT_NEG - 1 - (i64)operand->code;
    else
        return false;
    return true;
}

/* The lower half of pointer + constant; the upper half is assumed to follow. */
static bool sum(struct abi_scan *scan, const struct si_inst *inst, struct known_pointer *result)
{
    i64 value;
    u32 low = inst->src[0].code;
    if (low >= SI_SGPRS || low % 2 || inst->dst[0].code % 2 ||
        !constant(inst, &inst->src[1], &value))
        return false;
    *result = scan->pairs[low / 2];
    result->offset += value;
    return result->pointer != POINTER_NONE;
}

static void see(struct abi_scan *scan, const struct si_inst *inst, struct known_pointer *pending)
{
    enum si_row row = (enum si_row)(inst->op - si_ops);
    struct known_pointer result = {POINTER_NONE};
    if (inst->format == SI_SMRD && row >= SI_OP_s_load_dword && row <= SI_OP_s_load_dwordx16)
        see_load(scan, inst);
    if (row == SI_OP_s_mov_b64) {
        const struct known_pointer *from = pair_of(scan, &inst->src[0]);
        result = from ? *from : result;
    }
    if (row == SI_OP_s_addc_u32 && inst->dst[0].code % 2 == 1)
        result = *pending;
    if (row != SI_OP_s_add_u32 || !sum(scan, inst, pending))
        pending->pointer = POINTER_NONE;
    forget(scan, inst);
    if (result.pointer != POINTER_NONE && inst->dst[0].code < SI_SGPRS)
        scan->pairs[inst->dst[0].code / 2] = result;
}

static void scan_function(const struct code_object *object, const struct code_function *function,
                          struct abi_scan *scan)
{
    struct known_pointer pending = {POINTER_NONE};
    const u8 *code = object->text + (function->address - object->text_address);
    for (u64 at = 0; at + 4 <= function->size;) {
        struct si_inst inst;
        struct error unused;
        u32 words[2] = {0};
        size_t count = MIN(function->size - at, (u64)8) / 4;
        memcpy(words, code + at, count * 4);
        if (!si_decode(words, count, function->address + at, &inst, &unused))
            return;
        see(scan, &inst, &pending);
        at += inst.size;
    }
}

static void scan_kernel(const struct code_object *object, const struct code_kernel *kernel,
                        struct evidence *evidence)
{
    const struct kernel_descriptor *d = &kernel->descriptor;
    u32 hidden = abi_hidden_start(object, kernel);
    struct abi_scan scan = {.evidence = evidence};
    u32 next = 4 * d->private_buffer;
    if (d->dispatch_ptr) {
        scan.pairs[next / 2] = (struct known_pointer){POINTER_PACKET, 0};
        next += 2;
    }
    next += 2 * d->queue_ptr;
    if (d->kernarg_ptr && hidden != NO_PLACE)
        scan.pairs[next / 2] = (struct known_pointer){POINTER_ARGUMENTS, -(i64)hidden};
    scan_function(object, &object->functions[kernel->function], &scan);
}

static struct evidence scan_object(const struct code_object *object)
{
    struct evidence evidence = {0};
    bool *seen = checked(calloc((size_t)object->function_count + 1, sizeof *seen));
    for (u32 i = 0; i < object->kernel_count; i++) {
        u32 function = object->kernels[i].function;
        if (!seen[function]) /* once: a hostile file may have many descriptors of it */
            scan_kernel(object, &object->kernels[i], &evidence);
        seen[function] = true;
    }
    free(seen);
    for (u32 i = 0; i < object->function_count; i++) {
        struct abi_scan scan = {.evidence = &evidence};
        scan.pairs[CALLEE_PACKET / 2] = (struct known_pointer){POINTER_PACKET, 0};
        scan.pairs[CALLEE_HIDDEN / 2] = (struct known_pointer){POINTER_ARGUMENTS, 0};
        if (!object->functions[i].is_kernel)
            scan_function(object, &object->functions[i], &scan);
    }
    return evidence;
}

/* 1: AMD's own compiler; -1: clang up to 14, even if only for the library; else 0. */
static int comment_says(const struct code_producer *producer)
{
    int verdict = 0;
    for (u32 i = 0; i < producer->ident_count; i++) {
        const char *version = strstr(producer->idents[i], "clang version ");
        if (strstr(producer->idents[i], "AMD clang"))
            return 1;
        if (version && strtol(version + strlen("clang version "), NULL, 10) <= 14)
            verdict = -1;
    }
    return verdict;
}

/* Positive: ROCm; negative: libclc; 0: unknown. */
static int judge(const struct code_object *object, const char **why)
{
    if (object->producer.rocm_names != object->producer.libclc_names) {
        *why = "the names of its functions";
        return object->producer.rocm_names ? 1 : -1;
    }
    struct evidence evidence = scan_object(object);
    *why = "the arguments that its code loads";
    if (object->version >= 5) {
        if (evidence.packet != evidence.beyond)
            return evidence.beyond ? 1 : -1;
    } else {
        bool rocm = evidence.beyond || evidence.setup;
        if (rocm != evidence.odd)
            return rocm ? 1 : -1;
    }
    *why = "the compilers that it names";
    return comment_says(&object->producer);
}

enum abi_hidden abi_detect(const struct code_object *object, const char **why)
{
    const char *reason;
    int verdict = judge(object, &reason);
    if (!verdict)
        reason = "its code object version, in the absence of other evidence";
    if (why)
        *why = reason;
    if (verdict < 0)
        return ABI_LIBCLC;
    return object->version >= 5 ? ABI_ROCM5 : ABI_ROCM4;
}
