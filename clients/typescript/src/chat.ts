/** A message of the model, or what a piece of a stream adds to it. */
export interface ChatText {
  role?: string;
  content?: string | null;
  tool_calls?: Record<string, unknown>[];
  [field: string]: unknown;
}

/** The model's output: `message` in an answer, `delta` in a piece of a stream. */
export interface ChatChoice {
  index: number;
  message?: ChatText;
  delta?: ChatText;
  finish_reason?: string | null;
  [field: string]: unknown;
}

/**
 * An answer, or a piece of one, in OpenAI's protocol.
 *
 * `palimpsest` says what memory gave, who answered and what it cost; of a stream the first piece
 * has it as far as known, and the one with the `finish_reason` whole.
 */
export interface ChatAnswer {
  id: string;
  model: string;
  choices: ChatChoice[];
  usage?: Record<string, unknown> | null;
  palimpsest?: Record<string, unknown>;
  [field: string]: unknown;
}

/** An agent, or an agent and a tier, that chat can name as its model. */
export interface ListedModel {
  id: string;
  [field: string]: unknown;
}

/** All of them. */
export interface ModelList {
  data: ListedModel[];
  [field: string]: unknown;
}

/** The text of an answer, or of a piece of one. */
export function textOf(answer: ChatAnswer): string {
  const [choice] = answer.choices;
  return (choice?.message ?? choice?.delta)?.content ?? "";
}
