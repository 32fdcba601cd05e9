/* See cases.h. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
static const char begin[] =
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 room, .param .u64 flags,"
    " .param .u32 n)\n{\n"
    " .reg .pred %p<10>; .reg .b32 %r<64>; .reg .b64 %d<16>; .reg .f32 %f<8>; .reg .f64 %g<4>;\n"
    " .reg .b32 %tx, %ty, %tz, %nx, %ny, %nz, %bx, %lin, %warp, %lane, %n, %s, %x, %t;\n"
    " .reg .b64 %out, %in, %room, %flags;\n .shared .align 16 .b8 space[16384];\n"
    " mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %tz, %tid.z; mov.u32 %nx, %ntid.x;\n"
    " mov.u32 %ny, %ntid.y; mov.u32 %nz, %ntid.z; mov.u32 %bx, %ctaid.x;\n"
    " mad.lo.u32 %t, %tz, %ny, %ty; mad.lo.u32 %lin, %t, %nx, %tx;\n"
    " div.u32 %warp, %lin, LANES; rem.u32 %lane, %lin, LANES;\n"
    " ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u64 %room, [room];\n"
    " ld.param.u64 %flags, [flags]; ld.param.u32 %n, [n]; mov.u32 %s, space; mov.u32 %x, 0;\n"
    " mul.lo.u32 %t, %nx, %ny; mul.lo.u32 %t, %t, %nz; mad.lo.u32 %t, %bx, %t, %lin;\n"
    " mad.wide.u32 %out, %t, 16, %out;\n";
static const char end[] = "done:\n st.global.u32 [%out], %x;\n ret;\n}\n";

static void give_up(const char *what, const char *where)
{
    fprintf(stderr, "%s: %s\n", what, where);
    exit(2);
}

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up("cannot read", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        give_up("cannot read", path);
    fclose(file);
    return text;
}

static void read_word(struct redundant_case *c, const char *word)
{
    struct hd_dim d = {1, 1, 1};
    if (strncmp(word, "grid=", 5) == 0) {
        c->grid = (unsigned)atoi(word + 5);
    } else if (strncmp(word, "outcome=", 8) == 0) {
        snprintf(c->outcome, sizeof c->outcome, "%s", word + 8);
    } else if (strcmp(word, "spin") == 0) {
        c->spin = true;
    } else if (strcmp(word, "races") == 0) {
        c->races = true;
    } else if (strcmp(word, "clock") == 0) {
        c->clock = true;
    } else if (strcmp(word, "warp32") == 0) {
        c->warp32 = true;
    } else if (strncmp(word, "as=", 3) == 0) {
        snprintf(c->as, sizeof c->as, "%s", word + 3);
    } else if (sscanf(word, "%u,%u,%u", &d.x, &d.y, &d.z) > 0 && c->shape_count < MOST_SHAPES) {
        c->shapes[c->shape_count++] = d;
    } else {
        give_up("what is this word", word);
    }
}

static void read_title(struct redundant_case *c, char *line)
{
    char *rest = line, *word = strtok_r(NULL, " \n", &rest);
    *c = (struct redundant_case){.grid = 3, .outcome = "done"};
    if (!word)
        give_up("no name", line);
    snprintf(c->name, sizeof c->name, "%s", word);
    while ((word = strtok_r(NULL, " \n", &rest)))
        read_word(c, word);
    if (!c->shape_count)
        give_up("no shape", c->name);
}

/* The text of a case becomes that of a module. */
static char *wrap(const char *text, unsigned lanes)
{
    char *outside = calloc(1, strlen(text) + 1), *body = calloc(1, strlen(text) + 1), *ptx = NULL;
    size_t out = 0, in = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        length += text[length] != 0;
        if (strncmp(text, "//+", 3) == 0) {
            memcpy(outside + out, text + 3, length - 3);
            out += length - 3;
        } else {
            memcpy(body + in, text, length);
            in += length;
        }
        text += length;
    }
    if (asprintf(&ptx, "%s%s%s%s%s", head, outside, begin, body, end) < 0)
        give_up("no memory", "");
    for (char *at = ptx; (at = strstr(at, "LANES"));) /* as long as a number */
        memcpy(at, lanes == 64 ? "   64" : "   32", 5);
    free(outside);
    free(body);
    return ptx;
}

static void read_file(struct redundant_cases *cases, const char *folder, const char *name,
                      unsigned lanes)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_all(path), *at = strstr(text, "//#");
    while (at) {
        char *next = strstr(at + 3, "\n//#"), *body = strchr(at, '\n') + 1;
        if (next)
            *next++ = 0;
        cases->data = realloc(cases->data, (cases->count + 1) * sizeof *cases->data);
        if (!cases->data)
            give_up("no memory", "");
        struct redundant_case *c = &cases->data[cases->count++];
        body[-1] = 0;
        read_title(c, at + 3);
        c->ptx = wrap(body, lanes);
        at = next;
    }
    free(text);
}

struct redundant_cases cases_read(const char *folder, unsigned lanes)
{
    static const char *const files[] = {"flow.ptx.in", "memory.ptx.in", "sync.ptx.in",
                                        "values.ptx.in"};
    struct redundant_cases cases = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        read_file(&cases, folder, files[i], lanes);
    return cases;
}

void cases_free(struct redundant_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        free(cases->data[i].ptx);
    free(cases->data);
}
