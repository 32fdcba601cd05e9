/* The memory side under random traffic: every request is answered once, whatever the machine; the
 * order of actors within a window, and skipping what is idle, change nothing. */
#include "system_rig.h"

enum {
    OUTSTANDING = 48, /* requests of a core at once */
    FOOTPRINT = 1 << 19
};

/* A core that sends at random and checks what comes. */
struct sender {
    u64 seed;
    u32 left;                        /* requests still to be sent */
    u32 out;                         /* not answered */
    struct packet sent[OUTSTANDING]; /* by tag; sectors 0: free */
};

enum order {
    CORES_FIRST,
    MEMORY_FIRST
};

struct traffic {
    struct rig rig;
    struct sender senders[RIG_CORES];
    u64 log; /* a hash over all answers: when, who, what */
    u64 answers, atomics;
    u64 sent_atomics;
    u32 rate;     /* a core sends in one of so many cycles */
    u32 pop_rate; /* and pops likewise */
    u64 cycles;
};

static void note(struct traffic *t, u64 value)
{
    t->log = (t->log ^ value) * 0x100000001b3ull;
}

static struct packet any_packet(struct traffic *t, struct sender *sender, u32 tag)
{
    u32 kind = rig_random(&sender->seed, 10);
    u32 line = t->rig.l2.line_bytes, sectors = line / SECTOR_BYTES;
    /* some lines are everybody's favourites */
    u64 address = rig_random(&sender->seed, 4) ? rig_random(&sender->seed, FOOTPRINT / line) * line
                                               : rig_random(&sender->seed, 8) * line;
    struct packet packet = {.address = address, .tag = tag, .client = CLIENT_L1D};
    packet.kind = kind < 6 ? PACKET_READ : kind < 9 ? PACKET_WRITE : PACKET_ATOMIC;
    packet.sectors = packet.kind == PACKET_ATOMIC
                         ? 1u << rig_random(&sender->seed, sectors)
                         : 1 + rig_random(&sender->seed, (1u << sectors) - 1);
    if (packet.kind == PACKET_READ && t->rig.params.cluster) {
        static const u8 clients[] = {CLIENT_L1D, CLIENT_FETCH, CLIENT_CONSTANT};
        packet.client = clients[rig_random(&sender->seed, ARRAY_LEN(clients))];
        if (packet.client != CLIENT_L1D) /* code is small */
            packet.address = rig_random(&sender->seed, 64) * line;
    }
    packet.returns = packet.kind == PACKET_ATOMIC && rig_random(&sender->seed, 2);
    packet.full = packet.kind == PACKET_WRITE && rig_random(&sender->seed, 2);
    if (packet.kind != PACKET_READ)
        packet.bytes = (u16)(__builtin_popcount(packet.sectors) * SECTOR_BYTES);
    return packet;
}

static void check_answer(struct traffic *t, struct sender *sender, const struct packet *answer,
                         u32 core)
{
    struct packet *sent = &sender->sent[answer->tag];
    assert_int_equal(answer->core, core);
    assert_true(answer->tag < OUTSTANDING && sent->sectors); /* M1: once */
    assert_int_equal(answer->address, sent->address);
    assert_int_equal(answer->sectors, sent->sectors);
    bool data = sent->kind == PACKET_READ || sent->returns;
    assert_int_equal(answer->kind, data ? PACKET_DATA : PACKET_ACK);
    assert_int_equal(answer->bytes, data ? __builtin_popcount(sent->sectors) * SECTOR_BYTES : 0);
    sent->sectors = 0;
    sender->out--;
    t->answers++;
}

static void core_cycle(struct traffic *t, u32 core, fs now)
{
    struct sender *sender = &t->senders[core];
    struct port *replies = memory_system_replies(t->rig.memory_system, core);
    const struct packet *head = port_head(replies, now);
    if (head && !rig_random(&sender->seed, t->pop_rate)) {
        check_answer(t, sender, head, core);
        note(t, now);
        note(t, (u64)core << 32 | head->tag);
        port_pop(replies);
    }
    if (!sender->left || rig_random(&sender->seed, t->rate))
        return;
    for (u32 tag = 0; tag < OUTSTANDING; tag++) {
        if (sender->sent[tag].sectors)
            continue;
        struct packet packet = any_packet(t, sender, tag);
        struct port *requests = rig_port(&t->rig, core, &packet);
        if (!port_room(requests))
            return;
        packet.core = (u16)core;
        packet.sent = now;
        sender->sent[tag] = packet;
        port_push(requests, &packet, now);
        sender->left--;
        sender->out++;
        t->sent_atomics += packet.kind == PACKET_ATOMIC;
        return;
    }
}

static void cores_window(struct traffic *t)
{
    /* a log in order of cores, so that it can be compared: cores do not meet in a window */
    for (u32 core = 0; core < RIG_CORES; core++)
        for (u32 i = 0; i < t->rig.network.window; i++)
            core_cycle(t, core, t->rig.now + i * t->rig.period);
}

/* Runs until all is answered; says where requests are if they never are. */
static void run(struct traffic *t, enum order order)
{
    u64 limit = 400000;
    for (bool more = true; more; t->cycles += t->rig.network.window) {
        if (t->cycles > limit)
            fail_msg("%u requests are not answered", memory_system_pending(t->rig.memory_system));
        fs end = t->rig.now + t->rig.window;
        if (order == CORES_FIRST)
            cores_window(t);
        memory_system_run(t->rig.memory_system, end);
        if (order == MEMORY_FIRST)
            cores_window(t);
        u32 count;
        const struct packet *atomics = memory_system_atomics(t->rig.memory_system, &count);
        for (u32 i = 0; i < count; i++) {
            assert_int_equal(atomics[i].kind, PACKET_ATOMIC);
            note(t, (u64)atomics[i].core << 32 | atomics[i].tag);
        }
        t->atomics += count;
        memory_system_meet(t->rig.memory_system, NULL);
        t->rig.now = end;
        more = false;
        for (u32 core = 0; core < RIG_CORES; core++)
            more |= t->senders[core].left || t->senders[core].out;
    }
    assert_int_equal(memory_system_pending(t->rig.memory_system), 0);
    assert_int_equal(t->atomics, t->sent_atomics);
    /* what is left are write-backs, and they leave */
    while (memory_system_next(t->rig.memory_system) != FS_NEVER)
        rig_end_window(&t->rig);
}

/* Machines that differ in what can hold a packet up. */
static const struct machine {
    const char *name;
    u32 queues; /* 0: as usual */
    u32 cores_per_port, channels, slices, mshrs, window;
    bool mesh, disabled, fill, whole, hashed;
    f64 l2_mhz, dram_mhz;
    u32 rate, pop_rate;
    u32 cluster, shared; /* cores that share; sets, MSHRs and merges of what they share */
} machines[] = {
    {"usual", 0, 1, 6, 2, 256, 8, 0, 0, 0, 0, 0, 1000, 1320, 1, 1},
    {"sparse", 0, 1, 6, 2, 256, 8, 0, 0, 0, 0, 0, 1000, 1320, 200, 1},
    {"tiny queues", 1, 1, 6, 2, 1, 8, 0, 0, 0, 0, 0, 1000, 924, 1, 1},
    {"slow cores", 2, 1, 6, 2, 4, 8, 0, 0, 0, 0, 0, 1000, 924, 1, 9},
    {"allocate on fill", 1, 1, 6, 2, 2, 8, 0, 0, 1, 0, 0, 1000, 1320, 1, 1},
    {"whole lines", 1, 1, 6, 2, 8, 8, 0, 0, 0, 1, 0, 1000, 1320, 1, 1},
    {"shared ports", 0, 4, 7, 1, 64, 4, 0, 0, 0, 0, 0, 1000, 1320, 1, 1},
    {"no cache", 0, 1, 6, 2, 64, 8, 0, 1, 0, 0, 0, 1000, 1320, 1, 1},
    {"no cache, tiny", 1, 1, 6, 2, 1, 8, 0, 1, 0, 0, 0, 1000, 700, 1, 2},
    {"mesh", 2, 2, 12, 2, 16, 8, 1, 0, 0, 0, 0, 1000, 1764, 1, 1},
    {"hashed, odd clocks", 0, 1, 7, 3, 32, 8, 0, 0, 0, 0, 1, 1417, 777, 2, 1},
    {"slow L2", 4, 3, 12, 2, 32, 16, 0, 0, 1, 0, 1, 333, 2500, 1, 1},
    {"clusters", 0, 1, 6, 2, 256, 8, 0, 0, 0, 0, 0, 1000, 1320, 1, 1, 4, 8},
    {"sparse clusters", 0, 1, 6, 2, 256, 8, 0, 0, 0, 0, 0, 1000, 1320, 200, 1, 4, 8},
    {"tiny clusters", 1, 2, 6, 2, 4, 8, 0, 0, 0, 0, 0, 777, 924, 1, 1, 7, 1},
    {"a cluster, slow cores", 2, 1, 6, 2, 4, 4, 1, 0, 0, 1, 0, 1000, 924, 1, 9, 15, 2},
};

static void set_machine(struct rig *rig, const struct machine *machine)
{
    rig_params(rig);
    rig->network.cores_per_port = machine->cores_per_port;
    rig->network.window = machine->window;
    rig->network.kind = machine->mesh;
    rig->l2.channels = machine->channels;
    rig->l2.slices = machine->slices;
    rig->l2.mshrs = machine->mshrs;
    rig->l2.enabled = !machine->disabled;
    rig->l2.allocate = machine->fill;
    rig->l2.sectored = !machine->whole;
    rig->l2.placement = machine->hashed;
    rig->l2.hashed = machine->hashed;
    rig->l2.sets = 8; /* so that lines with changes give way */
    rig->l2.ways = machine->whole ? 2 : 4;
    rig->params.cluster = machine->cluster;
    if (machine->shared) {
        rig->icache.sets = rig->icache.mshrs = rig->icache.merges = machine->shared;
        rig->constant.sets = rig->constant.mshrs = rig->constant.merges = machine->shared;
        rig->icache.miss_queue = rig->icache.ports = 1 + machine->shared / 4;
        rig->constant.sectored = true;
        rig->constant.latency = 33;
        rig->constant.allocate = 1;
    }
    rig->params.l2_mhz = machine->l2_mhz;
    rig->params.dram_mhz = machine->dram_mhz;
    if (machine->queues) {
        rig->network.input_packets = machine->queues;
        rig->network.output_packets = machine->queues;
        rig->network.buffer_flits = machine->queues;
        rig->l2.queue_in = rig->l2.queue_out = rig->l2.queue_dram = machine->queues;
        rig->l2.miss_queue = machine->queues;
        rig->dram.queue = rig->dram.return_queue = machine->queues;
        rig->l2.atomic_cycles = 3;
        rig->l2.request_sectors = 1 + machine->queues;
    }
}

static void open_traffic(struct traffic *t, const struct machine *machine, u32 requests)
{
    memset(t, 0, sizeof *t);
    set_machine(&t->rig, machine);
    t->rate = machine->rate;
    t->pop_rate = machine->pop_rate;
    for (u32 i = 0; i < RIG_CORES; i++)
        t->senders[i] = (struct sender){.seed = i + 1, .left = requests};
    rig_open(&t->rig);
}

static void check_stats(const struct traffic *t, const struct memory_system_stats *stats,
                        u32 requests)
{
    const struct l2_stats *l2 = &stats->l2;
    u64 total = (u64)requests * RIG_CORES;
    assert_int_equal(t->answers, total);
    /* what clusters have asked for instead of their cores */
    const struct cluster_icache_stats *code = &stats->cluster_icache;
    const struct cluster_constant_stats *data = &stats->cluster_constant;
    assert_int_equal(code->reads, code->read_hits + code->read_merges + code->read_misses);
    assert_int_equal(data->reads, data->read_hits + data->read_merges + data->read_misses);
    assert_int_equal(code->fills, code->read_misses);
    assert_int_equal(data->fills, data->read_misses);
    if (t->rig.params.cluster) {
        assert_true(code->read_hits && data->read_hits && code->evictions && data->evictions);
        assert_true(t->rate > 1 || data->queue_cycles);
        assert_true(t->rate > 1 || t->rig.constant.merges == 1 || data->read_merges);
    }
    total -= code->reads - code->read_misses + data->reads - data->read_misses;
    assert_int_equal(stats->network.request_packets, total);
    assert_int_equal(stats->network.reply_packets, total);
    assert_int_equal(l2->atomics, t->sent_atomics);
    assert_int_equal(stats->dram.reads, l2->dram_reads);
    assert_int_equal(stats->dram.writes, l2->dram_writes);
    u64 cycles = t->rig.now / t->rig.period;
    assert_int_equal(stats->network.cycles, cycles);
    if (t->rig.l2.enabled) {
        assert_int_equal(l2->reads, l2->read_hits + l2->read_merges + l2->read_misses);
        /* an atomic reads and writes */
        assert_int_equal(l2->reads + l2->writes, total + t->sent_atomics);
        assert_true(l2->evictions && l2->writebacks && l2->read_merges);
        assert_int_equal(l2->dram_writes, l2->writebacks);
    }
}

static void test_conservation(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        struct traffic t;
        struct memory_system_stats stats;
        u32 requests = machines[i].rate > 1 ? 200 : 600;
        open_traffic(&t, &machines[i], requests);
        run(&t, CORES_FIRST);
        memory_system_take_stats(t.rig.memory_system, t.rig.now, &stats);
        check_stats(&t, &stats, requests);
        rig_close(&t.rig);
    }
}

/* The same traffic run in both orders, and with every edge of every clock: nothing may differ. */
static void test_order_and_skipping(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        struct traffic t[3];
        struct memory_system_stats stats[3];
        for (u32 v = 0; v < 3; v++) {
            open_traffic(&t[v], &machines[i], 150);
            if (v == 2)
                memory_system_tick_all(t[v].rig.memory_system);
            run(&t[v], v == 1 ? MEMORY_FIRST : CORES_FIRST);
            memory_system_take_stats(t[v].rig.memory_system, t[v].rig.now, &stats[v]);
            rig_close(&t[v].rig);
        }
        for (u32 v = 1; v < 3; v++) {
            assert_int_equal(t[v].cycles, t[0].cycles);
            assert_int_equal(t[v].rig.now, t[0].rig.now);
            assert_memory_equal(&stats[v], &stats[0], sizeof stats[0]);
        }
        /* the log of a window has cores and atomics in a fixed order in both */
        assert_int_equal(t[1].log, t[0].log);
        assert_int_equal(t[2].log, t[0].log);
    }
}

/* A second launch finds an empty memory side, even when the first was cut off. */
static void test_restart(void **state)
{
    struct traffic t;
    open_traffic(&t, &machines[0], 600);
    for (u32 i = 0; i < 20; i++) {
        cores_window(&t);
        rig_end_window(&t.rig);
    }
    assert_true(memory_system_pending(t.rig.memory_system) > 0);
    memory_system_start(t.rig.memory_system, 0);
    assert_int_equal(memory_system_pending(t.rig.memory_system), 0);
    assert_true(memory_system_next(t.rig.memory_system) == FS_NEVER);
    struct rig rig = t.rig;
    struct memory_system_stats stats;
    memory_system_take_stats(rig.memory_system, 0, &stats);
    memset(&t, 0, sizeof t);
    t.rig = rig;
    t.rig.now = 0;
    t.rate = t.pop_rate = 1;
    for (u32 i = 0; i < RIG_CORES; i++)
        t.senders[i] = (struct sender){.seed = i + 1, .left = 100};
    run(&t, CORES_FIRST);
    memory_system_take_stats(t.rig.memory_system, t.rig.now, &stats);
    assert_int_equal(t.answers, 100 * RIG_CORES);
    assert_int_equal(stats.network.request_packets, 100 * RIG_CORES);
    rig_close(&t.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conservation),
        cmocka_unit_test(test_order_and_skipping),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
