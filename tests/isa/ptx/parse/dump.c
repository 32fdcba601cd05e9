/*
 * A PTX tree as text: a line for each thing, everything the tree holds, names as they are. Numbers
 * are hexadecimal, so that their bits show.
 */
#include "dump.h"

#include <inttypes.h>

static void dump_items(FILE *out, const struct ptx_operand *operand, const char *open,
                       const char *close)
{
    fputs(open, out);
    for (u32 i = 0; i < operand->item_count; i++) {
        fputs(i ? " " : "", out);
        dump_operand(out, &operand->items[i]);
    }
    fputs(close, out);
}

static void dump_name(FILE *out, const struct ptx_operand *operand)
{
    fprintf(out, "%s%s", operand->negated ? "not " : "", operand->name ? operand->name : "-");
    if (operand->component)
        fprintf(out, "(%s)", operand->component);
}

void dump_operand(FILE *out, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_NAME:
        dump_name(out, operand);
        break;
    case PTX_INT:
        fprintf(out, "%s:%" PRIx64, operand->is_unsigned ? "u" : "s", operand->value);
        break;
    case PTX_FLOAT:
        fprintf(out, "%s:%" PRIx64, operand->is_single ? "f32" : "f64", operand->value);
        break;
    case PTX_ADDRESS:
        fputs("at ", out);
        dump_name(out, operand);
        fprintf(out, "+%" PRIx64, operand->value);
        if (operand->item_count)
            dump_items(out, operand, " with <", ">");
        break;
    case PTX_SUM:
        dump_name(out, operand);
        fprintf(out, "+%" PRIx64, operand->value);
        break;
    case PTX_ELEMENT:
        dump_name(out, operand);
        fprintf(out, "[%" PRIx64 "]", operand->value);
        break;
    case PTX_VECTOR:
        dump_items(out, operand, "{", "}");
        break;
    case PTX_PAIR:
        dump_items(out, operand, "pair<", ">");
        break;
    case PTX_LIST:
        dump_items(out, operand, "list<", ">");
        break;
    case PTX_SINK:
        fputs("_", out);
        break;
    }
}

static void dump_initializer(FILE *out, const struct ptx_initializer *init)
{
    switch (init->kind) {
    case PTX_INIT_LIST:
        fputs("{", out);
        for (u32 i = 0; i < init->item_count; i++) {
            fputs(i ? " " : "", out);
            dump_initializer(out, &init->items[i]);
        }
        fputs("}", out);
        break;
    case PTX_INIT_INT:
        fprintf(out, "%" PRIx64, init->value);
        break;
    case PTX_INIT_FLOAT:
        fprintf(out, "%s:%" PRIx64, init->is_single ? "f32" : "f64", init->value);
        break;
    case PTX_INIT_NAME:
        if (init->mask)
            fprintf(out, "mask %" PRIx64 " of ", init->mask);
        fprintf(out, "%s%s+%" PRIx64, init->is_generic ? "generic " : "", init->name, init->value);
        break;
    }
}

static void dump_declaration(FILE *out, const struct ptx_declaration *one)
{
    fprintf(out, "%s%s%s%s%s %s", one->is_extern ? "extern " : "",
            one->is_visible ? "visible " : "", one->is_weak ? "weak " : "",
            one->is_common ? "common " : "", one->space, one->type);
    if (one->vector != 1)
        fprintf(out, " x%u", one->vector);
    if (one->align)
        fprintf(out, " align %u", one->align);
    if (one->is_pointer)
        fputs(" pointer", out);
    fprintf(out, " %s", one->name);
    if (one->count)
        fprintf(out, "<%u>", one->count);
    for (u32 i = 0; i < one->dim_count; i++)
        fprintf(out, "[%" PRIu64 "]", one->dims[i]);
    if (one->init) {
        fputs(" = ", out);
        dump_initializer(out, one->init);
    }
}

static void dump_declarations(FILE *out, const char *title, const struct ptx_declaration *list,
                              u32 count)
{
    for (u32 i = 0; i < count; i++) {
        fprintf(out, "  %s ", title);
        dump_declaration(out, &list[i]);
        fputs("\n", out);
    }
}

static void dump_instruction(FILE *out, const struct ptx_instruction *inst)
{
    if (inst->guard)
        fprintf(out, "if %s%s: ", inst->guard_negated ? "not " : "", inst->guard);
    fputs(inst->opcode, out);
    for (u32 i = 0; i < inst->modifier_count; i++)
        fprintf(out, " .%s", inst->modifiers[i]);
    for (u32 i = 0; i < inst->operand_count; i++) {
        fputs(i ? ", " : " ", out);
        dump_operand(out, &inst->operands[i]);
    }
    if (inst->source_line)
        fprintf(out, " @ %s:%u", inst->source_file ? inst->source_file : "?", inst->source_line);
    fprintf(out, "\n         \"%s\"", inst->text);
}

static void dump_statements(FILE *out, const struct ptx_statement *list, u32 count, int indent);

static void dump_statement(FILE *out, const struct ptx_statement *one, int indent)
{
    fprintf(out, "%3u:%-3u %*s", one->place.line, one->place.column, indent, "");
    switch (one->kind) {
    case PTX_STATEMENT:
        dump_instruction(out, &one->instruction);
        break;
    case PTX_LABEL:
        fprintf(out, "label %s", one->label);
        break;
    case PTX_DECLARATION:
        dump_declaration(out, &one->declaration);
        break;
    case PTX_SCOPE:
        fputs("scope\n", out);
        dump_statements(out, one->items, one->item_count, indent + 2);
        fprintf(out, "        %*send", indent, "");
        break;
    case PTX_PRAGMA:
        fprintf(out, "pragma %s", one->label);
        break;
    case PTX_BRANCHTARGETS:
    case PTX_CALLTARGETS:
        fprintf(out, "%s %s", one->kind == PTX_CALLTARGETS ? "calls" : "branches", one->label);
        for (u32 i = 0; i < one->target_count; i++)
            fprintf(out, " %s", one->targets[i]);
        break;
    case PTX_CALLPROTOTYPE:
        fprintf(out, "prototype %s%s\n", one->label, one->prototype->no_return ? " noreturn" : "");
        dump_declarations(out, "returns", one->prototype->returns, one->prototype->return_count);
        dump_declarations(out, "takes", one->prototype->params, one->prototype->param_count);
        return;
    }
    fputs("\n", out);
}

static void dump_statements(FILE *out, const struct ptx_statement *list, u32 count, int indent)
{
    for (u32 i = 0; i < count; i++)
        dump_statement(out, &list[i], indent);
}

static void dump_limits(FILE *out, const char *title, const u32 values[3])
{
    if (values[0])
        fprintf(out, " %s %u,%u,%u", title, values[0], values[1], values[2]);
}

static void dump_function(FILE *out, const struct ptx_function *one)
{
    fprintf(out, "%s%s%s%s %s", one->is_extern ? "extern " : "", one->is_visible ? "visible " : "",
            one->is_weak ? "weak " : "", one->is_entry ? "kernel" : "function", one->name);
    dump_limits(out, "max", one->max_threads);
    dump_limits(out, "required", one->required_threads);
    dump_limits(out, "cluster", one->required_cluster);
    if (one->min_blocks)
        fprintf(out, " blocks %u", one->min_blocks);
    if (one->max_registers)
        fprintf(out, " registers %u", one->max_registers);
    fprintf(out, "%s%s\n", one->no_return ? " noreturn" : "", one->has_body ? "" : " no body");
    dump_declarations(out, "returns", one->returns, one->return_count);
    dump_declarations(out, "takes", one->params, one->param_count);
    dump_statements(out, one->body, one->body_count, 0);
}

void dump_module(FILE *out, const struct ptx_module *module)
{
    fprintf(out, "version %u.%u target %s address size %u\n", module->version_major,
            module->version_minor, module->target, module->address_size);
    dump_declarations(out, "variable", module->variables, module->variable_count);
    for (u32 i = 0; i < module->alias_count; i++)
        fprintf(out, "alias %s of %s\n", module->aliases[i].name, module->aliases[i].target);
    dump_statements(out, module->prototypes, module->prototype_count, 0);
    for (u32 i = 0; i < module->function_count; i++)
        dump_function(out, &module->functions[i]);
}
