/* What is printed of statistics: made-up ones, so that every number is known. */
#include "base/quantity.h"
#include "cli/annotate.h"
#include "cli/breakdown.h"
#include "cli/energy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_shares(void **state)
{
    static const u64 cases[][4] = {
        {1, 1, 1, 0}, {0, 0, 0, 7}, {1, 2, 3, 1000000}, {333, 333, 334, 0}, {1, 0, 0, 0},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        u32 tenths[4], sum = 0;
        u64 total = cases[i][0] + cases[i][1] + cases[i][2] + cases[i][3];
        shares(cases[i], 4, tenths);
        for (u32 k = 0; k < 4; k++) {
            double exact = 1000.0 * (double)cases[i][k] / (double)total;
            assert_true(tenths[k] > exact - 1 && tenths[k] < exact + 1);
            sum += tenths[k];
        }
        assert_int_equal(sum, 1000);
    }
    u32 none[2];
    shares((const u64[]){0, 0}, 2, none);
    assert_int_equal(none[0] + none[1], 0);
}

static void test_time(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {
        {0, "0.00 s"},         {1.5, "1.50 s"},    {12.34, "12.3 s"},   {123.4, "123 s"},
        {0.999, "999 ms"},     {1e-3, "1.00 ms"},  {2.5e-5, "25.0 us"}, {17e-9, "17.0 ns"},
        {1.43e-12, "1.43 ps"}, {4e-14, "0.04 ps"},
    };
    char text[32];
    for (u32 i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(time_text(cases[i].seconds, text, sizeof text), cases[i].text);
}

static void test_amount(void **state)
{
    static const struct {
        double amount;
        const char *text;
    } cases[] = {
        {0, "0"},          {999.4, "999"},     {999.6, "1.00 k"},    {12345, "12.3 k"},
        {999499, "999 k"}, {999600, "1.00 M"}, {130600000, "131 M"}, {5e13, "50.0 T"},
    };
    char text[32];
    for (u32 i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(amount_text(cases[i].amount, text, sizeof text), cases[i].text);
}

static const char profile[] =
    "[{'module': 'k.ptx', 'function': 'k', 'instructions': ["
    "{'pc': 4096, 'place': 'report_source.cu:3', 'text': 'a', 'issued': 10, 'threads': 320, "
    "'stalls': {'raw': 5, 'memory': 60, 'unit': 1}},"
    "{'pc': 4104, 'place': 'report_source.cu:11', 'text': 'b', 'issued': 20, 'threads': 160, "
    "'stalls': {}},"
    "{'pc': 4112, 'place': 'report_source.cu:3', 'text': 'c', 'issued': 0, 'threads': 0, "
    "'stalls': {'memory': 2}},"
    "{'pc': 4120, 'place': 'other.h:3', 'text': 'd', 'issued': 1, 'threads': 32, 'stalls': {}},"
    "{'pc': 4128, 'place': 'report_source.cu:5', 'text': 'e', 'issued': 1, 'threads': 32, "
    "'stalls': {}}]}]";

/* JSON with single quotes, for C. */
static json_t *parse(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    json_error_t error;
    json_t *json = json_loads(copy, 0, &error);
    if (!json)
        fail_msg("%s", error.text);
    free(copy);
    return json;
}

static char *annotated(const char *text, bool energy)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    json_t *json = json_object();
    json_object_set_new(json, "profile", parse(text));
    json_object_set_new(json, "totals", parse("{'energy.unattributed_pj': 12500}"));
    print_annotated(to, json, NULL, energy);
    json_decref(json);
    fclose(to);
    return out;
}

static void test_code(void **state)
{
    char *text = annotated(profile, false); /* the source is not there */
    assert_string_equal(text, "\n"
                              "k of k.ptx: 100 issue slots\n"
                              "             share     issued  lanes lost slots  lost to            "
                              "               address  code\n"
                              "########    76.0 %         10   32.0         66  memory 60, raw 5   "
                              "                0x1000  a\n"
                              "##          20.0 %         20    8.0          0                     "
                              "                0x1008  b\n"
                              "             2.0 %          0                 2  memory 2           "
                              "                0x1010  c\n"
                              "             1.0 %          1   32.0          0                     "
                              "                0x1018  d\n"
                              "             1.0 %          1   32.0          0                     "
                              "                0x1020  e\n");
    free(text);
}

static void test_source(void **state)
{
    FILE *file = fopen("report_source.cu", "w");
    assert_non_null(file);
    for (u32 i = 1; i <= 12; i++)
        fprintf(file, "line %u\n", i);
    fclose(file);
    char *text = annotated(profile, false);
    unlink("report_source.cu");
    assert_string_equal(text, "\n"
                              "k of k.ptx: 100 issue slots\n"
                              "             share     issued  lanes lost slots  lost to            "
                              "                  line  report_source.cu\n"
                              "########    78.0 %         10   32.0         68  memory 62, raw 5   "
                              "                     3  line 3\n"
                              "                                                                    "
                              "                     4  line 4\n"
                              "             1.0 %          1   32.0          0                     "
                              "                     5  line 5\n"
                              "           ...\n"
                              "##          20.0 %         20    8.0          0                     "
                              "                    11  line 11\n"
                              "             1.0 %          1   32.0          0                     "
                              "                        (elsewhere)\n");
    free(text);
}

static void test_line_energy(void **state)
{
    char *text = annotated("[{'module': 'k.ptx', 'function': 'k', 'instructions': ["
                           " {'pc': 16, 'text': 'a', 'issued': 3, 'threads': 3, 'energy_pj': 1250,"
                           "  'stalls': {}},"
                           " {'pc': 24, 'text': 'b', 'issued': 1, 'threads': 1, 'energy_pj': 0.5,"
                           "  'stalls': {}}]}]",
                           true);
    assert_string_equal(text,
                        "\n"
                        "k of k.ptx: 4 issue slots\n"
                        "              energy   share     issued  lanes lost slots  lost to        "
                        "                   address  code\n"
                        "########     1.25 nJ  75.0 %          3    1.0          0                 "
                        "                      0x10  a\n"
                        "###          0.50 pJ  25.0 %          1    1.0          0                 "
                        "                      0x18  b\n"
                        "\n"
                        "             12.5 nJ (not attributed: leakage, and events that belong to "
                        "no instruction)\n");
    free(text);
}

/* Falling, without those that took nothing, and shares that add up. */
static void test_energy(void **state)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    json_t *json = parse(
        "{'totals': {'timing.picoseconds': 1000000, 'energy.dynamic_pj': 2000,"
        " 'energy.static_pj': 1000.5, 'energy.total_pj': 3000.5, 'energy.total_w': 0.0030005,"
        " 'energy.dynamic_w': 0.002, 'energy.static_w': 0.0010005,"
        " 'energy.pj_per_thread_instruction': 30.005,"
        " 'energy.parts.l2.dynamic_pj': 0.5, 'energy.parts.l2.static_pj': 1000,"
        " 'energy.parts.sfu.dynamic_pj': 0, 'energy.parts.sfu.static_pj': 0,"
        " 'energy.parts.registers.dynamic_pj': 1999.5, 'energy.parts.registers.static_pj': 0.5}}");
    print_energy(to, json);
    fclose(to);
    assert_string_equal(out,
                        "\n"
                        "energy                    dynamic     static      total   share\n"
                        "registers                 2.00 nJ    0.50 pJ    2.00 nJ    66.7 %\n"
                        "l2                        0.50 pJ    1.00 nJ    1.00 nJ    33.3 %\n"
                        "all                       2.00 nJ    1.00 nJ    3.00 nJ   100.0 %\n"
                        "0.003 W over 1.00 us: dynamic 0.002 W, static 0.001 W; 30.0 pJ per thread "
                        "instruction\n");
    free(out);
    json_decref(json);
}

static void test_breakdown(void **state)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    json_t *json = parse(
        "{'launches': [{'occupancy': {'blocks_per_core': 3, 'limit': 'warps'}}],"
        " 'totals': {'timing.cycles': 1000, 'timing.picoseconds': 1000000, 'timing.warp_cycles': 1,"
        " 'timing.warp_slots': 3, 'issue.slots': 3000, 'issue.issued': 1000, 'issue.idle_raw': 0,"
        " 'issue.idle_memory': 1001, 'issue.idle_empty': 999, 'l1d.reads': 8, 'l1d.read_hits': 2,"
        " 'l3.reads': 4, 'l3.read_hits': 1, 'l2.reads': 6, 'l2.read_hits': 6, 'dram.reads': 3, "
        "'dram.writes': 1,"
        " 'dram.read_bytes': 96000, 'dram.write_bytes': 4000, 'dram.bus_cycles': 1,"
        " 'dram.channel_cycles': 8, 'dram.row_hits': 1},"
        " 'profile': [{'instructions': [{'place': 'k.ptx:7', 'text': 'ld', 'stalls':"
        " {'raw': 1, 'memory': 300}}]}]}");
    print_breakdown(to, json);
    fclose(to);
    assert_string_equal(out, "\n"
                             "issue slots  memory 33.4 %, issued 33.3 %, empty 33.3 %\n"
                             "top stall    memory, 10.0 % of the slots, at k.ptx:7: ld\n"
                             "occupancy    33.3 % of the warp slots; at most 3 blocks per "
                             "core, limited by warps\n"
                             "read hits    L1 data 25.0 % of 8, L2 100.0 % of 6, l3 25.0 % of 4\n"
                             "DRAM         100.0 GB/s, bus busy 12.5 %, row hits 25.0 %\n");
    free(out);
    json_decref(json);
}

/* Functional launches have nothing to break down. */
static void test_functional(void **state)
{
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);
    json_t *json = parse("{'launches': [{}], 'totals': {'exec.blocks': 1}, 'profile': []}");
    print_breakdown(to, json);
    print_energy(to, json);
    print_annotated(to, json, NULL, true);
    fclose(to);
    assert_string_equal(out, "");
    free(out);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),     cmocka_unit_test(test_time),
        cmocka_unit_test(test_amount),     cmocka_unit_test(test_code),
        cmocka_unit_test(test_source),     cmocka_unit_test(test_line_energy),
        cmocka_unit_test(test_energy),     cmocka_unit_test(test_breakdown),
        cmocka_unit_test(test_functional),
    };
    char folder[] = "/tmp/heddle-report-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
