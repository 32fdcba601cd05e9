/* How failures are told: what was called, and OpenCL's name for what it returned. */
#include "common/workload.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *cl_error_name(cl_int status)
{
    static const struct {
        cl_int status;
        const char *name;
    } names[] = {
#define ERROR(name) {name, #name},
#include "common/errors.def"
#undef ERROR
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}, /* the loader's: of an extension, not of cl.h */
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return "an error without a name";
}

void fail(const struct workload *w, const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fprintf(stderr, "%s: ", w->program->name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(3);
}

void cl_check(const struct workload *w, cl_int status, const char *call)
{
    if (status != CL_SUCCESS)
        fail(w, "%s failed: %s (%d)", call, cl_error_name(status), status);
}

void *zeroed(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu objects of %zu bytes\n", count, bytes);
        exit(3);
    }
    return memory;
}
