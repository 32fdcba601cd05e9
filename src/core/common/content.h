/*
 * Content of a core: the data that loads get and stores carry in armed launches (mem/content.h).
 * lsu.c and lsu_requests.c call these functions; none is called while lsu->content is NULL.
 *
 * Invariants (in addition to N1 to N7)
 *  CC1  A byte of a load comes from the core's own stores that were older and not acknowledged when
 *       the load reached the head; otherwise from the level that served the load: the line that
 *       hit, as it was then, or the reply from memory. Each byte is set once; at write-back of the
 *       load, none is missing.
 *  CC2  A load that waits for a line uses what the core knew of the line at the lookup: sectors
 *       that were present, and stores that have reached the L2 since the line was requested (N6).
 *  CC3  Stores act in the order in which they passed the head. A store that is sent before an older
 *       one, which is still in the cache's pipe, removes the bytes that they share from the older
 *       one; an atomic also carries these bytes with it, to act on them.
 */
#ifndef CORE_COMMON_CONTENT_H
#define CORE_COMMON_CONTENT_H

#include "core/common/lsu_parts.h"
#include "mem/content.h"

/* Creates lsu->content, if launches are armed; the caches must exist. */
void core_content_create(struct core *core);
void core_content_destroy(struct core_content *content);

/* The access at the head has its list of transactions. */
void core_content_access(struct core *core, struct inflight *inflight);
/* A line of local memory is evicted with its stores: a request without data, as local memory has no
 * content. */
void core_content_victim(struct core *core, const struct lsu_request *request);
/* A transaction of a store or an atomic has become a request. */
void core_content_store(struct core *core, struct inflight *inflight,
                        const struct lsu_request *request);
/* A request without an MSHR is sent to the network. */
void core_content_send(struct core *core, const struct lsu_request *request);
/* A cache has accepted a request; out->mshr is valid for CACHE_MISS. */
void core_content_looked_up(struct core *core, const struct lsu_request *request, u64 line,
                            u32 sectors, enum cache_result result, const struct cache_out *out);
/* The same for the constant cache, at the head: only scalar loads take their values from it. */
void core_content_constant(struct core *core, const struct inflight *inflight, u64 line,
                           u32 sectors, enum cache_result result, const struct cache_out *out);
/* A miss has taken an MSHR. */
void core_content_miss(struct core *core, enum packet_client client, u32 mshr, u64 line);
/* cache_fill has been called. */
void core_content_filled(struct core *core, enum packet_client client, u32 mshr, u64 line,
                         u32 sectors);
/* A request that bypassed the caches, or a store, is answered. */
void core_content_answered(struct core *core, const struct lsu_request *request);
/* All data of a load have arrived: sets its values. */
void core_content_take(struct core *core, struct inflight *inflight);

#endif
