# SPDX-License-Identifier: MIT
"""A client of openetw view, for its tests."""
import atexit
import http.client
import json
import os
import re
import struct
import subprocess
import time
import urllib.parse


class Server:
    def __init__(self, folder, *words, environment=None):
        self.child = subprocess.Popen(
            ["openetw", "view", "--no-open", "--web", folder + "/web", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **(environment or {})))
        atexit.register(self.child.kill)  # when the test fails
        self.cookie = None
        self.take_address()

    def take_address(self):
        line = self.child.stdout.readline()
        found = re.search(r":(\d+)/\?code=([0-9a-f]+)", line)
        assert found, "no address: %r" % line
        self.port, self.code = int(found.group(1)), found.group(2)

    def enter(self):
        status, headers, _ = self.ask("GET", "/?code=" + self.code, {})
        assert status == 303 and headers["Location"] == "/", (status, headers)
        self.cookie = headers["Set-Cookie"].split(";")[0]
        return headers["Set-Cookie"]

    def ask(self, method, path, headers=None, body=None):
        """Headers: those of the page when None."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if headers is None:
            headers = {"Cookie": self.cookie}
            if method == "POST":
                headers.update({"X-OpenETW": "1", "Content-Type": "application/json"})
        c.request(method, path, body, headers)
        r = c.getresponse()
        out = r.status, dict(r.getheaders()), r.read()
        c.close()
        return out

    def get(self, path, want=200, **params):
        query = urllib.parse.urlencode(params)
        where = "/api/" + path + ("?" + query if query else "")
        status, headers, body = self.ask("GET", where)
        while status == 202 and want != 202:  # tables are being made: the page asks again, too
            making = json.loads(body)["making"]
            assert making and all(m["name"] and 0 <= m["fraction"] <= 1 for m in making), making
            time.sleep(0.05)
            status, headers, body = self.ask("GET", where)
        assert status == want, (path, str(params)[:200], status, body[:300])
        if headers["Content-Type"] != "application/x-openetw-arrays":
            return json.loads(body)
        end = body.index(b"\n") + 1
        assert end % 8 == 0
        answer, at = json.loads(body[:end]), end
        for a in answer["arrays"]:
            kind = {"u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}[a["type"]]
            size = struct.calcsize(kind) * a["length"]
            answer[a["name"]] = struct.unpack("<%d%s" % (a["length"], kind), body[at:at + size])
            at += (size + 7) // 8 * 8
        assert at == len(body), (at, len(body))
        return answer

    def post(self, path, body, want=200):
        status, _, answer = self.ask("POST", "/api/" + path, None, json.dumps(body))
        assert status == want, (path, body, status, answer[:500])
        return json.loads(answer)

    def end(self):
        self.child.terminate()
        assert self.child.wait(60) == 0, self.child.returncode
