/*
 * Raw programs in time: what waves do and leave is what they do and leave without time, and the
 * steps of their instructions are complete and in order.
 */
#include <heddle/heddle.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MOST_LINES = 20000,
    MOST_WAVES = 8,
    MOST_BYTES = 4096, /* of a program */
    KINDS = 7
};
static const char *const kinds[KINDS] = {"dispatch", "fetch", "decode", "to_issue",
                                         "issue",    "done",  "write"};

static const char *tests; /* the folder of all tests */

static char *read_file(const char *name, size_t *length)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/cli/data/si/%s", tests, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *data = calloc(1, 1 << 20);
    *length = fread(data, 1, (1 << 20) - 1, file);
    fclose(file);
    return data;
}

/* The results of a run. */
struct ran {
    char *lines[MOST_LINES];
    unsigned count;
    char *end, *stats;
    struct hd_result result;
};

static void keep(void *user, const char *line, size_t length)
{
    struct ran *ran = user;
    assert_in_range(ran->count, 0, MOST_LINES - 1);
    ran->lines[ran->count++] = strndup(line, length);
}

static void ran_free(struct ran *ran)
{
    for (unsigned i = 0; i < ran->count; i++)
        free(ran->lines[i]);
    hd_free(ran->end);
    hd_free(ran->stats);
    free(ran);
}

/* A machine, settings with spaces between them, an order of cores; each may be NULL. */
struct how {
    const char *machine, *settings, *order;
    bool untraced;
    bool resolves; /* its issue stage does some instructions itself: they go to no unit */
};

static struct hd_device *open_device(const struct how *how)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    char settings[256] = "";
    if (!hd_config_load(config, how->machine ? how->machine : "generic64", &error))
        fail_msg("%s", error.message);
    strcat(settings, how->settings ? how->settings : "");
    for (char *at, *one = strtok_r(settings, " ", &at); one; one = strtok_r(NULL, " ", &at))
        if (!hd_config_set(config, one, &error))
            fail_msg("%s", error.message);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("%s", error.message);
    hd_config_destroy(config);
    assert_true(!how->order || hd_set_core_order(device, how->order, &error));
    return device;
}

static struct ran *run_code(const void *code, size_t bytes, const char *state,
                            const struct how *how)
{
    struct hd_error error = {0};
    struct ran *ran = calloc(1, sizeof *ran);
    struct hd_device *device = open_device(how);
    struct hd_module *module = hd_module_load_raw(device, code, bytes, "program", &error);
    struct hd_raw *raw =
        module ? hd_raw_create(module, state, strlen(state), "state", &error) : NULL;
    if (!raw || !hd_raw_run(raw, how->untraced ? NULL : keep, ran, &ran->result, &error))
        fail_msg("%s", error.message);
    ran->result.explanation = NULL; /* the device's */
    ran->end = hd_raw_dump(raw);
    ran->stats = hd_stats_json(device);
    hd_raw_destroy(raw);
    hd_module_unload(module);
    hd_device_close(device);
    return ran;
}

static struct ran *run_files(const char *code, const char *state, const struct how *how)
{
    size_t bytes, length;
    char *words = read_file(code, &bytes), *text = read_file(state, &length);
    struct ran *ran = run_code(words, bytes, text, how);
    free(words);
    free(text);
    return ran;
}

/* ---- instructions ---- */

static bool is_step(const char *line)
{
    return !strncmp(line, "{\"cycle\":", 9);
}

/* The next line of a wave's instructions at or after a position; NULL: none. */
static const char *next_of(const struct ran *ran, unsigned wave, unsigned *at)
{
    unsigned other;
    while (*at < ran->count) {
        const char *line = ran->lines[(*at)++];
        if (!is_step(line) && sscanf(line, "{\"wave\":%u", &other) == 1 && other == wave)
            return line;
    }
    return NULL;
}

static void same_instructions(const struct ran *a, const struct ran *b)
{
    for (unsigned wave = 0; wave < MOST_WAVES; wave++) {
        unsigned i = 0, k = 0;
        const char *one, *other;
        do {
            one = next_of(a, wave, &i);
            other = next_of(b, wave, &k);
            if (!one || !other)
                assert_ptr_equal(one, other);
            else
                assert_string_equal(one, other);
        } while (one);
    }
}

static const struct how without_time = {.settings = "timing.functional=true"};
static const struct how machines[] = {
    {.machine = "generic64"},
    {.machine = "generic64", .settings = "issue.policy=lrr gpu.cores=2 timing.dispatch=lowest"},
    {.machine = "generic64", .settings = "fetch.decode_cycles=0 gpu.cores=1"},
    {.machine = "tahiti"},
    {.machine = "tahiti", .settings = "timing.dispatch=tables timing.fit=largest"},
    {.machine = "miaow", .resolves = true},
};
static const char *const programs[][2] = {
    {"double.bin", "double.json"},   {"writes.bin", "writes.json"},   {"getpc.bin", "wave.json"},
    {"exchange.bin", "groups.json"}, {"exchange.bin", "lonely.json"},
};

static void instructions(void **unused)
{
    for (unsigned p = 0; p < sizeof programs / sizeof *programs; p++) {
        struct ran *plain = run_files(programs[p][0], programs[p][1], &without_time);
        for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++) {
            struct ran *timed = run_files(programs[p][0], programs[p][1], &machines[m]);
            assert_true(timed->result.cycles > 0);
            assert_int_equal(timed->result.warp_instructions, plain->result.warp_instructions);
            same_instructions(plain, timed);
            assert_string_equal(plain->end, timed->end);
            ran_free(timed);
        }
        ran_free(plain);
    }
}

/*
 *   s_mov_b32 m0, -1; v_mov_b32 v1, 0; v_mov_b32 v2, 5; ds_write_b32 v1, v2 offset:256
 *   ds_read_b32 v3, v1 offset:256; s_waitcnt lgkmcnt(0); s_barrier; s_endpgm
 */
static const unsigned lds_code[] = {0xbefc03c1, 0x7e020280, 0x7e040285, 0xd8340100, 0x00000201,
                                    0xd8d80100, 0x03000001, 0xbf8c007f, 0xbf8a0000, 0xbf810000};

/* Workgroups with different waves and LDS give the same results as in functional mode. */
static void unequal(void **unused)
{
    static const char state[] =
        "{\"waves\": [{\"workgroup\": 1, \"lds_bytes\": 256}, {\"workgroup\": 2, \"lds_bytes\": "
        "512}, {\"workgroup\": 1, \"lds_bytes\": 256}, {\"workgroup\": 3}, {\"workgroup\": 2, "
        "\"lds_bytes\": 512}, {\"workgroup\": 2, \"lds_bytes\": 512}]}";
    struct ran *plain = run_code(lds_code, sizeof lds_code, state, &without_time);
    assert_int_equal(plain->result.outcome, HD_DONE);
    assert_non_null(strstr(plain->end, "\"3\": [5, "));  /* 512 bytes: it is there */
    assert_non_null(strstr(plain->end, "\"3\": [0, 0")); /* 256: it is not */
    for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct ran *timed = run_code(lds_code, sizeof lds_code, state, &machines[m]);
        same_instructions(plain, timed);
        assert_string_equal(plain->end, timed->end);
        ran_free(timed);
    }
    ran_free(plain);
}

/* ---- steps ---- */

struct seen {
    unsigned counts[KINDS], lines; /* of an instruction, or of a word of it */
    long last[KINDS];              /* cycle */
};
struct wave_seen {
    unsigned dispatched;
    struct seen words[MOST_BYTES / 4];
};

static unsigned kind_of(const char *event)
{
    unsigned kind = 0;
    while (kind < KINDS && strcmp(kinds[kind], event) != 0)
        kind++;
    assert_in_range(kind, 0, KINDS - 1);
    return kind;
}

/* One step: its place in the order, and the step that must precede it. */
static void look_at_step(struct wave_seen *seen, const char *line, long *cycle, unsigned *kind)
{
    json_error_t error;
    json_t *object = json_loads(line, 0, &error);
    const char *event, *unit;
    int at, wave, pc;
    assert_non_null(object);
    assert_int_equal(json_unpack_ex(object, &error, JSON_STRICT, "{s:i,s:s,s:s,s:i,s:i}", "cycle",
                                    &at, "event", &event, "unit", &unit, "wave", &wave, "pc", &pc),
                     0);
    const unsigned now = kind_of(event);
    assert_true(at > *cycle || (at == *cycle && now >= *kind));
    *cycle = at;
    *kind = now;
    assert_in_range(wave, 0, MOST_WAVES - 1);
    assert_in_range(pc, 0, MOST_BYTES - 1);
    struct seen *one = &seen[wave].words[pc / 4];
    /* a word is decoded after its fetch, an instruction issued after all of these; lanes of a load
     * may be written one by one before it is done */
    const unsigned before = now == 6 ? 4 : now - 1;
    if (now > 1)
        if (!(one->counts[before] > 0 && one->last[before] <= at))
            fail_msg("too early: %s", line);
    if (now >= 4 && now < 6)
        assert_int_equal(one->counts[now] + 1, one->counts[now - 1]); /* it is there once */
    seen[wave].dispatched += !now;
    assert_int_equal(seen[wave].dispatched, 1);
    assert_int_equal(!strcmp(unit, "dispatcher"), !now);
    one->counts[now]++;
    one->last[now] = at;
    json_decref(object);
}

static void look_at(const struct ran *ran, bool resolves)
{
    static struct wave_seen seen[MOST_WAVES];
    long cycle = -1;
    unsigned kind = 0, wave, pc, steps = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < ran->count; i++) {
        if (is_step(ran->lines[i])) {
            look_at_step(seen, ran->lines[i], &cycle, &kind);
            steps++;
            continue;
        }
        kind = KINDS; /* followed by another cycle, or another such line */
        assert_int_equal(sscanf(ran->lines[i], "{\"wave\":%u,\"pc\":%u", &wave, &pc), 2);
        struct seen *one = &seen[wave].words[pc / 4];
        assert_true(one->counts[resolves ? 3 : 5] > one->lines++); /* it is done */
    }
    assert_true(steps > 0);
    for (wave = 0; wave < MOST_WAVES; wave++)
        for (unsigned w = 0; w < MOST_BYTES / 4; w++)
            for (unsigned k = 3; k < (resolves ? 4 : 6); k++)
                assert_int_equal(seen[wave].words[w].counts[k], seen[wave].words[w].lines);
}

static void steps(void **unused)
{
    for (unsigned p = 0; p < sizeof programs / sizeof *programs; p++)
        for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++) {
            struct ran *ran = run_files(programs[p][0], programs[p][1], &machines[m]);
            look_at(ran, machines[m].resolves);
            ran_free(ran);
        }
}

/* The launch's own cycles come before the first dispatch. */
static void origin(void **unused)
{
    for (unsigned cycles = 12; cycles <= 13; cycles++) {
        char setting[64], expected[128];
        snprintf(setting, sizeof setting, "timing.launch_cycles=%u", cycles);
        snprintf(
            expected, sizeof expected,
            "{\"cycle\":%u,\"event\":\"dispatch\",\"unit\":\"dispatcher\",\"wave\":0,\"pc\":0}",
            cycles);
        struct ran *ran =
            run_files("double.bin", "double.json", &(struct how){.settings = setting});
        assert_string_equal(ran->lines[0], expected);
        ran_free(ran);
    }
}

/* Neither observers nor the order of cores change anything. */
static void alike(void **unused)
{
    static const char *const orders[] = {"reverse", "shuffle:1", "shuffle:2"};
    struct ran *first = run_files("exchange.bin", "groups.json", &machines[0]);
    struct ran *unseen = run_files("exchange.bin", "groups.json", &(struct how){.untraced = true});
    assert_int_equal(unseen->result.cycles, first->result.cycles);
    assert_string_equal(unseen->end, first->end);
    for (unsigned i = 0; i < 3; i++) {
        struct ran *other =
            run_files("exchange.bin", "groups.json", &(struct how){.order = orders[i]});
        assert_int_equal(other->count, first->count);
        for (unsigned k = 0; k < first->count; k++)
            assert_string_equal(other->lines[k], first->lines[k]);
        ran_free(other);
    }
    ran_free(unseen);
    ran_free(first);
}

/* ---- resource tables ---- */

/* s_endpgm; then, from 4 on: s_movk_i32 s0, 0x80; s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0;
 * s_cbranch_scc1 -3; s_endpgm */
static const unsigned stay_code[] = {0xbf810000, 0xb0000080, 0x80808100,
                                     0xbf078000, 0xbf85fffd, 0xbf810000};

/* Workgroups of one wave, of which the second stays, with these KB of LDS: in which order they are
 * dispatched, and how many waited because what was free lay in pieces. */
static void dispatched(const char *settings, const unsigned *kb, const char *expected,
                       unsigned fragmented)
{
    char state[1024] = "{\"waves\": [", order[16] = "", wanted[64];
    for (unsigned i = 0; i < 5; i++)
        sprintf(state + strlen(state), "%s{\"workgroup\": %u, \"lds_bytes\": %u, \"pc\": %u}",
                i ? ", " : "", i, kb[i] * 1024, i == 1 ? 4 : 0);
    strcat(state, "]}");
    const struct how how = {.settings = settings};
    struct ran *ran = run_code(stay_code, sizeof stay_code, state, &how);
    for (unsigned i = 0; i < ran->count; i++) {
        const char *wave = strstr(ran->lines[i], "\"wave\":");
        if (strstr(ran->lines[i], "\"dispatch\""))
            strncat(order, wave + 7, 1);
    }
    assert_string_equal(order, expected);
    snprintf(wanted, sizeof wanted, "\"timing.blocks_fragmented\": %u,", fragmented);
    if (!strstr(ran->stats, wanted))
        fail_msg("expected %s", wanted);
    ran_free(ran);
}

/* 64 KB: 16, 32 and 16 fill it, and the first and the last go. */
static void tables(void **unused)
{
    static const unsigned fits[] = {16, 32, 16, 16, 16}, waits[] = {16, 32, 16, 17, 16},
                          also_waits[] = {16, 32, 16, 32, 16};
    dispatched("gpu.cores=1 timing.dispatch=tables", fits, "01234", 0);
    dispatched("gpu.cores=1 timing.dispatch=tables", waits, "01243", 1);
    dispatched("gpu.cores=1 timing.dispatch=tables", also_waits, "01243", 1);
    dispatched("gpu.cores=1 timing.dispatch=tables timing.pending=2", waits, "01243", 1);
    dispatched("gpu.cores=1 timing.dispatch=tables timing.pending=1", waits, "01234", 1);
    dispatched("gpu.cores=2 timing.dispatch=tables", waits, "01234", 0);
    dispatched("gpu.cores=1 timing.dispatch=lowest", waits, "01234", 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(instructions), cmocka_unit_test(unequal), cmocka_unit_test(steps),
        cmocka_unit_test(origin),       cmocka_unit_test(alike),   cmocka_unit_test(tables),
    };
    tests = argc > 1 ? argv[1] : "tests";
    return cmocka_run_group_tests(all, NULL, NULL);
}
