/* Build options: see options.h. */
#include "opencl/options.h"

struct option_word {
    const char *name;
    u32 use;            /* enum options_for */
    const char *passed; /* argument for the compiler; NULL: none */
};

/*
 * Deliberately not passed on: -cl-opt-disable, because code without any optimization does not get
 * through the PTX back end (a structure as an argument is enough); -cl-kernel-arg-info, which is
 * always on; -g, because there is no debugger to read it.
 */
static const struct option_word WORDS[] = {
    {"-cl-single-precision-constant", OPTIONS_COMPILE, "-cl-single-precision-constant"},
    {"-cl-denorms-are-zero", OPTIONS_BUILD, "-cl-denorms-are-zero"},
    {"-cl-fp32-correctly-rounded-divide-sqrt", OPTIONS_COMPILE,
     "-cl-fp32-correctly-rounded-divide-sqrt"},
    {"-cl-opt-disable", OPTIONS_COMPILE, NULL},
    {"-cl-strict-aliasing", OPTIONS_COMPILE, NULL},
    {"-cl-mad-enable", OPTIONS_COMPILE, "-cl-mad-enable"},
    {"-cl-no-signed-zeros", OPTIONS_BUILD, "-cl-no-signed-zeros"},
    {"-cl-unsafe-math-optimizations", OPTIONS_BUILD, "-cl-unsafe-math-optimizations"},
    {"-cl-finite-math-only", OPTIONS_BUILD, "-cl-finite-math-only"},
    {"-cl-fast-relaxed-math", OPTIONS_BUILD, "-cl-fast-relaxed-math"},
    {"-w", OPTIONS_COMPILE, "-w"},
    {"-Werror", OPTIONS_COMPILE, "-Werror"},
    {"-cl-std=CL1.0", OPTIONS_COMPILE, "-cl-std=CL1.0"},
    {"-cl-std=CL1.1", OPTIONS_COMPILE, "-cl-std=CL1.1"},
    {"-cl-std=CL1.2", OPTIONS_COMPILE, "-cl-std=CL1.2"},
    {"-cl-kernel-arg-info", OPTIONS_COMPILE, NULL},
    {"-g", OPTIONS_COMPILE, NULL},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word, or NULL at the end. An unclosed quote ends with the text. */
static const char *next_word(const char **text, struct arena *arena)
{
    const char *at = *text;
    while (is_space(*at))
        at++;
    if (!*at)
        return NULL;
    char *word = arena_alloc(arena, strlen(at) + 1), *out = word, quote = 0;
    for (; *at && (quote || !is_space(*at)); at++) {
        if (*at == '\\' && at[1] && strchr("\\\"' ", at[1]))
            *out++ = *++at;
        else if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? 0 : *at;
        else
            *out++ = *at;
    }
    *text = at;
    return word;
}

static const struct option_word *find(const char *word, enum options_for use)
{
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (WORDS[i].use & use && !strcmp(WORDS[i].name, word))
            return &WORDS[i];
    return NULL;
}

static void pass(struct options *options, const char *word)
{
    options->words[options->count++] = word;
}

/* The text after -D or -I, in the same word or the next; NULL: none. */
static const char *value_of(const char *word, const char **text, struct arena *arena)
{
    return word[2] ? word + 2 : next_word(text, arena);
}

/* Skips an option of NVIDIA's compiler; the value of "-cl-nv-opt-level 2" is a separate word. */
static void skip_vendor(struct options *options, struct arena *arena, const char *word,
                        const char **text)
{
    const char *rest = *text, *value = strchr(word, '=') ? NULL : next_word(&rest, arena);
    options->notes =
        arena_printf(arena, "%snote: %s is ignored: it is an option of NVIDIA's compiler\n",
                     options->notes, word);
    if (value && *value != '-')
        *text = rest;
}

static bool one(struct options *options, struct arena *arena, const char *word, const char **text,
                enum options_for use)
{
    const struct option_word *known = find(word, use);
    if (known) {
        if (known->passed)
            pass(options, known->passed);
        return true;
    }
    if (use & OPTIONS_COMPILE && word[0] == '-' && (word[1] == 'D' || word[1] == 'I')) {
        const char *value = value_of(word, text, arena);
        if (!value || !*value)
            return false;
        options->relative |= word[1] == 'I' && *value != '/';
        pass(options, word[1] == 'D' ? "-D" : "-I");
        pass(options, value);
        return true;
    }
    if (!strncmp(word, "-cl-nv-", strlen("-cl-nv-"))) {
        skip_vendor(options, arena, word, text);
        return true;
    }
    if (use == OPTIONS_LINK && !strcmp(word, "-create-library"))
        return options->create_library = true;
    return use == OPTIONS_LINK && !strcmp(word, "-enable-link-options");
}

bool options_parse(struct options *options, struct arena *arena, const char *text,
                   enum options_for use)
{
    *options = (struct options){.notes = ""};
    if (!text)
        text = "";
    options->words = arena_array(arena, const char *, strlen(text) + 2);
    bool enabled = false;
    const char *word;
    while ((word = next_word(&text, arena)) != NULL) {
        enabled |= use == OPTIONS_LINK && !strcmp(word, "-enable-link-options");
        if (!one(options, arena, word, &text, use)) {
            options->wrong = word;
            return false;
        }
    }
    if (enabled && !options->create_library) { /* the option applies to libraries only */
        options->wrong = "-enable-link-options";
        return false;
    }
    return true;
}
