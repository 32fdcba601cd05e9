#!/usr/bin/env python3
"""heddle serve from the outside: check_serve.py HEDDLE KERNEL

A campaign's page and counts as a browser gets them, while results come in; what is not asked for properly is refused;
Ctrl-C ends it, and the results are not touched.
"""
import http.client
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HEDDLE, KERNEL = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
SWEEP = (str(HEDDLE), "sweep", "--machine", "gtx480", "--kernel",
         f"{KERNEL.name} --grid 4 --block 32 --arg zero:64K --arg zero:4K --arg u32:64", "--out", "out")


def get(port, path, method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def serve(folder):
    """A server and its port."""
    process = subprocess.Popen([HEDDLE, "serve", "out"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line.startswith("http://127.0.0.1:") and line.endswith("/\n"), line
    return process, int(line.rsplit(":", 1)[1].strip("/\n"))


def check(folder, port):
    status, page = get(port, "/")
    assert status == 200 and page.count("<tr>") == 2 + 1 and "setInterval" in page, page.count("<tr>")
    assert "done            2\n" in get(port, "/status")[1]
    subprocess.run([*SWEEP, "--set", "l1d.sets=8,16,32"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    assert "done            3\n" in get(port, "/status")[1]
    assert get(port, "/")[1].count("<tr>") == 3 + 1
    assert get(port, "/", host=f"localhost:{port}")[0] == 200
    for status, words in ((404, {"path": "/x"}), (405, {"path": "/", "method": "POST"}),
                          (403, {"path": "/", "host": "example.org"}), (403, {"path": "/status", "host": "127.0.0.1:1"})):
        assert get(port, **words)[0] == status, words
    with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        try:
            one.sendall(b"\0" * 20000)
            one.shutdown(socket.SHUT_WR)
            assert one.recv(100).startswith(b"HTTP/1.1 400")
        except OSError:
            pass  # it had read enough, and closed
    assert get(port, "/status")[0] == 200
    with socket.socket() as one:  # another address of this host, which a server for all addresses would answer at
        assert one.connect_ex(("127.0.0.2", port)), "it listens at all addresses"


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    shutil.copy(KERNEL, here)
    subprocess.run([*SWEEP, "--set", "l1d.sets=8,16"], cwd=here, check=True, stdout=subprocess.DEVNULL)
    server, number = serve(here)
    try:
        check(here, number)
        before = (here / "out/sweep.db").read_bytes()
        used = subprocess.run([HEDDLE, "serve", "out", "--port", str(number)], cwd=here, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=30)
        assert used.returncode == 2 and f"--port {number}: Address already in use" in used.stderr, used
    finally:
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=30)[1]
    assert server.returncode == 0 and not said, said
    assert (here / "out/sweep.db").read_bytes() == before
    for words, message in ((["none"], "there is no sweep in this folder"), ([], "expected the folder of a campaign"),
                           (["out", "--port", "70000"], "expected a number up to 65535")):
        done = subprocess.run([HEDDLE, "serve", *words], cwd=here, stderr=subprocess.PIPE, text=True, check=False, timeout=30)
        assert done.returncode == 2 and message in done.stderr, done
