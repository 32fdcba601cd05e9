/* The directives of PTX 3.0 to 9.0, by what they do: see parse.h. */
#include "base/text.h"
#include "isa/ptx/parse.h"

#include <stdlib.h>

struct word {
    const char *text;
    enum ptx_word_class class;
};

/* clang-format off */
static const struct word words[] = { /* sorted by text */
    {".abi_preserve", WORD_TUNING},
    {".abi_preserve_control", WORD_TUNING},
    {".address_size", WORD_MODULE},
    {".alias", WORD_MODULE},
    {".align", WORD_QUALIFIER},
    {".attribute", WORD_QUALIFIER},
    {".b128", WORD_TYPE},
    {".b16", WORD_TYPE},
    {".b32", WORD_TYPE},
    {".b64", WORD_TYPE},
    {".b8", WORD_TYPE},
    {".bf16", WORD_TYPE},
    {".bf16x2", WORD_TYPE},
    {".blocksareclusters", WORD_TUNING},
    {".branchtargets", WORD_STATEMENT},
    {".callprototype", WORD_STATEMENT},
    {".calltargets", WORD_STATEMENT},
    {".common", WORD_LINKAGE},
    {".const", WORD_SPACE},
    {".entry", WORD_FUNCTION},
    {".explicitcluster", WORD_TUNING},
    {".extern", WORD_LINKAGE},
    {".f16", WORD_TYPE},
    {".f16x2", WORD_TYPE},
    {".f32", WORD_TYPE},
    {".f64", WORD_TYPE},
    {".file", WORD_MODULE},
    {".func", WORD_FUNCTION},
    {".global", WORD_SPACE},
    {".loc", WORD_STATEMENT},
    {".local", WORD_SPACE},
    {".maxclusterrank", WORD_TUNING},
    {".maxnctapersm", WORD_TUNING},
    {".maxnreg", WORD_TUNING},
    {".maxntid", WORD_TUNING},
    {".minnctapersm", WORD_TUNING},
    {".noreturn", WORD_TUNING},
    {".param", WORD_SPACE},
    {".pragma", WORD_STATEMENT},
    {".pred", WORD_TYPE},
    {".ptr", WORD_QUALIFIER},
    {".reg", WORD_SPACE},
    {".reqnctapercluster", WORD_TUNING},
    {".reqntid", WORD_TUNING},
    {".s16", WORD_TYPE},
    {".s32", WORD_TYPE},
    {".s64", WORD_TYPE},
    {".s8", WORD_TYPE},
    {".samplerref", WORD_TYPE},
    {".section", WORD_MODULE},
    {".shared", WORD_SPACE},
    {".sreg", WORD_SPACE},
    {".surfref", WORD_TYPE},
    {".target", WORD_MODULE},
    {".tex", WORD_SPACE},
    {".texref", WORD_TYPE},
    {".u16", WORD_TYPE},
    {".u32", WORD_TYPE},
    {".u64", WORD_TYPE},
    {".u8", WORD_TYPE},
    {".unique", WORD_TUNING},
    {".v2", WORD_VECTOR},
    {".v4", WORD_VECTOR},
    {".v8", WORD_VECTOR},
    {".version", WORD_MODULE},
    {".visible", WORD_LINKAGE},
    {".weak", WORD_LINKAGE},
};
/* clang-format on */

static int compare(const void *key, const void *entry)
{
    const struct ptx_token *token = key;
    const struct word *word = entry;
    int order = strncmp(token->start, word->text, token->length);
    return order ? order : -(int)(word->text[token->length] != '\0');
}

enum ptx_word_class ptx_word_class(const struct ptx_token *token)
{
    if (token->kind != TOKEN_DIRECTIVE)
        return WORD_NONE;
    const struct word *word = bsearch(token, words, ARRAY_LEN(words), sizeof words[0], compare);
    return word ? word->class : WORD_NONE;
}

void ptx_report_directive(struct ptx_parser *p, unsigned classes, const char *expected)
{
    enum {
        LONGEST = 40
    };
    if (ptx_word_class(&p->token) != WORD_NONE || p->token.kind != TOKEN_DIRECTIVE) {
        ptx_report_found(p, expected);
        return;
    }
    const char *nearest = NULL;
    if (p->token.length < LONGEST) {
        const char *candidates[ARRAY_LEN(words)];
        size_t count = 0;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (classes >> words[i].class & 1)
                candidates[count++] = words[i].text;
        char spelt[LONGEST];
        memcpy(spelt, p->token.start, p->token.length);
        spelt[p->token.length] = '\0';
        nearest = nearest_word(spelt, candidates, count);
    }
    char quoted[PTX_QUOTE];
    ptx_quote(&p->token, quoted);
    if (nearest)
        ptx_report(p, p->token.place, "unknown directive %s, did you mean '%s'?", quoted, nearest);
    else
        ptx_report(p, p->token.place, "unknown directive %s, expected %s", quoted, expected);
}
