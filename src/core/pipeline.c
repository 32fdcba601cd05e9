/* The list of pipelines: see pipeline.h. */
#include "core/pipeline.h"
#include "core/common/common.h"
#include "core/gcn/gcn.h"
#include "core/miaow/miaow.h"

/* In the order of the choices of core.pipeline. */
static const struct pipeline *const pipeline_list[] = {
    &common_pipeline,
    &gcn_pipeline,
    &miaow_pipeline,
};

const struct pipeline *pipeline_of(const struct core_params *core)
{
    assert(core->pipeline < ARRAY_LEN(pipeline_list));
    return pipeline_list[core->pipeline];
}
