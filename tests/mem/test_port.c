/* Ports: arrival, room and what each side knows of the other. */
#include "mem/port.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    LATENCY = 1000
};

static struct packet tagged(u32 tag)
{
    return (struct packet){.tag = tag};
}

static void arrives_after_its_latency(void **state)
{
    struct port port;
    port_create(&port, 4, LATENCY);
    struct packet packet = tagged(7);
    assert_int_equal(port_next(&port), FS_NEVER);
    port_push(&port, &packet, 50);
    /* The receiver does not know of it before they meet, however late it is. */
    assert_null(port_head(&port, 50 + LATENCY));
    assert_int_equal(port_next(&port), FS_NEVER);
    port_meet(&port);
    assert_int_equal(port_next(&port), 50 + LATENCY);
    assert_null(port_head(&port, 50 + LATENCY - 1));
    assert_non_null(port_head(&port, 50 + LATENCY));
    assert_int_equal(port_head(&port, 50 + LATENCY)->tag, 7);
    port_pop(&port);
    assert_null(port_head(&port, 50 + LATENCY));
    port_destroy(&port);
}

/* Limits that are and are not powers of two. */
static void room_is_known_at_meetings(void **state)
{
    for (u32 limit = 1; limit <= 9; limit++) {
        struct port port;
        port_create(&port, limit, LATENCY);
        for (u32 round = 0; round < 50; round++) {
            for (u32 i = 0; i < limit; i++) {
                assert_true(port_room(&port));
                struct packet packet = tagged(round * limit + i);
                port_push(&port, &packet, round * LATENCY);
            }
            assert_false(port_room(&port));
            port_meet(&port);
            for (u32 i = 0; i < limit; i++) {
                const struct packet *head = port_head(&port, (round + 1) * LATENCY);
                assert_non_null(head);
                assert_int_equal(head->tag, round * limit + i); /* P1 */
                port_pop(&port);
            }
            assert_false(port_room(&port)); /* the sender has not heard of it */
            port_meet(&port);
        }
        port_destroy(&port);
    }
}

/* Counts wrap around. */
static void counts_wrap(void **state)
{
    struct port port;
    port_create(&port, 3, LATENCY);
    port.pushed = port.pushed_seen = port.popped = port.popped_seen = UINT32_MAX - 1;
    for (u32 i = 0; i < 3; i++) {
        struct packet packet = tagged(i);
        assert_true(port_room(&port));
        port_push(&port, &packet, i);
    }
    assert_false(port_room(&port));
    port_meet(&port);
    for (u32 i = 0; i < 3; i++) {
        assert_int_equal(port_head(&port, LATENCY + 2)->tag, i);
        port_pop(&port);
    }
    assert_null(port_head(&port, FS_NEVER - 1));
    port_destroy(&port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_after_its_latency),
        cmocka_unit_test(room_is_known_at_meetings),
        cmocka_unit_test(counts_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
