import type { Palimpsest } from "./client.js";
import type { Schemas } from "./generated/operations.js";

/** The most characters of a message, and of a question, that the server takes. */
const MESSAGE_CHARS = 32_000;
const QUERY_CHARS = 8_000;
/** Messages of a request: it may have 2,000,000 characters. */
const MESSAGES = 62;

/** Names the two sides of a conversation, as adapters of other libraries use it. */
export interface SessionSettings {
  /** The agent whose memory it is. */
  agent: string;
  /** The person who talks with it. */
  user: string;
  project?: string;
  /** Goes on with the conversation of this id; without it a new one begins. */
  threadId?: string;
  /** Tokens of the prompt; the agent's own budget by default. */
  tokenBudget?: number;
  /** Takes failures of memory, so that the agent goes on without it; else they are thrown. */
  onError?: (error: unknown) => void;
}

export type Said = Schemas["NewMessage"];

/** A conversation that gives an agent its prompt and stores what is said. */
export class Session {
  readonly #client: Palimpsest;
  readonly #settings: SessionSettings;
  #opened: Promise<string> | undefined;

  constructor(client: Palimpsest, settings: SessionSettings) {
    this.#client = client;
    this.#settings = settings;
  }

  /** The agent's prompt for a question; undefined without a question. */
  async prompt(question: string): Promise<string | undefined> {
    const query = cleaned(question.slice(0, QUERY_CHARS));
    if (!isSaid(query)) return undefined;
    const { agent, user, project, tokenBudget } = this.#settings;
    return this.#guarded(async () => {
      const conversation = await this.#open();
      const whose = { agent, user, project, conversation };
      return (await this.#client.prompt({ ...whose, query, token_budget: tokenBudget })).prompt;
    });
  }

  /** Stores messages word for word; memories are made of them in the background. */
  async store(messages: () => readonly Said[]): Promise<void> {
    await this.#guarded(async () => {
      const parts = messages().flatMap(partsOf);
      for (let start = 0; start < parts.length; start += MESSAGES) {
        const batch = parts.slice(start, start + MESSAGES);
        await this.#client.conversations.addMessages(await this.#open(), { messages: batch });
      }
    });
  }

  #open(): Promise<string> {
    const { agent, user, project, threadId } = this.#settings;
    const conversation = { agent, user, project, thread_id: threadId };
    this.#opened ??= this.#client.conversations.create(conversation).then(
      (opened) => opened.id,
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { onError } = this.#settings;
    try {
      return await work();
    } catch (error) {
      if (!onError) throw error;
      onError(error);
      return undefined;
    }
  }
}

/** The words for a call of a tool, as the server's own chat stores it. */
export function calling(toolName: string, input: unknown): string {
  return `[calls ${toolName} ${typeof input === "string" ? input : JSON.stringify(input)}]`;
}

/** The messages behind the last answer: those that are new in a history that is sent whole. */
export function unanswered<T extends { role: string }>(messages: readonly T[]): T[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(last + 1);
}

/** What the tool `searchMemories` answers. */
export interface Found {
  memories: { id: string; text: string }[];
  messages: { id: string; text: string }[];
}

/** What the tool `addMemory` answers; `outcome` says what became of the memory. */
export type Added = Pick<Schemas["WrittenMemory"], "id" | "content" | "outcome" | "warnings">;

/** Tools of an agent for its memory, without the form that a library gives them. */
export function toolsOf(client: Palimpsest, { agent, user, project }: SessionSettings) {
  const whose = { agent, user, project };
  return {
    searchMemories: {
      description:
        "Search what is remembered of this person and of the work: facts, preferences," +
        " decisions and earlier messages.",
      inputSchema: textNamed("query", "A question, or what to look for."),
      execute: async ({ query }: { query: string }): Promise<Found> => {
        const found = await client.query({ ...whose, query });
        return {
          memories: found.results.map(({ id, text }) => ({ id, text })),
          messages: found.messages.map(({ id, text }) => ({ id, text })),
        };
      },
    },
    addMemory: {
      description:
        "Remember a lasting fact, preference or decision. What is said is stored by itself:" +
        " use this for what should be known word for word.",
      inputSchema: textNamed("content", "One statement, in the third person, with names and dates."),
      execute: async ({ content }: { content: string }): Promise<Added> => {
        const written = await client.memories.create({ ...whose, content });
        const { id, outcome, warnings } = written;
        return { id, content: written.content, outcome, warnings };
      },
    },
  };
}

/** The JSON schema of an object with one text. */
function textNamed(name: string, description: string) {
  const properties = { [name]: { type: "string" as const, description } };
  return { type: "object" as const, properties, required: [name], additionalProperties: false };
}

function partsOf(message: Said): Said[] {
  const texts = cleaned(message.content).match(new RegExp(`[^]{1,${MESSAGE_CHARS}}`, "gu")) ?? [];
  return texts.filter(isSaid).map((content) => ({ ...message, content }));
}

/** The text without null characters and half surrogates, which the server refuses. */
function cleaned(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, "\ufffd");
}

function isSaid(text: string): boolean {
  return /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text);
}
