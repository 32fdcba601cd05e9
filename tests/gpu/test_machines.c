/*
 * The built-in machines: each loads and fits together, says where its values come from, has what
 * its source states, and stores as many bits as arithmetic by hand gives.
 */
#include "base/machine.h"
#include "gpu/device.h"
#include "gpu/machine/params.h"
#include "gpu/machine/relations.h"
#include "gpu/machine/storage.h"
#include "mem/system.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct config *load(const char *name)
{
    struct config *config = config_create(gpu_components);
    struct error error = {0};
    char text[2400];
    if (!config_load_machine(config, name, &error))
        fail_msg("%s: %s", name, error_text(&error, text, sizeof text));
    return config;
}

/* A machine's parameters fit together: what would be refused when a launch begins. */
static void machines_fit_together(void **state)
{
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++) {
        struct config *config = load(machine->name);
        const struct gpu_params *gpu = config_params(config, &gpu_component);
        const struct core_params *core = config_params(config, &core_component);
        const struct clock_params *clock = config_params(config, &clock_component);
        const struct memory_system_params params = {
            .network = config_params(config, &network_component),
            .l2 = config_params(config, &l2_component),
            .dram = config_params(config, &dram_component),
            .network_mhz = clock->network_mhz,
            .l2_mhz = clock->l2_mhz,
            .dram_mhz = clock->dram_mhz,
            .cores = gpu->cores,
            .cluster = gpu->cluster,
            .cluster_icache = config_params(config, &cluster_icache_component),
            .cluster_constant = config_params(config, &cluster_constant_component),
        };
        struct error error = {0};
        char text[2400];
        if (!relations_check_memory(&params, &error))
            fail_msg("%s: %s", machine->name, error_text(&error, text, sizeof text));
        assert_string_equal(config_machine(config), machine->name);
        assert_int_equal(core->threads, core->warps * core->warp_size);
        assert_true(core->block_threads <= core->threads);
        assert_true(core->block_shared_bytes <= core->shared_bytes);
        config_destroy(config);
    }
}

/* Every value that a machine file sets says where it is from; parents come out as such. */
static void values_have_sources(void **state)
{
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++) {
        struct config *config = load(machine->name);
        json_t *explain = config_explain_json(config), *value;
        size_t i;
        assert_true(json_string_length(json_object_get(explain, "description")) > 0);
        json_array_foreach(json_object_get(explain, "values"), i, value)
        {
            const char *from = json_string_value(json_object_get(value, "from"));
            const char *source = json_string_value(json_object_get(value, "source"));
            bool inherited = json_is_true(json_object_get(value, "inherited"));
            if (strcmp(from, "default") != 0 && !source[0])
                fail_msg("%s: %s has no source", machine->name,
                         json_string_value(json_object_get(value, "key")));
            assert_int_equal(inherited,
                             strcmp(from, "default") != 0 && strcmp(from, machine->name) != 0);
        }
        json_decref(explain);
        config_destroy(config);
    }
}

/* ---- what the sources state ---- */

static const struct {
    const char *machine, *key, *value; /* as JSON writes it */
} stated[] = {
    /* Xiang et al. 2013, table 1 and section 5.3 */
    {"gtx285", "clock.core_mhz", "1300.0"},
    {"gtx285", "gpu.cores", "30"},
    {"gtx285", "core.warp_size", "32"},
    {"gtx285", "units.sp", "1"},
    {"gtx285", "units.sp_lanes", "8"},
    {"gtx285", "core.blocks", "8"},
    {"gtx285", "core.threads", "1024"},
    {"gtx285", "core.registers", "16384"},
    {"gtx285", "core.shared_bytes", "16384"},
    {"gtx285", "l1d.sets", "96"},
    {"gtx285", "l1d.ways", "8"},
    {"gtx285", "l1d.line_bytes", "64"},
    {"gtx285", "l2.channels", "16"},
    {"gtx285", "l2.slices", "1"},
    {"gtx285", "l2.sets", "512"},
    {"gtx285", "l2.ways", "8"},
    {"gtx285", "l2.line_bytes", "64"},
    {"gtx285", "dram.banks", "8"},
    {"gtx285", "clock.dram_mhz", "800.0"},
    {"gtx285", "dram.tCL", "10"},
    {"gtx285", "dram.tRP", "10"},
    {"gtx285", "dram.tRCD", "12"},
    {"gtx285", "issue.schedulers", "1"},
    {"gtx285", "issue.policy", "\"lrr\""},
    {"gtx285-w16", "gpu.cores", "15"},
    {"gtx285-w16", "units.sp_lanes", "16"},
    /* Lashgar et al. 2012, sections 3 and 5, table 3 */
    {"tesla16", "gpu.cores", "16"},
    {"tesla16", "l2.channels", "6"},
    {"tesla16", "network.cores_per_port", "2"},
    {"tesla16", "network.kind", "\"crossbar\""},
    {"tesla16", "clock.core_mhz", "1300.0"},
    {"tesla16", "clock.network_mhz", "650.0"},
    {"tesla16", "clock.dram_mhz", "800.0"},
    {"tesla16", "dram.banks", "8"},
    {"tesla16", "dram.policy", "\"fcfs\""},
    {"tesla16", "core.warp_size", "32"},
    {"tesla16", "units.sp_lanes", "8"},
    {"tesla16", "core.threads", "1024"},
    {"tesla16", "core.registers", "16384"},
    {"tesla16", "core.shared_bytes", "16384"},
    {"tesla16", "icache.sets", "4"},
    {"tesla16", "icache.ways", "4"},
    {"tesla16", "icache.line_bytes", "256"},
    {"tesla16", "icache.miss_cycles", "300"},
    {"tesla16", "issue.scoreboard", "\"regions\""},
    {"tesla16", "issue.regions", "6"},
    {"tesla16", "issue.policy", "\"lrr\""},
    {"tesla16", "issue.group_size", "8"},
    {"tesla16", "fetch.branch", "\"stall\""},
    {"tesla16", "l1d.global", "false"},
    {"tesla16", "l1d.local", "false"},
    {"tesla16", "l2.enabled", "false"},
    /* Tan 2016, section 3.2 */
    {"rise28", "gpu.cores", "28"},
    {"rise28", "units.sp_lanes", "32"},
    {"rise28", "core.warp_size", "32"},
    {"rise28", "core.threads", "1024"},
    {"rise28", "core.blocks", "8"},
    {"rise28", "core.registers", "16384"},
    {"rise28", "core.shared_bytes", "16384"},
    {"rise28", "issue.policy", "\"lrr\""},
    {"rise28", "issue.in_flight_per_warp", "1"},
    {"rise28", "l2.channels", "8"},
    {"rise28", "dram.queue", "32"},
    {"rise28", "dram.policy", "\"frfcfs_serial\""},
    {"rise28", "network.kind", "\"mesh\""},
    {"rise28", "readonly.enabled", "true"},
    {"rise28", "l1d.global", "false"},
    {"rise28", "l2.enabled", "false"},
    /* Tan 2016, section 4.3 */
    {"fermi16", "gpu.cores", "16"},
    {"fermi16", "core.warp_size", "32"},
    {"fermi16", "core.threads", "1536"},
    {"fermi16", "core.blocks", "8"},
    {"fermi16", "core.registers", "32768"},
    {"fermi16", "core.shared_bytes", "49152"},
    {"fermi16", "issue.policy", "\"lrr\""},
    {"fermi16", "collect.banks", "16"},
    {"fermi16", "clock.core_mhz", "600.0"},
    /* Tan 2016, section 5.3 */
    {"fermi15", "gpu.cores", "15"},
    {"fermi15", "core.warp_size", "32"},
    {"fermi15", "core.threads", "1536"},
    {"fermi15", "core.blocks", "8"},
    {"fermi15", "core.registers", "32768"},
    {"fermi15", "core.shared_bytes", "49152"},
    {"fermi15", "collect.banks", "16"},
    {"fermi15", "collect.bank_bits", "1024"},
    {"fermi15", "issue.schedulers", "2"},
    {"fermi15", "issue.policy", "\"lrr\""},
    {"fermi15", "issue.group_size", "8"},
    /* Tan 2016, table 6.1 */
    {"fermi15-lv", "gpu.cores", "15"},
    {"fermi15-lv", "clock.core_mhz", "700.0"},
    {"fermi15-lv", "units.sp_lanes", "32"},
    {"fermi15-lv", "issue.policy", "\"gto\""},
    {"fermi15-lv", "core.registers", "32768"},
    {"fermi15-lv", "collect.banks", "32"},
    {"fermi15-lv", "collect.bank_bits", "128"},
    {"fermi15-lv", "core.shared_bytes", "49152"},
    {"fermi15-lv", "l1d.ways", "4"},
    {"fermi15-lv", "l1d.line_bytes", "128"},
    {"fermi15-lv", "l2.ways", "8"},
    {"fermi15-lv", "l2.line_bytes", "128"},
    {"fermi15-lv", "l2.channels", "6"},
    /* Tan 2016, table 7.1 */
    {"fermi15-l2", "gpu.cores", "15"},
    {"fermi15-l2", "clock.core_mhz", "1400.0"},
    {"fermi15-l2", "units.sp_lanes", "32"},
    {"fermi15-l2", "core.threads", "1536"},
    {"fermi15-l2", "core.warps", "48"},
    {"fermi15-l2", "core.registers", "32768"},
    {"fermi15-l2", "l1d.ways", "4"},
    {"fermi15-l2", "l1d.line_bytes", "128"},
    {"fermi15-l2", "l1d.latency", "1"},
    {"fermi15-l2", "l1d.mshrs", "32"},
    {"fermi15-l2", "l1d.merges", "8"},
    {"fermi15-l2", "l1d.write", "\"evict\""},
    {"fermi15-l2", "core.shared_bytes", "49152"},
    {"fermi15-l2", "lsu.shared_banks", "32"},
    {"fermi15-l2", "lsu.shared_latency", "3"},
    {"fermi15-l2", "l2.ways", "16"},
    {"fermi15-l2", "l2.line_bytes", "128"},
    {"fermi15-l2", "l2.channels", "6"},
    {"fermi15-l2", "clock.dram_mhz", "1400.0"},
    {"fermi15-l2", "dram.queue", "16"},
    {"fermi15-l2", "dram.policy", "\"frfcfs\""},
    {"fermi15-l2", "issue.policy", "\"gto\""},
    /* Yeh et al. 2020, section 3 and table 2 */
    {"gtx1080ti", "gpu.cores", "28"},
    {"gtx1080ti", "core.warps", "64"},
    {"gtx1080ti", "core.blocks", "32"},
    {"gtx1080ti", "issue.schedulers", "4"},
    {"gtx1080ti", "issue.policy", "\"gto\""},
    {"gtx1080ti", "issue.per_warp", "2"},
    {"gtx1080ti", "units.sp_lanes", "32"},
    {"gtx1080ti", "core.registers", "65536"},
    {"gtx1080ti", "core.shared_bytes", "98304"},
    {"gtx1080ti", "fetch.buffer", "2"},
    {"gtx1080ti", "fetch.per_cycle", "1"},
    {"pascal28", "gpu.cores", "28"},
    {"pascal28", "core.warps", "64"},
    {"pascal28", "core.blocks", "32"},
    {"pascal28", "issue.schedulers", "4"},
    {"pascal28", "issue.policy", "\"gto\""},
    {"pascal28", "issue.per_warp", "2"},
    {"pascal28", "units.sp_lanes", "32"},
    {"pascal28", "core.registers", "65536"},
    {"pascal28", "core.shared_bytes", "98304"},
    {"pascal28", "fetch.per_cycle", "1"},
    {"pascal28", "fetch.width", "1"},
    {"pascal28", "fetch.policy", "\"lrr\""},
    {"pascal28", "fetch.buffer", "2"},
    {"pascal28", "fetch.when_empty", "false"},
    {"pascal28", "icache.perfect", "false"},
    /* GPGPU-Sim 4.2: what differs most */
    {"gtx480", "gpu.cores", "15"},
    {"gtx480", "units.int_div", "145"},
    {"titanx", "gpu.cores", "28"},
    {"titanx", "clock.dram_mhz", "2500.0"},
    {"titanx", "l1d.global", "false"},
    {"titanx", "issue.per_warp", "2"},
    {"rtx2060", "gpu.cores", "30"},
    {"rtx2060", "issue.policy", "\"lrr\""},
    {"rtx2060", "units.integer", "4"},
    {"rtx2060", "dram.tRAS", "55"},
    /* AMD: whitepaper on Graphics Core Next, OpenCL programming guide, data sheet of the board */
    {"tahiti", "gpu.cores", "32"},
    {"tahiti", "gpu.cluster", "4"},
    {"tahiti", "clock.core_mhz", "925.0"},
    {"tahiti", "core.warp_size", "64"},
    {"tahiti", "core.warps", "40"},
    {"tahiti", "issue.schedulers", "4"},
    {"tahiti", "l1d.write", "\"through\""},
    {"tahiti", "lsu.shared_banks", "32"},
    {"tahiti", "l2.channels", "12"},
    {"tahiti", "l2.ways", "16"},
};

static const json_t *value_of(const json_t *config, const char *key)
{
    char component[32] = "";
    size_t length = strcspn(key, ".");
    memcpy(component, key, length);
    return json_object_get(json_object_get(config, component), key + length + 1);
}

static void machines_have_what_sources_state(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(stated); i++) {
        struct config *config = load(stated[i].machine);
        json_t *json = config_json(config);
        char *text =
            json_dumps(value_of(json, stated[i].key), JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        if (!text || strcmp(text, stated[i].value) != 0)
            fail_msg("%s: %s is %s, not %s", stated[i].machine, stated[i].key, text,
                     stated[i].value);
        free(text);
        json_decref(json);
        config_destroy(config);
    }
}

/* ---- sizes ---- */

static const struct state_row *row_of(const struct state_list *list, const char *unit,
                                      const char *name)
{
    for (u32 i = 0; i < list->rows.count; i++)
        if (!strcmp(list->rows.data[i].unit, unit) && !strcmp(list->rows.data[i].name, name))
            return &list->rows.data[i];
    return NULL;
}

static const struct {
    const char *machine, *unit, *name;
    u64 bytes; /* of one owner */
} sizes[] = {
    {"gtx285", "l1d", "data", 48 << 10},
    {"gtx285", "l2", "data", 256 << 10},
    {"tesla16", "icache", "data", 4 << 10},
    {"rise28", "constant", "data", 8 << 10},
    {"rise28", "readonly", "data", 64 << 10},
    {"fermi16", "collect", "registers", 128 << 10},
    {"fermi16", "l1d", "data", 16 << 10},
    {"fermi16", "l2", "data", 64 << 10}, /* two of a channel */
    {"fermi15", "collect", "registers", 128 << 10},
    {"fermi15", "l1d", "data", 16 << 10},
    {"fermi15-lv", "l1d", "data", 16 << 10},
    {"fermi15-lv", "l2", "data", 64 << 10},
    {"fermi15-l2", "l1d", "data", 16 << 10},
    {"fermi15-l2", "l2", "data", 128 << 10},
    {"gtx1080ti", "lsu", "shared", 96 << 10},
    {"pascal28", "lsu", "shared", 96 << 10},
    {"tesla16", "constant", "data", 2 << 10},
    {"gtx480", "collect", "registers", 128 << 10},
    {"gtx480", "lsu", "shared", 48 << 10},
    {"titanx", "l1d", "data", 48 << 10},
    {"rtx2060", "l1d", "data", 64 << 10},
    {"generic64", "collect", "registers", 256 << 10},
    {"generic64", "collect", "scalar_registers", 8 << 10},
    {"tahiti", "l1d", "data", 16 << 10},
    {"tahiti", "lsu", "shared", 64 << 10},
    {"tahiti", "cluster_icache", "data", 32 << 10},
    {"tahiti", "cluster_constant", "data", 16 << 10},
    {"tahiti", "l2", "data", 64 << 10},
};

static void storage_has_the_stated_sizes(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct config *config = load(sizes[i].machine);
        struct state_list list = {0};
        storage_collect(&list, config);
        const struct state_row *row = row_of(&list, sizes[i].unit, sizes[i].name);
        if (!row || row->entries * row->bits != 8 * sizes[i].bytes)
            fail_msg("%s: %s.%s", sizes[i].machine, sizes[i].unit, sizes[i].name);
        state_free(&list);
        config_destroy(config);
    }
}

/* gtx480 by hand: 48 warps, 31 bits of address (1.5 GB), 15 cores, 12 slices, 6 channels. */
static const struct {
    const char *unit, *name;
    u64 copies, entries;
    u32 bits;
    enum state_class class;
} gtx480[] = {
    {"fetch", "pc", 15, 48, 31, STATE_LIVE},
    {"fetch", "buffer_pc", 15, 96, 32, STATE_LIVE},
    {"fetch", "buffer", 15, 96, 64, STATE_COUNTED},
    /* Two instructions, a PC, one of 48 warps, valid. */
    {"fetch", "decode", 15, 1, 2 * 64 + 31 + 6 + 1, STATE_COUNTED},
    /* 31 - 7 bits of line - 2 of set. */
    {"icache", "tags", 15, 16, 22, STATE_LIVE},
    {"icache", "data", 15, 16, 1024, STATE_COUNTED},
    {"issue", "scoreboard", 15, 1024, 1, STATE_LIVE},
    {"issue", "age", 15, 48, 5, STATE_LIVE}, /* 24 warps of a scheduler */
    {"issue", "stack", 15, 48 * 32, 2 * 31 + 32, STATE_LIVE},
    {"collect", "registers", 15, 32768, 32, STATE_LIVE},
    {"collect", "operands", 15, 16 * 3, 1024, STATE_LIVE},
    /* Five stages of each of two units: 32 lanes of 33 bits, a warp, a register. */
    {"units", "sp", 15, 10, 32 * 33 + 6 + 8, STATE_LIVE},
    {"lsu", "shared", 15, 12288, 32, STATE_LIVE},
    {"l1d", "tags", 15, 128, 31 - 7 - 5, STATE_LIVE},
    {"l1d", "data", 15, 128, 1024, STATE_LIVE},
    {"l1d", "mshrs", 15, 64, 1 + 24 + 1, STATE_LIVE},
    {"constant", "data", 15, 128, 512, STATE_COUNTED},
    {"network", "buffers", 1, 27 * 64, 320, STATE_LIVE},
    /* A slice has 128 MB: 27 bits, 7 of line, 6 of set. */
    {"l2", "tags", 12, 512, 14, STATE_LIVE},
    {"l2", "dirty", 12, 512, 4, STATE_LIVE},
    {"l2", "data", 12, 512, 1024, STATE_LIVE},
    /* A channel has 256 MB: 16 banks of 4096 rows of 4 KB, 128 sectors each. */
    {"dram", "queue", 6, 64, 2 + 12 + 4 + 7, STATE_LIVE},
    {"dram", "open_rows", 6, 16, 13, STATE_LIVE},
};

static void storage_of_gtx480_by_hand(void **state)
{
    struct config *config = load("gtx480");
    struct state_list list = {0};
    storage_collect(&list, config);
    for (size_t i = 0; i < ARRAY_LEN(gtx480); i++) {
        const struct state_row *row = row_of(&list, gtx480[i].unit, gtx480[i].name);
        if (!row || row->copies != gtx480[i].copies || row->entries != gtx480[i].entries ||
            row->bits != gtx480[i].bits || row->class != gtx480[i].class)
            fail_msg("%s.%s", gtx480[i].unit, gtx480[i].name);
    }
    u64 all[2] = {0};
    for (u32 i = 0; i < list.rows.count; i++) {
        const struct state_row *row = &list.rows.data[i];
        all[STATE_LIVE] += row->copies * state_backed_bits(row);
        all[STATE_COUNTED] += state_bits(row) - row->copies * state_backed_bits(row);
    }
    json_t *json = storage_json(config, &list);
    assert_int_equal(json_integer_value(json_object_get(json, "live_bits")), all[STATE_LIVE]);
    assert_int_equal(json_integer_value(json_object_get(json, "counted_bits")), all[STATE_COUNTED]);
    /* The chip is the sum of its owners. */
    json_t *owner;
    size_t i;
    u64 sum = 0;
    json_array_foreach(json_object_get(json, "owners"), i, owner)
    {
        sum += (u64)(json_integer_value(json_object_get(owner, "copies")) *
                     (json_integer_value(json_object_get(owner, "live_bits")) +
                      json_integer_value(json_object_get(owner, "counted_bits"))));
    }
    assert_int_equal(sum, all[STATE_LIVE] + all[STATE_COUNTED]);
    json_decref(json);
    state_free(&list);
    config_destroy(config);
}

/* An element that no flip was seen to act on can be flipped, but does not count as live. */
static void unseen_elements(void **state)
{
    struct config *config = load("gtx480");
    struct state_list list = {0};
    storage_collect(&list, config);
    const u64 before = state_live_bits(state_find(&list, "fetch.pc"));
    struct state_row *row = state_find(&list, "fetch.pc");
    assert_int_equal(before, state_backed_bits(row));
    /* as the last one that was added */
    list.rows.data[list.rows.count - 1] = *row;
    state_unseen(&list);
    row = &list.rows.data[list.rows.count - 1];
    assert_int_equal(state_live_bits(row), 0);
    assert_int_equal(state_backed_bits(row), before);
    json_t *json = storage_row_json(row);
    assert_string_equal(json_string_value(json_object_get(json, "class")), "unseen");
    assert_int_equal(json_integer_value(json_object_get(json, "live_bits")), 0);
    json_decref(json);
    state_free(&list);
    config_destroy(config);
}

/* What a machine does not have takes no storage. */
static void storage_follows_parameters(void **state)
{
    struct config *config = load("gtx480");
    struct error error = {0};
    static const char *const settings[] = {
        "icache.perfect=true", "constant.perfect=true",    "l1d.global=false",  "l1d.local=false",
        "l2.enabled=false",    "issue.scoreboard=regions", "issue.policy=fair",
    };
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        assert_true(config_set(config, settings[i], &error));
    struct state_list list = {0};
    storage_collect(&list, config);
    static const char *const gone[] = {"icache", "constant", "l1d", "l2"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_null(row_of(&list, gone[i], "tags"));
    /* 48 warps, 6 regions: valid, a base of 8 bits, up to four registers. */
    assert_int_equal(row_of(&list, "issue", "scoreboard")->entries, 48 * 6);
    assert_int_equal(row_of(&list, "issue", "scoreboard")->bits, 1 + 8 + 2);
    assert_null(row_of(&list, "issue", "age"));
    assert_int_equal(row_of(&list, "issue", "issued")->bits, 32);
    assert_null(row_of(&list, "issue", "in_flight"));
    state_free(&list);
    config_destroy(config);
}

static u64 unit_bits(const struct state_list *list, const char *unit)
{
    u64 bits = 0;
    for (u32 i = 0; i < list->rows.count; i++)
        if (!strcmp(list->rows.data[i].unit, unit))
            bits += list->rows.data[i].entries * list->rows.data[i].bits;
    return bits;
}

/* Flip-flops of MIAOW's published RTL. Those of fetch, decode and the vector registers' ports are
 * counted by hand: 40 x (33 + 1 + 15 + 22) + 93 + 2 x 6; 106 + 40 x 65; 64 x 3 x (32 + 10). */
static void miaow_has_the_flip_flops_of_its_rtl(void **state)
{
    static const struct {
        const char *unit;
        u64 bits;
    } modules[] = {
        {"fetch", 2945}, {"wavepool", 22392}, {"decode", 2706},      {"issue", 14537},
        {"exec", 6440},  {"salu", 926},       {"simd", 4 * 18147},   {"simf", 4 * 41748},
        {"lsu", 8505},   {"arbiter", 4},      {"sgpr", 680 + 16384}, {"vgpr", 2097152 + 8064},
    };
    struct config *config = load("miaow");
    struct state_list list = {0};
    storage_collect(&list, config);
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        if (unit_bits(&list, modules[i].unit) != modules[i].bits)
            fail_msg("%s: %llu bits", modules[i].unit,
                     (unsigned long long)unit_bits(&list, modules[i].unit));
    /* Memory is the test bench's. */
    assert_int_equal(unit_bits(&list, "l2") + unit_bits(&list, "dram"), 0);
    /* The machine file has the same values, which reports print beside Heddle's. */
    json_t *json = storage_json(config, &list), *module;
    json_t *said = json_object_get(json_object_get(json, "published"), "modules");
    size_t i;
    assert_int_equal(json_array_size(said), ARRAY_LEN(modules));
    json_array_foreach(said, i, module)
    {
        assert_string_equal(json_string_value(json_object_get(module, "name")), modules[i].unit);
        assert_int_equal(json_integer_value(json_object_get(module, "their_bits")),
                         modules[i].bits);
        assert_int_equal(json_integer_value(json_object_get(module, "difference")), 0);
    }
    json_decref(json);
    state_free(&list);
    config_destroy(config);
}

/* Six words of queue, as the paper says, and two integer units. */
static void miaow_follows_parameters(void **state)
{
    struct config *config = load("miaow");
    struct error error = {0};
    assert_true(config_set(config, "miaow.queue=6", &error));
    assert_true(config_set(config, "miaow.simd=2", &error));
    assert_true(config_set(config, "miaow.files=memory", &error));
    struct state_list list = {0};
    storage_collect(&list, config);
    assert_int_equal(unit_bits(&list, "wavepool"), 22392 - 2 * 40 * 64);
    assert_int_equal(unit_bits(&list, "simd"), 2 * 18147);
    assert_false(row_of(&list, "vgpr", "registers")->shape.flip_flops);
    assert_int_equal(row_of(&list, "vgpr", "registers")->shape.read_ports, 0);
    json_t *json = storage_json(config, &list);
    json_t *pool =
        json_array_get(json_object_get(json_object_get(json, "published"), "modules"), 1);
    assert_int_equal(json_integer_value(json_object_get(pool, "difference")), -2 * 40 * 64);
    json_decref(json);
    state_free(&list);
    config_destroy(config);
}

/* Eight clusters of tahiti: tags of 32 bits of address, 6 of line, 7 or 6 of set; places in the
 * network; and cores have only what is under way. */
static void storage_of_clusters(void **state)
{
    struct config *config = load("tahiti");
    struct state_list list = {0};
    storage_collect(&list, config);
    static const struct {
        const char *unit, *name;
        u64 copies, entries;
        u32 bits;
    } rows[] = {
        {"cluster_icache", "tags", 8, 512, 32 - 6 - 7},
        {"cluster_icache", "mshrs", 8, 16, 1 + 26 + 1},
        {"cluster_constant", "tags", 8, 256, 32 - 6 - 6},
        {"icache", "mshrs", 32, 40, 1 + 26 + 1},
        /* 32 cores, 8 clusters, 12 slices */
        {"network", "buffers", 1, 52 * 64, 72 * 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct state_row *row = row_of(&list, rows[i].unit, rows[i].name);
        if (!row || row->copies != rows[i].copies || row->entries != rows[i].entries ||
            row->bits != rows[i].bits)
            fail_msg("%s.%s: %u bits", rows[i].unit, rows[i].name, row ? row->bits : 0);
    }
    assert_null(row_of(&list, "icache", "data"));
    assert_null(row_of(&list, "constant", "tags"));
    state_free(&list);
    config_destroy(config);
}

/* Cores beyond the list run at the common rate. */
static void cores_have_rates(void **state)
{
    struct config *config = load("fermi15");
    struct error error = {0};
    assert_true(config_set(config, "clock.core_rates=1,0.75", &error));
    const struct clock_params *clock = config_params(config, &clock_component);
    assert_true(clock_core_mhz(clock, 0) == 700);
    assert_true(clock_core_mhz(clock, 1) == 525);
    assert_true(clock_core_mhz(clock, 2) == 700);
    config_destroy(config);
}

/* ---- every machine in timing mode ---- */

/* out[i] = 3 * (tid ^ 1) + a division, through shared memory and a barrier; out[threads] counts. */
static const char kernel_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry k(.param .u64 out, .param .u32 threads)\n{\n"
                                  " .reg .pred %p;\n .reg .b32 %r<12>;\n .reg .b64 %d<8>;\n"
                                  " .shared .align 4 .b8 words[512];\n"
                                  " ld.param.u64 %d0, [out];\n ld.param.u32 %r0, [threads];\n"
                                  " mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n"
                                  " mad.lo.u32 %r3, %r2, 128, %r1;\n mul.lo.u32 %r4, %r1, 3;\n"
                                  " shl.b32 %r5, %r1, 2;\n mov.u32 %r6, words;\n"
                                  " add.u32 %r7, %r6, %r5;\n st.shared.u32 [%r7], %r4;\n"
                                  " bar.sync 0;\n xor.b32 %r7, %r7, 4;\n"
                                  " ld.shared.u32 %r8, [%r7];\n div.u32 %r9, %r3, 7;\n"
                                  " add.u32 %r8, %r8, %r9;\n mul.wide.u32 %d1, %r3, 4;\n"
                                  " add.u64 %d2, %d0, %d1;\n st.global.u32 [%d2], %r8;\n"
                                  " mul.wide.u32 %d3, %r0, 4;\n add.u64 %d4, %d0, %d3;\n"
                                  " red.global.add.u32 [%d4], 1;\n ret;\n}\n";

enum {
    BLOCKS = 40,
    THREADS = 128 * BLOCKS
};

static struct hd_result run_kernel(const char *machine, const char *functional, u32 *out)
{
    struct hd_config *config = hd_config_create();
    struct hd_error error = {0};
    assert_true(hd_config_load(config, machine, &error));
    assert_true(hd_config_set(config, functional, &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    hd_config_destroy(config);
    struct hd_module *module =
        hd_module_load(device, kernel_text, sizeof kernel_text - 1, "k.ptx", &error);
    if (!module)
        fail_msg("%s: %s", machine, error.message);
    hd_address address = hd_alloc(device, 4 * (THREADS + 1), &error);
    memset(out, 0, 4 * (THREADS + 1));
    assert_true(hd_write(device, address, out, 4 * (THREADS + 1), &error));
    u32 threads = THREADS;
    const struct hd_arg args[] = {{&address, sizeof address}, {&threads, sizeof threads}};
    struct hd_result result = {0};
    if (!hd_launch(hd_kernel_find(module, "k", &error), (struct hd_dim){BLOCKS, 1, 1},
                   (struct hd_dim){128, 1, 1}, 0, args, 2, &result, &error))
        fail_msg("%s: %s", machine, error.message);
    if (result.outcome != HD_DONE)
        fail_msg("%s: %s", machine, result.explanation);
    assert_true(hd_read(device, out, address, 4 * (THREADS + 1), &error));
    hd_device_close(device);
    return result;
}

static void machines_run_in_time(void **state)
{
    u32 *out = malloc(4 * (THREADS + 1));
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++) {
        struct hd_result plain = run_kernel(machine->name, "timing.functional=true", out);
        struct hd_result timed = run_kernel(machine->name, "timing.functional=false", out);
        for (u32 i = 0; i < THREADS; i++)
            assert_int_equal(out[i], 3 * (i % 128 ^ 1) + i / 7);
        assert_int_equal(out[THREADS], THREADS);
        assert_int_equal(plain.cycles, 0);
        assert_true(timed.cycles > 0);
        assert_int_equal(plain.warp_instructions, timed.warp_instructions);
        assert_int_equal(plain.thread_instructions, timed.thread_instructions);
    }
    free(out);
}

static void indices_have_enough_bits(void **state)
{
    static const struct {
        u64 count;
        u32 bits;
    } cases[] = {{0, 1}, {1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {1ull << 40, 40}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(state_index_bits(cases[i].count), cases[i].bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_fit_together),
        cmocka_unit_test(values_have_sources),
        cmocka_unit_test(machines_have_what_sources_state),
        cmocka_unit_test(storage_has_the_stated_sizes),
        cmocka_unit_test(storage_of_gtx480_by_hand),
        cmocka_unit_test(unseen_elements),
        cmocka_unit_test(storage_follows_parameters),
        cmocka_unit_test(storage_of_clusters),
        cmocka_unit_test(miaow_has_the_flip_flops_of_its_rtl),
        cmocka_unit_test(miaow_follows_parameters),
        cmocka_unit_test(cores_have_rates),
        cmocka_unit_test(machines_run_in_time),
        cmocka_unit_test(indices_have_enough_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
