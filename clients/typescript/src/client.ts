import { Operations } from "./generated/operations.js";
import type { Options } from "./requests.js";
import { Sender, type Settings } from "./sending.js";

/** The state of the server and of the services that it needs: "ok" or "away". */
export interface Health {
  status: string;
  postgresql: string;
  redis: string;
  background: string;
  oldest_waiting_job_seconds: number | null;
}

/** A client of a server; `baseUrl` is its address, with or without `/v1`. */
export class Palimpsest extends Operations {
  constructor(baseUrl: string, apiKey: string, settings: Settings = {}) {
    super(new Sender(baseUrl, apiKey, settings));
  }

  /** The health of the server and its services, asked once; it needs no key. */
  health(options: Options = {}): Promise<Health> {
    return this.sender.send<Health>({ method: "GET", path: "/readyz", answers: [503] }, options);
  }
}
