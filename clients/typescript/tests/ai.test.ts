/** The adapters of the Vercel AI SDK, with its own functions and its mock of a language model. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, isStepCount, simulateReadableStream, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { ConnectionFailed } from "palimpsest-client";
import { type Added, memoryMiddleware, memoryTools } from "palimpsest-client/ai";

import { connect, saidBy, unique } from "./server.ts";

type Answer = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>;
type Piece = Streamed["stream"] extends ReadableStream<infer T> ? T : never;

const client = connect();
const USAGE: Answer["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function answer(text: string): Answer {
  return {
    content: [{ type: "text", text }],
    finishReason: { unified: "stop", raw: undefined },
    usage: USAGE,
    warnings: [],
  };
}

function call(toolName: string, input: object): Answer {
  return {
    content: [{ type: "tool-call", toolCallId: "1", toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: USAGE,
    warnings: [],
  };
}

function stream(...deltas: string[]): Streamed {
  const chunks: Piece[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...deltas.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage: USAGE },
  ];
  return { stream: simulateReadableStream({ chunks }) };
}

test("a model searches and adds memories with the tools", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  await client.memories.create({ content: "Sarah drinks her tea black.", ...whose });
  const model = new MockLanguageModelV4({
    doGenerate: [
      call("searchMemories", { query: "How does Sarah take her tea?" }),
      call("addMemory", { content: "Sarah is allergic to peanuts." }),
      answer("Black, and no peanuts."),
    ],
  });

  const { text, steps } = await generateText({
    model,
    tools: memoryTools(client, whose),
    stopWhen: isStepCount(3),
    prompt: "What should I serve?",
  });

  const [searched, added] = steps.map((step) => step.toolResults[0]?.output);
  assert.equal(text, "Black, and no peanuts.");
  assert.match(JSON.stringify(searched), /tea black/);
  const { id, outcome } = added as Added;
  assert.equal(outcome, "created");
  assert.equal((await client.memories.get(id)).user, whose.user);
});

test("a wrapped model gets the prompt, and what is said is stored once", async () => {
  const whose = { agent: "kyra", user: unique("sarah"), threadId: unique("tea") };
  await client.memories.create({ content: "Sarah drinks her tea black.", ...of(whose) });
  const mock = new MockLanguageModelV4({ doGenerate: [answer("Black."), answer("At four.")] });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(client, whose) });
  const question = { role: "user" as const, content: "How do I take my tea?" };

  const first = await generateText({ model, instructions: "Be brief.", messages: [question] });
  await generateText({
    model,
    messages: [question, ...first.response.messages, { role: "user", content: "And when?" }],
  });

  const [memory, instructions] = mock.doGenerateCalls[0]?.prompt ?? [];
  assert.equal(memory?.role, "system");
  assert.match(String(memory?.content), /tea black/);
  assert.deepEqual([instructions?.role, instructions?.content], ["system", "Be brief."]);
  assert.deepEqual(await saidBy(client, whose.user), [
    { role: "user", content: "How do I take my tea?" },
    { role: "assistant", content: "Black." },
    { role: "user", content: "And when?" },
    { role: "assistant", content: "At four." },
  ]);
});

test("the steps of a call with tools are stored in their order", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  const mock = new MockLanguageModelV4({
    doGenerate: [call("addMemory", { content: "Sarah likes figs." }), answer("Noted.")],
  });

  await generateText({
    model: wrapLanguageModel({ model: mock, middleware: memoryMiddleware(client, whose) }),
    tools: memoryTools(client, whose),
    stopWhen: isStepCount(2),
    prompt: "I like figs.",
  });

  const said = await saidBy(client, whose.user);
  assert.deepEqual(
    said.map(({ role, name }) => name ?? role),
    ["user", "assistant", "addMemory", "assistant"],
  );
  assert.equal(said[1]?.content, '[calls addMemory {"content":"Sarah likes figs."}]');
  assert.match(String(said[2]?.content), /"outcome":"created"/);
});

test("a stream is passed on as it comes, and stored whole or as far as it was read", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  const mock = new MockLanguageModelV4({
    doStream: [stream("Once ", "upon ", "a time."), stream("Twice ", "upon ", "a time.")],
  });
  const model = wrapLanguageModel({ model: mock, middleware: memoryMiddleware(client, whose) });

  const { textStream } = streamText({ model, prompt: "Tell me a story." });
  const deltas: string[] = [];
  for await (const delta of textStream) deltas.push(delta);
  const { stream: other } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "Another one." }] }],
  });
  const reader = other.getReader();
  while ((await reader.read()).value?.type !== "text-delta");
  await reader.cancel();

  const said = await saidBy(client, whose.user);
  assert.deepEqual(deltas, ["Once ", "upon ", "a time."]);
  assert.deepEqual(said.slice(0, 3), [
    { role: "user", content: "Tell me a story." },
    { role: "assistant", content: "Once upon a time." },
    { role: "user", content: "Another one." },
  ]);
  assert.match(String(said[3]?.content), /^Twice/);
});

test("long messages are stored in parts, and no half letters", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  const mock = new MockLanguageModelV4({ doGenerate: answer("\0\ud800") });
  const long = "🥐".repeat(40_000);

  await generateText({
    model: wrapLanguageModel({ model: mock, middleware: memoryMiddleware(client, whose) }),
    prompt: long,
  });

  const said = await saidBy(client, whose.user);
  assert.deepEqual(
    said.map(({ role, content }) => [role, [...String(content)].length]),
    [
      ["user", 32_000],
      ["user", 8_000],
      ["assistant", 2],
    ],
  );
});

test("without memory the model answers only where failures are taken", async () => {
  const failures: unknown[] = [];
  const away = connect({ retries: 0, fetch: () => Promise.reject(new TypeError("away")) });
  const whose = { agent: "kyra", user: "sarah" };
  const ask = (onError?: (error: unknown) => void) =>
    generateText({
      model: wrapLanguageModel({
        model: new MockLanguageModelV4({ doGenerate: answer("OK") }),
        middleware: memoryMiddleware(away, { ...whose, onError }),
      }),
      prompt: "Hello?",
    });

  assert.equal((await ask((error) => failures.push(error))).text, "OK");
  assert.deepEqual(
    failures.map((error) => error instanceof ConnectionFailed),
    [true, true],
  );
  await assert.rejects(ask(), ConnectionFailed);
});

function of({ agent, user }: { agent: string; user: string }) {
  return { agent, user };
}
