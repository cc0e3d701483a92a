import { type PolicyDraft, policySigner, signPolicy } from '@skerry/crypto/policy'
import { decide, type Operation } from '@skerry/crypto/policy-decide'
import { readPolicyRules } from '@skerry/sdk/internal/policy-rules'
import { heldKey } from './held.ts'

export const agentOperations = {
  /** What proxies, the command line and this page agree on. It needs no key. */
  simulatePolicy: async ({ text, operation }: { text: string; operation: Operation | null }) => {
    const read = readPolicyRules(text)
    if ('problem' in read) return read
    return { rules: read.rules, decision: operation && decide(read.rules, operation) }
  },

  /** A person's key signs what the person has just read. */
  signPolicy: async (draft: PolicyDraft) => signPolicy(draft, await policySigner(heldKey())),
}
