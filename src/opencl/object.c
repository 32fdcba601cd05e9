/*
 * Common parts of all API objects: references, and the rules of queries.
 */
#include "opencl/opencl.h"

#include <string.h>

void *object_create(enum object_kind kind, size_t bytes)
{
    struct object *object = checked(calloc(1, bytes));
    object->dispatch = &driver_dispatch;
    object->kind = kind;
    object->references = 1;
    return object;
}

void object_retain(void *object)
{
    ((struct object *)object)->references++;
}

static void destroy(struct object *object)
{
    switch (object->kind) {
    case KIND_CONTEXT:
        destroy_context(object);
        break;
    case KIND_QUEUE:
        destroy_queue(object);
        break;
    case KIND_MEM:
        destroy_mem(object);
        break;
    case KIND_PROGRAM:
        destroy_program(object);
        break;
    case KIND_KERNEL:
        destroy_kernel(object);
        break;
    case KIND_EVENT:
        destroy_event(object);
        break;
    case KIND_SAMPLER:
        destroy_sampler(object);
        break;
    default:
        break; /* platforms and devices live as long as the process */
    }
}

void object_release(void *handle)
{
    struct object *object = handle;
    if (--object->references > 0)
        return;
    destroy(object);
    object->kind = 0;
    free(object);
}

cl_int query_bytes(const struct query *query, const void *data, size_t bytes)
{
    if (query->value) {
        if (query->size < bytes)
            return CL_INVALID_VALUE;
        if (bytes)
            memcpy(query->value, data, bytes);
    }
    if (query->size_ret)
        *query->size_ret = bytes;
    return CL_SUCCESS;
}

cl_int query_text(const struct query *query, const char *text)
{
    return query_bytes(query, text, strlen(text) + 1);
}
