import { InvalidName } from "./errors.js";

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Options of one request. */
export interface Options {
  /** The Idempotency-Key of a POST, for a job that may run twice; else a new one is made. */
  idempotencyKey?: string;
  /** Milliseconds for each try, in place of the client's. */
  timeout?: number;
  /** Stops the request, or its stream. */
  signal?: AbortSignal;
}

/** Options of a read that is answered with null while a version stands. */
export interface Matches {
  /** The version that the caller has. */
  knownVersion?: number;
}

/** Options of a document that is saved; ChangedSince where they do not hold. */
export interface Saves {
  /** Saves only over this version. */
  version?: number;
  /** Saves only where there is none yet. */
  isNew?: boolean;
}

/** A request of an operation, before the client's address and key. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Parameters of the address, or the names of those fields of the body that belong there. */
  query?: object | readonly string[];
  /** Bytes are sent as they are, anything else as JSON. */
  body?: unknown;
  /** Statuses of 400 or above that come with an answer. */
  answers?: readonly number[];
}

/** An address of encoded parts; InvalidName for a part that addresses nothing. */
export function path(texts: TemplateStringsArray, ...parts: string[]): string {
  // In an address these are steps from folder to folder, also percent-encoded.
  const wrong = parts.find((part) => ["", ".", ".."].includes(String(part)));
  if (wrong !== undefined) {
    const address = texts.join("…");
    throw new InvalidName(`${address} cannot have ${JSON.stringify(wrong)} as a part of it.`);
  }
  return String.raw({ raw: texts }, ...parts.map((part) => encodeURIComponent(part)));
}

/** The address and the settings of `fetch` for a call. */
export function requestOf(
  call: Call,
  base: string,
  headers: Headers,
  options: Options & Matches & Saves,
): [URL, RequestInit] {
  let { query = {}, body } = call;
  if (Array.isArray(query)) {
    const fields = Object.entries(body as Json);
    const names: readonly string[] = query;
    query = Object.fromEntries(fields.filter(([name]) => names.includes(name)));
    body = Object.fromEntries(fields.filter(([name]) => !names.includes(name)));
  }
  const url = new URL(base + call.path);
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) url.searchParams.append(name, String(each));
    }
  }
  if (call.method === "POST") {
    headers.set("Idempotency-Key", options.idempotencyKey ?? crypto.randomUUID());
  }
  if (options.knownVersion !== undefined) headers.set("If-None-Match", `"${options.knownVersion}"`);
  if (options.version !== undefined) headers.set("If-Match", `"${options.version}"`);
  if (options.isNew) headers.set("If-None-Match", "*");
  if (body === undefined) return [url, { method: call.method, headers }];
  const isFile = body instanceof Blob || body instanceof Uint8Array;
  headers.set("Content-Type", isFile ? "application/octet-stream" : "application/json");
  const content = isFile ? (body as BodyInit) : JSON.stringify(body);
  return [url, { method: call.method, headers, body: content }];
}
