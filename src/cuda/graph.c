/*
 * Graphs: built node by node, or captured from the work of streams; then launched, any number of times.
 *
 *  G1  Nodes are in an order in which they may run: one depends on earlier ones only. A dependency that
 *      is added later and breaks this moves nodes (sort).
 *  G2  A graph that can be launched has copies of the nodes and of kernels' arguments.
 *  G3  A node starts, in simulated time, when what it depends on has ended; as with streams, kernels run
 *      one after the other (T2 of stream.c).
 *
 * Deviation: a capture ends with the stream it began in; work of other streams that joined it is part of
 * the graph whether or not they were joined again.
 */
#include "cuda/runtime.h"

#include <stdlib.h>

enum {
    KIND_GRAPH = 0x48450020,
    KIND_EXEC,
    NESTED_MOST = 16 /* graphs in graphs */
};

struct kernel_work {
    const void *function;
    struct dim3 grid, block;
    size_t shared_bytes;
    bool cooperative;
    u8 *bytes; /* the arguments, as they lie in the kernel's parameter block */
    u32 *offsets, count;
};

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    u32 id;         /* the same in copies of the graph */
    VEC(u32) after; /* ids */
    u64 end_ps;     /* in the launch that runs */
    union {
        struct kernel_work kernel;
        struct copy_work copy;
        struct fill_work fill;
        struct cudaHostNodeParams host;
        struct CUgraph_st *child;
    };
};
typedef struct CUgraphNode_st *node_t;

struct CUgraph_st {
    u32 kind;
    u32 ids; /* given out so far */
    VEC(node_t) nodes;
};

struct CUgraphExec_st {
    u32 kind;
    struct CUgraph_st *graph; /* its own copy */
};

/* How far a stream is in a capture. */
struct tail {
    struct CUstream_st *stream;
    VEC(u32) last; /* ids of nodes that the stream's next one depends on */
};

/* A graph that is captured. */
struct capture {
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    VEC(struct tail) tails;
};

/* ---- nodes ---- */

static bool is_graph(const struct CUgraph_st *graph)
{
    return graph && graph->kind == KIND_GRAPH;
}

static struct CUgraph_st *graph_new(void)
{
    struct CUgraph_st *graph = checked(calloc(1, sizeof *graph));
    graph->kind = KIND_GRAPH;
    return graph;
}

static void graph_free(struct CUgraph_st *graph);

static void node_free(node_t node)
{
    if (node->type == cudaGraphNodeTypeKernel) {
        free(node->kernel.bytes);
        free(node->kernel.offsets);
    } else if (node->type == cudaGraphNodeTypeGraph) {
        graph_free(node->child);
    }
    vec_free(&node->after);
    free(node);
}

static void graph_free(struct CUgraph_st *graph)
{
    graph->kind = 0;
    for (u32 i = 0; i < graph->nodes.count; i++)
        node_free(graph->nodes.data[i]);
    vec_free(&graph->nodes);
    free(graph);
}

static node_t node_of_id(const struct CUgraph_st *graph, u32 id)
{
    for (u32 i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.data[i]->id == id)
            return graph->nodes.data[i];
    return NULL;
}

static bool has_node(const struct CUgraph_st *graph, node_t node)
{
    for (u32 i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.data[i] == node)
            return true;
    return false;
}

static node_t add_node(struct CUgraph_st *graph, enum cudaGraphNodeType type)
{
    node_t node = checked(calloc(1, sizeof *node));
    node->type = type;
    node->id = graph->ids++;
    *(node_t *)vec_push(&graph->nodes) = node;
    return node;
}

/* Sets a kernel's arguments from pointers to them. */
static bool set_args(struct kernel_work *work, const struct hd_kernel_info *info, void **args)
{
    u32 bytes = 0;
    for (u32 i = 0; i < info->param_count; i++)
        bytes = MAX(bytes, info->params[i].offset + info->params[i].size);
    free(work->bytes);
    free(work->offsets);
    work->bytes = checked(calloc(bytes + 1, 1));
    work->offsets = checked(calloc(info->param_count + 1, sizeof *work->offsets));
    work->count = info->param_count;
    for (u32 i = 0; i < info->param_count; i++) {
        if (!args || !args[i])
            return false;
        work->offsets[i] = info->params[i].offset;
        memcpy(work->bytes + work->offsets[i], args[i], info->params[i].size);
    }
    return true;
}

static struct CUgraph_st *graph_copy(const struct CUgraph_st *from);

/* The bytes of a kernel's arguments reach to the end of the last one, which its kernel knows. */
static cudaError_t copy_kernel(struct cuda_device *device, struct kernel_work *to,
                               const struct kernel_work *from)
{
    struct hd_kernel *kernel;
    struct hd_kernel_info info;
    const cudaError_t status = function_kernel(device, from->function, &kernel);
    *to = *from;
    to->bytes = NULL;
    to->offsets = NULL;
    if (status != cudaSuccess)
        return status;
    hd_kernel_info(kernel, &info);
    void **args = checked(calloc(from->count + 1, sizeof *args));
    for (u32 i = 0; i < from->count; i++)
        args[i] = from->bytes + from->offsets[i];
    set_args(to, &info, args);
    free(args);
    return cudaSuccess;
}

static struct CUgraph_st *graph_copy(const struct CUgraph_st *from)
{
    struct CUgraph_st *to = graph_new();
    struct cuda_device *device;
    if (device_enter(&device) != cudaSuccess)
        device = NULL;
    for (u32 i = 0; i < from->nodes.count; i++) {
        const struct CUgraphNode_st *old = from->nodes.data[i];
        node_t node = add_node(to, old->type);
        node->id = old->id;
        for (u32 k = 0; k < old->after.count; k++)
            *(u32 *)vec_push(&node->after) = old->after.data[k];
        if (old->type == cudaGraphNodeTypeKernel && device)
            copy_kernel(device, &node->kernel, &old->kernel);
        else if (old->type == cudaGraphNodeTypeMemcpy)
            node->copy = old->copy;
        else if (old->type == cudaGraphNodeTypeMemset)
            node->fill = old->fill;
        else if (old->type == cudaGraphNodeTypeHost)
            node->host = old->host;
        else if (old->type == cudaGraphNodeTypeGraph)
            node->child = graph_copy(old->child);
    }
    to->ids = from->ids;
    return to;
}

static bool depends(const struct CUgraphNode_st *node, u32 id)
{
    for (u32 i = 0; i < node->after.count; i++)
        if (node->after.data[i] == id)
            return true;
    return false;
}

/* Restores G1; false: dependencies form a circle. */
static bool sort(struct CUgraph_st *graph)
{
    node_t *nodes = graph->nodes.data;
    for (u32 done = 0; done < graph->nodes.count; done++) {
        u32 next = done;
        for (bool ready = false; next < graph->nodes.count && !ready; next += !ready) {
            ready = true;
            for (u32 i = done; i < graph->nodes.count && ready; i++)
                ready = !depends(nodes[next], nodes[i]->id);
        }
        if (next == graph->nodes.count)
            return false;
        node_t chosen = nodes[next];
        memmove(&nodes[done + 1], &nodes[done], (next - done) * sizeof *nodes);
        nodes[done] = chosen;
    }
    return true;
}

/* ---- capture ---- */

static struct tail *tail_of(struct capture *capture, const struct CUstream_st *stream)
{
    for (u32 i = 0; i < capture->tails.count; i++)
        if (capture->tails.data[i].stream == stream)
            return &capture->tails.data[i];
    return NULL;
}

/* A node after the stream's last ones, of which it becomes the only one. */
static node_t capture_node(struct CUstream_st *stream, enum cudaGraphNodeType type)
{
    node_t node = add_node(stream->capture->graph, type);
    struct tail *tail = tail_of(stream->capture, stream);
    for (u32 i = 0; i < tail->last.count; i++)
        *(u32 *)vec_push(&node->after) = tail->last.data[i];
    tail->last.count = 0;
    *(u32 *)vec_push(&tail->last) = node->id;
    return node;
}

cudaError_t capture_copy(struct CUstream_st *stream, const struct copy_work *work)
{
    capture_node(stream, cudaGraphNodeTypeMemcpy)->copy = *work;
    return cudaSuccess;
}

cudaError_t capture_fill(struct CUstream_st *stream, const struct fill_work *work)
{
    capture_node(stream, cudaGraphNodeTypeMemset)->fill = *work;
    return cudaSuccess;
}

cudaError_t capture_host(struct CUstream_st *stream, cudaHostFn_t call, void *user)
{
    capture_node(stream, cudaGraphNodeTypeHost)->host = (struct cudaHostNodeParams){call, user};
    return cudaSuccess;
}

cudaError_t capture_kernel(struct CUstream_st *stream, const void *function,
                           const struct hd_kernel_info *info, struct dim3 grid, struct dim3 block,
                           void **args, size_t shared_bytes, bool cooperative)
{
    struct kernel_work *work = &capture_node(stream, cudaGraphNodeTypeKernel)->kernel;
    *work = (struct kernel_work){function, grid, block, shared_bytes, cooperative, NULL, NULL, 0};
    return set_args(work, info, args) ? cudaSuccess : cudaErrorInvalidValue;
}

/* An event of several last nodes needs one that follows them all. */
void capture_record(struct CUstream_st *stream, struct CUevent_st *event)
{
    struct tail *tail = tail_of(stream->capture, stream);
    if (tail->last.count != 1)
        capture_node(stream, cudaGraphNodeTypeEmpty);
    event->capture = stream->capture;
    event->node = tail->last.data[0];
}

void capture_wait(struct CUstream_st *stream, const struct CUevent_st *event)
{
    struct capture *capture = event->capture;
    struct tail *tail = tail_of(capture, stream);
    if (!tail) {
        tail = vec_push(&capture->tails);
        *tail = (struct tail){.stream = stream};
        stream->capture = capture;
    }
    *(u32 *)vec_push(&tail->last) = event->node;
}

EXPORT_STREAM(cudaStreamBeginCapture)
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    ENTER(device);
    struct CUstream_st *stream = stream_of(device, handle);
    if (!stream || (u32)mode > cudaStreamCaptureModeRelaxed)
        return ended(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return ended(cudaErrorIllegalState);
    if (stream == &device->legacy && handle != cudaStreamPerThread)
        return ended(cudaErrorStreamCaptureUnsupported);
    struct capture *capture = checked(calloc(1, sizeof *capture));
    capture->graph = graph_new();
    capture->origin = stream;
    *(struct tail *)vec_push(&capture->tails) = (struct tail){.stream = stream};
    stream->capture = capture;
    return ended(cudaSuccess);
}

static void capture_free(struct capture *capture)
{
    for (u32 i = 0; i < capture->tails.count; i++) {
        capture->tails.data[i].stream->capture = NULL;
        vec_free(&capture->tails.data[i].last);
    }
    vec_free(&capture->tails);
    free(capture);
}

EXPORT_STREAM(cudaStreamEndCapture)
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    ENTER(device);
    struct CUstream_st *stream = stream_of(device, handle);
    if (!stream || !graph)
        return ended(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    if (!stream->capture)
        return ended(cudaErrorIllegalState);
    if (stream->capture->origin != stream)
        return ended(cudaErrorStreamCaptureUnmatched);
    *graph = stream->capture->graph;
    capture_free(stream->capture);
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaStreamIsCapturing)
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    ENTER(device);
    const struct CUstream_st *stream = stream_of(device, handle);
    if (!stream || !status)
        return ended(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *status = stream->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return ended(cudaSuccess);
}

/* Calls that a mode forbids are not refused, so that modes have no effect. */
EXPORT(cudaThreadExchangeStreamCaptureMode)
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    return ended(mode ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- building ---- */

EXPORT(cudaGraphCreate)
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    LOCKED;
    if (!graph || flags)
        return ended(cudaErrorInvalidValue);
    *graph = graph_new();
    return ended(cudaSuccess);
}

EXPORT(cudaGraphDestroy)
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    LOCKED;
    if (!is_graph(graph))
        return ended(cudaErrorInvalidValue);
    graph_free(graph);
    return ended(cudaSuccess);
}

EXPORT(cudaGraphClone)
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    LOCKED;
    if (!clone || !is_graph(graph))
        return ended(cudaErrorInvalidValue);
    *clone = graph_copy(graph);
    return ended(cudaSuccess);
}

/* Takes a node after others as `node`, or returns from the API function. */
static node_t add_after(cudaGraph_t graph, enum cudaGraphNodeType type,
                        const cudaGraphNode_t *after, size_t count)
{
    if (!is_graph(graph) || (count && !after))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!has_node(graph, after[i]))
            return NULL;
    node_t node = add_node(graph, type);
    for (size_t i = 0; i < count; i++)
        *(u32 *)vec_push(&node->after) = after[i]->id;
    return node;
}

static cudaError_t set_kernel(struct kernel_work *work,
                              const struct cudaKernelNodeParams *parameters)
{
    struct cuda_device *device;
    struct hd_kernel *kernel;
    struct hd_kernel_info info;
    if (!parameters || parameters->extra)
        return parameters ? cudaErrorNotSupported : cudaErrorInvalidValue;
    cudaError_t status = device_enter(&device);
    if (status == cudaSuccess)
        status = function_kernel(device, parameters->func, &kernel);
    if (status != cudaSuccess)
        return status;
    hd_kernel_info(kernel, &info);
    work->function = parameters->func;
    work->grid = parameters->gridDim;
    work->block = parameters->blockDim;
    work->shared_bytes = parameters->sharedMemBytes;
    return set_args(work, &info, parameters->kernelParams) ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT(cudaGraphAddKernelNode)
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *to, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *parameters)
{
    LOCKED;
    node_t node = to ? add_after(graph, cudaGraphNodeTypeKernel, after, count) : NULL;
    if (!node)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = set_kernel(&node->kernel, parameters);
    if (status != cudaSuccess) {
        graph->nodes.count--;
        node_free(node);
        return ended(status);
    }
    *to = node;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddMemcpyNode1D)
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    LOCKED;
    node_t made = node ? add_after(graph, cudaGraphNodeTypeMemcpy, after, count) : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    made->copy = (struct copy_work){to, from, bytes, bytes, bytes, 1, kind};
    *node = made;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddMemcpyNode)
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemcpy3DParms *box)
{
    LOCKED;
    if (!box || !box->srcPtr.ptr || !box->dstPtr.ptr || box->extent.depth > 1)
        return ended(box ? cudaErrorNotSupported : cudaErrorInvalidValue);
    node_t made = node ? add_after(graph, cudaGraphNodeTypeMemcpy, after, count) : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    u8 *to = (u8 *)box->dstPtr.ptr + box->dstPos.y * box->dstPtr.pitch + box->dstPos.x;
    const u8 *from = (u8 *)box->srcPtr.ptr + box->srcPos.y * box->srcPtr.pitch + box->srcPos.x;
    made->copy = (struct copy_work){
        to,       from, box->dstPtr.pitch, box->srcPtr.pitch, box->extent.width, box->extent.height,
        box->kind};
    *node = made;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddMemsetNode)
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *parameters)
{
    LOCKED;
    const u32 bytes = parameters ? parameters->elementSize : 0;
    node_t made = node && (bytes == 1 || bytes == 2 || bytes == 4)
                      ? add_after(graph, cudaGraphNodeTypeMemset, after, count)
                      : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    made->fill = (struct fill_work){.to = parameters->dst,
                                    .pitch = parameters->pitch,
                                    .width = parameters->width * bytes,
                                    .height = parameters->height,
                                    .pattern_bytes = bytes};
    memcpy(made->fill.pattern, &parameters->value, bytes);
    *node = made;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddHostNode)
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const struct cudaHostNodeParams *parameters)
{
    LOCKED;
    node_t made = node && parameters && parameters->fn
                      ? add_after(graph, cudaGraphNodeTypeHost, after, count)
                      : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    made->host = *parameters;
    *node = made;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddEmptyNode)
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count)
{
    LOCKED;
    node_t made = node ? add_after(graph, cudaGraphNodeTypeEmpty, after, count) : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    *node = made;
    return ended(cudaSuccess);
}

EXPORT(cudaGraphAddChildGraphNode)
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child)
{
    LOCKED;
    node_t made = node && is_graph(child) && child != graph
                      ? add_after(graph, cudaGraphNodeTypeGraph, after, count)
                      : NULL;
    if (!made)
        return ended(cudaErrorInvalidValue);
    made->child = graph_copy(child);
    *node = made;
    return ended(cudaSuccess);
}

static cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                    const cudaGraphNode_t *to, size_t count)
{
    LOCKED;
    bool ok = is_graph(graph) && (!count || (from && to));
    for (size_t i = 0; ok && i < count; i++)
        ok = has_node(graph, from[i]) && has_node(graph, to[i]);
    for (size_t i = 0; ok && i < count; i++)
        *(u32 *)vec_push(&to[i]->after) = from[i]->id;
    return ended(ok && sort(graph) ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT_OLD(dependencies_12, cudaGraphAddDependencies);
EXPORT_12(dependencies_12, cudaGraphAddDependencies);
__attribute__((visibility("default"))) cudaError_t dependencies_12(cudaGraph_t graph,
                                                                   const cudaGraphNode_t *from,
                                                                   const cudaGraphNode_t *to,
                                                                   size_t count)
{
    return add_dependencies(graph, from, to, count);
}

EXPORT_13(dependencies_13, cudaGraphAddDependencies);
__attribute__((visibility("default"))) cudaError_t dependencies_13(cudaGraph_t graph,
                                                                   const cudaGraphNode_t *from,
                                                                   const cudaGraphNode_t *to,
                                                                   const void *edges, size_t count)
{
    return edges ? ended(cudaErrorNotSupported) : add_dependencies(graph, from, to, count);
}

/* The nodes, all of them or those that depend on none; without `to` only their number. */
static cudaError_t tell_nodes(cudaGraph_t graph, cudaGraphNode_t *to, size_t *count, bool roots)
{
    size_t found = 0;
    if (!is_graph(graph) || !count)
        return cudaErrorInvalidValue;
    for (u32 i = 0; i < graph->nodes.count; i++) {
        if (roots && graph->nodes.data[i]->after.count)
            continue;
        if (to && found < *count)
            to[found] = graph->nodes.data[i];
        found++;
    }
    *count = to ? MIN(found, *count) : found;
    return cudaSuccess;
}

EXPORT(cudaGraphGetNodes)
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    LOCKED;
    return ended(tell_nodes(graph, nodes, count, false));
}

EXPORT(cudaGraphGetRootNodes)
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    LOCKED;
    return ended(tell_nodes(graph, nodes, count, true));
}

EXPORT(cudaGraphNodeGetType)
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return ended(cudaErrorInvalidValue);
    *type = node->type;
    return ended(cudaSuccess);
}

/* ---- launches ---- */

static bool is_exec(cudaGraphExec_t exec)
{
    return exec && exec->kind == KIND_EXEC;
}

/* CUDA 11 has three more parameters, where a fault would be told; nothing is written there. */
EXPORT(cudaGraphInstantiate)
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    ENTER(device);
    (void)device;
    if (!exec || !is_graph(graph))
        return ended(cudaErrorInvalidValue);
    *exec = checked(calloc(1, sizeof **exec));
    **exec = (struct CUgraphExec_st){KIND_EXEC, graph_copy(graph)};
    return ended(cudaSuccess);
}

EXPORT(cudaGraphInstantiateWithFlags)
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

EXPORT(cudaGraphExecDestroy)
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    LOCKED;
    if (!is_exec(exec))
        return ended(cudaErrorInvalidValue);
    exec->kind = 0;
    graph_free(exec->graph);
    free(exec);
    return ended(cudaSuccess);
}

static cudaError_t run_kernel(struct cuda_device *device, const struct kernel_work *work,
                              struct CUstream_st *stream)
{
    struct hd_kernel *kernel;
    cudaError_t status = function_kernel(device, work->function, &kernel);
    if (status != cudaSuccess)
        return status;
    void **args = checked(calloc(work->count + 1, sizeof *args));
    for (u32 i = 0; i < work->count; i++)
        args[i] = work->bytes + work->offsets[i];
    status = kernel_launch(device, kernel, work->grid, work->block, args, work->shared_bytes,
                           stream, work->cooperative);
    free(args);
    return status;
}

static cudaError_t run_graph(struct cuda_device *device, struct CUgraph_st *graph, u64 start_ps,
                             u64 *end_ps, u32 depth);

/* Runs a node in a stream of its own, which stands for no other's work. */
static cudaError_t run_node(struct cuda_device *device, node_t node, u64 start_ps, u32 depth)
{
    struct CUstream_st own = {.kind = KIND_STREAM,
                              .device = device,
                              .ready_ps = start_ps,
                              .flags = cudaStreamNonBlocking};
    cudaError_t status = cudaSuccess;
    switch (node->type) {
    case cudaGraphNodeTypeKernel:
        status = run_kernel(device, &node->kernel, &own);
        break;
    case cudaGraphNodeTypeMemcpy:
        status = copy_act(device, &node->copy, &own, false);
        break;
    case cudaGraphNodeTypeMemset:
        status = fill_act(device, &node->fill, &own, false);
        break;
    case cudaGraphNodeTypeHost:
        runtime_unlock(); /* R1 */
        node->host.fn(node->host.userData);
        runtime_lock();
        break;
    case cudaGraphNodeTypeGraph:
        status = run_graph(device, node->child, start_ps, &own.ready_ps, depth + 1);
        break;
    case cudaGraphNodeTypeEmpty:
        break;
    }
    node->end_ps = own.ready_ps;
    return status;
}

static cudaError_t run_graph(struct cuda_device *device, struct CUgraph_st *graph, u64 start_ps,
                             u64 *end_ps, u32 depth)
{
    cudaError_t status = depth < NESTED_MOST ? cudaSuccess : cudaErrorInvalidValue;
    for (u32 i = 0; i < graph->nodes.count && status == cudaSuccess; i++) {
        node_t node = graph->nodes.data[i];
        u64 start = start_ps;
        for (u32 k = 0; k < node->after.count; k++) {
            const struct CUgraphNode_st *before = node_of_id(graph, node->after.data[k]);
            start = before ? MAX(start, before->end_ps) : start;
        }
        status = run_node(device, node, start, depth);
        *end_ps = MAX(*end_ps, node->end_ps);
    }
    return status;
}

EXPORT_STREAM(cudaGraphLaunch)
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle)
{
    ENTER(device);
    struct CUstream_st *stream = stream_of(device, handle);
    if (!is_exec(exec) || !stream)
        return ended(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    if (stream->capture) {
        capture_node(stream, cudaGraphNodeTypeGraph)->child = graph_copy(exec->graph);
        return ended(cudaSuccess);
    }
    u64 end = stream_work(stream, ENGINE_NONE, 0);
    const cudaError_t status = run_graph(device, exec->graph, end, &end, 0);
    stream->ready_ps = MAX(stream->ready_ps, end);
    return ended(status);
}

EXPORT_STREAM(cudaGraphUpload)
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER(device);
    return ended(is_exec(exec) && stream_of(device, stream) ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- changes ---- */

EXPORT(cudaGraphExecKernelNodeSetParams)
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *parameters)
{
    LOCKED;
    node_t own = is_exec(exec) && node ? node_of_id(exec->graph, node->id) : NULL;
    if (!own || own->type != cudaGraphNodeTypeKernel)
        return ended(cudaErrorInvalidValue);
    return ended(set_kernel(&own->kernel, parameters));
}

static enum cudaGraphExecUpdateResult compare(const struct CUgraph_st *old,
                                              const struct CUgraph_st *new)
{
    if (old->nodes.count != new->nodes.count)
        return cudaGraphExecUpdateErrorTopologyChanged;
    for (u32 i = 0; i < old->nodes.count; i++) {
        const struct CUgraphNode_st *a = old->nodes.data[i], *b = new->nodes.data[i];
        if (a->after.count != b->after.count)
            return cudaGraphExecUpdateErrorTopologyChanged;
        if (a->type != b->type)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
    }
    return cudaGraphExecUpdateSuccess;
}

static enum cudaGraphExecUpdateResult update(cudaGraphExec_t exec, cudaGraph_t graph)
{
    LOCKED;
    if (!is_exec(exec) || !is_graph(graph))
        return cudaGraphExecUpdateError;
    const enum cudaGraphExecUpdateResult result = compare(exec->graph, graph);
    if (result == cudaGraphExecUpdateSuccess) {
        graph_free(exec->graph);
        exec->graph = graph_copy(graph);
    }
    return result;
}

static cudaError_t updated(enum cudaGraphExecUpdateResult result)
{
    return ended(result == cudaGraphExecUpdateSuccess ? cudaSuccess
                 : result == cudaGraphExecUpdateError ? cudaErrorInvalidValue
                                                      : cudaErrorGraphExecUpdateFailure);
}

EXPORT_12(update_12, cudaGraphExecUpdate);
EXPORT_13(update_12, cudaGraphExecUpdate);
__attribute__((visibility("default"))) cudaError_t
update_12(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
{
    const enum cudaGraphExecUpdateResult result = update(exec, graph);
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){result, NULL, NULL};
    return updated(result);
}

EXPORT_OLD(update_11, cudaGraphExecUpdate);
__attribute__((visibility("default"))) cudaError_t update_11(cudaGraphExec_t exec,
                                                             cudaGraph_t graph,
                                                             cudaGraphNode_t *node,
                                                             enum cudaGraphExecUpdateResult *told)
{
    const enum cudaGraphExecUpdateResult result = update(exec, graph);
    if (node)
        *node = NULL;
    if (told)
        *told = result;
    return updated(result);
}
