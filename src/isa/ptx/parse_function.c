/* Function headers, prototypes and lists of targets: see parse.h and ast.h. */
#include "isa/ptx/parse.h"

enum {
    NO_FIELD = -1
};

#define FIELD(name) (int)offsetof(struct ptx_function, name)

/* The arguments of a tuning directive and their place: up to `most` numbers into u32 fields from
 * `field`. */
static const struct tuning {
    const char *name;
    u32 least, most;
    int field;
    bool zero; /* may be 0 */
} tunings[] = {
    {".maxntid", 1, 3, FIELD(max_threads)},
    {".reqntid", 1, 3, FIELD(required_threads)},
    {".minnctapersm", 1, 1, FIELD(min_blocks)},
    {".maxnctapersm", 1, 1, NO_FIELD}, /* replaced by .minnctapersm in PTX 2.0 */
    {".maxnreg", 1, 1, FIELD(max_registers)},
    {".reqnctapercluster", 1, 3, FIELD(required_cluster)},
    {".maxclusterrank", 1, 1, NO_FIELD},
    {".explicitcluster", 0, 0, NO_FIELD},
    {".blocksareclusters", 0, 0, NO_FIELD},
    {".unique", 0, 0, NO_FIELD},
    {".abi_preserve", 1, 1, NO_FIELD, true},
    {".abi_preserve_control", 1, 1, NO_FIELD, true},
    {".noreturn", 0, 0, NO_FIELD},
};

static bool tuning(struct ptx_parser *p, struct ptx_function *function)
{
    u32 index = 0;
    while (!ptx_token_is(&p->token, tunings[index].name))
        index++; /* every WORD_TUNING has a row */
    const struct tuning row = tunings[index];
    if (ptx_token_is(&p->token, ".noreturn"))
        function->no_return = true;
    ptx_advance(p);
    u64 values[3] = {1, 1, 1}; /* missing dimensions are 1 */
    for (u32 i = 0; i < row.most; i++) {
        if (i >= row.least && !ptx_accept(p, ','))
            break;
        if (!ptx_integer(p, &values[i], row.zero ? 0 : 1, UINT32_MAX,
                         row.zero ? "a number from 0 to 4294967295"
                                  : "a number from 1 to 4294967295"))
            return false;
    }
    for (u32 i = 0; i < ARRAY_LEN(values) && i < row.most && row.field != NO_FIELD; i++) {
        u32 value = (u32)values[i];
        memcpy((char *)function + row.field + i * sizeof value, &value, sizeof value);
    }
    return true;
}

/* Attributes and tuning directives, which may stand at several places of a header. */
static bool adornments(struct ptx_parser *p, struct ptx_function *function)
{
    for (;;) {
        const char *ignored;
        if (ptx_word_class(&p->token) == WORD_TUNING) {
            if (!tuning(p, function))
                return false;
        } else if (ptx_token_is(&p->token, ".attribute")) {
            if (!ptx_attributes(p))
                return false;
        } else if (ptx_token_is(&p->token, ".pragma")) {
            if (!ptx_pragma(p, &ignored))
                return false;
        } else {
            return true;
        }
    }
}

static bool parameter_list(struct ptx_parser *p, struct ptx_declaration **list, u32 *count)
{
    u32 mark = p->declarations.count;
    if (!ptx_parameters(p))
        return false;
    *list = PTX_CUT(p, declarations, mark, count);
    return true;
}

/* "(returns) name (parameters)" with attributes and tuning directives. */
static bool signature(struct ptx_parser *p, struct ptx_function *function)
{
    if (!adornments(p, function))
        return false;
    if (p->token.kind == '(') {
        if (function->is_entry)
            return ptx_expected(p, "the kernel's name (kernels return nothing)");
        if (!parameter_list(p, &function->returns, &function->return_count) ||
            !adornments(p, function))
            return false;
    }
    function->place = p->token.place;
    if (!ptx_name(p, &function->name, "the function's name"))
        return false;
    if (!adornments(p, function))
        return false;
    if (p->token.kind == '(' && !parameter_list(p, &function->params, &function->param_count))
        return false;
    return adornments(p, function);
}

bool ptx_function(struct ptx_parser *p, struct ptx_linkage linkage)
{
    struct ptx_function function = {.is_entry = ptx_token_is(&p->token, ".entry"),
                                    .is_extern = linkage.is_extern,
                                    .is_visible = linkage.is_visible,
                                    .is_weak = linkage.is_weak,
                                    .part = ptx_part(p)};
    ptx_advance(p);
    if (!signature(p, &function))
        return false;
    struct ptx_place opened = p->token.place;
    if (p->token.kind == TOKEN_DIRECTIVE)
        return ptx_wrong_directive(p, 1 << WORD_TUNING, "'{' of the body or ';'");
    if (ptx_accept(p, '{')) {
        function.has_body = true;
        p->source_index = p->source_line = 0;
        if (!ptx_body(p, opened, function.name, &function.body, &function.body_count))
            return false;
    } else if (!ptx_semicolon(p, "'(' of the parameters, '{' of the body or ';'")) {
        return false;
    }
    *vec_push(&p->functions) = function;
    return true;
}

bool ptx_at_labelled(const struct ptx_parser *p)
{
    return p->token.kind == TOKEN_DIRECTIVE &&
           (ptx_token_is(&p->token, ".branchtargets") || ptx_token_is(&p->token, ".calltargets") ||
            ptx_token_is(&p->token, ".callprototype"));
}

static bool prototype(struct ptx_parser *p, struct ptx_statement *statement)
{
    statement->kind = PTX_CALLPROTOTYPE;
    statement->prototype = arena_new(p->arena, struct ptx_function);
    return signature(p, statement->prototype) &&
           ptx_semicolon(p, "'(' of the parameters or ';' after the prototype");
}

/* "name" or "name<3>": name0, name1, name2. */
static bool targets(struct ptx_parser *p, const char *what)
{
    struct ptx_place place = p->token.place;
    const char *name;
    u32 count;
    if (!ptx_name(p, &name, what))
        return false;
    if (p->token.kind != '<') {
        *vec_push(&p->words) = name;
        return true;
    }
    if (!ptx_group(p, &count) || !ptx_expand(p, place, count))
        return false;
    for (u32 i = 0; i < count; i++)
        *vec_push(&p->words) = ptx_group_name(p, name, i);
    return true;
}

bool ptx_labelled(struct ptx_parser *p, struct ptx_statement *statement)
{
    bool branches = ptx_token_is(&p->token, ".branchtargets");
    bool calls = ptx_token_is(&p->token, ".calltargets");
    ptx_advance(p);
    if (!branches && !calls)
        return prototype(p, statement);
    statement->kind = branches ? PTX_BRANCHTARGETS : PTX_CALLTARGETS;
    u32 mark = p->words.count;
    do {
        if (!targets(p, branches ? "a label" : "a function's name"))
            return false;
    } while (ptx_accept(p, ','));
    statement->targets = PTX_CUT(p, words, mark, &statement->target_count);
    return ptx_semicolon(p, "',' or ';' in the list of targets");
}
