/*
 * HOT: for the functions in which runs spend most of their time. They are compiled for x86-64-v3, too,
 * whose bit manipulation saves them some 3 % of their instructions; the dynamic linker chooses. That is
 * too early for sanitizers.
 */
#ifndef BASE_HOT_H
#define BASE_HOT_H

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HOT __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HOT
#endif

#endif
