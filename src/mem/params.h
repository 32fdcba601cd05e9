/* Parameters and statistics of the memory side's components (mem/components.def). */
#ifndef MEM_PARAMS_H
#define MEM_PARAMS_H

#include "mem/components.def"

#endif
