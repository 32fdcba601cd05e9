/*
 * YAML text -> tree: libfyaml's events, a stack of open nodes and the limits of yaml.h.
 *
 *  Y1  libfyaml is asked for events only: its document layer would resolve aliases and recurse.
 *  Y2  Nothing is printed: diagnostics are collected and the first becomes the error.
 *  Y3  The text is checked for UTF-8 and control characters before libfyaml sees it.
 */
#include "base/yaml.h"

#include "base/text.h"
#include <libfyaml.h>

struct yaml_reader {
    struct arena *arena;
    const char *place, *text;
    struct error *error;
    struct yaml *root;
    struct yaml *open[YAML_MAX_DEPTH];
    u32 depth;
    u32 nodes;
    bool have_key; /* inside a mapping, after its key */
    const char *key;
    u32 key_line, key_column;
    u32 documents;
};

static bool fail(struct yaml_reader *reader, u32 line, u32 column, const char *message)
{
    char place[256];
    snprintf(place, sizeof place, "%.200s:%u:%u", reader->place, line, column);
    return error_set(reader->error, ERROR_INPUT, place, "%s", message);
}

/* Checks the text before libfyaml sees it (Y3). */
static bool check_text(struct yaml_reader *reader, const char *text, size_t length)
{
    if (length > YAML_MAX_BYTES)
        return error_set(reader->error, ERROR_INPUT, reader->place,
                         "the text has %zu bytes: at most %d are allowed", length, YAML_MAX_BYTES);
    u32 line = 1, column = 1;
    for (size_t i = 0; i < length;) {
        u8 c = (u8)text[i];
        if (LIKELY(c >= 0x20 && c < 0x7f)) {
            column++;
            i++;
            continue;
        }
        size_t step = text_utf8_length(text + i, length - i);
        if (!step)
            return fail(reader, line, column, "this is not UTF-8 text");
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            return fail(reader, line, column, "control characters are not allowed");
        column = c == '\n' ? 1 : column + 1;
        line += c == '\n';
        i += step;
    }
    return true;
}

/* Adds a node to its parent; a scalar where a mapping expects a key becomes that key. */
static struct yaml *add(struct yaml_reader *reader, enum yaml_kind kind, u32 line, u32 column)
{
    if (++reader->nodes > YAML_MAX_NODES) {
        fail(reader, line, column, "too many values");
        return NULL;
    }
    struct yaml *node = arena_new(reader->arena, struct yaml);
    node->kind = kind;
    node->line = line;
    node->column = column;
    node->text = "";
    if (!reader->depth) {
        reader->root = node;
        return node;
    }
    struct yaml *parent = reader->open[reader->depth - 1];
    assert(parent);
    if (parent->kind == YAML_MAP) {
        node->key = reader->key;
        node->key_line = reader->key_line;
        node->key_column = reader->key_column;
        reader->have_key = false;
        if (parent->count >= YAML_MAX_KEYS) {
            fail(reader, line, column, "too many keys in one mapping");
            return NULL;
        }
    }
    yaml_append(parent, node);
    return node;
}

static bool expects_key(const struct yaml_reader *reader)
{
    const struct yaml *parent = reader->depth ? reader->open[reader->depth - 1] : NULL;
    return parent && parent->kind == YAML_MAP && !reader->have_key;
}

static bool take_key(struct yaml_reader *reader, const char *text, u32 line, u32 column)
{
    const struct yaml *twin = yaml_get(reader->open[reader->depth - 1], text);
    if (twin) {
        char message[256];
        snprintf(message, sizeof message, "duplicate key '%.64s': first given in line %u",
                 text_printable(reader->arena, text), twin->key_line);
        return fail(reader, line, column, message);
    }
    reader->have_key = true;
    reader->key = text;
    reader->key_line = line;
    reader->key_column = column;
    return true;
}

/*
 * The text of a token, in the arena, or NULL. A quote inside single quotes is written twice; this
 * is undone here, because fy_token_get_text leaks memory if there are many (libfyaml issue 233),
 * and refused in text of several lines, which only libfyaml can fold.
 */
static char *scalar_text(struct yaml_reader *reader, struct fy_token *token, size_t *length)
{
    const struct fy_mark *start = fy_token_start_mark(token), *end = fy_token_end_mark(token);
    if (fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED && start && end) {
        const char *raw = reader->text + start->input_pos;
        size_t size = end->input_pos - start->input_pos;
        bool folded = memchr(raw, '\n', size) || memchr(raw, '\r', size);
        if (folded && memchr(raw, '\'', size))
            return NULL;
        if (!folded) {
            char *copy = arena_alloc(reader->arena, size + 1);
            for (size_t i = 0; i < size; i++) {
                copy[(*length)++] = raw[i];
                i += raw[i] == '\'';
            }
            return copy;
        }
    }
    const char *text = fy_token_get_text(token, length);
    return text ? arena_strndup(reader->arena, text, *length) : NULL;
}

static bool take_scalar(struct yaml_reader *reader, struct fy_event *event, u32 line, u32 column)
{
    size_t length = 0;
    struct fy_token *token = event->scalar.value;
    const char *copy = token ? scalar_text(reader, token, &length) : "";
    if (!copy)
        return fail(reader, line, column,
                    "quotes inside single-quoted text of several lines: write it in double quotes");
    if (memchr(copy, 0, length))
        return fail(reader, line, column, "control characters are not allowed");
    if (expects_key(reader))
        return take_key(reader, copy, line, column);
    struct yaml *node = add(reader, YAML_SCALAR, line, column);
    if (!node)
        return false;
    node->text = copy;
    node->quoted = token && fy_token_scalar_style(token) != FYSS_PLAIN;
    if (!length && node->key) {
        node->line = node->key_line;
        node->column = node->key_column;
    }
    return true;
}

static bool take_start(struct yaml_reader *reader, enum yaml_kind kind, u32 line, u32 column)
{
    if (expects_key(reader))
        return fail(reader, line, column, "a key must be a word, not a list or mapping");
    if (reader->depth == YAML_MAX_DEPTH)
        return fail(reader, line, column, "nested too deeply");
    struct yaml *node = add(reader, kind, line, column);
    if (!node)
        return false;
    reader->open[reader->depth++] = node;
    reader->have_key = false;
    return true;
}

static bool take_event(struct yaml_reader *reader, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    u32 line = mark ? (u32)mark->line + 1 : 1, column = mark ? (u32)mark->column + 1 : 1;
    if (fy_event_get_anchor_token(event) || event->type == FYET_ALIAS)
        return fail(reader, line, column, "anchors and aliases are not supported: write the value");
    if (fy_event_get_tag_token(event))
        return fail(reader, line, column, "tags are not supported: write the plain value");
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (reader->documents++)
            return fail(reader, line, column, "expected one document in a file");
        return true;
    case FYET_MAPPING_START:
        return take_start(reader, YAML_MAP, line, column);
    case FYET_SEQUENCE_START:
        return take_start(reader, YAML_LIST, line, column);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        assert(reader->depth);
        reader->depth--;
        reader->have_key = false;
        return true;
    case FYET_SCALAR:
        return take_scalar(reader, event, line, column);
    default:
        return true;
    }
}

static bool syntax_error(struct yaml_reader *reader, struct fy_diag *diag)
{
    void *position = NULL;
    const struct fy_diag_error *first = fy_diag_errors_iterate(diag, &position);
    if (!first)
        return error_set(reader->error, ERROR_INPUT, reader->place, "this is not valid YAML");
    char message[256];
    snprintf(message, sizeof message, "YAML: %s", first->msg);
    return fail(reader, first->line > 0 ? (u32)first->line : 1,
                first->column > 0 ? (u32)first->column : 1, message);
}

static void discard(struct fy_diag *diag, void *user, const char *text, size_t length)
{
}

struct yaml *yaml_parse(struct arena *arena, const char *text, size_t length, const char *place,
                        struct error *error)
{
    struct yaml_reader reader = {.arena = arena, .place = place, .text = text, .error = error};
    if (!check_text(&reader, text, length))
        return NULL;
    if (!length) {
        add(&reader, YAML_SCALAR, 1, 1);
        return reader.root;
    }
    struct fy_diag_cfg diag_config = {
        .output_fn = discard, .level = FYET_ERROR, .module_mask = ~0u};
    struct fy_diag *diag = fy_diag_create(&diag_config);
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                           FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
                                  .diag = diag};
    if (diag)
        fy_diag_set_collect_errors(diag, true);
    struct fy_parser *parser = diag ? fy_parser_create(&config) : NULL;
    bool ok = parser && fy_parser_set_string(parser, text, length) == 0;
    if (!ok)
        error_set(error, ERROR_MEMORY, place, "out of memory");
    bool ended = false;
    while (ok && !ended) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event) {
            ok = syntax_error(&reader, diag);
            break;
        }
        ended = event->type == FYET_STREAM_END;
        ok = take_event(&reader, event);
        fy_parser_event_free(parser, event);
    }
    if (ok && !reader.root) /* the text has only comments */
        add(&reader, YAML_SCALAR, 1, 1);
    if (parser)
        fy_parser_destroy(parser);
    if (diag)
        fy_diag_destroy(diag);
    return ok ? reader.root : NULL;
}

void yaml_append(struct yaml *parent, struct yaml *child)
{
    *(parent->last ? &parent->last->next : &parent->first) = child;
    parent->last = child;
    parent->count++;
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
    for (const struct yaml *child = map->first; child; child = child->next)
        if (child->key && !strcmp(child->key, key))
            return child;
    return NULL;
}

const char *yaml_kind_name(const struct yaml *node)
{
    if (node->kind == YAML_MAP)
        return "a mapping";
    if (node->kind == YAML_LIST)
        return "a list";
    return node->text[0] || node->quoted ? "text" : "nothing";
}
