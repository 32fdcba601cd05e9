/*
 * MIAOW's compute unit, event by event: programs on machine miaow do in each cycle what the
 * published RTL does with them in its test bench.
 *
 * A file has a comment, the number of waves (of one workgroup, or of so many waves each), the code
 * as words, and then all steps in order, as the trace of a raw program has them: cycle, event,
 * unit, wave, pc. The steps were compared with events of the RTL, simulated, of which they are all.
 *
 * At the start v0 holds four times the lane and other vector registers what nobody else holds; s4
 * to s7 are a buffer descriptor of 64 KB at address 0, where each byte has a value of its own.
 */
#include <heddle/heddle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MOST_WORDS = 256,
    VECTORS = 4,
    SCALARS = 8,
    LANES = 64,
    MEMORY = 65536
};

static const char *folder;

/* ---- the state ---- */

static void write_wave(FILE *to, unsigned wave, unsigned group)
{
    static const unsigned scalars[SCALARS] = {1, 2, 3, 4, 0, 0, MEMORY, 0};
    fprintf(to, "%s{\"workgroup\": %u, \"sgpr\": {", wave ? ", " : "", group);
    for (unsigned s = 0; s < SCALARS; s++)
        fprintf(to, "%s\"%u\": %u", s ? ", " : "", s, scalars[s]);
    fprintf(to, "}, \"vgpr\": {");
    for (unsigned v = 0; v < VECTORS; v++) {
        fprintf(to, "%s\"%u\": [", v ? ", " : "", v);
        for (unsigned lane = 0; lane < LANES; lane++)
            fprintf(to, "%s%u", lane ? ", " : "",
                    v ? (wave * VECTORS + v) * LANES + lane + 1 : lane * 4);
        fprintf(to, "]");
    }
    fprintf(to, "}}");
}

static char *make_state(unsigned waves, unsigned each)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    fprintf(to, "{\"waves\": [");
    for (unsigned wave = 0; wave < waves; wave++)
        write_wave(to, wave, wave / each);
    fprintf(to, "], \"memory\": [{\"address\": \"0x0\", \"hex\": \"");
    for (unsigned i = 0; i < MEMORY; i++)
        fprintf(to, "%02x", (i * 7 + 3) & 255);
    fprintf(to, "\"}]}");
    fclose(to);
    return text;
}

/* ---- the run ---- */

/* The expected steps, and how many have come. */
struct expected {
    FILE *file;
    const char *name;
    unsigned count;
};

static void compare(void *user, const char *line, size_t length)
{
    struct expected *expected = user;
    char wanted[128] = "", made[128], event[16], unit[16];
    unsigned long cycle;
    unsigned wave, pc;
    if (sscanf(line,
               "{\"cycle\":%lu,\"event\":\"%15[a-z_]\",\"unit\":\"%15[a-z0-9]\",\"wave\":%u,"
               "\"pc\":%u}",
               &cycle, event, unit, &wave, &pc) != 5)
        return; /* an instruction */
    snprintf(made, sizeof made, "%lu %s %s %u %u\n", cycle, event, unit, wave, pc);
    if (!fgets(wanted, sizeof wanted, expected->file) || strcmp(wanted, made) != 0)
        fail_msg("%s, step %u: expected %sgot %s", expected->name, expected->count,
                 *wanted ? wanted : "none, ", made);
    expected->count++;
}

static unsigned read_code(FILE *file, unsigned *words)
{
    unsigned count = 0, used;
    char line[MOST_WORDS * 10];
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(strncmp(line, "code ", 5), 0);
    for (const char *at = line + 5; sscanf(at, "%x%n", &words[count], (int *)&used) == 1;
         at += used)
        assert_in_range(++count, 1, MOST_WORDS - 1);
    return count;
}

/* How a program is run, and to end. */
struct way {
    unsigned waves, each;  /* all; of a workgroup */
    const char *mechanism; /* NULL: none */
    const char *setting;   /* the same */
    enum hd_outcome outcome;
    const char *says; /* part of the explanation; NULL: there is none */
    void (*told)(void *, const char *, size_t);
    void *user; /* of told, which gets the trace */
};

static void run_words(const char *name, const unsigned *words, unsigned count,
                      const struct way *way)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, "miaow", &error));
    assert_true(!way->mechanism || hd_config_mechanism(config, way->mechanism, &error));
    assert_true(!way->setting || hd_config_set(config, way->setting, &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    struct hd_module *module = hd_module_load_raw(device, words, 4 * count, name, &error);
    assert_non_null(module);
    char *state = make_state(way->waves, way->each);
    struct hd_raw *raw = hd_raw_create(module, state, strlen(state), "state", &error);
    if (!raw || !hd_raw_run(raw, way->told, way->user, &result, &error))
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, way->outcome);
    assert_true(result.cycles > 0 && result.warp_instructions > 0);
    if (way->says && !strstr(result.explanation, way->says))
        fail_msg("%s: expected '%s' in: %s", name, way->says, result.explanation);
    char *stats = hd_stats_json(device);
    assert_non_null(stats);
    assert_non_null(strstr(stats, "\"timing.cycles\""));
    free(stats);
    free(state);
    hd_raw_destroy(raw);
    hd_module_unload(module);
    hd_device_close(device);
    hd_config_destroy(config);
}

static void run(const char *name, const char *mechanism, enum hd_outcome outcome)
{
    unsigned words[MOST_WORDS], waves, each;
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/%s.events", folder, name);
    struct expected expected = {.file = fopen(path, "r"), .name = name};
    if (!expected.file)
        fail_msg("cannot open %s", path);
    assert_non_null(fgets(line, sizeof line, expected.file));
    assert_non_null(fgets(line, sizeof line, expected.file));
    const int numbers = sscanf(line, "waves %u of %u", &waves, &each);
    assert_true(numbers >= 1);
    each = numbers == 2 ? each : waves;
    const unsigned count = read_code(expected.file, words);
    run_words(name, words, count,
              &(struct way){waves, each, mechanism, .outcome = outcome, .told = compare,
                            .user = &expected});
    if (fgets(line, sizeof line, expected.file))
        fail_msg("%s: after %u steps expected %s", name, expected.count, line);
    assert_true(expected.count > 0);
    fclose(expected.file);
}

static void events(void **name)
{
    run(*name, NULL, HD_DONE);
}

/* ---- cycles per instruction ---- */

enum {
    REPEATED = 12, /* instructions, as the published table counts them */
    SIZES = 4
};

static const unsigned sizes[SIZES] = {1, 4, 10, 40};

/* Words that are repeated, and hundredths of cycles between issues for each of `sizes`. */
static const struct steady {
    const char *name;
    unsigned words[4], count, instructions;
    unsigned hundredths[SIZES]; /* 0: not published */
} steady[] = {
    {"scalar", {0xbe800303, 0xbe810303}, 2, 2, {700, 600, 600, 600}},
    {"simd", {0x7e020300, 0x7e040300}, 2, 2, {700, 170, 173, 175}},
    {"simd, dependent", {0x36020101}, 1, 1, {1100}},
    {"simf add", {0x06020700, 0x06040700}, 2, 2, {2200, 1013, 1050, 1069}},
    {"simf mul", {0x10020700, 0x10040700}, 2, 2, {7291}},
    {"v_mul_hi", {0xd2d40001, 0x00020700, 0xd2d40002, 0x00020700}, 4, 2, {945}},
    {"s_load", {0xc0000500, 0xc0008500}, 2, 2, {800, 800}},
    {"tbuffer_load", {0xe8201000, 0x80010100, 0xe8201000, 0x80010200}, 4, 2, {13400, 13400}},
    {"in turn", {0xbe800381, 0x7e020282, 0x06040700}, 3, 3, {1409, 0, 352}},
};

struct issues {
    unsigned count;
    unsigned long first, last;
};

static void count_issues(void *user, const char *line, size_t length)
{
    struct issues *issues = user;
    unsigned long cycle;
    (void)length;
    if (!strstr(line, "\"event\":\"issue\"") || sscanf(line, "{\"cycle\":%lu", &cycle) != 1)
        return;
    if (!issues->count++)
        issues->first = cycle;
    issues->last = cycle;
}

static void cycles_of(const struct steady *row, unsigned waves, unsigned wanted)
{
    unsigned words[MOST_WORDS], count = 0;
    struct issues issues = {0};
    for (unsigned i = 0; i < REPEATED / row->instructions; i++)
        for (unsigned k = 0; k < row->count; k++)
            words[count++] = row->words[k];
    words[count++] = 0xbf810000; /* s_endpgm */
    run_words(row->name, words, count,
              &(struct way){waves, waves, .told = count_issues, .user = &issues});
    assert_int_equal(issues.count, waves * REPEATED);
    const unsigned long steps = issues.count - 1;
    const unsigned long got = ((issues.last - issues.first) * 100 + steps / 2) / steps;
    if (got != wanted)
        fail_msg("%s, %u waves: expected %u hundredths of a cycle, got %lu", row->name, waves,
                 wanted, got);
}

static void published_cycles(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof steady / sizeof *steady; i++)
        for (unsigned k = 0; k < SIZES; k++)
            if (steady[i].hundredths[k])
                cycles_of(&steady[i], sizes[k], steady[i].hundredths[k]);
}

/* ---- what instructions write ---- */

/* All lines of a trace, one after the other. */
struct kept {
    char *text;
    size_t length;
    FILE *file;
};

static void keep(void *user, const char *line, size_t length)
{
    (void)length;
    fprintf(((struct kept *)user)->file, "%s\n", line);
}

static char *trace(const char *name, const unsigned *words, unsigned count)
{
    struct kept kept = {0};
    kept.file = open_memstream(&kept.text, &kept.length);
    assert_non_null(kept.file);
    run_words(name, words, count, &(struct way){1, 1, .told = keep, .user = &kept});
    fclose(kept.file);
    return kept.text;
}

/* The first row is free, and overwritten, while the others are still to come: the load's own line
 * has what the load wrote. */
static void rows_of_a_load(void **state)
{
    static const unsigned words[] = {
        0xe86b1000, 0x80010100, /* tbuffer_load_format_xyzw v[1:4], v0, s[4:7], offen */
        0x7e0202ff, 0x00012345, /* v_mov_b32 v1, 0x12345 */
        0xbf810000,
    };
    (void)state;
    char *text = trace("rows", words, sizeof words / 4);
    const char *load = strstr(text, "\"text\":\"tbuffer_load");
    const char *move = strstr(text, "\"text\":\"v_mov_b32");
    assert_non_null(load);
    assert_non_null(move);
    assert_true(load < move);
    /* lane 0 reads bytes 0 to 3 of memory: i * 7 + 3 */
    const char *row = strstr(load, "\"vgpr\":{\"1\":[");
    assert_true(row && row < move);
    assert_int_equal(strtoul(strchr(row, '[') + 1, NULL, 10), 0x18110a03);
    assert_non_null(strstr(move, "\"1\":[74565,"));
    /* and it was overwritten before the load was done */
    const char *done = strstr(text, "\"event\":\"done\",\"unit\":\"lsuv\"");
    const char *moved = strstr(text, "\"event\":\"done\",\"unit\":\"simd0\"");
    assert_true(done && moved && moved < done);
    free(text);
}

/* The RTL's decoder and scalar ALU have s_mulk_i32 write SCC as s_addk_i32 does: the same steps. */
static void constants_write_scc(void **state)
{
    unsigned words[] = {
        0x80080302, /* s_add_u32 s8, s2, s3 */
        0xb7810003, /* s_addk_i32 s1, 3 */
        0x82090302, /* s_addc_u32 s9, s2, s3: reads SCC */
        0xbf810000,
    };
    (void)state;
    char *added = trace("s_addk", words, sizeof words / 4);
    words[1] = 0xb8010003; /* s_mulk_i32 s1, 3 */
    char *multiplied = trace("s_mulk", words, sizeof words / 4);
    const char *a = added, *m = multiplied;
    unsigned steps = 0;
    for (; (a = strstr(a, "{\"cycle\"")) && (m = strstr(m, "{\"cycle\"")); a++, m++, steps++)
        assert_memory_equal(a, m, strcspn(a, "\n"));
    assert_true(steps > 20 && !a && !strstr(m + 1, "{\"cycle\""));
    /* SCC keeps its value: not in the instruction's line, and s9 = 2 + 3 + no carry */
    assert_null(strstr(strstr(multiplied, "\"text\":\"s_mulk"), "\"1\":6,\"scc\""));
    assert_non_null(strstr(multiplied, "\"sgpr\":{\"1\":6}}"));
    free(added);
    free(multiplied);
}

/* ---- observers, and other ends ---- */

static void lookers_on(void **state)
{
    (void)state;
    run("units_w3", "waits", HD_CHECK); /* it does not wait, and need not */
    run("units_w3", "class_cycles", HD_DONE);
    run("units_w3", "redundancy", HD_DONE);
}

static void ends(void **state)
{
    static const unsigned outside[] = {0xbe8803ff, 0x7ffffff0, 0xbe8903ff,
                                       0x00007fff, 0xc0000900, 0xbf810000};
    static const unsigned for_ever[] = {0x80008100, 0xbf82fffe, 0xbf810000};
    struct issues issues = {0};
    (void)state;
    run_words("outside", outside, sizeof outside / 4,
              &(struct way){2, 2, NULL, NULL, HD_OUT_OF_BOUNDS, "s_load_dword s0, s[8:9]",
                            count_issues, &issues});
    run_words("for ever", for_ever, sizeof for_ever / 4,
              &(struct way){2, 2, NULL, "timing.max_cycles=2000", HD_LIMIT, "timing.max_cycles",
                            count_issues, &issues});
}

/* With memory.bounds=warn a scalar load reads zero beyond memory. */
static void beyond(void **state)
{
    static const unsigned words[] = {
        0xbe8803ff, 0x0000fffc, /* s_mov_b32 s8, 0xfffc: the last word */
        0xbe890380,             /* s_mov_b32 s9, 0 */
        0xc0400900,             /* s_load_dwordx2 s[0:1], s[8:9], 0x0 */
        0xbf810000,
    };
    struct kept kept = {0};
    (void)state;
    kept.file = open_memstream(&kept.text, &kept.length);
    assert_non_null(kept.file);
    run_words("beyond", words, sizeof words / 4,
              &(struct way){1, 1, NULL, "memory.bounds=warn", .told = keep, .user = &kept});
    fclose(kept.file);
    assert_non_null(strstr(kept.text, "\"sgpr\":{\"0\":4243975911,\"1\":0}"));
    free(kept.text);
}

static void cache_sizes(void **state)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    (void)state;
    assert_true(hd_config_load(config, "miaow", &error));
    assert_true(hd_config_set(config, "miaow.cache_bytes=1000", &error));
    assert_null(hd_device_open(config, &error));
    assert_non_null(strstr(error.message, "miaow.cache_bytes"));
    hd_config_destroy(config);
}

int main(int argc, char **argv)
{
    static char *const names[] = {"salu_dep_w1", "mix_w1",   "mix_w10",    "loopbr_w1",
                                  "barrier_w4",  "bufld_w4", "loopbr_w4",  "loopbr_w10",
                                  "units_w3",    "all_w40",  "compare_w3", "barrier_w4_2",
                                  "memory_w4",   "mad_w2"};
    enum {
        FILES = sizeof names / sizeof *names
    };
    struct CMUnitTest all[FILES + 7] = {[FILES] = cmocka_unit_test(published_cycles),
                                        cmocka_unit_test(rows_of_a_load),
                                        cmocka_unit_test(constants_write_scc),
                                        cmocka_unit_test(lookers_on),
                                        cmocka_unit_test(ends),
                                        cmocka_unit_test(beyond),
                                        cmocka_unit_test(cache_sizes)};
    for (unsigned i = 0; i < FILES; i++)
        all[i] = (struct CMUnitTest){
            .name = names[i], .test_func = events, .initial_state = (void *)names[i]};
    folder = argc > 1 ? argv[1] : "tests/gpu/miaow";
    return cmocka_run_group_tests(all, NULL, NULL);
}
