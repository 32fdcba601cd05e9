#ifndef BASE_EVENTS_H
#define BASE_EVENTS_H

enum event {
#define EVENT(name, counter, unit, help) EVENT_##name,
#include "base/events.def"
#undef EVENT
    EVENT_COUNT
};

#endif
