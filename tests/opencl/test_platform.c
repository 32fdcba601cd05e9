/* The platform as a loader and a program see it, and that every entry of its table leads somewhere.
 */
#include "cl.h"

#include <CL/cl_icd.h>

static void is_one(void **state)
{
    cl_platform_id platforms[4];
    cl_uint count = 0;
    assert_cl(clGetPlatformIDs(0, NULL, &count));
    assert_int_equal(count, 1);
    count = 0;
    assert_cl(clGetPlatformIDs(4, platforms, &count));
    assert_int_equal(count, 1);
    assert_int_equal(clGetPlatformIDs(0, platforms, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPlatformIDs(0, NULL, NULL), CL_INVALID_VALUE);
}

/* What the driver itself says: a loader may answer in its place. */
static const cl_icd_dispatch *table(cl_platform_id platform)
{
    return *(const cl_icd_dispatch **)platform;
}

static void of_driver(void **state)
{
    const struct world *world = *state;
    const cl_icd_dispatch *driver = table(world->platform);
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    assert_cl(driver->clGetPlatformIDs(1, &platform, &count));
    assert_ptr_equal(platform, world->platform);
    assert_int_equal(count, 1);
    assert_int_equal(driver->clGetPlatformIDs(0, &platform, &count), CL_INVALID_VALUE);
    assert_int_equal(driver->clGetPlatformIDs(1, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(
        driver->clGetPlatformInfo((cl_platform_id)world->device, CL_PLATFORM_NAME, 0, NULL, NULL),
        CL_INVALID_PLATFORM);
}

static void tells(void **state)
{
    const struct world *world = *state;
    const struct {
        cl_platform_info name;
        const char *begins;
    } cases[] = {
        {CL_PLATFORM_PROFILE, ""},          {CL_PLATFORM_VERSION, "OpenCL 1.2 "},
        {CL_PLATFORM_NAME, "Heddle"},       {CL_PLATFORM_VENDOR, "Heddle"},
        {CL_PLATFORM_EXTENSIONS, "cl_khr"}, {CL_PLATFORM_ICD_SUFFIX_KHR, "HEDDLE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        size_t size = 0;
        assert_cl(clGetPlatformInfo(world->platform, cases[i].name, 0, NULL, &size));
        assert_in_range(size, 2, sizeof text);
        assert_cl(clGetPlatformInfo(world->platform, cases[i].name, size, text, NULL));
        assert_int_equal(strlen(text) + 1, size);
        assert_memory_equal(text, cases[i].begins, strlen(cases[i].begins));
        assert_int_equal(clGetPlatformInfo(world->platform, cases[i].name, size - 1, text, NULL),
                         CL_INVALID_VALUE);
    }
    assert_int_equal(clGetPlatformInfo(world->platform, 0, 0, NULL, NULL), CL_INVALID_VALUE);
}

static void every_slot_is_filled(void **state)
{
    const struct world *world = *state;
    void *const *slots = *(void *const **)world->platform;
    assert_int_equal(sizeof(cl_icd_dispatch), 149 * sizeof *slots);
    for (size_t i = 0; i < 149; i++)
        assert_non_null(slots[i]);
    assert_ptr_equal(table((cl_platform_id)world->device), slots);
    assert_ptr_equal(table((cl_platform_id)world->context), slots);
    assert_ptr_equal(table((cl_platform_id)world->queue), slots);
}

static void extension_functions(void **state)
{
    const struct world *world = *state;
    const cl_icd_dispatch *driver = table(world->platform);
    assert_non_null(driver->clGetExtensionFunctionAddress("clIcdGetPlatformIDsKHR"));
    assert_null(driver->clGetExtensionFunctionAddress("clNoSuchFunction"));
    assert_null(driver->clGetExtensionFunctionAddress(NULL));
    assert_non_null(
        clGetExtensionFunctionAddressForPlatform(world->platform, "clIcdGetPlatformIDsKHR"));
    assert_null(driver->clGetExtensionFunctionAddressForPlatform((cl_platform_id)world->device,
                                                                 "clIcdGetPlatformIDsKHR"));
}

typedef cl_int plain_fn(void);

static void what_is_not_there_says_so(void **state)
{
    const struct world *world = *state;
    const cl_icd_dispatch *driver = table(world->platform);
    cl_int status = 0;
    assert_null(clSVMAlloc(world->context, 0, 64, 0));
    clSVMFree(world->context, NULL);
    status = 0;
    assert_null(clCreatePipe(world->context, 0, 4, 4, NULL, &status));
    assert_int_equal(status, CL_INVALID_OPERATION);
    assert_int_equal(((plain_fn *)driver->clGetDeviceIDsFromD3D10KHR)(), CL_INVALID_OPERATION);
    assert_int_equal(driver->clGetGLContextInfoKHR(NULL, 0, 0, NULL, NULL), CL_INVALID_OPERATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_one),
        cmocka_unit_test(of_driver),
        cmocka_unit_test(tells),
        cmocka_unit_test(every_slot_is_filled),
        cmocka_unit_test(extension_functions),
        cmocka_unit_test(what_is_not_there_says_so),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
