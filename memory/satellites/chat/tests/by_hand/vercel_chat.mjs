// Talks with Kyra through the Vercel AI SDK, and prints as JSON what came.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = createRequire(pathToFileURL(join(process.cwd(), "any.js")));
const load = (name) => import(pathToFileURL(packages.resolve(name)));
const { generateText, stepCountIs, streamText, tool } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { z } = await load("zod");

const from = (apiKey = process.env.KEY) =>
  createOpenAICompatible({
    name: "palimpsest",
    baseURL: process.env.URL,
    apiKey,
    headers: { "X-Palimpsest-User": "sarah", "X-Palimpsest-Thread": "t" },
    includeUsage: true,
  });
const user = (content) => ({ role: "user", content });
const refusal = async (model, options = {}) => {
  try {
    await generateText({ model, messages: [user("Hello?")], maxRetries: 0, ...options });
  } catch (error) {
    return [`ai.${error.name}`, `${error.statusCode}: ${error.message}`];
  }
};

const model = from()("kyra");
const talk = [user("Hello.")];
const hello = await generateText({ model, messages: talk });
talk.push(...hello.response.messages, user("Tell me a story."));
const stream = streamText({ model, messages: talk });
const pieces = [];
for await (const piece of stream.textStream) pieces.push(piece);
talk.push(...(await stream.response).messages, user("Will it rain in Oslo?"));
let call;
const weather = tool({
  description: "What the weather is.",
  inputSchema: z.object({ city: z.string() }),
  execute: async (given) => {
    call = ["weather", given];
    return `It rains in ${given.city}.`;
  },
});
const answered = await generateText({
  model,
  messages: talk,
  tools: { weather },
  stopWhen: stepCountIs(3),
});
console.log(
  JSON.stringify({
    hello: hello.text,
    story: pieces.join(""),
    pieces: pieces.length,
    call,
    answer: answered.text,
    tokens: hello.usage.inputTokens,
    wrong_key: await refusal(from("pal_wrong")("kyra")),
    wrong_model: await refusal(from()("kyra/enormous")),
    wrong_field: await refusal(model, { providerOptions: { palimpsest: { n: 2 } } }),
  }),
);
