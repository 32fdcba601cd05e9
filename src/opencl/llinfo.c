/*
 * Kernel metadata from LLVM text (llinfo.h).
 *
 *   define ... spir_kernel void @name(...) ... !kernel_arg_name !12 ... {
 *   !12 = !{!"a", !"n"}
 *
 * Nothing here reads beyond its line, and no line beyond the text.
 *
 * Unreachable functions: functions that a program defines and does not call stay in the text, since
 * other modules might call them by name. Mostly they do no harm; but they may call missing
 * functions (images) or contain another machine's assembly. A name is reached if it occurs in a
 * kernel, in a reached function, or outside all functions; '@' begins a name, also in strings,
 * where it is meaningless and only keeps too much.
 */
#include "opencl/llinfo.h"

#include <ctype.h>

struct span {
    const char *at, *end;
};

struct metadata_node { /* "!12 = !{...}" */
    u64 number;
    struct span body; /* after "!{", to the line's end */
    struct span line;
};

struct nodes {
    VEC(struct metadata_node) list;
};

static bool next_line(const char **at, const char *end, struct span *line)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *line = (struct span){*at, stop ? stop : end};
    *at = stop ? stop + 1 : end;
    return true;
}

static bool starts(struct span line, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(line.end - line.at) >= length && !memcmp(line.at, word, length);
}

/* The text after the first `word` in the span; NULL: not found. */
static const char *after(struct span line, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(line.end - line.at) < length)
        return NULL;
    const char *found = memmem(line.at, (size_t)(line.end - line.at), word, length);
    return found ? found + length : NULL;
}

static u64 number(const char **at, const char *end)
{
    u64 value = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        value = value < UINT32_MAX ? value * 10 + (u64)(**at - '0') : value;
    return value;
}

/* Reads text with \xx for bytes, up to `quote`. */
static const char *unescape(struct arena *arena, const char **at, const char *end, char quote)
{
    char *text = arena_alloc(arena, (size_t)(end - *at) + 1), *out = text;
    for (; *at < end && **at != quote; (*at)++) {
        unsigned value;
        char digits[3] = "";
        if (**at == '\\' && end - *at > 2) {
            memcpy(digits, *at + 1, 2);
            if (strspn(digits, "0123456789abcdefABCDEF") == 2) {
                value = (unsigned)strtoul(digits, NULL, 16);
                *out++ = value ? (char)value : '?'; /* a NUL would end the text */
                *at += 2;
                continue;
            }
        }
        *out++ = **at;
    }
    return text;
}

/* The name after '@'. */
static const char *symbol(struct arena *arena, const char *at, const char *end)
{
    if (at < end && *at == '"')
        return at++, unescape(arena, &at, end, '"');
    const char *stop = at;
    while (stop < end && !strchr("( ,", *stop))
        stop++;
    return arena_strndup(arena, at, (size_t)(stop - at));
}

/* Whether a line defines a kernel: by the calling convention before the function's '@'. */
static bool is_kernel(struct span line)
{
    if (!starts(line, "define "))
        return false;
    const char *name = memchr(line.at, '@', (size_t)(line.end - line.at));
    struct span head = {line.at, name ? name : line.at};
    return after(head, " spir_kernel ") || after(head, " ptx_kernel ") ||
           after(head, " amdgpu_kernel ");
}

static void find_nodes(struct nodes *nodes, struct span text)
{
    struct span line;
    for (const char *at = text.at; next_line(&at, text.end, &line);) {
        if (!starts(line, "!") || line.end - line.at < 2 || line.at[1] < '0' || line.at[1] > '9')
            continue;
        const char *digits = line.at + 1, *body;
        u64 value = number(&digits, line.end);
        struct span rest = {digits, line.end};
        if (starts(rest, " = !{"))
            body = digits + 5;
        else
            continue;
        struct metadata_node *node = vec_push(&nodes->list);
        *node = (struct metadata_node){value, {body, line.end}, line};
    }
}

/* The node attached to the kernel's line by a key; NULL: none. */
static const struct metadata_node *attached(const struct nodes *nodes, struct span line,
                                            const char *key)
{
    const char *at = after(line, key);
    if (!at)
        return NULL;
    u64 wanted = number(&at, line.end);
    if (wanted < nodes->list.count && nodes->list.data[wanted].number == wanted)
        return &nodes->list.data[wanted]; /* LLVM writes nodes in this order */
    for (u32 i = 0; i < nodes->list.count; i++)
        if (nodes->list.data[i].number == wanted)
            return &nodes->list.data[i];
    return NULL;
}

/* The next string (!"text") of a node; NULL: no more. */
static const char *next_string(struct arena *arena, struct span *body)
{
    const char *at = after(*body, "!\"");
    if (!at)
        return NULL;
    const char *text = unescape(arena, &at, body->end, '"');
    body->at = at < body->end ? at + 1 : at;
    return text;
}

/* The next integer (i32 5) of a node. */
static bool next_number(struct span *body, u64 *value)
{
    const char *at = after(*body, "i32 ");
    if (!at)
        return false;
    *value = number(&at, body->end);
    body->at = at;
    return true;
}

static cl_kernel_arg_type_qualifier qualifiers(const char *text)
{
    cl_kernel_arg_type_qualifier value = CL_KERNEL_ARG_TYPE_NONE;
    if (strstr(text, "const"))
        value |= CL_KERNEL_ARG_TYPE_CONST;
    if (strstr(text, "restrict"))
        value |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (strstr(text, "volatile"))
        value |= CL_KERNEL_ARG_TYPE_VOLATILE;
    return value;
}

static cl_kernel_arg_access_qualifier access_of(const char *text)
{
    return !strcmp(text, "read_only")    ? CL_KERNEL_ARG_ACCESS_READ_ONLY
           : !strcmp(text, "write_only") ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
           : !strcmp(text, "read_write") ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                         : CL_KERNEL_ARG_ACCESS_NONE;
}

/* Clang's numbers of address spaces in metadata. */
static cl_kernel_arg_address_qualifier space_of(u64 number_of_space)
{
    static const cl_kernel_arg_address_qualifier SPACES[] = {
        CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT,
        CL_KERNEL_ARG_ADDRESS_LOCAL};
    return number_of_space < ARRAY_LEN(SPACES) ? SPACES[number_of_space]
                                               : CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

static void read_args(struct arena *arena, const struct nodes *nodes, struct span line,
                      struct kernel_info *info)
{
    const struct metadata_node *spaces = attached(nodes, line, "!kernel_arg_addr_space !");
    const struct metadata_node *names = attached(nodes, line, "!kernel_arg_name !");
    const struct metadata_node *types = attached(nodes, line, "!kernel_arg_type !");
    const struct metadata_node *access = attached(nodes, line, "!kernel_arg_access_qual !");
    const struct metadata_node *quals = attached(nodes, line, "!kernel_arg_type_qual !");
    static const struct metadata_node NONE;
    struct span space = (spaces ? spaces : &NONE)->body, name = (names ? names : &NONE)->body,
                type = (types ? types : &NONE)->body, acc = (access ? access : &NONE)->body,
                qual = (quals ? quals : &NONE)->body;
    VEC(struct kernel_arg_info) args = {0};
    u64 value;
    while (next_number(&space, &value)) {
        struct kernel_arg_info *arg = vec_push(&args);
        arg->address = space_of(value);
        const char *text = next_string(arena, &name);
        arg->name = text ? text : "";
        arg->type = (text = next_string(arena, &type)) ? text : "";
        arg->access = access_of((text = next_string(arena, &acc)) ? text : "");
        arg->qualifiers = qualifiers((text = next_string(arena, &qual)) ? text : "");
        info->has_arg_info |= *arg->name != 0;
    }
    info->has_arg_info |= names != NULL;
    info->arg_count = args.count;
    info->args = arena_array(arena, struct kernel_arg_info, args.count);
    if (args.count)
        memcpy(info->args, args.data, args.count * sizeof *args.data);
    vec_free(&args);
}

/* The type in vec_type_hint: "<4 x float> undef, i32 0"; the number says whether it is signed. */
static const char *hint_type(struct arena *arena, struct span body)
{
    static const char *const NAMES[][3] = {
        {"i8", "uchar", "char"},       {"i16", "ushort", "short"}, {"i32", "uint", "int"},
        {"i64", "ulong", "long"},      {"half", "half", "half"},   {"float", "float", "float"},
        {"double", "double", "double"}};
    u64 width = 1, is_signed = 0;
    const char *at = body.at;
    if (at < body.end && *at == '<') {
        at++;
        width = number(&at, body.end);
        const char *x = after((struct span){at, body.end}, "x ");
        at = x ? x : at;
    }
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        if (!starts((struct span){at, body.end}, NAMES[i][0]))
            continue;
        at += strlen(NAMES[i][0]);
        struct span rest = {at, body.end};
        next_number(&rest, &is_signed);
        return width > 1 ? arena_printf(arena, "%s%u", NAMES[i][is_signed ? 2 : 1], (u32)width)
                         : NAMES[i][is_signed ? 2 : 1];
    }
    return NULL;
}

static const char *sizes(struct arena *arena, const struct metadata_node *node, const char *before,
                         const char *name, size_t kept[3])
{
    u64 value[3] = {0};
    struct span body = node->body;
    for (u32 i = 0; i < 3; i++)
        next_number(&body, &value[i]);
    for (u32 i = 0; kept && i < 3; i++)
        kept[i] = (size_t)value[i];
    return arena_printf(arena, "%s%s%s(%llu,%llu,%llu)", before, *before ? " " : "", name,
                        (unsigned long long)value[0], (unsigned long long)value[1],
                        (unsigned long long)value[2]);
}

static void read_attributes(struct arena *arena, const struct nodes *nodes, struct span line,
                            struct kernel_info *info)
{
    const char *text = "";
    const struct metadata_node *node = attached(nodes, line, "!vec_type_hint !");
    const char *type = node ? hint_type(arena, node->body) : NULL;
    if (type)
        text = arena_printf(arena, "vec_type_hint(%s)", type);
    if ((node = attached(nodes, line, "!work_group_size_hint !")))
        text = sizes(arena, node, text, "work_group_size_hint", NULL);
    if ((node = attached(nodes, line, "!reqd_work_group_size !")))
        text = sizes(arena, node, text, "reqd_work_group_size", info->required);
    info->attributes = text;
}

struct kernel_info *llinfo_kernels(struct arena *arena, const char *text, size_t bytes, u32 *count)
{
    struct span all = {text, text + bytes}, line;
    struct nodes nodes = {0};
    find_nodes(&nodes, all);
    VEC(struct kernel_info) kernels = {0};
    for (const char *at = all.at; next_line(&at, all.end, &line);) {
        const char *name = is_kernel(line) ? after(line, "@") : NULL;
        if (!name)
            continue;
        struct kernel_info *info = vec_push(&kernels);
        info->name = symbol(arena, name, line.end);
        read_args(arena, &nodes, line, info);
        read_attributes(arena, &nodes, line, info);
    }
    struct kernel_info *result = arena_array(arena, struct kernel_info, kernels.count);
    if (kernels.count)
        memcpy(result, kernels.data, kernels.count * sizeof *result);
    *count = kernels.count;
    vec_free(&kernels);
    vec_free(&nodes.list);
    return result;
}

static void keep(char **out, struct span line)
{
    memcpy(*out, line.at, (size_t)(line.end - line.at));
    *out += line.end - line.at;
    *(*out)++ = '\n';
}

char *llinfo_extract(struct arena *arena, const char *text, size_t bytes)
{
    static const char *const KEYS[] = {"!kernel_arg_addr_space !", "!kernel_arg_name !",
                                       "!kernel_arg_type !",       "!kernel_arg_access_qual !",
                                       "!kernel_arg_type_qual !",  "!vec_type_hint !",
                                       "!work_group_size_hint !",  "!reqd_work_group_size !"};
    struct span all = {text, text + bytes}, line;
    struct nodes nodes = {0};
    find_nodes(&nodes, all);
    u8 *used = checked(calloc(nodes.list.count + 1, 1));
    char *result = arena_alloc(arena, bytes + 2), *out = result;
    for (const char *at = all.at; next_line(&at, all.end, &line);) {
        if (!is_kernel(line))
            continue;
        keep(&out, line);
        for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
            const struct metadata_node *node = attached(&nodes, line, KEYS[i]);
            if (node)
                used[node - nodes.list.data] = 1;
        }
    }
    for (u32 i = 0; i < nodes.list.count; i++)
        if (used[i])
            keep(&out, nodes.list.data[i].line);
    free(used);
    vec_free(&nodes.list);
    return result;
}

const char *llinfo_undefined(struct arena *arena, const char *text, size_t bytes, size_t *at)
{
    struct span line;
    const char *from = text + *at;
    while (next_line(&from, text + bytes, &line)) {
        const char *name = after(line, "@");
        bool variable = starts(line, "@") && after(line, " = external ");
        *at = (size_t)(from - text);
        if (!name || (!starts(line, "declare ") && !variable))
            continue;
        if (!starts((struct span){name, line.end}, "llvm."))
            return symbol(arena, name, line.end);
    }
    *at = bytes;
    return "";
}

/* ---- unreachable functions ---- */

struct ll_symbol { /* a function or variable of the text */
    struct span name;
    struct span text; /* the definition with its body, or the declaration's line */
    bool defined;     /* a function with a body */
    bool reached;
};

struct symbols {
    VEC(struct ll_symbol) list;
    VEC(u32) todo; /* reached, and not yet visited */
};

/* A name after '@', with its quotes. */
static struct span name_at(const char *at, const char *end)
{
    const char *stop = at;
    if (at < end && *at == '"') {
        const char *quote = memchr(at + 1, '"', (size_t)(end - at - 1));
        return (struct span){at, quote ? quote + 1 : end};
    }
    while (stop < end && (isalnum((unsigned char)*stop) || strchr("_.$-", *stop)))
        stop++;
    return (struct span){at, stop};
}

static bool same(struct span a, struct span b)
{
    return a.end - a.at == b.end - b.at && !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

/* Whether a line declares a name outside LLVM's own llvm.*. */
static bool is_declared(struct span line)
{
    const char *name = after(line, "@");
    return name && !starts((struct span){name, line.end}, "llvm.") &&
           (starts(line, "declare ") || (starts(line, "@") && after(line, " = external ")));
}

/* The function that begins at the line, up to the line of its closing brace. */
static struct span whole_function(struct span line, const char **at, const char *end)
{
    struct span function = line;
    while (next_line(at, end, &line)) {
        function.end = line.end;
        if (line.end - line.at == 1 && *line.at == '}')
            break;
    }
    return function;
}

static void reach(struct symbols *symbols, struct ll_symbol *symbol_reached)
{
    if (symbol_reached->reached)
        return;
    symbol_reached->reached = true;
    if (symbol_reached->defined)
        *(u32 *)vec_push(&symbols->todo) = (u32)(symbol_reached - symbols->list.data);
}

/* The symbol that the text names next; NULL: no more. */
static struct ll_symbol *next_named(const struct symbols *symbols, struct span *text)
{
    const char *at;
    while ((at = after(*text, "@"))) {
        struct span name = name_at(at, text->end);
        text->at = name.end;
        for (u32 i = 0; i < symbols->list.count; i++)
            if (same(symbols->list.data[i].name, name))
                return &symbols->list.data[i];
    }
    return NULL;
}

static void reach_named(struct symbols *symbols, struct span text)
{
    struct ll_symbol *named;
    while ((named = next_named(symbols, &text)))
        reach(symbols, named);
}

static void list_symbols(struct symbols *symbols, struct span all)
{
    struct span line;
    for (const char *at = all.at; next_line(&at, all.end, &line);) {
        bool defined = starts(line, "define ");
        const char *name = after(line, "@");
        if (!name || (!defined && !is_declared(line)))
            continue;
        struct ll_symbol *found = vec_push(&symbols->list);
        *found = (struct ll_symbol){name_at(name, line.end), line, defined, false};
        if (defined)
            found->text = whole_function(line, &at, all.end);
    }
}

/* Marks what is reached: names in the text between symbols, which is kept, then from kernels on. */
static void reach_all(struct symbols *symbols, struct span all)
{
    const char *at = all.at;
    for (u32 i = 0; i < symbols->list.count; i++) {
        struct ll_symbol *each = &symbols->list.data[i];
        struct span head = {each->text.at,
                            memchr(each->text.at, '\n', (size_t)(all.end - each->text.at))};
        reach_named(symbols, (struct span){at, each->text.at});
        at = each->text.end;
        if (each->defined && head.end && is_kernel(head))
            reach(symbols, each);
    }
    reach_named(symbols, (struct span){at, all.end});
    for (u32 i = 0; i < symbols->todo.count; i++)
        reach_named(symbols, symbols->list.data[symbols->todo.data[i]].text);
}

/* Whether a function would make the build fail. */
static bool is_harmful(const struct symbols *symbols, const struct ll_symbol *function)
{
    struct span text = function->text;
    if (after(text, " asm "))
        return true;
    for (const struct ll_symbol *named; (named = next_named(symbols, &text));)
        if (!named->defined)
            return true;
    return false;
}

char *llinfo_reachable(struct arena *arena, const char *text, size_t bytes, size_t *kept)
{
    struct span all = {text, text + bytes};
    struct symbols symbols = {0};
    bool harmful = false;
    list_symbols(&symbols, all);
    reach_all(&symbols, all);
    for (u32 i = 0; i < symbols.list.count; i++) {
        const struct ll_symbol *each = &symbols.list.data[i];
        harmful |= each->defined && !each->reached && is_harmful(&symbols, each);
    }
    char *result = harmful ? arena_alloc(arena, bytes + 1) : NULL, *out = result;
    const char *at = text;
    for (u32 i = 0; harmful && i <= symbols.list.count; i++) {
        const struct ll_symbol *each = i < symbols.list.count ? &symbols.list.data[i] : NULL;
        if (each && each->reached)
            continue;
        const char *end = each ? each->text.at : all.end;
        memcpy(out, at, (size_t)(end - at));
        out += end - at;
        at = each ? each->text.end : at;
    }
    if (harmful)
        *kept = (size_t)(out - result);
    vec_free(&symbols.list);
    vec_free(&symbols.todo);
    return result;
}
