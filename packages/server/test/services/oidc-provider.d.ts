// oidc-provider has no types. These are the parts that our suites and examples use.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    on(event: string, listener: (...values: unknown[]) => void): this
    readonly AccessToken: { find(token: string): Promise<{ accountId: string } | undefined> }
  }
}
