/* The kinds of executors: see executor.h. */
#include "lab/executor.h"

#include "base/text.h"
#include <stdlib.h>

extern const struct executor_kind executor_local, executor_command, executor_slurm;

const struct executor_kind *const executor_kinds[] = {&executor_local, &executor_command,
                                                      &executor_slurm, NULL};

struct executor *executor_open(const struct executor_setup *setup, const char *text,
                               struct error *error)
{
    size_t length = strcspn(text, ":");
    struct arena *arena = arena_create();
    const char *forms = "";
    struct executor *executor = NULL;
    const struct executor_kind *kind = NULL;
    for (u32 i = 0; executor_kinds[i]; i++) {
        const struct executor_kind *one = executor_kinds[i];
        forms = arena_printf(arena, "%s%s%s", forms,
                             !i                      ? ""
                             : executor_kinds[i + 1] ? ", "
                                                     : " or ",
                             one->form);
        if (strlen(one->name) == length && !memcmp(one->name, text, length))
            kind = one;
    }
    if (!kind)
        error_fill(error, ERROR_USAGE, "", "'%s': expected %s", shown_text(arena, text, 60), forms);
    else if (kind->needs_folder && !setup->folder)
        error_fill(error, ERROR_USAGE, "", "%s needs a folder for its files", kind->name);
    else
        executor = kind->open(setup, text[length] ? text + length + 1 : "", error);
    arena_destroy(arena);
    return executor;
}

const char *shell_quoted(struct arena *arena, const char *word)
{
    if (word[0] && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")])
        return word;
    const char *text = "'";
    for (; *word; word++)
        text = *word == '\'' ? arena_printf(arena, "%s'\\''", text)
                             : arena_printf(arena, "%s%c", text, *word);
    return arena_printf(arena, "%s'", text);
}
