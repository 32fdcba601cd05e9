/* What is said of warps that wait, and profiles of modules. */
#include "gpu/device.h"
#include "gpu/observe/waiting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<3>;\n .reg .b64 %p;\n"
                          " ld.param.u64 %p, [p];\n ld.global.u32 %r0, [%p];\n bar.sync 0;\n"
                          " add.u32 %r1, %r0, 1;\n st.global.u32 [%p], %r1;\n ret;\n}\n";

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    struct waiting_names names;
    struct waiting_list list;
};

static int open_rig(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct hd_config *config = hd_config_create();
    rig->device = hd_device_open(config, NULL);
    hd_config_destroy(config);
    rig->module = hd_module_load(rig->device, ptx, sizeof ptx - 1, "k.ptx", NULL);
    assert_non_null(rig->module);
    rig->names = (struct waiting_names){rig->module->program, "k", {3, 2, 1}, 0x1000};
    rig->list.cycle = 5000;
    rig->list.stuck = 1000;
    rig->list.undone = 6;
    rig->list.unstarted = 4;
    *state = rig;
    return 0;
}

static int close_rig(void **state)
{
    struct rig *rig = *state;
    vec_free(&rig->list.rows);
    hd_device_close(rig->device);
    free(rig);
    return 0;
}

static void add(struct rig *rig, struct waiting waiting)
{
    *(struct waiting *)vec_push(&rig->list.rows) = waiting;
}

static void test_text(void **state)
{
    struct rig *rig = *state;
    char text[4096];
    add(rig, (struct waiting){.core = 1,
                              .block = 4,
                              .warp = 2,
                              .inst = 2,
                              .stall = STALL_MEMORY,
                              .writer = 1,
                              .reg = "R3",
                              .place = "in the queue of channel 2"});
    add(rig,
        (struct waiting){
            .inst = 2, .stall = STALL_BARRIER, .writer = NO_INST, .barrier = 7, .more = "5 of 64"});
    add(rig, (struct waiting){.inst = NO_INST, .stall = STALL_FETCH, .writer = NO_INST});
    waiting_text(&rig->list, &rig->names, text, sizeof text);
    char one[256], two[256], expected[2048];
    inst_text(rig->module->program, 1, one, sizeof one);
    inst_text(rig->module->program, 2, two, sizeof two);
    snprintf(
        expected, sizeof expected,
        "deadlock: kernel k has made no progress for 1000 cycles, at cycle 5000; 6 blocks have "
        "not completed, 4 of them have not started\n"
        "  block (1,1,0), warp 2 on core 1 at 0x1010 '%s' (k.ptx:10) waits for R3, written by "
        "0x1008 '%s' (k.ptx:9); its request is in the queue of channel 2\n"
        "  block (0,0,0), warp 0 on core 0 at 0x1010 '%s' (k.ptx:10) waits for barrier 7; 5 of "
        "64\n"
        "  block (0,0,0), warp 0 on core 0 waits for instructions to be fetched",
        two, one, two);
    assert_string_equal(text, expected);
}

/* Whole lines, and the number of those without room. */
static void test_many(void **state)
{
    struct rig *rig = *state;
    for (u32 i = 0; i < 1000; i++)
        add(rig, (struct waiting){.warp = i, .inst = 2, .stall = STALL_BARRIER, .writer = NO_INST});
    for (size_t size = 200; size < 900; size++) {
        char text[900];
        memset(text, 'x', sizeof text);
        waiting_text(&rig->list, &rig->names, text, size);
        const char *last = strrchr(text, '\n');
        unsigned more, lines = 0;
        assert_true(strlen(text) < size);
        for (const char *at = text; *at; at++)
            lines += *at == '\n';
        assert_int_equal(sscanf(last, "\n  and %u more warps", &more), 1);
        assert_true(!strcmp(strchr(last, 'm'), "more warps"));
        assert_int_equal(lines - 1 + more, 1000);
    }
}

static void test_json(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct waiting){.core = 3,
                              .block = 5,
                              .warp = 1,
                              .inst = 3,
                              .stall = STALL_RAW,
                              .writer = 1,
                              .reg = "R3"});
    add(rig,
        (struct waiting){.inst = NO_INST, .stall = STALL_BARRIER, .writer = NO_INST, .barrier = 2});
    json_t *json = waiting_json(&rig->list, &rig->names);
    const json_t *warps = json_object_get(json, "warps");
    assert_int_equal(json_array_size(warps), 2);
    const char *reason, *reg, *line;
    json_int_t pc, writer, barrier, x, y, z, core;
    assert_int_equal(json_unpack(json_array_get(warps, 0),
                                 "{s:s, s:s, s:s, s:I, s:I, s:n, s:n, s:[III], s:I}", "reason",
                                 &reason, "register", &reg, "line", &line, "pc", &pc, "writer_pc",
                                 &writer, "barrier", "request", "block", &x, &y, &z, "core", &core),
                     0);
    assert_string_equal(reason, "raw");
    assert_string_equal(reg, "R3");
    assert_string_equal(line, "k.ptx:11");
    assert_int_equal(pc, 0x1018);
    assert_int_equal(writer, 0x1008);
    assert_int_equal(x * 100 + y * 10 + z, 210);
    assert_int_equal(core, 3);
    assert_int_equal(
        json_unpack(json_array_get(warps, 1), "{s:n, s:n, s:I}", "pc", "line", "barrier", &barrier),
        0);
    assert_int_equal(barrier, 2);
    json_decref(json);
}

/* ---- profiles ---- */

static void test_profile(void **state)
{
    struct rig *rig = *state;
    u32 count = rig->module->program->inst_count;
    struct inst_profile *launch = calloc(count, sizeof *launch);
    launch[1] = (struct inst_profile){.issued = 4, .threads = 100};
    launch[3].stalls[STALL_MEMORY] = 50; /* waited for, never issued */
    profile_add(rig->module, launch);
    profile_add(rig->module, launch);
    free(launch);
    for (u32 gone = 0; gone < 2; gone++) { /* it outlives the module */
        json_t *json = profile_json(rig->device);
        assert_int_equal(json_array_size(json), 1);
        const char *module, *function, *place;
        json_int_t issued, threads, stalls;
        const json_t *rows;
        assert_int_equal(json_unpack(json_array_get(json, 0), "{s:s, s:s, s:o}", "module", &module,
                                     "function", &function, "instructions", &rows),
                         0);
        assert_string_equal(module, "k.ptx");
        assert_string_equal(function, "k");
        assert_int_equal(json_array_size(rows), 2);
        assert_int_equal(json_unpack(json_array_get(rows, 0), "{s:s, s:I, s:I, s:{}}", "place",
                                     &place, "issued", &issued, "threads", &threads, "stalls"),
                         0);
        assert_string_equal(place, "k.ptx:9");
        assert_int_equal(issued, 8);
        assert_int_equal(threads, 200);
        assert_int_equal(
            json_unpack(json_array_get(rows, 1), "{s:{s:I!}}", "stalls", "memory", &stalls), 0);
        assert_int_equal(stalls, 100);
        json_decref(json);
        hd_module_unload(rig->module);
        rig->module = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_text, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_many, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_json, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_profile, open_rig, close_rig),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
