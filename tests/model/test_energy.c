/*
 * The energy of launches: sums are exact, events are what they say, costs are those that were
 * published, and they scale as they should.
 */
#include "energy_rig.h"

/* Arithmetic of all kinds, shared and global memory, a loop, divergence. */
static const char mixed[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<12>;\n.reg .b64 %d<8>;\n.reg .pred %q<3>;\n.shared .align 8 .b8 s[2048];\n"
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n"
    "mov.u32 %r3, %tid.x;\nmad.lo.u32 %r1, %r1, %r2, %r3;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.u64 %d1, %d1, %d2;\nmov.u32 %r5, s;\nshl.b32 %r6, %r3, 2;\nadd.u32 %r5, %r5, %r6;\n"
    "mov.u32 %r7, 5;\nld.global.u32 %r4, [%d1];\n"
    "again:\nfma.rn.f32 %r4, %r4, %r4, %r1;\nst.shared.u32 [%r5], %r4;\nbar.sync 0;\n"
    "setp.lt.u32 %q1, %r3, 13;\n@%q1 ex2.approx.f32 %r4, %r4;\nld.shared.u32 %r8, [%r5];\n"
    "add.u32 %r4, %r4, %r8;\nadd.u32 %r7, %r7, -1;\nsetp.ne.u32 %q2, %r7, 0;\n@%q2 bra again;\n"
    "cvt.f64.f32 %d3, %r4;\nadd.f64 %d3, %d3, %d3;\ncvt.rn.f32.f64 %r4, %d3;\n"
    "st.global.u32 [%d1], %r4;\nret;\n}\n";

static const char *const machines[] = {"generic", "gtx480", "gtx285",    "gtx285-w16", "tesla16",
                                       "fermi16", "rise28", "gtx1080ti", "rtx2060"};

/* ---- sums ---- */

static u64 profile_fj(const json_t *stats)
{
    size_t f, i;
    json_t *function, *inst;
    u64 sum = 0;
    json_array_foreach(json_object_get(stats, "profile"), f, function)
        json_array_foreach(json_object_get(function, "instructions"), i, inst) sum +=
        fj(inst, "energy_pj");
    return sum;
}

/* Parts are the whole, launches the totals, instructions and the rest the totals; exactly. */
static void check_sums(const char *machine, const char *settings)
{
    struct rig rig = open_rig(machine, settings, mixed);
    launch(&rig, BLOCKS, THREADS);
    launch(&rig, 3, 33);
    json_t *stats = stats_of(&rig), *totals = json_object_get(stats, "totals");
    const json_t *first = launch_stats(stats, 0), *second = launch_stats(stats, 1);
    const char *key;
    json_t *value;
    check_parts(first);
    check_parts(second);
    check_parts(totals);
    json_object_foreach(totals, key, value)
    {
        size_t length = strlen(key);
        if (!strncmp(key, "energy.", 7) && !strcmp(key + length - 3, "_pj"))
            assert_int_equal(fj(totals, key), fj(first, key) + fj(second, key));
    }
    assert_int_equal(profile_fj(stats) + fj(totals, "energy.unattributed_pj"),
                     fj(totals, "energy.total_pj"));
    assert_true(profile_fj(stats) > 0);
    json_decref(stats);
    close_rig(&rig);
}

static void test_sums(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(machines); i++)
        check_sums(machines[i], "");
    check_sums("gtx480", "filter_cache.on=true");
    check_sums("gtx285", "uniform.on=true");
    check_sums("generic", "energy.nm=28 energy.volts=0.7 energy.celsius=99 energy.int_pj=0.333");
}

/* Dynamic energy all belongs to instructions where no mechanism has a part in it. */
static void test_attributed(void **state)
{
    struct rig rig = open_rig("gtx480", "", mixed);
    launch(&rig, BLOCKS, THREADS);
    json_t *stats = stats_of(&rig), *totals = json_object_get(stats, "totals");
    assert_int_equal(profile_fj(stats), fj(totals, "energy.dynamic_pj"));
    json_decref(stats);
    close_rig(&rig);
}

/* An event's energy is that of the instructions that cause it: if one costs more, one of seven does. */
static void check_share(const char *less, const char *more, size_t which, u64 fj_more)
{
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        " .reg .b32 %r<5>; .reg .b64 %d<2>; ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x;\n"
        " mul.lo.u32 %r2, %r1, %r1; add.u32 %r3, %r2, %r1; xor.b32 %r4, %r3, %r2;\n"
        " st.global.u32 [%d0], %r4; ret;\n}\n";
    u64 energy[2][7];
    for (u32 i = 0; i < 2; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "ptx.optimize=false %s", i ? more : less);
        struct rig rig = open_rig("gtx480", settings, ptx);
        launch(&rig, 2, 64);
        json_t *stats = stats_of(&rig);
        const json_t *function = json_array_get(json_object_get(stats, "profile"), 0);
        for (size_t n = 0; n < 7; n++)
            energy[i][n] =
                fj(json_array_get(json_object_get(function, "instructions"), n), "energy_pj");
        json_decref(stats);
        close_rig(&rig);
    }
    for (size_t n = 0; n < 7; n++)
        if (n != which)
            assert_int_equal(energy[1][n], energy[0][n]);
        else if (fj_more)
            assert_int_equal(energy[1][n] - energy[0][n], fj_more);
        else
            assert_true(energy[1][n] > energy[0][n]);
}

static void test_shares(void **state)
{
    check_share("energy.int_multiply_pj=1000", "energy.int_multiply_pj=2000", 2,
                1000ull * 1000 * 2 * 64);
    check_share("constant.sets=16", "constant.sets=64", 0, 0); /* a larger array */
}

/* ---- samples ---- */

static void take_row(void *user, const void *data, size_t bytes)
{
    json_array_append_new(((struct rig *)user)->series, json_loadb(data, bytes, 0, NULL));
}

static void check_samples(const char *machine, const char *settings, u64 interval)
{
    struct rig rig = open_rig(machine, settings, mixed);
    struct hd_observe what = {.interval = interval, .series = take_row, .series_user = &rig};
    assert_true(hd_observe(rig.device, &what, NULL));
    launch(&rig, BLOCKS, THREADS);
    assert_true(hd_observe(rig.device, NULL, NULL));
    json_t *stats = stats_of(&rig);
    const json_t *whole = launch_stats(stats, 0);
    assert_true(json_array_size(rig.series) > 3);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(stats, "totals"), key, value)
    {
        size_t length = strlen(key), i;
        json_t *row;
        u64 sum = 0;
        if (strncmp(key, "energy.", 7) != 0 || strcmp(key + length - 3, "_pj") != 0 ||
            !strcmp(key, "energy.unattributed_pj"))
            continue;
        json_array_foreach(rig.series, i, row)
        {
            assert_true(json_number_value(json_object_get(row, key)) >= 0);
            sum += fj(row, key);
        }
        if (sum != fj(whole, key))
            fail_msg("%s: samples have %llu, the launch %llu fJ", key, (unsigned long long)sum,
                     (unsigned long long)fj(whole, key));
    }
    /* a mechanism's, too, comes when it happens */
    u64 before = 0;
    for (size_t i = 0; strstr(settings, "filter_cache") && i + 1 < json_array_size(rig.series); i++)
        before += fj(json_array_get(rig.series, i), "energy.parts.filter_cache.dynamic_pj");
    assert_true(before > 0 || !strstr(settings, "filter_cache"));
    json_decref(stats);
    close_rig(&rig);
}

static void test_samples(void **state)
{
    check_samples("gtx480", "", 100);
    check_samples("gtx285", "filter_cache.on=true", 333);
    check_samples("gtx285", "uniform.on=true", 40); /* lanes that are not written come late */
    check_samples("tesla16", "filter_cache.on=true fetch_locality.on=true", 57);
}

/* No energy depends on the order in which cores run. */
static void test_order(void **state)
{
    static const char *const orders[] = {"forward", "reverse", "shuffle:3"};
    char *first = NULL;
    for (u32 i = 0; i < ARRAY_LEN(orders); i++) {
        struct rig rig = open_rig("gtx480", "filter_cache.on=true", mixed);
        assert_true(hd_set_core_order(rig.device, orders[i], NULL));
        launch(&rig, BLOCKS, THREADS);
        char *text = hd_stats_json(rig.device);
        if (first)
            assert_string_equal(text, first);
        else
            first = strdup(text);
        hd_free(text);
        close_rig(&rig);
    }
    free(first);
}

/* ---- events ---- */

static const struct {
    const char *array;
    bool found;
} built_in[] = {
#define ARRAY(component, counter, part, kind, element, bits, share) {element, false},
#define LOGIC(...)
#define LEAK(...)
#include "model/events.def"
};

static bool has_element(json_t *elements, const char *name)
{
    return json_object_get(elements, name);
}

/* Adds "unit.name" of all storage of a configuration. */
static void add_elements(json_t *elements, const struct hd_config *config)
{
    char *text = hd_config_storage(config);
    json_t *storage = json_loads(text, 0, NULL), *row;
    size_t i;
    json_array_foreach(json_object_get(storage, "rows"), i, row)
    {
        char name[128];
        snprintf(name, sizeof name, "%s.%s", json_string_value(json_object_get(row, "unit")),
                 json_string_value(json_object_get(row, "name")));
        json_object_set_new(elements, name, json_true());
    }
    json_decref(storage);
    hd_free(text);
}

/* Elements of all machines: an event of none of them is a slip. */
static json_t *all_elements(void)
{
    json_t *elements = json_object();
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        struct hd_config *config = config_of(machines[i], "");
        add_elements(elements, config);
        hd_config_destroy(config);
    }
    static const char *const wide[] = {"generic64", "tahiti", "miaow"};
    for (u32 i = 0; i < ARRAY_LEN(wide); i++) {
        struct hd_config *config = config_of(wide[i], "");
        add_elements(elements, config);
        hd_config_destroy(config);
    }
    return elements;
}

static void test_arrays_exist(void **state)
{
    json_t *elements = all_elements();
    for (u32 i = 0; i < ARRAY_LEN(built_in); i++)
        if (!has_element(elements, built_in[i].array))
            fail_msg("no machine has %s", built_in[i].array);
    assert_false(has_element(elements, "collect.nonsense"));
    json_decref(elements);
}

/* Elements of a mechanism with each value of each of its choices and flags. */
static void add_choices(json_t *elements, const struct mechanism *mechanism)
{
    const struct component *component = mechanism->component;
    for (u32 p = 0; p < component->param_count; p++) {
        const struct param *param = &component->params[p];
        char *choices = strdup(param->type == PARAM_CHOICE ? param->choices
                               : param->type == PARAM_BOOL ? "true|false"
                                                           : ""),
             *rest = choices;
        for (char *one; (one = strtok_r(rest, "|", &rest));) {
            char setting[256];
            snprintf(setting, sizeof setting, "%s.on=true %s.%s=%s", mechanism->name,
                     mechanism->name, param->name, one);
            struct hd_config *config = config_of("gtx285", setting);
            add_elements(elements, config);
            hd_config_destroy(config);
        }
        free(choices);
    }
}

static void check_event(json_t *elements, const struct mechanism *mechanism,
                        const struct energy_event *event)
{
    const struct component *component = mechanism->component;
    bool counted = false, given = !event->given;
    for (u32 i = 0; i < component->stat_count; i++)
        counted |= !strcmp(component->stats[i].name, event->counter);
    for (u32 i = 0; i < component->param_count && !given; i++)
        given = !strcmp(component->params[i].name, event->given) &&
                component->params[i].type == PARAM_F64;
    if (!counted)
        fail_msg("%s has no counter %s", mechanism->name, event->counter);
    if (!given)
        fail_msg("%s has no parameter %s in pJ", mechanism->name, event->given);
    assert_non_null(event->part);
    if (event->kind == ENERGY_LOGIC) {
        assert_true((event->pj > 0 && event->nm && event->source) || event->given);
    } else if (!event->array || !has_element(elements, event->array)) {
        fail_msg("%s: nobody has %s", mechanism->name, event->array ? event->array : "(none)");
    }
}

static void test_mechanisms_events(void **state)
{
    json_t *elements = all_elements();
    u32 events = 0;
    for (const struct mechanism *const *m = mechanisms_built_in; *m; m++) {
        add_choices(elements, *m);
        for (const struct energy_event *event = (*m)->events; event && event->counter; event++) {
            check_event(elements, *m, event);
            events++;
        }
    }
    assert_true(events > 0);
    json_decref(elements);
}

/* One that names what is not there is refused when a device is opened. */
static void test_wrong_events(void **state)
{
    static const struct {
        struct energy_event event;
        const char *says;
    } wrong[] = {
        {{"no_such", "x", ENERGY_READ, "filter_cache.tags"},
         "the counter 'no_such', which does not exist"},
        {{"probes", "x", ENERGY_READ}, "names no array"},
        {{"probes", "x", ENERGY_LOGIC, NULL, 0, 1, 40, "s", "no_pj"},
         "the parameter 'no_pj', which does not exist"},
    };
    const struct mechanism *original = NULL;
    for (const struct mechanism *const *m = mechanisms_built_in; *m; m++)
        if (!strcmp((*m)->name, "filter_cache"))
            original = *m;
    assert_non_null(original);
    for (u32 i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct energy_event list[] = {wrong[i].event, {0}};
        struct mechanism copy = *original;
        copy.events = list;
        const struct mechanism *const available[] = {&copy, NULL};
        struct hd_error error = {0};
        struct hd_config *config = config_with(available);
        assert_true(hd_config_set(config, "filter_cache.on=true", NULL));
        assert_null(hd_device_open(config, &error));
        if (!strstr(error.message, wrong[i].says))
            fail_msg("'%s' does not say %s", error.message, wrong[i].says);
        hd_config_destroy(config);
    }
}

/* Events whose counters do not say what they do: each written down by hand. */
static const struct {
    const char *mechanism, *counter, *array;
    u32 kinds; /* a set of kinds: a counter may be a read and a write of the same array */
} by_hand[] = {
    {"loscache", "searches", "loscache.pcs", 1u << ENERGY_SEARCH},
    {"loscache", "predicted", "loscache.table", 1u << ENERGY_READ},
    {"loscache", "predicted", "loscache.added", 1u << ENERGY_READ},
    {"loscache", "inserts", "loscache.pcs", 1u << ENERGY_WRITE},
    {"loscache", "inserts", "loscache.table", 1u << ENERGY_WRITE},
    {"loscache", "read_backs", "loscache.table", 1u << ENERGY_WRITE},
    {"loscache", "added", "loscache.added", 1u << ENERGY_WRITE},
    {"loscache", "counted", "loscache.counts", 1u << ENERGY_READ | 1u << ENERGY_WRITE},
    {"loscache", "probed", "l2.tags", 1u << ENERGY_READ},
    {"loscache", "probed", "loscache.counts", 1u << ENERGY_READ},
    {"loscache", "wakeups", "loscache.powered", 1u << ENERGY_WRITE},
    {"loscache", "gated", "loscache.powered", 1u << ENERGY_WRITE},
    /* a bit that changes is taken by its shadow latch */
    {"timing_speculation", "toggled", "timing_speculation.shadow", 1u << ENERGY_WRITE},
    {"timing_speculation", "passed", "timing_speculation.start", 1u << ENERGY_WRITE},
    {"timing_speculation", "restarts", "timing_speculation.start", 1u << ENERGY_READ},
};

/* What an event does to its array, by hand or by the name of its counter. */
static bool does_what_it_says(const char *mechanism, const struct energy_event *event)
{
    bool listed = false;
    for (u32 i = 0; i < ARRAY_LEN(by_hand); i++) {
        listed |= !strcmp(by_hand[i].mechanism, mechanism);
        if (!strcmp(by_hand[i].mechanism, mechanism) &&
            !strcmp(by_hand[i].counter, event->counter) && event->array &&
            !strcmp(by_hand[i].array, event->array))
            return by_hand[i].kinds >> event->kind & 1;
    }
    if (listed)
        return false;
    static const char *const written[] =
        {"write",        "fills",        "inserted",         "narrow",
         "buffer_words", "counters_set", "redundant_pending"},
                             *const read[] = {"read", "hits", "compared_words", "timed"},
                             *const searched[] = {"probes", "searches", "elections"};
    if (!strcmp(mechanism, "variable_latency")) /* each access reads the table of banks */
        return event->kind == ENERGY_READ;
    for (u32 i = 0; i < ARRAY_LEN(written); i++)
        if (strstr(event->counter, written[i]))
            return event->kind == ENERGY_WRITE;
    for (u32 i = 0; i < ARRAY_LEN(read); i++)
        if (strstr(event->counter, read[i]))
            return event->kind == ENERGY_READ;
    for (u32 i = 0; i < ARRAY_LEN(searched); i++)
        if (strstr(event->counter,
                   searched[i])) /* or one entry, or a bank's, is read and compared */
            return event->kind == ENERGY_SEARCH || event->kind == ENERGY_READ;
    return false;
}

static void test_kinds_of_events(void **state)
{
    u32 count = 0;
    for (const struct mechanism *const *m = mechanisms_built_in; *m; m++)
        for (const struct energy_event *event = (*m)->events; event && event->counter; event++) {
            if (event->kind == ENERGY_LOGIC)
                continue;
            if (!does_what_it_says((*m)->name, event))
                fail_msg("%s: %s of %s is another kind of event than its name says", (*m)->name,
                         event->counter, event->array);
            count++;
        }
    assert_true(count > 40);
}

/* ---- costs ---- */

#define REGISTERS "collect.registers"

/* Numbers of the papers' tables stand in the results as they are printed. */
static void test_published(void **state)
{
    json_t *xiang = costs_of("gtx285", "");
    expect(pj_of(xiang, "collect.lane_reads", "read", REGISTERS), 2.46);
    expect(pj_of(xiang, "collect.lane_writes", "write", REGISTERS), 5.82);
    expect(mw_of(xiang, REGISTERS), 90);
    json_decref(xiang);
    json_t *vector = costs_of("gtx285", "energy.register_per_vector=true");
    expect(pj_of(vector, "collect.lane_reads", "read", REGISTERS), 2.46 / 32);
    expect(pj_of(vector, "collect.lane_writes", "write", REGISTERS), 5.82 / 32);
    json_decref(vector);
    json_t *lashgar = costs_of("tesla16", "filter_cache.on=true");
    expect(pj_of(lashgar, "icache.reads", "read", "icache.tags"), 0.13);
    expect(pj_of(lashgar, "icache.reads", "read", "icache.data"), 4.30);
    expect(pj_of(lashgar, "fetch.buffered", "write", "fetch.buffer"), 1.00);
    expect(pj_of(lashgar, "issue.instructions", "read", "issue.scoreboard"), 1.57);
    expect(pj_of(lashgar, "collect.lane_reads", "write", "collect.operands"), 4.16 / 32);
    expect(pj_of(lashgar, "filter_cache.probes", "read", "filter_cache.tags"), 0.14);
    expect(pj_of(lashgar, "filter_cache.hits", "read", "filter_cache.data"), 0.81);
    expect(mw_of(lashgar, "icache.data"), 1.78);
    expect(mw_of(lashgar, "filter_cache.data"), 0.11);
    json_decref(lashgar);
    /* 0.131 and 0.123 nJ for the 32 lanes of a register. */
    json_t *tan = costs_of("fermi16", "");
    expect(pj_of(tan, "collect.lane_reads", "read", REGISTERS), 131.0 / 32);
    expect(pj_of(tan, "collect.lane_writes", "write", REGISTERS), 123.0 / 32);
    expect(mw_of(tan, REGISTERS), 130);
    json_decref(tan);
}

/* Dynamic energy goes as nm V^2; DRAM is not of the chip's technology. */
static void test_scaling(void **state)
{
    json_t *base = costs_of("gtx480", "energy.nm=45 energy.volts=1.0");
    json_t *low = costs_of("gtx480", "energy.nm=45 energy.volts=0.8");
    json_t *small = costs_of("gtx480", "energy.nm=28 energy.volts=1.0");
    const struct {
        const char *counter, *kind, *array;
        bool scales;
    } rows[] = {
        {"units.fp32_ops", "logic", NULL, true},
        {"units.int_ops", "logic", NULL, true},
        {"issue.instructions", "logic", NULL, true},
        {"network.hops", "logic", NULL, true},
        {"collect.lane_reads", "read", REGISTERS, true},
        {"l2.port_cycles", "read", "l2.data", true},
        {"dram.activates", "logic", NULL, false},
        {"dram.read_bytes", "logic", NULL, false},
    };
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        f64 pj = pj_of(base, rows[i].counter, rows[i].kind, rows[i].array);
        assert_true(pj > 0);
        expect(pj_of(low, rows[i].counter, rows[i].kind, rows[i].array),
               rows[i].scales ? pj * 0.8 * 0.8 : pj);
        expect(pj_of(small, rows[i].counter, rows[i].kind, rows[i].array),
               rows[i].scales ? pj * 28 / 45 : pj);
    }
    assert_true(mw_of(low, REGISTERS) < mw_of(base, REGISTERS));
    expect(mw_of(low, "DRAM chips"), mw_of(base, "DRAM chips"));
    json_t *hot = costs_of("gtx480", "energy.nm=45 energy.volts=1.0 energy.celsius=90");
    assert_true(mw_of(hot, REGISTERS) > mw_of(base, REGISTERS));
    expect(pj_of(hot, "units.fp32_ops", "logic", NULL),
           pj_of(base, "units.fp32_ops", "logic", NULL));
    json_decref(hot);
    json_decref(base);
    json_decref(low);
    json_decref(small);
}

/* A constant in its own technology is the one that is printed, and a user's is what he says. */
static void test_constants(void **state)
{
    json_t *own = costs_of("gtx480", "energy.nm=45 energy.volts=0.9");
    expect(pj_of(own, "issue.instructions", "logic", NULL), 39);
    json_decref(own);
    own = costs_of("gtx480", "energy.nm=28");
    expect(pj_of(own, "units.fp64_ops", "logic", NULL), 40);
    json_decref(own);
    own = costs_of("gtx480", "energy.nm=28 energy.volts=0.7 energy.fp32_pj=1.25 dram.bus_bytes=16 "
                             "network.flit_bytes=32 energy.hop_mm=2 energy.bit_mm_pj=0.5 "
                             "energy.dram_activate_pj=7 energy.dram_chip_mw=3");
    expect(pj_of(own, "units.fp32_ops", "logic", NULL), 1.25);
    expect(pj_of(own, "dram.activates", "logic", NULL), 7 * 4);
    expect(pj_of(own, "network.hops", "logic", NULL), 0.5 * 8 * 32 * 2);
    expect(mw_of(own, "DRAM chips"), 3);
    json_decref(own);
}

/* ---- a launch by hand ---- */

static const char counted[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<8>;\n"
    "mov.u32 %r1, %tid.x;\n"           /* int; writes 1 */
    "add.u32 %r2, %r1, %r1;\n"         /* int; reads 2, writes 1 */
    "mul.lo.u32 %r3, %r2, %r1;\n"      /* int, multiplies; reads 2, writes 1 */
    "fma.rn.f32 %r4, %r3, %r2, %r1;\n" /* fp32; reads 3, writes 1 */
    "ret;\n}\n";

static void test_by_hand(void **state)
{
    enum {
        ALL_LANES = 2 * 70,
        WARPS = 2 * 3
    };
    struct rig rig = open_rig("gtx285", "ptx.optimize=false", counted);
    json_t *costs = costs_of("gtx285", "ptx.optimize=false");
    launch(&rig, 2, 70);
    json_t *stats = stats_of(&rig);
    const json_t *all = launch_stats(stats, 0);
    assert_int_equal(fj(all, "energy.parts.registers.dynamic_pj"),
                     ALL_LANES * 7 * 2460 + ALL_LANES * 4 * 5820);
    u64 add = (u64)rint(ALL_LANES * 3 * pj_of(costs, "units.int_ops", "logic", NULL) * 1000);
    u64 multiply =
        (u64)rint(ALL_LANES * pj_of(costs, "units.int_multiplies", "logic", NULL) * 1000);
    assert_int_equal(fj(all, "energy.parts.int_units.dynamic_pj"), add + multiply);
    assert_int_equal(fj(all, "energy.parts.fp32_units.dynamic_pj"),
                     (u64)rint(ALL_LANES * pj_of(costs, "units.fp32_ops", "logic", NULL) * 1000));
    assert_int_equal(
        fj(all, "energy.parts.control.dynamic_pj"),
        (u64)rint(WARPS * 5 * pj_of(costs, "issue.instructions", "logic", NULL) * 1000));
    assert_int_equal(fj(all, "energy.parts.sfu.dynamic_pj"), 0);
    assert_int_equal(fj(all, "energy.parts.shared_memory.dynamic_pj"), 0);
    json_decref(stats);
    json_decref(costs);
    close_rig(&rig);
}

/* Leakage is power times time, whatever happens; a slower clock leaks longer and costs no more
 * operations. */
static void test_leakage(void **state)
{
    static const char *const settings[] = {"ptx.optimize=false",
                                           "ptx.optimize=false clock.core_mhz=350"};
    u64 dynamic[2], leaked[2], ps[2];
    for (u32 i = 0; i < 2; i++) {
        struct rig rig = open_rig("gtx480", settings[i], counted);
        launch(&rig, BLOCKS, THREADS);
        json_t *costs = costs_of("gtx480", settings[i]), *row, *stats = stats_of(&rig);
        const json_t *all = launch_stats(stats, 0);
        ps[i] = (u64)json_integer_value(json_object_get(all, "timing.picoseconds"));
        dynamic[i] = fj(all, "energy.parts.registers.dynamic_pj");
        leaked[i] = fj(all, "energy.static_pj");
        f64 mw = 0;
        size_t k;
        json_array_foreach(json_object_get(costs, "leakage"), k, row) mw +=
            json_real_value(json_object_get(row, "mw")) *
            (f64)json_integer_value(json_object_get(row, "copies"));
        /* every part is rounded once */
        assert_true(fabs((f64)leaked[i] - mw * (f64)ps[i]) < ENERGY_PARTS);
        json_decref(costs);
        json_decref(stats);
        close_rig(&rig);
    }
    assert_true(ps[1] > ps[0]);
    assert_int_equal(dynamic[0], dynamic[1]);
    f64 ratio = (f64)leaked[1] / (f64)leaked[0], times = (f64)ps[1] / (f64)ps[0];
    assert_true(fabs(ratio - times) < 1e-6 * times);
}

/* A launch without time has no energy. */
static void test_functional(void **state)
{
    struct rig rig = open_rig("gtx480", "timing.functional=true", mixed);
    launch(&rig, 1, 32);
    json_t *stats = stats_of(&rig);
    assert_null(json_object_get(launch_stats(stats, 0), "energy.total_pj"));
    assert_null(json_object_get(json_object_get(stats, "totals"), "energy.total_pj"));
    json_decref(stats);
    close_rig(&rig);
    struct hd_error error = {0};
    assert_null(hd_energy_json(NULL, &error));
    assert_int_equal(error.code, HD_ERROR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_attributed),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_arrays_exist),
        cmocka_unit_test(test_mechanisms_events),
        cmocka_unit_test(test_wrong_events),
        cmocka_unit_test(test_kinds_of_events),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_leakage),
        cmocka_unit_test(test_functional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
