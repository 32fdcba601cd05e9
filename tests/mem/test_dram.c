/* What a DRAM channel does: latencies, bandwidth, order, drains, limits, time that is skipped. */
#include "dram_log.h"
#include "gpu/machine/relations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static u32 transfer_of(const struct dram_params *p)
{
    return (p->burst + p->data_rate - 1) / p->data_rate;
}

static u32 burst_of(const struct dram_params *p)
{
    return p->bus_bytes * p->burst;
}

static void pass(struct log *log, u32 cycles)
{
    for (u32 i = 0; i < cycles; i++)
        log_tick(log);
}

/* A request alone: ticks from push until it is done. */
static u32 alone(struct log *log, u32 bank, u32 row, u32 bytes, bool write)
{
    pass(log, 1000); /* whatever came before is over */
    u32 tag = log_push(log, log_address(&log->params, bank, row, 0), bytes, write), ticks = 0, out;
    do {
        dram_tick(log->dram);
        log->cycle++;
        ticks++;
    } while (!dram_done(log->dram, &out) && ticks < 10000);
    assert_int_equal(out, tag);
    dram_pop(log->dram);
    log->popped++;
    return ticks;
}

static void latencies(void **state)
{
    for (u32 machine = 0; machine < MACHINES; machine++) {
        struct dram_params p = log_machine(machine);
        struct log log;
        log_open(&log, &p);
        u32 transfer = transfer_of(&p), burst = burst_of(&p), to_write = p.tRCD - p.tWL - 1;
        assert_int_equal(alone(&log, 3, 1, burst, false), p.tRCD + p.tCL + transfer);
        assert_int_equal(alone(&log, 3, 1, burst, false), p.tCL + transfer);
        assert_int_equal(alone(&log, 3, 2, burst, false), p.tRP + p.tRCD + p.tCL + transfer);
        assert_int_equal(alone(&log, 4, 2, burst, true), to_write + p.tWL + transfer);
        assert_int_equal(alone(&log, 4, 2, burst, true), p.tWL + transfer);
        assert_int_equal(alone(&log, 4, 9, burst, true), p.tRP + to_write + p.tWL + transfer);
        /* A part of a burst is a burst; a byte more is two, in one bank group. */
        assert_int_equal(alone(&log, 3, 2, 1, false), p.tCL + transfer);
        assert_int_equal(alone(&log, 3, 2, burst + 1, false), p.tCCDL + p.tCL + transfer);
        assert_int_equal(log.stats.row_hits, 4);
        assert_int_equal(log.stats.row_misses, 2);
        assert_int_equal(log.stats.row_conflicts, 2);
        log_close(&log);
    }
}

/* A conflict right behind a read waits for tRAS first. */
static void conflict_waits_for_ras(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    log_open(&log, &p);
    log_push(&log, log_address(&p, 0, 1, 0), 64, false);
    u32 second = log_push(&log, log_address(&p, 0, 2, 0), 64, false);
    log_drain(&log);
    assert_int_equal(log.requests[second].served + 1,
                     MAX(p.tRAS + p.tRP, p.tRC) + p.tRCD + p.tCL + transfer_of(&p));
    log_close(&log);
}

/* Keeps the queue full of this traffic for so many requests; the cycles it takes. */
static u64 saturate(struct log *log, u32 requests, u32 bytes, u64 stride)
{
    for (u32 i = 0; i < requests; i++) {
        while (!dram_room(log->dram, false))
            log_tick(log);
        log_push(log, i * stride, bytes, false);
    }
    log_drain(log);
    return log->cycle;
}

static void bandwidth(void **state)
{
    enum {
        REQUESTS = 4000
    };
    for (u32 machine = 0; machine < MACHINES; machine++) {
        struct dram_params p = log_machine(machine);
        struct log log;
        log_open(&log, &p);
        u64 cycles = saturate(&log, REQUESTS, burst_of(&p), burst_of(&p));
        u64 bus = (u64)REQUESTS * transfer_of(&p);
        assert_int_equal(log.stats.bus_cycles, bus);
        assert_int_equal(log.stats.channel_cycles, cycles);
        /* Sequential reads: all but the first latency and a few gaps at new rows. */
        assert_true(cycles >= bus);
        assert_true(cycles < bus + bus / 100 + p.tRCD + p.tCL);
        log_close(&log);

        /* Within one row, the bank group's interval: exact. */
        log_open(&log, &p);
        u32 count = p.stripe_bytes / burst_of(&p);
        cycles = saturate(&log, count, burst_of(&p), burst_of(&p));
        assert_int_equal(cycles, p.tRCD + (count - 1) * p.tCCDL + p.tCL + transfer_of(&p));
        log_close(&log);
    }
}

static void hits_pass_older_requests(void **state)
{
    for (u32 policy = 0; policy < 2; policy++) {
        struct dram_params p = log_machine(0);
        struct log log;
        p.policy = policy;
        log_open(&log, &p);
        log_push(&log, log_address(&p, 0, 1, 0), 64, false);
        u32 old = log_push(&log, log_address(&p, 0, 2, 0), 64, false);
        u32 hit = log_push(&log, log_address(&p, 0, 1, 64), 64, false);
        u32 other = log_push(&log, log_address(&p, 1, 1, 0), 64, false);
        log_drain(&log);
        assert_int_equal(log.requests[old].place, policy == 0 ? 3 : 1);
        assert_true((log.requests[hit].place < log.requests[old].place) == (policy == 0));
        assert_true((log.requests[other].place < log.requests[old].place) == (policy == 0));
        log_close(&log);
    }
}

/* As in GPGPU-Sim, nothing bounds how long hits pass an older request. */
static void hits_can_starve(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    log_open(&log, &p);
    log_push(&log, log_address(&p, 0, 1, 0), 64, false);
    u32 old = log_push(&log, log_address(&p, 0, 2, 0), 64, false);
    for (u32 i = 0; i < 500; i++) {
        log_push(&log, log_address(&p, 0, 1, 0), 64, false);
        pass(&log, p.tCCDL);
    }
    log_drain(&log);
    assert_int_equal(log.requests[old].place, 501);
    log_close(&log);
}

static void fcfs_keeps_the_order(void **state)
{
    for (u32 traffic = 0; traffic < TRAFFICS; traffic++) {
        struct dram_params p = log_machine(traffic % MACHINES);
        struct log log;
        p.policy = 1;
        log_open(&log, &p);
        log_run(&log, traffic, 300, traffic);
        for (u32 i = 0; i < log.pushed; i++)
            assert_int_equal(log.requests[i].place, i);
        log_close(&log);
    }
}

/* Several requests for a row are served in order of age; so are those of one bank without hits. */
/* Cycles from the first command of a read to its last data: of a row hit, or of a bank without an
 * open row. */
static u64 service(const struct dram_params *p, bool closed)
{
    u64 transfer = (p->burst + p->data_rate - 1) / p->data_rate;
    return p->tCL + transfer + (closed ? p->tRCD : 0);
}

/* One request after the other: n row hits take n times what one takes, in as many banks as they may
 * be; the next one starts in the cycle after the last data and not before. */
static void serial_serves_one_at_a_time(void **state)
{
    for (u32 machine = 0; machine < MACHINES; machine++)
        for (u32 banks = 1; banks <= 4; banks *= 2) {
            struct dram_params p = log_machine(machine);
            struct log log;
            p.policy = 2;
            log_open(&log, &p);
            for (u32 b = 0; b < banks; b++)
                log_push(&log, log_address(&p, b, 5, 0), 32, false);
            log_drain(&log);
            assert_int_equal(log.cycle, banks * service(&p, true));
            u64 begin = log.cycle;
            const u32 first = log.pushed, count = 12;
            for (u32 i = 0; i < count; i++)
                log_push(&log, log_address(&p, i % banks, 5, 64 * i), 32, false);
            log_drain(&log);
            assert_int_equal(log.cycle - begin, count * service(&p, false));
            for (u32 i = 0; i < count; i++) {
                const struct log_service *request = &log.requests[first + i];
                assert_int_equal(request->started, begin + i * service(&p, false));
                assert_int_equal(request->served, begin + (i + 1) * service(&p, false) - 1);
            }
            assert_null(log_check(&log, &p));
            log_close(&log);
        }
}

/* Row hits of all banks pass an older request for another row; among hits, and without any, the
 * oldest is first. What arrives in the last cycle of data is still considered, later ones are not. */
static void serial_prefers_open_rows(void **state)
{
    struct dram_params p = log_machine(0);
    p.policy = 2;
    for (u32 late = 0; late < 2; late++) {
        struct log log;
        log_open(&log, &p);
        log_push(&log, log_address(&p, 0, 5, 0), 32, false);
        log_push(&log, log_address(&p, 1, 5, 0), 32, false);
        log_drain(&log);
        u64 begin = log.cycle;
        u32 hit = log_push(&log, log_address(&p, 1, 5, 64), 32, false);
        u32 old = log_push(&log, log_address(&p, 2, 9, 0), 32, false);
        u32 older = log_push(&log, log_address(&p, 0, 7, 0), 32, false);
        u32 other = log_push(&log, log_address(&p, 0, 5, 64), 32, false);
        /* `hit`, `other`, then the one that comes in or after the last cycle of data of these */
        while (log.cycle < begin + 2 * service(&p, false) + late)
            log_tick(&log);
        u32 last = log_push(&log, log_address(&p, 1, 5, 128), 32, false);
        log_drain(&log);
        assert_int_equal(log.requests[hit].place, 2);
        assert_int_equal(log.requests[other].place, 3);
        assert_int_equal(log.requests[late ? old : last].place, 4);
        assert_int_equal(log.requests[late ? last : old].place, 5);
        assert_int_equal(log.requests[older].place, 6);
        assert_int_equal(log.requests[hit].served, begin + service(&p, false) - 1);
        assert_int_equal(log.requests[other].served, begin + 2 * service(&p, false) - 1);
        assert_null(log_check(&log, &p));
        log_close(&log);
    }
}

static void oldest_first_within_a_row(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    log_open(&log, &p);
    for (u32 i = 0; i < 30; i++)
        log_push(&log, log_address(&p, 2, i / 3 % 2, i * 64), 64, false);
    log_drain(&log);
    u32 place = 0;
    for (u32 row = 0; row < 2; row++) {
        for (u32 i = 0; i < 30; i++) {
            if (i / 3 % 2 == row)
                assert_int_equal(log.requests[i].place, place++);
        }
    }
    log_close(&log);
}

static void counts_add_up(void **state)
{
    for (u32 traffic = 0; traffic < TRAFFICS; traffic++) {
        struct dram_params p = log_machine(traffic % MACHINES);
        struct log log;
        p.write_high = traffic % 2 ? 16 : 0;
        log_open(&log, &p);
        log_run(&log, traffic, 400, traffic + 50);
        const struct dram_stats *s = &log.stats;
        u64 waited = 0, counts[4] = {0};
        for (u32 i = 0; i < log.pushed; i++)
            waited += log.requests[i].served + 1 - log.requests[i].pushed;
        for (u32 i = 0; i < log.command_count; i++)
            counts[log.commands[i].command]++;
        assert_int_equal(s->reads + s->writes, log.pushed);
        assert_int_equal(s->row_hits + s->row_misses + s->row_conflicts, log.pushed);
        assert_int_equal(s->activates, s->row_misses + s->row_conflicts);
        assert_int_equal(s->precharges, s->row_conflicts);
        assert_int_equal(s->activates, counts[DRAM_ACTIVATE]);
        assert_int_equal(s->precharges, counts[DRAM_PRECHARGE]);
        assert_int_equal(s->bus_cycles, (counts[DRAM_READ] + counts[DRAM_WRITE]) * transfer_of(&p));
        assert_int_equal(s->queue_cycles, waited);
        assert_int_equal(s->channel_cycles, log.cycle);
        if (traffic != TRAFFIC_RANDOM) /* each request a burst */
            assert_int_equal(s->read_bytes + s->write_bytes, log.pushed * burst_of(&p));
        log_close(&log);
    }
}

/* Writes served before a stream of reads, which always waits, is over. */
static u32 drained(u32 high, u32 low, u32 writes)
{
    struct dram_params p = log_machine(0);
    struct log log;
    u32 early = 0;
    p.write_high = high;
    p.write_low = low;
    log_open(&log, &p);
    for (u32 i = 0; i < 8; i++)
        log_push(&log, log_address(&p, i, 0, 0), 64, false);
    for (u32 i = 0; i < writes; i++)
        log_push(&log, log_address(&p, i % p.banks, 0, 0), 64, true);
    for (u32 i = 0; i < 1000; i++) {
        while (log.pushed - log.served < 30 + writes && dram_room(log.dram, false))
            log_push(&log, log_address(&p, log.pushed % 8, 0, 0), 64, false);
        log_tick(&log);
    }
    for (u32 i = 0; i < writes; i++)
        early += log.requests[8 + i].served != 0;
    log_drain(&log);
    for (u32 i = 0; i < writes; i++)
        assert_true(log.requests[8 + i].served != 0);
    log_close(&log);
    return early;
}

static void drain_thresholds(void **state)
{
    assert_int_equal(drained(12, 4, 11), 0);
    assert_int_equal(drained(12, 4, 12), 8);
    assert_int_equal(drained(12, 5, 12), 7);
    assert_int_equal(drained(12, 0, 12), 12);
    assert_int_equal(drained(1, 0, 1), 1);
    assert_true(drained(0, 0, 12) == 12); /* one queue */
}

/* Without reads, writes leave below the threshold. */
static void lonely_writes_leave(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    p.write_high = 32;
    log_open(&log, &p);
    log_push(&log, 0, 64, true);
    log_drain(&log);
    assert_int_equal(log.stats.writes, 1);
    log_close(&log);
}

static void passing_over_time_changes_nothing(void **state)
{
    for (u32 i = 0; i < TRAFFICS * 4; i++) {
        struct dram_params p = log_machine(i % MACHINES);
        struct log logs[3];
        p.policy = i % 5 == 4 ? 1 + i % 2 : 0;
        p.write_high = i % 2 ? 20 : 0;
        p.write_low = i % 2 ? 10 : 0;
        p.return_queue = i % 7 == 3 ? 1 : p.return_queue;
        for (u32 pace = 0; pace < 3; pace++) {
            log_open(&logs[pace], &p);
            logs[pace].pace = pace;
            log_run(&logs[pace], i % TRAFFICS, 300, i);
        }
        for (u32 pace = 1; pace < 3; pace++) {
            assert_true(log_equal(&logs[0], &logs[pace]));
            assert_memory_equal(&logs[0].stats, &logs[pace].stats, sizeof(logs[0].stats));
            assert_int_equal(logs[0].cycle, logs[pace].cycle);
        }
        for (u32 pace = 0; pace < 3; pace++)
            log_close(&logs[pace]);
    }
}

static void idle_channel(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    log_open(&log, &p);
    assert_false(dram_busy(log.dram));
    assert_true(dram_next(log.dram) == UINT64_MAX);
    dram_skip(log.dram, 12345);
    log.cycle += 12345;
    assert_int_equal(log.stats.channel_cycles, 12345);
    log_push(&log, 0, 64, false);
    assert_true(dram_busy(log.dram));
    assert_int_equal(dram_next(log.dram), 0);
    log_drain(&log);
    assert_int_equal(log.requests[0].served, 12345 + p.tRCD + p.tCL + transfer_of(&p) - 1);
    assert_true(dram_next(log.dram) == UINT64_MAX);
    log_close(&log);
}

/* Places: the queue's, the return queue's; writes apart have their own. */
static void room(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    p.queue = 5;
    p.return_queue = 3;
    p.write_high = 5;
    log_open(&log, &p);
    for (u32 i = 0; i < p.queue; i++) {
        assert_true(dram_room(log.dram, false));
        log_push(&log, log_address(&p, 0, 0, 0), 64, false);
    }
    assert_false(dram_room(log.dram, false));
    assert_true(dram_room(log.dram, true));
    log.keep = true;
    pass(&log, 1);
    assert_true(dram_room(log.dram, false)); /* one is in its bank */
    pass(&log, 1000);
    assert_int_equal(log.served, p.return_queue);
    assert_true(dram_busy(log.dram));
    assert_true(dram_next(log.dram) == UINT64_MAX);
    dram_pop(log.dram);
    assert_int_equal(dram_next(log.dram), 0);
    pass(&log, p.tCL + transfer_of(&p) - 1);
    assert_int_equal(log.served, p.return_queue);
    pass(&log, 1);
    assert_int_equal(log.served, p.return_queue + 1);
    log_close(&log);
}

/* The mapping as GPGPU-Sim's masks write it, from bit 27 down. */
static void addresses(void **state)
{
    static const char *const masks[MACHINES] = {
        "RRRRRRRRRRRRBBBCCCCBCCSSSSSS",
        "RRRRRRRRRRRRRBBBCCCCBCCSSSSS",
        "RRRRRRRRRRRRRBBBCCCCBCCSSSSS",
    };
    for (u32 machine = 0; machine < MACHINES; machine++) {
        for (u32 bit = 0; bit < 28; bit++) {
            struct dram_params p = log_machine(machine);
            u32 bank = 0, row = 0;
            u64 address = 1ull << bit | 0x5a5a5a0;
            for (u32 i = 0; i < 28; i++) {
                u32 value = address >> (27 - i) & 1;
                if (masks[machine][i] == 'B')
                    bank = bank << 1 | value;
                else if (masks[machine][i] == 'R')
                    row = row << 1 | value;
            }
            struct log log;
            log_open(&log, &p);
            log_push(&log, address, 32, false);
            log_drain(&log);
            assert_int_equal(log.commands[0].bank, bank);
            assert_int_equal(log.commands[0].row, row);
            log_close(&log);
        }
    }
}

static void one_bank(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    p.banks = p.bank_groups = 1;
    log_open(&log, &p);
    log_push(&log, 3 * p.row_bytes + 64, 64, false);
    log_push(&log, 5 * p.row_bytes, 64, true);
    log_drain(&log);
    assert_int_equal(log.commands[0].row, 3);
    assert_int_equal(log.commands[log.command_count - 1].row, 5);
    assert_int_equal(log.commands[log.command_count - 1].bank, 0);
    log_close(&log);
}

static void expect_text(struct log *log, u32 tag, const char *expected)
{
    char text[128] = "";
    assert_true(dram_find(log->dram, tag, text, sizeof(text)));
    assert_string_equal(text, expected);
}

static void explanations(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    p.return_queue = 2;
    log_open(&log, &p);
    log.keep = true;
    u32 first = log_push(&log, log_address(&p, 3, 0x12, 0), 64, false);
    u32 second = log_push(&log, log_address(&p, 3, 0x13, 0), 64, false);
    expect_text(&log, first, "channel queue, bank 3 row 0x12, waits for the bank");
    pass(&log, 1); /* activate */
    expect_text(&log, first, "channel queue, bank 3 row 0x12, waits for a column command");
    expect_text(&log, second, "channel queue, bank 3 row 0x13, waits for the bank");
    pass(&log, p.tRCD);
    expect_text(&log, first, "channel return queue, bank 3 row 0x12, waits for its data");
    pass(&log, p.tRAS - p.tRCD - 1);
    expect_text(&log, first, "channel return queue, bank 3 row 0x12, waits to leave");
    expect_text(&log, second, "channel queue, bank 3 row 0x13, waits for precharge");
    pass(&log, 1);
    expect_text(&log, second, "channel queue, bank 3 row 0x13, waits for activate");
    u32 third = log_push(&log, log_address(&p, 3, 0x13, 64), 64, false);
    pass(&log, 1000);
    expect_text(&log, third, "channel queue, bank 3 row 0x13, waits for room in the return queue");
    char text[8];
    assert_false(dram_find(log.dram, 99, text, sizeof(text)));
    dram_pop(log.dram);
    assert_false(dram_find(log.dram, first, text, sizeof(text)));
    log_close(&log);
}

static void parameters_that_do_not_fit(void **state)
{
    static const struct {
        size_t offset;
        u32 value;
        const char *place;
    } cases[] = {
        {offsetof(struct dram_params, banks), 12, "dram.banks"},
        {offsetof(struct dram_params, bank_groups), 3, "dram.bank_groups"},
        {offsetof(struct dram_params, bank_groups), 32, "dram.bank_groups"},
        {offsetof(struct dram_params, row_bytes), 3000, "dram.row_bytes"},
        {offsetof(struct dram_params, stripe_bytes), 100, "dram.stripe_bytes"},
        {offsetof(struct dram_params, write_high), 65, "dram.write_high"},
        {offsetof(struct dram_params, write_low), 1, "dram.write_low"},
    };
    struct error error;
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct dram_params p = log_machine(0);
        assert_true(relations_check_dram(&p, &error));
        *(u32 *)((char *)&p + cases[i].offset) = cases[i].value;
        assert_false(relations_check_dram(&p, &error));
        assert_string_equal(error.place, cases[i].place);
    }
    struct dram_params p = log_machine(0);
    p.write_high = p.write_low = 8;
    assert_false(relations_check_dram(&p, &error));
    p.write_low = 7;
    assert_true(relations_check_dram(&p, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),
        cmocka_unit_test(conflict_waits_for_ras),
        cmocka_unit_test(bandwidth),
        cmocka_unit_test(hits_pass_older_requests),
        cmocka_unit_test(hits_can_starve),
        cmocka_unit_test(fcfs_keeps_the_order),
        cmocka_unit_test(serial_serves_one_at_a_time),
        cmocka_unit_test(serial_prefers_open_rows),
        cmocka_unit_test(oldest_first_within_a_row),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(drain_thresholds),
        cmocka_unit_test(lonely_writes_leave),
        cmocka_unit_test(passing_over_time_changes_nothing),
        cmocka_unit_test(idle_channel),
        cmocka_unit_test(room),
        cmocka_unit_test(addresses),
        cmocka_unit_test(one_bank),
        cmocka_unit_test(explanations),
        cmocka_unit_test(parameters_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
