import { secondsOf } from "./errors.js";

const BACKOFF_MS = 250;
/** A server that asks for a longer pause is not waited for: the caller gets its refusal. */
const MAX_WAIT_SECONDS = 60;
const PASSING = [429, 502, 503, 504];
/** Node's codes of connections that were never made; browsers do not say. */
const NOT_BEGUN = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

/**
 * Returns whether a request is sent again after this answer, or this failure of `fetch`.
 *
 * A read and a POST under its Idempotency-Key do the same once or twice, so they are repeated after
 * any failure that may pass. Anything else is repeated only where the server has not begun it.
 */
export function mayPass(method: string, outcome: Response | unknown): boolean {
  const isRepeatable = method === "GET" || method === "POST";
  if (!(outcome instanceof Response)) {
    return isRepeatable || NOT_BEGUN.includes(codeOf(outcome));
  }
  const { status, headers } = outcome;
  // The request under the same key is still being carried out.
  const isUnderWay = status === 409 && headers.has("Retry-After");
  const isPassing = isRepeatable ? isUnderWay || PASSING.includes(status) : status === 429;
  const isLong = (secondsOf(headers.get("Retry-After")) ?? 0) > MAX_WAIT_SECONDS;
  return isPassing && !isLong && headers.get("X-Should-Retry") !== "false";
}

/** Waits before a try, the first of which is 1: as the server says, or longer each time. */
export async function pause(
  attempt: number,
  outcome: Response | unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  const header = outcome instanceof Response ? outcome.headers.get("Retry-After") : null;
  const asked = secondsOf(header);
  const most = BACKOFF_MS * 2 ** (attempt - 1);
  const jitter = Math.random() * BACKOFF_MS;
  const wait = asked === null ? Math.min(most, MAX_WAIT_SECONDS * 1000) : asked * 1000;
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, wait + jitter);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function codeOf(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined;
  const code: unknown = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "";
}
