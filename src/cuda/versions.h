/*
 * The version names under which functions are exported.
 *
 * A program asks for "cudaMalloc" of the version "libcudart.so.12". The first list is of the versions
 * that exist, the default one (@@) for programs that are linked with this library.
 *
 * Kept apart from the functions' own definitions, so that those can be found and read as ordinary C.
 */
#ifndef CUDA_VERSIONS_H
#define CUDA_VERSIONS_H

#define EXPORT_OLD(name, as) __asm__(".symver " #name "," #as "@libcudart.so.11.0")
#define EXPORT_12(name, as) __asm__(".symver " #name "," #as "@@libcudart.so.12")
#define EXPORT_13(name, as) __asm__(".symver " #name "," #as "@libcudart.so.13")
#define EXPORT_AS(name, as) \
    EXPORT_OLD(name, as);   \
    EXPORT_12(name, as);    \
    EXPORT_13(name, as)

/* Stands before the definition of a function that all versions have. */
#define EXPORT(name)       \
    EXPORT_AS(name, name); \
    __attribute__((visibility("default")))
/* The same for one that programs compiled with --default-stream per-thread call by another name. */
#define EXPORT_STREAM(name)       \
    EXPORT_AS(name, name);        \
    EXPORT_AS(name, name##_ptsz); \
    __attribute__((visibility("default")))
#define EXPORT_SYNC(name)         \
    EXPORT_AS(name, name);        \
    EXPORT_AS(name, name##_ptds); \
    __attribute__((visibility("default")))
/* The run-time compiler's. */
#define EXPORT_NVRTC(name)                                   \
    __asm__(".symver " #name "," #name "@libnvrtc.so.11.2"); \
    __asm__(".symver " #name "," #name "@@libnvrtc.so.12");  \
    __asm__(".symver " #name "," #name "@libnvrtc.so.13");   \
    __attribute__((visibility("default")))
/* The driver API's. Programs ask for them without a version. */
#define EXPORT_DRIVER(name)                               \
    __asm__(".symver " #name "," #name "@@libcuda.so.1"); \
    __attribute__((visibility("default")))
/* The same for one that programs compiled for a stream per thread call by another name. */
#define EXPORT_DRIVER_STREAM(name)                             \
    __asm__(".symver " #name "," #name "_ptsz@@libcuda.so.1"); \
    EXPORT_DRIVER(name)
#define EXPORT_DRIVER_SYNC(name)                               \
    __asm__(".symver " #name "," #name "_ptds@@libcuda.so.1"); \
    EXPORT_DRIVER(name)

#endif
