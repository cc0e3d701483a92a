/** What one request came to, for whoever runs the proxy. Never a value, a token, a body or a path. */
export interface Observed {
  plane: 'route' | 'forward'
  host: string
  method: string
  /** Undefined where the request was refused. */
  status?: number | undefined
  refusal?: string | undefined
  secrets: readonly string[]
  agent: string | null
  version?: number | undefined
  ruleIndex?: number | undefined
  ratchetState: string
  routePrefix?: string | undefined
  startedAtMs: number
}

export interface Telemetry {
  observe(request: Observed): void
  close(): Promise<void>
}

export const noTelemetry: Telemetry = { observe: () => {}, close: async () => {} }
