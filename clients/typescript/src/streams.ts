/** The lines of a body that line feeds end, and nothing else that JSON may hold. */
export async function* linesOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
      if (done) break;
    }
    if (rest) yield rest;
  } finally {
    // Who stops reading stops the answer.
    await reader.cancel().catch(() => undefined);
  }
}

/** The data of each server-sent event of a body. */
export async function* dataOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void, void> {
  let data: string[] = [];
  for await (const ended of linesOf(body)) {
    const line = ended.replace(/\r$/, "");
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
    } else if (line.startsWith("data:")) {
      data.push(line.slice("data:".length).replace(/^ /, ""));
    }
  }
}
