/* The gcn pipeline: the common stages with its own issue stage (issue.c). */
#ifndef CORE_GCN_GCN_H
#define CORE_GCN_GCN_H

#include "core/pipeline.h"

extern const struct pipeline gcn_pipeline;

#endif
