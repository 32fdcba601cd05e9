/* Work-items as coroutines: see interpreter.h. */
#include "interpreter.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 64 << 10,
    ARRAY_BYTES = 4096, /* the largest array in local memory of an idiom is half of it */
    ARRAYS = 8          /* of an idiom */
};

static struct {
    ucontext_t scheduler, item[ITEMS];
    _Bool ended[ITEMS];
    int running;
    int lines[ARRAYS]; /* where an array is declared, which names it; 0: none yet */
    _Alignas(16) unsigned char memory[ARRAYS][ARRAY_BYTES];
    void (*kernel)(unsigned *out, const unsigned *in);
    unsigned *out;
    const unsigned *in;
} block;

/* The C compiler must take a barrier as something that may write anything. */
static void barrier(void)
{
    __asm__ volatile("" ::: "memory");
    swapcontext(&block.item[block.running], &block.scheduler);
    __asm__ volatile("" ::: "memory");
}

static void *shared_array(int line, size_t bytes)
{
    int i = 0;
    while (i < ARRAYS && block.lines[i] && block.lines[i] != line)
        i++;
    if (i == ARRAYS || bytes > ARRAY_BYTES)
        abort();
    block.lines[i] = line;
    return block.memory[i];
}

static int item(void)
{
    return block.running;
}

#define HELPER static
#define KERNEL(name) static void name(unsigned *out, const unsigned *in)
#define SHARED(type, name, count) type *const name = shared_array(__LINE__, (count) * sizeof(type))
#define LOCAL(type) type *
#define ITEM item()
#define BARRIER() barrier()
#define INCREMENT(address) ((*(address))++)
#include "idioms.h"

#define NAME(name) #name,
const char *const idiom_names[IDIOM_COUNT] = {IDIOMS(NAME)};
#define FUNCTION(name) name,
static void (*const functions[IDIOM_COUNT])(unsigned *, const unsigned *) = {IDIOMS(FUNCTION)};
_Static_assert(N == ITEMS, "a block of the idioms");

void interpreter_input(unsigned in[ITEMS])
{
    unsigned state = 12345;
    for (int i = 0; i < ITEMS; i++) {
        state = state * 1664525u + 1013904223u;
        in[i] = state >> 22;
    }
}

static void run_item(void)
{
    block.kernel(block.out, block.in);
    block.ended[block.running] = 1;
}

void interpreter_run(int which, unsigned out[ITEMS], const unsigned in[ITEMS])
{
    static unsigned char stacks[ITEMS][STACK_BYTES];
    memset(&block, 0, sizeof block);
    block.kernel = functions[which];
    block.out = out;
    block.in = in;
    for (int i = 0; i < ITEMS; i++) {
        getcontext(&block.item[i]);
        block.item[i].uc_stack.ss_sp = stacks[i];
        block.item[i].uc_stack.ss_size = STACK_BYTES;
        block.item[i].uc_link = &block.scheduler;
        makecontext(&block.item[i], run_item, 0);
    }
    for (int left = ITEMS; left;)
        for (block.running = 0; block.running < ITEMS; block.running++) {
            if (block.ended[block.running])
                continue;
            swapcontext(&block.scheduler, &block.item[block.running]);
            left -= block.ended[block.running];
        }
}
