/*
 * Packed YAML trees: see yaml.h.
 *
 * A node is a letter for its kind, four decimal numbers that each end with a space (line, column and
 * those of its key), its key if its parent is a mapping, its text if it is a scalar, and its
 * children and END if it is not. Keys and texts end with a NUL.
 */
#include "base/yaml.h"

enum {
    PLAIN = 's',
    QUOTED = 'q',
    MAP = 'm',
    LIST = 'l',
    END = 'e'
};

void yaml_pack(const struct yaml *node, FILE *to)
{
    static const char kinds[] = {[YAML_SCALAR] = PLAIN, [YAML_MAP] = MAP, [YAML_LIST] = LIST};
    fprintf(to, "%c%u %u %u %u ", node->quoted ? QUOTED : kinds[node->kind], node->line,
            node->column, node->key_line, node->key_column);
    if (node->key)
        fprintf(to, "%s%c", node->key, 0);
    if (node->kind == YAML_SCALAR) {
        fprintf(to, "%s%c", node->text, 0);
        return;
    }
    for (const struct yaml *child = node->first; child; child = child->next)
        yaml_pack(child, to);
    fputc(END, to);
}

static u32 take_number(const char **at)
{
    u32 number = 0;
    for (; **at != ' '; ++*at)
        number = 10 * number + (u32)(**at - '0');
    ++*at;
    return number;
}

static const char *take_string(const char **at)
{
    const char *string = *at;
    *at += strlen(string) + 1;
    return string;
}

/* All of a node but its children. */
static struct yaml *take_node(struct arena *arena, const char **at, const struct yaml *parent)
{
    struct yaml *node = arena_new(arena, struct yaml);
    const char kind = *(*at)++;
    node->kind = kind == MAP ? YAML_MAP : kind == LIST ? YAML_LIST : YAML_SCALAR;
    node->quoted = kind == QUOTED;
    node->line = take_number(at);
    node->column = take_number(at);
    node->key_line = take_number(at);
    node->key_column = take_number(at);
    node->key = parent && parent->kind == YAML_MAP ? take_string(at) : NULL;
    node->text = node->kind == YAML_SCALAR ? take_string(at) : "";
    return node;
}

struct yaml *yaml_unpack(struct arena *arena, const char *packed)
{
    struct yaml *open[YAML_MAX_DEPTH], *root = take_node(arena, &packed, NULL);
    u32 depth = 0;
    if (root->kind != YAML_SCALAR)
        open[depth++] = root;
    while (depth) {
        struct yaml *parent = open[depth - 1];
        if (*packed == END) {
            packed++;
            depth--;
            continue;
        }
        struct yaml *node = take_node(arena, &packed, parent);
        yaml_append(parent, node);
        if (node->kind != YAML_SCALAR)
            open[depth++] = node;
    }
    return root;
}
