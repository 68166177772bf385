/** Requests that are sent again, or not, when answers are lost or made up on the way. */
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Conflict,
  ConnectionFailed,
  type Palimpsest,
  ServerError,
  TooManyRequests,
  UnexpectedAnswer,
} from "palimpsest-client";

import { RETRIES, all, connect, unique } from "./server.ts";

type Fault = "lost answer" | "refused connection" | Response;

/** A client whose answers meet these faults first, and the requests that it sent. */
function faulty(...faults: Fault[]): { client: Palimpsest; sent: Request[] } {
  const sent: Request[] = [];
  const client = connect({
    fetch: async (url, init) => {
      sent.push(new Request(url, init));
      const fault = faults.shift();
      if (fault instanceof Response) return fault;
      if (fault === "refused connection") {
        const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
        throw new TypeError("fetch failed", { cause });
      }
      const response = await fetch(url, init);
      if (fault === undefined) return response;
      await response.text();
      throw new TypeError("fetch failed");
    },
  });
  return { client, sent };
}

function refusal(status: number, headers: Record<string, string> = {}): Response {
  return new Response("{}", { status, headers });
}

function keys(sent: Request[]): (string | null)[] {
  return sent.map((request) => request.headers.get("Idempotency-Key"));
}

test("a write whose answer was lost is carried out once", async () => {
  const user = unique("sarah");
  const { client, sent } = faulty("lost answer", refusal(503));

  const written = await client.memories.create({ content: "Sarah drinks tea.", user });

  assert.equal(sent.length, 3);
  assert.equal(new Set(keys(sent)).size, 1);
  assert.deepEqual(
    (await all(client.memories.list({ user }))).map((memory) => memory.id),
    [written.id],
  );
});

test("each write has a key of its own unless one is given", async () => {
  const user = unique("sarah");
  const { client, sent } = faulty();
  const given = unique("import");

  await client.memories.create({ content: "The oven is on.", user });
  await client.memories.create({ content: "The lamp is off.", user });
  await client.memories.create({ content: "The door is shut.", user }, { idempotencyKey: given });
  await all(client.memories.list({ user }));

  const [first, second, third, read] = keys(sent);
  assert.ok(first && second && first !== second);
  assert.deepEqual([third, read], [given, null]);
});

test("a write that still runs is waited for, and a conflict is not sent again", async () => {
  const user = unique("sarah");
  const running = faulty(refusal(409, { "Retry-After": "0" }));
  const conflict = faulty(refusal(409));

  await running.client.memories.create({ content: "Sarah drinks tea.", user });
  await assert.rejects(conflict.client.memories.create({ content: "Tea.", user }), Conflict);

  assert.deepEqual([running.sent.length, conflict.sent.length], [2, 1]);
});

test("a change whose answer was lost is not sent again", async () => {
  const memory = await connect().memories.create({ content: "Tea is brown.", check: false });
  const lost = faulty("lost answer");
  const refused = faulty("refused connection", refusal(429, { "Retry-After": "0" }));

  await assert.rejects(lost.client.memories.delete(memory.id), ConnectionFailed);
  await connect().memories.restore(memory.id);
  const place = { scope: "user", user: "dmitri" } as const;
  await assert.rejects(faulty(refusal(503)).client.memories.move(memory.id, place), ServerError);
  const moved = await refused.client.memories.move(memory.id, place);

  assert.equal(moved.user, "dmitri");
  assert.deepEqual([lost.sent.length, refused.sent.length], [1, 3]);
});

test("what stays away, or says that trying is of no use, is thrown", async () => {
  const away = faulty(...Array.from({ length: 9 }, () => refusal(503)));
  const useless = faulty(refusal(503, { "X-Should-Retry": "false" }));
  const slow = faulty(refusal(429, { "Retry-After": "3600" }));

  await assert.rejects(away.client.users.list().pages().next(), ServerError);
  await assert.rejects(useless.client.memories.create({ content: "Tea." }), ServerError);
  await assert.rejects(slow.client.users.get("sarah"), (error) => {
    assert.ok(error instanceof TooManyRequests);
    assert.equal(error.retryAfter, 3600);
    return true;
  });

  assert.deepEqual([away, useless, slow].map(({ sent }) => sent.length), [RETRIES + 1, 1, 1]);
});

test("who takes too long is asked again, and a caller may stop", async () => {
  const waiting = (signal: AbortSignal | null | undefined) =>
    new Promise<Response>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  let asked = 0;
  const slow = connect({
    timeout: 1,
    fetch: (_, init) => {
      asked += 1;
      return waiting(init?.signal);
    },
  });
  const stop = new AbortController();

  await assert.rejects(slow.users.get("sarah"), ConnectionFailed);
  const stopped = slow.users.get("sarah", { signal: stop.signal, timeout: 60_000 });
  stop.abort(new Error("no longer needed"));

  await assert.rejects(stopped, /no longer needed/);
  assert.equal(asked, RETRIES + 2);
});

test("a page of a proxy is no answer", async () => {
  const html = { headers: { "Content-Type": "text/html" } };
  const page = () => new Response("<html>Sign in</html>", html);
  const { client } = faulty(page(), page());

  await assert.rejects(client.agents.get("kyra"), UnexpectedAnswer);
  await assert.rejects(client.team.export().next(), UnexpectedAnswer);
});

test("the next page is asked of the same address, whatever the link names", async () => {
  const page = { results: [], next: "https://elsewhere.example/v1/users?cursor=abc", previous: null };
  const last = { ...page, next: null };
  const { client, sent } = faulty(Response.json(page), Response.json(last));

  await all(client.users.list({ limit: 1 }));

  const [first, second] = sent.map((request) => new URL(request.url));
  assert.equal(first?.host, second?.host);
  assert.equal(second?.search, "?limit=1&cursor=abc");
});
