#include "dram_log.h"
#include "gpu/machine/relations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct dram_params log_machine(u32 machine)
{
    static const struct dram_params machines[MACHINES] = {
        {.banks = 16,
         .bank_groups = 4,
         .row_bytes = 4096,
         .stripe_bytes = 256,
         .bus_bytes = 8,
         .burst = 8,
         .data_rate = 4,
         .queue = 64,
         .return_queue = 116,
         .tCCD = 2,
         .tCCDL = 3,
         .tRRD = 6,
         .tRCD = 12,
         .tRAS = 28,
         .tRP = 12,
         .tRC = 40,
         .tCL = 12,
         .tWL = 4,
         .tCDLR = 5,
         .tWR = 12,
         .tRTPL = 2},
        {.banks = 16,
         .bank_groups = 4,
         .row_bytes = 2048,
         .stripe_bytes = 128,
         .bus_bytes = 4,
         .burst = 8,
         .data_rate = 4,
         .queue = 64,
         .return_queue = 64,
         .tCCD = 2,
         .tCCDL = 4,
         .tRRD = 8,
         .tRCD = 16,
         .tRAS = 37,
         .tRP = 16,
         .tRC = 52,
         .tCL = 16,
         .tWL = 6,
         .tCDLR = 7,
         .tWR = 16,
         .tRTPL = 3},
        {.banks = 16,
         .bank_groups = 4,
         .row_bytes = 2048,
         .stripe_bytes = 128,
         .bus_bytes = 2,
         .burst = 16,
         .data_rate = 4,
         .queue = 64,
         .return_queue = 192,
         .tCCD = 4,
         .tCCDL = 6,
         .tRRD = 12,
         .tRCD = 24,
         .tRAS = 55,
         .tRP = 24,
         .tRC = 78,
         .tCL = 24,
         .tWL = 8,
         .tCDLR = 10,
         .tWR = 24,
         .tRTPL = 4},
    };
    return machines[machine];
}

static void on_command(void *user, u64 cycle, enum dram_command command, u32 bank, u32 row)
{
    struct log *log = user;
    assert_true(log->command_count < LOG_COMMANDS);
    log->commands[log->command_count++] = (struct log_command){cycle, command, bank, row};
}

static void on_arrived(void *user, const struct dram_event *event)
{
    struct log *log = user;
    assert_int_equal(event->cycle, log->cycle);
    assert_int_equal(event->arrived, log->cycle);
    assert_int_equal(event->tag, log->pushed);
    assert_int_equal(event->from.inst, log->pushed);
    assert_int_equal(event->write, log->requests[event->tag].write);
}

/* With the first of its commands, which has just been logged. */
static void on_started(void *user, const struct dram_event *event, struct payload *payload)
{
    struct log *log = user;
    struct log_service *request = &log->requests[event->tag];
    assert_int_equal(event->cycle, log->cycle);
    assert_int_equal(event->arrived, request->pushed);
    assert_int_equal(log->commands[log->command_count - 1].cycle, log->cycle);
    assert_int_equal(log->commands[log->command_count - 1].bank, event->bank);
    assert_false(request->begun);
    assert_int_equal(payload->bits, 0);
    request->begun = true;
    request->started = log->cycle;
    *payload = (struct payload){event->tag, 1};
}

static void on_served(void *user, const struct dram_event *event, struct payload *payload)
{
    struct log *log = user;
    const u64 cycle = event->cycle;
    const u32 tag = event->tag;
    assert_int_equal(cycle, log->cycle);
    assert_true(tag < log->pushed);
    assert_true(log->requests[tag].begun);
    assert_int_equal(payload->value, tag);
    assert_int_equal(event->from.inst, tag);
    payload->bits = 2;
    assert_int_equal(log->requests[tag].served, 0); /* D3 */
    log->requests[tag].served = cycle;
    log->requests[tag].place = log->served++;
}

void log_open(struct log *log, const struct dram_params *params)
{
    struct error error;
    assert_true(relations_check_dram(params, &error));
    *log = (struct log){.params = *params};
    log->commands = calloc(LOG_COMMANDS, sizeof(*log->commands));
    log->requests = calloc(LOG_REQUESTS, sizeof(*log->requests));
    log->dram = dram_create(params, &log->stats);
    assert_non_null(log->commands);
    assert_non_null(log->requests);
    assert_non_null(log->dram);
    struct dram_hooks hooks = {log, on_command, on_arrived, on_started, on_served};
    dram_add_hooks(log->dram, &hooks);
}

void log_close(struct log *log)
{
    dram_destroy(log->dram);
    free(log->commands);
    free(log->requests);
}

u32 log_push(struct log *log, u64 address, u32 bytes, bool write)
{
    u32 tag = log->pushed;
    assert_true(tag < LOG_REQUESTS);
    log->requests[tag] = (struct log_service){.pushed = log->cycle, .write = write};
    const struct requester from = {.inst = tag, .kind = REQUESTER_ACCESS};
    u32 index = dram_push(log->dram, address, bytes, write, tag);
    dram_tell_arrived(log->dram, index, address, &from);
    log->pushed++;
    return tag;
}

/* Forgets all that the channel knows about when something can happen. */
static void wake_all(struct dram *dram)
{
    dram->wake = dram->issue_due = dram->activate_due = dram->precharge_due = 0;
    dram->column_due[KIND_READ] = dram->column_due[KIND_WRITE] = 0;
    dram->assign_due = true;
}

void log_tick(struct log *log)
{
    u32 tag;
    if (log->pace == PACE_EAGER)
        wake_all(log->dram);
    if (log->pace == PACE_SKIP && dram_next(log->dram) > 0)
        dram_skip(log->dram, 1);
    else
        dram_tick(log->dram);
    while (!log->keep && dram_done(log->dram, &tag)) {
        assert_int_equal(log->requests[tag].place, log->popped); /* in the order of their data */
        assert_int_equal(dram_payload(log->dram)->value, tag);
        assert_int_equal(dram_payload(log->dram)->bits, 2);
        dram_pop(log->dram);
        log->popped++;
    }
    log->cycle++;
}

void log_drain(struct log *log)
{
    u64 limit = log->cycle + 1000000;
    while (dram_busy(log->dram)) {
        assert_true(log->cycle < limit);
        if (log->pace == PACE_SKIP) {
            u64 cycles = dram_next(log->dram);
            assert_true(cycles < 10000);
            dram_skip(log->dram, cycles);
            log->cycle += cycles;
        }
        log_tick(log);
    }
    assert_int_equal(log->popped, log->pushed);
}

u64 log_address(const struct dram_params *params, u32 bank, u32 row, u32 column)
{
    u64 low = column % params->stripe_bytes, high = column / params->stripe_bytes;
    u64 address = (u64)row * (params->banks / 2) + bank / 2;
    address = address * (params->row_bytes / params->stripe_bytes) + high;
    return (address * 2 + bank % 2) * params->stripe_bytes + low;
}

static u32 draw(u32 *seed, u32 below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (u32)((u64)(*seed >> 8) * below >> 24);
}

static void push_next(struct log *log, enum traffic traffic, u32 *seed)
{
    const struct dram_params *params = &log->params;
    u32 number = log->pushed, burst = params->bus_bytes * params->burst;
    u32 bank = draw(seed, params->banks), row = draw(seed, 1000), bytes = burst;
    u32 column = draw(seed, params->row_bytes / burst) * burst;
    bool write = draw(seed, 2);
    switch (traffic) {
    case TRAFFIC_RANDOM:
        bytes = burst * (1 + draw(seed, 3)) - draw(seed, burst);
        break;
    case TRAFFIC_MIXED:
        row %= 3;
        break;
    case TRAFFIC_SEQUENTIAL:
        log_push(log, (u64)number * burst, burst, false);
        return;
    case TRAFFIC_CONFLICT:
        bank = 5 % params->banks;
        row = number;
        break;
    case TRAFFIC_SAME_ROW:
        bank = 3 % params->banks;
        row = 7;
        break;
    default:
        bank = number % params->banks;
        row = 7;
        write = number / 8 % 2;
        break;
    }
    log_push(log, log_address(params, bank, row, column), bytes, write);
}

void log_run(struct log *log, enum traffic traffic, u32 count, u32 seed)
{
    u32 pace = 1 + draw(&seed, 6);
    for (u32 left = count; left > 0;) {
        /* Bursts of pushes and pauses, so that queues are full at times and empty at others. */
        bool push = draw(&seed, 8) < pace;
        if (push && dram_room(log->dram, true) && dram_room(log->dram, false)) {
            push_next(log, traffic, &seed);
            left--;
        }
        if (draw(&seed, 400) == 0)
            log_drain(log);
        log_tick(log);
    }
    log_drain(log);
}

enum scope {
    CHANNEL,
    GROUP,
    BANK
};

enum {
    ACTIVATE = 1 << DRAM_ACTIVATE,
    PRECHARGE = 1 << DRAM_PRECHARGE,
    READ = 1 << DRAM_READ,
    WRITE = 1 << DRAM_WRITE,
    COLUMN = READ | WRITE,
    ANY = COLUMN | ACTIVATE | PRECHARGE,
    RULES = 16
};

struct rule {
    const char *name;
    u32 from, to;
    enum scope scope;
    i64 cycles;
};

static i64 transfer_of(const struct dram_params *p)
{
    return (p->burst + p->data_rate - 1) / p->data_rate;
}

static u32 rules_of(const struct dram_params *p, struct rule rules[RULES])
{
    i64 transfer = transfer_of(p), WL = p->tWL, CL = p->tCL;
    bool groups = p->bank_groups > 1;
    const struct rule all[] = {
        {"command bus", ANY, ANY, CHANNEL, 1},
        {"tCCD", COLUMN, COLUMN, CHANNEL, p->tCCD},
        {"tCCDL", COLUMN, COLUMN, GROUP, groups ? p->tCCDL : 0},
        {"tRRD", ACTIVATE, ACTIVATE, CHANNEL, p->tRRD},
        {"tRCD", ACTIVATE, READ, BANK, p->tRCD},
        {"tRCD for writes", ACTIVATE, WRITE, BANK, p->tRCD - WL - 1},
        {"tRAS", ACTIVATE, PRECHARGE, BANK, p->tRAS},
        {"tRP", PRECHARGE, ACTIVATE, BANK, p->tRP},
        {"tRC", ACTIVATE, ACTIVATE, BANK, p->tRC},
        {"tCDLR", WRITE, READ, CHANNEL, WL + transfer + p->tCDLR},
        {"read to write", READ, WRITE, CHANNEL, CL + transfer + 2 - WL},
        {"tWR", WRITE, PRECHARGE, BANK, WL + transfer + p->tWR},
        {"read to precharge", READ, PRECHARGE, BANK, transfer},
        {"tRTPL", READ, PRECHARGE, GROUP, groups ? p->tRTPL : 0},
    };
    _Static_assert(ARRAY_LEN(all) <= RULES, "room");
    memcpy(rules, all, sizeof(all));
    return ARRAY_LEN(all);
}

static bool in_scope(const struct dram_params *p, enum scope scope, u32 a, u32 b)
{
    switch (scope) {
    case CHANNEL:
        return true;
    case GROUP:
        return a % p->bank_groups == b % p->bank_groups;
    default:
        return a == b;
    }
}

static const char *check_pairs(const struct log *log, const struct dram_params *p, const char *only)
{
    struct rule rules[RULES];
    u32 count = rules_of(p, rules);
    for (u32 i = 0; i < log->command_count; i++) {
        const struct log_command *a = &log->commands[i];
        for (u32 j = i + 1; j < log->command_count; j++) {
            const struct log_command *b = &log->commands[j];
            i64 distance = (i64)(b->cycle - a->cycle);
            if (distance > 800) /* beyond the sum of any three parameters */
                break;
            for (u32 r = 0; r < count; r++) {
                const struct rule *rule = &rules[r];
                if ((rule->from >> a->command & 1) && (rule->to >> b->command & 1) &&
                    in_scope(p, rule->scope, a->bank, b->bank) && distance < rule->cycles &&
                    (!only || !strcmp(only, rule->name)))
                    return rule->name;
            }
        }
    }
    return NULL;
}

static const char *check_rows(const struct log *log, const struct dram_params *p)
{
    i64 open[256];
    for (u32 i = 0; i < ARRAY_LEN(open); i++)
        open[i] = -1;
    for (u32 i = 0; i < log->command_count; i++) {
        const struct log_command *c = &log->commands[i];
        if (c->bank >= p->banks)
            return "bank number";
        i64 *row = &open[c->bank];
        if (c->command == DRAM_ACTIVATE) {
            if (*row >= 0)
                return "activate of an open bank";
            *row = c->row;
            continue;
        }
        if (*row != (i64)c->row)
            return "a command for a row that is not open";
        if (c->command == DRAM_PRECHARGE)
            *row = -1;
    }
    return NULL;
}

/* Transfers one after another, and each request served with the last data of some transfer. */
static const char *check_data(const struct log *log, const struct dram_params *p)
{
    i64 transfer = transfer_of(p), busy = 0; /* until before this cycle */
    u64 *by_place = calloc(log->served + 1, sizeof(*by_place));
    u8 *writes = calloc(log->served + 1, 1);
    const char *wrong = NULL;
    for (u32 i = 0; i < log->pushed; i++) {
        by_place[log->requests[i].place] = log->requests[i].served;
        writes[log->requests[i].place] = log->requests[i].write;
    }
    u32 place = 0;
    for (u32 i = 0; i < log->command_count && !wrong; i++) {
        const struct log_command *c = &log->commands[i];
        if (c->command != DRAM_READ && c->command != DRAM_WRITE)
            continue;
        bool write = c->command == DRAM_WRITE;
        i64 first = (i64)c->cycle + (write ? p->tWL : p->tCL);
        if (first < busy)
            wrong = "data bus";
        busy = first + transfer;
        if (place < log->served && by_place[place] == (u64)busy - 1 && writes[place] == write)
            place++;
    }
    if (!wrong && place != log->served)
        wrong = "data";
    for (u32 i = 1; i < log->served && !wrong; i++) {
        if (by_place[i] <= by_place[i - 1])
            wrong = "order of service";
    }
    free(by_place);
    free(writes);
    return wrong;
}

const char *log_check(const struct log *log, const struct dram_params *params)
{
    const char *wrong = check_rows(log, params);
    if (!wrong)
        wrong = check_pairs(log, params, NULL);
    return wrong ? wrong : check_data(log, params);
}

bool log_breaks(const struct log *log, const struct dram_params *params, const char *rule)
{
    if (!strcmp(rule, "data"))
        return check_data(log, params) != NULL;
    return check_pairs(log, params, rule) != NULL;
}

bool log_equal(const struct log *a, const struct log *b)
{
    if (a->command_count != b->command_count || a->pushed != b->pushed)
        return false;
    for (u32 i = 0; i < a->command_count; i++) {
        const struct log_command *x = &a->commands[i], *y = &b->commands[i];
        if (x->cycle != y->cycle || x->command != y->command || x->bank != y->bank ||
            x->row != y->row)
            return false;
    }
    for (u32 i = 0; i < a->pushed; i++) {
        if (a->requests[i].served != b->requests[i].served ||
            a->requests[i].place != b->requests[i].place)
            return false;
    }
    return true;
}
