// oidc-provider carries no types; this is as much of it as our suites and examples use.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    on(event: string, listener: (...values: unknown[]) => void): this
    readonly AccessToken: { find(token: string): Promise<{ accountId: string } | undefined> }
  }
}
