#!/usr/bin/env python3
"""Attacks each rate limit of a server for ten seconds, and prints how much it admits.

Start a server of its own for it, which believes the addresses that this program invents:

    plaza --addr 127.0.0.1:8080 --data "$(mktemp -d)" --trusted-proxy 127.0.0.0/8
    scripts/attack.py 127.0.0.1:8080

Names of limits after the address attack these alone; "passwords" needs no limit, and shows what a
server with --rate-limits=off does.

Eight connections send one kind of request as fast as they can; each waits 10 ms after a refusal.
Meanwhile a user at another address reads their news ten times a second. At the end 200 connections
try passwords, each of which waits 100 ms after a refusal, and ada signs in from another address.
"""

import http.client
import json
import statistics
import sys
import threading
import time

SECONDS = 10
CONNECTIONS = 8
NEWS = "{ viewer { news(first: 20) { nodes { id text author { handle } } } } }"
EXPENSIVE = '{ user(handle: "none") { posts(first: 100) { nodes { comments(first: 23) { nodes { text } } } } } }'


class Client:
    """A client at an address that it chooses for each request."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection(server)

    def send(self, query, address, token=""):
        headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
        if token:
            headers["Authorization"] = "Bearer " + token
        self.connection.request("POST", "/graphql", json.dumps({"query": query}), headers)
        return self.connection.getresponse().read()

    def token(self, mutation, handle, address):
        name = f', name: "{handle}"' if mutation == "signUp" else ""
        query = f'mutation {{ {mutation}(input: {{handle: "{handle}", password: "password of {handle}"{name}}}) {{ token }} }}'
        return json.loads(self.send(query, address))["data"][mutation]["token"]


def attack(server, name, reader, request, connections=CONNECTIONS, pause=0.01, sign_in=None):
    """Sends request(connection, number), which returns a query, an address and a token."""
    admitted, refused, reads, sign_ins = [], [], [], []
    end = time.monotonic() + SECONDS

    def flood(connection):
        client, number = Client(server), 0
        while time.monotonic() < end:
            if b"RATE_LIMITED" in client.send(*request(connection, number)):
                refused.append(number)
                time.sleep(pause)
            else:
                admitted.append(number)
            number += 1

    def read():
        client = Client(server)
        while time.monotonic() < end:
            began = time.monotonic()
            client.send(NEWS, "203.0.113.1", reader)
            reads.append(1000 * (time.monotonic() - began))
            time.sleep(0.1)

    def come_in():
        for _ in range(10):
            time.sleep(SECONDS / 20)
            began = time.monotonic()
            sign_in(Client(server))
            sign_ins.append(1000 * (time.monotonic() - began))

    floods = [threading.Thread(target=flood, args=(c,)) for c in range(connections if request else 0)]
    threads = floods + [threading.Thread(target=read)]
    if sign_in:
        threads.append(threading.Thread(target=come_in))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{name:10} {len(admitted):6} admitted {len(refused):6} refused {statistics.median(reads):6.1f} ms a read", flush=True)
    if sign_in:
        fast = sum(took < 1000 for took in sign_ins)
        print(f"           {fast} of {len(sign_ins)} sign-ins within 1 s, {statistics.median(sign_ins):.0f} ms (median)", flush=True)


def main(server, *chosen):
    client = Client(server)
    reader, ada, cyd = (client.token("signUp", handle, f"203.0.113.{n}") for n, handle in enumerate(["reader", "ada", "cyd"], 1))
    client.token("signUp", "ben", "203.0.113.9")
    bens = [client.token("signIn", "ben", "203.0.113.9") for _ in range(CONNECTIONS)]

    def anywhere(connection, number):
        return f"198.51.{100 + connection}.{number % 250}"

    def wrong(handle):
        return f'mutation {{ signIn(input: {{handle: "{handle}", password: "wrong password"}}) {{ token userErrors {{ code }} }} }}'

    sign_up = 'mutation {{ signUp(input: {{handle: "s{}_{}", name: "S", password: "a password"}}) {{ token userErrors {{ code }} }} }}'
    follow = 'mutation { followUser(input: {userId: "none"}) { userErrors { code } } }'
    reset = 'mutation { requestPasswordReset(input: {account: "ada"}) { userErrors { code } } }'
    for name, request in {
        "(nothing)": None,
        "address": lambda c, n: (EXPENSIVE, "192.0.2.1"),
        "token": lambda c, n: (EXPENSIVE, anywhere(c, n), ada),
        "user": lambda c, n: (EXPENSIVE, anywhere(c, n), bens[c]),
        "writes": lambda c, n: (follow, anywhere(c, n), cyd),
        "sign-ins": lambda c, n: (wrong(f"h{c}_{n}"), "192.0.2.2"),
        "guesses": lambda c, n: (wrong("ada"), "192.0.2.3"),
        "sign-ups": lambda c, n: (sign_up.format(c, n), "192.0.2.4"),
        "mails": lambda c, n: (reset, "192.0.2.5"),
    }.items():
        if not chosen or name in chosen:
            attack(server, name, reader, request)

    def ada_signs_in(client):
        client.token("signIn", "ada", "203.0.113.7")

    if not chosen or "passwords" in chosen:
        attack(server, "(nothing)", reader, None, sign_in=ada_signs_in)
        attack(server, "passwords", reader, lambda c, n: (wrong(f"p{c}_{n}"), "192.0.2.6"), 200, 0.1, ada_signs_in)
    cost = json.loads(client.send(EXPENSIVE, "203.0.113.8"))["extensions"]["cost"]["requestedQueryCost"]
    print(f"The requests against address, token and user cost {cost} each.")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
