import type { activityDecisions } from '@skerry/contract/tasks/schemas'

/** A decision of the proxy about a request, in the words of activity reports. */
export type Decision = (typeof activityDecisions)[number]

/** Reasons that published clients know by another word than the decision. */
const toldAs: Partial<Record<string, string>> = { secret_not_allowed: 'denied', unknown_secret: 'unresolved' }

/** Every refusal of a request. The message is for the agent and its author, and contains no value. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly reason: string
  readonly secret: string | undefined

  constructor(status: number, reason: string, message: string, secret?: string) {
    super(message)
    this.status = status
    this.reason = toldAs[reason] ?? reason
    this.secret = secret
  }

  /** Sends both names of each header, because a client reads only its own. */
  get headers(): string[] {
    const named = [['refusal', this.reason], ...(this.secret === undefined ? [] : [['secret', this.secret]])]
    return named.flatMap(([name, value]) => [`x-skerry-${name}`, value!, `x-seekrit-${name}`, value!])
  }

  get body(): string {
    return `skerry-proxy: ${this.message}\n`
  }
}

export const badRequest = (message: string) => new Refusal(400, 'bad_request', message)

/** The messages for the decisions of a policy. */
export const sentences: Readonly<
  Record<Exclude<Decision, 'allow' | 'ratchet_withdrawn' | 'policy_unavailable'>, string>
> = {
  no_rule: 'no rule covers this upstream',
  path_not_allowed: 'no rule allows this path',
  method_not_allowed: 'the rule for this path does not allow the method',
  secret_not_allowed: 'the rule for this request does not allow the secret',
  unknown_secret: 'there is no such secret',
}
