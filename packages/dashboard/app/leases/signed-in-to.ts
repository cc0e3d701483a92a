import type { LeaseTarget } from './queries.ts'

/** What a check of a target has come to. A provisioner that is away checks it when it is back. */
export function signedInTo({ name, status, lastError }: LeaseTarget): string {
  if (lastError !== null) return `${name} cannot be signed in to: ${lastError}`
  if (status === 'ready') return `${name} can be signed in to.`
  return `The provisioner of ${name} has not signed in to it yet. Is it running?`
}
