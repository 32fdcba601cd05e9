/*
 * The area of logic: lanes, schedulers, decoders, crossbars. Each constant is that of a published
 * unit, scaled to the technology; crossbars are modelled by their wires.
 *
 * MIAOW (Balasubramanian et al., "Enabling GPGPU low-level hardware explorations with MIAOW", TACO
 * 2015) gives the area of one stage, issue, with 0.43 mm2 for 40 wavefronts at 32 nm (section 5.1),
 * and the look-up tables of all stages on an FPGA (table VI). The other areas are taken in
 * proportion to these. Their sum for its four integer and four floating-point units of 16 lanes is
 * 4.4 mm2; the text says 34 % of 15 mm2, 5.1.
 *
 * Deviations
 *  - Not modelled, so that a chip is larger than the sum: coalescing and texture filtering, DRAM
 *    controllers and drivers, raster units, video, pads, clock and power distribution.
 *  - Crossbars do not leak: their drivers are small compared with the wires.
 *  - The areas of MIAOW's stages include their flip-flops; those that the storage list declares are
 *    counted twice (a few percent of these stages).
 */
#include "core/pipeline.h"
#include "gpu/machine/config.h"
#include "gpu/machine/params.h"
#include "gpu/machine/storage.h"
#include "mem/system.h"
#include "model/area.h"

#include <stddef.h>

extern const struct component energy_component;

static const struct technology at_32 = {.nm = 32}, at_45 = {.nm = 45};

/* MIAOW: from look-up tables to um2 of logic. */
static const f64 issue_um2 = 0.43e6, issue_luts = 36142, issue_warps = 40;
static const f64 decode_luts = 3474, fetch_luts = 22290, pool_luts = 27833, scalar_luts = 1240,
                 exec_luts = 8689;
static const f64 integer_luts = 36890.0 / 16; /* per lane */
/* Kaul et al., "A 1.45GHz 52-to-162GFLOPS/W variable-precision floating-point fused multiply-add
 * unit with certainty tracking in 32nm CMOS", ISSCC 2012: single precision. MIAOW's lane in
 * proportion is 0.042. */
static const f64 fp32_um2 = 0.045e6;
/* Pu et al., "FPMax", 2016: 217 GFLOPS/mm2 in single and 74.6 in double precision at 28 nm. */
static const f64 fp64_over_fp32 = 217 / 74.6;
/* CACTI 7: pitch of a wire between blocks, in feature sizes. */
static const f64 pitch = 4;

#define MIAOW "MIAOW (TACO 2015), table VI and section 5.1, 32 nm"
#define KAUL "Kaul et al., ISSCC 2012, 0.045 mm2 at 32 nm"

struct logic_build {
    struct area_list *list;
    const struct technology *technology;
    const char *owner;
    u64 copies;
    const struct energy_params *energy;
};

/*
 * McPAT (Li et al., MICRO 2009) models logic as transistors of a given density, with inverters of
 * five minimum widths: CACTI's densities per um2, which fall as the feature size grows, and 12.8
 * feature sizes of n and p together, half of which is off. In an in-order core four fifths of the
 * transistors have longer channels, which leak 0.28 as much (CACTI at 45 nm; 0.27 at 32, 0.31 at
 * 22).
 */
static f64 leakage_mw(const struct technology *technology, f64 um2)
{
    static const f64 per_um2_at_45 = 1.25, width = 12.8 / 2, longer = 0.8, longer_leaks = 0.28;
    f64 density = per_um2_at_45 * at_45.nm / technology->nm;
    f64 off_um = density * um2 * width * technology->nm * 1e-3;
    off_um *= 1 - longer + longer * longer_leaks;
    return technology_leakage_mw(technology, off_um, off_um);
}

/* Leakage of lanes is published; the energy of a run uses the same rows. */
static const struct {
    const char *part;
    f64 mw;
    struct technology technology;
    size_t given; /* in struct energy_params: the user's value */
} lane_leaks[] = {
#define ARRAY(...)
#define LOGIC(...)
#define LEAK(part, things, mw, nm, volts, celsius, given, source) \
    {#part, mw, {nm, volts, celsius}, offsetof(struct energy_params, given)},
#include "model/events.def"
};

static f64 lane_mw(const struct logic_build *build, const char *part)
{
    for (u32 i = 0; i < ARRAY_LEN(lane_leaks); i++) {
        if (strcmp(lane_leaks[i].part, part) != 0)
            continue;
        f64 given;
        memcpy(&given, (const u8 *)build->energy + lane_leaks[i].given, sizeof given);
        return given > 0
                   ? given
                   : lane_leaks[i].mw * scale_leakage(&lane_leaks[i].technology, build->technology);
    }
    assert(!"a part of events.def");
    return 0;
}

static void put(const struct logic_build *build, const char *unit, const char *name, f64 um2,
                f64 mw, const char *source, const char *help)
{
    if (um2 <= 0)
        return;
    struct area_row *row = vec_push(&build->list->rows);
    *row = (struct area_row){.logic = true, .source = source};
    row->state = (struct state_row){
        .unit = unit, .name = name, .help = help, .owner = build->owner, .copies = build->copies};
    row->cost.area_um2 = um2;
    row->cost.leakage_mw = mw;
}

static void add(const struct logic_build *build, const char *unit, const char *name, f64 um2,
                const char *source, const char *help)
{
    put(build, unit, name, um2, leakage_mw(build->technology, um2), source, help);
}

static void add_wires(const struct logic_build *build, const char *unit, const char *name, f64 um2,
                      const char *help)
{
    put(build, unit, name, um2, 0, "wires of a pitch of 4 feature sizes (CACTI 7), crossing", help);
}

static void add_lanes(const struct logic_build *build, const char *unit, const char *name,
                      const char *part, u64 count, f64 um2, const char *source, const char *help)
{
    put(build, unit, name, (f64)count * um2, (f64)count * lane_mw(build, part), source, help);
}

/* Two crossing layers of wires: `in` bits one way, `out` bits the other. */
static f64 crossing(const struct logic_build *build, f64 in, f64 out)
{
    f64 wire = pitch * build->technology->nm * 1e-3;
    return in * wire * out * wire;
}

/* Adds a block of logic of a core's pipeline. */
static void add_block(const struct logic_build *build, const struct logic *l)
{
    const f64 scale = scale_area(&at_32, build->technology);
    const f64 lut = scale * issue_um2 / issue_luts, fp32 = scale * fp32_um2;
    const f64 warps = l->count / issue_warps;
    const u64 lanes = (u64)l->count;
    switch (l->kind) {
    case LOGIC_FETCH:
        add(build, l->unit, l->name, warps * fetch_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_QUEUE:
        add(build, l->unit, l->name, warps * pool_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_DECODE:
        add(build, l->unit, l->name, l->count * decode_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_ISSUE:
        add(build, l->unit, l->name, warps * issue_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_EXEC:
        add(build, l->unit, l->name, warps * exec_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_SCALAR:
        add(build, l->unit, l->name, l->count * scalar_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_INT:
        add_lanes(build, l->unit, l->name, "int_units", lanes, integer_luts * lut, MIAOW, l->help);
        break;
    case LOGIC_FP32:
        add_lanes(build, l->unit, l->name, "fp32_units", lanes, fp32, KAUL, l->help);
        break;
    case LOGIC_FP64:
        add_lanes(build, l->unit, l->name, "fp64_units", lanes, fp32 * fp64_over_fp32,
                  KAUL " x 217/74.6 (FPMax, 2016)", l->help);
        break;
    case LOGIC_SFU:
        add_lanes(build, l->unit, l->name, "sfu", lanes, fp32,
                  "assumed: as a single-precision lane", l->help);
        break;
    case LOGIC_CROSSBAR:
        add_wires(build, l->unit, l->name, l->count * crossing(build, l->in, l->out), l->help);
        break;
    }
}

static void core_logic(const struct logic_build *build, const struct config *config)
{
    const struct core_config core = core_config_of(config);
    struct logic_list list = {0};
    pipeline_of(core.core)->logic(&list, &core);
    for (u32 i = 0; i < list.rows.count; i++)
        add_block(build, &list.rows.data[i]);
    vec_free(&list.rows);
}

static void network_logic(const struct logic_build *build, const struct config *config)
{
    enum {
        CROSSBAR,
        MESH,
        MESH_PORTS = 5
    };
    const struct memory_system_params memory = memory_system_params_of(config);
    const struct network_params *network = memory.network;
    f64 flit = 8.0 * network->flit_bytes;
    const u32 ports = (memory.cores + network->cores_per_port - 1) / network->cores_per_port;
    f64 cores = (f64)ports + memory_system_clusters(&memory);
    f64 slices = (f64)memory.l2->channels * memory.l2->slices;
    f64 um2 = network->kind == MESH
                  ? (cores + slices) * crossing(build, MESH_PORTS * flit, MESH_PORTS * flit)
                  : crossing(build, cores * flit, slices * flit);
    add_wires(build, "network", "crossbar", 2 * um2,
              network->kind == MESH ? "router switches of both networks"
                                    : "from cores to memory and back");
}

void area_logic(struct area_list *list, const struct config *config,
                const struct technology *technology)
{
    const struct memory_system_params memory = memory_system_params_of(config);
    struct logic_build build = {list, technology, "core", memory.cores,
                                config_params(config, &energy_component)};
    core_logic(&build, config);
    build.owner = "chip";
    build.copies = 1;
    if (storage_has_memory_side(config))
        network_logic(&build, config);
}
