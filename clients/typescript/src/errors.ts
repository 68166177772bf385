/** Anything that this client throws. */
export class PalimpsestError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The server was not reached, or did not answer; whether it acted is unknown for a write. */
export class ConnectionFailed extends PalimpsestError {}

/** The response is not an answer of this API, for example a page of a proxy. */
export class UnexpectedAnswer extends PalimpsestError {}

/** Nothing was sent, as this cannot be part of an address: an empty name, `.` or `..`. */
export class InvalidName extends PalimpsestError {}

/**
 * The answer ended before its end. Where the language model broke off, the pieces before it are
 * stored.
 */
export class StreamCut extends PalimpsestError {}

/** A problem document (RFC 9457). */
export type Problem = Readonly<Record<string, unknown>>;

/** The server refused or failed; it says so in a problem document. */
export class Refused extends PalimpsestError {
  readonly status: number;
  /** What to do. */
  readonly detail: string;
  /** The fields at fault, with what is wrong. */
  readonly errors: Readonly<Record<string, string[]>>;
  /** The first field at fault. */
  readonly field: string | undefined;
  /** Finds the request in the server's log. */
  readonly requestId: string | null;

  constructor(
    response: Response,
    /** The whole document. */
    readonly problem: Problem,
  ) {
    const detail = String(problem.detail ?? response.statusText);
    super(`${response.status}: ${detail}`);
    this.status = response.status;
    this.detail = detail;
    this.errors = (problem.errors ?? {}) as Record<string, string[]>;
    this.field = Object.keys(this.errors).find(Boolean);
    this.requestId = response.headers.get("X-Request-Id");
  }
}

/** The request is wrong, and would be so again: 400, 422 and the other statuses below 500. */
export class BadRequest extends Refused {}

/** 401: the key is missing, wrong, expired or revoked. */
export class Unauthorized extends Refused {}

/** 402: a call may cost more than a budget has left; `problem` says which, and how much. */
export class BudgetExceeded extends Refused {}

/** 403: this key may not do that. */
export class Forbidden extends Refused {}

/** 404: there is no such thing, or this key may not see it. */
export class NotFound extends Refused {}

/** 409: it conflicts with what is stored or under way. */
export class Conflict extends Refused {}

/** 412: somebody changed it since the version that was named. */
export class ChangedSince extends Refused {}

/** 429, and the tries are used up. */
export class TooManyRequests extends Refused {
  /** When to come back, in seconds. */
  readonly retryAfter: number | null;

  constructor(response: Response, problem: Problem) {
    super(response, problem);
    this.retryAfter = secondsOf(response.headers.get("Retry-After"));
  }
}

/** 500 and above: a fault of the server, or something it needs is away. */
export class ServerError extends Refused {}

const BY_STATUS: Readonly<Record<number, typeof BadRequest>> = {
  401: Unauthorized,
  402: BudgetExceeded,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: ChangedSince,
  429: TooManyRequests,
};

/** The error for an answer of 400 or above, with this body. */
export function errorOf(response: Response, body: string): Refused {
  const kind = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerError : BadRequest);
  return new kind(response, problemOf(body));
}

/** The seconds of a Retry-After; null for a date or none. */
export function secondsOf(header: string | null): number | null {
  return header !== null && /^\d+$/.test(header) ? Number(header) : null;
}

function problemOf(body: string): Problem {
  try {
    const problem: unknown = JSON.parse(body);
    return typeof problem === "object" && problem !== null ? (problem as Problem) : {};
  } catch {
    return {};
  }
}
