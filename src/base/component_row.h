/*
 * One entry of a list of components, such as core/components.def. The entry defines COMPONENT,
 * COMPONENT_DEF and COMPONENT_HELP and includes this file. The file that includes the list decides
 * what entries expand to. Before the list it defines
 *
 *     nothing                           -> struct NAME_params and struct NAME_stats
 *     #define COMPONENT_TABLES          -> const struct component NAME_component
 *     #define COMPONENT_ROW(name) ...   -> that macro, applied to the name: a member of a struct,
 *                                          an initializer, a call
 *
 * and undefines it afterwards. The list is thus the only place that names its components.
 */
#if defined COMPONENT_ROW
#define COMPONENT_ROW_(name) COMPONENT_ROW(name)
COMPONENT_ROW_(COMPONENT)
#undef COMPONENT_ROW_
#undef COMPONENT
#undef COMPONENT_DEF
#undef COMPONENT_HELP
#elif defined COMPONENT_TABLES
#include "base/component_table.h"
#else
#include "base/component_struct.h"
#undef COMPONENT
#undef COMPONENT_DEF
#undef COMPONENT_HELP
#endif
