/* See rig.h. */
#include "rig.h"

#include "gpu/machine/config.h"
#include "gpu/machine/params.h"

enum {
    PORT_LIMIT = 64,
    PORT_LATENCY = 1000,
};

struct config *rig_config(const char *machine, const char *settings)
{
    struct config *config = config_create(gpu_components);
    struct error error = {0};
    char text[1024], *rest = text;
    assert_true(strlen(settings) < sizeof text);
    strcpy(text, settings);
    if (!config_load_machine(config, machine, &error))
        fail_msg("%s: %s", machine, error.message);
    for (char *one; (one = strsep(&rest, " "));)
        if (*one && !config_set(config, one, &error))
            fail_msg("%s: %s", one, error.message);
    return config;
}

void rig_open(struct rig *rig, const char *machine, const char *settings)
{
    memset(rig, 0, sizeof *rig);
    rig->config = rig_config(machine, settings);
    rig->machine = core_config_of(rig->config);
    port_create(&rig->requests, PORT_LIMIT, PORT_LATENCY);
    port_create(&rig->replies, PORT_LIMIT, PORT_LATENCY);
    rig->machine.requests = rig->machine.fetch_requests = &rig->requests;
    rig->machine.constant_requests = &rig->requests;
    rig->machine.replies = &rig->replies;
    rig->core = core_create(&rig->machine);
    rig->kernel.total_registers = RIG_REGISTERS;
    rig->kernel.total_masks = 4;
    rig->program.traits.inst_bytes = 8;
    rig->program.insts = rig->insts;
    rig->program.inst_count = RIG_INSTS;
    rig->program.functions = &rig->kernel;
    rig->program.function_count = 1;
    rig->image.program = &rig->program;
    rig->image.warp_size = rig->machine.core->warp_size;
    rig->image.dyninst_words = 64;
    rig->exec.image = &rig->image;
    rig->exec.kernel = &rig->kernel;
}

void rig_close(struct rig *rig)
{
    core_destroy(rig->core);
    port_destroy(&rig->requests);
    port_destroy(&rig->replies);
    config_destroy(rig->config);
}

void rig_begin(struct rig *rig, bool explicit_exec)
{
    rig->program.traits.explicit_exec = explicit_exec;
    time_program(rig->times, &rig->image, &rig->machine);
    core_begin(rig->core, &rig->exec, rig->times, NULL, 0);
}

const struct inst_time *rig_time(struct rig *rig, u32 i)
{
    time_program(rig->times, &rig->image, &rig->machine);
    return &rig->times[i];
}
