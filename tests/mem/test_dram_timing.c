/* Every timing parameter of a DRAM channel, from its command log. */
#include "dram_log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    REQUESTS = 600
};

/* Variants of a machine beyond its own values. */
enum {
    PLAIN,
    FCFS,
    SERIAL,
    SERIAL_APART,
    APART,
    NO_GROUPS,
    FEW_BANKS,
    MANY_BANKS,
    SHORT_CCD, /* shorter than a transfer */
    SMALL_QUEUES,
    VARIANTS
};

static struct dram_params variant_of(u32 machine, u32 variant)
{
    struct dram_params p = log_machine(machine);
    switch (variant) {
    case FCFS:
        p.policy = 1;
        break;
    case SERIAL:
        p.policy = 2;
        break;
    case SERIAL_APART:
        p.policy = 2; /* fall through */
    case APART:
        p.write_high = 24;
        p.write_low = 8;
        break;
    case NO_GROUPS:
        p.bank_groups = 1;
        break;
    case FEW_BANKS:
        p.banks = 2;
        p.bank_groups = 2;
        break;
    case MANY_BANKS:
        p.banks = 256;
        p.bank_groups = 64;
        break;
    case SHORT_CCD:
        p.burst *= 2;
        break;
    case SMALL_QUEUES:
        p.queue = 3;
        p.return_queue = 2;
        break;
    default:
        break;
    }
    return p;
}

static void rules_hold(void **state)
{
    for (u32 machine = 0; machine < MACHINES; machine++) {
        for (u32 variant = 0; variant < VARIANTS; variant++) {
            for (u32 traffic = 0; traffic < TRAFFICS; traffic++) {
                struct dram_params p = variant_of(machine, variant);
                struct log log;
                log_open(&log, &p);
                log_run(&log, traffic, REQUESTS, machine * 100 + variant * 10 + traffic);
                const char *wrong = log_check(&log, &p);
                if (wrong)
                    fail_msg("machine %u variant %u traffic %u breaks %s", machine, variant,
                             traffic, wrong);
                assert_int_equal(log.served, REQUESTS);
                log_close(&log);
            }
        }
    }
}

#define PROBE(name, rule)                               \
    {                                                   \
#name, rule, offsetof(struct dram_params, name) \
    }
static const struct probe {
    const char *name, *rule;
    size_t offset;
} probes[] = {
    PROBE(tCCD, "tCCD"),
    PROBE(tCCDL, "tCCDL"),
    PROBE(tRRD, "tRRD"),
    PROBE(tRCD, "tRCD"),
    PROBE(tRCD, "tRCD for writes"),
    PROBE(tRAS, "tRAS"),
    PROBE(tRP, "tRP"),
    PROBE(tRC, "tRC"),
    PROBE(tCL, "data"),
    PROBE(tCL, "read to write"),
    PROBE(tWL, "data"),
    PROBE(tCDLR, "tCDLR"),
    PROBE(tWR, "tWR"),
    PROBE(tRTPL, "tRTPL"),
};

/* A machine on which nothing else hides the parameter. */
static struct dram_params exposed(u32 machine, const struct probe *probe)
{
    struct dram_params p = log_machine(machine);
    if (!strcmp(probe->name, "tRC"))
        p.tRC = MAX(p.tRC, p.tRAS + p.tRP); /* on two of the machines it is less, and idle */
    return p;
}

/* Runs traffic until the probe shows; the number of the traffic, or TRAFFICS. */
static u32 probe_shows(const struct dram_params *p, const struct probe *probe)
{
    for (u32 traffic = 0; traffic < TRAFFICS; traffic++) {
        struct dram_params more = *p;
        ++*(u32 *)((char *)&more + probe->offset);
        struct log at, above;
        log_open(&at, p);
        log_open(&above, &more);
        log_run(&at, traffic, REQUESTS, traffic + 1);
        log_run(&above, traffic, REQUESTS, traffic + 1);
        assert_null(log_check(&at, p));
        assert_null(log_check(&above, &more));
        /* With n - 1 the rule of n is broken, and the two behave differently. */
        bool shows = log_breaks(&at, &more, probe->rule) && !log_equal(&at, &above);
        log_close(&at);
        log_close(&above);
        if (shows)
            return traffic;
    }
    return TRAFFICS;
}

static void each_parameter_acts(void **state)
{
    for (u32 machine = 0; machine < MACHINES; machine++) {
        for (u32 i = 0; i < ARRAY_LEN(probes); i++) {
            struct dram_params p = exposed(machine, &probes[i]);
            if (probe_shows(&p, &probes[i]) == TRAFFICS)
                fail_msg("machine %u: %s (%s) never acts", machine, probes[i].name, probes[i].rule);
        }
    }
}

/* The checker itself: each rule catches a log in which one command came a cycle too early. */
static void checker_catches(void **state)
{
    struct dram_params p = log_machine(0);
    struct log log;
    log_open(&log, &p);
    log_run(&log, TRAFFIC_RANDOM, REQUESTS, 3);
    assert_null(log_check(&log, &p));
    struct log_command *middle = &log.commands[log.command_count / 2], saved = *middle;
    middle->cycle = middle[-1].cycle;
    assert_string_equal(log_check(&log, &p), "command bus");
    *middle = saved;
    middle->row++;
    assert_non_null(log_check(&log, &p));
    *middle = saved;
    log.requests[20].served++;
    assert_string_equal(log_check(&log, &p), "data");
    log_close(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(each_parameter_acts),
        cmocka_unit_test(checker_catches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
