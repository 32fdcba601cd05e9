/*
 * The OpenCL driver: objects of the API, and what its files give each other.
 *
 * The loader (ICD) finds the driver, asks for its platform and calls through the dispatch table
 * that every object begins with. A device is a machine of Heddle; HEDDLE_MACHINE names one or,
 * with commas, several.
 *
 * Commands run in the thread that calls. An enqueued command waits in its queue; whoever adds a
 * command, sets a user event's status, flushes, finishes or waits runs all commands that can run
 * (command_run_ready), in the order they were enqueued. When another thread is running commands
 * already, it runs these too. So a program with one thread always sees the same order. Callbacks of
 * events are called by a thread of their own, the only one made here (callback.c).
 *
 * Invariants
 *  O1  `lock` protects all that objects hold; an API function takes it once (LOCKED), internal
 *      ones are called with it. It is given up only while a command acts on a device (`run`),
 *      while the compiler runs, and while the program's callbacks run.
 *  O2  A device runs one command at a time (device->busy); nobody else touches its hd_device then.
 *  O3  Whoever holds a pointer to an object across O1's gaps holds a reference.
 *  O4  Every enqueued command has an event, and the event is complete or in error before the
 *      command's references go.
 *  O5  Nothing prints but: what kernels print (standard output), explanations of guest faults,
 *      and of what the environment asks wrongly (standard error).
 *  O6  No mutable file-scope state but the platform, which the interface demands (platform.c).
 */
#ifndef OPENCL_OPENCL_H
#define OPENCL_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300 /* for the whole dispatch table; what we offer is 1.2 */
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

#include "base/arena.h"
#include "base/error.h"
#include "heddle/heddle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- objects ---- */

enum object_kind { /* the value of a live object; a freed one has 0 */
    KIND_PLATFORM = 0x48440001,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_MEM,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT
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
/* Zeroed, with one reference. */
void *object_create(enum object_kind kind, size_t bytes);
void object_retain(void *object);
/* The last one frees it: the kind's own destructor runs with the lock held. */
void object_release(void *object);
/* They free what an object of the kind holds, not the object itself. */
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
/* Holds the lock until the block it stands in is left. */
#define LOCKED                                                \
    __attribute__((cleanup(locked_end))) int locked_here = 0; \
    (void)locked_here;                                        \
    driver_lock()
/* Waits until something has changed; woken by driver_changed. */
void driver_wait(void);
bool driver_wait_until(const struct timespec *time); /* of CLOCK_REALTIME; false: it is past */
void driver_changed(void);

/* Functions that return an object and put their status where the program wants it. */
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

/* clGet...Info: one value of a query, by the rules of all of them. */
struct query {
    size_t size; /* of the program's memory */
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
    bool running; /* there is a thread */
    bool late;    /* it has been waited for too long, and is not until it has caught up */
};

struct _cl_platform_id {
    struct object object;
    cl_device_id *devices;
    u32 device_count;
    struct session *session;
    u64 launches; /* begun so far, on all devices */
    u64 commands; /* enqueued so far, of all queues */
    struct callbacks callbacks;
};
/* The one platform. Its devices are made at the first call, from the environment. With the lock or
 * without. */
cl_platform_id platform_get(void);
/* Its session; NULL: it has not been opened. Waits for nothing. */
struct session *platform_session(void);

struct _cl_device_id {
    struct object object;
    struct hd_config *config;
    struct hd_machine_info info;
    bool si;                  /* its code is Southern Islands', else PTX */
    struct hd_device *device; /* opened with the first context; NULL before */
    u64 now_ps;               /* simulated time: all commands so far */
    bool busy;                /* O2 */
    bool parked;              /* its command waits for another device and does not use this one */
    VEC(hd_address) dead;     /* of buffers that went while it was busy: buffer.c */
    u64 launches;             /* kernels run, of all contexts; session_launched counts */
    f64 started;              /* the running launch, host seconds: session.c's, */
    atomic_bool launching;    /* whether there is one, */
    struct launch_sum *sum;   /* where it is added up, or NULL, */
    size_t counters;          /* and how many counters it has; 0: not known yet */
    cl_command_queue queues;  /* all of the device, without references */
    hd_address print_buffer;  /* print.c; 0: none yet */
};
/* For a configuration, which becomes its own; NULL: explained on standard error. */
cl_device_id device_create(struct hd_config *config);
bool device_open(cl_device_id device); /* false: explained on standard error */
/* The first `*count` devices are those of a type; CL_INVALID_DEVICE_TYPE, CL_DEVICE_NOT_FOUND. */
cl_int device_match(cl_device_type type, u32 *count);
/* Less local memory than a full profile asks for. */
bool device_is_embedded(const struct _cl_device_id *device);
/* Simulated ns. */
static inline u64 device_now(const struct _cl_device_id *device)
{
    return device->now_ps / 1000;
}
/* What programs may have of its memory, together and in one buffer. The rest is for code, what
 * kernels print and what launches need. */
u64 device_memory(const struct _cl_device_id *device);
u64 device_allocation(const struct _cl_device_id *device);
enum {
    PRINT_BYTES = 1 << 20,
    MEM_ALIGN = 128, /* bytes: the largest OpenCL type, long16 */
};

/* ---- contexts and queues: context.c, queue.c ---- */

struct _cl_context {
    struct object object;
    cl_device_id *devices;
    u32 device_count;
    cl_context_properties *properties; /* as given, with the ending 0, or NULL */
    u32 property_count;
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *user;
};
bool context_has_device(cl_context context, cl_device_id device);
/* Tells the program's callback, if it has one, of an error. Without the lock, so from within a
 * command's `run`. */
void context_notify(cl_context context, const char *text);

struct _cl_command_queue {
    struct object object;
    cl_command_queue next; /* of its device */
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    struct queue_command *first, *last; /* enqueued and not finished, in order */
    cl_int failure; /* of the first command that broke it (command.c); CL_SUCCESS: none did */
    /* Numbers of commands, UINT64_MAX for none: the earliest that failed, and the earliest that all
     * later ones depend on. */
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
    cl_int status; /* CL_QUEUED .. CL_COMPLETE, or a negative error, */
    bool fault;    /* which is that of a command, not the program's own of a user event */
    u64 times[4];  /* simulated ns: queued, submitted, started, ended */
    struct event_callback *callbacks;
};
/* Changes the status; callbacks whose turn has come are called, for which the lock is given up. */
void event_set(cl_event event, cl_int status);
/* CL_QUEUED, at the device's time. */
cl_event event_of_command(cl_command_queue queue, cl_command_type type);
/* Runs and waits until it has ended. */
void event_wait(cl_event event);

/* Has the callback called, which it takes over, with that status. */
void callback_post(cl_event event, cl_int status, struct event_callback *callback);
/* Waits until the callbacks posted so far have returned; not forever: see callback.c. */
void callback_settle(void);

/*
 * A command under way. Kinds of commands embed it as their first member, fill `run` and `destroy`
 * and hand it to command_enqueue, which owns it from then on.
 */
struct queue_command {
    struct queue_command *next; /* of its queue */
    cl_command_queue queue;
    cl_event event;
    cl_event *waits; /* references */
    u32 wait_count;
    u64 number;     /* enqueued in this order, all queues together */
    bool blocking;  /* the call that enqueues it returns its error */
    bool after_all; /* runs when all that was enqueued before it in its queue has ended, */
    bool barrier;   /* and what was enqueued after it runs when it has ended: also out of order */
    /* Acts, without the lock, on the queue's device, which nobody else uses; adds what it takes to
     * `ps`. Returns CL_SUCCESS or the event's error. NULL: nothing to do (markers). */
    cl_int (*run)(struct queue_command *command, u64 *ps);
    void (*destroy)(struct queue_command *command); /* gives references back, frees; with the lock.
                                                     * NULL: just free */
};
/* What every enqueue function checks: the queue and its wait list. With the lock. */
cl_int command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits);
/*
 * Adds it to its queue and runs what can run. `blocking`: returns when it has ended, with its error
 * when it failed, which is CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST when one it waited for did.
 * `event`: the program gets a reference, unless NULL. The command is owned by this call whatever it
 * returns. With the lock, which is given up in between.
 */
cl_int command_enqueue(struct queue_command *command, cl_command_queue queue, cl_command_type type,
                       cl_uint wait_count, const cl_event *waits, bool blocking, cl_event *event);
/* Runs the first command that can run; false: there is none. */
bool command_run_one(void);
/* Runs every command that can run, of any device, in order. */
void command_run_ready(void);
/* Commands of the queue that are only queued become submitted. */
void queue_submit(cl_command_queue queue);
/* Runs and waits until all commands of the queue that were enqueued before have ended. */
void queue_finish(cl_command_queue queue);

/* ---- memory: buffer.c, transfer.c, map.c ---- */

struct mapping {
    struct mapping *next; /* of its buffer */
    u8 *host;             /* what the program got */
    u8 *own;              /* of it, what is ours to free; NULL: the program's memory */
    size_t offset, bytes;
    cl_map_flags flags;
    u32 count; /* the buffer's list and commands refer to it */
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
    cl_mem parent;  /* of a sub-buffer, which has a reference to it; else NULL */
    size_t origin;  /* in the parent */
    /* What follows is the parent's, for a sub-buffer. */
    cl_device_id home;     /* where its content is; NULL: in `staged` */
    u8 *staged;            /* what it holds before a device has it; NULL: nothing yet */
    hd_address *addresses; /* on each device of the context, stale but at home; 0: not there */
    struct mapping *maps;
    u32 map_count;
    struct mem_callback *callbacks; /* latest first */
    struct kernel_arg *named;       /* by arguments of kernels; each its own, for a sub-buffer */
};
/* Its address on a device, to which its content moves when it is elsewhere, in a time that is added
 * to `ps`; 0: no memory. From within a command's `run`. */
hd_address mem_on(cl_mem mem, cl_device_id device, u64 *ps);
/* What every command that names a buffer checks. */
cl_int mem_check(cl_command_queue queue, cl_mem mem);
/* Whether the host may read or write it (CL_MAP_READ, CL_MAP_WRITE). */
bool mem_host_may(cl_mem mem, cl_map_flags flags);
/* What copies take: between host and device, and within the device. */
u64 copy_host_ps(cl_device_id device, u64 bytes);
u64 copy_device_ps(cl_device_id device, u64 bytes);

/* ---- programs: program.c, build.c, binary.c, compiler.c, cache.c, llinfo.c ---- */

struct kernel_arg_info {
    const char *name, *type; /* "" when not known */
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier qualifiers;
};

struct kernel_info {
    const char *name;
    const char *attributes; /* as clGetKernelInfo tells them */
    u32 arg_count;
    struct kernel_arg_info *args;
    bool has_arg_info;  /* names and types are known */
    size_t required[3]; /* reqd_work_group_size; 0: none */
};

/* What a build has made for one device. */
struct build {
    cl_build_status status;
    cl_program_binary_type type;
    char *options, *log; /* never NULL */
    u8 *binary;          /* binary.h; NULL: none */
    size_t binary_bytes;
    struct arena *arena; /* of the infos */
    struct kernel_info *kernels;
    u32 kernel_count;
    struct hd_module *module; /* loaded when the first kernel is made; NULL before */
};

struct _cl_program {
    struct object object;
    cl_context context;
    char *source;     /* NULL: from binaries or linked */
    bool from_binary; /* made by clCreateProgramWithBinary */
    cl_device_id *devices;
    u32 device_count;
    struct build *builds; /* of each device */
    u32 kernel_objects;   /* made from it and not freed: it cannot be built again */
};
struct build *program_build(cl_program program, cl_device_id device); /* NULL: not of its devices */
/* The code on its device; NULL and an explanation: it does not load. The device is not busy. */
struct hd_module *build_module(struct build *build, cl_device_id device, struct hd_error *error);

/* ---- kernels: kernel.c, ndrange.c ---- */

enum arg_kind {
    ARG_VALUE,
    ARG_BUFFER,
    ARG_LOCAL,
    ARG_IMAGE,  /* there are none: */
    ARG_SAMPLER /* these cannot be set */
};

struct kernel_arg {
    enum arg_kind kind;
    bool set;
    u32 size;   /* bytes of the value, or of local memory */
    u8 *value;  /* for values: size bytes */
    cl_mem mem; /* for buffers, or NULL. Not a reference: a program could not give it back */
    struct kernel_arg *next; /* of those that name the same buffer */
};
/* The buffer an argument names from now on; NULL: none. */
void kernel_arg_name(struct kernel_arg *arg, cl_mem mem);

/* A kernel on one device of its program. */
struct kernel_code {
    struct hd_kernel *kernel; /* NULL: not built there */
    struct hd_kernel_info info;
    u32 max_block; /* work-items: what the device, the compiler and the registers allow */
};

struct _cl_kernel {
    struct object object;
    cl_program program;
    const struct kernel_info *info; /* lives with the program's first build that has it */
    struct kernel_code *codes;      /* of each device of the program */
    struct kernel_arg *args;        /* info->arg_count */
};
/* Its code on a device; NULL: none. */
const struct kernel_code *kernel_code(cl_kernel kernel, cl_device_id device);
/* Shared memory of a block, with the local arguments; `offsets`, unless NULL: of each argument. */
u64 kernel_shared(cl_kernel kernel, const struct kernel_code *code, u64 *offsets);

/* ---- what kernels print: print.c ---- */

/* The buffer kernels print into, made at the first call; 0: no memory. Empties it. */
hd_address print_prepare(cl_device_id device);
/* Writes what the last launch left to standard output. */
void print_drain(cl_device_id device);

/* ---- records of launches for the wrapper, and what the environment chooses: session.c ---- */

struct session *session_open(void);
/* Devices and their configurations from HEDDLE_MACHINE, HEDDLE_SET, HEDDLE_MECH, ...: false, and an
 * explanation on standard error. */
bool session_configs(struct session *session, struct hd_config ***configs, u32 *count);
/* A device has been opened: it is observed as asked. */
void session_device(struct session *session, cl_device_id device);
/* A program was built from source, or not. */
void session_built(struct session *session, const char *source, const char *options,
                   const char *compiler, bool ok);
/* Before a launch: whether it is modelled in time (HEDDLE_KERNELS, HEDDLE_LAUNCHES, ...). `number`
 * counts launches of the process from 1. */
bool session_timed(struct session *session, u64 number, const char *kernel);
/* Directly around hd_launch, without the lock: what happened is recorded at once, and a signal
 * that would end the program ends the launch first. */
void session_started(struct session *session, cl_device_id device, u64 number, const char *kernel,
                     u64 blocks);
/* `result`: of hd_launch; NULL: it did not run. */
void session_launched(struct session *session, cl_device_id device, u64 number,
                      const struct hd_result *result);
/* A launch that was enqueued cannot run. */
void session_refused(struct session *session, const char *kernel);
/* An assertion of ours has failed. Takes no lock, as the caller may have any. */
void session_bug(struct session *session, const char *text);
/* The process ends: what is told only once. */
void session_close(struct session *session);

#endif
