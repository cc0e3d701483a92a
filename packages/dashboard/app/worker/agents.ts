import { type PolicyDraft, policySigner, signPolicy } from '@skerry/crypto/policy'
import { decide, type Operation } from '@skerry/crypto/policy-decide'
import { readPolicyRules } from '@skerry/sdk/internal/policy-rules'
import { heldKey } from './held.ts'

export const agentOperations = {
  /**
   * Checks a policy, and decides a request by it. Proxies and the command line use the same functions. It needs no key.
   */
  simulatePolicy: async ({ text, operation }: { text: string; operation: Operation | null }) => {
    const read = readPolicyRules(text)
    if ('problem' in read) return read
    return { rules: read.rules, decision: operation && decide(read.rules, operation) }
  },

  /** Signs a policy with the person's key, after the person has read it. */
  signPolicy: async (draft: PolicyDraft) => signPolicy(draft, await policySigner(heldKey())),
}
