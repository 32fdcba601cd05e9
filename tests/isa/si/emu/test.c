/*
 * Southern Islands programs through Heddle and through the emulator of this folder.
 *
 *   si-emu self                          the emulator against the host and known results
 *   si-emu edges ROUNDS [NAME [SEED]]    every instruction (or the one named) over edge values
 *   si-emu random FIRST COUNT [MIX]      random programs; mixes: all scalar vector float ...
 *   si-emu words FIRST MIX               a random program's words
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "self.h"

/* MODE: rounding (of f32 and f64 apart), subnormals, DX10_CLAMP, IEEE. The first is what raw
 * programs start with. */
static const u32 edge_modes[] = {0x1c0, 0x3f6, 0x0f9, 0x203, 0x10e, 0x1d0, 0x02f};

static int finish(const struct tally *t, const char *what)
{
    u32 ops = 0, bad = 0;
    for (u32 i = 0; i < OPS; i++) {
        ops += t->seen[i] != 0;
        bad += t->bad[i] != 0;
        if (t->bad[i])
            printf("  %-28s %u differences in %u\n", rows[i].name, t->bad[i], t->seen[i]);
    }
    printf("%s: %llu programs, %llu instructions of %u kinds, %llu differences in %u kinds\n", what,
           (unsigned long long)t->programs, (unsigned long long)t->instructions, ops,
           (unsigned long long)t->differences, bad);
    return t->differences != 0;
}

static int edges(const char *name, u64 seed, u32 rounds)
{
    struct heddle *heddle = heddle_open();
    struct program *p = calloc(1, sizeof *p);
    struct tally tally = {.show_limit = 200};
    assert(p && heddle);
    for (u32 op = 0; op < OPS; op++) {
        if (name && strcmp(name, rows[op].name) != 0)
            continue;
        for (u32 i = 0; i < rounds; i++) {
            u32 mode = edge_modes[(op + seed + i) % (sizeof edge_modes / sizeof *edge_modes)];
            generate_edges(p, (enum op)op, mode, seed + i);
            compare_run(heddle, p, &tally);
            emu_free(&p->start);
        }
    }
    for (u64 i = 0; !name && i < 8 * (u64)rounds; i++)
        for (u32 which = 0; known_program(p, which, seed + i); which++) {
            compare_run(heddle, p, &tally);
            emu_free(&p->start);
        }
    free(p);
    heddle_close(heddle);
    u32 missed = 0;
    for (u32 op = 0; op < OPS && !name; op++)
        if (!tally.seen[op] && rows[op].group != G_CONTROL) {
            printf("  %s was never executed\n", rows[op].name);
            missed++;
        }
    return finish(&tally, "edges") || missed;
}

static const struct mix *mix_of(const char *name)
{
    for (u32 i = 0; name && i < mix_count; i++)
        if (!strcmp(mixes[i].name, name))
            return &mixes[i];
    return NULL;
}

static int random_programs(u64 first, u64 count, const struct mix *mix)
{
    struct heddle *heddle = heddle_open();
    struct program *p = calloc(1, sizeof *p);
    struct tally tally = {.show_limit = 60};
    assert(p && heddle);
    for (u64 seed = first; seed < first + count; seed++) {
        generate(p, seed, mix ? mix : &mixes[seed % mix_count]);
        compare_run(heddle, p, &tally);
        emu_free(&p->start);
    }
    free(p);
    heddle_close(heddle);
    return finish(&tally, "random");
}

static int print_words(u64 seed, const struct mix *mix)
{
    struct program *p = calloc(1, sizeof *p);
    assert(p);
    generate(p, seed, mix ? mix : &mixes[seed % mix_count]);
    for (u32 i = 0; i < p->count; i++)
        printf("%4u  %08x\n", 4 * i, p->words[i]);
    emu_free(&p->start);
    free(p);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "self"))
        return self_check();
    if (argc >= 3 && !strcmp(argv[1], "edges"))
        return edges(argc > 3 && strcmp(argv[3], "all") ? argv[3] : NULL,
                     argc > 4 ? strtoull(argv[4], NULL, 0) : 1, (u32)strtoul(argv[2], NULL, 0));
    if (argc >= 4 && !strcmp(argv[1], "random"))
        return random_programs(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0),
                               mix_of(argc > 4 ? argv[4] : NULL));
    if (argc == 4 && !strcmp(argv[1], "words"))
        return print_words(strtoull(argv[2], NULL, 0), mix_of(argv[3]));
    fprintf(stderr, "usage: si-emu self | edges ROUNDS [NAME [SEED]] | random FIRST COUNT [MIX] "
                    " | words SEED MIX\n");
    return 2;
}
