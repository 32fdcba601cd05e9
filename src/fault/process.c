/* Processes: see process.h. */
#include "fault/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int process_fork(struct fault_process *process, bool quiet)
{
    int ends[2];
    const int parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const int pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        const int nothing = quiet ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
        for (int i = 0; nothing >= 0 && i <= 2; i++)
            dup2(nothing, i);
        close(ends[0]); /* the other end stays open as long as the process lives */
        *process = (struct fault_process){.pipe = ends[1]};
        return 0;
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *process = (struct fault_process){.pid = pid, .pipe = ends[0]};
    return pid;
}

bool process_watch(struct fault_process *process, int pid)
{
    const int end = (int)syscall(SYS_pidfd_open, pid, 0); /* readable when the process has ended */
    *process = (struct fault_process){.pid = pid, .pipe = end};
    return end >= 0;
}

int process_reap(const struct fault_process *process)
{
    int status = 0;
    close(process->pipe);
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}
