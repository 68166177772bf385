/** Memory for Mastra: tools for an agent, and a processor of its messages. */
import type { MastraDBMessage } from "@mastra/core/memory";
import type {
  ProcessInputArgs,
  ProcessInputResultWithSystemMessages,
  ProcessOutputResultArgs,
  Processor,
} from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";

import type { Palimpsest } from "./client.js";
import { type Said, Session, type SessionSettings, calling, toolsOf, unanswered } from "./memory.js";

export type { SessionSettings } from "./memory.js";

/** The tools `searchMemories` and `addMemory` of an agent. */
export function memoryTools(client: Palimpsest, settings: SessionSettings) {
  const { searchMemories, addMemory } = toolsOf(client, settings);
  return {
    searchMemories: createTool({
      ...searchMemories,
      id: "searchMemories",
      execute: (input) => searchMemories.execute(input as { query: string }),
    }),
    addMemory: createTool({
      ...addMemory,
      id: "addMemory",
      execute: (input) => addMemory.execute(input as { content: string }),
    }),
  };
}

/**
 * A processor for both `inputProcessors` and `outputProcessors` of an agent: it puts the agent's
 * prompt with what is remembered before the messages, and stores what is said.
 *
 * The thread and the resource of a call (`memory: {thread, resource}`) are the conversation and
 * the person; without them those of the settings are.
 */
export class PalimpsestMemory implements Processor<"palimpsest-memory"> {
  readonly id = "palimpsest-memory" as const;
  readonly #client: Palimpsest;
  readonly #settings: SessionSettings;
  readonly #session: Session;

  constructor(client: Palimpsest, settings: SessionSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#session = new Session(client, settings);
  }

  async processInput(
    args: ProcessInputArgs,
  ): Promise<MastraDBMessage[] | ProcessInputResultWithSystemMessages> {
    const { messages, systemMessages } = args;
    const last = messages.findLast((message) => message.role === "user");
    const content = await this.#sessionOf(args).prompt(last ? textOf(last) : "");
    if (content === undefined) return messages;
    return { messages, systemMessages: [{ role: "system", content }, ...systemMessages] };
  }

  async processOutputResult(args: ProcessOutputResultArgs): Promise<MastraDBMessage[]> {
    const { input, response } = args.messageList.get;
    const messages = [...unanswered(input.db()), ...response.db()];
    await this.#sessionOf(args).store(() => messages.flatMap(said));
    return args.messages;
  }

  /** The session of a call, which its state keeps. */
  #sessionOf({ messageList, state }: ProcessInputArgs | ProcessOutputResultArgs): Session {
    const message = messageList.get.input.db().at(-1);
    if (!message?.threadId && !message?.resourceId) return this.#session;
    const { user, threadId } = this.#settings;
    state.session ??= new Session(this.#client, {
      ...this.#settings,
      user: message.resourceId ?? user,
      threadId: message.threadId ?? threadId,
    });
    return state.session as Session;
  }
}

/** A message, with the calls of its tools and their results behind its words, as it is stored. */
function said(message: MastraDBMessage): Said[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  const found: Said[] = [];
  for (const part of message.content.parts) {
    if (part.type === "text") {
      found.push({ role: message.role, content: part.text });
    } else if (part.type === "tool-invocation") {
      const { toolName, args } = part.toolInvocation;
      found.push({ role: "assistant", content: calling(toolName, args) });
      if (part.toolInvocation.state === "result") {
        const { result } = part.toolInvocation;
        // Undefined for a tool that returns nothing.
        const content = typeof result === "string" ? result : JSON.stringify(result);
        found.push({ role: "tool", name: toolName, content: content ?? "" });
      }
    }
  }
  return found;
}

function textOf(message: MastraDBMessage): string {
  const texts = message.content.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join("\n");
}
