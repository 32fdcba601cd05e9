/* Temporary folders: those of dead processes are removed, however early they died; others stay. */
#include "base/temporary.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char parent[] = "/tmp/test-temporary-XXXXXX";

static int make_parent(void **state)
{
    memcpy(strrchr(parent, '-') + 1, "XXXXXX", 6);
    return mkdtemp(parent) ? 0 : -1;
}

static int remove_parent(void **state)
{
    return rmdir(parent); /* each test leaves it empty */
}

static void in_parent(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", parent, name);
}

static bool exists(const char *name)
{
    char path[256];
    in_parent(path, sizeof path, name);
    return access(path, F_OK) == 0;
}

static void make(const char *name)
{
    char path[256];
    in_parent(path, sizeof path, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* The open file. */
static int make_file(const char *name)
{
    char path[256];
    in_parent(path, sizeof path, name);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0);
    return file;
}

static void removes_what_was_killed_early(void **state)
{
    make(".heddle-empty1");
    make(".heddle-nolock");
    close(make_file(".heddle-nolock/heddle.lock"));
    assert_int_equal(temporary_sweep(parent), 2);
    assert_false(exists(".heddle-empty1") || exists(".heddle-nolock"));
}

static void leaves_what_is_used(void **state)
{
    struct temporary ours;
    struct error error = {0};
    make("heddle-notes");
    make(".heddle-making");
    const int lock = make_file(".heddle-making/heddle.lock");
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_true(temporary_create(&ours, parent, false, &error));
    assert_int_equal(temporary_sweep(parent), 0);
    assert_true(exists("heddle-notes") && exists(".heddle-making"));
    assert_int_equal(access(ours.path, F_OK), 0);
    temporary_remove(&ours);
    close(lock);
    assert_int_equal(temporary_sweep(parent), 1);
    char path[256];
    in_parent(path, sizeof path, "heddle-notes");
    assert_int_equal(rmdir(path), 0);
}

/* Makers and sweepers at once: every folder that was made has a lock, and keeps it. */
static void survives_sweeps(void **state)
{
    enum {
        MAKERS = 3,
        FOLDERS = 200
    };
    pid_t children[MAKERS];
    for (u32 i = 0; i < MAKERS; i++) {
        children[i] = fork();
        if (children[i])
            continue;
        bool ok = true;
        for (u32 n = 0; n < FOLDERS; n++) {
            struct temporary folder;
            struct error error = {0};
            ok &= temporary_create(&folder, parent, false, &error) && folder.lock >= 0;
            temporary_sweep(parent);
            ok &= folder.path && access(folder.path, F_OK) == 0;
            temporary_remove(&folder);
        }
        _exit(!ok);
    }
    for (u32 i = 0; i < MAKERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(removes_what_was_killed_early, make_parent, remove_parent),
        cmocka_unit_test_setup_teardown(leaves_what_is_used, make_parent, remove_parent),
        cmocka_unit_test_setup_teardown(survives_sweeps, make_parent, remove_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
