/*
 * In which order commands run: random graphs of commands over several queues and devices, in order
 * and out of order, with barriers, held back by a user event and let go at once. What must come
 * before what is worked out here from the rules, and compared with when each command began and
 * ended.
 */
#include "cl.h"

enum {
    COMMANDS = 120,
    QUEUES = 4,
    WAITS = 4
};

struct node {
    cl_event event;
    int queue;
    bool barrier, after_all; /* a marker or barrier without a list */
    int waits[WAITS], wait_count;
    int began, ended; /* turns */
};

struct graph {
    struct node nodes[COMMANDS];
    cl_command_queue queues[QUEUES];
    bool in_order[QUEUES];
    cl_mem buffers[2];
    int turn;
};

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)*seed * limit) >> 32);
}

static struct graph *told; /* callbacks are called one at a time */

static void CL_CALLBACK runs(cl_event event, cl_int status, void *user)
{
    ((struct node *)user)->began = ++told->turn;
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *user)
{
    ((struct node *)user)->ended = ++told->turn;
}

static void enqueue(struct graph *graph, int index, uint32_t *seed, cl_event gate)
{
    struct node *node = &graph->nodes[index];
    cl_event list[WAITS + 1];
    cl_uint count = 0;
    for (int i = 0; i < node->wait_count; i++)
        list[count++] = graph->nodes[node->waits[i]].event;
    if (!count && !node->after_all)
        list[count++] = gate;
    const cl_event *waits = count ? list : NULL;
    cl_command_queue queue = graph->queues[node->queue];
    if (node->barrier)
        assert_cl(clEnqueueBarrierWithWaitList(queue, count, waits, &node->event));
    else if (node->after_all || random_below(seed, 3) == 0)
        assert_cl(clEnqueueMarkerWithWaitList(queue, count, waits, &node->event));
    else
        assert_cl(clEnqueueCopyBuffer(queue, graph->buffers[0], graph->buffers[1], 0, 0, 64, count,
                                      waits, &node->event));
    assert_cl(clSetEventCallback(node->event, CL_RUNNING, runs, node));
    assert_cl(clSetEventCallback(node->event, CL_COMPLETE, ended, node));
}

static void choose(struct graph *graph, int index, uint32_t *seed)
{
    struct node *node = &graph->nodes[index];
    node->queue = (int)random_below(seed, QUEUES);
    node->barrier = random_below(seed, 10) == 0;
    node->after_all = random_below(seed, node->barrier ? 2 : 12) == 0;
    node->wait_count = node->after_all || !index ? 0 : (int)random_below(seed, WAITS + 1);
    for (int i = 0; i < node->wait_count; i++)
        node->waits[i] = (int)random_below(seed, (uint32_t)index);
}

static bool before(const struct graph *graph, int a, int b)
{
    if (!(graph->nodes[a].ended && graph->nodes[b].began))
        return false;
    if (graph->nodes[a].ended >= graph->nodes[b].began)
        return false;
    return event_time(graph->nodes[a].event, CL_PROFILING_COMMAND_END) <=
           event_time(graph->nodes[b].event, CL_PROFILING_COMMAND_START);
}

static void check(const struct graph *graph)
{
    for (int b = 0; b < COMMANDS; b++) {
        const struct node *node = &graph->nodes[b];
        assert_int_equal(event_status(node->event), CL_COMPLETE);
        for (int i = 0; i < node->wait_count; i++)
            assert_true(before(graph, node->waits[i], b));
        for (int a = 0; a < b; a++)
            if (graph->nodes[a].queue == node->queue &&
                (graph->in_order[node->queue] || graph->nodes[a].barrier || node->after_all))
                assert_true(before(graph, a, b));
    }
}

static void try_graph(const struct world *world, uint32_t seed)
{
    struct graph *graph = told = calloc(1, sizeof *graph);
    cl_event gate = user_event(world);
    for (int i = 0; i < 2; i++)
        graph->buffers[i] = new_buffer(world, 64);
    for (int i = 0; i < QUEUES; i++) {
        graph->in_order[i] = i == 1;
        graph->queues[i] = world_queue(world, (cl_uint)i % world->device_count,
                                       CL_QUEUE_PROFILING_ENABLE |
                                           (i == 1 ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    }
    for (int i = 0; i < COMMANDS; i++) {
        choose(graph, i, &seed);
        enqueue(graph, i, &seed, gate);
    }
    assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    for (int i = 0; i < QUEUES; i++)
        assert_cl(clFinish(graph->queues[i]));
    check(graph);
    for (int i = 0; i < COMMANDS; i++)
        assert_cl(clReleaseEvent(graph->nodes[i].event));
    for (int i = 0; i < QUEUES; i++)
        assert_cl(clReleaseCommandQueue(graph->queues[i]));
    for (int i = 0; i < 2; i++)
        assert_cl(clReleaseMemObject(graph->buffers[i]));
    assert_cl(clReleaseEvent(gate));
    free(graph);
}

static void graphs(void **state)
{
    for (uint32_t seed = 1; seed <= 12; seed++)
        try_graph(*state, seed);
}

/* Out of order, commands that can run pass those that are held back. */
static void passes_by(void **state)
{
    const struct world *world = *state;
    cl_command_queue queue = world_queue(world, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event gate = user_event(world), held, free_one, barrier, behind, all;
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &gate, &held));
    cl_event done = user_event(world);
    assert_cl(clSetUserEventStatus(done, CL_COMPLETE));
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &done, &free_one));
    assert_int_equal(event_status(held), CL_QUEUED);
    assert_int_equal(event_status(free_one), CL_COMPLETE);
    /* A marker without a list waits for all earlier commands, and holds back no later one. */
    assert_cl(clEnqueueMarker(queue, &all));
    assert_int_equal(event_status(all), CL_QUEUED);
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &done, &behind));
    assert_int_equal(event_status(behind), CL_COMPLETE);
    assert_cl(clReleaseEvent(behind));
    /* A barrier does keep them. */
    assert_cl(clEnqueueBarrierWithWaitList(queue, 0, NULL, &barrier));
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &done, &behind));
    assert_int_equal(event_status(barrier), CL_QUEUED);
    assert_int_equal(event_status(behind), CL_QUEUED);
    assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    cl_event events[] = {gate, done, held, free_one, all, barrier, behind};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(event_status(events[i]), CL_COMPLETE);
        assert_cl(clReleaseEvent(events[i]));
    }
    assert_cl(clReleaseCommandQueue(queue));
}

/* The functions of OpenCL 1.1. */
static void old_barriers(void **state)
{
    const struct world *world = *state;
    cl_command_queue queue = world_queue(world, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event gate = user_event(world), done = user_event(world), behind[2];
    assert_cl(clSetUserEventStatus(done, CL_COMPLETE));
    assert_cl(clEnqueueWaitForEvents(queue, 1, &gate));
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &done, &behind[0]));
    assert_cl(clEnqueueBarrier(queue));
    assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &done, &behind[1]));
    assert_int_equal(event_status(behind[0]), CL_QUEUED);
    assert_int_equal(event_status(behind[1]), CL_QUEUED);
    assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(event_status(behind[i]), CL_COMPLETE);
        assert_cl(clReleaseEvent(behind[i]));
    }
    assert_cl(clReleaseEvent(gate));
    assert_cl(clReleaseEvent(done));
    assert_cl(clReleaseCommandQueue(queue));
}

/* Commands outlive the program's handles. */
static void released_early(void **state)
{
    const struct world *world = *state;
    cl_command_queue queue = world_queue(world, 0, 0);
    cl_event gate = user_event(world), last = NULL;
    for (int i = 0; i < 10; i++)
        assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &gate, i < 9 ? NULL : &last));
    assert_cl(clReleaseCommandQueue(queue));
    assert_int_equal(event_status(last), CL_SUBMITTED); /* releasing a queue flushes it */
    assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    assert_cl(clReleaseEvent(gate));
    assert_int_equal(event_status(last), CL_COMPLETE);
    assert_cl(clReleaseEvent(last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs),
        cmocka_unit_test(passes_by),
        cmocka_unit_test(old_barriers),
        cmocka_unit_test(released_early),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
