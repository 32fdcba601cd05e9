/*
 * The functional scheduler: resident blocks take turns.
 *
 * As many blocks are resident as the machine would hold. They are dispatched in order; a block
 * that ends is replaced by the next one in the same place. In a turn every warp of a block runs a
 * quantum of instructions, so ordinary blocks run from start to end in one turn, with warm host
 * caches, while blocks that wait for each other still make progress.
 */
#include "gpu/launch/launch.h"
#include <stdlib.h>

static void run_blocks(struct hd_device *device, struct exec *exec, u64 total, u32 resident)
{
    struct thread_block **slots = checked(calloc(resident, sizeof *slots));
    u64 next = 0, done = 0;
    for (u32 s = 0; done < total && !exec->stopped; s = s + 1 == resident ? 0 : s + 1) {
        if (!slots[s]) {
            if (next == total)
                continue;
            slots[s] = block_start(exec, next++, s % device->gpu->cores);
            if (UNLIKELY(device->observers))
                observers_block(device->observers, slots[s], true);
        }
        if (block_turn(slots[s])) {
            if (UNLIKELY(device->observers))
                observers_block(device->observers, slots[s], false);
            block_end(slots[s]);
            slots[s] = NULL;
            exec->stats.blocks++;
            atomic_store_explicit(&device->blocks_done, ++done, memory_order_relaxed);
        }
    }
    for (u32 s = 0; s < resident; s++)
        if (slots[s]) {
            account_tails(slots[s]);
            block_end(slots[s]);
        }
    account_finish(exec);
    free(slots);
}

void functional_run(struct hd_device *device, struct exec *exec, u64 blocks, u32 resident)
{
    exec_prepare(exec, resident);
    if (UNLIKELY(device->observers))
        observers_begin(device->observers, exec);
    run_blocks(device, exec, blocks, resident);
    if (UNLIKELY(device->observers))
        observers_end(device->observers, exec);
    exec_release(exec);
}
