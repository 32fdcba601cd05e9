/*
 * The pipelines: their names and the choices of core.pipeline, what each has to fill, issue slots of
 * intervals, what machines are made of, and which mechanisms a pipeline serves.
 */
#include "rig.h"

#include "gpu/machine/config.h"
#include "gpu/machine/params.h"
#include <stdio.h>

/* core.pipeline, in the table of parameters. */
static const struct param *choice(void)
{
    for (u32 i = 0; i < core_component.param_count; i++)
        if (!strcmp(core_component.params[i].name, "pipeline"))
            return &core_component.params[i];
    return NULL;
}

/* The nth name of the choices, or NULL. */
static const char *choice_name(u32 n, char name[32])
{
    const char *at = choice()->choices;
    for (; n && at; n--)
        at = (at = strchr(at, '|')) ? at + 1 : NULL;
    if (!at)
        return NULL;
    const u32 length = (u32)strcspn(at, "|");
    assert_true(length && length < 32);
    memcpy(name, at, length);
    name[length] = 0;
    return name;
}

/* A machine of each pipeline. */
static const char *const machines[] = {"generic", "tahiti", "miaow"};

static void names_are_the_choices(void **state)
{
    char name[32];
    assert_non_null(choice());
    assert_int_equal(choice()->type, PARAM_CHOICE);
    u32 count = 0;
    for (; choice_name(count, name); count++) {
        const struct core_params core = {.pipeline = count};
        assert_string_equal(pipeline_of(&core)->name, name);
        /* the machine that this file takes for it has it */
        assert_true(count < ARRAY_LEN(machines));
        struct config *config = rig_config(machines[count], "");
        assert_ptr_equal(pipeline_of(core_config_of(config).core), pipeline_of(&core));
        config_destroy(config);
    }
    assert_int_equal(count, ARRAY_LEN(machines));
}

static void entries_are_filled(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        const struct core_params core = {.pipeline = i};
        const struct pipeline *p = pipeline_of(&core);
        /* core.c calls these without asking */
        assert_non_null(p->create);
        assert_non_null(p->destroy);
        assert_non_null(p->begin);
        assert_non_null(p->start_warp);
        assert_non_null(p->run);
        assert_non_null(p->next);
        assert_non_null(p->waits);
        assert_non_null(p->slots);
        assert_non_null(p->time);
        assert_non_null(p->storage);
        assert_non_null(p->logic);
        assert_true(p->accesses);
        /* one that runs on the common stages issues, and says where instructions go */
        assert_int_equal(p->run == common_run, p->issue != NULL);
        assert_int_equal(p->run == common_run, p->enter != NULL);
    }
}

/* ---- issue slots ---- */

/* Those of all schedulers in an interval. */
static u64 all_slots(const struct core *core, u64 since, u64 until)
{
    u64 sum = 0;
    for (u32 i = 0; i < core->config.issue->schedulers; i++)
        sum += core->pipeline->slots(core, i, since, until);
    return sum;
}

static void slots_of(const char *machine, u32 schedulers, bool take_turns)
{
    struct rig rig;
    char settings[64];
    snprintf(settings, sizeof settings, "issue.schedulers=%u", schedulers);
    rig_open(&rig, machine, settings);
    for (u64 since = 0; since < 20; since++)
        for (u64 until = since; until < since + 20; until++) {
            const u64 cycles = until - since;
            assert_int_equal(all_slots(rig.core, since, until),
                             take_turns ? cycles : cycles * schedulers);
            for (u32 i = 0; i < schedulers; i++) {
                u64 turns = 0;
                for (u64 cycle = since; cycle < until; cycle++)
                    turns += !take_turns || cycle % schedulers == i;
                assert_int_equal(rig.core->pipeline->slots(rig.core, i, since, until), turns);
            }
        }
    /* an interval that ends before it begins takes them back: core_settle */
    assert_true(all_slots(rig.core, 17, 3) + all_slots(rig.core, 3, 17) == 0);
    rig_close(&rig);
}

/* In the gcn pipeline one scheduler has its turn in each cycle; in others all have. */
static void slots_of_intervals(void **state)
{
    for (u32 schedulers = 1; schedulers <= 5; schedulers++) {
        slots_of("generic", schedulers, false);
        slots_of("tahiti", schedulers, true);
    }
    slots_of("miaow", 1, false);
}

/* A launch that ends after the core's last cycle, or before it: slots without a block are added as
 * idle, or taken back. A cycle that has begun counts. */
static void settled_slots(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        struct rig rig;
        rig_open(&rig, machines[i], "");
        rig_begin(&rig, true);
        struct core *core = rig.core;
        const u64 a_cycle = i == 1 ? 1 : rig.machine.issue->schedulers, ran = 100;
        const u64 ends[] = {130, 101, 100, 99, 60, 1};
        for (u32 k = 0; k < ARRAY_LEN(ends); k++)
            for (i32 more = -1; more <= 1; more++) {
                const fs end = ends[k] * core->clock.period + (fs)more;
                const u64 cycles = ends[k] + (more > 0);
                clock_start(&core->clock, rig.machine.mhz, 0);
                clock_advance(&core->clock, ran);
                core->stats.issue.slots = core->stats.issue.idle_empty = ran * a_cycle;
                core_settle(core, end);
                assert_int_equal(core->stats.issue.slots, cycles * a_cycle);
                assert_int_equal(core->stats.issue.idle_empty, cycles * a_cycle);
            }
        rig_close(&rig);
    }
}

/* ---- what machines are made of ---- */

static bool is_machine(const json_t *machine, const char *name)
{
    return !strcmp(json_string_value(json_object_get(machine, "name")), name);
}

static void check_machine(const char *name)
{
    struct config *config = rig_config(name, "");
    const struct core_config core = core_config_of(config);
    const struct pipeline *pipeline = pipeline_of(core.core);
    struct state_list storage = {0};
    struct logic_list logic = {0};
    state_owner(&storage, "core", 1);
    pipeline->storage(&storage, &core);
    pipeline->logic(&logic, &core);
    assert_true(storage.rows.count);
    assert_true(logic.rows.count);
    bool registers = false, units = false;
    for (u32 i = 0; i < storage.rows.count; i++) {
        const struct state_row *row = &storage.rows.data[i];
        assert_true(row->unit && row->name && row->help && row->entries && row->bits);
        /* all lanes of its registers are somewhere: */
        registers |= state_bits(row) == 32ull * core.core->registers;
        for (u32 k = 0; k < i; k++) /* and nothing is there twice */
            assert_false(!strcmp(storage.rows.data[k].unit, row->unit) &&
                         !strcmp(storage.rows.data[k].name, row->name));
    }
    for (u32 i = 0; i < logic.rows.count; i++) {
        const struct logic *row = &logic.rows.data[i];
        assert_true(row->unit && row->name && row->count > 0);
        units |= row->kind == LOGIC_FP32;
    }
    assert_true(registers);
    assert_true(units);
    if (pipeline->check) {
        struct error error = {0};
        assert_true(pipeline->check(&core, &error));
    }
    state_free(&storage);
    vec_free(&logic.rows);
    config_destroy(config);
}

static void machines_are_made_of_something(void **state)
{
    json_t *all = config_machines_json(gpu_components), *machine;
    size_t i;
    u32 found = 0;
    json_array_foreach(all, i, machine)
    {
        for (u32 k = 0; k < ARRAY_LEN(machines); k++)
            found += is_machine(machine, machines[k]);
        check_machine(json_string_value(json_object_get(machine, "name")));
    }
    assert_int_equal(found, ARRAY_LEN(machines));
    json_decref(all);
}

/* ---- what a pipeline refuses ---- */

static void refused(const char *machine, const char *settings, const char *message)
{
    struct config *config = rig_config(machine, settings);
    const struct core_config core = core_config_of(config);
    struct error error = {0};
    assert_false(pipeline_of(core.core)->check(&core, &error));
    if (!strstr(error.message, message))
        fail_msg("\"%s\" does not say \"%s\"", error.message, message);
    config_destroy(config);
}

static void contradictions(void **state)
{
    /* the machines as they are do not contradict themselves: check_machine */
    refused("tahiti", "issue.sub_cores=false", "issue.sub_cores");
    refused("miaow", "core.warp_size=32", "core.warp_size is 32");
    refused("miaow", "issue.schedulers=2", "issue.schedulers is 2");
    refused("miaow", "miaow.cache_block=48", "miaow.cache_block is 48");
}

/* ---- mechanisms ---- */

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
}
static void retired(void *state, struct core *core, struct inflight *inflight)
{
}
static bool stuck(void *state, struct core *core)
{
    return false;
}
static u32 without_fetched(const void *params)
{
    return 1u << SEAM_FETCHED;
}

/* miaow serves those that look on at write-back, and names the seam of another that it lacks. */
static void seams_that_miaow_lacks(void **state)
{
    const struct core_params core = {.pipeline = 2};
    const struct pipeline *miaow = pipeline_of(&core);
    assert_string_equal(miaow->name, "miaow");
    struct mechanism m = {.name = "test", .retired = retired};
    assert_null(miaow->lacks(&m, NULL));
    m.fetched = fetched;
    assert_string_equal(miaow->lacks(&m, NULL), "fetched");
    m.idle = without_fetched; /* it fills the seam and does not need it */
    assert_null(miaow->lacks(&m, NULL));
    m.stuck = stuck;
    assert_string_equal(miaow->lacks(&m, NULL), "stuck");
    /* every seam that is asked by mask has a name */
    for (enum seam seam = 0; seam < SEAMS; seam++)
        assert_non_null(seam_name(seam));
    const struct core_params common = {.pipeline = 0}, gcn = {.pipeline = 1};
    assert_null(pipeline_of(&common)->lacks);
    assert_null(pipeline_of(&gcn)->lacks);
}

/* All mechanisms of this build that miaow refuses are told of a seam that they fill. */
static void refusals_name_a_seam(void **state)
{
    const struct core_params core = {.pipeline = 2};
    struct config *config = rig_config("miaow", "");
    u32 refusals = 0, served = 0;
    for (u32 i = 0; mechanisms_built_in[i]; i++) {
        const struct mechanism *m = mechanisms_built_in[i];
        config_add(config, m->component);
        const void *params = config_params(config, m->component);
        const char *seam = pipeline_of(&core)->lacks(m, params);
        served += !seam;
        if (!seam)
            continue;
        refusals++;
        bool fills = (m->stuck && !strcmp(seam, "stuck")) || (m->cache && !strcmp(seam, "cache")) ||
                     (m->l2 && !strcmp(seam, "l2")) || (m->dram && !strcmp(seam, "dram"));
        for (enum seam k = 0; k < SEAMS; k++)
            fills |= mechanism_seams(m, params) >> k & 1 && !strcmp(seam, seam_name(k));
        if (!fills)
            fail_msg("%s does not fill %s", m->name, seam);
    }
    assert_true(refusals && served);
    config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_the_choices),
        cmocka_unit_test(entries_are_filled),
        cmocka_unit_test(slots_of_intervals),
        cmocka_unit_test(settled_slots),
        cmocka_unit_test(machines_are_made_of_something),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(seams_that_miaow_lacks),
        cmocka_unit_test(refusals_name_a_seam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
