/* Profiles of modules: see profile.h. */
#include "gpu/observe/profile.h"

#include "base/text.h"
#include "gpu/device.h"
#include <stdio.h>
#include <stdlib.h>

void profile_add(struct hd_module *module, const struct inst_profile *launch)
{
    u32 count = module->program->inst_count;
    if (!module->profile) {
        module->profile = checked(calloc(MAX(count, 1), sizeof *module->profile));
        module->energy_fj = checked(calloc(MAX(count, 1), sizeof *module->energy_fj));
    }
    for (u32 i = 0; i < count; i++)
        inst_profile_add(&module->profile[i], &launch[i]);
}

static bool happened(const struct inst_profile *profile)
{
    u64 sum = profile->issued;
    for (u32 s = 0; s < STALLS; s++)
        sum += profile->stalls[s];
    return sum;
}

json_t *place_json(const struct program *program, u32 inst)
{
    char text[PLACE_TEXT];
    return program_place(program, inst, text) ? text_json(text) : json_null();
}

static json_t *row(const struct hd_module *module, u32 inst)
{
    const struct inst_profile *profile = &module->profile[inst];
    char text[256];
    json_t *json = json_object(), *stalls = json_object();
    json_object_set_new(json, "pc",
                        stats_number(module->code_address + program_offset(module->program, inst)));
    json_object_set_new(json, "place", place_json(module->program, inst));
    json_object_set_new(json, "text",
                        text_json(inst_text(module->program, inst, text, sizeof text)));
    json_object_set_new(json, "issued", stats_number(profile->issued));
    json_object_set_new(json, "threads", stats_number(profile->threads));
    json_object_set_new(json, "transactions", stats_number(profile->transactions));
    json_object_set_new(json, "energy_pj", energy_pj(module->energy_fj[inst]));
    if (profile->ace)
        json_object_set_new(json, "ace_bit_cycles", stats_number(profile->ace));
    for (u32 s = STALL_NONE + 1; s < STALLS; s++)
        if (profile->stalls[s])
            json_object_set_new(stalls, stall_names[s], stats_number(profile->stalls[s]));
    json_object_set_new(json, "stalls", stalls);
    return json;
}

static void append(json_t *list, const struct hd_module *module)
{
    const struct program *program = module->program;
    if (!module->profile)
        return;
    for (u32 f = 0; f < program->function_count; f++) {
        const struct function *function = &program->functions[f];
        json_t *rows = json_array();
        for (u32 i = function->first; i < function->end; i++)
            if (happened(&module->profile[i]))
                json_array_append_new(rows, row(module, i));
        if (json_array_size(rows)) {
            json_t *json = json_object();
            json_object_set_new(json, "module", text_json(program->file));
            json_object_set_new(json, "function", text_json(function->name));
            json_object_set(json, "instructions", rows);
            json_array_append_new(list, json);
        }
        json_decref(rows);
    }
}

void profile_keep(struct hd_module *module)
{
    struct hd_device *device = module->device;
    if (module->profile && !device->profiles)
        device->profiles = json_array();
    append(device->profiles, module);
    free(module->profile);
    free(module->energy_fj);
    module->profile = NULL;
    module->energy_fj = NULL;
}

/* Appends modules in the order of loading; the device's list is in reverse order. */
static void append_all(json_t *list, const struct hd_module *module)
{
    if (!module)
        return;
    append_all(list, module->next);
    append(list, module);
}

json_t *profile_json(const struct hd_device *device)
{
    json_t *list = device->profiles ? json_deep_copy(device->profiles) : json_array();
    append_all(list, device->modules);
    return list;
}
