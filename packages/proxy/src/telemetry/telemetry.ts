import type { Refusal } from '../refusal.ts'

/** The telemetry of requests for the operator of the proxy. It contains no path, no header and no value. */
export interface Telemetry {
  begin(request: { method: string; host: string; routePrefix: string | undefined }): Observed
  /** Counts how often an upstream has sent a secret back. */
  redacted(host: string, name: string, times: number): void
  /** Sends the data that is left. */
  close(): Promise<void>
}

/** The telemetry of one request while it passes. */
export interface Observed {
  permitted(by: Permission): void
  sent(): void
  /** The upstream has begun to answer. */
  heard(): void
  refused(refusal: Refusal): void
  /** May be called again. Only the first call counts. */
  end(status: number): void
  /** The trace header (W3C Trace Context) for an upstream that traces too. */
  traceparent: string
}

/** The agent, policy and rule that permitted a request. */
export interface Permission {
  agent: string | null
  policyVersion: number | undefined
  ruleIndex: number
  secrets: readonly string[]
}
