/** Memory for the Vercel AI SDK: tools for an agent, and a middleware for its language model. */
import { type LanguageModelMiddleware, type Tool, jsonSchema, tool } from "ai";

import type { Palimpsest } from "./client.js";
import {
  type Added,
  type Found,
  type Said,
  Session,
  type SessionSettings,
  calling,
  toolsOf,
  unanswered,
} from "./memory.js";

export type { Added, Found, SessionSettings } from "./memory.js";

type Wrapped<Name extends "wrapGenerate" | "wrapStream"> = Parameters<
  NonNullable<LanguageModelMiddleware[Name]>
>[0];
type Message = Wrapped<"wrapGenerate">["params"]["prompt"][number];
type Content = Awaited<ReturnType<Wrapped<"wrapGenerate">["doGenerate"]>>["content"][number];
type Stream = Awaited<ReturnType<Wrapped<"wrapStream">["doStream"]>>["stream"];
type Piece = Stream extends ReadableStream<infer T> ? T : never;

/** Tools of a language model for memory. */
export type MemoryTools = {
  searchMemories: Tool<{ query: string }, Found>;
  addMemory: Tool<{ content: string }, Added>;
};

/** The tools `searchMemories` and `addMemory`, for `generateText`, `streamText` or an agent. */
export function memoryTools(client: Palimpsest, settings: SessionSettings): MemoryTools {
  const { searchMemories, addMemory } = toolsOf(client, settings);
  return {
    searchMemories: tool({
      ...searchMemories,
      inputSchema: jsonSchema<{ query: string }>(searchMemories.inputSchema),
    }),
    addMemory: tool({
      ...addMemory,
      inputSchema: jsonSchema<{ content: string }>(addMemory.inputSchema),
    }),
  };
}

/**
 * A middleware for `wrapLanguageModel`: it puts the agent's prompt with what is remembered before
 * the messages, and stores what is said.
 *
 * Each call of the model stores the messages behind the last answer, and the answer. One
 * middleware is for one conversation.
 */
export function memoryMiddleware(
  client: Palimpsest,
  settings: SessionSettings,
): LanguageModelMiddleware {
  const session = new Session(client, settings);
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      const content = await session.prompt(questionOf(params.prompt));
      if (content === undefined) return params;
      return { ...params, prompt: [{ role: "system", content }, ...params.prompt] };
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      await session.store(() => [...asked(params.prompt), ...answered(result.content)]);
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      const pieces: Piece[] = [];
      const said = () => [...asked(params.prompt), ...answered(joined(pieces))];
      const store = () => session.store(said);
      const watch = {
        transform(piece: Piece, controller: TransformStreamDefaultController<Piece>) {
          pieces.push(piece);
          controller.enqueue(piece);
        },
        flush: store,
        // Where the reader goes away: what came is stored.
        cancel: store,
      };
      return { stream: stream.pipeThrough(new TransformStream(watch)), ...rest };
    },
  };
}

function questionOf(prompt: readonly Message[]): string {
  const last = prompt.findLast((message) => message.role === "user");
  return last ? textOf(last) : "";
}

/** The new messages of a prompt, as they are stored. */
function asked(prompt: readonly Message[]): Said[] {
  return unanswered(prompt).flatMap((message): Said[] => {
    if (message.role === "user") return [{ role: "user", content: textOf(message) }];
    if (message.role !== "tool") return [];
    return message.content.flatMap((part): Said[] =>
      part.type === "tool-result"
        ? [{ role: "tool", name: part.toolName, content: outputOf(part.output) }]
        : [],
    );
  });
}

/** An answer, as it is stored. */
function answered(content: readonly (Content | Piece)[]): Said[] {
  const texts = content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "tool-call" ? [calling(part.toolName, part.input)] : [];
  });
  return [{ role: "assistant", content: texts.join("\n") }];
}

/** The pieces of a stream with its text as one part. */
function joined(pieces: readonly Piece[]): (Content | Piece)[] {
  const text = pieces.map((piece) => (piece.type === "text-delta" ? piece.delta : "")).join("");
  return [{ type: "text", text }, ...pieces];
}

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  const texts = message.content.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "file" ? [`[${part.mediaType}]`] : [];
  });
  return texts.join("\n");
}

function outputOf(output: { type: string; value?: unknown }): string {
  const { type, value = type } = output;
  return typeof value === "string" ? value : JSON.stringify(value);
}
