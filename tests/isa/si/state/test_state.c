/* The state of raw programs: values, defaults, messages, and that a dump reads back. */
#include "isa/si/state.h"

#include "base/text.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *folder;

static char *read_file(const char *name, size_t *length)
{
    char path[512];
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = text_read_file(path, false, 1 << 20, length, &error);
    if (!text)
        fail_msg("%s: %s", path, error.message);
    return text;
}

static struct si_state *read_text(struct arena *arena, const char *text)
{
    struct error error = {0};
    struct si_state *state = state_read(arena, text, strlen(text), "state.json", &error);
    if (!state)
        fail_msg("%s: %s", error.place, error.message);
    return state;
}

static struct si_state *read_ok(struct arena *arena, const char *name)
{
    size_t length;
    char *text = read_file(name, &length);
    struct si_state *state = read_text(arena, text);
    free(text);
    return state;
}

static void ok_least(void **unused)
{
    struct arena *arena = arena_create();
    struct si_state *state = read_ok(arena, "ok_least.json");
    assert_int_equal(state->wave_count, 1);
    assert_int_equal(state->group_count, 1);
    assert_int_equal(state->region_count, 0);
    const struct si_wave *wave = &state->waves[0];
    assert_int_equal(wave->threads, 64);
    assert_true(wave->exec == UINT64_MAX);
    assert_int_equal(wave->mode, 0x1c0);
    assert_true(!wave->pc && !wave->vcc && !wave->scc && !wave->m0 && !wave->vgpr_count);
    for (u32 i = 0; i < SI_STATE_SGPRS; i++)
        assert_int_equal(wave->sgpr[i], 0);
    assert_int_equal(state->groups[0].id, 0);
    assert_int_equal(state->groups[0].lds_bytes, 0);
    arena_destroy(arena);
}

static void ok_all(void **unused)
{
    struct arena *arena = arena_create();
    struct si_state *state = read_ok(arena, "ok_all.json");
    assert_int_equal(state->wave_count, 3);
    assert_int_equal(state->group_count, 2);
    const struct si_wave *wave = &state->waves[0];
    assert_int_equal(wave->threads, 20);
    assert_int_equal(wave->pc, 16);
    assert_int_equal(wave->sgpr[0], 7);
    assert_int_equal(wave->sgpr[4], 0xffffffff);
    assert_int_equal(wave->sgpr[5], 0xab);
    assert_int_equal(wave->sgpr[103], 0xffffffff);
    assert_int_equal(wave->vgpr_count, 3);
    assert_int_equal(wave->vgpr[2][0], 1);
    assert_int_equal(wave->vgpr[2][1], 0x80000000);
    assert_int_equal(wave->vgpr[2][2], 0x80000000);
    assert_int_equal(wave->vgpr[2][3], 0);
    assert_int_equal(wave->vgpr[0][63], 0);
    assert_true(wave->exec == 0xfffffffffffffff5);
    assert_true(wave->vcc == 9007199254740993);
    assert_int_equal(wave->scc, 1);
    assert_int_equal(wave->m0, 0xffffffff);
    assert_int_equal(wave->mode, 240);
    const struct si_group *group = &state->groups[wave->group];
    assert_int_equal(group->id, 3);
    assert_int_equal(group->lds_bytes, 8);
    assert_memory_equal(group->lds, "\x00\xff\xaa\0\0\0\0\0", 8);
    assert_int_equal(group->first_wave, 0);
    assert_int_equal(group->wave_count, 2);
    assert_int_equal(state->waves[1].group, 1);
    assert_int_equal(state->groups[1].id, 0);
    assert_int_equal(state->waves[2].group, 0);
    assert_true(state->waves[1].exec == 1);
    assert_true(state->waves[2].exec == 0);
    assert_int_equal(state->region_count, 3); /* sorted, the empty one dropped */
    assert_true(state->regions[0].address == 4 && state->regions[0].bytes == 8);
    assert_memory_equal(state->regions[0].data, "\1\2\3\4\5\6\7\x8", 8);
    assert_true(state->regions[1].address == 12 && state->regions[1].bytes == 1);
    assert_true(state->regions[2].address == 1ull << 40 && state->regions[2].bytes == 11);
    assert_memory_equal(state->regions[2].data, "\x01\x23\x45\x67\x89\xab\xcd\xef\xab\xcd\xef", 11);
    arena_destroy(arena);
}

static void threads_give_exec(void **unused)
{
    for (u32 threads = 1; threads <= 64; threads++) {
        struct arena *arena = arena_create();
        struct si_state *state =
            read_text(arena, arena_printf(arena, "{\"waves\": [{\"threads\": %u}]}", threads));
        assert_true(state->waves[0].exec == UINT64_MAX >> (64 - threads));
        arena_destroy(arena);
    }
}

/* A dump reads back to the same state, and is written the same again. */
static void round_trip(void **unused)
{
    static const char *const names[] = {"ok_least.json", "ok_all.json"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct arena *arena = arena_create();
        struct si_state *first = read_ok(arena, names[i]);
        char *text = state_text(first);
        struct si_state *second = read_text(arena, text);
        char *again = state_text(second);
        assert_string_equal(text, again);
        assert_int_equal(first->wave_count, second->wave_count);
        for (u32 w = 0; w < first->wave_count; w++) {
            struct si_wave a = first->waves[w], b = second->waves[w];
            assert_int_equal(a.vgpr_count, b.vgpr_count);
            if (a.vgpr_count)
                assert_memory_equal(a.vgpr, b.vgpr, a.vgpr_count * sizeof *a.vgpr);
            a.vgpr = b.vgpr = NULL;
            assert_memory_equal(&a, &b, sizeof a);
        }
        for (u32 g = 0; g < first->group_count; g++)
            assert_memory_equal(first->groups[g].lds, second->groups[g].lds,
                                first->groups[g].lds_bytes);
        assert_int_equal(first->region_count, second->region_count);
        for (u32 r = 0; r < first->region_count; r++)
            assert_memory_equal(first->regions[r].data, second->regions[r].data,
                                first->regions[r].bytes);
        free(text);
        free(again);
        arena_destroy(arena);
    }
}

static void dump_text(void **unused)
{
    struct arena *arena = arena_create();
    struct si_state *state = read_text(arena, "{\"waves\": [{\"sgpr\": {\"1\": -1}}]}");
    state_vgprs(arena, &state->waves[0], 2);
    state->waves[0].vgpr[1][63] = 9;
    char *text = state_text(state);
    static const char *const parts[] = {
        "{\"waves\": [\n  {\"workgroup\": 0, \"threads\": 64, \"pc\": 0, \"lds_bytes\": 0,\n",
        "\"exec\": \"0xffffffffffffffff\", \"vcc\": \"0x0000000000000000\", \"scc\": 0",
        "\"m0\": 0, \"mode\": 448,\n",
        "\"sgpr\": {\"0\": 0, \"1\": 4294967295, \"2\": 0,",
        "\"103\": 0},",
        "\n    \"1\": [0, 0,",
        ", 0, 9]},",
        "\"lds\": \"\"}],\n \"memory\": []}\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("'%s' is not in %s", parts[i], text);
    state_vgprs(arena, &state->waves[0], 1); /* never fewer */
    assert_int_equal(state->waves[0].vgpr_count, 2);
    state_vgprs(arena, &state->waves[0], 256);
    assert_int_equal(state->waves[0].vgpr[1][63], 9);
    assert_int_equal(state->waves[0].vgpr[255][63], 0);
    free(text);
    arena_destroy(arena);
}

static void most_waves(void **unused)
{
    for (u32 count = SI_STATE_WAVES; count <= SI_STATE_WAVES + 1; count++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        size_t length = 11;
        char *text = arena_alloc(arena, 32 + 3ull * count);
        memcpy(text, "{\"waves\": [", 11);
        for (u32 i = 0; i < count; i++) {
            memcpy(text + length, i ? ",{}" : "{}", 3);
            length += i ? 3 : 2;
        }
        memcpy(text + length, "]}", 2);
        struct si_state *state = state_read(arena, text, length + 2, "state.json", &error);
        assert_int_equal(state != NULL, count == SI_STATE_WAVES);
        arena_destroy(arena);
    }
}

/* A line of JSON, then the message it must give; "..." at its end stands for the JSON library's
 * own words. */
static void check_errors(const char *name)
{
    size_t length;
    char *text = read_file(name, &length), *at = text;
    u32 cases = 0;
    while (*at) {
        struct arena *arena = arena_create();
        struct error error = {0};
        char got[4096], *line = at, *message = strchr(line, '\n');
        assert_non_null(message);
        *message++ = 0;
        char *end = strchr(message, '\n');
        assert_non_null(end);
        *end = 0;
        if (state_read(arena, line, strlen(line), "state.json", &error))
            fail_msg("%s: taken: %s", name, line);
        assert_int_equal(error.code, ERROR_INPUT);
        error_text(&error, got, sizeof got);
        if (end - message > 3 && !strcmp(end - 3, "...")) {
            end[-3] = 0;
            got[MIN(strlen(got), strlen(message))] = 0;
        }
        assert_string_equal(got, message);
        at = end + 1;
        cases++;
        arena_destroy(arena);
    }
    assert_true(cases);
    free(text);
}

static void err_files(void **unused)
{
    DIR *list = opendir(folder);
    u32 files = 0;
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        if (!strncmp(entry->d_name, "err_", 4)) {
            check_errors(entry->d_name);
            files++;
        }
    closedir(list);
    assert_true(files >= 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ok_least),   cmocka_unit_test(ok_all),
        cmocka_unit_test(round_trip), cmocka_unit_test(threads_give_exec),
        cmocka_unit_test(dump_text),  cmocka_unit_test(most_waves),
        cmocka_unit_test(err_files),
    };
    folder = argv[argc - 1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
