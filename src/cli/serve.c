/*
 * heddle serve: the page of a campaign while it runs.
 *
 * A small HTTP server for one reader. Each request is answered by a process of its own, `heddle sweep
 * export` or `status`, which only reads the results: nothing is kept here, and a page is as new as
 * the results are.
 *
 *  V1  Only this host can connect, and only under its own name: a page of another site that a browser
 *      shows cannot ask (its Host header is another).
 *  V2  Requests are GET of / and /status; whatever comes, at most REQUEST_BYTES of it are read, and
 *      a connection is given up after PATIENCE_S seconds.
 */
#include "base/text.h"
#include "cli/common.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REQUEST_BYTES = 8192,
    PATIENCE_S = 5
};

struct server {
    const struct command *command;
    const char *folder; /* of the campaign */
    int listener;
    u32 port;
};

extern char **environ;

/* ---- what is served ---- */

/* The output of `heddle sweep WORD FOLDER MORE...`; free with free(). *code: its exit code. */
static char *ask(const struct server *server, const char *word, const char *const *more,
                 size_t *length, int *code)
{
    const char *words[8] = {"heddle", "sweep", word, server->folder};
    for (u32 i = 0; more[i]; i++)
        words[4 + i] = more[i];
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    *code = EXIT_BUG;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const bool started =
        posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char **)words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char *text = NULL;
    FILE *to = checked(open_memstream(&text, length));
    char piece[65536];
    for (ssize_t got; started && (got = read(ends[0], piece, sizeof piece)) > 0;)
        fwrite(piece, 1, (size_t)got, to);
    fclose(to);
    close(ends[0]);
    int status;
    if (started && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
        *code = WEXITSTATUS(status);
    return text;
}

/* Tells a reader of the page when there are new results. */
static const char live[] =
    "<script>//<![CDATA[\n"
    "(function () {\n"
    "const bar = document.createElement('p');\n"
    "document.querySelector('main').prepend(bar);\n"
    "let first = null;\n"
    "function ask() {\n"
    "    fetch('/status').then(answer => answer.text()).then(text => {\n"
    "        const now = text.split('\\n').slice(0, 5).join(', ').replace(/ +/g, ' ');\n"
    "        first = first || now;\n"
    "        bar.textContent = now + ' ';\n"
    "        if (now === first) return;\n"
    "        const button = document.createElement('button');\n"
    "        button.textContent = 'show new results';\n"
    "        button.onclick = () => location.reload();\n"
    "        bar.appendChild(button);\n"
    "    }).catch(() => { bar.textContent = 'heddle serve has ended'; });\n"
    "}\n"
    "ask();\n"
    "setInterval(ask, 2000);\n"
    "})();\n"
    "//]]></script>\n";

static void answer(FILE *to, const char *status, const char *type, const char *body, size_t length)
{
    fprintf(to,
            "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n\r\n",
            status, type, length);
    fwrite(body, 1, length, to);
}

static void answer_text(FILE *to, const char *status, const char *text)
{
    answer(to, status, "text/plain", text, strlen(text));
}

static void answer_status(const struct server *server, FILE *to)
{
    static const char *const none[] = {NULL};
    size_t length;
    int code;
    char *text = ask(server, "status", none, &length, &code);
    if (text && (code == EXIT_DONE || code == EXIT_GUEST)) /* points have failed */
        answer(to, "200 OK", "text/plain", text, length);
    else
        answer_text(to, "500 Internal Server Error", "the campaign cannot be read\n");
    free(text);
}

static void answer_page(const struct server *server, FILE *to)
{
    static const char *const html[] = {"--format", "html", NULL};
    static const char end[] = "</body>";
    size_t length;
    int code;
    char *page = ask(server, "export", html, &length, &code), *whole;
    char *at = page ? strstr(page, end) : NULL;
    if (code == EXIT_DONE && at) {
        const int bytes = asprintf(&whole, "%.*s%s%s", (int)(at - page), page, live, at);
        if (bytes < 0)
            host_memory_exhausted();
        answer(to, "200 OK", "text/html", whole, (size_t)bytes);
        free(whole);
    } else
        answer_text(to, "500 Internal Server Error", "the campaign cannot be read\n");
    free(page);
}

/* ---- requests ---- */

/* Whether the request names this host: V1. */
static bool is_ours(const struct server *server, const char *request)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char line[64];
    for (u32 i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(line, sizeof line, "\r\nHost: %s:%u\r\n", names[i], server->port);
        if (strcasestr(request, line))
            return true;
    }
    return false;
}

/* Reads up to the empty line; false: none came. */
static bool read_request(int socket, char *request)
{
    size_t length = 0;
    while (length < REQUEST_BYTES - 1) {
        const ssize_t got = recv(socket, request + length, REQUEST_BYTES - 1 - length, 0);
        if (got <= 0)
            return false;
        length += (size_t)got;
        request[length] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void serve_one(const struct server *server, int socket)
{
    char request[REQUEST_BYTES], path[256];
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const bool whole = read_request(socket, request);
    FILE *to = fdopen(socket, "w");
    if (!to) {
        close(socket);
        return;
    }
    if (!whole || !strstr(request, " HTTP/1."))
        answer_text(to, "400 Bad Request", "expected a request of HTTP\n");
    else if (!is_ours(server, request))
        answer_text(to, "403 Forbidden", "expected the address that heddle serve has printed\n");
    else if (sscanf(request, "GET %255s HTTP/1.", path) != 1)
        answer_text(to, "405 Method Not Allowed", "expected GET\n");
    else if (!strcmp(path, "/"))
        answer_page(server, to);
    else if (!strcmp(path, "/status"))
        answer_status(server, to);
    else
        answer_text(to, "404 Not Found", "expected / or /status\n");
    fclose(to);
}

/* ---- the command ---- */

static bool listen_here(struct server *server)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((u16)server->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    const int on = 1;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listener >= 0)
        setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (server->listener < 0 ||
        bind(server->listener, (struct sockaddr *)&here, sizeof here) != 0 ||
        listen(server->listener, 16) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&here, &length) != 0) {
        complain(server->command, "--port %u: %s", server->port, strerror(errno));
        return false;
    }
    server->port = ntohs(here.sin_port);
    return true;
}

/* Until Ctrl-C or another signal asks to end. */
static void serve_all(const struct server *server)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct pollfd wait[] = {{signalfd(-1, &set, SFD_CLOEXEC), POLLIN, 0},
                            {server->listener, POLLIN, 0}};
    printf("http://127.0.0.1:%u/\n", server->port);
    fflush(stdout);
    while (poll(wait, 2, -1) >= 0 || errno == EINTR) {
        if (wait[0].revents)
            break;
        const int one = wait[1].revents ? accept4(server->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (one >= 0)
            serve_one(server, one);
    }
    close(wait[0].fd);
}

static int run_serve(const struct command *command, const struct command_line *line)
{
    static const char *const none[] = {NULL};
    struct server server = {.command = command, .folder = option_word(line, 0), .listener = -1};
    const char *port = option_value(line, "--port");
    u64 number = 0;
    size_t length;
    int code;
    if (!server.folder)
        return usage_error(command, "expected the folder of a campaign");
    if (port && (text_u64(port, &number) != TEXT_OK || number > UINT16_MAX))
        return usage_error(command, "--port: expected a number up to 65535; 0 takes a free one");
    server.port = (u32)number;
    free(ask(&server, "status", none, &length, &code)); /* it says what is wrong */
    if (code != EXIT_DONE && code != EXIT_GUEST)
        return EXIT_USAGE;
    const bool listens = listen_here(&server);
    if (listens)
        serve_all(&server);
    if (server.listener >= 0)
        close(server.listener);
    return listens ? EXIT_DONE : EXIT_USAGE;
}

static const struct option serve_options[] = {
    {"--port", "N", "The port; 0, the default, takes a free one.", 0, 0},
    {0},
};

static const struct example serve_examples[] = {
    {"heddle serve cache", "The page of the campaign in the folder cache, at the printed address:"},
    {0},
};

const struct command serve_command = {
    .name = "serve",
    .words = "DIR",
    .summary = "show the page of a campaign in a browser while it runs",
    .help =
        "Prints an address at which a browser on this host shows the page of the campaign, with "
        "all results so far; the page says when there are new ones. Only this host can connect, "
        "and results are only read. Ctrl-C ends it.",
    .options = serve_options,
    .examples = serve_examples,
    .max_words = 1,
    .complete = COMPLETE_CAMPAIGN,
    .run = run_serve,
};
