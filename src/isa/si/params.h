/* Parameters of the Southern Islands front end. */
#ifndef ISA_SI_PARAMS_H
#define ISA_SI_PARAMS_H

#include "base/component.h"

#define COMPONENT si
#define COMPONENT_DEF "isa/si/params.def"
#include "base/component_struct.h"

#endif
