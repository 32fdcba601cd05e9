/* A memory side on the bench, with cores that push requests and pop answers. */
#ifndef TEST_MEMORY_SYSTEM_RIG_H
#define TEST_MEMORY_SYSTEM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/machine/relations.h"
#include "mem/system.h"

enum {
    RIG_CORES = 15
};

struct rig {
    struct network_params network;
    struct l2_params l2;
    struct dram_params dram;
    struct cluster_icache_params icache;
    struct cluster_constant_params constant;
    struct memory_system_params params;
    struct memory_system *memory_system;
    fs window, period; /* period: of the network and of cores */
    fs now;            /* begin of the window at hand */
};

/* Defaults of a component, from its table. */
static inline void rig_defaults(const struct component *component, void *params)
{
    memset(params, 0, component->params_size);
    for (u32 i = 0; i < component->param_count; i++) {
        const struct param *param = &component->params[i];
        char *at = (char *)params + param->offset;
        switch (param->type) {
        case PARAM_U64:
            *(u64 *)at = (u64)param->initial;
            break;
        case PARAM_F64:
            *(f64 *)at = param->initial;
            break;
        case PARAM_BOOL:
            *(bool *)at = param->initial != 0;
            break;
        default:
            *(u32 *)at = (u32)param->initial;
            break;
        }
    }
}

/* Parameters of the table, clocks all equal; to be changed before rig_open. */
static inline void rig_params(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    rig_defaults(&network_component, &rig->network);
    rig_defaults(&l2_component, &rig->l2);
    rig_defaults(&dram_component, &rig->dram);
    rig_defaults(&cluster_icache_component, &rig->icache);
    rig_defaults(&cluster_constant_component, &rig->constant);
    rig->params = (struct memory_system_params){.network = &rig->network,
                                                .l2 = &rig->l2,
                                                .dram = &rig->dram,
                                                .network_mhz = 1000,
                                                .l2_mhz = 1000,
                                                .dram_mhz = 1000,
                                                .cores = RIG_CORES,
                                                .cluster_icache = &rig->icache,
                                                .cluster_constant = &rig->constant};
}

static inline void rig_open(struct rig *rig)
{
    struct error error;
    assert_true(relations_check_memory(&rig->params, &error));
    rig->memory_system = memory_system_create(&rig->params);
    rig->window = memory_system_window(&rig->params);
    rig->period = clock_period(rig->params.network_mhz);
    rig->now = 0;
}

static inline void rig_close(struct rig *rig)
{
    memory_system_destroy(rig->memory_system);
}

/* The rest of a window in which the cores have acted. */
static inline void rig_end_window(struct rig *rig)
{
    rig->now += rig->window;
    memory_system_run(rig->memory_system, rig->now);
    memory_system_meet(rig->memory_system, NULL);
}

/* The port that a packet of a core goes out by. */
static inline struct port *rig_port(const struct rig *rig, u32 core, const struct packet *packet)
{
    return packet->client == CLIENT_FETCH || packet->client == CLIENT_CONSTANT
               ? memory_system_shared(rig->memory_system, core, packet->client)
               : memory_system_requests(rig->memory_system, core);
}

/*
 * One request alone: pushed by `core` at core cycle `at`; gives the core cycle at which the answer
 * is at the core. Everything is idle before and after.
 */
static inline u64 rig_alone(struct rig *rig, u32 core, const struct packet *packet, u64 at,
                            struct packet *answer)
{
    struct port *requests = rig_port(rig, core, packet);
    struct port *replies = memory_system_replies(rig->memory_system, core);
    u64 cycle = rig->now / rig->period;
    bool sent = false;
    assert_true(at >= cycle);
    for (u64 window = 0; window < 100000; window++) {
        for (u32 i = 0; i < rig->network.window; i++, cycle++) {
            fs now = cycle * rig->period;
            if (cycle == at) {
                struct packet copy = *packet;
                copy.core = (u16)core;
                copy.sent = now;
                assert_true(port_room(requests));
                port_push(requests, &copy, now);
                sent = true;
            }
            const struct packet *head = port_head(replies, now);
            if (head) {
                assert_true(sent);
                if (answer)
                    *answer = *head;
                port_pop(replies);
                rig_end_window(rig);
                return cycle;
            }
        }
        rig_end_window(rig);
    }
    fail_msg("no answer");
    return 0;
}

static inline struct packet rig_read(u64 address, u32 sectors)
{
    return (struct packet){.address = address, .sectors = sectors, .kind = PACKET_READ};
}

static inline u32 rig_random(u64 *seed, u32 below)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((*seed >> 33) % below);
}

#endif
