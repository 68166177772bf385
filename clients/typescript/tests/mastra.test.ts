/** The adapters of Mastra, with its own agent and its mock of a language model. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent } from "@mastra/core/agent";
import {
  MastraLanguageModelV2Mock,
  createMockModel,
  simulateReadableStream,
} from "@mastra/core/test-utils/llm-mock";
import { PalimpsestMemory, memoryTools } from "palimpsest-client/mastra";

import { connect, saidBy, unique } from "./server.ts";

type Whole = Awaited<ReturnType<MastraLanguageModelV2Mock["doGenerate"]>>;
type Streamed = Awaited<ReturnType<MastraLanguageModelV2Mock["doStream"]>>;
type Piece = Streamed["stream"] extends ReadableStream<infer T> ? T : never;

const client = connect();
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

function call(toolName: string, input: object): Whole["content"] {
  const toolCallId = crypto.randomUUID();
  return [{ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) }];
}

function answer(text: string): Whole["content"] {
  return [{ type: "text", text }];
}

/** A model that gives these answers in turn, and the prompts that it got. */
function modelOf(...answers: Whole["content"][]) {
  const prompts: { role: string; content: unknown }[][] = [];
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async ({ prompt }: { prompt: (typeof prompts)[number] }) => {
      prompts.push(prompt);
      const content = answers.shift() ?? [];
      const isCall = content.some(({ type }) => type === "tool-call");
      const finishReason = isCall ? ("tool-calls" as const) : ("stop" as const);
      return { content, finishReason, usage: USAGE, warnings: [] };
    },
    doStream: async ({ prompt }: { prompt: (typeof prompts)[number] }): Promise<Streamed> => {
      prompts.push(prompt);
      const chunks = (answers.shift() ?? []).flatMap((part): Piece[] => {
        if (part.type !== "text") return [];
        const delta: Piece = { type: "text-delta", id: "1", delta: part.text };
        return [{ type: "text-start", id: "1" }, delta, { type: "text-end", id: "1" }];
      });
      chunks.push({ type: "finish", finishReason: "stop", usage: USAGE });
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
  return { model, prompts };
}

test("an agent gets the prompt, and what is said is stored", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  await client.memories.create({ content: "Sarah drinks her tea black.", ...whose });
  const memory = new PalimpsestMemory(client, whose);
  const { model, prompts } = modelOf(answer("Black."), answer("At four."));
  const kyra = new Agent({
    id: "kyra",
    name: "Kyra",
    instructions: "Be brief.",
    model,
    inputProcessors: [memory],
    outputProcessors: [memory],
  });

  const { textStream } = await kyra.stream("How do I take my tea?");
  let black = "";
  for await (const delta of textStream) black += delta;
  await kyra.generate([
    { role: "user", content: "How do I take my tea?" },
    { role: "assistant", content: black },
    { role: "user", content: "And when?" },
  ]);

  const systems = prompts[0]?.filter(({ role }) => role === "system").map(({ content }) => content);
  assert.match(JSON.stringify(systems), /tea black/);
  assert.match(JSON.stringify(systems), /Be brief/);
  assert.deepEqual(await saidBy(client, whose.user), [
    { role: "user", content: "How do I take my tea?" },
    { role: "assistant", content: "Black." },
    { role: "user", content: "And when?" },
    { role: "assistant", content: "At four." },
  ]);
});

test("a long question may be cut within a character", async () => {
  const memory = new PalimpsestMemory(client, { agent: "kyra", user: unique("sarah") });
  const { model, prompts } = modelOf(answer("Yes."));
  const instructions = "Be brief.";
  const kyra = new Agent({ id: "kyra", name: "Kyra", instructions, model, inputProcessors: [memory] });

  await kyra.generate(`${"a".repeat(7_999)}\u{1f600} Is that all?`);

  assert.equal(prompts.length, 1);
});

test("an agent searches and adds memories with the tools", async () => {
  const whose = { agent: "kyra", user: unique("sarah") };
  await client.memories.create({ content: "Sarah drinks her tea black.", ...whose });
  const memory = new PalimpsestMemory(client, whose);
  const { model, prompts } = modelOf(
    call("searchMemories", { query: "How does Sarah take her tea?" }),
    call("addMemory", { content: "Sarah is allergic to peanuts." }),
    answer("Black, and no peanuts."),
  );
  const kyra = new Agent({
    id: "kyra",
    name: "Kyra",
    instructions: "Be brief.",
    model,
    tools: memoryTools(client, whose),
    outputProcessors: [memory],
  });

  const result = await kyra.generate("What should I serve?", { maxSteps: 3 });

  const said = await saidBy(client, whose.user);
  assert.equal(result.text, "Black, and no peanuts.");
  assert.match(JSON.stringify(prompts[1]?.at(-1)), /tea black/);
  assert.deepEqual(
    said.map(({ role, name }) => name ?? role),
    ["user", "assistant", "searchMemories", "assistant", "addMemory", "assistant"],
  );
  assert.match(String(said[4]?.content), /"outcome":"created"/);
});

test("the thread and the resource of a call are the conversation and the person", async () => {
  const [user, thread] = [unique("dmitri"), unique("bread")];
  const memory = new PalimpsestMemory(client, { agent: "kyra", user: "sarah" });
  const kyra = new Agent({
    id: "kyra",
    name: "Kyra",
    instructions: "Be brief.",
    model: createMockModel({ mockText: "At seven.", version: "v2" }),
    inputProcessors: [memory],
    outputProcessors: [memory],
  });

  for (const question of ["When do you open?", "Every day?"]) {
    await kyra.generate(question, { memory: { thread, resource: user } });
  }

  assert.deepEqual(await saidBy(client, user), [
    { role: "user", content: "When do you open?" },
    { role: "assistant", content: "At seven." },
    { role: "user", content: "Every day?" },
    { role: "assistant", content: "At seven." },
  ]);
  const found = await client.conversations.list({ user, thread_id: thread }).pages().next();
  assert.equal(found.value?.results.length, 1);
});
