/** The running server that the tests ask: tests/clients/test_typescript.py starts it. */
import { type Json, Palimpsest, type Settings } from "palimpsest-client";

export const URL_OF_SERVER = needed("PALIMPSEST_URL");
const KEY = needed("PALIMPSEST_API_KEY");
export const RETRIES = 2;

export function connect(settings: Settings = {}): Palimpsest {
  return new Palimpsest(URL_OF_SERVER, KEY, { retries: RETRIES, ...settings });
}

/** A name that no other test has. */
export function unique(name: string): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}`;
}

/** All of a list or a stream. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** All messages of the conversations of a person, in the order they were said. */
export async function saidBy(client: Palimpsest, user: string): Promise<Json[]> {
  const conversations = await all(client.conversations.list({ user }));
  const messages = conversations
    .reverse()
    .map(async ({ id }) => all(client.conversations.messages(id)));
  return (await Promise.all(messages))
    .flat()
    .map(({ role, content, name }) => (name ? { role, name, content } : { role, content }));
}

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; tests/clients/test_typescript.py sets it`);
  return value;
}
