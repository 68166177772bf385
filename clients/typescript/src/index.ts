/** A typed client of Palimpsest, the memory server for teams of AI agents. */
export { type ChatAnswer, type ChatChoice, type ChatText, textOf } from "./chat.js";
export { type Health, Palimpsest } from "./client.js";
export * from "./errors.js";
export type { Schemas } from "./generated/operations.js";
export type { Json, Matches, Options, Saves } from "./requests.js";
export type { Page, Pages, Settings } from "./sending.js";
