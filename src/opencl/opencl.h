/*
 * The OpenCL driver: objects of the API, and the interfaces between its files.
 *
 * The loader (ICD) finds the driver, asks for its platform and calls through the dispatch table
 * that every object begins with. A device is a machine of Heddle; HEDDLE_MACHINE names one or,
 * with commas, several.
 *
 * Commands run in the calling thread. An enqueued command waits in its queue; a thread that adds a
 * command, sets a user event's status, flushes, finishes or waits runs all commands that can run
 * (command_run_ready), in the order they were enqueued. If another thread is running commands
 * already, it runs these, too. So a program with one thread always sees the same order. Event
 * callbacks are called by a thread of their own, the only one that the driver creates (callback.c).
 *
 * Invariants
 *  O1  `lock` protects the state of all objects; an API function takes it once (LOCKED), internal
 *      ones are called with it. It is released only while a command acts on a device (`run`),
 *      while the compiler runs, and while the program's callbacks run.
 *  O2  A device runs one command at a time (device->busy); only that command uses its hd_device.
 *  O3  Code that keeps a pointer to an object while the lock is released holds a reference.
 *  O4  Every enqueued command has an event, and the event is complete or in error before the
 *      command's references are released.
 *  O5  The driver prints only the output of kernels (standard output) and explanations of guest
 *      faults and of wrong environment variables (standard error).
 *  O6  The only mutable file-scope state is the platform, as the interface requires (platform.c).
 */
#ifndef OPENCL_OPENCL_H
#define OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300 /* for the whole dispatch table; the driver offers 1.2 */
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/toolchain.h"
#include "heddle/heddle.h"
#include "host/session.h"
#include "host/times.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- objects ---- */

enum object_kind { /* of a live object; 0 in a freed one */
    KIND_PLATFORM = 0x48440001,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_MEM,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT,
    KIND_SAMPLER
};

struct object {
    const cl_icd_dispatch *dispatch; /* first: the loader reads it */
    u32 kind;                        /* enum object_kind */
    u32 references;
};

/* Whether a handle is an object of the kind; NULL is none. */
static inline bool object_is(const void *handle, enum object_kind kind)
{
    return handle && ((const struct object *)handle)->kind == kind;
}
/* Creates a zeroed object with one reference. */
void *object_create(enum object_kind kind, size_t bytes);
void object_retain(void *object);
/* Releasing the last reference frees the object: the kind's destructor runs with the lock held. */
void object_release(void *object);
/* Destructors free what an object of the kind holds, not the object itself. */
void destroy_context(void *object);
void destroy_queue(void *object);
void destroy_mem(void *object);
void destroy_program(void *object);
void destroy_kernel(void *object);
void destroy_event(void *object);

extern const cl_icd_dispatch driver_dispatch; /* dispatch.c */
/* The few functions that the loader looks up by name. */
#define EXPORTED __attribute__((visibility("default")))

/* The driver's lock (O1). */
void driver_lock(void);
void driver_unlock(void);
static inline void locked_end(int *unused)
{
    (void)unused;
    driver_unlock();
}
/* Holds the lock until the end of the enclosing block. */
#define LOCKED                                                \
    __attribute__((cleanup(locked_end))) int locked_here = 0; \
    (void)locked_here;                                        \
    driver_lock()
/* Waits until driver_changed() is called. */
void driver_wait(void);
bool driver_wait_until(const struct timespec *time); /* of CLOCK_REALTIME; false: timed out */
void driver_changed(void);

/* Return values of functions that return an object and store a status. */
static inline void *failed(cl_int *status, cl_int code)
{
    if (status)
        *status = code;
    return NULL;
}
static inline void *made(cl_int *status, void *object)
{
    if (status)
        *status = CL_SUCCESS;
    return object;
}

/* The answer to one clGet...Info query, by the rules common to all. */
struct query {
    size_t size; /* size of `value` */
    void *value;
    size_t *size_ret;
};
cl_int query_bytes(const struct query *query, const void *data, size_t bytes);
cl_int query_text(const struct query *query, const char *text);
#define QUERY_VALUE(query, type, ...) query_bytes(query, &(type){__VA_ARGS__}, sizeof(type))

/* ---- platform and devices: platform.c, device.c ---- */

struct callback_call; /* callback.c */
struct callbacks {
    struct callback_call *first, *last; /* to be called, in this order */
    u64 posted, done;
    pthread_t thread;
    bool running; /* the thread exists */
    bool late;    /* a wait has timed out: no waits until the thread has caught up (B3) */
};

struct _cl_platform_id {
    struct object object;
    cl_device_id *devices;
    u32 device_count;
    struct session *session;
    u64 launches; /* started so far, on all devices */
    u64 commands; /* enqueued so far, in all queues */
    struct callbacks callbacks;
};
/* The only platform. Its devices are created at the first call, from the environment. With or
 * without the lock. */
cl_platform_id platform_get(void);

/* What stands for an image on a device. */
struct image_view {
    struct hd_image *image; /* NULL: nothing */
    u64 handle;
    hd_address address; /* of the content */
};

struct _cl_device_id {
    struct object object;
    struct hd_config *config;
    struct hd_machine_info info;
    enum code_target target;  /* what its kernels are compiled to */
    struct hd_device *device; /* opened with the first context; NULL before */
    u64 now_ps;               /* simulated time of all commands so far */
    bool busy;                /* O2 */
    bool parked;          /* its command waits for another device and does not use this one (B2) */
    VEC(hd_address) dead; /* memory of buffers freed while it was busy (B3 of buffer.c) */
    VEC(struct image_view) dead_views; /* the same of images */
    struct session_device records;     /* once it is open */
    cl_command_queue queues;           /* all queues of the device, without references */
    hd_address print_buffer;           /* print.c; 0: none yet */
};
/* Takes ownership of the configuration; NULL: the error was reported on standard error. */
cl_device_id device_create(struct hd_config *config);
bool device_open(cl_device_id device); /* false: the error was reported on standard error */
/* The first `*count` devices match a type; else CL_INVALID_DEVICE_TYPE or CL_DEVICE_NOT_FOUND. */
cl_int device_match(cl_device_type type, u32 *count);
/* Whether the device has less local memory than the full profile requires. */
bool device_is_embedded(const struct _cl_device_id *device);
/* Simulated time in ns. */
static inline u64 device_now(const struct _cl_device_id *device)
{
    return device->now_ps / 1000;
}
/* Memory available to programs, in total and in one buffer. The rest is for code, printf output and
 * launches. */
u64 device_memory(const struct _cl_device_id *device);
u64 device_allocation(const struct _cl_device_id *device);
enum {
    PRINT_BYTES = 1 << 20,
    MEM_ALIGN = 128, /* bytes: size of the largest OpenCL type, long16 */
};

/* ---- contexts and queues: context.c, queue.c ---- */

struct _cl_context {
    struct object object;
    cl_device_id *devices;
    u32 device_count;
    cl_context_properties *properties; /* as given, with the final 0, or NULL */
    u32 property_count;
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *user;
};
bool context_has_device(cl_context context, cl_device_id device);
/* Reports an error to the program's callback, if there is one. Called without the lock, from a
 * command's `run`. */
void context_notify(cl_context context, const char *text);

struct _cl_command_queue {
    struct object object;
    cl_command_queue next; /* next queue of its device */
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    struct queue_command *first, *last; /* enqueued and not ended, in order */
    cl_int failure; /* error of the first command that broke the queue (command.c), or CL_SUCCESS */
    /* numbers of commands, UINT64_MAX for none: the earliest that failed, and the earliest that all
     * later ones depend on */
    u64 failed, broken_from;
};

/* ---- events and commands: event.c, command.c ---- */

struct event_callback {
    struct event_callback *next;
    cl_int status;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *user;
};

struct _cl_event {
    struct object object;
    cl_context context;
    cl_command_queue queue; /* NULL: a user event */
    cl_command_type type;
    cl_int status; /* CL_QUEUED .. CL_COMPLETE, or a negative error */
    bool fault;    /* the error is that of a command, not set by the program on a user event */
    u64 times[4];  /* simulated ns: queued, submitted, started, ended */
    struct event_callback *callbacks;
};
/* Changes the status and calls the callbacks that are due, for which the lock is released. */
void event_set(cl_event event, cl_int status);
/* Creates a command's event: CL_QUEUED, at the device's time. */
cl_event event_of_command(cl_command_queue queue, cl_command_type type);
/* Runs commands and waits until the event has ended. */
void event_wait(cl_event event);

/* Posts a callback with a status; takes ownership of the callback. */
void callback_post(cl_event event, cl_int status, struct event_callback *callback);
/* Waits, for a limited time, until the callbacks posted so far have returned: see callback.c. */
void callback_settle(void);

/*
 * An enqueued command. Each kind of command embeds it as its first member, fills `run` and
 * `destroy` and passes it to command_enqueue, which then owns it.
 */
struct queue_command {
    struct queue_command *next; /* next command of its queue */
    cl_command_queue queue;
    cl_event event;
    cl_event *waits; /* references */
    u32 wait_count;
    u64 number;     /* order of enqueueing, over all queues */
    bool blocking;  /* the enqueueing call returns its error */
    bool after_all; /* runs after all earlier commands of its queue have ended */
    bool barrier;   /* later commands of its queue run after it has ended, also out of order */
    /* Acts, without the lock, on the queue's device, which only this command uses; adds its
     * duration to `ps`. Returns CL_SUCCESS or the event's error. NULL: nothing to do (markers). */
    cl_int (*run)(struct queue_command *command, u64 *ps);
    void (*destroy)(struct queue_command *command); /* releases references and frees; with the lock.
                                                     * NULL: just free */
};
/* Checks the queue and the wait list of an enqueue function. With the lock. */
cl_int command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits);
/*
 * Adds a command to its queue and runs all commands that can run. `blocking`: returns when it has
 * ended, with its error if it failed, which is CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one
 * it waited for did. `event`: the program gets a reference, unless NULL. This call owns the command
 * whatever it returns. With the lock, which is released in between.
 */
cl_int command_enqueue(struct queue_command *command, cl_command_queue queue, cl_command_type type,
                       cl_uint wait_count, const cl_event *waits, bool blocking, cl_event *event);
/* Runs the first command that can run; false: none can. */
bool command_run_one(void);
/* Runs every command that can run, on any device, in order. */
void command_run_ready(void);
/* Changes queued commands of the queue to submitted. */
void queue_submit(cl_command_queue queue);
/* Runs commands and waits until all earlier commands of the queue have ended. */
void queue_finish(cl_command_queue queue);

/* ---- memory: buffer.c, transfer.c, map.c ---- */

struct mapping {
    struct mapping *next; /* next mapping of its buffer */
    u8 *host;             /* the program's pointer */
    u8 *own;              /* memory to free; NULL: the program's memory */
    size_t offset, bytes;
    cl_map_flags flags;
    u32 count; /* references: the buffer's list and commands */
};
void mapping_release(struct mapping *mapping);

struct mem_callback {
    struct mem_callback *next;
    void(CL_CALLBACK *call)(cl_mem, void *);
    void *user;
};

struct _cl_mem {
    struct object object;
    cl_context context;
    cl_mem_flags flags;
    size_t size;
    void *host_ptr; /* CL_MEM_USE_HOST_PTR */
    cl_mem parent;  /* of a sub-buffer, which holds a reference; else NULL */
    size_t origin;  /* byte offset in the parent */
    /* fields below are unused in a sub-buffer, whose parent has them */
    cl_device_id home;     /* device that has the content; NULL: in `staged` */
    u8 *staged;            /* content before a device has it; NULL: undefined */
    hd_address *addresses; /* by device of the context, stale except at `home`; 0: not allocated */
    struct mapping *maps;
    u32 map_count;
    struct mem_callback *callbacks; /* latest first */
    struct kernel_arg *named; /* kernel arguments that name it; a sub-buffer has its own list */
    struct mem_image *image;  /* NULL: a buffer */
};
/* The buffer's address on a device; moves its content there if necessary and adds the time to `ps`;
 * 0: no memory. Called from a command's `run`. */
hd_address mem_on(cl_mem mem, cl_device_id device, u64 *ps);
/* Checks a buffer named by a command, an image, or either. */
cl_int mem_check(cl_command_queue queue, cl_mem mem);
cl_int image_check(cl_command_queue queue, cl_mem mem);
cl_int mem_check_any(cl_command_queue queue, cl_mem mem);
/* Whether flags of a new buffer or image are valid together. */
bool mem_flags_valid(cl_mem_flags flags);
/* Creates a buffer, or the memory of an image, with valid flags. NULL: *status says why. */
cl_mem mem_create(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                  cl_int *status);
/* Frees what stood for an image on a device, now or when the device is no longer busy (B3). */
void image_give_back(cl_device_id device, struct image_view view);
/* Maps a range: buffer.c's clEnqueueMapBuffer and image.c's clEnqueueMapImage. */
void *map_range(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                size_t offset, size_t bytes, cl_command_type type, cl_uint wait_count,
                const cl_event *waits, cl_event *event, cl_int *status);
/* Whether the host may read or write it (CL_MAP_READ, CL_MAP_WRITE). */
bool mem_host_may(cl_mem mem, cl_map_flags flags);

/* ---- images and samplers: image.c ---- */

enum { /* largest sizes in texels, as CUDA devices have them */
    IMAGE_SIDE = 16384,
    IMAGE_SIDE_3D = 2048,
    IMAGE_LAYERS = 2048,
    IMAGE_BUFFER = 1 << 27 /* of an image of a buffer */
};

/* An image is a buffer of texels in rows; on each device a texture stands for it. */
struct mem_image {
    cl_image_format format;
    cl_image_desc desc; /* with the dimensions and pitches that hold; 0: there is none */
    size_t element;     /* bytes of a texel */
    size_t row, plane;  /* bytes from row to row; from plane, or layer of 2D images, to the next */
    struct hd_image_shape shape;
    struct image_view *views; /* by device of the context */
};
bool context_has_images(cl_context context);
static inline bool device_has_images(const struct _cl_device_id *device)
{
    return device->target != CODE_SI;
}
/* The handle of an image whose content is at an address of a device; 0: none. */
u64 image_handle(cl_mem mem, cl_device_id device, hd_address address);
/* With the memory of an image, before it is freed. */
void mem_image_destroy(cl_mem mem);
cl_mem_object_type mem_type(const struct _cl_mem *mem);
/* Whether an argument declared as `type` ("image2d_t") takes this image. */
bool image_fits(const struct _cl_mem *mem, const char *type);

struct _cl_sampler {
    struct object object;
    cl_context context;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};
u32 sampler_word(const struct _cl_sampler *sampler);
void destroy_sampler(void *object);

/* ---- programs: program.c, build.c, binary.c, compiler.c, cache.c, llinfo.c ---- */

struct kernel_arg_info {
    const char *name, *type; /* "" when not known */
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier qualifiers;
};

struct kernel_info {
    const char *name;
    const char *attributes; /* as clGetKernelInfo returns them */
    u32 arg_count;
    struct kernel_arg_info *args;
    bool has_arg_info;  /* names and types are known */
    size_t required[3]; /* reqd_work_group_size; 0: none */
};

/* The result of a build for one device. */
struct build {
    cl_build_status status;
    cl_program_binary_type type;
    char *options, *log; /* never NULL */
    u8 *binary;          /* binary.h; NULL: none */
    size_t binary_bytes;
    struct arena *arena; /* owns `kernels` */
    struct kernel_info *kernels;
    u32 kernel_count;
    struct hd_module *module; /* loaded when the first kernel is created; NULL before */
};

struct _cl_program {
    struct object object;
    cl_context context;
    char *source;     /* NULL: from binaries or linked */
    bool from_binary; /* created by clCreateProgramWithBinary */
    cl_device_id *devices;
    u32 device_count;
    struct build *builds; /* by device */
    u32 kernel_objects;   /* live kernels: while there are any, it cannot be built again */
};
struct build *program_build(cl_program program, cl_device_id device); /* NULL: not its device */
/* The code on its device; NULL and an error: it cannot be loaded. The device must not be busy. */
struct hd_module *build_module(struct build *build, cl_device_id device, struct hd_error *error);

/* ---- kernels: kernel.c, ndrange.c ---- */

enum arg_kind {
    ARG_VALUE,
    ARG_BUFFER,
    ARG_LOCAL,
    ARG_IMAGE,
    ARG_SAMPLER /* its value is the sampler's word */
};

struct kernel_arg {
    enum arg_kind kind;
    bool set;
    u32 size;   /* bytes of the value, or of local memory */
    u8 *value;  /* for values: size bytes */
    cl_mem mem; /* for buffers, or NULL. Not a reference, which a program could not release */
    struct kernel_arg *next; /* next argument that names the same buffer */
};
/* Sets the buffer that an argument names; NULL: none. */
void kernel_arg_name(struct kernel_arg *arg, cl_mem mem);

/* A kernel on one device of its program. */
struct kernel_code {
    struct hd_kernel *kernel; /* NULL: not built there */
    struct hd_kernel_info info;
    u32 max_block; /* work-items allowed by the device, the compiler and the registers */
};

struct _cl_kernel {
    struct object object;
    cl_program program;
    const struct kernel_info *info; /* owned by the program's first build that has it */
    struct kernel_code *codes;      /* by device of the program */
    struct kernel_arg *args;        /* info->arg_count */
};
/* The kernel's code on a device; NULL: none. */
const struct kernel_code *kernel_code(cl_kernel kernel, cl_device_id device);
/* Shared memory of a block, including local arguments; `offsets`, unless NULL, gets each argument's
 * offset. */
u64 kernel_shared(cl_kernel kernel, const struct kernel_code *code, u64 *offsets);

/* ---- printf: print.c ---- */

/* The emptied printf buffer, allocated at the first call; 0: no memory. */
hd_address print_prepare(cl_device_id device);
/* Writes the printf output of the last launch to standard output. */
void print_drain(cl_device_id device);

#endif
