/*
 * One instruction as text: "@!P0 ld.global.v4.f32 R4:R7, [R2:R3+16]".
 *
 * The op's own text comes first, then what its row leaves open: space, vector, types, rounding,
 * modifiers, keys. Registers are R (vector), P (mask); constants are shown by value.
 */
#include "ir/program.h"
#include <stdarg.h>
#include <stdio.h>

struct print_text {
    char *buffer;
    size_t size, used;
};

static void put(struct print_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct print_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->buffer + t->used, t->size - t->used, format, args);
    va_end(args);
    if (n > 0)
        t->used = MIN(t->used + (size_t)n, t->size - 1);
}

static const char *const compare_names[] = {"eq",  "ne",  "lt",    "le",  "gt",  "ge",
                                            "equ", "neu", "ltu",   "leu", "gtu", "geu",
                                            "num", "nan", "false", "true"};
static const char *const bool_names[] = {"", ".and", ".or", ".xor"};
static const char *const atomic_names[] = {"add",   "min",  "max",  "and",  "or",   "xor",
                                           "exch",  "cas",  "inc",  "dec",  "sub",  "rsub",
                                           "mskor", "fmin", "fmax", "fcas", "store"};
static const char *const space_names[SPACE_COUNT] = {"",       ".global", ".shared",
                                                     ".local", ".const",  ".param"};
static const char *const rounding_names[] = {"", ".rz", ".rm", ".rp", ".rna"};

static const char *pick(const char *const *names, size_t count, u32 index)
{
    return index < count ? names[index] : "?";
}
#define PICK(names, index) pick(names, ARRAY_LEN(names), index)

static void put_constant(struct print_text *t, const struct program *p, struct operand o)
{
    for (u32 f = 0; f < p->fixup_count; f++) {
        const struct constant_fixup *fixup = &p->fixups[f];
        if (fixup->index != o.index)
            continue;
        put(t, "%s",
            fixup->kind == RELOC_FUNCTION ? p->functions[fixup->target].name
                                          : p->variables[fixup->target].name);
        if (fixup->addend)
            put(t, "%+lld", (long long)fixup->addend);
        return;
    }
    if ((u32)o.index + o.count > p->constant_count) {
        put(t, "constant %u", o.index);
        return;
    }
    if (o.count > 2)
        put(t, "{");
    for (u32 i = o.count; i-- > 0;) {
        u32 value = p->constants[o.index + (o.count > 2 ? o.count - 1 - i : i)];
        if (o.count == 2 && i == 1) {
            put(t, "0x%llx", (unsigned long long)value << 32 | p->constants[o.index]);
            return;
        }
        put(t, value < 1024 ? "%u" : "0x%x", value);
        if (o.count > 2 && i)
            put(t, ", ");
    }
    if (o.count > 2)
        put(t, "}");
}

static void put_operand(struct print_text *t, const struct program *p, struct operand o, bool mask)
{
    if (o.neg)
        put(t, mask ? "!" : "-");
    if (o.abs)
        put(t, "|");
    switch (o.kind) {
    case OPERAND_VECTOR:
    case OPERAND_SCALAR:
        put(t, "%c%u", o.kind == OPERAND_VECTOR ? 'R' : 'S', o.index);
        if (o.count > 1)
            put(t, ":%c%u", o.kind == OPERAND_VECTOR ? 'R' : 'S', o.index + o.count - 1);
        break;
    case OPERAND_MASK:
        put(t, "P%u", o.index);
        break;
    case OPERAND_LANEID:
        put(t, "lane");
        break;
    case OPERAND_CONST:
        if (mask)
            put(t, o.index ? "true" : "false");
        else
            put_constant(t, p, o);
        break;
    default:
        put(t, "_");
    }
    if (o.abs)
        put(t, "|");
}

static void put_mods(struct print_text *t, const struct inst *inst)
{
    static const struct {
        u32 bit;
        const char *text;
    } mods[] = {{MOD_APPROX, ".approx"},
                {MOD_FTZ, ".ftz"},
                {MOD_SAT, ".sat"},
                {MOD_NAN, ".NaN"},
                {MOD_XORSIGN, ".xorsign.abs"},
                {MOD_RELU, ".relu"},
                {MOD_VOLATILE, ".volatile"},
                {MOD_READ_ONLY, ".nc"},
                {MOD_FAR, ".cg"},
                {MOD_MODE, ".mode"},
                {MOD_FTZ_IN, ".ftz.in"},
                {MOD_FTZ_OUT, ".ftz.out"},
                {MOD_IEEE, ".ieee"},
                {MOD_KEEP_NAN, ".keepnan"},
                {MOD_EXEC, ".exec"}};
    static const char *const scales[] = {"", ".x2", ".x4", ".half"};
    if (op_info[inst->op].flags & OPF_FLOAT)
        put(t, "%s%s", PICK(rounding_names, inst->rounding),
            inst->op == OP_cvt && inst->key ? ".integral" : "");
    put(t, "%s", PICK(scales, inst->scale));
    for (size_t i = 0; i < ARRAY_LEN(mods); i++)
        if (inst->mods & mods[i].bit)
            put(t, "%s", mods[i].text);
}

/* Appends the buffer flags, ".index.offset.lds", and the conversion of the data. */
static void put_buffer(struct print_text *t, const struct inst *inst)
{
    static const char *const flags[] = {".index",  ".offset",   ".addr64",   ".lds",
                                        ".status", ".coherent", ".streaming"};
    static const char *const formats[] = {"", ".format", ".typed"};
    for (u32 i = 0; i < ARRAY_LEN(flags); i++)
        put(t, "%s", inst->key2 >> i & 1 ? flags[i] : "");
    if (inst->op == OP_buf_atom)
        put(t, ".%s", PICK(atomic_names, inst->key));
    else
        put(t, "%s", PICK(formats, inst->key));
    if (inst->vector > 1)
        put(t, ".v%u", inst->vector);
    put(t, ".%s", type_name(inst->type));
}

/* Appends space, operation and element of an access without a descriptor. */
static void put_access(struct print_text *t, const struct inst *inst)
{
    put(t, "%s", PICK(space_names, inst->space));
    if (op_info[inst->op].flags & OPF_ATOMIC && inst->op != OP_exch2)
        put(t, ".%s", PICK(atomic_names, inst->key));
    else if (inst->vector > 1 && (inst->op == OP_ld || inst->op == OP_st))
        put(t, ".v%u", inst->vector);
    put(t, ".%s", type_name(inst->type));
}

enum {
    KEY_NAMES = 7
};

/* Ops whose key has a name for each of its values. */
static const struct {
    u16 op;
    const char *names[KEY_NAMES];
} key_names[] = {
    {OP_vote, {".all", ".any", ".uni"}},
    {OP_shfl, {".up", ".down", ".bfly", ".idx"}},
    {OP_fence, {".block", ".device", ".system"}},
    {OP_syscall, {".vprintf", ".assertfail", ".malloc", ".free"}},
    {OP_testp_f32, {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}},
    {OP_testp_f64, {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}},
    {OP_prmt_b32, {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}},
    {OP_shf_l_b32, {".clamp", ".wrap"}},
    {OP_shf_r_b32, {".clamp", ".wrap"}},
    {OP_szext_s32, {".clamp", ".wrap"}},
    {OP_szext_u32, {".clamp", ".wrap"}},
    {OP_bmsk_b32, {".clamp", ".wrap"}},
    {OP_bra, {"", ".uni"}},
    {OP_bra_if, {".z", ".nz"}},
    {OP_append, {"", ".sub"}},
    {OP_bar, {".sync", ".arrive", ".red.and", ".red.or"}},
};

static void put_key_name(struct print_text *t, const struct inst *inst)
{
    for (size_t i = 0; i < ARRAY_LEN(key_names); i++) {
        if (key_names[i].op != inst->op)
            continue;
        const char *name = inst->key < KEY_NAMES ? key_names[i].names[inst->key] : NULL;
        put(t, "%s", name ? name : "?");
    }
}

static const char *const level_names[] = {"", ".level", ".grad", ".r", ".g", ".b", ".a"};
static const char *const shape_names[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
static const char *const clamp_names[] = {".trap", ".clamp", ".zero"};

/* Appends what `key` and `key2` select. */
static void put_keys(struct print_text *t, const struct inst *inst)
{
    if (inst->op >= OP_setp_u16 && inst->op <= OP_set_f64) {
        put(t, ".%s%s", PICK(compare_names, inst->key), PICK(bool_names, inst->key2));
        return;
    }
    put_key_name(t, inst);
    switch (inst->op) {
    case OP_cvt:
        put(t, ".%s.%s", type_name(inst->type), type_name(inst->stype));
        break;
    case OP_ld:
    case OP_st:
    case OP_ld2:
    case OP_st2:
    case OP_exch2:
    case OP_atom:
    case OP_atom_b128:
    case OP_atom_src2:
        put_access(t, inst);
        break;
    case OP_buf_ld:
    case OP_buf_st:
    case OP_buf_atom:
        put_buffer(t, inst);
        break;
    case OP_scmp_s32:
    case OP_scmp_u32:
        put(t, ".%s", PICK(compare_names, inst->key));
        break;
    case OP_redux:
        put(t, ".%s.%s", PICK(atomic_names, inst->key), type_name(inst->type));
        break;
    case OP_isspacep:
        put(t, "%s", PICK(space_names, inst->space));
        break;
    case OP_tex:
        put(t, "%s.%s.%s.%s", PICK(level_names, inst->key2), PICK(shape_names, inst->key),
            type_name(inst->type), type_name(inst->stype));
        break;
    case OP_suld:
    case OP_sust:
        put(t, "%s.%s.v%u.%s%s", inst->imm ? ".p" : ".b", PICK(shape_names, inst->key),
            inst->vector, type_name(inst->type), PICK(clamp_names, inst->key2));
        break;
    case OP_txq:
        put(t, ".%u", inst->key);
        break;
    case OP_bar:
        put(t, "%s", inst->key2 ? "" : ".unaligned");
        break;
    case OP_cvt_ubyte_f32:
    case OP_cvt_pk_u8_f32:
    case OP_rcp_clamp_f32:
    case OP_rsqrt_clamp_f32:
        put(t, ".%u", inst->key);
        break;
    case OP_lop3_mask:
        put(t, "%s", PICK(bool_names, inst->key2));
        break;
    default:
        break;
    }
}

static void put_address(struct print_text *t, const struct program *p, const struct inst *inst)
{
    put(t, "[");
    if (inst->src[0].kind != OPERAND_NONE)
        put_operand(t, p, inst->src[0], false);
    if (inst->src[0].kind == OPERAND_NONE)
        put(t, "%lld", (long long)inst->imm);
    else if (inst->op == OP_ld2 || inst->op == OP_st2 || inst->op == OP_exch2)
        put(t, "+%u], [+%u", (u32)inst->imm, (u32)((u64)inst->imm >> 32));
    else if (inst->imm)
        put(t, "%+lld", (long long)inst->imm);
    put(t, "]");
}

static const char *special_name(i64 special)
{
    static const char *const names[] = {
#define SPECIAL(name, words) #name,
#include "ir/special.def"
#undef SPECIAL
    };
    return special >= 0 && special < SPECIAL_COUNT ? names[special] : "?";
}

/* What an operation keeps in `imm`: a special register, a target, bits. */
static void put_immediate(struct print_text *t, const struct program *p, const struct inst *inst,
                          const char *separator)
{
    switch (inst->op) {
    case OP_sreg:
        put(t, "%s%%%s", separator, special_name(inst->imm));
        break;
    case OP_bra:
    case OP_bra_if:
    case OP_call:
        put(t, "%s0x%llx", separator, (unsigned long long)program_offset(p, (u32)inst->imm));
        if (inst->op == OP_call) {
            const struct function *f = program_function_at(p, (u32)inst->imm);
            put(t, " <%s>", f ? f->name : "?");
        }
        break;
    case OP_fork:
        if (inst->src[1].kind == OPERAND_NONE)
            put(t, "%s0x%llx", separator, (unsigned long long)program_offset(p, (u32)inst->imm));
        break;
    case OP_buf_ld:
    case OP_buf_st:
    case OP_buf_atom:
    case OP_ld_scalar:
    case OP_ld_scalar_buffer:
    case OP_sgetreg:
    case OP_ssetreg:
    case OP_swizzle:
    case OP_append:
    case OP_wait:
    case OP_sleep:
    case OP_strap:
        put(t, "%s#0x%llx", separator, (unsigned long long)inst->imm);
        break;
    case OP_brx:
        put(t, "%stable %lld", separator, (long long)inst->imm);
        break;
    case OP_lop3_b32:
    case OP_lop3_mask:
        put(t, "%s0x%llx", separator, (unsigned long long)inst->imm);
        break;
    case OP_unsupported:
        put(t, "%s%s", separator,
            inst->imm >= 0 && inst->imm < p->unsupported_count ? p->unsupported[inst->imm].text
                                                               : "?");
        break;
    default:
        break;
    }
}

/* Operands in the order of the signature. */
static void put_operands(struct print_text *t, const struct program *p, const struct inst *inst)
{
    const char *s = op_info[inst->op].signature;
    const char *separator = " ";
    u32 d = 0, k = 0;
    bool source = false;
    for (; *s; s++) {
        if (*s == '=') {
            source = true;
            continue;
        }
        struct operand o = source ? inst->src[k++] : inst->dst[d++];
        if (*s == 'a') {
            put(t, "%s", separator);
            put_address(t, p, inst);
        } else if (o.kind != OPERAND_NONE || (*s >= 'A' && *s <= 'Z' && !source && s[1] != '=')) {
            put(t, "%s", separator);
            put_operand(t, p, o, *s == 'm' || *s == 'M');
        } else {
            continue;
        }
        separator = ", ";
    }
    put_immediate(t, p, inst, separator);
}

char *inst_text(const struct program *program, u32 index, char *buffer, size_t size)
{
    const struct inst *inst = &program->insts[index];
    struct print_text t = {buffer, size, 0};
    if (!size)
        return buffer;
    buffer[0] = 0;
    if (program->texts) {
        put(&t, "%s", program->texts[index]);
        return buffer;
    }
    if (inst->guard.kind != OPERAND_NONE) {
        put(&t, "@");
        put_operand(&t, program, inst->guard, true);
        put(&t, " ");
    }
    put(&t, "%s", op_info[inst->op].text);
    put_keys(&t, inst);
    put_mods(&t, inst);
    put_operands(&t, program, inst);
    return buffer;
}
