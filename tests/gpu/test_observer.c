/*
 * Traces and time series from made-up observations: read back by a reader of the format that knows
 * nothing of the writer.
 */
#include "gpu/device.h"
#include "gpu/machine/stats.h"
#include "gpu/observe/perfetto.h"
#include "mem/packet.h"
#include "perfetto_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct bytes {
    u8 *data;
    size_t size;
    u32 pieces;
};

static void take(void *user, const void *data, size_t size)
{
    struct bytes *bytes = user;
    bytes->data = realloc(bytes->data, bytes->size + size + 1);
    assert_non_null(bytes->data);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    bytes->data[bytes->size] = 0;
    bytes->pieces++;
}

static void read_all(struct read_trace *trace, const struct bytes *bytes)
{
    if (!read_trace(trace, bytes->data, bytes->size))
        fail_msg("%s", trace->error);
}

/* ---- the encoder ---- */

static void small_trace(struct bytes *bytes)
{
    struct perfetto *p = perfetto_create(take, bytes);
    u32 name = perfetto_text(p, PERFETTO_NAME, "slice");
    u32 key = perfetto_text(p, PERFETTO_KEY, "key"),
        text = perfetto_text(p, PERFETTO_VALUE, "text");
    const struct perfetto_arg args[] = {{key, PERFETTO_UINT, UINT64_MAX},
                                        {key, PERFETTO_TEXT, text}};
    assert_int_equal(perfetto_text(p, PERFETTO_NAME, "slice"), name);
    perfetto_process(p, 1, 1, 7, "process");
    perfetto_thread(p, 1, 2, 7, 8, "thread");
    perfetto_counter(p, 2, 3, 1, "counter", "things");
    perfetto_begin(p, 1, 2, 5999999, name, args, 2);
    perfetto_end(p, 1, 2, 6000000);
    perfetto_begin(p, 1, 2, 2000000, name, args, 1); /* earlier than the last */
    perfetto_end(p, 1, 2, (u64)1 << 62);
    perfetto_value(p, 2, 3, 0, -0.5);
    perfetto_destroy(p);
}

static void test_encoder(void **state)
{
    struct bytes bytes = {0};
    struct read_trace trace;
    small_trace(&bytes);
    read_all(&trace, &bytes);
    assert_int_equal(trace.packets, 8);
    assert_int_equal(trace.track_count, 3);
    assert_string_equal(trace.tracks[0].name, "process");
    assert_true(trace.tracks[0].is_process && trace.tracks[1].is_thread &&
                trace.tracks[2].is_counter);
    assert_int_equal(trace.slice_count, 2);
    assert_int_equal(trace.slices[0].begin, 5); /* whole nanoseconds, rounded down */
    assert_int_equal(trace.slices[0].end, 6);
    assert_int_equal(trace.slices[1].begin, 6); /* raised */
    assert_int_equal(trace.slices[1].end, ((u64)1 << 62) / 1000000);
    assert_true(trace.slices[0].arguments[0].number == UINT64_MAX);
    assert_string_equal(trace.slices[0].arguments[1].text, "text");
    assert_int_equal(trace.value_count, 1);
    assert_true(trace.values[0].value == -0.5);
    read_trace_free(&trace);
    free(bytes.data);
}

/* The reader must detect errors, or it proves nothing. */
static void test_reader_refuses(void **state)
{
    struct bytes bytes = {0};
    struct read_trace trace;
    small_trace(&bytes);
    size_t accepted = 0, cut = 0;
    for (size_t size = 1; size < bytes.size; size++, cut++) {
        accepted += read_trace(&trace, bytes.data, size);
        read_trace_free(&trace);
    }
    /* whole packets with nothing open: after each of the descriptions, and each of the ends */
    assert_int_equal(accepted, 5);
    for (size_t skip = 0; skip < bytes.size;) { /* without one of its packets */
        size_t length = 2 + bytes.data[skip + 1];
        u8 *rest = malloc(bytes.size);
        memcpy(rest, bytes.data, skip);
        memcpy(rest + skip, bytes.data + skip + length, bytes.size - skip - length);
        bool value = skip + length == bytes.size; /* nothing depends on the last */
        assert_int_equal(read_trace(&trace, rest, bytes.size - length), value);
        read_trace_free(&trace);
        free(rest);
        skip += length;
    }
    free(bytes.data);
}

static void test_many(void **state)
{
    struct bytes bytes = {0};
    struct read_trace trace;
    struct perfetto *p = perfetto_create(take, &bytes);
    perfetto_process(p, 1, 1, 1, "p");
    for (u32 i = 0; i < 3000; i++) {
        char text[16];
        snprintf(text, sizeof text, "name %u", i % 300);
        perfetto_begin(p, 1, 1, i, perfetto_text(p, PERFETTO_NAME, text), NULL, 0);
        perfetto_end(p, 1, 1, i);
    }
    u32 before = bytes.pieces;
    perfetto_destroy(p);
    assert_true(before >= 1 && bytes.pieces == before + 1); /* bytes left while it was written */
    read_all(&trace, &bytes);
    assert_int_equal(read_slices(&trace, "p", "name 299"), 10);
    read_trace_free(&trace);
    free(bytes.data);
}

/* ---- observers ---- */

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry k()\n{\n membar.gl;\n bar.sync 0;\n membar.cta;\n"
                          " ret;\n}\n";

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    struct bytes trace, series;
    struct trace_buffer core;
    struct machine_stats stats;
};

enum {
    PERIOD = 2000000, /* fs: 500 MHz */
    START = 7 * PERIOD
};

static struct rig *rig_open(u64 from, u64 to, u64 interval)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct hd_config *config = hd_config_create();
    rig->device = hd_device_open(config, NULL);
    hd_config_destroy(config);
    rig->module = hd_module_load(rig->device, ptx, sizeof ptx - 1, "k.ptx", NULL);
    assert_non_null(rig->module);
    const struct hd_observe what = {.trace = take,
                                    .trace_user = &rig->trace,
                                    .trace_from = from,
                                    .trace_to = to,
                                    .interval = interval,
                                    .series = take,
                                    .series_user = &rig->series};
    assert_true(hd_observe(rig->device, &what, NULL));
    return rig;
}

static void rig_close(struct rig *rig)
{
    hd_device_close(rig->device);
    free(rig->trace.data);
    free(rig->series.data);
    vec_free(&rig->core.list);
    free(rig);
}

static void begin(struct rig *rig, u64 number)
{
    observer_begin(rig->device->observer, &(struct observer_launch){.kernel = "k",
                                                                    .program = rig->module->program,
                                                                    .code_address = 0x1000,
                                                                    .grid = {2, 1, 1},
                                                                    .block = {64, 1, 1},
                                                                    .cores = 2,
                                                                    .start = START,
                                                                    .core_period = PERIOD,
                                                                    .number = number});
    observer_span(rig->device->observer, &rig->core.from, &rig->core.to);
    memset(&rig->stats, 0, sizeof rig->stats);
}

/* As a core notes it, at a cycle of the launch. */
static void note(struct rig *rig, u32 core, u64 cycle, enum trace_kind what, u32 slot, u32 inst,
                 u64 value, u64 sent)
{
    fs time = START + cycle * PERIOD;
    if (time < rig->core.from || time >= rig->core.to)
        return;
    *(struct trace_event *)vec_push(&rig->core.list) = (struct trace_event){
        time, value, START + sent * PERIOD, inst, (u16)core, (u8)slot, (u8)what};
}

static void hand_over(struct rig *rig)
{
    observer_take(rig->device->observer, &rig->core);
    assert_int_equal(rig->core.list.count, 0);
}

/* A block of two warps on each of two cores; requests overlap. */
static void run_cores(struct rig *rig)
{
    for (u32 core = 0; core < 2; core++) {
        note(rig, core, 0, TRACE_BLOCK_START, 0, 0, core, 0);
        note(rig, core, 0, TRACE_WARP_START, 0, 0, core << 16, 0);
        note(rig, core, 0, TRACE_WARP_START, 1, 0, core << 16 | 1, 0);
        note(rig, core, 2, TRACE_WARP_STALL, 0, 1, STALL_RAW, 0);
        note(rig, core, 3, TRACE_WARP_STALL, 0, 1, STALL_MEMORY, 0);
        note(rig, core, 3, TRACE_REQUEST_SENT, PACKET_READ, 2, 0x80, 0);
        note(rig, core, 4, TRACE_REQUEST_SENT, PACKET_WRITE, 2, 0x80, 0);
        note(rig, core, 6, TRACE_REQUEST_DONE, PACKET_DATA, 2, 0x80, 3);
        note(rig, core, 6, TRACE_WARP_STALL, 0, 1, STALL_NONE, 0);
        note(rig, core, 8, TRACE_REQUEST_DONE, PACKET_ACK, 2, 0x80, 4);
        note(rig, core, 9, TRACE_WARP_END, 0, 0, core << 16, 0);
        note(rig, core, 9, TRACE_WARP_STALL, 1, 3, STALL_BARRIER, 0);
        note(rig, core, 10, TRACE_WARP_END, 1, 0, core << 16 | 1, 0);
        note(rig, core, 10, TRACE_BLOCK_END, 0, 0, core, 0);
        hand_over(rig);
    }
}

static void end(struct rig *rig, u64 cycles)
{
    rig->stats.timing.cycles = cycles;
    rig->stats.timing.picoseconds = cycles * PERIOD / 1000;
    observer_end(rig->device->observer, START + cycles * PERIOD, &rig->stats);
}

static void finish(struct rig *rig, struct read_trace *trace)
{
    assert_true(hd_observe(rig->device, NULL, NULL));
    read_all(trace, &rig->trace);
}

static const struct read_slice *find(const struct read_trace *trace, const char *name, u32 which)
{
    for (size_t i = 0; i < trace->slice_count; i++)
        if (!strcmp(trace->slices[i].name, name) && which-- == 0)
            return &trace->slices[i];
    fail_msg("there is no slice %s", name);
    return NULL;
}

static void test_trace(void **state)
{
    struct rig *rig = rig_open(0, 0, 0);
    struct read_trace trace;
    for (u32 launch = 0; launch < 2; launch++) {
        begin(rig, launch);
        run_cores(rig);
        end(rig, 10);
    }
    finish(rig, &trace);
    assert_int_equal(read_slices(&trace, "launches", "k"), 2);
    assert_int_equal(read_slices(&trace, "block slot", "block"), 4);
    assert_int_equal(read_slices(&trace, "warp slot", "warp"), 8);
    assert_int_equal(read_slices(&trace, "warp slot", NULL), 8 + 12);
    assert_int_equal(read_slices(&trace, "memory requests", "read"), 4);
    assert_int_equal(read_slices(&trace, "memory requests", "write"), 4);
    const struct read_slice *block = find(&trace, "block", 3), *raw = find(&trace, "raw", 0);
    assert_int_equal(block->begin, 20); /* time goes on from launch to launch: 10 cycles of 2 ns */
    assert_int_equal(block->end, 40);
    assert_int_equal(read_argument(block, "block")->number, 1);
    assert_string_equal(read_argument(block, "kernel")->text, "k");
    assert_int_equal(raw->begin, 4);
    assert_int_equal(raw->end, 6);
    assert_int_equal(raw->depth, 1); /* within the warp's own */
    assert_ptr_equal(strstr(read_argument(raw, "at")->text, "0x1008 '"),
                     read_argument(raw, "at")->text);
    assert_non_null(strstr(read_argument(raw, "at")->text, "' (k.ptx:7)"));
    const struct read_slice *read = find(&trace, "read", 0), *write = find(&trace, "write", 0);
    assert_int_equal(read->end - read->begin, 6);
    assert_int_equal(write->end - write->begin, 8);
    assert_int_not_equal(read->track, write->track); /* they overlap */
    assert_int_equal(read_argument(write, "address")->number, 0x80);
    read_trace_free(&trace);
    rig_close(rig);
}

/* Only a part of the second launch: slices that began before are left out, open ones end with
 * it. */
static void test_window(void **state)
{
    struct rig *rig = rig_open(13, 19, 0);
    struct read_trace trace;
    begin(rig, 0);
    assert_true(rig->core.from >= START + 10 * PERIOD);
    run_cores(rig);
    end(rig, 10);
    begin(rig, 1);
    assert_int_equal(rig->core.from, START + 3 * PERIOD);
    assert_int_equal(rig->core.to, START + 9 * PERIOD);
    run_cores(rig);
    end(rig, 10);
    finish(rig, &trace);
    assert_int_equal(read_slices(&trace, "launches", NULL), 1);
    assert_int_equal(read_slices(&trace, "block slot", NULL), 0);
    assert_int_equal(read_slices(&trace, "warp slot", "memory"), 2);
    assert_int_equal(read_slices(&trace, "warp slot", NULL), 2);
    assert_int_equal(read_slices(&trace, "memory requests", NULL), 4);
    assert_int_equal(find(&trace, "k", 0)->begin, 26);
    assert_int_equal(find(&trace, "k", 0)->end, 38);
    read_trace_free(&trace);
    rig_close(rig);
}

/* A launch that stops in the middle: nothing stays open. */
static void test_stopped(void **state)
{
    struct rig *rig = rig_open(0, 0, 0);
    struct read_trace trace;
    begin(rig, 0);
    note(rig, 1, 0, TRACE_BLOCK_START, 3, 0, 0, 0);
    note(rig, 1, 0, TRACE_WARP_START, 5, 0, 0, 0);
    note(rig, 1, 1, TRACE_WARP_STALL, 5, 0, STALL_FETCH, 0);
    note(rig, 1, 1, TRACE_REQUEST_SENT, PACKET_READ, NO_INST, 0x1000, 0);
    hand_over(rig);
    end(rig, 4);
    finish(rig, &trace);
    assert_int_equal(trace.slice_count, 5);
    for (size_t i = 0; i < trace.slice_count; i++)
        assert_int_equal(trace.slices[i].end, 8);
    assert_null(read_argument(find(&trace, "read", 0), "at")); /* it comes from no instruction */
    read_trace_free(&trace);
    rig_close(rig);
}

/* ---- time series ---- */

static void sample(struct rig *rig, u64 cycle, u64 instructions, u64 hits)
{
    rig->stats.timing.cycles = cycle;
    rig->stats.timing.picoseconds = cycle * PERIOD / 1000;
    rig->stats.timing.warp_instructions += instructions;
    rig->stats.l1d.reads += 2 * hits;
    rig->stats.l1d.read_hits += hits;
    rig->stats.dram.read_bytes += 64;
    fs now = START + cycle * PERIOD;
    if (now >= observer_next(rig->device->observer))
        observer_sample(rig->device->observer, now, &rig->stats);
}

static json_t *rows_of(const struct rig *rig)
{
    json_t *rows = json_array();
    const char *at = (const char *)rig->series.data;
    while (at && *at) {
        size_t length = strcspn(at, "\n");
        json_t *row = json_loadb(at, length, 0, NULL);
        assert_non_null(row);
        json_array_append_new(rows, row);
        at += length + 1;
    }
    return rows;
}

static u64 number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    assert_true(json_is_integer(value));
    return (u64)json_integer_value(value);
}

static void test_series(void **state)
{
    struct rig *rig = rig_open(0, 0, 100);
    struct read_trace trace;
    begin(rig, 4);
    assert_true(observer_next(rig->device->observer) == START + 100 * PERIOD);
    sample(rig, 99, 5, 1); /* too early */
    sample(rig, 104, 7, 1);
    assert_true(observer_next(rig->device->observer) == START + 200 * PERIOD);
    sample(rig, 330, 0, 0); /* a jump over several */
    assert_true(observer_next(rig->device->observer) == START + 400 * PERIOD);
    sample(rig, 350, 3, 8);
    end(rig, 360);
    json_t *rows = rows_of(rig);
    assert_int_equal(json_array_size(rows), 3);
    static const u64 edges[] = {0, 104, 330, 360};
    u64 instructions = 0, bytes = 0;
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(number(row, "launch"), 4);
        assert_int_equal(number(row, "from_cycle"), edges[i]);
        assert_int_equal(number(row, "to_cycle"), edges[i + 1]);
        instructions += number(row, "timing.warp_instructions");
        bytes += number(row, "dram.read_bytes");
    }
    assert_int_equal(instructions, rig->stats.timing.warp_instructions);
    assert_int_equal(bytes, rig->stats.dram.read_bytes);
    const json_t *first = json_array_get(rows, 0), *second = json_array_get(rows, 1);
    assert_true(json_real_value(json_object_get(first, "timing.ipc_warp")) == 12.0 / 104);
    assert_true(json_real_value(json_object_get(first, "l1d.read_hit_rate")) == 0.5);
    assert_true(json_is_null(json_object_get(second, "l1d.read_hit_rate")));
    finish(rig, &trace);
    assert_int_equal(trace.value_count, 6 * 4); /* six counters, three samples and the end */
    assert_true(trace.values[0].value == 12.0 / 104 && trace.values[0].time == 0);
    assert_int_equal(trace.values[6].time, 208);
    assert_true(trace.values[23].value == 0 && trace.values[23].time == 720);
    read_trace_free(&trace);
    json_decref(rows);
    rig_close(rig);
}

static void test_misuse(void **state)
{
    struct rig *rig = rig_open(0, 0, 0);
    struct hd_error error = {0};
    const struct hd_observe empty = {.trace = take, .trace_from = 5, .trace_to = 5};
    assert_false(hd_observe(rig->device, &empty, &error));
    assert_false(hd_observe(NULL, NULL, &error));
    assert_true(hd_set_core_order(rig->device, "reverse", &error));
    assert_int_equal(rig->device->core_order, ORDER_REVERSE);
    assert_true(hd_set_core_order(rig->device, "shuffle:12", &error));
    assert_int_equal(rig->device->core_order_seed, 12);
    static const char *const bad[] = {"", "shuffle", "shuffle:", "shuffle:-1", "shuffle:1x", "up"};
    for (u32 i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(hd_set_core_order(rig->device, bad[i], &error));
    assert_int_equal(rig->device->core_order, ORDER_SHUFFLE);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder), cmocka_unit_test(test_reader_refuses),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_trace),
        cmocka_unit_test(test_window),  cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_series),  cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
