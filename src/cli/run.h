/* heddle run: what other commands that launch kernels of files share with it. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/files.h"

/* Options that describe launches and raw programs. */
#define LAUNCH_OPTIONS                                                                       \
    {"--kernel", "NAME", "The kernel to launch; may be omitted if the file has only one.",   \
     OPTION_PER_LAUNCH | OPTION_FILE, 0},                                                    \
        {"--grid", "X[,Y[,Z]]", "Blocks in the grid.", OPTION_PER_LAUNCH | OPTION_FILE, 0},  \
        {"--block", "X[,Y[,Z]]", "Threads in a block.", OPTION_PER_LAUNCH | OPTION_FILE, 0}, \
        {"--shared", "BYTES",                                                                \
         "Dynamic shared memory of a block, in addition to what the kernel declares.",       \
         OPTION_PER_LAUNCH | OPTION_FILE, 0},                                                \
        {"--cooperative", NULL,                                                              \
         "Blocks may wait for each other (grid.sync() of CUDA); all must fit at once.",      \
         OPTION_PER_LAUNCH | OPTION_FILE, 0},                                                \
        {"--arg", "SPEC",                                                                    \
         "The next kernel argument, in order. TYPE:VALUE passes a number (TYPE: u8 "         \
         "s8 u16 s16 u32 s32 u64 s64 f16 f32 f64). in:FILE passes the address of a "         \
         "buffer filled from the file; out:FILE:BYTES that of a zeroed buffer which "        \
         "is written to the file afterwards; inout:IN:OUT does both; zero:BYTES "            \
         "that of a zeroed buffer. bytes:FILE passes the file's contents by value, "         \
         "for structures. local:BYTES passes a part of the block's shared memory, "          \
         "for local pointers of OpenCL. @NAME[+OFFSET] passes the address of a "             \
         "--buf buffer. BYTES may end in K, M or G; FILE may be '-'.",                       \
         OPTION_REPEAT | OPTION_FILE, COMPLETE_SPEC},                                        \
        {"--buf", "NAME=SPEC",                                                               \
         "A buffer that several arguments and launches share by the name @NAME. "            \
         "SPEC is in:FILE, out:FILE:BYTES, inout:IN:OUT or zero:BYTES.",                     \
         OPTION_REPEAT | OPTION_FILE, COMPLETE_SPEC},                                        \
        {"--then", NULL,                                                                     \
         "Start another launch in the same process; the options --kernel, --grid, "          \
         "--block, --shared and --arg after it belong to that launch. Memory, "              \
         "modules and their variables persist.",                                             \
         OPTION_REPEAT | OPTION_FILE, 0},                                                    \
    {                                                                                        \
        "--si-state", "FILE",                                                                \
            "Run the file as raw Southern Islands machine code, without a container: a "     \
            ".s file is assembled, any other file is the code itself. The JSON file "        \
            "gives the initial state of waves and memory; '-' is standard input. The "       \
            "timing model is used if --machine is given. docs/southern-islands.md "          \
            "describes the format.",                                                         \
            OPTION_FILE, COMPLETE_FILE                                                       \
    }

/* Options that describe programs. */
#define PROGRAM_OPTIONS                                                                            \
    {"--workload", "NAME",                                                                         \
     "Run a program that comes with Heddle: 'heddle workloads' lists them. The words after '--' "  \
     "are its own options.",                                                                       \
     OPTION_PROGRAM, COMPLETE_WORKLOAD},                                                           \
        {"--quick", NULL, "Use the workload's small size: about a second of simulation.",          \
         OPTION_PROGRAM, 0},                                                                       \
        {"--kernels", "REGEX",                                                                     \
         "Use the timing model only for kernels whose names match; other launches run in "         \
         "functional "                                                                             \
         "mode.",                                                                                  \
         OPTION_PROGRAM, 0},                                                                       \
        {"--launches", "N[-M]",                                                                    \
         "Use the timing model only for these launches, counted from 1: 3-7, 3- or -7. The "       \
         "statistics "                                                                             \
         "file has each of them; without this option it has the first 500, and sums by kernel "    \
         "for the "                                                                                \
         "others.",                                                                                \
         OPTION_PROGRAM, 0},                                                                       \
    {                                                                                              \
        "--functional-until", "N", "Run the first N launches in functional mode.", OPTION_PROGRAM, \
            0                                                                                      \
    }

/* With the request parsed: reads files, opens the device, loads and checks kernels, fills buffers.
 * Prints an error and returns false on failure. */
bool run_prepare(struct run_command *run);
/* The same for a program: opens the device only to check that it can be opened; the program's driver
 * opens its own. */
bool run_open(struct run_command *run);
/* One launch, with the arguments of the command line; its result is in the launch. */
bool run_launch(struct run_command *run, struct launch *launch, struct hd_error *error);
void run_free(struct run_command *run);

#endif
