import type { Refusal } from '../refusal.ts'

/** What an operator who watches the proxy is told of a request: no path, no header, no value. */
export interface Telemetry {
  begin(request: { method: string; host: string; routePrefix: string | undefined }): Observed
  /** An upstream has sent a secret back, so many times. */
  redacted(host: string, name: string, times: number): void
  /** Sends what was not sent yet. */
  close(): Promise<void>
}

/** One request, while it passes. */
export interface Observed {
  permitted(by: Permission): void
  sent(): void
  /** The upstream has begun to answer. */
  heard(): void
  refused(refusal: Refusal): void
  /** Again is fine: the first time counts. */
  end(status: number): void
  /** How an upstream that makes traces, too, is told of this one (W3C Trace Context). */
  traceparent: string
}

/** What a request was permitted by. */
export interface Permission {
  agent: string | null
  policyVersion: number | undefined
  ruleIndex: number
  secrets: readonly string[]
}
