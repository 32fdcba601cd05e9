/* Contexts and queues: how they are made, what they tell, and how they go. */
#include "cl.h"

static void CL_CALLBACK notified(const char *text, const void *data, size_t bytes, void *user)
{
}

static void expect_no_context(cl_int expected, const cl_context_properties *properties,
                              cl_uint count, const cl_device_id *devices, bool notify, void *user)
{
    cl_int status = 1;
    assert_null(
        clCreateContext(properties, count, devices, notify ? notified : NULL, user, &status));
    assert_int_equal(status, expected);
}

static void refuses(void **state)
{
    const struct world *world = *state;
    const cl_device_id *good = &world->device;
    const cl_device_id bad[] = {world->device, (cl_device_id)world->queue};
    const cl_context_properties platform = (cl_context_properties)world->platform;
    const cl_context_properties unknown[] = {0x7777, 1, 0};
    const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM,
                                           platform, 0};
    const cl_context_properties sync[] = {CL_CONTEXT_PLATFORM, platform,
                                          CL_CONTEXT_INTEROP_USER_SYNC, 7, 0};
    const cl_context_properties wrong[] = {CL_CONTEXT_PLATFORM,
                                           (cl_context_properties)world->device, 0};
    const cl_context_properties none[] = {CL_CONTEXT_PLATFORM, 0, 0};
    int user;
    expect_no_context(CL_INVALID_VALUE, NULL, 0, good, false, NULL);
    expect_no_context(CL_INVALID_VALUE, NULL, 1, NULL, false, NULL);
    expect_no_context(CL_INVALID_VALUE, NULL, 1, good, false, &user);
    expect_no_context(CL_INVALID_DEVICE, NULL, 2, bad, false, NULL);
    expect_no_context(CL_INVALID_PROPERTY, unknown, 1, good, false, NULL);
    expect_no_context(CL_INVALID_PROPERTY, twice, 1, good, false, NULL);
    expect_no_context(CL_INVALID_PROPERTY, sync, 1, good, false, NULL);
    expect_no_context(CL_INVALID_PLATFORM, wrong, 1, good, false, NULL);
    expect_no_context(CL_INVALID_PLATFORM, none, 1, good, false, NULL);

    cl_int status = 1;
    const cl_context_properties right[] = {CL_CONTEXT_PLATFORM, platform, 0};
    assert_null(clCreateContextFromType(right, CL_DEVICE_TYPE_CPU, NULL, NULL, &status));
    assert_int_equal(status, CL_DEVICE_NOT_FOUND);
    assert_null(clCreateContextFromType(right, 0, NULL, NULL, &status));
    assert_int_equal(status, CL_INVALID_DEVICE_TYPE);
    assert_null(clCreateContextFromType(right, CL_DEVICE_TYPE_ALL, NULL, &user, &status));
    assert_int_equal(status, CL_INVALID_VALUE);
}

static void tells(void **state)
{
    const struct world *world = *state;
    const cl_context_properties list[] = {CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE,
                                          CL_CONTEXT_PLATFORM,
                                          (cl_context_properties)world->platform, 0};
    const cl_device_id twice[] = {world->device, world->device};
    cl_int status, user;
    cl_context context = clCreateContext(list, 2, twice, notified, &user, &status);
    assert_cl(status);
    cl_uint count = 0;
    cl_device_id devices[3] = {0};
    cl_context_properties properties[6];
    size_t size = 0;
    assert_cl(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, &size));
    assert_int_equal(count, 1);
    assert_int_equal(size, sizeof count);
    assert_cl(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &size));
    assert_int_equal(size, sizeof *devices);
    assert_ptr_equal(devices[0], world->device);
    assert_cl(
        clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof properties, properties, &size));
    assert_int_equal(size, sizeof list);
    assert_memory_equal(properties, list, sizeof list);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_DEVICES, 1, devices, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetContextInfo(context, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetContextInfo(NULL, CL_CONTEXT_DEVICES, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_cl(clGetContextInfo(world->context, CL_CONTEXT_PROPERTIES, 0, NULL, &size));
    assert_int_equal(size, 0);
    assert_cl(clReleaseContext(context));

    context = clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, NULL);
    assert_non_null(context);
    assert_cl(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
    assert_int_equal(count, world->device_count);
    assert_cl(clReleaseContext(context));
}

static cl_uint context_references(cl_context context)
{
    cl_uint count = 0;
    assert_cl(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
    return count;
}

static void lives_as_long_as_it_is_used(void **state)
{
    const struct world *world = *state;
    cl_context context = clCreateContext(NULL, 1, &world->device, NULL, NULL, NULL);
    assert_int_equal(context_references(context), 1);
    assert_cl(clRetainContext(context));
    assert_int_equal(context_references(context), 2);
    assert_cl(clReleaseContext(context));
    cl_command_queue queue = clCreateCommandQueue(context, world->device, 0, NULL);
    assert_cl(clReleaseContext(context));
    cl_context of_queue = NULL;
    assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof of_queue, &of_queue, NULL));
    assert_ptr_equal(of_queue, context);
    assert_int_equal(context_references(context), 1);
    assert_cl(clFinish(queue));
    assert_cl(clReleaseCommandQueue(queue));
    assert_int_equal(clRetainContext((cl_context)world->device), CL_INVALID_CONTEXT);
    assert_int_equal(clReleaseContext((cl_context)world->queue), CL_INVALID_CONTEXT);
    assert_int_equal(clReleaseContext(NULL), CL_INVALID_CONTEXT);
}

static void queues_tell(void **state)
{
    const struct world *world = *state;
    const cl_command_queue_properties bits[] = {
        0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    for (size_t i = 0; i < 4; i++) {
        cl_command_queue queue = world_queue(world, 0, bits[i]);
        cl_command_queue_properties properties = 99;
        cl_device_id device = NULL;
        cl_uint references = 0;
        size_t size = 0;
        assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                        &size));
        assert_int_equal(properties, bits[i]);
        assert_int_equal(size, sizeof properties);
        assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
        assert_ptr_equal(device, world->device);
        assert_cl(clRetainCommandQueue(queue));
        assert_cl(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references,
                                        &references, NULL));
        assert_int_equal(references, 2);
        assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, 1, &device, NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, 0, NULL, NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clSetCommandQueueProperty(queue, bits[i], CL_TRUE, NULL),
                         CL_INVALID_OPERATION);
        assert_int_equal(clSetCommandQueueProperty(queue, 1 << 20, CL_TRUE, NULL),
                         CL_INVALID_VALUE);
        assert_cl(clReleaseCommandQueue(queue));
        assert_cl(clReleaseCommandQueue(queue));
    }
}

static void expect_no_queue(cl_int expected, cl_context context, cl_device_id device,
                            cl_command_queue_properties properties)
{
    cl_int status = 1;
    assert_null(clCreateCommandQueue(context, device, properties, &status));
    assert_int_equal(status, expected);
}

static void queues_refuse(void **state)
{
    const struct world *world = *state;
    expect_no_queue(CL_INVALID_CONTEXT, NULL, world->device, 0);
    expect_no_queue(CL_INVALID_CONTEXT, (cl_context)world->device, world->device, 0);
    expect_no_queue(CL_INVALID_DEVICE, world->context, NULL, 0);
    expect_no_queue(CL_INVALID_DEVICE, world->context, (cl_device_id)world->context, 0);
    expect_no_queue(CL_INVALID_VALUE, world->context, world->device, 1 << 20);
    if (world->device_count > 1) {
        cl_context context = clCreateContext(NULL, 1, world->devices, NULL, NULL, NULL);
        expect_no_queue(CL_INVALID_DEVICE, context, world->devices[1], 0);
        assert_cl(clReleaseContext(context));
    }
    cl_command_queue wrong = (cl_command_queue)world->context;
    assert_int_equal(clFlush(wrong), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFinish(wrong), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clRetainCommandQueue(wrong), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clReleaseCommandQueue(wrong), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clGetCommandQueueInfo(wrong, CL_QUEUE_DEVICE, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
}

static void queues_by_property_list(void **state)
{
    const struct world *world = *state;
    const cl_queue_properties good[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    const cl_queue_properties sized[] = {CL_QUEUE_SIZE, 4096, 0};
    const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_int status = 1;
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(world->context, world->device, good, &status);
    assert_cl(status);
    cl_command_queue_properties properties = 0;
    assert_cl(
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    assert_int_equal(properties, CL_QUEUE_PROFILING_ENABLE);
    assert_cl(clReleaseCommandQueue(queue));
    queue = clCreateCommandQueueWithProperties(world->context, world->device, NULL, NULL);
    assert_non_null(queue);
    assert_cl(clReleaseCommandQueue(queue));
    assert_null(clCreateCommandQueueWithProperties(world->context, world->device, sized, &status));
    assert_int_equal(status, CL_INVALID_QUEUE_PROPERTIES);
    assert_null(
        clCreateCommandQueueWithProperties(world->context, world->device, on_device, &status));
    assert_int_equal(status, CL_INVALID_QUEUE_PROPERTIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(tells),
        cmocka_unit_test(lives_as_long_as_it_is_used),
        cmocka_unit_test(queues_tell),
        cmocka_unit_test(queues_refuse),
        cmocka_unit_test(queues_by_property_list),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
