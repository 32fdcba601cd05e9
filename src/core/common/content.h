/*
 * Content of a core: what its loads get and its stores carry when a launch is armed (mem/content.h).
 * lsu.c and lsu_requests.c call it; nothing is called while lsu->content is NULL.
 *
 * Invariants (beside N1 to N7)
 *  CC1  A load's byte is that of the core's own stores that were older and not acknowledged when the
 *       load came to the head; else of the level that served it: the line that hit, as it was then,
 *       or what memory has sent. Each byte is given once; when the load is written back, none lacks.
 *  CC2  A load that waits for a line takes what the core knew of it when it was looked up: sectors
 *       that were there, and stores that reached the L2 since the line was sent for (N6).
 *  CC3  Stores act in the order of the head. One that is sent before an older one, which is still in
 *       the cache's pipe, takes the bytes they share from it; an atomic that does so carries them
 *       along, to act on them.
 */
#ifndef CORE_COMMON_CONTENT_H
#define CORE_COMMON_CONTENT_H

#include "core/common/lsu_parts.h"
#include "mem/content.h"

/* lsu->content, if launches are armed; the caches are there. */
void core_content_create(struct core *core);
void core_content_destroy(struct core_content *content);

/* The access at the head has its transactions. */
void core_content_access(struct core *core, struct inflight *inflight);
/* Stores to local memory leave the L1 with their line: a request without data, as local memory has no
 * content. */
void core_content_victim(struct core *core, const struct lsu_request *request);
/* A store's or an atomic's transaction has become a request. */
void core_content_store(struct core *core, struct inflight *inflight,
                        const struct lsu_request *request);
/* A request that no MSHR stands for is sent to the network. */
void core_content_send(struct core *core, const struct lsu_request *request);
/* A cache has taken a request; of CACHE_MISS out->mshr is set. */
void core_content_looked_up(struct core *core, const struct lsu_request *request, u64 line,
                            u32 sectors, enum cache_result result, const struct cache_out *out);
/* The same for the cache of constants, at the head: only scalar loads take their values from it. */
void core_content_constant(struct core *core, const struct inflight *inflight, u64 line,
                           u32 sectors, enum cache_result result, const struct cache_out *out);
/* A miss has taken an MSHR. */
void core_content_miss(struct core *core, enum packet_client client, u32 mshr, u64 line);
/* cache_fill has been called. */
void core_content_filled(struct core *core, enum packet_client client, u32 mshr, u64 line,
                         u32 sectors);
/* A request that passed no cache, or a store, is answered. */
void core_content_answered(struct core *core, const struct lsu_request *request);
/* All data of a load have come: it takes its values. */
void core_content_take(struct core *core, struct inflight *inflight);

#endif
