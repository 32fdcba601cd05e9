#include "../../cuda/cooperative_groups.h"
