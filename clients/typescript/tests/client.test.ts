/** The client against a real server: what it sends, what it reads, what it throws. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";

import {
  BadRequest,
  ChangedSince,
  Conflict,
  ConnectionFailed,
  InvalidName,
  NotFound,
  Palimpsest,
  StreamCut,
  Unauthorized,
  textOf,
} from "palimpsest-client";

import { URL_OF_SERVER, all, connect, unique } from "./server.ts";

const client = connect();

test("a memory is stored, read, changed and deleted", async () => {
  const written = await client.memories.create({
    content: "Sarah drinks her tea without milk.",
    agent: "kyra",
    user: unique("sarah"),
  });

  const moved = await client.memories.move(written.id, { scope: "user", user: "dmitri" });
  const corrected = await client.memories.correct(written.id, {
    corrected_content: "Sarah drinks her tea black.",
  });
  const pinned = await client.memories.pin(corrected.id);
  const unpinned = await client.memories.unpin(corrected.id, { reason: "a test" });
  const deleted = await client.memories.delete(corrected.id, { reason: "a test" });
  const restored = await client.memories.restore(corrected.id);

  assert.equal(written.outcome, "created");
  assert.equal(moved.user, "dmitri");
  assert.notEqual(corrected.id, written.id);
  assert.deepEqual([pinned.is_pinned, unpinned.is_pinned], [true, false]);
  assert.equal(deleted.status, "soft_deleted");
  assert.equal(restored.status, "active");
  assert.equal((await client.memories.get(corrected.id)).content, "Sarah drinks her tea black.");
});

test("a list is followed to its end, a page at a time", async () => {
  const user = unique("sarah");
  const written = await client.memories.createMany(
    [1, 2, 3, 4, 5].map((at) => ({ content: `Parcel ${at} is on shelf ${at}.`, check: false, user })),
  );

  const found = await all(client.memories.list({ user, limit: 2, tier: ["hot", "warm"] }));
  const pages = await all(client.memories.list({ user, limit: 2 }).pages());

  assert.deepEqual(
    found.map((memory) => memory.id),
    written.map((memory) => memory.id).reverse(),
  );
  assert.deepEqual(
    pages.map((page) => page.results.length),
    [2, 2, 1],
  );
});

test("talk is stored and extracted", async () => {
  const user = unique("sarah");
  const talk = await client.conversations.create({ agent: "kyra", user });
  const stored = await client.conversations.addMessages(talk.id, {
    messages: [
      { role: "user", content: "I am allergic to peanuts." },
      { role: "assistant", content: "Thank you, I will keep that in mind." },
    ],
  });
  await client.conversations.extract(talk.id, { wait: true });

  const messages = await all(client.conversations.messages(talk.id, { limit: 1 }));
  const memories = await all(client.memories.list({ user }));
  const answer = await client.retrieve({ agent: "kyra", user, query: "What may I not eat?" });

  assert.deepEqual(
    messages.map((message) => message.id),
    stored.messages.map((message) => message.id),
  );
  assert.ok(memories.some((memory) => memory.content.includes("peanuts")));
  assert.match(answer.formatted_prompt, /peanuts/);
});

test("a document is saved over the version that was read", async () => {
  const slug = unique("mira");
  const saved = await client.agents.save(slug, { name: "Mira" }, { isNew: true });
  const again = await client.agents.save(
    slug,
    { name: "Mira", tagline: "cook" },
    { version: saved.version },
  );

  assert.equal(await client.agents.get(slug, { knownVersion: again.version }), null);
  assert.equal((await client.agents.get(slug))?.tagline, "cook");
  await assert.rejects(
    client.agents.save(slug, { name: "Mira" }, { version: saved.version }),
    ChangedSince,
  );
});

test("a field of the input may belong into the address", async () => {
  const task = unique("bake");
  await client.tasks.create({ id: task, agent: "kyra" });
  await client.tasks.addItem(task, { agent: "kyra", kind: "reasoning", text: "Preheat it." });

  const items = await client.tasks.items(task, { agent: "kyra" });

  assert.deepEqual(
    items.results.map((item) => item.text),
    ["Preheat it."],
  );
  await assert.rejects(client.tasks.create({ id: task, agent: "kyra" }), Conflict);
});

test("a file is imported as it is", async () => {
  const line = JSON.stringify({ content: "The bakery opens at seven." });
  const run = await client.imports.start(new TextEncoder().encode(`${line}\n`), { format: "jsonl" });

  assert.equal((await client.imports.get(run.id)).id, run.id);
});

test("names with any letters stand in an address", async () => {
  const user = unique("Zoë / Ω? #1");
  await client.conversations.create({ agent: "kyra", user });

  assert.equal((await client.users.get(user)).external_id, user);
  await assert.rejects(client.users.get(".."), InvalidName);
});

test("an export comes row by row, and ends when nobody reads on", async () => {
  const user = unique("sarah");
  await client.memories.create({ content: "Sarah likes rye bread.", user });

  const rows = await all(client.audit.export({ user }));
  const lines: string[] = [];
  for await (const line of client.team.export()) {
    lines.push(line);
    break;
  }

  assert.ok(rows.some((row) => JSON.stringify(row).includes("rye bread")));
  assert.ok(lines[0]?.endsWith("}\n"));
});

test("chat answers whole, and word by word", async () => {
  const question = {
    model: "kyra",
    user: unique("sarah"),
    messages: [{ role: "user" as const, content: "Is the oven on?" }],
    temperature: 0.25,
  };

  const whole = await client.chat.complete(question);
  const pieces = await all(client.chat.stream(question));

  assert.equal(textOf(whole), "OK");
  assert.equal(pieces.map(textOf).join(""), "OK");
  assert.ok(pieces.at(-1)?.palimpsest);
  assert.ok((await client.chat.models()).data.some(({ id }) => id === "kyra"));
});

test("a stream that ends early is no whole answer", async () => {
  const piece = { id: "1", model: "kyra", choices: [{ index: 0, delta: { content: "Once é" } }] };
  const bytes = new TextEncoder().encode(`: hello\r\n\r\ndata: ${JSON.stringify(piece)}\r\n\r\n`);
  const headers = { "Content-Type": "text/event-stream; charset=utf-8" };
  // Byte by byte, so that letters and line ends are cut.
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const cut = connect({ fetch: async () => new Response(body, { headers }) });
  const texts: string[] = [];

  await assert.rejects(async () => {
    const talk = { model: "kyra", messages: [{ role: "user" as const, content: "A story?" }] };
    for await (const each of cut.chat.stream(talk)) texts.push(textOf(each));
  }, StreamCut);
  assert.deepEqual(texts, ["Once é"]);
});

test("refusals have classes of their own, and say what is wrong", async () => {
  await assert.rejects(client.memories.get(crypto.randomUUID()), NotFound);
  await assert.rejects(new Palimpsest(URL_OF_SERVER, "pal_wrong").users.get("sarah"), Unauthorized);
  // @ts-expect-error: type checkers know the fields.
  const wrong = client.memories.create({ content: "The oven is on.", importence: 3 });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof BadRequest);
    assert.equal(error.name, "BadRequest");
    assert.deepEqual([error.status, error.field], [422, "importence"]);
    assert.match(error.message, /There is no such field/);
    assert.ok(error.requestId);
    return true;
  });
});

test("an address may end in the version, and health needs no key", async () => {
  assert.equal((await new Palimpsest(`${URL_OF_SERVER}/v1/`, "none").health()).postgresql, "ok");
  const health = { status: "away", redis: "away" };
  const away = connect({ fetch: async () => Response.json(health, { status: 503 }) });
  assert.deepEqual(await away.health(), health);
});

test("a server that is away is told", async () => {
  const nobody = createServer().listen(0);
  const address = nobody.address();
  await new Promise((resolve) => nobody.close(resolve));
  assert.ok(typeof address === "object" && address);

  const away = new Palimpsest(`http://127.0.0.1:${address.port}`, "pal_any", { retries: 1 });

  await assert.rejects(away.health(), ConnectionFailed);
});
