# SPDX-License-Identifier: MIT
"""What a stranger tries at openetw view. Arguments: a folder with web/, roots/ and elsewhere/; a trace."""
import atexit
import json
import os
import socket
import subprocess
import sys

from view_client import Server

folder, trace = sys.argv[1:3]
s = Server(folder, "--root", folder + "/roots", "--host", "box.example", trace)
PAGE = {"X-OpenETW": "1", "Content-Type": "application/json"}


def refused(method, path, headers, status=403, body=None):
    got, answer_headers, answer = s.ask(method, path, headers, body)
    assert got == status, (method, path, headers, got, answer[:300])
    assert "Set-Cookie" not in answer_headers, path
    assert b"Process.etl" not in answer, (path, answer)


# Without the cookie, whatever is asked.
for path in "/", "/index.html", "/api/traces", "/api/info", "/api/events", "/api/nothing", "/nothing":
    refused("GET", path, {})
refused("POST", "/api/open", PAGE, body="{}")
# A code that is wrong, and one that is used twice.
refused("GET", "/?code=" + "0" * len(s.code), {})
refused("GET", "/?code=", {})
refused("GET", "/?code=" + s.code, {"Host": "evil.example"})
assert "HttpOnly; SameSite=Strict; Path=/" in s.enter()
refused("GET", "/?code=" + s.code, {})
cookie = {"Cookie": s.cookie}
status, headers, _ = s.ask("GET", "/")
assert status == 200
for name, value in {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
                    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"}.items():
    assert headers[name] == value, (name, headers)
    assert s.ask("GET", "/api/info")[1][name] == value
for policy in headers["Content-Security-Policy"], s.ask("GET", "/api/info")[1]["Content-Security-Policy"]:
    for word in "default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'self'", "form-action 'none'":
        assert word in policy, policy
    assert "unsafe" not in policy, policy
assert "Access-Control-Allow-Origin" not in headers

# Enter lets another browser in; the first one stays in.
s.child.stdin.write("\n")
s.child.stdin.flush()
first = s.cookie
s.take_address()
s.enter()
assert s.cookie == first

# Names that lead here, cookies of others.
for host in "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80:80", "":
    refused("GET", "/api/traces", dict(cookie, Host=host))
for host in "localhost:%d" % s.port, "LOCALHOST:1", "[::1]:8080", "127.0.0.1", "box.example:77":
    assert s.ask("GET", "/api/traces", dict(cookie, Host=host))[0] == 200, host
refused("GET", "/api/traces", {"Cookie": s.cookie[:-1]})
refused("GET", "/api/traces", {"Cookie": s.cookie + "0"})
refused("GET", "/api/traces", {"Cookie": "x" + s.cookie})

# Pages of others.
here = "http://127.0.0.1:%d" % s.port
for origin in "http://evil.example", "null", "https://127.0.0.1:%d" % s.port, "http://127.0.0.1:1", "file://":
    refused("POST", "/api/cancel", dict(cookie, Origin=origin, **PAGE), body='{"tr":0}')
refused("POST", "/api/cancel", dict(cookie, **{"Content-Type": "application/json"}), body='{"tr":0}')
refused("POST", "/api/cancel", dict(cookie, **{"X-OpenETW": "1", "Content-Type": "text/plain"}), 400, '{"tr":0}')
assert s.ask("POST", "/api/cancel", dict(cookie, Origin=here, **PAGE), '{"tr":0}')[0] == 200
for method in "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH":
    assert s.ask(method, "/api/traces", dict(cookie))[0] in (400, 405, 501), method
assert s.ask("POST", "/api/traces", None, "{}")[0] == 405
assert s.ask("GET", "/api/open")[0] == 405

# Paths.
for path in "/../elsewhere/outside.etl", "/%2e%2e/elsewhere/outside.etl", "/..%2felsewhere", "//etc/passwd", "/etc/passwd", \
        "/api/../index.html", "/web/../../x", "/speedscope/../../elsewhere/outside.etl":
    assert s.ask("GET", path)[0] in (400, 403, 404), path
for name in folder + "/elsewhere/outside.etl", folder + "/roots/../elsewhere/outside.etl", folder + "/roots/link.etl", \
        folder + "/roots/folder/outside.etl", "/etc/passwd", "/dev/zero", "", "link.etl", "../elsewhere/outside.etl":
    answer = s.post("open", {"paths": [name]}, 403)
    assert "root:" not in json.dumps(answer)
assert s.post("open", {"paths": [folder + "/roots/inside.etl"]}) == {"tr": 1}
assert s.post("close", {"tr": 1}) == {}
s.get("info", 404, tr=1)
listed = [os.path.basename(f["path"]) for f in s.get("files")["files"]]
assert "inside.etl" in listed and "outside.etl" not in listed, listed

# A manifest from the page.
man = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples")
found = sorted(os.path.join(at, f) for at, _, names in os.walk(man) for f in names if f.endswith(".man"))
text = open(found[0], encoding="utf-8-sig").read()
assert s.post("manifest", {"tr": 0, "name": "x.man", "text": text})["providers"] >= 1
wrong = s.post("manifest", {"tr": 0, "name": "../../x.man", "text": "<nothing/>"}, 400)
assert "openetw-view-" not in wrong["error"], wrong
s.post("manifest", {"name": "x.man"}, 400)

# Requests that are too much, or wrong.
s.get("rows", 400, n=2001)
s.get("rows", 400, n=-1)
s.get("rows", 400, nothing=1)
s.get("rows", 400, t0="1s")
s.get("hist", 400, px=1000000000)
s.get("rows", 400, f="x" * 20000)
s.get("info", 404, tr=77)
mistake = s.get("rows", 400, f="level <= eror")
assert mistake["column"] == 10 and mistake["nearest"] == "error", mistake
s.get("rows", 400, f="process =~ /((((/")
assert s.ask("GET", "/api/rows?n=1&n=2")[0] == 400
assert s.ask("GET", "/api/rows?" + "&".join("a%d=1" % i for i in range(200)))[0] == 400
assert s.ask("GET", "/api/rows?f=" + "%41" * 60000)[0] in (400, 414, 431)
assert s.ask("POST", "/api/close?tr=0", None, '{"tr":0}')[0] == 400
s.post("close", {"tr": 0, "other": 1}, 400)
for body in "", "[]", "null", "{", '{"tr":' + "[" * 100000, '{"tr":0}x', "\xff", '{"a":"' + "x" * 2000000 + '"}':
    try:
        got = s.ask("POST", "/api/close", None, body.encode("latin-1"))[0]
    except OSError:
        got = 413  # it closed the connection while the body was being sent
    assert got in (400, 413), (body[:20], got)


def raw(text, seconds=0.3):
    c = socket.create_connection(("127.0.0.1", s.port), 30)
    c.settimeout(seconds)
    try:
        c.sendall(text.encode())
        return c.recv(100).decode("latin-1")
    except OSError:
        return ""
    finally:
        c.close()


head = "POST /api/close HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nX-OpenETW: 1\r\nContent-Type: application/json\r\n" % s.cookie
assert " 413 " in raw(head + "Content-Length: 1000000000\r\n\r\n", 30), "a body of 1 GB"
raw(head + "Content-Length: 99999999999999999999999\r\n\r\n")
raw(head + "Content-Length: -1\r\n\r\n{}")
raw(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")
raw("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n")
raw("GET /" + "a" * 200000 + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
raw("GET / HTTP/1.1\r\n" + "X: y\r\n" * 20000 + "\r\n")
raw("\x16\x03\x01\x02")
# Clients that hang up, many at a time.
for _ in range(40):
    c = socket.create_connection(("127.0.0.1", s.port), 30)
    c.sendall(("GET /api/hist?by=process HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n" % s.cookie).encode())
    c.close()
# A view as a file: questions that are none are refused, and what they say ends no element of the file.
for name, text in ("style.css", "p{}"), ("still.js", "0"):
    with open(folder + "/web/" + name, "w") as f:
        f.write(text)
for ask in "nothing", "download?job=0", "events?tr=0", "open", "hist?px", "hist?px=%", "hist?px=%00", "rows?" + "a=1&" * 40, "":
    s.post("still", {"page": "overview", "address": "#overview", "asks": [ask]}, 400)
s.post("still", {"page": "overview", "address": "#overview", "asks": ["traces"] * 401}, 400)
s.post("still", {"page": 1, "address": "#overview", "asks": []}, 400)
evil = "</script><script>alert(1)</script><!--"
status, headers, answer = s.ask("POST", "/api/still", None, json.dumps(
    {"page": evil, "address": "#" + evil, "asks": ["rows?tr=0&n=1", "facets?by=" + evil.replace(" ", "+"), "info?tr=77"]}))
assert status == 200 and answer.count(b"<script") == 2 and answer.count(b"</script") == 2 and b"<!--" not in answer, answer[:2000]
assert "attachment" in headers["Content-Disposition"] and "octet-stream" in headers["Content-Type"], headers

# It still answers.
assert s.get("traces")["traces"][0]["name"] == os.path.basename(trace)
s.end()
# A Unix socket, for its user alone.
u = folder + "/socket"
child = subprocess.Popen(["openetw", "view", "--web", folder + "/web", "--socket", u, trace], stdout=subprocess.PIPE,
                         stdin=subprocess.DEVNULL, text=True)
atexit.register(child.kill)
line = child.stdout.readline()
assert "ssh -L" in line and u in line, line
assert os.stat(u).st_mode & 0o777 == 0o600, oct(os.stat(u).st_mode)
c = socket.socket(socket.AF_UNIX)
c.connect(u)
c.sendall(b"GET /api/traces HTTP/1.1\r\nHost: localhost:8080\r\n\r\n")
assert b" 403 " in c.recv(1000)
c.close()
child.terminate()
assert child.wait(60) == 0
assert not os.path.exists(u)
