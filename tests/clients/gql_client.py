"""Puts Python's gql through the scenario, with each of its transports over HTTP and websockets."""

import asyncio
import os

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.aiohttp_websockets import AIOHTTPWebsocketsTransport
from gql.transport.exceptions import TransportError, TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport
from websockets.exceptions import ConnectionClosed

ENDPOINT = os.environ["PLAZA_URL"] + "/graphql"
SOCKET = ENDPOINT.replace("http", "ws", 1)
ADA, BOB = os.environ["PLAZA_TOKEN"], os.environ["PLAZA_OTHER_TOKEN"]
PATIENCE = 30

QUERY = gql("{ viewer { user { handle } } }")
WRONG = gql("{ noSuchField }")
CREATE = """mutation Create($text: String!) {
  createPost(input: {content: {status: {text: $text}}, audience: {kind: PUBLIC}}) { post { id text } userErrors { code } }
}"""
COMMENT = """mutation Comment($in: AddCommentInput!) { addComment(input: $in) { comment { id } userErrors { code } } }"""
ADDED = """subscription Added($post: ID!, $after: String) {
  commentAdded(postId: $post, after: $after) { cursor event comment { text } }
}"""


def request(document, **variables):
    parsed = gql(document)
    parsed.variable_values = variables
    return parsed


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def expect(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


async def operations(name, session):
    """A query, a mutation and an error. Returns the id of the post."""
    expect((await session.execute(QUERY))["viewer"]["user"]["handle"], "ada")
    post = (await session.execute(request(CREATE, text=f"by {name}")))["createPost"]["post"]
    expect(post["text"], f"by {name}")
    try:
        await session.execute(WRONG)
        raise AssertionError("an unknown field is accepted")
    except TransportQueryError as failure:
        expect(failure.errors[0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED")
    return post["id"]


async def resumes(session, other, post):
    """A subscription that receives a live comment, ends, and continues after its cursor."""
    sent = []

    async def comment(text):
        sent.append(text)
        await other.execute(request(COMMENT, **{"in": {"postId": post, "text": text}}))

    live = session.subscribe(request(ADDED, post=post))
    arrival = asyncio.ensure_future(anext(live))
    while not arrival.done():  # no protocol says when a subscription has begun
        await comment(f"comment {len(sent)}")
        await asyncio.wait([arrival], timeout=0.3)
    item = arrival.result()["commentAdded"]
    await live.aclose()
    first = sent.index(item["comment"]["text"])

    await comment("while away")
    resumed = session.subscribe(request(ADDED, post=post, after=item["cursor"]))
    texts = []
    while len(texts) < len(sent) - first - 1:
        texts.append((await anext(resumed))["commentAdded"]["comment"]["text"])
        if len(texts) == len(sent) - first - 1 and sent[-1] != "live again":
            await comment("live again")
    await resumed.aclose()
    expect(texts, sent[first + 1 :])


async def asynchronous():
    async with Client(transport=HTTPXAsyncTransport(url=ENDPOINT, headers=bearer(BOB))) as other:
        for library, transport in {"httpx": HTTPXAsyncTransport, "aiohttp": AIOHTTPTransport}.items():
            async with Client(transport=transport(url=ENDPOINT, headers=bearer(ADA))) as session:
                await operations(f"gql, {library}", session)
            print(f"ok gql, {library}")
        for library, sockets in {"websockets": WebsocketsTransport, "aiohttp": AIOHTTPWebsocketsTransport}.items():
            for protocol in [sockets.GRAPHQLWS_SUBPROTOCOL, sockets.APOLLO_SUBPROTOCOL]:
                async with Client(transport=sockets(url=SOCKET, init_payload=bearer(ADA), subprotocols=[protocol])) as session:
                    await resumes(session, other, await operations(f"gql, {library}, {protocol}", session))
                print(f"ok gql, {library}, {protocol}")
    await bad_token()


async def bad_token():
    try:
        async with Client(transport=WebsocketsTransport(
                url=SOCKET, init_payload=bearer("forged"), subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL])) as session:
            await session.execute(QUERY)
    except (TransportError, ConnectionClosed) as failure:
        closed = failure if isinstance(failure, ConnectionClosed) else failure.__cause__
        expect(closed.rcvd.code, 4403)
        return
    raise AssertionError("a forged token is accepted")


def synchronous():
    client = Client(transport=RequestsHTTPTransport(url=ENDPOINT, headers=bearer(ADA)))
    expect(client.execute(QUERY)["viewer"]["user"]["handle"], "ada")
    try:
        client.execute(WRONG)
        raise AssertionError("an unknown field is accepted")
    except TransportQueryError as failure:
        expect(failure.errors[0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED")
    print("ok gql, requests")


synchronous()
asyncio.run(asyncio.wait_for(asynchronous(), 3 * PATIENCE))
