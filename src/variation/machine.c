/* What a machine says of its chips: see machine.h. */
#include "variation/machine.h"

#include "base/text.h"

f64 machine_number(const json_t *machine, const char *part, const char *name)
{
    const json_t *value = json_object_get(json_object_get(machine, part), name);
    f64 number = 0;
    if (json_is_string(value) && text_f64(json_string_value(value), &number) == TEXT_OK)
        return number;
    return json_number_value(value);
}

bool machine_file_plan(struct file_plan *plan, const json_t *machine, struct error *error)
{
    return file_plan_make(plan, (u32)machine_number(machine, "gpu", "cores"),
                          (u32)machine_number(machine, "core", "registers"),
                          (u32)machine_number(machine, "collect", "banks"),
                          (u32)machine_number(machine, "collect", "bank_bits"),
                          (u32)machine_number(machine, "core", "warp_size"), error);
}

void machine_variation(struct variation *variation, const struct variation_node *node,
                       const json_t *machine)
{
    variation_default(variation, node);
    variation->celsius = machine_number(machine, "energy", "celsius");
    if (machine_number(machine, "energy", "volts") > 0)
        variation->volts = machine_number(machine, "energy", "volts");
}
