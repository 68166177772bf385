import { ConnectionFailed, Refused, StreamCut, UnexpectedAnswer, errorOf } from "./errors.js";
import { type Call, type Options, requestOf } from "./requests.js";
import { mayPass, pause } from "./retries.js";
import { dataOf, linesOf } from "./streams.js";

/** Settings of a client. */
export interface Settings {
  /** Milliseconds for each try; 60,000 by default. Of a stream, until it begins. */
  timeout?: number;
  /** How often a request is sent again where that is safe; 3 by default. */
  retries?: number;
  /** In place of the global `fetch`, for a proxy or certificates. */
  fetch?: typeof globalThis.fetch;
}

/** A base of resources. */
export class Resource {
  constructor(protected readonly sender: Sender) {}
}

/** Sends the requests of operations, and reads their answers. */
export class Sender {
  readonly #base: string;
  readonly #key: string;
  readonly #settings: Settings;

  constructor(baseUrl: string, apiKey: string, settings: Settings) {
    this.#base = baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#key = apiKey;
    this.#settings = settings;
  }

  /** The answer of a call; null where there is none, or none that is new. */
  async send<T>(call: Call, options: Options): Promise<T> {
    const [status, type, text] = await this.#carryOut(call, options, async (response) => {
      const type = response.headers.get("Content-Type") ?? "";
      return [response.status, type, await response.text()] as const;
    });
    if (status === 204 || status === 304) return null as T;
    try {
      if (isAnswer(call, status)) return JSON.parse(text) as T;
    } catch {
      // What is no JSON is no answer of the API.
    }
    throw unexpected(call, status, type);
  }

  /** A list, of which nothing is asked yet. */
  pages<PageT extends Page<T>, T>(call: Call, options: Options): Pages<PageT, T> {
    return new Pages(this, call, options);
  }

  /** The lines of an answer, each with its line feed, as they come. */
  async *lines<T>(call: Call, options: Options): AsyncGenerator<T, void, void> {
    for await (const line of this.#stream(call, options, "application/x-ndjson", linesOf)) {
      yield `${line}\n` as T;
    }
  }

  /** The JSON of each line of an answer, as they come. */
  async *rows<T>(call: Call, options: Options): AsyncGenerator<T, void, void> {
    for await (const line of this.#stream(call, options, "application/x-ndjson", linesOf)) {
      yield pieceOf(call, line) as T;
    }
  }

  /** The JSON of each server-sent event, as they come; StreamCut without the last one. */
  async *events<T>(call: Call, options: Options): AsyncGenerator<T, void, void> {
    for await (const data of this.#stream(call, options, "text/event-stream", dataOf)) {
      if (data === "[DONE]") return;
      const piece = pieceOf(call, data);
      if (piece.error) throw new StreamCut(messageOf(piece.error));
      yield piece as T;
    }
    throw new StreamCut("The stream ended before its last event: it is not the whole answer.");
  }

  async *#stream(
    call: Call,
    options: Options,
    expected: string,
    split: (body: ReadableStream<Uint8Array>) => AsyncGenerator<string, void, void>,
  ): AsyncGenerator<string, void, void> {
    const response = await this.#carryOut(call, options, (begun) => Promise.resolve(begun));
    const type = response.headers.get("Content-Type") ?? "";
    if (!isAnswer(call, response.status) || type.split(";")[0]?.trim() !== expected || !response.body) {
      await response.body?.cancel();
      throw unexpected(call, response.status, type);
    }
    try {
      yield* split(response.body);
    } catch (failure) {
      throw failureOf(failure, options.signal);
    }
  }

  /** What `read` makes of the answer, after as many tries as are needed and allowed. */
  async #carryOut<T>(
    call: Call,
    options: Options,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { retries = 3, fetch = globalThis.fetch } = this.#settings;
    const headers = new Headers({
      Authorization: `Bearer ${this.#key}`,
      Accept: "application/json, application/x-ndjson, text/event-stream",
    });
    const [url, init] = requestOf(call, this.#base, headers, options);
    for (let attempt = 1; ; attempt += 1) {
      // The limit ends with `read`; what a stream brings after that takes the time it takes.
      const limit = new AbortController();
      const timer = setTimeout(
        () => limit.abort(new DOMException("The server took too long.", "TimeoutError")),
        options.timeout ?? this.#settings.timeout ?? 60_000,
      );
      const signals = [limit.signal, ...(options.signal ? [options.signal] : [])];
      let outcome: unknown;
      try {
        const signal = AbortSignal.any(signals);
        // A redirect would be followed as a GET.
        const response = await fetch(url, { ...init, signal, redirect: "manual" });
        const { status } = response;
        if (status < 400 || isAnswer(call, status)) return await read(response);
        const refusal = errorOf(response, await response.text());
        if (attempt > retries || !mayPass(call.method, response)) throw refusal;
        outcome = response;
      } catch (failure) {
        const isOver = attempt > retries || options.signal?.aborted;
        if (failure instanceof Refused) throw failure;
        if (isOver || !mayPass(call.method, failure)) throw failureOf(failure, options.signal);
        outcome = failure;
      } finally {
        clearTimeout(timer);
      }
      await pause(attempt, outcome, options.signal);
    }
  }
}

/** A page of a list. */
export interface Page<T> {
  results: readonly T[];
  next: string | null;
}

/** All of a list, fetched a page at a time while it is iterated over. */
export class Pages<PageT extends Page<T>, T> implements AsyncIterable<T> {
  readonly #sender: Sender;
  readonly #first: Call;
  readonly #options: Options;

  constructor(sender: Sender, first: Call, options: Options) {
    this.#sender = sender;
    this.#first = first;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for await (const page of this.pages()) yield* page.results;
  }

  /** The pages themselves. */
  async *pages(): AsyncGenerator<PageT, void, void> {
    let query: object = this.#first.query ?? {};
    for (;;) {
      const page = await this.#sender.send<PageT>({ ...this.#first, query }, this.#options);
      yield page;
      if (page.next === null) return;
      // Of the server's link only the cursor is taken: behind a proxy it may name another host.
      const cursor = new URL(page.next, "http://localhost").searchParams.get("cursor");
      if (cursor === null) throw new UnexpectedAnswer(`${page.next} is no link to a next page`);
      query = { ...this.#first.query, cursor };
    }
  }
}

function isAnswer(call: Call, status: number): boolean {
  return (status >= 200 && status < 300) || Boolean(call.answers?.includes(status));
}

function unexpected(call: Call, status: number, type: string): UnexpectedAnswer {
  const told = `the status ${status} and the type ${JSON.stringify(type)}`;
  return new UnexpectedAnswer(`${call.method} ${call.path} was answered with ${told}`);
}

function failureOf(failure: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure;
  return new ConnectionFailed(String(cause), { cause: failure });
}

function pieceOf(call: Call, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    const told = `${call.path} was answered with a piece that cannot be read`;
    throw new UnexpectedAnswer(`${told}: ${text.slice(0, 80)}`);
  }
}

function messageOf(error: unknown): string {
  const isObject = typeof error === "object" && error !== null && "message" in error;
  return String(isObject ? error.message : error);
}
