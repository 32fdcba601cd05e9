/*
 * Words to text and back: the text of many instructions goes through one run of llvm-mc, and the
 * bytes must be the same.
 *
 *   si-roundtrip LLVM-MC|none rows PER-ROW SEED
 *       Every row of the table, in each format it has, with random operands and modifiers. At least
 *       one instruction of each must be text proper, not .long, unless the table says that the
 *       assembler does not know it.
 *   si-roundtrip LLVM-MC|none objects FOLDER
 *       All code of the code objects there. It came from compilers, so nothing may be .long.
 *
 * Without an assembler the test is skipped, aloud.
 */
#include "generate.h"

#include <elf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

struct sample {
    u32 words[2];
    u32 size;
    const struct si_op *op;
};

struct run {
    struct sample *samples;
    u32 count, room;
    u32 as_long; /* of them, given as .long */
    u32 failures;
    FILE *text;
    u64 random;
};

static void fail(struct run *run, const struct si_op *op, const char *what)
{
    printf("%s (%s): %s\n", op->name, op->signature, what);
    run->failures++;
}

static void add(struct run *run, const struct si_inst *inst, const char *text)
{
    if (run->count == run->room) {
        run->room = run->room * 2 + 1024;
        run->samples = realloc(run->samples, run->room * sizeof(*run->samples));
        if (!run->samples)
            abort();
    }
    run->samples[run->count++] =
        (struct sample){{inst->words[0], inst->words[1]}, inst->size, inst->op};
    fprintf(run->text, "%s\n", text);
}

static void sample_row(struct run *run, const struct si_op *op, enum si_format format, u32 count)
{
    bool known = !(op->flags & SI_NO_ASM) && !(format == SI_VOP3 && op->flags & SI_NO_E64);
    u32 proper = 0;
    char text[SI_TEXT];
    struct si_inst inst;
    for (u32 i = 0; i < count; i++) {
        bool stray = i == 7 && format != SI_SOPC; /* one in a while with unused bits set */
        if (!generate(op, format, stray, &run->random, &inst)) {
            if (!stray)
                fail(run, op, "no random words decode");
            continue;
        }
        if (inst.op != op || inst.format != format)
            fail(run, op, "decodes as another instruction");
        si_text(&inst, text, sizeof(text));
        bool is_long = !strncmp(text, ".long", 5);
        proper += !is_long;
        run->as_long += is_long;
        add(run, &inst, text);
    }
    if (known != (proper > 0))
        fail(run, op, known ? "never given as text" : "given as text that nobody knows");
}

static u8 *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    u8 *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        abort();
    fclose(file);
    return bytes;
}

/* The section .text of the object llvm-mc wrote; the file is trusted. */
static const u8 *text_section(const u8 *object, size_t *size)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(object + header->e_shoff);
    const char *names = (const char *)object + sections[header->e_shstrndx].sh_offset;
    for (u32 i = 0; i < header->e_shnum; i++)
        if (!strcmp(names + sections[i].sh_name, ".text")) {
            *size = sections[i].sh_size;
            return object + sections[i].sh_offset;
        }
    return NULL;
}

/* The first difference: from there on the two may be out of step. */
static void compare(struct run *run, const u8 *code, size_t size)
{
    size_t at = 0;
    for (u32 i = 0; i < run->count; i++) {
        const struct sample *sample = &run->samples[i];
        if (at + sample->size > size || memcmp(code + at, sample->words, sample->size)) {
            u32 got[2] = {0};
            memcpy(got, code + at, at + 8 <= size ? 8 : at + 4 <= size ? 4 : 0);
            printf("line %u: %08x %08x became %08x %08x\n", i + 1, sample->words[0],
                   sample->size == 8 ? sample->words[1] : 0, got[0], got[1]);
            fail(run, sample->op, "comes back as other words");
            return;
        }
        at += sample->size;
    }
    if (at != size)
        fail(run, &si_ops[0], "more came back than was given");
}

/* Runs llvm-mc on FOLDER/text.s; the bytes of its section .text are compared. */
static bool assemble(struct run *run, const char *llvm_mc, const char *folder)
{
    char command[2048], path[64];
    snprintf(command, sizeof(command),
             "'%s' -arch=amdgcn -mcpu=tahiti -filetype=obj -o %s/text.o %s/text.s 2>&1", llvm_mc,
             folder, folder);
    int status = system(command); /* the assembler's errors show the lines */
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        printf("llvm-mc refuses text\n");
        return false;
    }
    size_t size = 0, code_size = 0;
    snprintf(path, sizeof(path), "%s/text.o", folder);
    u8 *object = read_file(path, &size);
    const u8 *code = object ? text_section(object, &code_size) : NULL;
    if (code)
        compare(run, code, code_size);
    free(object);
    return code && !run->failures;
}

static void sample_all(struct run *run, u32 per_row)
{
    for (u32 row = 0; row < SI_OP_COUNT; row++) {
        const struct si_op *op = &si_ops[row];
        sample_row(run, op, op->format, per_row);
        if (has_long_form(op))
            sample_row(run, op, SI_VOP3, per_row);
    }
}

/* All instructions of a code object, one after another. */
static void sample_object(struct run *run, const char *path)
{
    size_t size = 0, bytes = 0;
    u8 *object = read_file(path, &size);
    const u32 *code = object ? (const u32 *)text_section(object, &bytes) : NULL;
    if (!code) {
        printf("%s: no code\n", path);
        run->failures++;
        return;
    }
    for (size_t at = 0; at < bytes / 4;) {
        char text[SI_TEXT];
        struct si_inst inst;
        struct error error;
        if (!si_decode(code + at, bytes / 4 - at, 4 * at, &inst, &error)) {
            printf("%s: %s\n", path, error.message);
            run->failures++;
            break;
        }
        if (!strncmp(si_text(&inst, text, sizeof(text)), ".long", 5))
            fail(run, inst.op, text);
        add(run, &inst, text);
        at += inst.size / 4;
    }
    free(object);
}

static void sample_objects(struct run *run, const char *folder)
{
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*.so", folder);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        sample_object(run, found.gl_pathv[i]);
    printf("%zu code objects\n", found.gl_pathc);
    globfree(&found);
}

static void remove_files(const char *folder)
{
    static const char *const names[] = {"text.s", "text.o", ""};
    char path[64];
    for (u32 i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
}

int main(int count, char **args)
{
    char folder[] = "/tmp/si-roundtrip-XXXXXX", path[64];
    bool rows = count == 5 && !strcmp(args[2], "rows");
    if (!rows && (count != 4 || strcmp(args[2], "objects") != 0))
        return 2;
    if (!strcmp(args[1], "none")) {
        printf("skipped: there is no llvm-mc; scripts/deps test installs it (package llvm-14)\n");
        return 77;
    }
    if (!mkdtemp(folder))
        return 2;
    struct run run = {.random = rows ? strtoull(args[4], NULL, 10) : 0};
    snprintf(path, sizeof(path), "%s/text.s", folder);
    run.text = fopen(path, "w");
    if (!run.text)
        return 2;
    if (rows)
        sample_all(&run, (u32)strtoul(args[3], NULL, 10));
    else
        sample_objects(&run, args[3]);
    fclose(run.text);
    bool fine = assemble(&run, args[1], folder) && !run.failures && run.count;
    printf("%u instructions, %u of them as .long\n", run.count, run.as_long);
    remove_files(folder);
    free(run.samples);
    return fine ? 0 : 1;
}
