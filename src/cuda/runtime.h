/*
 * The CUDA runtime: state, and interfaces between its files.
 *
 * One library has the functions of several versions of libcudart: each is exported under the version
 * names of all (EXPORT), and where a version has another layout, under that version's name only.
 *
 * Work runs when it is enqueued, in the calling thread. That is one legal order of every program's
 * streams, except of one that waits on the host for a flag which a later call sets. Simulated time
 * knows about streams: see stream.c.
 *
 * Invariants
 *  R1  `lock` protects all state; an API function takes it once (LOCKED), internal ones are called
 *      with it. It is released only while callbacks of the program run.
 *  R2  A guest fault makes the device's error sticky: calls return it until cudaDeviceReset.
 *  R3  The runtime prints only the output of kernels (standard output), and explanations of faults,
 *      of refused calls and of wrong environment variables (standard error).
 *  R4  The only mutable file-scope state is the process's (runtime.c, module.c, texture.c) and the thread's
 *      (thread.c, launch.c), as the interface requires.
 */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include "base/arena.h"
#include "base/error.h"
#include "cuda/versions.h"
#include "cuda_runtime_api.h"
#include "heddle/heddle.h"
#include "host/session.h"
#include "host/times.h"

#include <pthread.h>

/* Holds the lock until the end of the enclosing block. */
void runtime_lock(void);
void runtime_unlock(void);
static inline void locked_end(int *unused)
{
    (void)unused;
    runtime_unlock();
}
#define LOCKED                                                \
    __attribute__((cleanup(locked_end))) int locked_here = 0; \
    (void)locked_here;                                        \
    runtime_lock()

enum handle_kind { /* of a live object; 0 in a freed one */
    KIND_STREAM = 0x48450001,
    KIND_EVENT,
    KIND_ARRAY
};

/* ---- devices: runtime.c ---- */

struct allocation_entry; /* memory.c */

struct CUstream_st {
    u32 kind;                 /* enum handle_kind */
    struct CUstream_st *next; /* of its device */
    struct cuda_device *device;
    u64 ready_ps; /* simulated time at which all its work is done */
    unsigned flags;
    int priority;
    struct capture *capture; /* its work goes into a graph; NULL: it runs */
};

struct cuda_device {
    u32 number;
    struct hd_config *config;
    struct hd_machine_info info;
    struct hd_device *device; /* opened by the first call that needs it; NULL before */
    struct session_device records;
    cudaError_t sticky;          /* R2 */
    struct CUstream_st legacy;   /* the null stream */
    struct CUstream_st *streams; /* the others */
    u64 host_ps;                 /* simulated time that the host has waited for */
    u64 kernels_ps;   /* time at which the last kernel ends: they run one after the other */
    u64 copies_ps[2]; /* and the last copy to the device, and from it */
    VEC(struct allocation_entry) allocations;
    struct cudaArray *arrays;      /* array.c */
    struct cuda_texture *textures; /* texture.c */
    u64 shared_next; /* where memory that the host shares is tried next; 0: at the base */
    unsigned flags;  /* cudaSetDeviceFlags */
    size_t limits[8];
    enum cudaFuncCache cache_config;
};

struct cuda_runtime {
    struct session *session;
    struct cuda_device *devices;
    u32 device_count;
    u64 launches; /* started so far, on all devices */
};
/* With the lock. Its devices are created at the first call, from the environment. */
struct cuda_runtime *runtime_get(void);
/* The device of a number; cudaErrorInvalidDevice, cudaErrorNoDevice. */
cudaError_t device_find(struct cuda_device **device, int number);
/* The thread's device, opened; its sticky error. */
cudaError_t device_enter(struct cuda_device **device);
/* The same, but NULL instead of opening it. */
struct cuda_device *device_current(void);
bool device_open(struct cuda_device *device);
/* cudaDeviceReset of the thread's device. */
cudaError_t device_reset(void);
/* Takes the thread's device as `device`, or returns from the API function. */
#define ENTER(device)                                        \
    LOCKED;                                                  \
    struct cuda_device *device;                              \
    do {                                                     \
        const cudaError_t entered = device_enter(&(device)); \
        if (entered != cudaSuccess)                          \
            return ended(entered);                           \
    } while (0)

/* Prints an explanation: "heddle: PLACE: TEXT". */
void explain(const char *place, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the calling thread: thread.c ---- */

/* Remembers an error as the thread's last, and returns it. */
cudaError_t ended(cudaError_t status);
/* The call was one of the driver API, whose errors the runtime does not remember. */
void ended_elsewhere(void);
int *thread_device(void); /* the number of its device */

/* ---- memory: memory.c, copy.c ---- */

enum allocation_use {
    USED_BY_DEVICE,
    USED_BY_VARIABLE, /* of a module */
    USED_BY_BOTH,     /* managed */
    USED_BY_HOST      /* pinned or registered */
};

struct allocation_entry {
    u64 address; /* of the device */
    u64 bytes;
    u8 *host;   /* NULL: the host cannot see it */
    u64 mapped; /* bytes to unmap at `host`; 0: it is the program's memory */
    enum allocation_use use;
    unsigned flags;
};
/* The allocation that contains a device address, or a host pointer; NULL: none. */
const struct allocation_entry *allocation_at(const struct cuda_device *device, u64 address);
const struct allocation_entry *allocation_of_host(const struct cuda_device *device,
                                                  const void *pointer);
void allocation_add(struct cuda_device *device, struct allocation_entry entry);
/* Frees everything that a program has allocated. */
void allocations_free(struct cuda_device *device);

/* A copy, and a fill, of rows. */
struct copy_work {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind kind;
};
cudaError_t copy_act(struct cuda_device *device, const struct copy_work *work,
                     struct CUstream_st *stream, bool wait);
struct fill_work {
    void *to;
    size_t pitch, width, height; /* in bytes */
    u8 pattern[4];
    u32 pattern_bytes;
};
cudaError_t fill_act(struct cuda_device *device, const struct fill_work *work,
                     struct CUstream_st *stream, bool wait);
/* Fills `count` elements with a pattern. */
cudaError_t pattern_fill(void *to, const void *pattern, u32 pattern_bytes, size_t count, bool wait,
                         cudaStream_t stream);

/* ---- streams and time: stream.c ---- */

/* The stream of a handle on the device; NULL: the handle is wrong. */
struct CUstream_st *stream_of(struct cuda_device *device, cudaStream_t handle);
enum engine {
    ENGINE_KERNELS,
    ENGINE_TO_DEVICE,
    ENGINE_FROM_DEVICE,
    ENGINE_NONE
};
/* Adds work to a stream. Returns when it ends, in simulated time. */
u64 stream_work(struct CUstream_st *stream, enum engine engine, u64 picoseconds);
/* The host waits for the stream, or for the whole device. */
void stream_wait(struct CUstream_st *stream);
void device_wait(struct cuda_device *device);
void streams_free(struct cuda_device *device);

struct CUevent_st {
    u32 kind; /* enum handle_kind */
    unsigned flags;
    bool recorded;
    u64 ps;
    struct cuda_device *device;
    struct capture *capture; /* recorded in a stream whose work goes into a graph, */
    u32 node;                /* after this node */
};

/* ---- graphs: graph.c ---- */

/* Adds work of a stream to the graph that is captured. */
cudaError_t capture_copy(struct CUstream_st *stream, const struct copy_work *work);
cudaError_t capture_fill(struct CUstream_st *stream, const struct fill_work *work);
cudaError_t capture_kernel(struct CUstream_st *stream, const void *function,
                           const struct hd_kernel_info *info, struct dim3 grid, struct dim3 block,
                           void **args, size_t shared_bytes, bool cooperative);
cudaError_t capture_host(struct CUstream_st *stream, cudaHostFn_t call, void *user);
/* The event stands for the stream's last node; a stream that waits for it joins the capture. */
void capture_record(struct CUstream_st *stream, struct CUevent_st *event);
void capture_wait(struct CUstream_st *stream, const struct CUevent_st *event);

/* ---- modules: module.c ---- */

/* Loads PTX, or a fat binary with or without a compiler's wrapper. Says why if that fails. */
cudaError_t text_load(struct cuda_device *device, const char *text, size_t bytes, const char *name,
                      struct hd_module **loaded);
cudaError_t wrapper_load(struct cuda_device *device, const void *image, struct hd_module **loaded);
/* A kernel on the device, for the address of its stub in the program or the handle of
 * __cudaGetKernel. */
cudaError_t function_kernel(struct cuda_device *device, const void *stub,
                            struct hd_kernel **kernel);
/* A variable on the device, for its shadow in the program. */
cudaError_t variable_find(struct cuda_device *device, const void *symbol, u64 *address, u64 *bytes);
/* Makes a variable known to copies. */
void variable_note(struct cuda_device *device, u64 address, u64 bytes);
/* Forgets what was loaded to the device, which is about to be closed. */
void modules_forget(struct cuda_device *device);

/* A module on the device, by its handle from registration. */
cudaError_t module_loaded(struct cuda_device *device, void **handle, struct hd_module **loaded);

/* ---- arrays, textures and surfaces: array.c, texture.c ---- */

struct cudaArray {
    u32 kind;               /* KIND_ARRAY */
    struct cudaArray *next; /* of its device */
    struct hd_image *image;
    struct cudaArray *parent; /* of a level of a mipmapped array, which owns the image */
    u32 level, levels;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* as the program gave it */
    unsigned flags;
};
struct cudaArray *array_find(const struct cuda_device *device, const void *array);
/* Channels, their bits, and what they are; false: no such format. */
bool channels_of(const struct cudaChannelFormatDesc *desc, struct hd_image_shape *shape);
/* cudaMemcpy3D with an array at one end or both. */
cudaError_t array_copy_box(const struct cudaMemcpy3DParms *box, bool wait, cudaStream_t stream);
void arrays_free(struct cuda_device *device);
/* Frees texture and surface objects; references are unbound with their modules. */
void textures_free(struct cuda_device *device);

/* ---- launches: launch.c ---- */

/* An error of the library as one of the runtime. */
cudaError_t error_of(const struct hd_error *error);
cudaError_t kernel_launch(struct cuda_device *device, struct hd_kernel *kernel, struct dim3 grid,
                          struct dim3 block, void **args, size_t shared_bytes,
                          struct CUstream_st *stream, bool cooperative);

/* ---- kernels: function.c ---- */

void kernel_attributes(const struct cuda_device *device, struct hd_kernel *kernel,
                       struct cudaFuncAttributes *attributes);
/* Sets the size of dynamic shared memory, or takes a preference. */
cudaError_t kernel_set_attribute(const struct cuda_device *device, struct hd_kernel *kernel,
                                 enum cudaFuncAttribute attribute, int value);
cudaError_t kernel_occupancy(struct hd_kernel *kernel, int *blocks, int block_threads,
                             size_t shared_bytes);

#endif
